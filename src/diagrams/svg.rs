//! A picture for a page or a slide, light or dark as its reader has it.
//!
//! Every lane is a timeline, and its stroke says what is known there: the store at the right is the truth, a solid bar
//! at an agent is a view that is true, a hollow one waits for an answer, a ladder is outdated. An arrow out of its box
//! stands at what takes effect outside, a lock at a lease, shut when somebody gets it and open when it is given back.
//! Shape and weight carry the meaning and hue only repeats it. Text is text, in the reader's own type; there is no
//! script, and the whole story is in the description too.

mod beliefs;
mod events;
mod frame;
mod grid;
mod lanes;
mod paper;
mod signs;
mod style;
mod truth;

use super::sequence::{Row, Sequence, Shape, Shown};
use super::{Draw, Format};
use crate::trace::Trace;
pub use frame::prefix;
use grid::Grid;
use lanes::Lanes;
pub use paper::escape;
use paper::{Area, Group, Paper};
pub use style::SHEET;

pub static FORMAT: Format = Format { extension: "svg", draw: Draw::Text(drawn) };

/// Where lanes start.
const TOP: i32 = 138;

/// The first height at which something may happen.
const FIRST: i32 = 154;

/// The picture of a trace.
pub fn drawn(trace: &Trace) -> String {
    let sequence = Sequence::of(trace);
    let grid = Grid::of(&sequence);
    let mut drawing = Drawing {
        sequence: &sequence,
        lanes: Lanes::new(&grid),
        grid: &grid,
        paper: Paper::default(),
        truth: truth::Timelines::new(&grid),
        numbers: Vec::new(),
        prefix: frame::prefix(trace),
    };
    drawing.start();
    for index in 0..sequence.rows.len() {
        drawing.row(index);
    }
    drawing.finish()
}

struct Drawing<'d> {
    sequence: &'d Sequence,
    grid: &'d Grid,
    paper: Paper,
    lanes: Lanes,
    truth: truth::Timelines,
    /// Where each row is.
    numbers: Vec<i32>,
    /// What the ids of this picture start with.
    prefix: String,
}

impl Drawing<'_> {
    /// What is true at the start.
    fn start(&mut self) {
        let mut heads = Group::default();
        frame::heads(self.sequence, self.grid, &mut heads);
        self.paper.put(heads, 0, "");
        for (index, store) in self.sequence.lanes.stores.iter().enumerate() {
            if let Some(initial) = &store.initial {
                let mut group = Group::default();
                self.truth.initial(self.grid, index, initial, FIRST, &mut group);
                self.paper.put(group, FIRST, "");
            }
        }
    }

    /// How far a row is from the one before, at least.
    fn least(&self, index: usize) -> i32 {
        let row = &self.sequence.rows[index];
        let Some(previous) = index.checked_sub(1) else { return FIRST };
        let at = self.numbers[previous];
        let previous = &self.sequence.rows[previous];
        at + match (&previous.shape, &row.shape) {
            (Shape::Request { .. }, Shape::Transaction { .. }) if previous.call == row.call => 26,
            (Shape::Fold { .. }, Shape::Fold { .. }) => 28,
            (_, Shape::Request { .. }) => 40,
            _ => 34,
        }
    }

    fn row(&mut self, index: usize) {
        // Of a run that goes round for ever no step is the violation: the round is.
        let mut row = self.sequence.rows[index].clone();
        row.shows = row.shows.filter(|_| self.sequence.loops_from.is_none());
        let row = &row;
        let mut group = self.event(row);
        frame::number(row, &mut group);
        for commit in &row.commits {
            truth::Timelines::reserve(self.grid, commit, &mut group);
        }
        for store in &row.lost {
            if let Some(truth) = self.grid.stores.get(*store) {
                group.reserve(Area::new(truth.version, -12, truth.right, 8));
            }
        }
        let y = self.paper.room(&group, self.least(index));
        for store in &row.lost {
            self.truth.lost(self.grid, *store, y, &mut group);
        }
        for commit in &row.commits {
            self.truth.commit(self.grid, commit, y, row.shows == Some(Shown::Violation), &mut group);
        }
        let id = row.steps.map_or_else(String::new, |(first, _)| format!("{}{first}", self.prefix));
        self.paper.put(group, y, &id);
        self.lanes.row(self.sequence, self.grid, index, y);
        self.numbers.push(y);
        self.beliefs(row, y);
        if let Some(repeats) = row.repeats {
            self.bracket(repeats, row, y);
        }
    }

    /// Notes on what agents believe, at their lanes, as near to the row as there is room.
    fn beliefs(&mut self, row: &Row, y: i32) {
        let mut named = false;
        for (agent, words) in &row.learns {
            let group = beliefs::learns(self.grid, *agent, words);
            let at = self.paper.place(group, y + 24, "");
            named = named || self.name_belief(at);
        }
        let names_stores = self.sequence.names_stores();
        for stale in &row.stale {
            if let Some(agent) = self.sequence.lanes.agent(Some(&stale.agent)) {
                let group = beliefs::stale(self.grid, agent, stale, names_stores);
                let at = self.paper.place(group, y, "");
                named = named || self.name_belief(at);
            }
        }
    }

    /// The word in the gutter, where there is room for it.
    fn name_belief(&mut self, y: i32) -> bool {
        let mut group = Group::default();
        group.text((grid::MARGIN, 4), paper::Anchor::Start, "h-dim h-s", &[("", "belief".to_owned())]);
        let fits = self.paper.fits(&group, y);
        if fits {
            self.paper.put(group, y, "");
        }
        fits
    }

    /// Joins a request with the one that it repeats, where there is room left of the lanes.
    fn bracket(&mut self, repeats: usize, row: &Row, y: i32) {
        let Shape::Request { agent, .. } = row.shape else { return };
        let lane = self.grid.agent(agent);
        let rows = self.sequence.rows.iter().zip(&self.numbers);
        let earlier = rows.filter(|(row, _)| row.steps.is_some_and(|(first, last)| (first..=last).contains(&repeats)));
        let earlier: Vec<i32> = earlier.map(|(_, y)| *y).collect();
        let (Some(from), true) = (earlier.first(), agent == 0 && lane >= 140) else { return };
        let mut group = Group::default();
        group.stroke(&format!("<path class=\"h-ink\" d=\"M{} 0H76V{}H{}\"/>", lane - 8, y - from, lane - 8));
        group.take(Area::new(74, 0, 78, y - from));
        self.paper.put(group, *from, "");
        let mut label = Group::default();
        for (line, word) in [(-2, "same"), (13, "intent")] {
            label.text((68, line), paper::Anchor::End, "h-s", &[("", word.to_owned())]);
        }
        let middle = (from + y) / 2;
        if (0..(y - from) / 2 - 16).any(|down| self.paper.fits(&label, middle + down)) {
            self.paper.place(label, middle, "");
        }
    }

    fn finish(mut self) -> String {
        let end = self.paper.bottom().max(self.numbers.last().copied().unwrap_or(FIRST)) + 22;
        let band = end + 14;
        let mut under = self.lanes.drawn(&self.paper, TOP, end);
        let (lines, over) = self.truth.drawn(self.grid, &mut self.paper, end, band);
        under.push_str(&lines);
        if let Some(first) = self.sequence.loops_from {
            let from = self.numbers.get(first).copied().unwrap_or(FIRST);
            let to = self.numbers.last().copied().unwrap_or(from);
            under.push_str(&frame::round(from, to));
        }
        let inside = format!("{under}{}{over}", self.paper.into_drawn());
        frame::page(self.sequence, self.grid, &self.prefix, &inside, band)
    }
}
