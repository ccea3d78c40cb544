//! `[client]`, `[client.TOOL]` and the same under `[agents.X.client]`: how a client's harness behaves.

use std::collections::BTreeMap;

use crate::model::client::Event;
use crate::model::{ClientPart, Condition, Reaction, Told, Tool, limits};

use super::reader::{Item, Table};
use super::report::Spot;
use super::words::Word;
use crate::suggest::one_of;

/// What a `client` table says: for all tools, and for each tool that has a table of its own in it.
pub(super) type ClientTables = (ClientPart, BTreeMap<Tool, ClientPart>);

/// Reads the `client` table under a table, where it is there.
pub(super) fn client(table: &Table<'_>) -> ClientTables {
    let Some(client) = table.table("client") else { return ClientTables::default() };
    let part = settings(&client);
    let mut tools = BTreeMap::new();
    for &tool in Tool::ALL {
        if let Some(own) = client.table(tool.name()) {
            tools.insert(tool, settings(&own));
            own.finish();
        }
    }
    client.finish();
    (part, tools)
}

fn settings(table: &Table<'_>) -> ClientPart {
    ClientPart {
        payload: table.word("payload"),
        precondition: table.word("precondition"),
        key: table.word("key"),
        before_write: table.word("before-write"),
        keeps: table.words("keeps"),
        after_failure: table.word("after-failure"),
        attempts: table.get("attempts").and_then(attempts),
        blind: table.get("blind").and_then(Item::boolean),
        presents: table.word("presents"),
        new_fields: table.word("new-fields"),
        any: table.words("any"),
        on: table.table("on").map(|on| reactions(&on)).unwrap_or_default(),
    }
}

/// A bound on sends, or `None` within for `"unbounded"`.
#[expect(clippy::option_option, reason = "the model tells a setting that is missing from one that says `unbounded`")]
fn attempts(item: Item<'_>) -> Option<Option<u8>> {
    match item.value().as_str() {
        Some("unbounded") => Some(None),
        Some(word) => {
            let expected = format!("expected `unbounded` or a whole number from 1 to {}", limits::ATTEMPTS);
            item.refuse_in_place(format!("`attempts` can't be `{word}`"), expected, None)
        }
        None => item.number(1..=i64::from(limits::ATTEMPTS)).map(Some),
    }
}

fn reactions(on: &Table<'_>) -> BTreeMap<Event, Reaction> {
    let names: Vec<&str> = Event::all().map(Event::name).collect();
    let mut reactions = BTreeMap::new();
    for (key, item) in on.entries() {
        let event = Event::all().find(|event| event.name() == key.text());
        if event.is_none() {
            let _: Option<()> = key.unknown_word("event", key.text(), &names);
        }
        let reaction = reaction(item);
        if let (Some(event), Some(reaction)) = (event, reaction) {
            reactions.insert(event, reaction);
        }
    }
    reactions
}

/// The words behind `send`.
pub const SEND: [&str; 5] = ["same", "same-with-new-version", "replan", "read", "mint"];

fn reaction(item: Item<'_>) -> Option<Reaction> {
    if let Some(word) = item.value().as_str() {
        let tell = Told::named(word).map(|_| "tell");
        let verb = tell.or_else(|| SEND.contains(&word).then_some("send"));
        let help = verb.map_or_else(
            || "expected `{ send = .. }` or `{ tell = .. }`".to_owned(),
            |verb| format!("did you mean `{{ {verb} = \"{word}\" }}`?"),
        );
        return item.refuse("a reaction is a table", "this is a string", Some(help));
    }
    let table = item.table()?;
    let (send, tell) = (table.get("send"), table.get("tell"));
    let (key, condition, otherwise) = (table.get("key"), table.get("if"), table.get("else"));
    table.finish();
    let (send, tell) = match (send, tell) {
        (None, None) if table.misspells(&["send", "tell"]) => return None,
        (None, None) => {
            return table.refuse("this reaction does nothing", "expected `send` or `tell` in here", None);
        }
        (Some(_), Some(tell)) => {
            let help = "a reaction either goes on or ends the intent".to_owned();
            return tell.refuse_in_place("a reaction has one of `send` and `tell`", "and `send` besides", Some(help));
        }
        one => one,
    };

    // What stands beside `send` or `tell` is read whatever they say, so that all of its errors are found.
    let key_word = key.and_then(new_key);
    let condition_word: Option<Condition> = condition.and_then(|item| item.word("`if` can't be"));
    let otherwise_reaction = otherwise.and_then(reaction);

    let send_word = send.and_then(|item| {
        let Some(text) = item.value().as_str() else { return item.wrong_kind(&one_of(SEND)) };
        let word = SEND.into_iter().find(|word| *word == text);
        word.or_else(|| item.not_among(format!("`send` can't be `{text}`"), text, &SEND))
    });
    let told: Option<Told> = tell.and_then(|item| item.word("`tell` can't be"));
    if send_word.is_none() && told.is_none() {
        return None;
    }

    let takes_key = matches!(send_word, Some("same" | "same-with-new-version" | "replan" | "mint"));
    if let Some(key) = key.filter(|_| !takes_key) {
        let label = "only a call that changes something has a key";
        return key.refuse_in_place("`key` means nothing here", label, None);
    }
    if send_word != Some("replan")
        && let Some(item) = condition.or(otherwise)
    {
        let label = "only with `send = \"replan\"`";
        return item.refuse_in_place("`if` and `else` mean nothing here", label, None);
    }
    // A key that is there and could not be read has been reported.
    let new_key = |by_default: bool| if key.is_some() { key_word } else { Some(by_default) };
    match send_word {
        Some("same") => Some(Reaction::Same { new_key: new_key(false)? }),
        Some("same-with-new-version") => Some(Reaction::SameWithNewVersion { new_key: new_key(true)? }),
        Some("read") => Some(Reaction::Read),
        Some("mint") => Some(Reaction::Mint { new_key: new_key(true)? }),
        Some(_) => {
            let only_if = match (condition, otherwise) {
                (None, None) => None,
                (Some(_), Some(_)) => Some((condition_word?, Box::new(otherwise_reaction?))),
                (Some(alone), None) => {
                    return alone.refuse("`if` without `else`", "and what happens otherwise?", None);
                }
                (None, Some(alone)) => return alone.refuse("`else` without `if`", "under which condition?", None),
            };
            Some(Reaction::Replan { new_key: new_key(true)?, only_if })
        }
        None => told.map(Reaction::Tell),
    }
}

/// Whether `key` says `"new"`.
fn new_key(item: Item<'_>) -> Option<bool> {
    #[derive(Clone, Copy, PartialEq)]
    enum KeyOfReaction {
        Same,
        New,
    }
    impl Word for KeyOfReaction {
        const WORDS: &'static [Self] = &[Self::Same, Self::New];
        fn word(self) -> &'static str {
            match self {
                Self::Same => "same",
                Self::New => "new",
            }
        }
    }
    item.word("`key` can't be").map(|word: KeyOfReaction| word == KeyOfReaction::New)
}
