//! The settings of the language as tables: the name of each, what it takes, and its default.
//!
//! The readers know these settings one by one, since each has a field of its own in the model; help, new files and schemas
//! need them all alike. The values and the defaults come from the model, and the tests below hold the names to the readers.

use crate::model::Free;
use crate::model::client::{
    AfterFailure, BeforeWrite, Client, Condition, Event, KeyPolicy, Payload, Precondition, Presents, Reaction,
};
use crate::model::design::{
    AfterStoreError, Balancer, Calls, ClaimAfterError, ClaimNames, FenceSeen, FingerprintPart, Foreign, Handles,
    Identity, Keys, LeaseNames, LostReply, NewFields, OnCancel, OtherPayload, Place, PrincipalPart, Queue, ReadsFrom,
    Record, Replies, ScopePart, Server, State, Taken, TakenName, Versions,
};
use crate::model::protocol::{ClosedStream, Reissue, Resumable, TaskIds};
use crate::model::scenario::{Carried, Clients, Deploy};

pub use super::client::SEND;
pub use super::expect::VERDICTS;
pub use super::scenario::{BESIDES, VERBS};

/// One setting.
#[derive(Clone, Debug)]
pub struct Setting {
    /// Its key.
    pub name: &'static str,
    /// What it decides, as a sentence.
    pub about: &'static str,
    /// What it takes.
    pub takes: Takes,
    /// Its default, as a file would write it; empty where there is none.
    pub default: String,
}

/// What a setting takes.
#[derive(Clone, Debug)]
pub enum Takes {
    /// One of these words.
    Word(Vec<Choice>),
    /// A list of different words of these.
    Words(Vec<Choice>),
    /// `true` or `false`.
    Boolean,
    /// `"unbounded"`, or a number of sends.
    Attempts,
    /// One word of the first list, or a list with at most one word of each.
    StoreError(Vec<Choice>, Vec<Choice>),
}

impl Takes {
    /// Every word that it takes.
    #[must_use]
    pub fn choices(&self) -> Vec<Choice> {
        match self {
            Self::Word(choices) | Self::Words(choices) => choices.clone(),
            Self::StoreError(then, claim) => [then.clone(), claim.clone()].concat(),
            Self::Boolean | Self::Attempts => Vec::new(),
        }
    }
}

/// One word of a closed set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The word.
    pub name: &'static str,
    /// What it means, as a sentence.
    pub about: &'static str,
}

/// The words of a closed set, with what each means.
macro_rules! choices {
    ($type:ident) => {
        $type::ALL.iter().map(|value| Choice { name: value.name(), about: value.about() }).collect::<Vec<_>>()
    };
}

/// A setting that takes one word.
macro_rules! word {
    ($name:literal, $type:ident, $default:expr, $about:literal) => {
        Setting {
            name: $name,
            about: $about,
            takes: Takes::Word(choices!($type)),
            default: format!("\"{}\"", $default.name()),
        }
    };
    ($name:literal, $type:ident, $about:literal) => {
        Setting { name: $name, about: $about, takes: Takes::Word(choices!($type)), default: String::new() }
    };
}

/// A setting that takes a list of words.
macro_rules! words {
    ($name:literal, $type:ident, $default:expr, $about:literal) => {
        Setting {
            name: $name,
            about: $about,
            takes: Takes::Words(choices!($type)),
            default: list($default.iter().map(|word| word.name())),
        }
    };
}

fn list(words: impl Iterator<Item = &'static str>) -> String {
    format!("[{}]", words.map(|word| format!("\"{word}\"")).collect::<Vec<_>>().join(", "))
}

fn boolean(name: &'static str, default: bool, about: &'static str) -> Setting {
    Setting { name, about, takes: Takes::Boolean, default: default.to_string() }
}

/// The settings of `[server]`, without its handlers and `[server.keys]`.
#[must_use]
pub fn server() -> Vec<Setting> {
    let default = Server::default();
    let store_error = [default.on_store_error.then.name(), default.on_store_error.claim.name()];
    vec![
        word!("state", State, default.state, "Where resources live."),
        word!("balancer", Balancer, default.balancer, "How requests find a node."),
        word!("queue", Queue, default.queue, "Whether calls on one handle queue."),
        word!("calls", Calls, default.calls, "What a restart of its node does to a call."),
        word!("handles", Handles, default.handles, "Whether handles can be guessed."),
        words!(
            "owner-is",
            PrincipalPart,
            PrincipalPart::ALL,
            "Which parts of the principal `authorize` compares; by default all that the owner has."
        ),
        word!("foreign", Foreign, default.foreign, "How a foreign handle is refused."),
        word!("identity", Identity, default.identity, "Where handlers take the caller's identity from."),
        word!("replies", Replies, default.replies, "How answers find their streams."),
        word!(
            "lost-reply",
            LostReply,
            default.lost_reply,
            "Where an answer goes whose stream the node does not know any more."
        ),
        word!(
            "taken-name",
            TakenName,
            default.taken_name,
            "What `mint` does where clients name what they mint, and the name is taken."
        ),
        words!(
            "name-scope",
            PrincipalPart,
            default.name_scope,
            "What principals have in common among whom such a name is taken; `[]` is all of them."
        ),
        word!("versions", Versions, default.versions, "What a version number is."),
        boolean("version-required", default.version_required, "Refuse a write that expects no version."),
        word!("reads-from", ReadsFrom, default.reads_from, "Where reads come from."),
        word!("cache-place", Place, default.cache_place, "Where the read cache lives."),
        words!(
            "cache-scope",
            ScopePart,
            default.cache_scope,
            "What calls have in common that share an entry of the read cache."
        ),
        word!("lease-place", Place, default.lease_place, "Where leases live."),
        word!("fence-seen", FenceSeen, default.fence_seen, "When a fence number counts as seen."),
        word!("lease-names", LeaseNames, default.lease_names, "What a lease names, by which its holder is known."),
        word!("on-cancel", OnCancel, default.on_cancel, "What a handler does when its call is cancelled."),
        word!("new-fields", NewFields, default.new_fields, "What its handlers do with the `new-fields` of a resource."),
        Setting {
            name: "on-store-error",
            about: "What a handler does when the store answers a commit with an error; it stops there.",
            takes: Takes::StoreError(choices!(AfterStoreError), choices!(ClaimAfterError)),
            default: list(store_error.into_iter()),
        },
    ]
}

/// The settings of `[server.keys]`.
#[must_use]
pub fn keys() -> Vec<Setting> {
    let default = Keys::default();
    vec![
        word!("place", Place, default.place, "Where the key table lives."),
        words!("scope", ScopePart, default.scope, "What calls have in common that share a key; `[]` is all calls."),
        words!("fingerprint", FingerprintPart, default.fingerprint, "What \"the same arguments\" means."),
        word!("other-payload", OtherPayload, default.other_payload, "What a known key with other arguments gets."),
        word!("record", Record, default.record, "Which outcomes are recorded under a key."),
        word!("taken", Taken, default.taken, "What `record-key` does where something else stands under the key."),
        word!("claim-names", ClaimNames, default.claim_names, "What a claim names, by which its call knows it again."),
        boolean("expire", default.expire, "May the fault `expire-key` strike records?"),
        boolean("claims-expire", default.claims_expire, "May the fault `expire-claim` strike claims?"),
    ]
}

/// The settings of `[client]`, without `[client.on]`.
#[must_use]
pub fn client() -> Vec<Setting> {
    let default = Client::default();
    vec![
        word!("payload", Payload, default.payload, "What a changing call carries."),
        word!("precondition", Precondition, default.precondition, "Which versions a changing call expects."),
        word!("key", KeyPolicy, default.key, "Which idempotency key a changing call presents."),
        word!("before-write", BeforeWrite, default.before_write, "What a client does before each write."),
        words!("keeps", Carried, default.keeps, "What survives a compaction of an agent's context."),
        word!(
            "after-failure",
            AfterFailure,
            default.after_failure,
            "What an agent does once it was told anything but `ok`."
        ),
        Setting {
            name: "attempts",
            about: "How often it sends a call for one intent.",
            takes: Takes::Attempts,
            default: "\"unbounded\"".to_owned(),
        },
        boolean("blind", default.blind, "Write without a view too, and then the change alone, with no version."),
        word!("presents", Presents, default.presents, "Whose key it presents."),
        word!(
            "new-fields",
            NewFields,
            default.new_fields,
            "What becomes of the `new-fields` of a resource in a whole content that it sends."
        ),
        words!(
            "any",
            Free,
            default.any,
            "What of all this it chooses anew, each time that it matters; `attempts` is 2 then, unless it says otherwise."
        ),
    ]
}

/// The rules of a protocol. None has a default.
#[must_use]
pub fn protocol() -> Vec<Setting> {
    vec![
        word!(
            "resumable",
            Resumable,
            "When a broken response stream may be resumed. MCP 2025-11-25 lets servers offer it (basic/transports, Resumability and Redelivery); 2026-07-28 has none (basic/transports/streamable-http; SEP-2575)."
        ),
        Setting {
            name: "sessions",
            about: "May state be keyed by a session, which dies with its node? In MCP 2025-11-25 it may (basic/transports, Session Management); in 2026-07-28 there are none (basic/index, Statelessness; SEP-2567).",
            takes: Takes::Boolean,
            default: String::new(),
        },
        word!(
            "closed-stream",
            ClosedStream,
            "What a closed stream does to its call. In MCP 2025-11-25 it should not be taken for a cancellation (basic/transports); in 2026-07-28 it is one (basic/patterns/cancellation; SEP-2575)."
        ),
        word!(
            "task-ids",
            TaskIds,
            "Who names what is minted. SEP-1686 proposed ids that clients make; in MCP 2025-11-25 as it was published the receiver makes them (basic/utilities/tasks), and so in the Tasks extension of 2026-07-28 (SEP-2663)."
        ),
        word!(
            "reissue",
            Reissue,
            "The request id of a call that is issued again. MCP 2026-07-28 asks for a new request with a new id (changelog); an id must not equal that of another request of the same sender that still awaits its response (basic/index, Requests)."
        ),
    ]
}

/// The settings of `[deploy]` in a scenario.
#[must_use]
pub fn deploy() -> Vec<Setting> {
    let default = Deploy::default();
    vec![
        boolean(
            "restart",
            default.restart,
            "Whether a node changes over in a restart, and so loses its memory and its calls.",
        ),
        word!("clients", Clients, default.clients, "Whose `[client]` the agents have while a design is deployed."),
    ]
}

/// What a hand-off may carry.
#[must_use]
pub fn carried() -> Vec<Choice> {
    choices!(Carried)
}

/// The conditions of a replan.
#[must_use]
pub fn conditions() -> Vec<Choice> {
    choices!(Condition)
}

/// A reaction as a file writes it, with its key only where it is not the default.
#[must_use]
pub fn written(reaction: &Reaction) -> String {
    let send = |word: &str, key: Option<&str>| match key {
        Some(key) => format!("{{ send = \"{word}\", key = \"{key}\" }}"),
        None => format!("{{ send = \"{word}\" }}"),
    };
    let same = |new_key: &bool| (!new_key).then_some("same");
    match reaction {
        Reaction::Same { new_key } => send("same", new_key.then_some("new")),
        Reaction::SameWithNewVersion { new_key } => send("same-with-new-version", same(new_key)),
        Reaction::Replan { new_key, only_if: None } => send("replan", same(new_key)),
        Reaction::Replan { new_key, only_if: Some((condition, otherwise)) } => {
            let key = if *new_key { "" } else { ", key = \"same\"" };
            format!("{{ send = \"replan\", if = \"{condition}\", else = {}{key} }}", written(otherwise))
        }
        Reaction::Read => send("read", None),
        Reaction::Mint { new_key } => send("mint", same(new_key)),
        Reaction::Tell(told) => format!("{{ tell = \"{told}\" }}"),
    }
}

/// The reactions of a harness to which no file says anything: event, and reaction as a file writes it.
#[must_use]
pub fn default_reactions() -> Vec<(&'static str, String)> {
    Event::all().map(|event| (event.name(), written(&Client::default().reaction(event)))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::{Source, read_design, read_protocol};
    use crate::model::{Tool, limits};

    const HANDLER: &str = "[server.read]\ntransactions = [[\"resolve\", \"read\"]]\n";

    /// Every value that a setting can have, as a file writes it.
    fn values(setting: &Setting) -> Vec<String> {
        let quoted = |choice: &Choice| format!("\"{}\"", choice.name);
        let all: Vec<String> = match &setting.takes {
            Takes::Word(choices) => choices.iter().map(quoted).collect(),
            Takes::Words(choices) => choices.iter().map(|choice| format!("[{}]", quoted(choice))).collect(),
            Takes::Boolean => vec!["true".to_owned(), "false".to_owned()],
            Takes::Attempts => vec!["\"unbounded\"".to_owned(), "1".to_owned(), limits::ATTEMPTS.to_string()],
            Takes::StoreError(then, claim) => then
                .iter()
                .map(quoted)
                .chain(claim.iter().map(|claim| format!("[{}, {}]", quoted(&then[0]), quoted(claim))))
                .collect(),
        };
        all.into_iter().chain(Some(setting.default.clone()).filter(|default| !default.is_empty())).collect()
    }

    /// The readers take every value of every setting, and know no other setting.
    fn agree(
        settings: &[Setting],
        others: &[&str],
        text: impl Fn(&str) -> String,
        read: fn(&Source) -> Option<String>,
    ) {
        for setting in settings {
            for value in values(setting) {
                let text = text(&format!("{} = {value}\n", setting.name));
                assert_eq!(read(&Source::new("x", "x.toml", &*text)), None, "{text}");
            }
        }
        let error = read(&Source::new("x", "x.toml", &*text("qqqqqqqqqqqq = 1\n"))).expect("there is no such key");
        let list = error.split("expected ").nth(1).expect("the keys are listed").replace(" or ", ", ");
        let known = list.trim().trim_start_matches("one of ").split(", ").map(|key| key.trim_matches('`').to_owned());
        let known = known.collect();
        let listed = settings.iter().map(|setting| setting.name).chain(others.iter().copied());
        let (mut known, mut listed): (Vec<String>, Vec<String>) = (known, listed.map(str::to_owned).collect());
        known.sort();
        listed.sort();
        assert_eq!(known, listed, "{error}");
    }

    fn design(source: &Source) -> Option<String> {
        let error = read_design(source).err()?;
        Some(
            error
                .diagnostics
                .iter()
                .map(|found| found.label.clone() + &found.help.clone().unwrap_or_default())
                .collect(),
        )
    }

    #[test]
    fn the_readers_know_these_settings_and_no_others() {
        let tools: Vec<&str> = Tool::ALL.iter().map(|tool| tool.name()).collect();
        let with = |more: &[&'static str]| [tools.as_slice(), more].concat();
        agree(&server(), &with(&["keys"]), |line| format!("[server]\n{line}{HANDLER}"), design);
        agree(&keys(), &[], |line| format!("[server]\n{HANDLER}[server.keys]\n{line}"), design);
        agree(&client(), &with(&["on"]), |line| format!("[server]\n{HANDLER}[client]\n{line}"), design);
    }

    #[test]
    fn protocols_have_these_rules() {
        let rules = protocol();
        for rule in &rules {
            for value in values(rule) {
                let others = rules.iter().filter(|other| other.name != rule.name);
                let others = others.map(|other| format!("{} = {}\n", other.name, values(other)[0]));
                let text = format!("{} = {value}\n{}", rule.name, others.collect::<String>());
                assert!(read_protocol(&Source::new("x", "x.toml", &*text)).is_ok(), "{text}");
            }
        }
    }

    #[test]
    fn a_reaction_is_written_as_it_is_read() {
        for (event, reaction) in default_reactions() {
            let text = format!("[server]\n{HANDLER}[client.on]\n{event} = {reaction}\n");
            let read = read_design(&Source::new("x", "x.toml", &*text)).expect("it is a design").value.client.on;
            assert_eq!(read.values().map(written).collect::<Vec<_>>(), [reaction]);
        }
    }
}
