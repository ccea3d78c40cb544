//! Whether an agent may call `read` on the way of an entry: for a view to start from, or as a reaction.

use crate::model::client::{BeforeWrite, Client, Event};
use crate::model::scenario::Carried;
use crate::model::{Entry, Free, Handler, Operation, Outcome, Reaction};

/// Whether an agent with these settings may read before it can do an entry, or after, while it is at it. `handler` is that of
/// the tool that the entry calls; a hand-off calls none.
pub(super) fn may_look(client: &Client, entry: &Entry, handler: Option<&Handler>) -> bool {
    // What makes a resource of nothing has nothing to look at.
    let looks_at_something = !entry.rests_on().is_empty();
    match entry {
        Entry::Read { .. } => true,
        // What it hands on it must have seen.
        Entry::HandOff { carries, .. } => carries.iter().any(|part| *part != Carried::Handle),
        Entry::Mutate { .. } => looks_at_something && (needs_view(client, entry) || looks_again(client, handler)),
    }
}

/// Whether it may need a view to plan: a content to send, to approve or to judge, or a version to expect.
fn needs_view(client: &Client, entry: &Entry) -> bool {
    let Entry::Mutate { operation, given, condition, .. } = entry else { return false };
    let content = *operation == Operation::Approve
        || operation.changes_fields() && client.may_send_snapshots()
        || !given.is_empty()
        || condition.is_some();
    (content || client.may_expect_versions()) && (!client.blind || client.is_free(Free::Blind))
}

/// Whether it reads before each write, or where a call did not end well.
fn looks_again(client: &Client, handler: Option<&Handler>) -> bool {
    let mut steps = handler.iter().flat_map(|handler| handler.transactions.iter().chain(&handler.at_end)).flatten();
    let loses_lease = steps.any(|step| ["check-lease", "check-fence"].contains(step));
    client.before_write == BeforeWrite::ReadAgain
        || client.is_free(Free::BeforeWrite)
        || client.is_free(Free::On)
        || client.on.values().any(looks)
        || loses_lease && looks(&client.reaction(Event::Refused(Outcome::LeaseLost)))
}

fn looks(reaction: &Reaction) -> bool {
    match reaction {
        Reaction::Replan { .. } | Reaction::Read => true,
        Reaction::Same { .. } | Reaction::SameWithNewVersion { .. } | Reaction::Mint { .. } | Reaction::Tell(_) => {
            false
        }
    }
}
