//! What several formats say in the same words.

use anstyle::{AnsiColor, Style};

use super::Asked;
use crate::model::Verdict;
use crate::run::{Break, PropertyReport, Report};

/// A number of things: `no faults`, `1 fault`, `2 faults`.
#[must_use]
pub fn plural<N: TryInto<u64>>(count: N, word: &str) -> String {
    match count.try_into().unwrap_or(u64::MAX) {
        0 => format!("no {word}s"),
        1 => format!("1 {word}"),
        more => format!("{more} {word}s"),
    }
}

/// A number of things: `0 runs`, `1 run`.
pub(super) fn count(count: usize, word: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {word}{plural}")
}

/// The steps and faults of a break.
pub(super) fn cost(found: &Break) -> String {
    let proved = if found.shortest { "" } else { " (short, not proved shortest)" };
    format!("{}, {}{proved}", plural(found.steps, "step"), plural(found.faults, "fault"))
}

/// The front of cheapest breaks; empty where there is none.
pub(super) fn cheapest(property: &PropertyReport) -> String {
    property.breaks.iter().map(cost).collect::<Vec<_>>().join("; or ")
}

/// What a run is called.
pub(super) fn name(report: &Report) -> String {
    format!("{} x {} x {}", report.scenario, report.design, report.protocol)
}

/// How much was explored: a run that was cut short says so.
pub(super) fn extent(report: &Report) -> String {
    let bounds: Vec<String> = report.bounds.faults.iter().map(|(fault, budget)| format!("{fault} {budget}")).collect();
    let bounds = if bounds.is_empty() { "no faults".to_owned() } else { format!("at most {}", bounds.join(", ")) };
    let counted = if report.transitions == 0 {
        format!("{} states", report.states)
    } else {
        // A call that is routed late arrives and runs in one step.
        let merged = report.reductions.iter().any(|used| used == "late routing");
        let depth = if merged { " without deliveries" } else { "" };
        format!("{} states, {} transitions, depth {}{depth}", report.states, report.transitions, report.depth)
    };
    let reduced = match &*report.reductions {
        [] => String::new(),
        used => format!("; reduced by {}", used.join(", ")),
    };
    let engine = report.engine;
    match &report.stopped {
        None => format!("explored all: {counted} ({bounds}; engine {engine}{reduced})"),
        Some(reason) => format!("cut short, since {reason}: {counted} ({bounds}; engine {engine}{reduced})"),
    }
}

/// The same, with what it rests on.
pub(super) fn extent_in_full(report: &Report) -> String {
    [Some(extent(report)), hashes(report), unchecked(report)].into_iter().flatten().collect::<Vec<_>>().join("; ")
}

/// What a run rests on in which states were known by their hashes.
pub(super) fn hashes(report: &Report) -> Option<String> {
    let probability = rounded_up(report.omission?);
    Some(format!(
        "states were known by 64-bit hashes: what holds, is vacuous or never happens is so unless two had the same, and the \
         probability of that is at most {probability}"
    ))
}

/// What was asked for and not checked, and why.
pub(super) fn unchecked(report: &Report) -> Option<String> {
    let names = report.unchecked.iter().map(|unchecked| format!("{}, since {}", unchecked.name, unchecked.why));
    let names = names.collect::<Vec<_>>().join("; ");
    (!names.is_empty()).then(|| format!("not checked: {names}"))
}

/// The same of many runs, each reason once.
pub(super) fn unchecked_of<'r>(reports: impl Iterator<Item = &'r Report>) -> Vec<String> {
    let mut counted: Vec<(String, usize)> = Vec::new();
    for said in reports.filter_map(unchecked) {
        match counted.iter_mut().find(|(other, _)| *other == said) {
            Some((_, times)) => *times += 1,
            None => counted.push((said, 1)),
        }
    }
    counted.into_iter().map(|(said, times)| format!("in {}, {said}", count(times, "run"))).collect()
}

/// A probability with two digits, not less than it is: `9.8e-7`.
fn rounded_up(probability: f64) -> String {
    let shown = format!("{probability:.1e}");
    if shown.parse::<f64>().is_ok_and(|rounded| rounded < probability) {
        // One more in the last digit.
        let exponent = shown.split_once('e').and_then(|(_, exponent)| exponent.parse::<i32>().ok()).unwrap_or_default();
        return format!("{:.1e}", probability + 0.05 * 10.0_f64.powi(exponent));
    }
    shown
}

/// What a property is about, or what happened: the sentence of the shortest break, without its full stop.
pub(super) fn sentence(property: &PropertyReport) -> String {
    property.sentence.clone().unwrap_or_else(|| "no state is reached in which it is true".to_owned())
}

/// What was expected and what was found, where they differ: `expected holds, found violated in 15 steps with no faults`.
pub(super) fn surprise(property: &PropertyReport) -> String {
    let expected = property.expected.as_deref().unwrap_or("not violated");
    let cost = |found: &Break| format!("{} with {}", plural(found.steps, "step"), plural(found.faults, "fault"));
    let front: Vec<String> = property.breaks.iter().map(cost).collect();
    let front = if front.is_empty() { String::new() } else { format!(" in {}", front.join(" or ")) };
    format!("expected {expected}, found {}{front}", property.verdict)
}

/// Why a property does not stand as it should, in one line.
pub(super) fn message(asked: Asked, property: &PropertyReport) -> String {
    let unexpected = asked != Asked::Verdicts && property.expected.is_some();
    match (unexpected, property.verdict) {
        (false, Verdict::Violated) => sentence(property),
        (true, Verdict::Violated) => format!("{}: {}", surprise(property), sentence(property)),
        (..) => surprise(property),
    }
}

/// A word in the colour of a verdict, padded to a width.
pub(super) fn painted(verdict: Verdict, word: &str, width: usize, colour: bool) -> String {
    let padded = format!("{word:<width$}");
    if !colour {
        return padded;
    }
    let style = Style::new();
    let style = match verdict {
        Verdict::Holds => style.fg_color(Some(AnsiColor::Green.into())),
        Verdict::Violated => style.fg_color(Some(AnsiColor::Red.into())).bold(),
        Verdict::Vacuous => style.dimmed(),
        Verdict::Inconclusive => style.fg_color(Some(AnsiColor::Yellow.into())),
    };
    format!("{style}{padded}{style:#}")
}
