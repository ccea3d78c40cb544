//! `[server.TOOL]`: the transactions of a handler, and where each step can stand in them.

use crate::handler::{Requires, STEPS, Step};
use crate::model::{Handler, Tool, limits};
use crate::table::Row;

use super::reader::{Item, Table};
use super::report::Spot;

/// A step and where it was named.
type Named<'a> = (&'static Row<Step>, Item<'a>);

/// Reads the handler of a tool.
pub(super) fn handler(table: &Table<'_>, tool: Tool) -> Option<Handler> {
    let transactions = table.require("transactions").map(transactions);
    let at_end = table.get("at-end").map(self::transactions);
    table.finish();

    let transactions = transactions??;
    let at_end = match at_end {
        None => Vec::new(),
        Some(at_end) => at_end?,
    };
    check_places(table, tool, &transactions, &at_end);
    let names = |transactions: Vec<Vec<Named<'_>>>| {
        transactions.iter().map(|steps| steps.iter().map(|(step, _)| step.name).collect()).collect()
    };
    Some(Handler { transactions: names(transactions), at_end: names(at_end) })
}

fn transactions(item: Item<'_>) -> Option<Vec<Vec<Named<'_>>>> {
    let transactions = item.nonempty_list("transaction, which is a list of steps")?;
    if let Some(first) = transactions.first().filter(|_| transactions.iter().all(|item| item.value().is_str())) {
        let help = "write one transaction as a list in the list: `[[\"resolve\", \"read\"]]`".to_owned();
        return first.refuse_in_place("this step stands in no transaction", "expected a list of steps", Some(help));
    }
    item.each(|transaction, _| {
        transaction.nonempty_list("step")?;
        transaction.each(|item, _| step(item))
    })
}

fn step(item: Item<'_>) -> Option<Named<'_>> {
    let name = item.string()?;
    let found = STEPS.iter().find(|row| row.name == name);
    let row = found.or_else(|| {
        let names: Vec<&str> = STEPS.iter().map(|row| row.name).collect();
        item.unknown_word("step", name, &names)
    })?;
    Some((row, item))
}

/// Reports every step that can't stand where it stands.
fn check_places(table: &Table<'_>, tool: Tool, transactions: &[Vec<Named<'_>>], at_end: &[Vec<Named<'_>>]) {
    let mints = transactions.iter().flatten().any(|(row, _)| row.name == "mint");
    if tool == Tool::Mint && !mints {
        let label = "no transaction has the step `mint`";
        table.complain("this handler of `mint` makes nothing", label, None);
        return;
    }
    if let Some((_, item)) = transactions.iter().chain(at_end).flatten().nth(limits::STEPS) {
        let label = format!("a handler has at most {}", limits::STEPS);
        item.complain("too many steps", label, None);
        return;
    }
    // Of the resource of the call, and of the other one.
    let (mut loaded, mut read, mut minted, mut turned) = ([false; 2], false, false, false);
    let in_parts = transactions.iter().flatten().any(|(row, _)| row.name == "apply-next");
    let places = transactions.iter().map(|transaction| (transaction, false));
    let steps = places.chain(at_end.iter().map(|transaction| (transaction, true)));
    let steps = steps.flat_map(|(transaction, ends)| {
        let first = (0..).zip(transaction);
        first.map(move |(place, (row, item))| (row, item, ends, place == 0))
    });
    for (row, item, ends, begins) in steps {
        turned &= !begins;
        let wrong = match row.requires {
            _ if turned && (row.requires == Requires::EarlierRead || matches!(row.name, "read" | "mint")) => {
                Some(("the handler is at the other resource", "`other` turns back to the call's own"))
            }
            Requires::NoEarlierResolve if tool != Tool::Mint => {
                Some(("it makes a resource", "only the handler of the tool `mint` makes one"))
            }
            Requires::NoEarlierResolve if minted => {
                Some(("it makes a resource, and the call has one by now", "a handler mints once"))
            }
            Requires::EarlierLoad if !loaded[usize::from(turned)] => {
                Some(("there is no working copy yet", "`load` makes one; or use `apply`, which loads and saves"))
            }
            Requires::EarlierRead if !read => {
                Some(("nothing was read yet", "`read` puts a view into the answer, and this step keeps it"))
            }
            Requires::Reader if tool != Tool::Read || ends => {
                Some(("it answers a view", "it stands in `transactions` of `[server.read]` only"))
            }
            Requires::Resource if tool == Tool::Mint && !minted && !turned => Some(match row.name {
                "check-version" => (
                    "what is made has no version yet",
                    "put it behind the step `mint`: there it compares the versions of what the mint is `given`, and in the \
                         same transaction a refusal takes the mint back",
                ),
                _ => ("there is no resource yet", "in the handler of `mint` it can stand behind the step `mint` only"),
            }),
            Requires::Caller if tool == Tool::Read => {
                Some(("what a read is answered is what it read", "an agent that reads waits for that"))
            }
            Requires::Caller if ends => {
                Some(("the answer is decided by now", "write it in `transactions`, where the answer is to leave"))
            }
            Requires::Ending if !ends => {
                Some(("the outcome is not decided yet", "write it in `at-end`, which runs when it is"))
            }
            Requires::Ending if in_parts => {
                Some(("it does not know which parts were written", "`apply-next` writes in parts; use `apply`"))
            }
            _ => None,
        };
        if let Some((label, help)) = wrong {
            let message = format!("`{}` can't stand here", row.name);
            item.complain_in_place(message, label, Some(help.to_owned()));
        }
        loaded[usize::from(turned)] |= row.name == "load";
        read |= row.name == "read";
        turned ^= row.name == "other";
        minted |= row.name == "mint";
    }
}
