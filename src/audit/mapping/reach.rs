//! What of a mapping leads nowhere in a log: pointers at which nothing stands, tools that nobody calls, and calls of tools of
//! which it says nothing.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::tools::{Fields, ToolParts};
use super::{CallParts, Mapping, OneOf, Part, Pointer, fits_one};
use crate::audit::case::short;
use crate::suggest::did_you_mean;

/// How many tools of which a mapping says nothing are named.
const SHOWN: usize = 20;

/// Something of a mapping that led nowhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreached {
    /// What, in a clause.
    pub sentence: String,
    /// The checks that are about what would have stood there.
    pub feeds: &'static [&'static str],
}

/// What has led somewhere so far.
#[derive(Debug)]
pub(super) struct Reach<'m> {
    /// What stands in the lines themselves, and has not been found yet.
    lines: Vec<(&'static str, Wanted<'m>)>,
    /// What stands in calls, likewise; of a tool, or of any.
    calls: Vec<InCalls<'m>>,
    /// The tools that were called, of those that the mapping has.
    called: BTreeSet<&'m str>,
    /// The others, and how often.
    others: BTreeMap<String, u64>,
    tools: Vec<&'m str>,
}

/// A part of calls.
#[derive(Debug)]
struct InCalls<'m> {
    /// Of calls of this tool alone.
    tool: Option<&'m str>,
    /// Its name in its table; of fields, that of their table.
    part: &'static str,
    /// Where the mapping has it.
    name: String,
    pointers: Vec<&'m Pointer>,
}

#[derive(Debug)]
enum Wanted<'m> {
    Anything(&'m str),
    Values(&'m str, &'m OneOf),
}

impl<'m> Reach<'m> {
    pub(super) fn new(mapping: &'m Mapping) -> Self {
        let mut lines: Vec<_> = mapping.only.iter().map(|(at, wanted)| ("only", Wanted::Values(at, wanted))).collect();
        if let Some(join) = &mapping.join {
            lines.extend(join.by.iter().map(|at| ("join.by", Wanted::Anything(at))));
            lines.extend(join.request.iter().map(|(at, wanted)| ("join.request", Wanted::Values(at, wanted))));
            lines.extend(join.answer.iter().map(|(at, wanted)| ("join.answer", Wanted::Values(at, wanted))));
        }
        let of_call = call_parts(&mapping.call).into_iter().filter_map(|(part, at)| {
            Some(InCalls { tool: None, part, name: format!("call.{part}"), pointers: at?.pointers() })
        });
        let of_tools = mapping.tools.iter().flat_map(|(tool, parts)| {
            tool_parts(parts).into_iter().map(move |(part, name, pointers)| {
                let name = format!("tools.{tool}.{name}");
                InCalls { tool: Some(tool.as_str()), part, name, pointers }
            })
        });
        let calls = of_call.chain(of_tools).filter(|part| !part.pointers.is_empty()).collect();
        let tools = mapping.tools.keys().map(String::as_str).collect();
        Self { lines, calls, called: BTreeSet::new(), others: BTreeMap::new(), tools }
    }

    /// Takes note of a line.
    pub(super) fn line(&mut self, line: &Value) {
        self.lines.retain(|(_, wanted)| match wanted {
            Wanted::Anything(at) => line.pointer(at).is_none(),
            Wanted::Values(at, wanted) => !fits_one(at, wanted, line),
        });
    }

    /// Takes note of a call of a tool.
    pub(super) fn call(&mut self, tool: &str, line: &Value) {
        let Some(tool) = self.tools.iter().copied().find(|known| *known == tool) else {
            *self.others.entry(tool.to_owned()).or_default() += 1;
            return;
        };
        self.called.insert(tool);
        let leads = |pointer: &&Pointer| match pointer.find(line) {
            Some(Value::Array(found)) => !found.is_empty() || !pointer.goes_through(),
            found => found.is_some_and(|found| !found.is_null()),
        };
        self.calls.retain(|part| part.tool.is_some_and(|of| of != tool) || !part.pointers.iter().any(leads));
    }

    /// What led nowhere.
    pub(super) fn unreached(&self) -> Vec<Unreached> {
        let mut all = Vec::new();
        let mut say = |sentence, feeds| all.push(Unreached { sentence, feeds });
        for (name, wanted) in &self.lines {
            match wanted {
                Wanted::Anything(at) => say(format!("`{name}` looks at `{at}`, where no line has anything"), &[]),
                Wanted::Values(at, wanted) => {
                    say(format!("`{name}` wants {} at `{at}`, which no line has", wanted.words()), &[]);
                }
            }
        }
        for tool in self.tools.iter().filter(|tool| !self.called.contains(*tool)) {
            let meant = did_you_mean(tool, self.others.keys().map(String::as_str));
            let meant = meant.map_or_else(String::new, |meant| format!("; {meant}"));
            say(format!("no call is of the tool `{tool}`{meant}"), &[]);
        }
        if !self.others.is_empty() {
            let mut tools: Vec<String> =
                self.others.iter().take(SHOWN).map(|(tool, count)| format!("`{}` ({count})", short(tool))).collect();
            tools.extend(self.others.len().checked_sub(SHOWN + 1).map(|more| format!("and {} more", more + 1)));
            say(format!("`[tools]` says nothing of some tools, whose calls are left out: {}", tools.join(", ")), &[]);
        }
        let is_called = |tool: Option<&str>| self.called.iter().any(|called| tool.is_none_or(|tool| tool == *called));
        for InCalls { tool, part, name, pointers } in self.calls.iter().filter(|part| is_called(part.tool)) {
            let pointers: Vec<String> = pointers.iter().map(|pointer| format!("`{}`", pointer.text())).collect();
            let calls = if tool.is_some() { "no call of it" } else { "no call" };
            say(format!("`{name}` looks at {}, where {calls} has anything", pointers.join(", ")), feeds(part));
        }
        all
    }
}

/// The checks that are about a part of a call.
fn feeds(part: &str) -> &'static [&'static str] {
    match part {
        "expects" => &["no-stale-commit", "basis-holds"],
        "saw" => &["no-lost-update", "basis-holds"],
        "given" | "if" => &["basis-holds"],
        "also" => &["serializable", "strictly-serializable"],
        "version" => &["no-lost-update", "no-stale-commit", "version-names-one-content", "fresh-read"],
        "fields" | "shows" => {
            &["no-lost-update", "version-names-one-content", "fresh-read", "serializable", "strictly-serializable"]
        }
        "key" | "intent" | "repeats" => &["no-double-write", "truthful-outcome"],
        "principal" => &["no-cross-principal"],
        _ => &[],
    }
}

/// The parts that any call may have. Without the others no line is a call.
fn call_parts(parts: &CallParts) -> [(&'static str, Option<&Part>); 12] {
    let CallParts {
        id, received, cut, principal, node, key, request, intent, repeats, outcome, error, replayed, ..
    } = parts;
    [
        ("id", id.as_ref()),
        ("received", received.as_ref()),
        ("cut", cut.as_ref()),
        ("principal", principal.as_ref()),
        ("node", node.as_ref()),
        ("key", key.as_ref()),
        ("request", request.as_ref()),
        ("intent", intent.as_ref()),
        ("repeats", repeats.as_ref()),
        ("outcome", outcome.as_ref()),
        ("error", error.as_ref()),
        ("replayed", replayed.as_ref()),
    ]
}

/// The parts that calls of a tool may have, each with its whole name and with where it is looked for.
fn tool_parts(parts: &ToolParts) -> Vec<(&'static str, String, Vec<&Pointer>)> {
    let ToolParts { does: _, handle, fields, expects, saw, given, condition, also, version, answer_handle, shows } =
        parts;
    let single = [
        ("handle", handle),
        ("expects", expects),
        ("saw", saw),
        ("version", version),
        ("answer-handle", answer_handle),
    ];
    let single = single.into_iter().filter_map(|(name, part)| Some((name, name.to_owned(), part.as_ref()?.pointers())));
    let mut all: Vec<_> = single.chain(fields_in("fields", fields)).chain(fields_in("shows", shows)).collect();
    all.extend(given.iter().map(|given| ("given", "given".to_owned(), given.pointers())));
    if let Some(condition) = condition {
        all.push(("if", "if.expression".to_owned(), condition.expression.get_ref().pointers()));
        let names = condition.names.get_ref().iter();
        all.extend(names.map(|(name, part)| ("if", format!("if.names.{name}"), part.pointers())));
    }
    if let Some(also) = also {
        let single = [
            ("also", "handle", Some(&also.handle)),
            ("expects", "expects", also.expects.as_ref()),
            ("saw", "saw", also.saw.as_ref()),
            ("version", "version", also.version.as_ref()),
        ];
        let single = single.into_iter().filter_map(|(part, name, at)| Some((part, name.to_owned(), at?.pointers())));
        let fields = fields_in("fields", &also.fields).into_iter().chain(fields_in("shows", &also.shows));
        all.extend(single.chain(fields).map(|(part, name, pointers)| (part, format!("also.{name}"), pointers)));
    }
    all
}

fn fields_in<'m>(table: &'static str, fields: &'m Fields) -> Vec<(&'static str, String, Vec<&'m Pointer>)> {
    match fields {
        Fields::All(pointer) => vec![(table, table.to_owned(), vec![pointer])],
        Fields::Each(each) => {
            each.iter().map(|(field, part)| (table, format!("{table}.{field}"), part.pointers())).collect()
        }
    }
}

impl Part {
    pub(super) fn pointers(&self) -> Vec<&Pointer> {
        match self {
            Self::At(pointer) => vec![pointer],
            Self::First(pointers) => pointers.iter().collect(),
            Self::Is(_) => Vec::new(),
        }
    }
}

impl Pointer {
    /// Whether it goes through all elements of something.
    pub(super) fn goes_through(&self) -> bool {
        self.0.iter().any(|part| part == "*")
    }

    /// As a mapping writes it.
    fn text(&self) -> String {
        let escaped = |part: &String| part.replace('~', "~0").replace('/', "~1");
        self.0.iter().flat_map(|part| ["/".to_owned(), escaped(part)]).collect()
    }
}

impl OneOf {
    fn words(&self) -> String {
        match self {
            Self::One(Value::String(any)) if any == "*" => "anything".to_owned(),
            Self::One(value) => format!("`{value}`"),
            Self::Some(values) => {
                let values: Vec<String> = values.iter().map(|value| format!("`{value}`")).collect();
                values.join(" or ")
            }
        }
    }
}
