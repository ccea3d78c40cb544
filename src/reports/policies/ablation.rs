//! Ablations, for people: one line for each change, and what it breaks.

use std::fmt::Write;

use crate::model::Verdict;
use crate::policies::ablate::{Ablation, Change, Effect};
use crate::reports::words::{cheapest, painted};
use crate::run::PropertyReport;

/// What changes are about, each once: of several values of a setting the setting.
fn subjects(changes: &[&Change]) -> Vec<String> {
    let mut subjects: Vec<String> = Vec::new();
    for Change { change, .. } in changes {
        let subject = if change.starts_with("[client.on]") { change.split(" = ").next() } else { None };
        let subject = subject.unwrap_or(change).to_owned();
        if !subjects.contains(&subject) {
            subjects.push(subject);
        }
    }
    subjects
}

/// Ablations as text.
#[must_use]
pub fn report(ablations: &[Ablation], colour: bool) -> String {
    let mut text = String::new();
    for ablation in ablations {
        if !text.is_empty() {
            text.push('\n');
        }
        write(&mut text, ablation, colour).expect("writing to a string doesn't fail");
    }
    text
}

fn write(text: &mut String, ablation: &Ablation, colour: bool) -> std::fmt::Result {
    writeln!(text, "{} x {} x {}", ablation.scenario, ablation.design, ablation.protocol)?;
    if !ablation.violated.is_empty() {
        writeln!(text, "  violated as it is, and not counted below: {}", ablation.violated.join(", "))?;
    }
    let (idle, tried): (Vec<_>, Vec<_>) =
        ablation.changes.iter().partition(|change| change.result == Effect::NeverArises);
    let width = tried.iter().map(|change| change.change.chars().count()).max().unwrap_or(0);
    for change in tried {
        let (verdict, word) = match change.result {
            Effect::Breaks => (Verdict::Violated, "breaks"),
            Effect::Nothing | Effect::NeverArises => (Verdict::Holds, "nothing"),
            Effect::Impossible => (Verdict::Vacuous, "no design"),
            Effect::Inconclusive => (Verdict::Inconclusive, "inconclusive"),
        };
        let cost = |property: &PropertyReport| match cheapest(property) {
            // What must come about some time breaks in no single run.
            none if none.is_empty() => "no run reaches it any more".to_owned(),
            cost => cost,
        };
        let mut lines = change.breaks.iter().map(|property| format!("{}: {}", property.name, cost(property)));
        let first = lines.next().or_else(|| change.reason.clone()).unwrap_or_default();
        let verdict = painted(verdict, word, 12, colour);
        let line = format!("  {verdict} {:<width$}  {first}", change.change);
        writeln!(text, "{}", line.trim_end())?;
        for line in lines {
            writeln!(text, "  {:12} {:width$}  {line}", "", "")?;
        }
    }
    if !idle.is_empty() {
        writeln!(text, "\n  never came into question, since it happens in no run: {}", subjects(&idle).join(", "))?;
    }
    if !ablation.protect_nothing.is_empty() {
        writeln!(text, "\n  protect nothing in this scenario: {}", ablation.protect_nothing.join(", "))?;
    }
    let shown = ablation.changes.iter().flat_map(|change| &change.breaks).filter_map(|property| {
        let (sentence, trace) = (property.sentence.as_ref()?, property.trace.as_ref()?);
        Some(format!("  {}: {sentence}.\n    handlecheck explain {trace}", property.name))
    });
    let shown: Vec<String> = shown.collect();
    if !shown.is_empty() {
        writeln!(text, "\n{}", shown.join("\n"))?;
    }
    if !ablation.complete {
        writeln!(text, "\n  some of these were cut short: what is inconclusive may break something")?;
    }
    Ok(())
}
