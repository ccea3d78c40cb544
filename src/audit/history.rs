//! A log in memory: every call in a few dozen bytes, every name and every value once.

mod lookup;
mod records;

use std::collections::BTreeMap;
use std::hash::{BuildHasher, Hash};
use std::io::{self, BufRead};

use hashbrown::{HashMap, HashTable};
use rustc_hash::{FxBuildHasher, FxHasher};
use serde_json::Value;

pub use self::records::{Condition, EventRecord, Half, Observed, Record, Rests, ToldRecord};
use super::mapping::{Mapped, Mapping, Unreached};
use crate::assertion;
use crate::log::lines::{Lines, Mistake};
use crate::log::{self, Answer, Call, Event, Line, Operation, State, ToldLine, Version};

/// A time that never comes.
pub const NEVER: u64 = u64::MAX;
/// How many lines that can't be read are named.
const MISTAKES: usize = 20;

/// A name, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name(u32);

/// A value, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ValueId(u32);

/// A version, as the log has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mark {
    /// The log does not say.
    None,
    /// A number, which has an order.
    Number(u64),
    /// A name, which has none.
    Name(Name),
}

impl Mark {
    /// The number.
    #[must_use]
    pub const fn number(self) -> Option<u64> {
        match self {
            Self::Number(number) => Some(number),
            _ => None,
        }
    }
}

/// Part of one of the lists of a history.
type Part = (u32, u32);

/// Texts by number.
#[derive(Debug, Default)]
struct Texts {
    texts: Vec<Box<str>>,
    table: HashTable<u32>,
}

impl Texts {
    fn hash(text: &str) -> u64 {
        std::hash::BuildHasherDefault::<FxHasher>::default().hash_one(text)
    }

    fn find(&self, text: &str) -> Option<u32> {
        self.table.find(Self::hash(text), |other| *self.texts[*other as usize] == *text).copied()
    }

    fn number(&mut self, text: &str) -> u32 {
        let hash = Self::hash(text);
        if let Some(found) = self.table.find(hash, |other| *self.texts[*other as usize] == *text) {
            return *found;
        }
        let number = u32::try_from(self.texts.len()).expect("a log of so many texts fits into no memory");
        self.texts.push(text.into());
        let texts = &self.texts;
        self.table.insert_unique(hash, number, |other| Self::hash(&texts[*other as usize]));
        number
    }
}

/// A whole log.
#[derive(Debug, Default)]
pub struct History {
    names: Texts,
    values: Texts,
    lists: HashMap<ValueId, Box<[ValueId]>, FxBuildHasher>,
    /// What stands for nothing: `null`.
    nothing: Option<ValueId>,
    pairs: Vec<(Name, ValueId)>,
    marks: Vec<(Name, Mark)>,
    rests: Vec<Rests>,
    /// The expressions of conditions, each with what is wrong with it.
    expressions: HashMap<String, Option<String>, FxBuildHasher>,
    /// The calls, in the order of the log.
    pub calls: Vec<Record>,
    /// What observers saw.
    pub observed: Vec<Observed>,
    /// What agents told.
    pub told: Vec<ToldRecord>,
    /// What was done to the servers.
    pub events: Vec<EventRecord>,
    /// Every accepted change adds one to its version.
    pub versions_count: bool,
    /// The servers may take back what a call did that was then refused or cancelled.
    pub takes_back: bool,
    /// Every call is in the log.
    pub whole: bool,
    /// How many lines there were.
    pub lines: u64,
    /// How many of them a mapping leaves out.
    pub left_out: u64,
    /// What of a mapping leads nowhere in it.
    pub unreached: Vec<Unreached>,
    /// How many could not be read.
    pub malformed: u64,
    /// The first of them.
    pub mistakes: Vec<Mistake>,
    /// Why the log was not read to its end.
    pub stopped: Option<String>,
}

impl History {
    /// Reads a log. `stop` is asked from time to time, with the number of lines so far, whether to give up, and why.
    ///
    /// # Errors
    ///
    /// When it can't be read.
    pub fn read(
        log: impl BufRead,
        mapping: Option<&Mapping>,
        stop: &mut dyn FnMut(u64) -> Option<String>,
    ) -> io::Result<Self> {
        let mut history = Self::default();
        let mut lines = Lines::new(log);
        let mut waiting = mapping.map(Mapping::begin);
        if let Some(mapping) = mapping {
            history.versions_count = mapping.versions_count;
            history.takes_back = mapping.takes_back;
            history.whole = mapping.whole;
        }
        loop {
            let found = match mapping.zip(waiting.as_mut()) {
                None => lines.next_line()?.map(|found| found.map(|(line, read)| (line, Mapped::Line(Box::new(read))))),
                Some((mapping, waiting)) => {
                    lines.next_text(|line, text| mapping.line(waiting, line, text?).map(|mapped| (line, mapped)))?
                }
            };
            let Some(found) = found else { break };
            history.take(found);
            if lines.count().is_multiple_of(4096) {
                history.stopped = stop(lines.count());
                if history.stopped.is_some() {
                    break;
                }
            }
        }
        history.lines = lines.count();
        if let Some((mapping, mut waiting)) = mapping.zip(waiting) {
            for (line, found) in mapping.rest(&mut waiting) {
                history.take(found.map(|found| (line, found)));
            }
            history.unreached = waiting.unreached();
        }
        history.note_what_is_gone();
        Ok(history)
    }

    /// What an observer has found of a resource, and does not find later, is gone: it is `null` there.
    fn note_what_is_gone(&mut self) {
        let mut order: Vec<usize> = (0..self.observed.len()).collect();
        order.sort_by_key(|place| (self.observed[*place].handle, self.observed[*place].at));
        let null = self.value(&Value::Null);
        self.nothing = Some(null);
        let mut found: Vec<Name> = Vec::new();
        let mut last = None;
        for place in order {
            let state = &self.observed[place];
            if last.replace(state.handle) != Some(state.handle) {
                found.clear();
            }
            let shown = self.content(state).to_vec();
            if shown.is_empty() {
                continue;
            }
            let is_gone = |field: &Name| of(&shown, *field).is_none();
            let gone: Vec<(Name, ValueId)> = found.iter().copied().filter(is_gone).map(|field| (field, null)).collect();
            let anew = shown.iter().map(|(field, _)| *field).filter(|field| !found.contains(field));
            let anew: Vec<Name> = anew.collect();
            found.extend(anew);
            if !gone.is_empty() {
                let start = self.pairs.len();
                self.pairs.extend(shown.into_iter().chain(gone));
                self.observed[place].shown = part(start, self.pairs.len());
            }
        }
    }

    /// Whether a value stands for nothing.
    #[must_use]
    pub fn is_nothing(&self, value: ValueId) -> bool {
        self.nothing == Some(value)
    }

    /// Takes in what was found, or counts what is wrong.
    fn take(&mut self, found: Result<(u64, Mapped), Mistake>) {
        let taken = found.and_then(|(line, mapped)| match mapped {
            Mapped::Line(read) => self.add(line, *read),
            Mapped::LeftOut => {
                self.left_out += 1;
                Ok(())
            }
            Mapped::Waits => Ok(()),
        });
        if let Err(mistake) = taken {
            self.malformed += 1;
            if self.mistakes.len() < MISTAKES {
                self.mistakes.push(mistake);
            }
        }
    }

    /// Takes one line in.
    ///
    /// # Errors
    ///
    /// When the line contradicts itself.
    pub fn add(&mut self, line: u64, read: Line) -> Result<(), Mistake> {
        match read {
            Line::Log(heading) => {
                if heading.schema != crate::log::SCHEMA {
                    let what = format!("the log has schema {}, and this handlecheck reads 1", heading.schema);
                    return Err(Mistake { line, what });
                }
                self.versions_count |= heading.versions_count;
                self.takes_back |= heading.takes_back;
            }
            Line::Call(call) => self.call(line, *call)?,
            Line::State(state) => self.state(line, state),
            Line::Told(ToldLine { agent, intent, told, .. }) => {
                let (agent, intent) = (self.name(&agent), self.name(&intent));
                self.told.push(ToldRecord { line, agent, intent, told });
            }
            Line::Event(Event { at, event, node, handle, .. }) => {
                let (handle, node) = (self.maybe(handle), self.maybe(node));
                self.events.push(EventRecord { line, at, event, handle, node });
            }
            Line::End(_) => self.whole = true,
        }
        Ok(())
    }

    fn call(&mut self, line: u64, call: Call) -> Result<(), Mistake> {
        let wrong = |what: &str| Err(Mistake { line, what: what.to_owned() });
        if call.received.is_some() != call.answer.is_some() {
            return wrong("`received` and `answer` come together: one says when the other was received");
        }
        if call.received.is_some() && call.cut.is_some() {
            return wrong("a call is answered or cut, not both");
        }
        if call.received.or(call.cut).is_some_and(|end| end < call.sent) {
            return wrong("the call ends before it is sent: all times must be of one clock");
        }
        if call.handle.is_none() && call.tool != Operation::Mint {
            return wrong("only a `mint` names no handle");
        }
        if let Some(why) = call.condition.as_ref().and_then(|condition| self.misread(&condition.expression)) {
            return wrong(&format!("`if`: {why}"));
        }
        let also = call.also;
        if let Some(also) = &also {
            if let Some(what) = also.tool.misfit(call.tool) {
                return wrong(&format!("`also`: {what}"));
            }
            if Some(&also.handle) == call.handle.as_ref() {
                return wrong("`also` names another resource than the call's own");
            }
        } else if call.answer.as_ref().is_some_and(|answer| answer.also_version.is_some()) {
            return wrong("`also-version` is of the other resource, and the call has no `also`");
        } else if call.answer.as_ref().is_some_and(|answer| !answer.also_fields.is_empty()) {
            return wrong("`also-fields` is of the other resource, and the call has no `also`");
        }
        let agent = self.name(&call.agent);
        let principal = call.principal.as_deref().map_or(agent, |principal| self.name(principal));
        let answer = call.answer.as_ref();
        let about = answer.and_then(|answer| answer.handle.as_deref()).map(|handle| self.name(handle));
        let handle = match &call.handle {
            Some(handle) => Some(self.name(handle)),
            None => about,
        };
        let is_own = |handle: &str| also.as_ref().is_none_or(|also| handle != also.handle);
        let record = Record {
            line,
            id: self.maybe(call.id),
            sent: call.sent,
            received: call.received.unwrap_or(NEVER),
            cut: call.cut.is_some(),
            agent,
            principal,
            node: self.maybe(call.node),
            tool: call.tool,
            handle,
            key: self.maybe(call.key),
            intent: self.maybe(call.intent),
            repeats: self.maybe(call.repeats),
            ended: answer.map(|answer| answer.outcome),
            replayed: answer.is_some_and(|answer| answer.replayed),
            about,
            version: self.mark(answer.and_then(|answer| answer.version.as_ref())),
            fields: self.contents(call.fields),
            expects: self.versions(call.expects.iter().filter(|(handle, _)| is_own(handle))),
            saw: self.versions(call.saw.iter().filter(|(handle, _)| is_own(handle))),
            rests: self.rests_of(call.given, call.condition),
            half: also.as_ref().map(|_| Half::Own),
            shown: match &call.answer {
                Some(Answer { fields, .. }) => self.contents(fields.clone()),
                None => (0, 0),
            },
        };
        if let Some(also) = also {
            let (also_version, also_shown) = match call.answer {
                Some(Answer { also_version, also_fields, .. }) => (also_version, also_fields),
                None => (None, BTreeMap::new()),
            };
            let besides = |handle: &String| *handle == also.handle;
            let other = Record {
                tool: also.tool,
                handle: Some(self.name(&also.handle)),
                about: None,
                version: self.mark(also_version.as_ref()),
                expects: self.versions(call.expects.iter().filter(|(handle, _)| besides(handle))),
                saw: self.versions(call.saw.iter().filter(|(handle, _)| besides(handle))),
                fields: self.contents(also.fields),
                shown: self.contents(also_shown),
                rests: None,
                half: Some(Half::Other),
                ..record.clone()
            };
            self.calls.extend([record, other]);
        } else {
            self.calls.push(record);
        }
        Ok(())
    }

    /// What is wrong with an expression, if something is.
    fn misread(&mut self, expression: &str) -> Option<String> {
        if !self.expressions.contains_key(expression) {
            self.expressions.insert(expression.to_owned(), assertion::read(expression).err());
        }
        self.expressions[expression].clone()
    }

    fn state(&mut self, line: u64, state: State) {
        let observed = Observed {
            line,
            at: state.at,
            handle: self.name(&state.handle),
            owner: self.maybe(state.owner),
            shared_with: state.shared_with.iter().map(|principal| self.name(principal)).collect(),
            version: self.mark(state.version.as_ref()),
            lifecycle: state.lifecycle,
            shown: self.contents(state.fields),
        };
        self.observed.push(observed);
    }

    /// What a call says that its plan rests on, where it says anything.
    fn rests_of(&mut self, given: Option<Vec<String>>, condition: Option<log::Condition>) -> Option<u32> {
        if given.is_none() && condition.is_none() {
            return None;
        }
        let given = given.map(|given| given.iter().map(|handle| self.name(handle)).collect());
        let condition = condition.map(|log::Condition { expression, names }| {
            let names = names.into_iter().map(|(name, handle)| (name, self.name(&handle))).collect();
            Condition { expression, names }
        });
        self.rests.push(Rests { given, condition });
        u32::try_from(self.rests.len() - 1).ok()
    }

    fn name(&mut self, name: &str) -> Name {
        Name(self.names.number(name))
    }

    fn maybe(&mut self, name: Option<String>) -> Option<Name> {
        name.map(|name| self.name(&name))
    }

    fn mark(&mut self, version: Option<&Version>) -> Mark {
        match version {
            None => Mark::None,
            Some(Version::Number(number)) => Mark::Number(*number),
            Some(Version::Name(name)) => Mark::Name(self.name(name)),
        }
    }

    fn contents(&mut self, fields: impl IntoIterator<Item = (String, Value)>) -> Part {
        let start = self.pairs.len();
        for (field, value) in fields {
            let pair = (self.name(&field), self.value(&value));
            self.pairs.push(pair);
        }
        part(start, self.pairs.len())
    }

    fn versions<'v>(&mut self, versions: impl IntoIterator<Item = (&'v String, &'v Version)>) -> Part {
        let start = self.marks.len();
        for (handle, version) in versions {
            let pair = (self.name(handle), self.mark(Some(version)));
            self.marks.push(pair);
        }
        part(start, self.marks.len())
    }

    fn value(&mut self, value: &Value) -> ValueId {
        // A float that is a whole number is that number: languages differ in which of the two they write.
        let whole =
            value.as_f64().filter(|_| value.is_f64()).filter(|float| float.fract() == 0.0 && float.abs() < 9e15);
        #[expect(clippy::cast_possible_truncation, reason = "it is whole, and small enough")]
        let text = whole.map_or_else(|| value.to_string(), |float| (float as i64).to_string());
        let known = self.values.find(&text);
        let id = ValueId(known.unwrap_or_else(|| self.values.number(&text)));
        if let (None, Value::Array(elements)) = (known, value) {
            let elements: Box<[ValueId]> = elements.iter().map(|element| self.value(element)).collect();
            self.lists.insert(id, elements);
        }
        id
    }
}

fn part(start: usize, end: usize) -> Part {
    let number = |at: usize| u32::try_from(at).expect("a log of so many values fits into no memory");
    (number(start), number(end))
}

/// The part of a list of pairs that is about one name.
#[must_use]
pub fn of<T: Copy>(pairs: &[(Name, T)], name: Name) -> Option<T> {
    pairs.iter().find(|(other, _)| *other == name).map(|(_, value)| *value)
}
