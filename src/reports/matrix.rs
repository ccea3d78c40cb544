//! The matrix: designs and invariants, each cell the worst verdict over the scenarios with the cheapest break.

use comfy_table::{Attribute, Cell, Color, ContentArrangement, Table, presets};

use crate::model::{Tool, Verdict};
use crate::run::{Break, Report, Run};

/// The matrix as text. Runs of one design stand together.
#[must_use]
pub fn matrix(compared: &[(&Run, Report)], colour: bool) -> String {
    let designs = distinct(compared.iter().map(|(_, report)| &*report.design));
    let scenarios = distinct(compared.iter().map(|(_, report)| &*report.scenario));
    let properties =
        distinct(compared.iter().flat_map(|(_, report)| &report.invariants).map(|property| &*property.name));
    let of_design = |design: &str| -> Vec<&(&Run, Report)> {
        compared.iter().filter(|(_, report)| report.design == design).collect()
    };
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN).set_content_arrangement(ContentArrangement::Disabled);
    let wide = designs.len() > properties.len();
    if wide {
        table
            .set_header(std::iter::once("design").chain(properties.iter().copied()).chain(COSTS.map(|(name, _)| name)));
        for design in &designs {
            let runs = of_design(design);
            let cells = properties.iter().map(|property| cell(&runs, property, colour));
            let costs = COSTS.iter().map(|(_, cost)| Cell::new(cost(&runs)));
            table.add_row(std::iter::once(Cell::new(design)).chain(cells).chain(costs).collect::<Vec<_>>());
        }
    } else {
        table.set_header(std::iter::once("").chain(designs.iter().copied()));
        for property in &properties {
            let cells = designs.iter().map(|design| cell(&of_design(design), property, colour));
            table.add_row(std::iter::once(Cell::new(property)).chain(cells).collect::<Vec<_>>());
        }
        for (name, cost) in COSTS {
            let cells = designs.iter().map(|design| Cell::new(cost(&of_design(design))));
            table.add_row(std::iter::once(Cell::new(name)).chain(cells).collect::<Vec<_>>());
        }
    }
    let mut text = format!("{table}\n\nOver the scenarios {}.\n", scenarios.join(", "));
    text.push_str(
        "A cell is the worst verdict over the scenarios. Violated: steps + faults of the shortest break, and of\n",
    );
    text.push_str("those that need fewer faults; the scenario is named when it is not the first.\n");
    if let Some((_, cut)) = compared.iter().find(|(_, report)| !report.complete) {
        let reason = cut.stopped.as_deref().unwrap_or_default();
        text.push_str(&format!("Some runs were cut short ({} x {}: {reason}).\n", cut.scenario, cut.design));
    }
    text
}

fn distinct<'r>(names: impl Iterator<Item = &'r str>) -> Vec<&'r str> {
    let mut distinct = Vec::new();
    for name in names {
        if !distinct.contains(&name) {
            distinct.push(name);
        }
    }
    distinct
}

fn cell(of_design: &[&(&Run, Report)], property: &str, colour: bool) -> Cell {
    let found: Vec<_> = of_design
        .iter()
        .filter_map(|(_, report)| {
            let property = report.invariants.iter().find(|other| other.name == property)?;
            Some((&*report.scenario, property))
        })
        .collect();
    let has = |verdict: Verdict| found.iter().any(|(_, property)| property.verdict == verdict);
    let order = [Verdict::Violated, Verdict::Inconclusive, Verdict::Holds, Verdict::Vacuous];
    let Some(verdict) = order.into_iter().find(|verdict| has(*verdict)) else {
        return Cell::new("-");
    };
    let breaks =
        found.iter().flat_map(|(scenario, property)| property.breaks.iter().map(move |found| (*scenario, found)));
    let front = front(breaks);
    let mut text = verdict.name().to_owned();
    for (scenario, found) in &front {
        let first = of_design.first().is_some_and(|(_, report)| report.scenario == *scenario);
        let place = if first { String::new() } else { format!(" ({scenario})") };
        text.push_str(&format!(" {}+{}{place}", found.steps, found.faults));
    }
    let cell = Cell::new(text);
    if !colour {
        return cell;
    }
    match verdict {
        Verdict::Holds => cell.fg(Color::Green),
        Verdict::Violated => cell.fg(Color::Red).add_attribute(Attribute::Bold),
        Verdict::Inconclusive => cell.fg(Color::Yellow),
        Verdict::Vacuous => cell.add_attribute(Attribute::Dim),
    }
}

/// The breaks that no other break beats in steps and faults, shortest first; of equal ones the first.
fn front<'r>(breaks: impl Iterator<Item = (&'r str, &'r Break)>) -> Vec<(&'r str, &'r Break)> {
    let mut sorted: Vec<_> = breaks.collect();
    sorted.sort_by_key(|(_, found)| (found.steps, found.faults));
    let mut front: Vec<(&str, &Break)> = Vec::new();
    for found in sorted {
        if front.last().is_none_or(|best| found.1.faults < best.1.faults) {
            front.push(found);
        }
    }
    front
}

/// What a design costs, from its runs.
type Cost = fn(&[&(&Run, Report)]) -> String;

/// What each design costs.
const COSTS: [(&str, Cost); 4] = [
    ("a write costs", write_cost),
    ("refused calls", |runs| share(runs, |outcome| outcome != "ok" && outcome != "replayed")),
    ("replayed calls", |runs| share(runs, |outcome| outcome == "replayed")),
    ("states explored", |runs| runs.iter().map(|(_, report)| report.states).sum::<usize>().to_string()),
];

/// What a write costs the server: transactions and steps.
fn write_cost(runs: &[&(&Run, Report)]) -> String {
    let handler = runs.first().and_then(|(run, _)| run.model().design.server.handler(Tool::Write));
    let Some(handler) = handler else { return "-".to_owned() };
    let lists = handler.transactions.iter().chain(&handler.at_end);
    let steps: usize = lists.clone().map(Vec::len).sum();
    let transactions = lists.count();
    let plural = if transactions == 1 { "" } else { "s" };
    format!("{transactions} transaction{plural}, {steps} steps")
}

/// The share of the answers of all explored transitions that have such an outcome, in percent.
fn share(runs: &[&(&Run, Report)], counts: fn(&str) -> bool) -> String {
    let sum = |counts: &dyn Fn(&str) -> bool| -> u64 {
        let outcomes = runs.iter().flat_map(|(_, report)| &report.outcomes);
        outcomes.filter(|(outcome, _)| counts(outcome)).map(|(_, seen)| seen).sum()
    };
    // A replay is counted under its outcome too.
    let all = sum(&|outcome| outcome != "replayed");
    if all == 0 {
        return "-".to_owned();
    }
    format!("{}.{} %", sum(&counts) * 1000 / all / 10, sum(&counts) * 1000 / all % 10)
}
