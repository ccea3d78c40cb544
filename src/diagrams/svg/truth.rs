//! What is true, right of the stores: a row of values at each change, and bars between them.

use std::fmt::Write as _;

use super::grid::{Column, Grid, MARGIN, cell, elements};
use super::paper::{Anchor, Area, Group, Paper, Span, columns, width};
use crate::diagrams::sequence::CommitMark;
use crate::diagrams::words;
use crate::trace::Content;

/// What a column shows from a height on.
#[derive(Clone, Debug)]
struct Cell {
    y: i32,
    /// Whose changes it shows.
    shows: Vec<String>,
    /// What was there was erased by whoever wrote this.
    erases: bool,
    /// A handle stands above it.
    named: bool,
    /// The element is there at all.
    there: bool,
    /// How it shows the violation.
    damage: Damage,
}

/// How a value shows the violation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Damage {
    None,
    Erased,
    /// The second effect of one intent.
    Second,
}

/// The timelines of every column of every store.
#[derive(Debug)]
pub struct Timelines {
    stores: Vec<Vec<Vec<Cell>>>,
}

impl Timelines {
    pub fn new(grid: &Grid) -> Self {
        Self { stores: grid.stores.iter().map(|truth| vec![Vec::new(); truth.columns.len()]).collect() }
    }

    /// What is true at the start.
    pub fn initial(&mut self, grid: &Grid, store: usize, content: &Content, y: i32, group: &mut Group) {
        let Some(truth) = grid.stores.get(store) else { return };
        let mut values: Vec<(i32, Anchor, Vec<Span>)> = Vec::new();
        if let Some(version) = content.version {
            values.push((truth.version, Anchor::Start, vec![("h-b", words::version(version))]));
        }
        for (index, column) in truth.columns.iter().enumerate() {
            let value = content.values.get(column.field).map_or("", String::as_str);
            values.push((column.centre, Anchor::Middle, vec![("", cell(value, column.element))]));
            let there = has(value, column);
            self.push(
                store,
                index,
                Cell { y, shows: Vec::new(), erases: false, named: false, there, damage: Damage::None },
            );
        }
        for (x, anchor, spans) in values {
            group.text((x, 4), anchor, "h-n", &spans);
        }
    }

    fn push(&mut self, store: usize, column: usize, cell: Cell) {
        if let Some(cells) = self.stores.get_mut(store).and_then(|columns| columns.get_mut(column)) {
            cells.push(cell);
        }
    }

    /// Keeps the room of a commit free.
    pub fn reserve(grid: &Grid, commit: &CommitMark, group: &mut Group) {
        if let Some(truth) = grid.stores.get(commit.store) {
            let top = match (commit.erased.is_empty(), commit.named) {
                (true, false) => -12,
                (true, true) => -26,
                (false, _) => -42,
            };
            group.reserve(Area::new(truth.version, top, truth.right, if commit.deleted { 24 } else { 8 }));
        }
    }

    /// A change that became true.
    pub fn commit(&mut self, grid: &Grid, commit: &CommitMark, y: i32, violates: bool, group: &mut Group) {
        let Some(truth) = grid.stores.get(commit.store) else { return };
        if let Some(version) = commit.content.version {
            group.text((truth.version, 4), Anchor::Start, "h-n", &[("h-b", words::version(version))]);
        }
        if commit.named {
            let handle = words::line(&commit.content.handle);
            let room = columns(truth.right - truth.version, 12);
            let handle = words::shorten_name(&handle, room);
            group.text((truth.version, -12), Anchor::Start, "h-b h-s", &[("", handle)]);
        }
        if commit.deleted {
            group.text((truth.version, 19), Anchor::Start, "h-b h-s", &[("", "deleted".to_owned())]);
        }
        for (index, column) in truth.columns.iter().enumerate() {
            let value = commit.content.values.get(column.field).map_or("", String::as_str);
            let before = commit.before.get(column.field).map_or("", String::as_str);
            let changed = commit.changed.get(column.field) == Some(&true);
            let changed =
                changed && (column.element.is_none() || cell(value, column.element) != cell(before, column.element));
            let shows = commit.shows.get(column.field).cloned().unwrap_or_default();
            let cells = self.stores.get(commit.store).and_then(|columns| columns.get(index));
            let last = cells.and_then(|cells| cells.last());
            let erases = commit.damages.get(column.field) == Some(&true)
                && (column.element.is_none() || cell(value, column.element) != cell(before, column.element));
            // What several agents share is shown as that of one or the other.
            let own = shows.iter().any(|whose| whose.split(" or ").any(|agent| agent == commit.agent));
            let second = commit.second.is_some() && own && (changed || column.element.is_none());
            let class = match (violates && (erases || (second && changed)), changed) {
                (true, _) => "h-badtext h-b",
                (false, true) => "h-b",
                (false, false) => "h-dim",
            };
            let there = has(value, column) && !commit.deleted;
            group.text(
                (column.centre, 4),
                Anchor::Middle,
                &format!("{class} h-n"),
                &[("", cell(value, column.element))],
            );
            // An element that is new here shows its author; the elements before it keep theirs.
            let shows = match column.element {
                Some(_) if !changed => last.map_or_else(Vec::new, |last| last.shows.clone()),
                Some(_) => vec![commit.agent.clone()],
                None => shows,
            };
            let damage = match (violates, second, erases) {
                (true, true, _) => Damage::Second,
                (true, false, true) => Damage::Erased,
                _ => Damage::None,
            };
            self.push(commit.store, index, Cell { y, shows, erases, named: commit.named, there, damage });
        }
    }

    /// What was in the memory of a node that restarted.
    pub fn lost(&mut self, grid: &Grid, store: usize, y: i32, group: &mut Group) {
        let Some(truth) = grid.stores.get(store) else { return };
        group.text((truth.version, 4), Anchor::Start, "h-b h-s", &[("", "lost".to_owned())]);
        for column in 0..truth.columns.len() {
            let nothing =
                Cell { y, shows: Vec::new(), erases: false, named: false, there: false, damage: Damage::None };
            self.push(store, column, nothing);
        }
    }

    /// Lines and bars between the values, and what lies over them.
    pub fn drawn(&self, grid: &Grid, paper: &mut Paper, end: i32, band: i32) -> (String, String) {
        let (mut thin, mut bars, mut bad, mut connectors) =
            (String::new(), String::new(), String::new(), String::new());
        let mut over = String::new();
        for (truth, columns) in grid.stores.iter().zip(&self.stores) {
            for (column, cells) in truth.columns.iter().zip(columns) {
                let nexts = cells.iter().skip(1).map(Some).chain([None]);
                for (cell, next) in cells.iter().zip(nexts) {
                    let x = column.centre;
                    let erased = next.is_some_and(|next| next.erases);
                    let from = cell.y + 12;
                    let to = next.map_or(end, |next| next.y - if erased || next.named { 28 } else { 12 });
                    let damaged = cell.damage != Damage::None;
                    if cell.damage == Damage::Second {
                        let _ = write!(bad, "M{} {from}h12V{band}h-12z", x - 6);
                    } else if damaged {
                        let _ = write!(connectors, "M{x} {from}V{band}");
                    } else if to > from && !cell.shows.is_empty() && cell.there {
                        let _ = write!(bars, "M{} {from}h12V{to}h-12z", x - 6);
                    } else if to > from && cell.there {
                        for (from, to) in paper.free(x, from, to) {
                            let _ = write!(thin, "M{x} {from}V{to}");
                        }
                    }
                    if erased {
                        let y = to + 4;
                        let _ = write!(over, "{}", cross(x, y));
                        tag(grid, paper, column, y + 1, &["erased"], "h-badtext h-b h-s");
                    }
                    if cell.damage == Damage::Second {
                        tag(grid, paper, column, from + 10, &["second", "effect"], "h-badtext h-b h-s");
                    } else if !damaged && !cell.shows.is_empty() && cell.there && to - from >= 16 {
                        let whose = format!("{}’s", words::list(&cell.shows));
                        tag(grid, paper, column, from + 12, &[&whose], "h-s");
                    }
                }
            }
        }
        let mut under = String::new();
        let kinds = [
            (thin, "class=\"h-line\" stroke-width=\"1.5\""),
            (bars, "class=\"h-solid\""),
            (bad, "class=\"h-badsolid\""),
            (connectors, "class=\"h-bad\" stroke-width=\"2\""),
        ];
        for (path, attributes) in kinds.iter().filter(|(path, _)| !path.is_empty()) {
            let _ = writeln!(under, "<path {attributes} d=\"{path}\"/>");
        }
        (under, over)
    }
}

/// The cross on a bar that was erased.
fn cross(x: i32, y: i32) -> String {
    let path = format!("M{} {}l18 18m0-18l-18 18", x - 9, y - 9);
    format!(
        "<path class=\"h-halo\" stroke-width=\"9\" d=\"{path}\"/><path class=\"h-bad\" stroke-width=\"4\" d=\"{path}\"/>\n"
    )
}

/// A word beside a bar, where there is room for it at its right or left.
fn tag(grid: &Grid, paper: &mut Paper, column: &Column, y: i32, lines: &[&str], class: &str) {
    let wide = lines.iter().map(|line| width(line, 12)).max().unwrap_or(0);
    let columns = grid.stores.iter().flat_map(|truth| &truth.columns).map(|column| column.centre);
    let right = columns.clone().filter(|x| *x > column.centre).min().map_or(grid.width - 16, |x| x - 14);
    let lanes = grid.stores.iter().map(|truth| truth.lane);
    let right = lanes.clone().filter(|x| *x > column.centre).min().map_or(right, |lane| right.min(lane - 6));
    let left = columns.filter(|x| *x < column.centre).map(|x| x + 8);
    let left = left.chain(lanes.filter(|x| *x < column.centre).map(|x| x + 6)).max().unwrap_or(MARGIN);
    let sides = [
        (column.centre + 12, Anchor::Start, column.centre + 12 + wide <= right),
        (column.centre - 12, Anchor::End, column.centre - 12 - wide >= left),
    ];
    for (x, anchor, _) in sides.iter().filter(|side| side.2) {
        let mut group = Group::default();
        let lines: Vec<Vec<Span>> = lines.iter().map(|line| vec![("", (*line).to_owned())]).collect();
        group.lines((*x, 0), *anchor, class, &lines, 14);
        if paper.fits(&group, y) {
            paper.put(group, y, "");
            return;
        }
    }
}

/// Whether there is anything in a column.
fn has(value: &str, column: &Column) -> bool {
    column.element.is_none_or(|element| elements(value).is_some_and(|list| element < list.len().max(1)))
}
