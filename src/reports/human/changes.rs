//! What changed: the worst first, with the new counterexamples drawn.

use anstyle::{AnsiColor, Style};

use crate::diagrams;
use crate::lock::{Kind, Space};
use crate::reports::Changes;
use crate::reports::changes::{clause, summary};
use crate::reports::words::count;

pub(super) fn changes(changes: &Changes<'_>, colour: bool) -> String {
    let difference = &changes.difference;
    let mut text = format!("{} -> {}: {}\n", changes.old, changes.new, summary(changes));
    let mut last = None;
    for change in &difference.changes {
        if last.replace(change.kind) != Some(change.kind) {
            text.push_str(&format!("\n{}\n", painted(change.kind, colour)));
        }
        text.push_str(&format!("  {}\n", clause(change)));
        if let Some((_, trace)) = changes.counterexample(change) {
            text.push_str(&format!("    {}.\n", trace.sentence));
        }
        if let Some(command) = changes.command(change) {
            text.push_str(&format!("    {command}\n"));
        }
    }
    if !difference.spaces.is_empty() {
        text.push_str("\nthe same verdicts, another state space\n");
        for Space { subject, before, after } in &difference.spaces {
            text.push_str(&format!("  {subject}: {before} -> {}\n", count(*after, "state")));
        }
    }
    if !difference.inputs.is_empty() {
        text.push_str(&format!("\nother texts: {}\n", difference.inputs.join(", ")));
    }
    let draw = diagrams::FORMATS.iter().find(|format| format.name == "text").expect("there is a format for terminals");
    for change in difference.changes.iter().filter(|change| changes.is_drawn(change)) {
        if let Some((_, trace)) = changes.counterexample(change) {
            text.push_str(&format!("\n{}", draw.text(trace).expect("it is text")));
        }
    }
    if !changes.hint.is_empty() {
        text.push_str(&format!("\n{}.\n", changes.hint));
    }
    text
}

/// What kind of change it is, in a colour that says whether it is one for the worse.
fn painted(kind: Kind, colour: bool) -> String {
    let words = kind.words();
    if !colour {
        return words;
    }
    let style = match kind {
        worse if worse.is_worse() => Style::new().fg_color(Some(AnsiColor::Red.into())).bold(),
        Kind::OtherBounds => Style::new().fg_color(Some(AnsiColor::Yellow.into())),
        _ => Style::new().fg_color(Some(AnsiColor::Green.into())),
    };
    format!("{style}{words}{style:#}")
}
