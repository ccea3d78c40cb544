//! `intent`: entries that share one intent make the same change.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{Entry, Operation, Value};
use crate::suggest::nearest;

use super::agents::Draft;
use super::resources::Known;
use crate::input::reader::Item;
use crate::input::report::Spot;

/// An entry that names its intent.
struct Sharer<'a> {
    /// Where it names it.
    at: Item<'a>,
    /// Which entry of whose work list it is.
    agent: &'a str,
    number: usize,
    entry: &'a Entry,
}

/// Holds the entries of each name to each other, where all work could be read.
pub(super) fn check(agents: &[Draft<'_>], resources: &[Known], works: &[Option<Vec<Entry>>]) {
    let mut shared: BTreeMap<&str, Vec<Sharer<'_>>> = BTreeMap::new();
    for (draft, work) in agents.iter().zip(works) {
        let Some(work) = work else { return };
        for (index, (item, entry)) in draft.work.iter().zip(work).enumerate() {
            let Entry::Mutate { intent: Some(name), .. } = entry else { continue };
            let table = item.table().expect("it was read as one");
            let (_, at) = table.entries().find(|(key, _)| key.text() == "intent").expect("it was read from there");
            shared.entry(name).or_default().push(Sharer { at, agent: draft.name, number: index + 1, entry });
        }
    }
    for (name, sharers) in &shared {
        let (first, others) = sharers.split_first().expect("each name has an entry");
        if others.is_empty() {
            let others = shared.keys().filter(|other| *other != name);
            let help = nearest(name, others.copied()).map_or_else(
                || "leave out `intent`: an entry that shares none is an intent of its own".to_owned(),
                |near| format!("did you mean `{near}`?"),
            );
            first.at.complain(format!("no other entry shares the intent `{name}`"), "", Some(help));
        }
        for other in others {
            if let Some(what) = difference(first.entry, other.entry, resources) {
                let message = format!("entries that share an intent make the same change, and {what}");
                let label = format!("shared with entry {} of `{}`", first.number, first.agent);
                let help = "give each change an intent of its own, and say in an assertion what must not happen twice";
                other.at.complain(message, label, Some(help.to_owned()));
            }
        }
    }
}

/// In what two entries are not the same change; `None`: they are.
fn difference(one: &Entry, other: &Entry, resources: &[Known]) -> Option<&'static str> {
    let (
        Entry::Mutate { resource, operation, also, .. },
        Entry::Mutate { resource: of_other, operation: like, also: also_like, .. },
    ) = (one, other)
    else {
        return None;
    };
    let contents =
        |resource: usize| -> BTreeSet<&(String, Value)> { resources[resource].resource.fields.iter().collect() };
    match (operation, like) {
        (Operation::Mint, Operation::Mint) if contents(*resource) != contents(*of_other) => {
            Some("these make different contents")
        }
        (Operation::Mint, Operation::Mint) if also == also_like => None,
        _ if operation.name() != like.name() => Some("these do different things"),
        _ if resource != of_other => Some("these are about different resources"),
        _ if operation != like => Some("these give fields different values"),
        _ if also != also_like => Some("these change different things besides"),
        _ => None,
    }
}
