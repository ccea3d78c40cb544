//! Scenario files: resources, agents and their work, fault budgets, assertions, expectations.

mod agents;
mod assertions;
mod resources;
mod sharing;
mod work;

use std::collections::BTreeMap;

use crate::faults::FAULTS;
use crate::model::{Deploy, Extent, Scenario, limits};

use super::diagnostic::InputError;
use super::expect::expectations;
use super::protocol::heading;
use super::reader::{Item, Table, read};
use super::report::Spot;
use super::{Input, Source};

pub use work::{BESIDES, VERBS};

/// Reads a scenario. Its `[expect]` may name the `invariants` and its own assertions; an assertion may not have the name
/// of an invariant.
///
/// # Errors
///
/// Everything that is wrong with the text, each with its place.
pub fn read_scenario(source: &Source, invariants: &[&str]) -> Result<Input<Scenario>, InputError> {
    read_scenario_within(source, invariants, Extent::EXPLORED)
}

/// As [`read_scenario`], for a scenario that may be of another size: that of a simulation, say.
///
/// # Errors
///
/// Everything that is wrong with the text, each with its place.
pub fn read_scenario_within(source: &Source, invariants: &[&str], most: Extent) -> Result<Input<Scenario>, InputError> {
    read(source, |table| scenario(table, &source.name, invariants, most))
}

fn scenario(table: &Table<'_>, name: &str, invariants: &[&str], most: Extent) -> Option<Scenario> {
    let (title, about) = heading(table, name);
    let most_nodes = i64::try_from(most.nodes).expect("the limit is small");
    let nodes = table.require("nodes").and_then(|item| item.number(1..=most_nodes));
    let protocol = table.get("protocol").and_then(|item| item.nonempty().map(str::to_owned));

    let mut resources = resources::declared(table, most.resources);
    let drafts = agents::drafts(table, most.agents);
    resources::minted(&drafts, &mut resources, most.resources);
    let works = work::works(&drafts, &resources, most.intents);
    let faults = faults(table);
    let deploy = table.table("deploy").map(|table| deploy(&table)).unwrap_or_default();

    let names = assertions::names(&resources, &drafts);
    let finally = assertions::assertions(table, "finally", names.as_ref(), invariants, &[]);
    let at_rest = assertions::assertions(table, "at-rest", names.as_ref(), invariants, &[&finally]);
    let sometimes = assertions::assertions(table, "sometimes", names.as_ref(), invariants, &[&finally, &at_rest]);
    let own = finally.iter().chain(&at_rest).chain(&sometimes).map(|assertion| assertion.name.as_str());
    let known: Vec<&str> = invariants.iter().copied().chain(own).collect();
    let expect = expectations(table, "design", Some(&known));
    table.finish();

    let agents = agents::agents(drafts, works);
    let resources = resources.into_iter().map(|known| known.resource).collect();
    Some(Scenario {
        name: name.to_owned(),
        title,
        about,
        nodes: nodes?,
        protocol,
        resources,
        agents: agents?,
        faults,
        deploy,
        finally,
        at_rest,
        sometimes,
        expect,
    })
}

/// How nodes change over.
fn deploy(table: &Table<'_>) -> Deploy {
    let default = Deploy::default();
    let restart = table.get("restart").and_then(Item::boolean).unwrap_or(default.restart);
    let clients = table.word("clients").unwrap_or(default.clients);
    table.finish();
    Deploy { restart, clients }
}

/// The budgets that are not zero.
fn faults(table: &Table<'_>) -> BTreeMap<&'static str, u8> {
    let mut budgets = BTreeMap::new();
    let Some(faults) = table.table("faults") else { return budgets };
    let names: Vec<&str> = FAULTS.iter().map(|row| row.name).collect();
    for (key, item) in faults.entries() {
        let fault = FAULTS.iter().find(|row| row.name == key.text());
        if fault.is_none() {
            let _: Option<()> = key.unknown_word("fault", key.text(), &names);
        }
        let budget: Option<u8> = item.number(0..=i64::from(limits::BUDGET));
        if let (Some(fault), Some(budget @ 1..)) = (fault, budget) {
            budgets.insert(fault.name, budget);
        }
    }
    budgets
}
