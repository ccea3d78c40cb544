//! What the server can do: a design that asks for more is refused, with the step or setting that it can't do.

use std::collections::BTreeSet;

use crate::model::design::{Calls, NewFields, Replies};
use crate::model::{Design, Scenario};

use super::steps;

/// Why a design can't be served: one sentence for each step or setting that the server does not have, or not without what a
/// scenario says. Empty: it can.
#[must_use]
pub fn refusals(design: &Design, scenario: Option<&Scenario>) -> Vec<String> {
    let server = &design.server;
    let mut refusals = Vec::new();
    for (tool, handler) in &server.tools {
        for step in handler.transactions.iter().chain(&handler.at_end).flatten() {
            if steps::find(step).is_none() {
                refusals.push(format!(
                    "the handler of `{}` has the step `{step}`, which this server can't do",
                    tool.name()
                ));
            }
        }
    }
    refusals.dedup();
    let mut setting = |unserved: bool, name: &str, value: &str, why: &str| {
        if unserved {
            refusals.push(format!("`{name} = \"{value}\"`: {why}"));
        }
    };
    setting(
        server.replies == Replies::ByRequestId && server.calls != Calls::Memory,
        "server.replies",
        server.replies.name(),
        "a call that a queue delivers again is no request of a client, and has no id in such a table",
    );
    let dropped = (server.new_fields == NewFields::Dropped, "server.new-fields", server.new_fields.name());
    let (drops, name, value) = dropped;
    setting(drops && scenario.is_none(), name, value, "which fields it does not know is said by a scenario");
    let mixed = scenario.is_some_and(|scenario| !new_fields(scenario).is_disjoint(&fields(scenario, false)));
    setting(
        drops && mixed,
        name,
        value,
        "it knows fields by their names, and the scenario has a new one that is old elsewhere",
    );
    refusals
}

/// The names of the fields that came with a later schema.
#[must_use]
pub fn new_fields(scenario: &Scenario) -> BTreeSet<String> {
    fields(scenario, true)
}

fn fields(scenario: &Scenario, new: bool) -> BTreeSet<String> {
    let of = |resource: &crate::model::Resource| {
        let fields = resource.fields.iter().enumerate();
        let fields = fields.filter(|(number, _)| resource.new_fields.contains(number) == new);
        fields.map(|(_, (name, _))| name.clone()).collect::<Vec<_>>()
    };
    scenario.resources.iter().flat_map(of).collect()
}
