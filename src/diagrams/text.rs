//! A drawing in a monospaced type, for a terminal or a plain-text document.
//!
//! Lanes are columns: agents at the left, then the nodes, then the store with what is true. Time runs downwards; the
//! numbers at the left are those of the steps. A lane of an agent turns dotted while something that the agent believes
//! is no longer true, and the lane of a node turns thick while the node handles a call. What a commit changed has a
//! star. `↗` stands before what takes effect outside, `◆` before a lease that somebody gets, `◇` before one that is
//! given back.

mod layout;
mod truth;

use super::canvas::{Line, Tone};
use super::sequence::{Row, Sequence, Shape, Shown};
use super::{Draw, Format, words};
use crate::trace::Trace;
use layout::Layout;

pub static FORMAT: Format = Format { extension: "txt", draw: Draw::Terminal(draw) };

fn draw(trace: &Trace, colour: bool) -> String {
    let line = if colour { Line::in_colour } else { Line::to_string };
    let lines: Vec<String> = lines(trace).iter().map(line).collect();
    format!("{}\n", lines.join("\n"))
}

fn lines(trace: &Trace) -> Vec<Line> {
    let sequence = Sequence::of(trace);
    let layout = Layout::of(&sequence);
    let mut drawing =
        Drawing { layout: &layout, sequence: &sequence, lines: Vec::new(), stale: Vec::new(), busy: Vec::new() };
    drawing.paragraph(&format!("{}: {}", sequence.title, sequence.scenario));
    drawing.paragraph(&sequence.left_out);
    drawing.lines.push(Line::default());
    drawing.lines.extend(layout.heads(&sequence));
    drawing.tone(0, Tone::Heading);
    drawing.start();
    let mut previous: Option<&Row> = None;
    for row in &sequence.rows {
        if previous.is_none_or(|previous| !belongs_to(row, previous)) {
            drawing.lifelines();
        }
        drawing.row(row);
        previous = Some(row);
    }
    drawing.lifelines();
    drawing.band();
    drawing.lines
}

/// Whether a row follows another without a gap.
const fn belongs_to(row: &Row, previous: &Row) -> bool {
    match (&previous.shape, &row.shape) {
        (Shape::Request { .. }, Shape::Transaction { .. }) => previous.stale.is_empty(),
        (Shape::Fold { .. }, Shape::Fold { .. }) | (Shape::Transaction { .. }, Shape::Transaction { .. }) => {
            previous.stale.is_empty() && previous.commits.is_empty()
        }
        _ => false,
    }
}

struct Drawing<'d> {
    layout: &'d Layout,
    sequence: &'d Sequence,
    lines: Vec<Line>,
    /// Which agents have a stale belief now.
    stale: Vec<bool>,
    /// Which nodes are handling a call now.
    busy: Vec<bool>,
}

impl Drawing<'_> {
    /// A line with nothing but lifelines.
    fn lanes(&self) -> Line {
        let mut line = Line::default();
        let is = |flags: &[bool], index: usize| flags.get(index).copied().unwrap_or(false);
        for (index, column) in self.layout.agents.iter().enumerate() {
            line.write(*column, if is(&self.stale, index) { "┊" } else { "│" });
        }
        for (index, column) in self.layout.nodes.iter().enumerate() {
            line.write(*column, if is(&self.busy, index) { "┃" } else { "│" });
        }
        for column in &self.layout.stores {
            line.write(*column, "┃");
        }
        line
    }

    /// Says what the lines from this one on are about.
    fn tone(&mut self, from: usize, tone: Tone) {
        self.lines.iter_mut().skip(from).for_each(|line| line.set_tone(tone));
    }

    fn lifelines(&mut self) {
        self.lines.push(self.lanes());
    }

    /// Text over the whole width.
    fn paragraph(&mut self, text: &str) {
        for text in words::wrap(&words::line(text), self.layout.width) {
            let mut line = Line::default();
            line.write(0, &text);
            self.lines.push(line);
        }
    }

    /// Text that starts at a lane, or further left where there is too little room.
    fn label(&mut self, column: usize, text: &str) {
        for (column, text) in self.layout.place(column, text) {
            let mut line = self.lanes();
            // With a space, so that the next lane does not touch the text.
            line.write(column, &format!("{text} "));
            self.lines.push(line);
        }
    }

    /// What is true at the start.
    fn start(&mut self) {
        for store in 0..self.sequence.lanes.stores.len() {
            let Some(initial) = &self.sequence.lanes.stores[store].initial else { continue };
            for text in self.layout.truth.lines(self.sequence, store, initial, &[]) {
                let mut line = self.lanes();
                line.write(self.layout.truth.column, &text);
                self.lines.push(line);
            }
        }
    }

    fn row(&mut self, row: &Row) {
        let start = self.lines.len();
        let (above, mut line) = self.main_line(row);
        if let Some((column, text)) = above {
            self.label(column, &text);
        }
        let mark = match row.shows {
            Some(Shown::Violation) => " ✗",
            Some(Shown::Situation) => " ✓",
            None if row.fault => " !",
            None => "",
        };
        line.write(0, &format!("{}{mark}", row.numbers()));
        self.stale = (0..self.layout.agents.len()).map(|agent| row.is_stale(agent)).collect();
        self.busy.clone_from(&row.busy_nodes);
        let truth = &self.layout.truth;
        let mut texts = Vec::new();
        for commit in &row.commits {
            texts.extend(truth.lines(self.sequence, commit.store, &commit.content, &commit.changed));
            let erased = commit.erased.iter().map(|erased| format!("erased: {erased}"));
            let second = commit.second.iter().map(|intent| format!("second effect: {intent}"));
            let deleted = commit.deleted.then(|| "deleted".to_owned());
            texts.extend(
                erased.chain(second).chain(deleted).flat_map(|note| words::wrap(&words::line(&note), truth.room())),
            );
        }
        texts.extend(
            row.lost.iter().map(|store| format!("{} lost", words::line(&self.sequence.lanes.stores[*store].handle))),
        );
        let mut texts = texts.into_iter();
        if let Some(text) = texts.next() {
            line.write(truth.column, &text);
        }
        self.lines.push(line);
        for text in texts {
            let mut line = self.lanes();
            line.write(truth.column, &text);
            self.lines.push(line);
        }
        let at = self.layout.anchor(&row.shape) + 2;
        for remark in &row.remarks {
            self.label(at, &remark.signed());
        }
        self.tone(
            start,
            match row.shows {
                Some(shows) => tone(shows),
                None if row.fault => Tone::Fault,
                None => Tone::Plain,
            },
        );
        for stale in &row.stale {
            let agent = self.sequence.lanes.agent(Some(&stale.agent));
            let column = agent.map_or(self.layout.gutter, |agent| self.layout.agents[agent]);
            let first = self.lines.len();
            // In two lines, unless there is room for one.
            let names_store = self.sequence.names_stores();
            let one = stale.words(names_store);
            if column + 2 + words::width(&one) <= self.layout.right() {
                self.label(column + 2, &one);
            } else {
                let (belief, truth) = stale.halves(names_store);
                self.label(column + 2, &belief);
                self.label(column + 2, &truth);
            }
            if let Some(line) = self.lines.get_mut(first) {
                line.write(0, "belief");
            }
            self.tone(first, Tone::Stale);
        }
    }

    /// The line on which a row is drawn, and a label for the line above where it needs one.
    fn main_line(&self, row: &Row) -> (Option<(usize, String)>, Line) {
        let layout = self.layout;
        let mut line = self.lanes();
        let above = match &row.shape {
            Shape::HandOff { from, to } => {
                let mut columns: Vec<usize> = to.iter().map(|to| layout.agents[*to]).collect();
                columns.sort_unstable();
                let from = layout.agents[*from];
                for column in columns.iter().rev().filter(|column| **column > from) {
                    arrow(&mut line, from, *column, '─');
                }
                for column in columns.iter().filter(|column| **column < from) {
                    arrow(&mut line, from, *column, '─');
                }
                for column in &columns {
                    line.write(*column, "│");
                }
                let end = columns.last().copied().unwrap_or(from).max(from) + 2;
                self.beside(&mut line, end, &row.label).then_some((from + 2, row.label.clone()))
            }
            Shape::Fold { agents, nodes, store, .. } => self.fold(&mut line, agents, nodes, *store, &row.label),
            Shape::Request { agent, node, .. } => {
                arrow(&mut line, layout.agents[*agent], layout.nodes[*node], '─');
                Some((layout.agents[*agent] + 2, row.label.clone()))
            }
            Shape::Send { agent } => {
                let column = layout.agents[*agent];
                line.write(column, "├──>");
                self.beside(&mut line, column + 5, &row.label).then_some((column + 2, row.label.clone()))
            }
            Shape::Transaction { node, store, brief, ended, .. } => {
                self.transaction(&mut line, *node, *store, *ended, row.orphan, (&row.label, brief))
            }
            Shape::Answer { node, agent, received } => {
                let (from, to) = (layout.nodes[*node], layout.agents[*agent]);
                arrow(&mut line, from, to, '╌');
                if !received {
                    line.write(to + 1, " o");
                }
                inline(&mut line, to + 3, from, &row.label)
            }
            Shape::Break { agent, node, .. } => {
                let column = layout.agents[*agent];
                let end = node.map(|node| layout.nodes[node]);
                if let Some(end) = end {
                    line.fill(column + 1, end, ' ');
                    line.fill(column + (end - column) / 2, end, '╌');
                    line.write(end, "┤");
                }
                line.write(column + 1, "//");
                let free = end.map_or(layout.right(), |end| end.saturating_sub(2));
                if column + 4 + words::width(&row.label) <= free {
                    line.write(column + 4, &format!("{} ", row.label));
                    None
                } else {
                    Some((column + 2, row.label.clone()))
                }
            }
            Shape::TakeUp { node } => {
                let column = layout.nodes[*node];
                line.write(column.saturating_sub(3), "o─>");
                self.beside(&mut line, column + 2, &row.label).then_some((column + 2, row.label.clone()))
            }
            Shape::Note { node, .. } => {
                let end = node.map_or(layout.gutter, |node| layout.nodes[node]);
                for column in row.breaks.iter().map(|agent| layout.agents[*agent]).filter(|column| *column < end) {
                    line.fill(column + (end - column) / 2, end, '╌');
                    line.write(column + 1, "//");
                }
                let column = layout.anchor(&row.shape) + 2;
                self.beside(&mut line, column, &row.label).then_some((column, row.label.clone()))
            }
        };
        (above, line)
    }

    /// Writes a label on a line where there is room; otherwise says that it must go above.
    fn beside(&self, line: &mut Line, column: usize, label: &str) -> bool {
        let fits = column + words::width(label) <= self.layout.right();
        if fits {
            line.write(column, label);
        }
        !fits
    }

    fn fold(
        &self,
        line: &mut Line,
        agents: &[usize],
        nodes: &[usize],
        store: Option<usize>,
        label: &str,
    ) -> Option<(usize, String)> {
        let layout = self.layout;
        let mut stops: Vec<usize> = agents.iter().map(|agent| layout.agents[*agent]).collect();
        let from = stops.first().copied()?;
        stops.extend(nodes.iter().map(|node| layout.nodes[*node]));
        stops.extend(store.map(|store| layout.stores[store]));
        let to = stops.last().copied()?;
        if to > from {
            arrow(line, from, to, '╌');
        }
        for agent in agents {
            line.write(layout.agents[*agent], "├");
        }
        for node in nodes {
            line.write(layout.nodes[*node], "●");
        }
        let room = stops.windows(2).find(|pair| pair[0] + words::width(label) + 4 < pair[1]);
        match room {
            Some(pair) => {
                line.write(pair[0] + 2, &format!(" {label} "));
                None
            }
            None => Some((from + 2, label.to_owned())),
        }
    }

    fn transaction(
        &self,
        line: &mut Line,
        node: usize,
        store: Option<usize>,
        ended: bool,
        orphan: bool,
        (all, brief): (&str, &str),
    ) -> Option<(usize, String)> {
        let from = self.layout.nodes[node];
        let to = store.map_or(from + 4, |store| self.layout.stores[store]);
        let (start, fill, end) = if orphan { ("├", '╌', "┤") } else { ("╞", '═', "╡") };
        let stop = if ended { to - 2 } else { to };
        line.write(from, start);
        line.fill(from + 1, stop, fill);
        line.write(stop, if ended { " " } else { end });
        let room = stop.saturating_sub(from + 4);
        // What ended a call may stand for the whole; of what ran through, no step does.
        for label in [all, brief].into_iter().take(if ended { 2 } else { 1 }) {
            if words::width(label) <= room && !label.is_empty() {
                line.write(from + 2, &format!(" {label} "));
                return None;
            }
        }
        (!all.is_empty()).then(|| (from + 2, all.to_owned()))
    }

    fn band(&mut self) {
        let start = self.lines.len();
        let mut line = Line::default();
        line.fill(0, self.layout.width, '━');
        self.lines.push(line);
        let band = &self.sequence.band;
        let mark = match band.shows {
            Shown::Violation => '✗',
            Shown::Situation => '✓',
        };
        self.paragraph(&format!("{mark} {}", band.verdict));
        self.tone(start, tone(band.shows));
        self.paragraph(&band.sentence);
        self.lines.push(Line::default());
        let facts: Vec<String> = band.facts.iter().map(|(name, value)| format!("{name} {value}")).collect();
        self.paragraph(&facts.join(" · "));
        // The command is not wrapped: it is there to be copied.
        let mut line = Line::default();
        line.write(0, &band.command);
        self.lines.push(line);
    }
}

/// An arrow from one column to another.
fn arrow(line: &mut Line, from: usize, to: usize, stroke: char) {
    if to > from {
        line.write(from, "├");
        line.fill(from + 1, to - 1, stroke);
        line.write(to - 1, ">");
    } else if to < from {
        line.write(from, "┤");
        line.fill(to + 2, from, stroke);
        line.write(to + 1, "<");
    }
}

/// Writes a label into a stroke between two columns where there is room; otherwise it must go above.
fn inline(line: &mut Line, from: usize, to: usize, label: &str) -> Option<(usize, String)> {
    if from + words::width(label) + 4 <= to {
        line.write(from + 1, &format!(" {label} "));
        None
    } else {
        Some((from.saturating_sub(1), label.to_owned()))
    }
}

/// The tone of what a trace is about.
const fn tone(shows: Shown) -> Tone {
    match shows {
        Shown::Violation => Tone::Break,
        Shown::Situation => Tone::Reached,
    }
}
