//! `[finally]`, `[at-rest]` and `[sometimes]`: expressions over fields, versions and what was told.

use crate::assertion::{self, Names};
use crate::model::limits;
use crate::model::scenario::Assertion;

use super::agents::Draft;
use super::resources::Known;
use crate::input::reader::Table;
use crate::input::report::Spot;

/// The names that assertions may use; `None` when some are unknown because the file has them wrong.
pub(super) fn names(resources: &[Known], agents: &[Draft<'_>]) -> Option<Names> {
    if resources.iter().any(|known| known.doubtful) {
        return None;
    }
    let resources = resources.iter().map(|known| (known.resource.name.as_str(), known.resource.fields.as_slice()));
    // An agent is told something once for each intent, so for no more than its entries.
    let agents = agents.iter().map(|agent| (agent.name, agent.work.len()));
    Some(Names::new(resources, agents))
}

/// Reads a table of assertions. Those `before` have taken their names.
pub(super) fn assertions(
    table: &Table<'_>,
    table_key: &'static str,
    names: Option<&Names>,
    invariants: &[&str],
    before: &[&[Assertion]],
) -> Vec<Assertion> {
    let mut all = Vec::new();
    let Some(assertions) = table.table(table_key) else { return all };
    for (key, item) in assertions.entries() {
        if all.len() == limits::ASSERTIONS {
            let label = format!("`[{table_key}]` has at most {}", limits::ASSERTIONS);
            key.complain("too many assertions", label, None);
            break;
        }
        let name = key.text();
        key.is_name(name, "an assertion");
        if invariants.contains(&name) {
            let label = "expectations could not tell the two apart";
            key.complain_in_place("an invariant has this name", label, None);
        }
        if before.iter().copied().flatten().any(|assertion| assertion.name == name) {
            let label = "expectations could not tell the two apart";
            key.complain("another assertion has this name", label, None);
        }
        let Some(expression) = item.nonempty() else { continue };
        if let Some(Err(problems)) = names.map(|names| assertion::compile(expression, names)) {
            for problem in problems {
                item.part(problem.range).complain(problem.message, "", problem.help);
            }
        }
        all.push(Assertion { name: name.to_owned(), expression: expression.to_owned() });
    }
    all
}
