//! The words of the files that are no rows of a table: settings, keys, work entries, tools, reactions. One list of each, with
//! a page for every word, for `handlecheck list`, the reference and the schemas.

use super::client::SEND;
use super::scenario::VERBS;
use super::settings::{self, Setting, Takes};
use crate::model::client::Event;
use crate::model::{Tool, limits};

/// One word.
#[derive(Clone, Debug)]
pub struct Word {
    /// The word.
    pub name: &'static str,
    /// What it is, in one sentence without its full stop.
    pub about: String,
    /// Its page, as Markdown.
    pub page: String,
}

/// One kind of words.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    /// Its name, as `handlecheck list` has it.
    pub name: &'static str,
    /// What the words are, as a clause.
    pub about: &'static str,
    /// The words.
    pub words: fn() -> Vec<Word>,
}

/// Every kind of words, in the order of the documentation.
pub const KINDS: &[Kind] = &[
    Kind { name: "server-settings", about: "the settings of [server] in a design", words: server },
    Kind { name: "handler-keys", about: "what a table [server.TOOL] of a design holds", words: handler_keys },
    Kind { name: "key-settings", about: "the settings of [server.keys] in a design", words: keys },
    Kind { name: "client-settings", about: "the settings of [client] in a design or at an agent", words: client },
    Kind { name: "reactions", about: "what [client.on] can answer an event with", words: reactions },
    Kind { name: "deploy-settings", about: "the settings of [deploy] in a scenario", words: deploys },
    Kind { name: "protocol-rules", about: "the keys of a protocol", words: rules },
    Kind { name: "tools", about: "what a client can ask of a server", words: tools },
    Kind { name: "entries", about: "what an agent's work is made of", words: entries },
    Kind { name: "resource-keys", about: "what a table under [resources] holds", words: resource_keys },
    Kind { name: "agent-keys", about: "what a table under [agents] holds", words: agent_keys },
];

/// The keys of a resource, each with what it is.
pub const RESOURCE_KEYS: &[(&str, &str)] = &[
    ("handle", "Its handle."),
    ("owner", "Who owns it: a subject, or a table of `subject`, `client` and `tenant`."),
    ("version", "Its version at the start; 1 by default."),
    ("fields", "Its content at the start: whole numbers, strings, and lists of them; none by default."),
    (
        "new-fields",
        "Which of its fields came with a later schema: a server or client with `new-fields = \"dropped\"` does not know them.",
    ),
    ("shared-with", "Others who may use it."),
    ("expires", "It expires by itself one day; `false` by default."),
];

/// The keys of an agent, each with what it is.
pub const AGENT_KEYS: &[(&str, &str)] = &[
    ("principal", "For whom it acts: a subject, or a table of `subject`, `client` and `tenant`."),
    ("parent", "The agent that started it, for whose principal it acts."),
    ("work", "What it does, in order: a list of entries."),
    ("client", "Its own client settings, which count more than the design's."),
];

/// The keys of a handler, each with what it is.
pub const HANDLER_KEYS: &[(&str, &str)] = &[
    (
        "transactions",
        "What the server does with a call: a list of transactions, each a list of steps. What is in one happens at once, and \
         between two anything may happen.",
    ),
    (
        "at-end",
        "Transactions that run when the outcome of a call is decided, whatever it is, before the answer leaves. A call \
         whose node restarts skips them, and so does one that is cancelled, but for `on-cancel = \"at-end\"`.",
    ),
];

/// What a list of keys says of one of its own.
#[must_use]
pub fn about(keys: &[(&'static str, &'static str)], key: &str) -> &'static str {
    let found = keys.iter().find(|(name, _)| *name == key);
    found.map(|(_, about)| *about).expect("the list has the key")
}

fn word(name: &'static str, about: &str, more: &str) -> Word {
    let page = format!("{about}\n\n{more}");
    Word { name, about: about.trim_end_matches('.').to_owned(), page: page.trim().to_owned() }
}

fn of_settings(settings: Vec<Setting>, place: &str) -> Vec<Word> {
    settings
        .into_iter()
        .map(|setting| {
            let takes = match &setting.takes {
                Takes::Word(_) => "It takes one of these words:".to_owned(),
                Takes::Words(_) => "It takes a list of different words of these:".to_owned(),
                Takes::Boolean => "It takes `true` or `false`.".to_owned(),
                Takes::Attempts => {
                    format!("It takes `\"unbounded\"`, or a whole number from 1 to {}.", limits::ATTEMPTS)
                }
                Takes::StoreError(..) => {
                    "It takes one of these words, or a list of two that don't exclude each other:".to_owned()
                }
            };
            let choices = setting.takes.choices();
            let choices = choices.iter().flat_map(|choice| ["- `", choice.name, "`: ", choice.about, "\n"]);
            let choices: String = choices.collect();
            let default = if setting.default.is_empty() {
                "It has no default: every file says it.".to_owned()
            } else {
                format!("By default it is `{}`.", setting.default)
            };
            let more = format!("It stands in {place}. {takes}\n\n{choices}\n{default}").replace("\n\n\n", "\n\n");
            word(setting.name, setting.about, &more)
        })
        .collect()
}

fn server() -> Vec<Word> {
    of_settings(settings::server(), "`[server]` of a design")
}

fn keys() -> Vec<Word> {
    of_settings(settings::keys(), "`[server.keys]` of a design")
}

fn client() -> Vec<Word> {
    let place = "`[client]` or `[client.TOOL]` of a design, or at an agent in `[agents.NAME.client]`";
    of_settings(settings::client(), place)
}

fn deploys() -> Vec<Word> {
    of_settings(settings::deploy(), "`[deploy]` of a scenario")
}

fn rules() -> Vec<Word> {
    of_settings(settings::protocol(), "a protocol")
}

fn tools() -> Vec<Word> {
    let tool = |tool: &Tool| {
        let more = format!(
            "Its handler is `[server.{tool}]`; a tool that changes something and has none of its own has that of \
             `write`. Clients may have settings of their own for it, `[client.{tool}]`."
        );
        word(tool.name(), tool.about(), &more)
    };
    Tool::ALL.iter().map(tool).collect()
}

/// The words behind `send`, and `tell`.
fn reactions() -> Vec<Word> {
    let defaults = |written: &str| {
        let all = settings::default_reactions();
        let events = all.iter().filter(|(_, reaction)| reaction.contains(written));
        let events: Vec<String> = events.map(|(event, _)| format!("`{event}`")).collect();
        if events.is_empty() { String::new() } else { format!("\n\nIt is the default for {}.", events.join(", ")) }
    };
    let send = |name: &'static str| {
        let (about, more) = match name {
            "same" => ("The same arguments in a new request.", "The key stays the same, unless `key = \"new\"`."),
            "same-with-new-version" => (
                "The old payload under the current version number.",
                "The key is new, unless `key = \"same\"`. What others changed is overwritten.",
            ),
            "replan" => (
                "Read again, and apply the intent to what is there.",
                "The key is new, unless `key = \"same\"`. With `if = \"disjoint\"` or `if = \"unsatisfied\"` it does so \
                 under that condition only, and otherwise what `else` says, which is a reaction too.",
            ),
            "read" => (
                "Verify by reading: tell `ok` if the content shows the change, else `unknown`.",
                "Only what was `set` can be seen; nothing is sent again.",
            ),
            "mint" => (
                "Back to the entry that minted, and all entries on that resource again.",
                "The keys are new, unless `key = \"same\"`. An agent that did not mint the resource tells `failure`.",
            ),
            _ => unreachable!("a word behind `send` has its page here"),
        };
        let written = format!("send = \"{name}\"");
        word(name, about, &format!("`[client.on]` has it as `EVENT = {{ {written} }}`. {more}{}", defaults(&written)))
    };
    let events: Vec<&str> = Event::all().map(Event::name).collect();
    let more = format!(
        "`[client.on]` has it as `EVENT = {{ tell = \"ok\" }}`, or `\"failure\"`, `\"conflict\"`, `\"unknown\"`.{} \
         An EVENT is `{}`.",
        " It is the default for every refusal that another reaction does not name.",
        events.join("`, `")
    );
    let tell = word("tell", "End the intent, and tell this of it.", &more);
    SEND.into_iter().map(send).chain([tell]).collect()
}

fn entries() -> Vec<Word> {
    let given = "It may name what its plan rests on: `given = [R, ..]`. With `if = \"R.FIELD < 3\"` it is done under that \
                 condition only: an expression over fields of the resource and of what is `given`, which the agent judges \
                 on its view when it plans, and the step `check-condition` on what is stored. It may name what the same call \
                 changes besides, `also = { increment = S, FIELD = NUMBER }`: one `set`, `append` or `increment` of another \
                 resource, which is sent as a change alone. It is one intent, under one key. With `intent = \"NAME\"` it is one intent with all entries of that name, \
                 which make the same change: a message that two workers get, say.";
    let entry = |verb: &'static str| {
        let (about, shape, more) = match verb {
            "read" => ("Call `read`: the answer is its view of the resource.", "{ read = R }", ""),
            "set" => ("Change fields of the resource.", "{ set = R, FIELD = VALUE, .. }", given),
            "append" => ("Add an element to a list of the resource.", "{ append = R, FIELD = ELEMENT }", given),
            "increment" => ("Add to a number of the resource.", "{ increment = R, FIELD = NUMBER }", given),
            "mint" => (
                "Create the resource, with these contents.",
                "{ mint = R, FIELD = VALUE, .. }",
                "The resource has no table under `[resources]`; its version is 1. Several agents of one principal may make one \
                 resource R, with the same contents. With `handle = NAME` the client chooses the name, under a protocol with \
                 `task-ids = \"client\"`; entries that make other resources may choose it too.\n\nIt may name what its plan \
                 rests on, `given = [R, ..]`, a condition on that, `if = \"R.FIELD < 3\"`, and what the same call changes \
                 besides, `also`. With `intent = \"NAME\"` it is one intent with all entries of that name, which make the same \
                 contents.",
            ),
            "close" => ("End the resource: closed.", "{ close = R }", given),
            "approve" => ("Store, as approved, what the agent's view shows.", "{ approve = R }", given),
            "execute" => (
                "End the resource: executed.",
                "{ execute = R }",
                "It asks for an `approve` before it: without one it violates `approval-covers-execution`. What is used up once \
                 without approval is `close`d. It may name what its plan rests on besides its target: `given = [R, ..]`.",
            ),
            "delete" => ("End the resource: deleted.", "{ delete = R }", given),
            "hand-off" => (
                "Hand the handle on to other agents.",
                "{ hand-off = R, to = [AGENT, ..], carries = [..] }",
                "`carries` lists any of `handle` (always), `version` and `content`. It is one step for all receivers.",
            ),
            _ => unreachable!("every verb has its page here"),
        };
        word(verb, about, &format!("`{shape}`\n\n{more}"))
    };
    VERBS.into_iter().map(entry).collect()
}

fn of_keys(keys: &[(&'static str, &'static str)], required: &[&str], place: &str) -> Vec<Word> {
    let key = |(name, about): &(&'static str, &'static str)| {
        let must = if required.contains(name) { " It must be there." } else { "" };
        word(name, about, &format!("It stands in {place}.{must}"))
    };
    keys.iter().map(key).collect()
}

fn handler_keys() -> Vec<Word> {
    of_keys(HANDLER_KEYS, &["transactions"], "`[server.TOOL]` of a design")
}

fn resource_keys() -> Vec<Word> {
    of_keys(RESOURCE_KEYS, &["handle", "owner"], "`[resources.NAME]` of a scenario")
}

fn agent_keys() -> Vec<Word> {
    let mut words = of_keys(AGENT_KEYS, &[], "`[agents.NAME]` of a scenario");
    for word in words.iter_mut().filter(|word| matches!(word.name, "principal" | "parent")) {
        word.page.push_str(" An agent has one of `principal` and `parent`.");
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::{Source, read_scenario};

    #[test]
    fn every_word_has_a_page_that_begins_with_what_it_is() {
        for kind in KINDS {
            for Word { name, about, page } in (kind.words)() {
                assert!(page.starts_with(&about) && !about.is_empty() && !about.contains('\n'), "{name}: {about:?}");
            }
        }
    }

    /// The readers know these keys and no others.
    #[test]
    fn the_readers_know_these_keys() {
        let known = |text: &str| -> Vec<String> {
            let error = read_scenario(&Source::new("x", "x.toml", text), &[]).expect_err("there is no such key");
            let found = error.diagnostics.iter().find(|found| found.message.contains("qqqqqqqqqq"));
            let found = found.expect("it is reported");
            let list = found.label.clone() + &found.help.clone().unwrap_or_default();
            let list = list.split("expected ").nth(1).expect("the keys are listed").replace(" or ", ", ");
            let list = list.trim_start_matches("one of ").split(", ");
            let mut list: Vec<String> = list.map(|key| key.trim_matches('`').to_owned()).collect();
            list.sort();
            list
        };
        let sorted = |keys: &[(&str, &str)]| {
            let mut keys: Vec<String> = keys.iter().map(|(key, _)| (*key).to_owned()).collect();
            keys.sort();
            keys
        };
        assert_eq!(known("[resources.r]\nqqqqqqqqqq = 1\n"), sorted(RESOURCE_KEYS));
        assert_eq!(known("[agents.a]\nqqqqqqqqqq = 1\n"), sorted(AGENT_KEYS));
    }
}
