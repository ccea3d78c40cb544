//! Repairs, for people: what is changed, as words and as a patch, and what it costs.

use std::fmt::Write;

use super::simulation::costs;
use crate::policies::repair::Repairs;

/// Repairs as text.
#[must_use]
pub fn report(all: &[Repairs]) -> String {
    let mut text = String::new();
    for repairs in all {
        if !text.is_empty() {
            text.push('\n');
        }
        write(&mut text, repairs).expect("writing to a string doesn't fail");
    }
    text
}

fn write(text: &mut String, found: &Repairs) -> std::fmt::Result {
    writeln!(text, "{} x {} x {}", found.scenario, found.design, found.protocol)?;
    if found.violated.is_empty() && found.complete {
        return writeln!(text, "  nothing is violated: there is nothing to repair");
    }
    if found.violated.is_empty() {
        return writeln!(
            text,
            "  what is violated is not known: the search was cut short before the design was explored"
        );
    }
    writeln!(text, "  violated: {}", found.violated.join(", "))?;
    for (number, repair) in (1..).zip(&found.repairs) {
        let plural = if repair.changes.len() == 1 { "change" } else { "changes" };
        writeln!(text, "\n  repair {number}: {} {plural}", repair.changes.len())?;
        for change in &repair.changes {
            writeln!(text, "    {change}")?;
        }
        writeln!(text)?;
        for line in repair.patch.lines() {
            writeln!(text, "{}", format!("    {line}").trim_end())?;
        }
        writeln!(text, "\n    everything holds in {} states", repair.states)?;
        if !repair.vacuous.is_empty() {
            writeln!(text, "    vacuous then, since nothing comes near it any more: {}", repair.vacuous.join(", "))?;
        }
        if let Some(costs) = costs(&repair.costs) {
            writeln!(text, "    a finished intent then takes {costs}")?;
        }
    }
    writeln!(text)?;
    if found.repairs.is_empty() {
        writeln!(text, "  no repair was found")?;
    }
    let cut = match (found.complete, found.undecided) {
        (true, _) => String::new(),
        (false, 0) => "; some were cut short".to_owned(),
        (false, undecided) => format!("; {undecided} of them are too large to be decided within the limit of states"),
    };
    writeln!(text, "  {} variants were explored{cut}", found.tried)
}
