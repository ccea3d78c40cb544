//! Coverage for people: what never happened, in one run and over several; and on request how often everything did.

use std::collections::{BTreeMap, BTreeSet};

use super::words::plural;
use crate::run::{Report, Uncovered, uncovered};

/// A report as it is kept until the end: without the traces, which would fill the memory.
#[must_use]
pub fn kept(report: &Report) -> Report {
    Report { invariants: Vec::new(), shows: Vec::new(), ..report.clone() }
}

/// What never happened in any run of each design that has at least so many, a line each; empty where everything did.
#[must_use]
pub fn across(reports: &[Report], least: usize) -> String {
    let runs = |design: &str| reports.iter().filter(|report| report.design == design).count();
    let uncovered: Vec<_> = uncovered(&reports.iter().collect::<Vec<_>>())
        .into_iter()
        .filter(|(design, _)| runs(design) >= least)
        .collect();
    let width = uncovered.iter().map(|(design, _)| design.len()).max().unwrap_or(0);
    let mut text = String::new();
    for (design, Uncovered { never, never_refused }) in &uncovered {
        let refused =
            (!never_refused.is_empty()).then(|| format!("a refusal or replay by {}", never_refused.join(", ")));
        let happened = (!never.is_empty()).then(|| never.join(", "));
        let parts: Vec<String> = happened.into_iter().chain(refused).collect();
        text.push_str(&format!("  {design:<width$}  {}\n", parts.join("; ")));
    }
    if text.is_empty() { text } else { format!("Never, in any run of the design:\n{text}") }
}

/// In how many designs a step never refused anything, in one line; empty where none has such a step.
#[must_use]
pub fn summary(reports: &[Report]) -> String {
    let idle =
        uncovered(&reports.iter().collect::<Vec<_>>()).values().filter(|found| !found.never_refused.is_empty()).count();
    if idle == 0 {
        return String::new();
    }
    let designs: BTreeSet<&str> = reports.iter().map(|report| &*report.design).collect();
    let designs = plural(designs.len(), "design");
    format!("steps that never refused or replayed a call: in {idle} of {designs} (--coverage names them)\n")
}

/// How often everything happened, over these runs.
#[must_use]
pub fn counts(reports: &[&Report]) -> String {
    let mut actions: BTreeMap<String, u64> = BTreeMap::new();
    let mut steps: BTreeMap<String, u64> = BTreeMap::new();
    let mut reactions: BTreeMap<String, u64> = BTreeMap::new();
    for report in reports {
        add(&mut actions, report.actions.iter().map(|(name, seen)| (name.clone(), *seen)));
        add(&mut actions, report.never.iter().filter(|name| !name.contains(':')).map(|name| (name.clone(), 0)));
        add(&mut steps, pairs("", &report.steps));
        add(&mut reactions, pairs("on:", &report.reactions));
        add(&mut reactions, report.never.iter().filter(|name| name.contains(':')).map(|name| (name.clone(), 0)));
    }
    let all = [("actions", actions), ("steps that ended a call", steps), ("reactions of clients", reactions)];
    let names = all.iter().flat_map(|(_, counts)| counts.keys());
    let width = names.map(String::len).max().unwrap_or(0);
    let mut text = String::new();
    for (title, counts) in all.iter().filter(|(_, counts)| !counts.is_empty()) {
        text.push_str(&format!("  {title}\n"));
        for (name, seen) in counts {
            let seen = if *seen == 0 { "never".to_owned() } else { seen.to_string() };
            text.push_str(&format!("    {name:<width$}  {seen:>12}\n"));
        }
    }
    text
}

/// How often everything happened, for each design over all its runs; and what never did.
#[must_use]
pub fn by_design(reports: &[Report]) -> String {
    let designs: BTreeSet<&str> = reports.iter().map(|report| &*report.design).collect();
    let mut text = String::new();
    for design in designs {
        let runs: Vec<&Report> = reports.iter().filter(|report| report.design == design).collect();
        text.push_str(&format!("{design}, {}\n{}", plural(runs.len(), "run"), counts(&runs)));
    }
    text + &across(reports, 1)
}

fn add(counts: &mut BTreeMap<String, u64>, more: impl Iterator<Item = (String, u64)>) {
    for (name, seen) in more {
        *counts.entry(name).or_default() += seen;
    }
}

/// The counts of a table in a table, each under the name by which it can be shown.
fn pairs<'t>(
    before: &'static str,
    table: &'t BTreeMap<String, BTreeMap<String, u64>>,
) -> impl Iterator<Item = (String, u64)> + 't {
    table.iter().flat_map(move |(first, row)| {
        row.iter().map(move |(second, seen)| (format!("{before}{first}:{second}"), *seen))
    })
}
