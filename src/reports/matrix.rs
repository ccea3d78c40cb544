//! The matrix: designs and invariants, each cell the worst verdict over the scenarios with the cheapest break; and what each
//! design costs.

use comfy_table::{Attribute, Cell, Color, ContentArrangement, Table, presets};

use super::costs::COSTS;
use crate::model::Verdict;
use crate::run::{Break, Report, Run};

/// The matrix, before it is drawn.
pub struct Grid {
    /// The designs.
    pub designs: Vec<String>,
    /// The scenarios.
    pub scenarios: Vec<String>,
    /// One row for each invariant: its name, and a cell for each design.
    pub verdicts: Vec<(String, Vec<Judged>)>,
    /// One row for each cost: its name, and a cell for each design.
    pub costs: Vec<(&'static str, Vec<String>)>,
    /// What is to be known of it, sentence by sentence.
    pub notes: Vec<String>,
}

/// One cell: the worst verdict over the scenarios, if there is any, and how it is broken.
pub struct Judged {
    /// The verdict; none where no run asks for it.
    pub verdict: Option<Verdict>,
    /// The breaks: steps and faults, and the scenario where it is not the first.
    pub breaks: Vec<String>,
}

impl Judged {
    /// All of it.
    #[must_use]
    pub fn text(&self) -> String {
        let Some(verdict) = self.verdict else { return "-".to_owned() };
        std::iter::once(verdict.name()).chain(self.breaks.iter().map(String::as_str)).collect::<Vec<_>>().join(" ")
    }
}

impl Grid {
    /// The grid of these runs. Runs of one design stand together.
    #[must_use]
    pub fn of(compared: &[(&Run, Report)]) -> Self {
        let designs = distinct(compared.iter().map(|(_, report)| &*report.design));
        let scenarios = distinct(compared.iter().map(|(_, report)| &*report.scenario));
        let properties =
            distinct(compared.iter().flat_map(|(_, report)| &report.invariants).map(|property| &*property.name));
        let of_design = |design: &str| -> Vec<&(&Run, Report)> {
            compared.iter().filter(|(_, report)| report.design == design).collect()
        };
        let row = |property: &&str| {
            let cells = designs.iter().map(|design| judged(&of_design(design), property));
            ((*property).to_owned(), cells.collect())
        };
        let costs = COSTS
            .iter()
            .map(|(name, cost)| (*name, designs.iter().map(|design| cost(&of_design(design))).collect::<Vec<_>>()));
        let mut notes = vec![
            format!("Over the scenarios {}.", scenarios.join(", ")),
            "A cell is the worst verdict over the scenarios. Violated: steps + faults of the shortest break, and of those \
             that need fewer faults; the scenario is named when it is not the first."
                .to_owned(),
        ];
        notes.extend(super::costs::note(compared));
        if let Some((_, cut)) = compared.iter().find(|(_, report)| !report.complete) {
            let reason = cut.stopped.as_deref().unwrap_or_default();
            notes.push(format!("Some runs were cut short ({} x {}: {reason}).", cut.scenario, cut.design));
        }
        let unchecked = super::words::unchecked_of(compared.iter().map(|(_, report)| report));
        notes.extend(unchecked.iter().map(|said| format!("{}{}.", said[..1].to_uppercase(), &said[1..])));
        Self {
            verdicts: properties.iter().map(row).collect(),
            costs: costs.filter(|(_, cells)| cells.iter().any(|cell| cell != "-")).collect(),
            notes,
            designs: designs.into_iter().map(str::to_owned).collect(),
            scenarios: scenarios.into_iter().map(str::to_owned).collect(),
        }
    }
}

/// The matrix as text.
#[must_use]
pub fn matrix(compared: &[(&Run, Report)], colour: bool) -> String {
    let grid = Grid::of(compared);
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN).set_content_arrangement(ContentArrangement::Disabled);
    let wide = grid.designs.len() > grid.verdicts.len();
    if wide {
        let properties = grid.verdicts.iter().map(|(name, _)| name.as_str());
        table.set_header(std::iter::once("design").chain(properties).chain(grid.costs.iter().map(|(name, _)| *name)));
        for (at, design) in grid.designs.iter().enumerate() {
            let cells = grid.verdicts.iter().map(|(_, cells)| painted(&cells[at], colour));
            let costs = grid.costs.iter().map(|(_, cells)| Cell::new(&cells[at]));
            table.add_row(std::iter::once(Cell::new(design)).chain(cells).chain(costs).collect::<Vec<_>>());
        }
    } else {
        table.set_header(std::iter::once("").chain(grid.designs.iter().map(String::as_str)));
        for (property, cells) in &grid.verdicts {
            let cells = cells.iter().map(|cell| painted(cell, colour));
            table.add_row(std::iter::once(Cell::new(property)).chain(cells).collect::<Vec<_>>());
        }
        for (name, cells) in &grid.costs {
            let cells = cells.iter().map(Cell::new);
            table.add_row(std::iter::once(Cell::new(name)).chain(cells).collect::<Vec<_>>());
        }
    }
    let mut text = format!("{table}\n\n");
    for note in &grid.notes {
        text.push_str(&textwrap::fill(note, 100));
        text.push('\n');
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

/// The worst verdict on a property over the runs of a design, and its front.
fn judged(of_design: &[&(&Run, Report)], property: &str) -> Judged {
    let found: Vec<_> = of_design
        .iter()
        .filter_map(|(_, report)| {
            let property = report.invariants.iter().find(|other| other.name == property)?;
            Some((&*report.scenario, property))
        })
        .collect();
    let has = |verdict: Verdict| found.iter().any(|(_, property)| property.verdict == verdict);
    let order = [Verdict::Violated, Verdict::Inconclusive, Verdict::Holds, Verdict::Vacuous];
    let breaks =
        found.iter().flat_map(|(scenario, property)| property.breaks.iter().map(move |found| (*scenario, found)));
    let breaks = front(breaks).into_iter().map(|(scenario, found)| {
        let first = of_design.first().is_some_and(|(_, report)| report.scenario == scenario);
        let place = if first { String::new() } else { format!(" ({scenario})") };
        format!("{}+{}{place}", found.steps, found.faults)
    });
    Judged { verdict: order.into_iter().find(|verdict| has(*verdict)), breaks: breaks.collect() }
}

fn painted(judged: &Judged, colour: bool) -> Cell {
    let cell = Cell::new(judged.text());
    if !colour {
        return cell;
    }
    match judged.verdict {
        Some(Verdict::Holds) => cell.fg(Color::Green),
        Some(Verdict::Violated) => cell.fg(Color::Red).add_attribute(Attribute::Bold),
        Some(Verdict::Inconclusive) => cell.fg(Color::Yellow),
        Some(Verdict::Vacuous) | None => cell.add_attribute(Attribute::Dim),
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
