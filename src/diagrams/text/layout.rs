//! Where each lane of the drawing stands.

use super::truth::Truth;
use crate::diagrams::canvas::Line;
use crate::diagrams::sequence::{Sequence, Shape};
use crate::diagrams::words;

/// The width that a drawing keeps to while its lanes fit.
const WIDTH: usize = 100;

/// Where less room than the first is left for a label, it is moved to the left until it has as much as the second.
const CRAMPED: (usize, usize) = (24, 40);

/// How much room lanes get.
#[derive(Clone, Copy, Debug)]
struct Degree {
    /// The least pitch of an agent or node, and the largest that a long name gets.
    pitch: (usize, usize),
    /// The least gap between agents and nodes.
    before_nodes: usize,
    /// The least gap before the store, where the names of transactions stand.
    before_store: usize,
}

const fn degree(least: usize, most: usize, before_nodes: usize, before_store: usize) -> Degree {
    Degree { pitch: (least, most), before_nodes, before_store }
}

/// From the most pleasant to the tightest.
const DEGREES: [Degree; 7] = [
    degree(18, 22, 25, 23),
    degree(15, 20, 18, 22),
    degree(12, 16, 14, 21),
    degree(11, 14, 13, 20),
    degree(10, 12, 11, 18),
    degree(8, 9, 8, 14),
    degree(7, 7, 7, 9),
];

/// The columns of a drawing.
#[derive(Debug)]
pub struct Layout {
    /// The first column of the lanes; the numbers of the steps stand left of it.
    pub gutter: usize,
    /// The columns of the agents.
    pub agents: Vec<usize>,
    /// The columns of the nodes.
    pub nodes: Vec<usize>,
    /// The columns of the stores.
    pub stores: Vec<usize>,
    /// Where and how the truth is written.
    pub truth: Truth,
    /// The whole width.
    pub width: usize,
}

impl Layout {
    /// The most pleasant layout that fits, or the tightest.
    #[must_use]
    pub fn of(sequence: &Sequence) -> Self {
        // Columns for the fields are given up before lanes become tight.
        let columns =
            Truth::columns(sequence).map(|truth| DEGREES[..5].iter().map(move |degree| (*degree, truth.clone())));
        let words = Truth::words(sequence);
        let words = DEGREES.iter().map(|degree| (*degree, words.clone()));
        let mut tightest = None;
        for (degree, truth) in columns.into_iter().flatten().chain(words) {
            let layout = Self::with(sequence, degree, truth);
            if layout.width <= WIDTH {
                return layout;
            }
            tightest = Some(layout);
        }
        tightest.expect("there is a degree for the truth in words")
    }

    fn with(sequence: &Sequence, degree: Degree, mut truth: Truth) -> Self {
        let lanes = &sequence.lanes;
        let numbers = sequence.rows.iter().map(|row| words::width(&row.numbers())).max().unwrap_or(0);
        let gutter = (numbers + 3).max(8);
        let mut column = gutter;
        let mut place = |names: &[&str], least: usize, last: usize| -> Vec<usize> {
            let mut columns = Vec::new();
            for (index, name) in names.iter().enumerate() {
                columns.push(column);
                let step = (words::width(name) + 2).clamp(least, degree.pitch.1.max(least));
                column += if index + 1 == names.len() { step.max(last) } else { step };
            }
            columns
        };
        let names: Vec<&str> = lanes.agents.iter().map(|agent| longer(&agent.name, agent.role)).collect();
        let agents = place(&names, degree.pitch.0, degree.before_nodes);
        let names: Vec<&str> = lanes.nodes.iter().map(String::as_str).collect();
        let nodes = place(&names, degree.pitch.0, degree.before_store);
        let names: Vec<&str> = lanes.stores.iter().map(|store| store.handle.as_str()).collect();
        let stores = place(&names, 4, 2);
        truth.column = stores.last().map_or(column, |store| store + 2);
        let width = (truth.column + truth.width).max(WIDTH);
        truth.width = width - truth.column;
        Self { gutter, agents, nodes, stores, truth, width }
    }

    /// Where labels that start at a lane must end: before the first store.
    #[must_use]
    pub fn right(&self) -> usize {
        self.stores.first().map_or(self.width, |store| store - 1)
    }

    /// Where a text goes that would start at a column: it is broken into lines, and moved to the left where that leaves
    /// too little room.
    #[must_use]
    pub fn place(&self, column: usize, text: &str) -> Vec<(usize, String)> {
        let text = words::line(text);
        let room = self.right().saturating_sub(column);
        let wide = words::width(&text);
        let column = if wide <= room || room >= CRAMPED.0 {
            column
        } else {
            let moved = self.right().saturating_sub(wide.min(CRAMPED.1) + 1).max(self.gutter).min(column);
            // Not right beside a lane, which would seem to belong to the text.
            let beside = |at: usize| [&self.agents, &self.nodes].iter().any(|lanes| lanes.contains(&at));
            if moved > 0 && beside(moved - 1) { moved + 1 } else { moved }
        };
        let lines = words::wrap(&text, self.right().saturating_sub(column));
        lines.into_iter().map(|line| (column, line)).collect()
    }

    /// The lane at which the texts of a row stand.
    #[must_use]
    pub fn anchor(&self, shape: &Shape) -> usize {
        let column = match shape {
            Shape::HandOff { from: agent, .. }
            | Shape::Request { agent, .. }
            | Shape::Send { agent }
            | Shape::Answer { agent, .. }
            | Shape::Break { agent, .. } => self.agents.get(*agent),
            Shape::Fold { agents, .. } => agents.first().and_then(|agent| self.agents.get(*agent)),
            Shape::TakeUp { node } | Shape::Transaction { node, .. } => self.nodes.get(*node),
            Shape::Note { agent, node, store } => {
                let agent = agent.and_then(|agent| self.agents.get(agent));
                let node = || node.and_then(|node| self.nodes.get(node));
                agent.or_else(node).or_else(|| store.and_then(|store| self.stores.get(store)))
            }
        };
        column.copied().unwrap_or(self.gutter)
    }

    /// The heads of the lanes: groups, names, roles.
    #[must_use]
    pub fn heads(&self, sequence: &Sequence) -> Vec<Line> {
        let lanes = &sequence.lanes;
        let (mut groups, mut names, mut roles) = (Line::default(), Line::default(), Line::default());
        let mut starts: Vec<usize> = [&self.agents[..], &self.nodes, &self.stores].concat();
        starts.push(self.width + 1);
        let end = |column: usize| starts.iter().find(|start| **start > column).copied().unwrap_or(self.width + 1);
        let mut heads: Vec<(usize, String)> = Vec::new();
        for (index, (agent, column)) in lanes.agents.iter().zip(&self.agents).enumerate() {
            let room = end(*column) - column - 1;
            names.write(*column, &words::shorten_name(&words::line(&agent.name), room));
            if words::width(agent.role) <= room {
                roles.write(*column, agent.role);
            }
            if index == 0 || lanes.agents[index - 1].principal != agent.principal {
                let unknown = agent.principal.is_empty();
                heads.push((
                    *column,
                    if unknown { "unknown".to_owned() } else { format!("principal {}", agent.principal) },
                ));
            }
        }
        if let Some(column) = self.nodes.first() {
            heads.push((*column, "nodes".to_owned()));
        }
        for (name, column) in lanes.nodes.iter().zip(&self.nodes) {
            names.write(*column, &words::shorten_name(&words::line(name), end(*column) - column - 1));
        }
        if let Some(column) = self.stores.first() {
            heads.push((*column, "store (* changed here)".to_owned()));
        }
        for (store, column) in lanes.stores.iter().zip(&self.stores) {
            names.write(*column, &words::shorten_name(&words::line(&store.handle), end(*column) - column - 1));
        }
        for (index, (column, head)) in heads.iter().enumerate() {
            let next = heads.get(index + 1).map_or(self.width + 1, |(next, _)| *next);
            groups.write(*column, &words::shorten(&words::line(head), next - column - 1));
        }
        roles.write(self.truth.column, &self.truth.head(sequence));
        vec![groups, names, roles]
    }
}

fn longer<'n>(one: &'n str, other: &'n str) -> &'n str {
    if words::width(one) >= words::width(other) { one } else { other }
}
