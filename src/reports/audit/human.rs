//! For people, on a terminal.

use super::{count_of, extent, heading};
use crate::audit::report::Report;
use crate::model::Verdict;
use crate::reports::words::painted;

pub(super) fn report(report: &Report, colour: bool) -> String {
    let mut text = heading(report) + "\n";
    let width = report.checks.iter().map(|check| check.name.len()).max().unwrap_or(0);
    for check in &report.checks {
        let verdict = painted(check.verdict, check.verdict.name(), 13, colour);
        text.push_str(&format!("  {verdict}{:<width$}  {}\n", check.name, extent(check, report.malformed)));
        for (why, count) in &check.unjudged {
            text.push_str(&wrapped(&format!("{count}: {why}"), "      "));
        }
    }
    for check in report.checks.iter().filter(|check| check.verdict == Verdict::Violated) {
        let shown = check.findings.len() as u64;
        let count = match check.violations {
            1 => String::new(),
            all if all == shown => format!(" ({all} violations)"),
            all => format!(" ({all} violations, of which {shown} are told)"),
        };
        text.push_str(&format!("\n  {}: {}{count}\n", check.name, check.sentence));
        for found in &check.findings {
            let anomaly = found.anomaly.filter(|anomaly| !found.sentence.contains(anomaly));
            let anomaly = anomaly.map_or_else(String::new, |anomaly| format!(": {anomaly}"));
            text.push_str(&wrapped(&format!("- {}{anomaly}.", found.sentence), "    "));
            for (number, edge) in (1..).zip(&found.cycle) {
                text.push_str(&wrapped(&format!("{number}. {edge}"), "      "));
            }
        }
        if let Some(anomaly) = check.anomaly {
            text.push_str(&wrapped(&format!("anomaly: {anomaly}"), "    "));
        }
    }
    for warning in &report.warnings {
        text.push_str(&format!("\n{}", wrapped(&format!("warning: {warning}"), "  ")));
    }
    if report.malformed > 0 {
        text.push_str(&format!("\n  {} could not be read:\n", count_of(report.malformed, "line")));
        for mistake in &report.mistakes {
            text.push_str(&wrapped(&format!("line {}: {}", mistake.line, mistake.what), "    "));
        }
        let more = report.malformed - report.mistakes.len() as u64;
        if more > 0 {
            text.push_str(&format!("    and {more} more\n"));
        }
    }
    if let Some(why) = &report.stopped {
        text.push_str(&format!("\n  not read to its end: {why}\n"));
    }
    text
}

/// A paragraph on lines of its own, each indented.
fn wrapped(text: &str, indent: &str) -> String {
    let hanging = format!("{indent}  ");
    let options = textwrap::Options::new(110).initial_indent(indent).subsequent_indent(&hanging).break_words(false);
    textwrap::fill(text, options) + "\n"
}
