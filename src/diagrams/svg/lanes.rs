//! The lifelines: each lane is a timeline, and its stroke says what is known there.

use std::fmt::Write as _;

use super::frame;
use super::grid::Grid;
use super::paper::Paper;
use crate::diagrams::sequence::{Mind, Sequence, Shape};

/// An agent that believes nothing.
pub const BLANK: Mind = Mind::Blank;

/// The stroke of a lane from a height on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stroke {
    Nothing,
    Thin,
    Thick,
    Current,
    Waiting,
    Stale,
}

impl Stroke {
    const fn of(mind: Mind) -> Self {
        match mind {
            Mind::Blank => Self::Thin,
            Mind::Current => Self::Current,
            Mind::Waiting => Self::Waiting,
            Mind::Stale => Self::Stale,
        }
    }
}

/// A lane, and where its stroke changes.
#[derive(Debug)]
struct Lane {
    x: i32,
    changes: Vec<(i32, Stroke)>,
}

/// A call that nobody waits for, at its node.
#[derive(Debug)]
struct Orphan {
    call: Option<String>,
    x: i32,
    from: i32,
    to: i32,
}

/// All lifelines, agents first, then nodes, then stores.
#[derive(Debug)]
pub struct Lanes {
    agents: Vec<Lane>,
    nodes: Vec<Lane>,
    stores: Vec<Lane>,
    /// The calls that each node is handling.
    handled: Vec<Vec<Option<String>>>,
    orphans: Vec<Orphan>,
    feet: Vec<(i32, i32)>,
}

impl Lanes {
    pub fn new(grid: &Grid) -> Self {
        let lane = |x: &i32, stroke: Stroke| Lane { x: *x, changes: vec![(i32::MIN, stroke)] };
        Self {
            agents: grid.agents.iter().map(|x| lane(x, Stroke::Thin)).collect(),
            nodes: grid.nodes.iter().map(|x| lane(x, Stroke::Thin)).collect(),
            stores: grid.stores.iter().map(|truth| lane(&truth.lane, Stroke::Thick)).collect(),
            handled: vec![Vec::new(); grid.nodes.len()],
            orphans: Vec::new(),
            feet: Vec::new(),
        }
    }

    /// What a row at a height changes.
    pub fn row(&mut self, sequence: &Sequence, grid: &Grid, index: usize, y: i32) {
        let row = &sequence.rows[index];
        for (lane, mind) in self.agents.iter_mut().zip(&row.minds) {
            lane.turn(y, Stroke::of(*mind));
        }
        for agent in frame::ends(sequence, index) {
            if let Some(lane) = self.agents.get_mut(agent) {
                lane.changes.push((y + 10, Stroke::Nothing));
                self.feet.push((lane.x, y + 10));
            }
        }
        for orphan in self.orphans.iter_mut().filter(|orphan| orphan.call.is_some() && orphan.call == row.call) {
            orphan.to = orphan.to.max(y);
        }
        match &row.shape {
            Shape::Request { node, .. } if row.orphan => {
                let x = grid.node(*node) + 8;
                self.orphans.push(Orphan { call: row.call.clone(), x, from: y, to: y + 48 });
            }
            Shape::Request { node, .. } => self.handles(*node, y, |calls| calls.push(row.call.clone())),
            Shape::TakeUp { node } => self.handles(*node, y, |calls| calls.push(row.call.clone())),
            Shape::Transaction { node, astray: true, .. } => {
                self.handles(*node, y, |calls| calls.retain(|call| *call != row.call));
            }
            Shape::Answer { node, .. } => self.handles(*node, y, |calls| calls.retain(|call| *call != row.call)),
            Shape::Break { node: Some(node), .. } => {
                self.handles(*node, y, |calls| calls.retain(|call| *call != row.call));
                let x = grid.node(*node) + 8;
                self.orphans.push(Orphan { call: row.call.clone(), x, from: y, to: y + 48 });
            }
            Shape::Note { node: Some(node), .. }
                if matches!(&*row.label, "fault: restart-node" | "deploy (restart)") =>
            {
                self.handles(*node, y, Vec::clear);
            }
            _ => {}
        }
    }

    /// Changes what a node is handling.
    fn handles(&mut self, node: usize, y: i32, change: impl FnOnce(&mut Vec<Option<String>>)) {
        let (Some(calls), Some(lane)) = (self.handled.get_mut(node), self.nodes.get_mut(node)) else { return };
        change(calls);
        lane.turn(y, if calls.is_empty() { Stroke::Thin } else { Stroke::Thick });
    }

    /// All lifelines from a height to another.
    pub fn drawn(&self, paper: &Paper, top: i32, end: i32) -> String {
        let mut paths = [const { String::new() }; 5];
        for lane in self.agents.iter().chain(&self.nodes).chain(&self.stores) {
            let stops = lane.changes.iter().skip(1).map(|change| change.0).chain([end]);
            for ((from, stroke), to) in lane.changes.iter().zip(stops) {
                for (from, to) in paper.free(lane.x, (*from).max(top), to) {
                    let length = to - from;
                    let _ = match stroke {
                        Stroke::Nothing => Ok(()),
                        Stroke::Thin => write!(paths[0], "M{} {from}V{to}", lane.x),
                        Stroke::Thick => write!(paths[1], "M{} {from}V{to}", lane.x),
                        Stroke::Current => write!(paths[2], "M{} {from}V{to}", lane.x),
                        Stroke::Stale => write!(paths[3], "M{} {from}V{to}", lane.x),
                        Stroke::Waiting => write!(paths[4], "M{} {from}h5v{length}h-5z", half(lane.x, -5)),
                    };
                }
            }
        }
        for (x, y) in &self.feet {
            let _ = write!(paths[0], "M{} {y}H{}", x - 6, x + 6);
        }
        let attributes = [
            "class=\"h-line\"",
            "class=\"h-ink\" stroke-width=\"3\"",
            "class=\"h-see\" stroke-width=\"5\"",
            "class=\"h-old\" stroke-width=\"5\" stroke-dasharray=\"2 3\"",
            "class=\"h-badge\"",
        ];
        let mut drawn = String::new();
        for (path, attributes) in paths.iter().zip(attributes).filter(|(path, _)| !path.is_empty()) {
            let _ = writeln!(drawn, "<path {attributes} d=\"{path}\"/>");
        }
        for orphan in &self.orphans {
            let mut path = String::new();
            for (from, to) in paper.free(orphan.x + 3, orphan.from, orphan.to.min(end)) {
                let _ = write!(path, "M{} {from}h7V{to}h-7z", orphan.x);
            }
            let _ =
                writeln!(drawn, "<path class=\"h-ghost\" stroke-width=\"1.5\" stroke-dasharray=\"3 2\" d=\"{path}\"/>");
        }
        drawn
    }
}

/// A length and as many halves more, as a number of half pixels is written.
fn half(length: i32, halves: i32) -> String {
    let twice = length * 2 + halves;
    if twice % 2 == 0 { (twice / 2).to_string() } else { format!("{}.5", twice.div_euclid(2)) }
}

impl Lane {
    fn turn(&mut self, y: i32, stroke: Stroke) {
        if self.changes.last().is_some_and(|last| last.1 != stroke && last.1 != Stroke::Nothing) {
            self.changes.push((y, stroke));
        }
    }
}
