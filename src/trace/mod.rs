//! The one trace object: a run, step by step, from the initial state to a violation, or to a situation.
//!
//! A trace holds its three inputs in full, so that it replays without their files. Its steps have names and operands,
//! never indices of anything inside handlecheck. Diagrams, stories and reports are drawn from it and see nothing else.

mod checked;
mod chosen;
mod does;
mod itf;
mod record;
mod replay;
mod words;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::model::protocol::DEFAULT_PROTOCOL;
use crate::situation::slug;

pub use checked::check;
pub use does::{among, does};
pub use record::{RecordError, Sources, is_ambiguous, record, record_actions, record_run, rerecord, unlabelled};
pub use replay::{Departure, Inputs, ReplayError, Walked, departure, inputs, replay, simulation, walked};
pub use words::notes;

/// The version of the trace format. It changes when a reader of the old one would misunderstand the new one.
pub const SCHEMA: u32 = 1;

/// A run that violates something, or that reaches a situation that was asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Trace {
    /// The version of handlecheck that wrote it.
    pub handlecheck: String,
    /// [`SCHEMA`].
    pub schema: u32,
    /// The scenario.
    pub scenario: Input,
    /// The design.
    pub design: Input,
    /// The protocol.
    pub protocol: Input,
    /// The budget of each fault that has one, with the overrides of the run.
    pub bounds: BTreeMap<String, u8>,
    /// The name of the invariant or assertion that is violated; empty where the trace shows a situation instead.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub invariant: String,
    /// The situation that the trace shows, which is no violation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shows: Option<String>,
    /// The kind of violation, where the invariant has several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// One plain sentence: who did what to whom.
    pub sentence: String,
    /// For a run that goes round for ever: how many steps lead to the loop. The steps after them are the loop, which comes
    /// back to where it began but for the numbers of versions and requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loops_from: Option<usize>,
    /// How many of the steps are faults.
    pub faults: u32,
    /// Who is there.
    pub agents: Vec<AgentLane>,
    /// The names of the nodes.
    pub nodes: Vec<String>,
    /// The resources, as they are at the start.
    pub resources: Vec<ResourceLane>,
    /// The steps. The last one shows the violation or the situation.
    pub steps: Vec<Step>,
}

/// One of the three inputs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Input {
    /// Its name.
    pub name: String,
    /// Its title.
    pub title: String,
    /// The text of its file.
    pub text: String,
    /// The file, by the path or the name by which it was asked for; none for a shipped one, and for a text of no file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// What the nodes change over to in the run; the name and the title are those of both.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deployed: Option<Box<Self>>,
}

/// An agent, as pictures head its lane.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct AgentLane {
    /// Its name.
    pub name: String,
    /// For whom it acts.
    pub principal: String,
    /// The agent that started it; none for a root client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
}

/// A resource, as pictures head its lane.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ResourceLane {
    /// Its name in the scenario.
    pub name: String,
    /// Its owner.
    pub owner: String,
    /// The principals with whom it is shared.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shared_with: Vec<String>,
    /// Its handle and content at the start; none for one that is minted during the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initial: Option<Content>,
    /// The names of its fields.
    pub fields: Vec<String>,
}

/// What a handle names, or what an agent believes of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Content {
    /// The handle.
    pub handle: String,
    /// The version, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<u16>,
    /// The values, in the order of the resource's fields; empty where they are not known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<String>,
}

/// One step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Step {
    /// What happens: this identifies the step.
    pub does: Does,
    /// What it is about, where it is about a call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<CallNote>,
    /// For `execute`: the transaction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transaction: Option<TransactionNote>,
    /// For `receive`, and for the `execute` that ends a call: the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<AnswerNote>,
    /// What agents were told in this step.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub told: Vec<ToldNote>,
    /// Every fact that the step changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<Change>,
    /// The commits of this step.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commits: Vec<Commit>,
    /// After the step, each agent's belief that differs from what is true.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub beliefs: Vec<Belief>,
    /// What else is to be said of it, a clause each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// What happened, in one sentence.
    pub sentence: String,
}

/// The name of an action and its operands. Two different enabled actions never have equal ones.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own, written only where it is so")]
pub struct Does {
    /// The name of the action, or of the fault.
    pub action: String,
    /// The agent that acts or is struck, or whose call it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The request, by its agent and a number: `A-2` is the second call that A sends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<String>,
    /// The node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// For `hand-off`: the receivers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub to: Vec<String>,
    /// The handle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handle: Option<String>,
    /// The principal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub principal: Option<String>,
    /// For `send`: the leaked key that is presented.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leaked_key: Option<String>,
    /// For what happens to a key record or a claim: the key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// For `deliver`: the agent whose call at the node has an equal request id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub same_id_as: Option<String>,
    /// What a client chose that is free to choose, as a design would write it: for `decide` its reaction, and else the settings
    /// by which it differs from the design's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// For `deploy`: what the node runs from now on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to_run: Option<String>,
    /// For `deploy`: the node restarts, and loses its memory and its calls.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub restarts: bool,
    /// For `execute`: the clock that versions are taken from does not tick.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub clock_stands: bool,
    /// It is a fault.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fault: bool,
    /// The call's stream is broken for good: nobody waits for its answer.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub orphan: bool,
}

/// A call, as its request says it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct CallNote {
    /// The tool.
    pub tool: String,
    /// The resource that it is about, by its name in the scenario.
    pub resource: String,
    /// The handle that it names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handle: Option<String>,
    /// What it carries: `memory 32, storage 512`; empty for a read.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub payload: String,
    /// What it changes besides, in another resource.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub also: Option<AlsoNote>,
    /// What the agent wants changed: `memory 32`; empty for a read.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub change: String,
    /// The versions that it expects, by handle: `v7`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub expects: Vec<Expected>,
    /// Its key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// `first`, `repeat` or `replan`: how it came about. Only where the agent sends it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt: Option<String>,
    /// The number of the entry in the agent's work list that it serves, from 1: calls of one entry serve one intent.
    pub entry: usize,
}

impl CallNote {
    /// What an earlier request for the same work had otherwise, each in words that follow it: `expected v7`, `had no key`.
    #[must_use]
    pub fn otherwise(&self, earlier: &Self) -> Vec<String> {
        let expected = |call: &Self| {
            let versions: Vec<String> = call.expects.iter().map(|expected| format!("v{}", expected.version)).collect();
            if versions.is_empty() { "no version".to_owned() } else { versions.join(" and ") }
        };
        let or_no = |what: &Option<String>, word: &str| {
            what.as_ref().map_or_else(|| format!("no {word}"), |what| format!("the {word} {what}"))
        };
        let differences = [
            (earlier.handle != self.handle, format!("named {}", or_no(&earlier.handle, "handle"))),
            (earlier.payload != self.payload, format!("carried {}", earlier.payload)),
            (
                earlier.also != self.also,
                format!(
                    "changed {} besides",
                    or_no(&earlier.also.as_ref().map(|also| also.handle.clone()), "resource")
                ),
            ),
            (earlier.expects != self.expects, format!("expected {}", expected(earlier))),
            (earlier.key != self.key, format!("had {}", or_no(&earlier.key, "key"))),
        ];
        differences.into_iter().filter(|(differs, _)| *differs).map(|(_, words)| words).collect()
    }
}

/// What a call changes besides its own resource.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct AlsoNote {
    /// The handle of the other resource.
    pub handle: String,
    /// The change, which is sent alone: `balance + 10`.
    pub change: String,
}

/// A version that a request expects.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Expected {
    /// Of which handle.
    pub handle: String,
    /// The version.
    pub version: u16,
}

/// One transaction of a handler.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct TransactionNote {
    /// The names of its steps.
    pub steps: Vec<String>,
    /// The step that ended the call, where one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_by: Option<String>,
    /// Its number, from 1.
    pub number: usize,
    /// It is one of the `at-end` transactions.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub at_end: bool,
    /// It left something behind: content, a version, a key, a lease.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub writes: bool,
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct AnswerNote {
    /// How the call ended.
    pub outcome: String,
    /// It was answered from a record.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub replayed: bool,
    /// The handle that it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handle: Option<String>,
    /// The new version after a change; the current one with `stale-view`; the viewed one with a view.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<u16>,
    /// The view, for a read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub view: Option<Content>,
    /// What a read of two resources shows of the other one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other_view: Option<Content>,
    /// For the `execute` that ends a call: where the answer goes.
    #[serde(default, skip_serializing_if = "Reaches::is_caller")]
    pub reaches: Reaches,
}

/// Where an answer goes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub enum Reaches {
    /// Out of the stream of its own call, or nowhere because that stream broke.
    #[default]
    Caller,
    /// Out of the stream of this request, which is another: `B-1`.
    StreamOf(String),
    /// Nowhere: though its caller waits for it, or because another answer was sent before.
    Nobody,
}

impl Reaches {
    /// Whether it goes where it should.
    #[must_use]
    pub const fn is_caller(&self) -> bool {
        matches!(self, Self::Caller)
    }
}

/// What an agent is told about an intent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ToldNote {
    /// The agent.
    pub agent: String,
    /// The intent, in words.
    pub about: String,
    /// `ok`, `failure`, `conflict` or `unknown`.
    pub told: String,
}

/// A fact that changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Change {
    /// What it is about: `bsk_42 version`.
    pub fact: String,
    /// Its value before the step.
    pub before: String,
    /// Its value after the step.
    pub after: String,
}

/// A change that was accepted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Commit {
    /// Whose.
    pub agent: String,
    /// The intent, in words.
    pub intent: String,
    /// The content after it.
    pub content: Content,
    /// For each field, the agents whose changes it shows.
    pub shows: Vec<Vec<String>>,
    /// The names of the fields whose values changed.
    pub changed: Vec<String>,
    /// The changes that it erased, which its author had not seen: of others, and its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub erased: Vec<Erased>,
    /// How often the intent has now taken effect: 1, or 2 for twice or more; 0 where it was taken back.
    pub effects: u8,
    /// It takes back what the call had changed before.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub taken_back: bool,
}

/// A change that a commit erased.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Erased {
    /// The field.
    pub field: String,
    /// Whose changes.
    pub of: Vec<String>,
}

/// A belief that differs from what is true.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Belief {
    /// Whose.
    pub agent: String,
    /// What it believes.
    pub believes: Content,
    /// What is true; none: the resource is gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub truth: Option<Content>,
}

/// A trace file that can't be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// It is not JSON, or not a trace.
    #[error("at {path}: {source}")]
    Malformed {
        /// Where in the document.
        path: String,
        /// What is wrong.
        source: serde_json::Error,
    },
    /// It was written by a version that this one does not understand.
    #[error("the trace has schema {found}, and this handlecheck reads schema {SCHEMA}")]
    Schema {
        /// The schema that it has.
        found: u32,
    },
}

impl Trace {
    /// Reads a trace.
    ///
    /// # Errors
    ///
    /// When the text is not JSON, not a trace, or of another schema.
    pub fn from_json(text: &str) -> Result<Self, ReadError> {
        let mut deserializer = serde_json::Deserializer::from_str(text);
        let trace: Self = serde_path_to_error::deserialize(&mut deserializer)
            .map_err(|error| ReadError::Malformed { path: error.path().to_string(), source: error.into_inner() })?;
        if trace.schema == SCHEMA { Ok(trace) } else { Err(ReadError::Schema { found: trace.schema }) }
    }

    /// The name of the file in which the trace is kept by convention: `SCENARIO.DESIGN.INVARIANT.json`, with the protocol
    /// before the invariant when it is not the default, and a number when it is not the first break. A trace that shows a
    /// situation has `show-` and the situation in place of the invariant.
    #[must_use]
    pub fn file_name(&self, number: usize) -> String {
        let protocol = &self.protocol.name;
        let protocol = if protocol == DEFAULT_PROTOCOL { String::new() } else { format!("{protocol}.") };
        let number = if number == 0 { String::new() } else { format!(".{}", number + 1) };
        let what = self.shows.as_ref().map_or_else(|| self.invariant.clone(), |name| format!("show-{}", slug(name)));
        format!("{}.{}.{protocol}{what}{number}.json", self.scenario.name, self.design.name)
    }

    /// Writes a trace, as indented JSON with a newline at its end.
    #[must_use]
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("a trace has string keys only");
        text.push('\n');
        text
    }
}
