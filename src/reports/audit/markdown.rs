//! For a page, or a comment on a change.

use super::{count_of, extent, heading};
use crate::audit::report::Report;

/// A cell, or a line, in which nothing is markup.
fn plain(text: &str) -> String {
    let mut plain = String::new();
    for character in text.chars() {
        match character {
            '\\' | '|' | '*' | '_' | '`' | '<' | '>' | '[' | ']' | '#' | '&' => {
                plain.push('\\');
                plain.push(character);
            }
            '\n' | '\r' => plain.push(' '),
            other => plain.push(other),
        }
    }
    plain
}

pub(super) fn report(report: &Report) -> String {
    let mut text = format!("{}\n\n| check | verdict | |\n| --- | --- | --- |\n", plain(&heading(report)));
    for check in &report.checks {
        let mut extent = extent(check, report.malformed);
        for (why, count) in &check.unjudged {
            extent.push_str(&format!("; {count}: {why}"));
        }
        text.push_str(&format!("| `{}` | {} | {} |\n", check.name, check.verdict, plain(&extent)));
    }
    for check in report.checks.iter().filter(|check| !check.findings.is_empty()) {
        text.push_str(&format!(
            "\n## `{}`\n\n{}: {}.\n\n",
            check.name,
            check.sentence,
            count_of(check.violations, "violation")
        ));
        for found in &check.findings {
            let anomaly = found.anomaly.filter(|anomaly| !found.sentence.contains(anomaly));
            let anomaly = anomaly.map_or_else(String::new, |anomaly| format!(": *{anomaly}*"));
            text.push_str(&format!("- {}{anomaly}.\n", plain(&found.sentence)));
            for (number, edge) in (1..).zip(&found.cycle) {
                text.push_str(&format!("  {number}. {}\n", plain(edge)));
            }
        }
        if let Some(anomaly) = check.anomaly {
            text.push_str(&format!("\nAnomaly: {}.\n", plain(anomaly)));
        }
    }
    if !report.warnings.is_empty() {
        text.push_str("\n## Warnings\n\n");
        report.warnings.iter().for_each(|warning| text.push_str(&format!("- {}\n", plain(warning))));
    }
    if report.malformed > 0 {
        text.push_str(&format!("\n## Lines that could not be read: {}\n\n", report.malformed));
        for mistake in &report.mistakes {
            text.push_str(&format!("- line {}: {}\n", mistake.line, plain(&mistake.what)));
        }
        let more = report.malformed - report.mistakes.len() as u64;
        if more > 0 {
            text.push_str(&format!("- and {more} more\n"));
        }
    }
    if let Some(why) = &report.stopped {
        text.push_str(&format!("\nNot read to its end: {}.\n", plain(why)));
    }
    text
}
