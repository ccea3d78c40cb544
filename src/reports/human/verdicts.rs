//! Verdicts first, one line each; then what happens in each break, and the command that shows it.

use std::fmt::Write;

use crate::model::Verdict;
use crate::reports::words::{cheapest, cost, extent, hashes, name, painted, sentence, unchecked};
use crate::run::{PropertyReport, Report, ShowReport};

/// A report as text.
pub(super) fn report(report: &Report, colour: bool) -> String {
    let mut text = String::new();
    write(&mut text, report, colour).expect("writing to a string doesn't fail");
    text
}

fn write(text: &mut String, report: &Report, colour: bool) -> std::fmt::Result {
    writeln!(text, "{}", name(report))?;
    let width = report.invariants.iter().map(|property| property.name.len()).max().unwrap_or(0);
    for property in &report.invariants {
        let verdict = painted(property.verdict, property.verdict.name(), 12, colour);
        let line = format!("  {verdict} {:<width$}  {}", property.name, cheapest(property));
        writeln!(text, "{}{}", line.trim_end(), unexpected(property))?;
    }
    for show in &report.shows {
        write_show(text, report, show, colour)?;
    }
    for property in report.invariants.iter().filter(|property| property.verdict == Verdict::Violated) {
        write_break(text, property)?;
    }
    writeln!(text)?;
    writeln!(text, "  {}", extent(report))?;
    if let Some(hashes) = hashes(report) {
        writeln!(text, "  {hashes}")?;
    }
    if let Some(unchecked) = unchecked(report) {
        writeln!(text, "  {unchecked}")?;
    }
    if let Some(why) = &report.unproved {
        writeln!(text, "  the search of the shortest breaks, which decides no verdict, was cut short, since {why}")?;
    }
    if let Some(file) = &report.checkpoint {
        let on = if report.complete { "to go on with that" } else { "to go on" };
        writeln!(text, "  {on}: the same command with --resume {file}, and a higher limit where one was reached")?;
    }
    if !report.shows.is_empty() {
        return Ok(());
    }
    for warning in &report.warnings {
        writeln!(text, "  can't matter: {warning}")?;
    }
    if !report.never.is_empty() {
        writeln!(text, "  never happened: {}", report.never.join(", "))?;
    }
    if !report.never_refused.is_empty() {
        writeln!(text, "  steps that never refused or replayed a call: {}", report.never_refused.join(", "))?;
    }
    if report.invariants.iter().any(|property| property.verdict == Verdict::Vacuous) {
        writeln!(text, "  vacuous: no run reaches the situation that the invariant is about, so it can't be violated")?;
    }
    Ok(())
}

fn write_show(text: &mut String, report: &Report, show: &ShowReport, colour: bool) -> std::fmt::Result {
    let verdict = match show.is_reached(report) {
        Some(true) => Verdict::Holds,
        Some(false) => Verdict::Violated,
        None => Verdict::Inconclusive,
    };
    writeln!(text, "  {} {}", painted(verdict, show.words(report), 12, colour), show.situation)?;
    if let Some(hint) = &show.hint {
        writeln!(text, "    {hint}")?;
    }
    for found in &show.runs {
        let command = found.trace.as_ref().map_or_else(String::new, |trace| format!(": handlecheck diagram {trace}"));
        writeln!(text, "    {}{command}", cost(found))?;
    }
    Ok(())
}

fn write_break(text: &mut String, property: &PropertyReport) -> std::fmt::Result {
    writeln!(text)?;
    writeln!(text, "  {}: {}.", property.name, sentence(property))?;
    if let Some(anomaly) = &property.anomaly {
        writeln!(text, "    anomaly: {anomaly}")?;
    }
    for found in &property.breaks {
        let command = found.trace.as_ref().map_or_else(String::new, |trace| format!(": handlecheck explain {trace}"));
        writeln!(text, "    {}{command}", cost(found))?;
    }
    write_causes(text, property)
}

/// Each pair that races, with its shortest break.
fn write_causes(text: &mut String, property: &PropertyReport) -> std::fmt::Result {
    for (number, cause) in (1..).zip(&property.causes) {
        let of = property.causes.len();
        match &cause.against {
            Some(against) => writeln!(text, "    cause {number} of {of}: {}, against {against}", cause.by)?,
            None => writeln!(text, "    cause {number} of {of}: {}: {}", cause.by, cause.sentence)?,
        }
        let trace = cause.shown.trace.as_ref();
        let command = trace.map_or_else(String::new, |trace| format!(": handlecheck explain {trace}"));
        writeln!(text, "      {}{command}", cost(&cause.shown))?;
    }
    Ok(())
}

fn unexpected(property: &PropertyReport) -> String {
    match &property.expected {
        Some(expected) if !property.is_as_expected() => format!("  (expected {expected})"),
        _ => String::new(),
    }
}
