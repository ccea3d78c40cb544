//! The report for people: verdicts first, one line each; then what happens in each break, and the command that shows it.

use std::fmt::Write;

use anstyle::{AnsiColor, Style};

use crate::model::Verdict;
use crate::run::{Break, PropertyReport, Report};

/// Reports as text.
#[must_use]
pub fn report(reports: &[Report], colour: bool) -> String {
    let mut text = String::new();
    for report in reports {
        if !text.is_empty() {
            text.push('\n');
        }
        write(&mut text, report, colour).expect("writing to a string doesn't fail");
    }
    text
}

fn write(text: &mut String, report: &Report, colour: bool) -> std::fmt::Result {
    writeln!(text, "{} x {} x {}", report.scenario, report.design, report.protocol)?;
    let width = report.invariants.iter().map(|property| property.name.len()).max().unwrap_or(0);
    for property in &report.invariants {
        let verdict = painted(property.verdict, property.verdict.name(), 12, colour);
        let line = format!("  {verdict} {:<width$}  {}", property.name, cheapest(property));
        writeln!(text, "{}{}", line.trim_end(), unexpected(property))?;
    }
    for property in report.invariants.iter().filter(|property| property.verdict == Verdict::Violated) {
        write_break(text, property)?;
    }
    writeln!(text)?;
    writeln!(text, "  {}", extent(report))?;
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

fn write_break(text: &mut String, property: &PropertyReport) -> std::fmt::Result {
    writeln!(text)?;
    match &property.sentence {
        Some(sentence) => {
            writeln!(text, "  {}: {sentence}.", property.name)?;
            if let Some(anomaly) = &property.anomaly {
                writeln!(text, "    anomaly: {anomaly}")?;
            }
        }
        None => writeln!(text, "  {}: no state is reached in which it is true.", property.name)?,
    }
    for found in &property.breaks {
        let command = found.trace.as_ref().map_or_else(String::new, |trace| format!(": handlecheck explain {trace}"));
        writeln!(text, "    {}{command}", cost(found))?;
    }
    Ok(())
}

/// The steps and faults of a break.
fn cost(found: &Break) -> String {
    let plural = |count: u32, word: &str| match count {
        0 => format!("no {word}s"),
        1 => format!("1 {word}"),
        more => format!("{more} {word}s"),
    };
    format!("{}, {}", plural(found.steps, "step"), plural(found.faults, "fault"))
}

fn cheapest(property: &PropertyReport) -> String {
    property.breaks.iter().map(cost).collect::<Vec<_>>().join("; or ")
}

fn unexpected(property: &PropertyReport) -> String {
    match &property.expected {
        Some(expected) if !property.is_as_expected() => format!("  (expected {expected})"),
        _ => String::new(),
    }
}

/// How much was explored: a run that was cut short says so.
fn extent(report: &Report) -> String {
    let bounds: Vec<String> = report.bounds.faults.iter().map(|(fault, budget)| format!("{fault} {budget}")).collect();
    let bounds = if bounds.is_empty() { "no faults".to_owned() } else { format!("at most {}", bounds.join(", ")) };
    let counted = if report.transitions == 0 {
        format!("{} states", report.states)
    } else {
        format!("{} states, {} transitions, depth {}", report.states, report.transitions, report.depth)
    };
    match &report.stopped {
        None => format!("explored all: {counted} ({bounds}; engine {})", report.engine),
        Some(reason) => format!("cut short, since {reason}: {counted} ({bounds}; engine {})", report.engine),
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
