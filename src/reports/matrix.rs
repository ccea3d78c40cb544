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
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN).set_content_arrangement(ContentArrangement::Disabled);
    let head = std::iter::once("design").chain(properties.iter().copied()).chain(["a write", "states"]);
    table.set_header(head);
    for design in &designs {
        let of_design: Vec<&(&Run, Report)> = compared.iter().filter(|(_, report)| report.design == *design).collect();
        let mut row = vec![Cell::new(design)];
        row.extend(properties.iter().map(|property| cell(&of_design, property, colour)));
        row.push(Cell::new(of_design.first().map_or_else(String::new, |(run, _)| write_cost(run))));
        row.push(Cell::new(of_design.iter().map(|(_, report)| report.states).sum::<usize>()));
        table.add_row(row);
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

/// What a write costs the server: transactions and steps.
fn write_cost(run: &Run) -> String {
    let Some(handler) = run.model().design.server.handler(Tool::Write) else { return "-".to_owned() };
    let lists = handler.transactions.iter().chain(&handler.at_end);
    let steps: usize = lists.clone().map(Vec::len).sum();
    let transactions = lists.count();
    let plural = if transactions == 1 { "" } else { "s" };
    format!("{transactions} transaction{plural}, {steps} steps")
}
