//! Which line of which file a step of a trace, a violation or an expectation is about.

use crate::input::{Place, Source};
use crate::trace::{Sources, Step, Trace};

/// The place of a violation: where the client reacts with what is violated, or else the last transaction that committed
/// something, or that ran.
pub(super) fn of_violation(trace: &Trace, sources: &Sources<'_>) -> Place {
    let last = trace.steps.last().and_then(|step| told_by(step, sources.design));
    let ran = |commits: bool| {
        let steps = trace.steps.iter().enumerate().rev();
        let mut steps = steps.filter(|(_, step)| !commits || !step.commits.is_empty());
        steps.find_map(|(index, step)| transaction(step, of_node(trace, index, sources)))
    };
    last.or_else(|| ran(true)).or_else(|| ran(false)).unwrap_or_else(|| whole(sources.design))
}

/// The design that the node of a step runs: another one, once it has changed over.
fn of_node<'s>(trace: &Trace, index: usize, sources: &Sources<'s>) -> &'s Source {
    let node = &trace.steps[index].does.node;
    let over = trace.steps[..index].iter().any(|step| step.does.action == "deploy" && step.does.node == *node);
    sources.deployed_design.filter(|_| over).unwrap_or(sources.design)
}

/// The place of a step: its transaction in the design, or the reaction of the client, or its agent in the scenario.
pub(super) fn of_step(trace: &Trace, index: usize, sources: &Sources<'_>) -> Place {
    let step = &trace.steps[index];
    let agent = || sources.scenario.find_place(&["agents", step.does.agent.as_deref()?]);
    let fault = || sources.scenario.find_place(&["faults", &step.does.action]);
    transaction(step, of_node(trace, index, sources))
        .or_else(|| told_by(step, sources.design))
        .or_else(fault)
        .or_else(agent)
        .unwrap_or_else(|| whole(sources.scenario))
}

/// Where an input expects something of this property.
pub(super) fn of_expectation(sources: &Sources<'_>, property: &str) -> Option<Place> {
    let (scenario, design) = (sources.scenario, sources.design);
    let in_scenario = scenario.find_place(&["expect", &design.name, property]);
    in_scenario.or_else(|| design.find_place(&["expect", &scenario.name, property]))
}

/// The beginning of a file, up to the end of its first line.
pub(super) fn whole(source: &Source) -> Place {
    let end = source.text.find('\n').unwrap_or(source.text.len());
    Place { source: source.clone(), span: 0..end }
}

/// The transaction that a step executes.
fn transaction(step: &Step, design: &Source) -> Option<Place> {
    let transaction = step.transaction.as_ref()?;
    let list = if transaction.at_end { "at-end" } else { "transactions" };
    let index = transaction.number.checked_sub(1)?.to_string();
    let tool = step.call.as_ref().map_or("write", |call| call.tool.as_str());
    // A tool without a table of its own is served by `write`.
    [tool, "write"].iter().find_map(|tool| design.find_place(&["server", tool, list, &index]))
}

/// The reaction of the client to what it learns in a step, where a step makes it tell something.
fn told_by(step: &Step, design: &Source) -> Option<Place> {
    step.told.first()?;
    let event = match &step.answer {
        Some(answer) => &answer.outcome,
        None => "broken-stream",
    };
    design.find_place(&["client", "on", event])
}
