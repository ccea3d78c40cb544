//! What contents tell: which elements of a list and which amounts of a sum are there, and which should be.
//!
//! An element that one piece of work alone appends is *traceable*: whoever shows it has seen that work (Elle's word, for
//! lists that are only appended to). No version is needed for that.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::effects::{Effect, Resource, View, content};
use super::history::{History, NEVER, Name, ValueId, of};
use crate::log::Operation;

/// How many of one kind are found in one field; what is more is the same again.
const MOST: usize = 20;

/// Something that a content shows.
#[derive(Clone, Debug)]
pub struct Sight {
    /// What it shows.
    pub shows: Shows,
    /// The field.
    pub field: Name,
    /// The call that it is about.
    pub call: u32,
    /// The view.
    pub view: View,
    /// What is there or is not, in words.
    pub what: String,
    /// The call of somebody else whose change is there instead.
    pub instead: Option<u32>,
}

/// What a content can show of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shows {
    /// It was acknowledged before, and is gone at the end.
    Lost,
    /// It was acknowledged before and is not there, but is there later.
    Late,
    /// It is there more than once.
    Twice,
    /// It is there, though every call of its work was refused.
    Refused,
    /// It is there, and no answer says so.
    Happened,
    /// A part of what one call appends is there, and a part is not.
    Torn,
}

/// Everything that contents show.
#[derive(Debug, Default)]
pub struct Evidence {
    /// What was found.
    pub sights: Vec<Sight>,
    /// The calls that acknowledged a change of which a later content says whether it is there.
    pub shown: Vec<u32>,
    /// The pieces of work of which contents say whether they took effect, and how often.
    pub judged: Vec<u32>,
}

/// What is appended by one piece of work alone.
struct Element {
    work: u32,
    call: u32,
    /// The effect that answers tell of, if one does.
    effect: Option<usize>,
    open: bool,
    unique: bool,
}

/// Looks at one resource. `last`: when the last change of this log was sent.
#[must_use]
pub fn evidence(history: &History, works: &[u32], resource: &Resource, last: u64) -> Evidence {
    let mut all = Evidence::default();
    let calls = resource.effects.iter().map(|effect| effect.call);
    let calls: Vec<u32> = calls.chain(resource.open.iter().copied()).collect();
    let deleted = calls.iter().any(|call| history.calls[*call as usize].tool == Operation::Delete);
    if deleted || resource.views.is_empty() {
        return all;
    }
    // The kinds of change of each field.
    let mut kinds: Vec<(Name, Operation)> = Vec::new();
    let mut known: HashMap<(Name, Operation), (), FxBuildHasher> = HashMap::default();
    for call in calls.iter().map(|call| &history.calls[*call as usize]) {
        for (field, _) in history.fields(call) {
            if known.insert((*field, call.tool), ()).is_none() {
                kinds.push((*field, call.tool));
            }
        }
    }
    // What was refused changes nothing, and should not be there.
    for call in resource.refused.iter().map(|call| &history.calls[*call as usize]) {
        let appends = history.fields(call).iter().filter(|_| call.tool == Operation::Append);
        kinds.extend(appends.map(|(field, _)| (*field, Operation::Append)));
    }
    kinds.sort_unstable();
    kinds.dedup();
    for (field, kind) in kinds.iter().copied() {
        let set = known.contains_key(&(field, Operation::Set));
        let other = match kind {
            Operation::Append => Operation::Increment,
            Operation::Increment => Operation::Append,
            _ => continue,
        };
        if set || known.contains_key(&(field, other)) {
            continue;
        }
        if kind == Operation::Append {
            list(history, works, resource, (field, last), &mut all);
        } else {
            sum(history, resource, field, &mut all);
        }
    }
    all
}

fn list(history: &History, works: &[u32], resource: &Resource, (field, last_change): (Name, u64), all: &mut Evidence) {
    let views: Vec<(&View, &[ValueId])> = resource
        .views
        .iter()
        .filter_map(|view| Some((view, history.elements(of(content(history, view), field)?)?)))
        .collect();
    let Some((last, at_last)) = views.iter().max_by_key(|(view, _)| view.from).copied() else { return };
    let mut elements: HashMap<ValueId, Element, FxBuildHasher> = HashMap::default();
    let mut parts: HashMap<u32, usize, FxBuildHasher> = HashMap::default();
    let mut add = |call: u32, effect: Option<usize>, open: bool| {
        let work = works[call as usize];
        let record = &history.calls[call as usize];
        let Some(value) = of(history.fields(record), field) else { return };
        let appended = history.appended(value);
        parts.insert(call, appended.len());
        for element in appended {
            elements
                .entry(element)
                .and_modify(|known| {
                    known.unique &= known.work == work;
                    known.effect = known.effect.or(effect);
                    known.open |= open;
                })
                .or_insert(Element { work, call, effect, open, unique: true });
        }
    };
    for (index, effect) in resource.effects.iter().enumerate() {
        add(effect.call, Some(index), false);
    }
    resource.open.iter().for_each(|call| add(*call, None, true));
    resource.refused.iter().for_each(|call| add(*call, None, false));
    // What was there before anybody appended it can't be traced.
    let first = resource
        .effects
        .iter()
        .map(|effect| effect.from)
        .chain(resource.open.iter().chain(&resource.refused).map(|call| history.calls[*call as usize].sent))
        .min()
        .unwrap_or(NEVER);
    for (_, shown) in views.iter().filter(|(view, _)| view.by <= first) {
        for element in *shown {
            if let Some(known) = elements.get_mut(element) {
                known.unique = false;
            }
        }
    }
    let acknowledged =
        |known: &Element| known.effect.map(|effect| &resource.effects[effect]).filter(|effect| !effect.inferred);
    let mut acked: Vec<(u64, ValueId)> = elements
        .iter()
        .filter(|(_, known)| known.unique)
        .filter_map(|(element, known)| Some((acknowledged(known)?.by, *element)))
        .collect();
    acked.sort_unstable();
    let mut found = Finder::new(all);
    let mut seen: HashMap<ValueId, u32, FxBuildHasher> = HashMap::default();
    let in_last: HashMap<ValueId, (), FxBuildHasher> = at_last.iter().map(|element| (*element, ())).collect();
    for (view, shown) in &views {
        seen.clear();
        let mut present = 0;
        let mut of_call: HashMap<u32, usize, FxBuildHasher> = HashMap::default();
        for element in *shown {
            let times = seen.entry(*element).or_default();
            *times += 1;
            let Some(known) = elements.get(element).filter(|known| known.unique) else { continue };
            let what = || history.shown_value(*element);
            if *times == 2 {
                found.add(Shows::Twice, field, known.call, **view, what());
            }
            if *times > 1 {
                continue;
            }
            *of_call.entry(known.call).or_default() += 1;
            match acknowledged(known) {
                Some(effect) => present += usize::from(effect.by < view.from),
                None if known.open => {
                    found.add(Shows::Happened, field, known.call, **view, what());
                }
                None if known.effect.is_none() => {
                    found.add(Shows::Refused, field, known.call, **view, what());
                }
                None => {}
            }
        }
        for (call, count) in of_call {
            if parts.get(&call).is_some_and(|whole| count < *whole)
                && elements.values().filter(|known| known.call == call).all(|known| known.unique)
            {
                found.add(Shows::Torn, field, call, **view, format!("{count} of {} elements", parts[&call]));
            }
        }
        let due = acked.partition_point(|(by, _)| *by < view.from);
        if present < due {
            for (_, element) in &acked[..due] {
                if seen.contains_key(element) {
                    continue;
                }
                let known = &elements[element];
                let last_due = acknowledged(known).is_some_and(|effect| effect.by < last.from);
                let late = last_due && in_last.contains_key(element);
                if !late && view.from != last.from {
                    continue;
                }
                let shows = if late { Shows::Late } else { Shows::Lost };
                if !found.add(shows, field, known.call, **view, history.shown_value(*element)) {
                    break;
                }
            }
        }
    }
    // What has no greater version than the view is there, however it is known to have happened.
    if let Some(at) = last.version.number().filter(|_| resource.numbered) {
        let mut gone: Vec<(u32, ValueId)> = elements
            .iter()
            .filter(|(element, known)| known.unique && !in_last.contains_key(*element))
            .filter(|(_, known)| {
                let version = known.effect.and_then(|effect| resource.effects[effect].version.number());
                version.is_some_and(|version| version <= at)
            })
            .map(|(element, known)| (known.call, *element))
            .collect();
        gone.sort_unstable();
        for (call, element) in gone {
            found.add(Shows::Lost, field, call, *last, history.shown_value(element));
        }
    }
    let due = acked.partition_point(|(by, _)| *by < last.from);
    let shown = acked[..due].iter().map(|(_, element)| elements[element].call);
    all.shown.extend(shown);
    // Of a piece of work that may still run, no content has the last word, unless the log is whole and is over.
    let over = last_change < last.from && history.whole;
    let mut judged: Vec<u32> = elements
        .values()
        .filter(|known| {
            known.unique && (over || !known.open && acknowledged(known).is_some_and(|effect| effect.by < last.from))
        })
        .map(|known| known.work)
        .collect();
    judged.sort_unstable();
    judged.dedup();
    all.judged.extend(judged);
    all.judged.sort_unstable();
    let there = |effect: &&Effect| {
        let value = of(history.fields(&history.calls[effect.call as usize]), field);
        value.is_some_and(|value| history.appended(value).iter().any(|element| in_last.contains_key(element)))
    };
    for sight in all.sights.iter_mut().filter(|sight| sight.field == field && sight.shows == Shows::Lost) {
        let record = &history.calls[sight.call as usize];
        let others = resource.effects.iter().filter(|effect| works[effect.call as usize] != works[sight.call as usize]);
        let others = others.filter(there).filter(|effect| effect.by > record.sent);
        let nearest = others.min_by_key(|effect| (effect.from > record.received, effect.from.abs_diff(record.sent)));
        sight.instead = nearest.map(|effect| effect.call);
    }
}

/// Keeps what is found, each thing once and not too many of one kind.
struct Finder<'e> {
    all: &'e mut Evidence,
    known: HashMap<(u32, u8), (), FxBuildHasher>,
    counts: [usize; 6],
}

impl<'e> Finder<'e> {
    fn new(all: &'e mut Evidence) -> Self {
        Self { all, known: HashMap::default(), counts: [0; 6] }
    }

    /// Adds something; `false`: there is enough of it.
    fn add(&mut self, shows: Shows, field: Name, call: u32, view: View, what: String) -> bool {
        let kind = shows as usize;
        // Each that happened matters by itself: it is what an answer would have said.
        if shows != Shows::Happened && self.counts[kind] >= MOST {
            return false;
        }
        if self.known.insert((call, shows as u8), ()).is_none() {
            self.counts[kind] += 1;
            self.all.sights.push(Sight { shows, field, call, view, what, instead: None });
        }
        true
    }
}

fn sum(history: &History, resource: &Resource, field: Name, all: &mut Evidence) {
    let amount = |call: u32| {
        let value = of(history.fields(&history.calls[call as usize]), field)?;
        history.number(value)
    };
    let mut known: Vec<(&Effect, i64)> = Vec::new();
    for effect in &resource.effects {
        let record = &history.calls[effect.call as usize];
        if record.tool != Operation::Increment || of(history.fields(record), field).is_none() {
            continue;
        }
        match amount(effect.call) {
            Some(amount) if amount > 0 => known.push((effect, amount)),
            _ => return,
        }
    }
    let effects: HashMap<u32, (), FxBuildHasher> = resource.effects.iter().map(|effect| (effect.call, ())).collect();
    let maybe: Option<Vec<(u64, i64)>> = resource
        .open
        .iter()
        .filter(|call| of(history.fields(&history.calls[**call as usize]), field).is_some())
        .filter(|call| !effects.contains_key(*call))
        .map(|call| Some((history.calls[*call as usize].sent, amount(*call).filter(|amount| *amount > 0)?)))
        .collect();
    let Some(maybe) = maybe else { return };
    let first = known.iter().map(|(effect, _)| effect.from).chain(maybe.iter().map(|(sent, _)| *sent)).min();
    let value = |view: &View| history.number(of(content(history, view), field)?);
    let minted = resource.effects.iter().map(|effect| &history.calls[effect.call as usize]);
    let minted = minted.filter(|call| call.tool == Operation::Mint).find_map(|call| of(history.fields(call), field));
    let before = resource.views.iter().filter(|view| Some(view.by) <= first).find_map(value);
    let Some(start) = minted.and_then(|value| history.number(value)).or(before) else { return };
    let mut by: Vec<(u64, i64)> = known.iter().map(|(effect, amount)| (effect.by, *amount)).collect();
    by.sort_unstable();
    let mut from: Vec<(u64, i64)> = known.iter().map(|(effect, amount)| (effect.from, *amount)).chain(maybe).collect();
    from.sort_unstable();
    for sums in [&mut by, &mut from] {
        let mut sum = 0_i64;
        for (_, amount) in sums.iter_mut() {
            sum = sum.saturating_add(*amount);
            *amount = sum;
        }
    }
    let upto = |sums: &[(u64, i64)], count: usize| if count == 0 { 0 } else { sums[count - 1].1 };
    let last = resource.views.iter().rev().find(|view| value(view).is_some());
    let Some(last) = last else { return };
    let some_call =
        |at: u64| known.iter().filter(|(effect, _)| effect.by < at).map(|(effect, _)| effect.call).next_back();
    let mut found = Finder::new(all);
    let mut doubled = false;
    for view in &resource.views {
        let Some(shown) = value(view) else { continue };
        let least = start.saturating_add(upto(&by, by.partition_point(|(by, _)| *by < view.from)));
        let most = start.saturating_add(upto(&from, from.partition_point(|(from, _)| *from < view.by)));
        let wrong = if shown < least && view.from == last.from {
            Some((Shows::Lost, format!("{shown}, where what was acknowledged comes to {least}")))
        } else if shown > most && history.whole && !doubled {
            doubled = true;
            Some((Shows::Twice, format!("{shown}, where all that was asked for comes to {most}")))
        } else {
            None
        };
        if let Some(((shows, what), call)) = wrong.and_then(|wrong| Some((wrong, some_call(view.from)?))) {
            found.add(shows, field, call, *view, what);
        }
    }
    let calls = known.iter().filter(|(effect, _)| effect.by < last.from).map(|(effect, _)| effect.call);
    all.shown.extend(calls);
    let judged: Vec<u32> =
        known.iter().filter(|(effect, _)| effect.by < last.from).map(|(effect, _)| effect.work).collect();
    if history.whole {
        all.judged.extend(judged);
        all.judged.sort_unstable();
    }
}
