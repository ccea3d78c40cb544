//! A mapping: which part of each line of a foreign log plays which part of a call.
//!
//! It is TOML. A part is found by a JSON pointer (RFC 6901) into the line, a list of pointers of which the first that leads
//! somewhere counts, or `{ is = VALUE }`, a value that is the same for every call. In a pointer `*` stands for every element
//! of a list, or every value of an object.

mod reach;
mod tools;

use std::collections::BTreeMap;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use serde::Deserialize;
use serde_json::{Map, Value};

use self::reach::Reach;
pub use self::reach::Unreached;
use self::tools::ToolParts;

use crate::input::foreign::Problem;
use crate::input::{InputError, foreign};
use crate::log::lines::Mistake;
use crate::log::{Answer, Call, Ended, Line, Version};

/// How many requests may wait for their answers; further ones are taken to have none.
const MOST_OPEN: usize = 1 << 20;

/// Which part of a line plays which part.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Mapping {
    /// In words.
    #[serde(default, rename = "title")]
    _title: String,
    /// Every accepted change adds one to the version of its resource.
    #[serde(default)]
    pub versions_count: bool,
    /// The servers may take back what a call did that was then refused or cancelled.
    #[serde(default)]
    pub takes_back: bool,
    /// The log holds every call that was sent to these servers in its time.
    #[serde(default)]
    pub whole: bool,
    #[serde(default)]
    times: Times,
    /// The lines that count: at each pointer stands one of these values. Others are left out.
    #[serde(default)]
    only: BTreeMap<String, OneOf>,
    /// For logs with a line for each request and another for each answer.
    join: Option<Join>,
    call: CallParts,
    tools: BTreeMap<String, ToolParts>,
    /// What each outcome that the log has means.
    #[serde(default)]
    outcomes: BTreeMap<String, Ended>,
}

/// How times are written.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Times {
    /// Whole numbers.
    #[default]
    Numbers,
    /// Seconds, with a fraction; read to the microsecond.
    Seconds,
    /// RFC 3339, as `2026-07-28T10:00:00.5Z`; read to the microsecond.
    Dates,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
enum OneOf {
    One(Value),
    Some(Vec<Value>),
}

/// Requests and answers on lines of their own, which belong together where these parts are equal.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table of `by`, `request` and `answer`")]
struct Join {
    by: Vec<String>,
    request: BTreeMap<String, OneOf>,
    answer: BTreeMap<String, OneOf>,
}

/// Where a part is.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged, expecting = "expected a JSON pointer, a list of them, or { is = VALUE }")]
enum Part {
    At(Pointer),
    First(Vec<Pointer>),
    Is(Constant),
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Constant {
    is: Value,
}

/// A JSON pointer, in which `*` stands for every element.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "String")]
struct Pointer(Vec<String>);

impl TryFrom<String> for Pointer {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        if text.is_empty() {
            return Ok(Self(Vec::new()));
        }
        let rest = text.strip_prefix('/').ok_or_else(|| format!("`{text}` is no JSON pointer: one begins with `/`"))?;
        Ok(Self(rest.split('/').map(|part| part.replace("~1", "/").replace("~0", "~")).collect()))
    }
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", expecting = "a table of the parts of a call")]
struct CallParts {
    id: Option<Part>,
    sent: Part,
    received: Option<Part>,
    cut: Option<Part>,
    agent: Part,
    principal: Option<Part>,
    node: Option<Part>,
    tool: Part,
    key: Option<Part>,
    request: Option<Part>,
    intent: Option<Part>,
    repeats: Option<Part>,
    outcome: Option<Part>,
    error: Option<Part>,
    replayed: Option<Part>,
}

/// What a mapping remembers from line to line: the requests whose answers have not come, and what of it led somewhere.
#[derive(Debug)]
pub struct Waiting<'m> {
    requests: HashMap<String, (u64, Value), FxBuildHasher>,
    /// Those whose answer can't come any more: what joins it is that of a later request.
    unanswered: Vec<(u64, Value)>,
    reach: Reach<'m>,
}

impl Waiting<'_> {
    /// What of the mapping led nowhere in the lines so far.
    #[must_use]
    pub fn unreached(&self) -> Vec<Unreached> {
        self.reach.unreached()
    }
}

impl Mapping {
    /// Reads a mapping.
    ///
    /// # Errors
    ///
    /// When it is none: everything that is wrong, with its place.
    pub fn read(origin: &str, text: &str) -> Result<Self, InputError> {
        let help = || Some("docs/audit.md tells what a mapping holds".to_owned());
        let read = foreign::from_toml(text).and_then(|mapping: Self| {
            let problems: Vec<Problem> = mapping.tools.values().flat_map(ToolParts::problems).collect();
            if problems.is_empty() { Ok(mapping) } else { Err(problems) }
        });
        read.map_err(|problems| {
            let problems = problems.into_iter().map(|(place, message, meant)| (place, message, meant.or_else(help)));
            foreign::shown(origin, text, problems)
        })
    }

    /// Before the first line.
    #[must_use]
    pub fn begin(&self) -> Waiting<'_> {
        Waiting { requests: HashMap::default(), unanswered: Vec::new(), reach: Reach::new(self) }
    }

    /// The call of a line; none: the line is left out, or waits for its other half.
    ///
    /// # Errors
    ///
    /// When a line that counts is no JSON, or lacks a part.
    pub fn line(&self, waiting: &mut Waiting<'_>, line: u64, text: &str) -> Result<Mapped, Mistake> {
        let wrong = |what: String| Mistake { line, what };
        let value: Value = serde_json::from_str(text).map_err(|error| wrong(crate::log::lines::said(&error)))?;
        waiting.reach.line(&value);
        if !fits(&self.only, &value) {
            return Ok(Mapped::LeftOut);
        }
        let Some(join) = &self.join else {
            return self.call(&mut waiting.reach, &value).map(Mapped::from).map_err(wrong);
        };
        let key: Vec<String> = join.by.iter().filter_map(|at| value.pointer(at)).map(Value::to_string).collect();
        if key.is_empty() && fits(&join.request, &value) {
            return Err(wrong(
                "it has nothing by which its answer would be found, where `join.by` looks for it".to_owned(),
            ));
        }
        let key = key.join(" ");
        if fits(&join.request, &value) {
            if waiting.requests.len() + waiting.unanswered.len() < MOST_OPEN {
                // Whoever uses an id again has given up the answer to the first request.
                waiting.unanswered.extend(waiting.requests.insert(key, (line, value)));
                return Ok(Mapped::Waits);
            }
            return self.call(&mut waiting.reach, &both(value, Value::Null)).map(Mapped::from).map_err(wrong);
        }
        if !fits(&join.answer, &value) {
            return Ok(Mapped::LeftOut);
        }
        let (_, request) =
            waiting.requests.remove(&key).ok_or_else(|| wrong("it answers no request that is open".to_owned()))?;
        self.call(&mut waiting.reach, &both(request, value)).map(Mapped::from).map_err(wrong)
    }

    /// The requests whose answers never came, with their lines.
    #[must_use]
    pub fn rest(&self, waiting: &mut Waiting<'_>) -> Vec<(u64, Result<Mapped, Mistake>)> {
        let mut rest: Vec<(u64, Value)> = std::mem::take(&mut waiting.requests).into_values().collect();
        rest.append(&mut waiting.unanswered);
        rest.sort_by_key(|(line, _)| *line);
        let mut read = |value: Value| self.call(&mut waiting.reach, &both(value, Value::Null));
        rest.into_iter()
            .map(|(line, value)| (line, read(value).map(Mapped::from).map_err(|what| Mistake { line, what })))
            .collect()
    }

    fn call(&self, reach: &mut Reach<'_>, line: &Value) -> Result<Option<Call>, String> {
        let parts = &self.call;
        let tool = text(&parts.tool, line).ok_or("it names no tool, where `call.tool` looks for it")?;
        reach.call(&tool, line);
        let Some(of_tool) = self.tools.get(&tool) else { return Ok(None) };
        let time = |part: &Part| find(part, line).map(|value| self.time(&value)).transpose();
        let maybe = |part: &Option<Part>| part.as_ref().and_then(|part| text(part, line));
        let sent = time(&parts.sent)?.ok_or("it has no time at which it was sent, where `call.sent` looks for it")?;
        let received = parts.received.as_ref().map(time).transpose()?.flatten();
        let outcome = match received {
            None => None,
            Some(_) => Some(self.outcome(line)?),
        };
        let handle = of_tool.handle.as_ref().and_then(|part| text(part, line));
        let also = of_tool.also.as_ref().and_then(|also| also.find(line));
        let mut expects = versions(of_tool.expects.as_ref(), handle.as_ref(), line);
        let mut saw = versions(of_tool.saw.as_ref(), handle.as_ref(), line);
        if let Some((parts, also)) = of_tool.also.as_ref().zip(also.as_ref()) {
            expects.extend(versions(parts.expects.as_ref(), Some(&also.handle), line));
            saw.extend(versions(parts.saw.as_ref(), Some(&also.handle), line));
        }
        let replayed = parts.replayed.as_ref().and_then(|part| find(part, line));
        let answers = of_tool.also.as_ref().filter(|_| also.is_some());
        let answer = outcome.map(|outcome| Answer {
            outcome,
            replayed: replayed == Some(Value::Bool(true)),
            handle: of_tool.answer_handle.as_ref().and_then(|part| text(part, line)),
            version: version_at(of_tool.version.as_ref(), line),
            also_version: answers.and_then(|parts| version_at(parts.version.as_ref(), line)),
            fields: if outcome.is_ok() { of_tool.shows.find(line) } else { BTreeMap::new() },
            also_fields: answers.filter(|_| outcome.is_ok()).map(|parts| parts.shows.find(line)).unwrap_or_default(),
            error: maybe(&parts.error),
        });
        Ok(Some(Call {
            id: maybe(&parts.id),
            sent,
            received,
            cut: parts.cut.as_ref().map(time).transpose()?.flatten().filter(|_| received.is_none()),
            agent: text(&parts.agent, line).ok_or("it names no agent, where `call.agent` looks for it")?,
            principal: maybe(&parts.principal),
            node: maybe(&parts.node),
            tool: of_tool.does,
            called: Some(tool),
            fields: of_tool.fields.find(line),
            expects,
            saw,
            given: of_tool.given.as_ref().and_then(|given| given.find(line)),
            condition: of_tool.condition.as_ref().and_then(|condition| condition.find(line)),
            also,
            handle,
            key: maybe(&parts.key),
            request: parts.request.as_ref().and_then(|part| find(part, line)),
            intent: maybe(&parts.intent),
            repeats: maybe(&parts.repeats),
            answer,
        }))
    }

    fn outcome(&self, line: &Value) -> Result<Ended, String> {
        let Some(part) = &self.call.outcome else { return Ok(Ended::As(crate::model::Outcome::Ok)) };
        let word = text(part, line).unwrap_or_else(|| "none".to_owned());
        let known = self.outcomes.get(&word).copied().or_else(|| Ended::named(&word));
        known.ok_or_else(|| format!("its outcome is `{word}`, of which `[outcomes]` does not say what it means"))
    }

    fn time(&self, value: &Value) -> Result<u64, String> {
        let read = match (self.times, value) {
            (Times::Numbers, value) => value.as_u64(),
            (Times::Seconds, value) => value.as_f64().and_then(|seconds| {
                let micros = (seconds * 1e6).round();
                #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is in the range")]
                (0.0..9e15).contains(&micros).then_some(micros as u64)
            }),
            (Times::Dates, Value::String(text)) => humantime::parse_rfc3339_weak(text)
                .ok()
                .and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok())
                .and_then(|time| u64::try_from(time.as_micros()).ok()),
            (Times::Dates, _) => None,
        };
        read.ok_or_else(|| format!("{value} is no time as `times` says that they are written"))
    }
}

/// What a line comes to.
#[derive(Debug)]
pub enum Mapped {
    /// A call.
    Line(Box<Line>),
    /// It is about something else.
    LeftOut,
    /// It is half of a call.
    Waits,
}

impl From<Option<Call>> for Mapped {
    fn from(call: Option<Call>) -> Self {
        call.map_or(Self::LeftOut, |call| Self::Line(Box::new(Line::Call(Box::new(call)))))
    }
}

fn both(request: Value, answer: Value) -> Value {
    Value::Object(Map::from_iter([("request".to_owned(), request), ("answer".to_owned(), answer)]))
}

fn fits(only: &BTreeMap<String, OneOf>, value: &Value) -> bool {
    only.iter().all(|(at, wanted)| fits_one(at, wanted, value))
}

fn fits_one(at: &str, wanted: &OneOf, value: &Value) -> bool {
    let found = value.pointer(at);
    match wanted {
        OneOf::One(wanted) => found == Some(wanted) || wanted == &Value::from("*") && found.is_some(),
        OneOf::Some(wanted) => found.is_some_and(|found| wanted.contains(found)),
    }
}

fn find(part: &Part, line: &Value) -> Option<Value> {
    let found = match part {
        Part::Is(Constant { is }) => Some(is.clone()),
        Part::At(pointer) => pointer.find(line),
        Part::First(pointers) => pointers.iter().find_map(|pointer| pointer.find(line)),
    };
    found.filter(|value| !value.is_null())
}

fn text(part: &Part, line: &Value) -> Option<String> {
    find(part, line).map(|value| match value {
        Value::String(text) => text,
        other => other.to_string(),
    })
}

/// The versions that stand somewhere: by handle, or one alone, of this handle.
fn versions(part: Option<&Part>, handle: Option<&String>, line: &Value) -> BTreeMap<String, Version> {
    match part.and_then(|part| find(part, line)) {
        Some(Value::Object(all)) => {
            all.iter().filter_map(|(name, value)| Some((name.clone(), version(value)?))).collect()
        }
        Some(value) => handle.cloned().into_iter().zip(version(&value)).collect(),
        None => BTreeMap::new(),
    }
}

fn version_at(part: Option<&Part>, line: &Value) -> Option<Version> {
    part.and_then(|part| find(part, line)).and_then(|value| version(&value))
}

fn version(value: &Value) -> Option<Version> {
    match value {
        Value::String(name) => Some(name.parse().map_or_else(|_| Version::Name(name.clone()), Version::Number)),
        other => other.as_u64().map(Version::Number),
    }
}

impl Pointer {
    fn find(&self, line: &Value) -> Option<Value> {
        fn all(parts: &[String], value: &Value, found: &mut Vec<Value>) {
            let Some((part, rest)) = parts.split_first() else {
                found.push(value.clone());
                return;
            };
            match (value, part.as_str()) {
                (Value::Array(elements), "*") => elements.iter().for_each(|element| all(rest, element, found)),
                (Value::Object(values), "*") => values.values().for_each(|value| all(rest, value, found)),
                (Value::Array(elements), part) => {
                    if let Some(element) = part.parse().ok().and_then(|place: usize| elements.get(place)) {
                        all(rest, element, found);
                    }
                }
                (Value::Object(values), part) => {
                    if let Some(value) = values.get(part) {
                        all(rest, value, found);
                    }
                }
                // A document in a string, as MCP's text contents often are.
                (Value::String(text), _) => {
                    if let Ok(inside @ (Value::Array(_) | Value::Object(_))) = serde_json::from_str(text) {
                        all(parts, &inside, found);
                    }
                }
                _ => {}
            }
        }
        let mut found = Vec::new();
        all(&self.0, line, &mut found);
        if self.goes_through() {
            return Some(Value::Array(found));
        }
        found.into_iter().next()
    }
}
