//! The causal order as a Graphviz graph.
//!
//! An arrow says that one step had to come before another: they share an agent, a call or a resource. Steps that no path
//! joins are concurrent: they could as well have happened in the other order. What the violation does not depend on is
//! grey.

use std::fmt::Write as _;

use super::causes::{causes, past_of};
use super::sequence::{Row, Sequence, Shape, Shown};
use super::{Draw, Format, words};
use crate::trace::Trace;

pub static FORMAT: Format = Format { extension: "dot", draw: Draw::Text(draw) };

/// Labels are broken into lines of this width.
const LABEL: usize = 32;

fn draw(trace: &Trace) -> String {
    let sequence = Sequence::of(trace);
    let causes = causes(&sequence);
    let past = sequence.rows.len().checked_sub(1).map_or_else(Vec::new, |last| past_of(&causes, last));
    let mut text = String::from("digraph trace {\n");
    let title = format!("{}: {}", sequence.title, sequence.scenario);
    let verdict = format!("{}\n{}", sequence.band.verdict, sequence.band.sentence);
    let _ = writeln!(text, "  label={};", quoted(&[words::line(&title), words::line(&verdict)].join("\n")));
    text.push_str("  labelloc=t;\n  fontname=\"Helvetica,Arial,sans-serif\";\n");
    text.push_str("  node [shape=box, fontname=\"Helvetica,Arial,sans-serif\", fontsize=11];\n");
    for (index, row) in sequence.rows.iter().enumerate() {
        let mut attributes = format!("label={}", quoted(&label(&sequence, row)));
        if let Some(shows) = row.shows.filter(|_| sequence.loops_from.is_none()) {
            let colour = match shows {
                Shown::Violation => "#b3261e",
                Shown::Situation => "#18722f",
            };
            let _ = write!(attributes, ", color=\"{colour}\", penwidth=3");
        } else if past.get(index) != Some(&true) {
            attributes.push_str(", color=\"#868e99\", fontcolor=\"#57606a\"");
        }
        if row.fault {
            attributes.push_str(", style=filled, fillcolor=\"#1b1f24\", fontcolor=\"#ffffff\"");
        } else if row.orphan {
            attributes.push_str(", style=dashed");
        }
        let _ = writeln!(text, "  r{index} [{attributes}];");
    }
    for (index, before) in causes.iter().enumerate() {
        for cause in before {
            let grey = if past.get(index) == Some(&true) { "" } else { " [color=\"#868e99\"]" };
            let _ = writeln!(text, "  r{cause} -> r{index}{grey};");
        }
    }
    text.push_str("}\n");
    text
}

/// What a box says: the numbers of the steps, who, and what.
fn label(sequence: &Sequence, row: &Row) -> String {
    let lanes = &sequence.lanes;
    let agent = |agent: &usize| lanes.agents.get(*agent).map_or("", |agent| agent.name.as_str());
    let node = |node: &usize| lanes.nodes.get(*node).map_or("", String::as_str);
    let who = match &row.shape {
        Shape::HandOff { from, to } => {
            let to: Vec<String> = to.iter().map(|to| agent(to).to_owned()).collect();
            format!("{} → {}", agent(from), words::list(&to))
        }
        Shape::Fold { agents, .. } => words::list(&agents.iter().map(|one| agent(one).to_owned()).collect::<Vec<_>>()),
        Shape::Request { agent: from, node: to, .. } => format!("{} → {}", agent(from), node(to)),
        Shape::Send { agent: from } => format!("{} →", agent(from)),
        Shape::TakeUp { node: at } => format!("→ {}", node(at)),
        Shape::Transaction { node: at, .. } => format!("{} for {}", node(at), row.call.as_deref().unwrap_or("a call")),
        Shape::Answer { node: from, agent: to, .. } => format!("{} → {}", node(from), agent(to)),
        Shape::Break { agent: one, .. } => agent(one).to_owned(),
        Shape::Note { agent: one, node: at, .. } => {
            one.as_ref().map(&agent).or(at.as_ref().map(node)).unwrap_or_default().to_owned()
        }
    };
    let mut lines = vec![format!("{} {who}", row.numbers()).trim().to_owned()];
    lines.extend(words::wrap(&words::line(&row.label), LABEL));
    for commit in &row.commits {
        let of = if commit.named { format!("{} ", commit.content.handle) } else { String::new() };
        let deleted = if commit.deleted { ", deleted" } else { "" };
        lines.push(format!("= {of}{}{deleted}", words::brief(&commit.content)));
        lines.extend(commit.erased.iter().map(|erased| format!("erases {erased}")));
        lines.extend(commit.second.iter().map(|intent| format!("second effect: {intent}")));
    }
    lines.join("\n")
}

/// A text in quotes, with its lines in the middle.
fn quoted(text: &str) -> String {
    let lines: Vec<String> =
        text.split('\n').map(|line| words::line(line).replace('\\', "\\\\").replace('"', "\\\"")).collect();
    format!("\"{}\"", lines.join("\\n"))
}
