//! What happens: each row as a group around its own height.

use super::Drawing;
use super::frame::torn;
use super::grid::{GUTTER, count};
use super::paper::{Anchor, Area, Group, Span, listed, width, wrapped};
use super::signs::{self, SIGN, broken_line, head};
use super::style;
use crate::diagrams::sequence::{Remark, Row, Shape};

/// The least room for a label; where there is less, it starts further left.
const CRAMPED: i32 = 180;

/// What labels of orphaned calls end with.
const ORPHANED: &str = " (orphaned call)";

/// The most lines inside a box.
const IN_BOX: usize = 4;

impl Drawing<'_> {
    /// A row, around its own height.
    pub(super) fn event(&self, row: &Row) -> Group {
        let mut group = Group::default();
        let grid = self.grid;
        match &row.shape {
            Shape::HandOff { from, to } => self.hand_off(*from, to, row, &mut group),
            Shape::Fold { agents, nodes, store, .. } => self.fold(agents, nodes, *store, row, &mut group),
            Shape::Request { agent, node, late } => self.request(*agent, *node, *late, row, &mut group),
            Shape::Send { agent } => self.send(*agent, row, &mut group),
            Shape::TakeUp { node } => self.take_up(*node, row, &mut group),
            Shape::Transaction { node, store, brief, ended, .. } => {
                self.transaction(*node, *store, (brief, *ended), row, &mut group);
            }
            Shape::Answer { node, agent, received } => self.answer(*node, *agent, *received, row, &mut group),
            Shape::Break { agent, node, answer } => {
                self.broken(*agent, *node, answer.as_deref(), row, &mut group);
            }
            Shape::Note { agent, node, store } => {
                let lane = agent.map(|agent| grid.agent(agent)).or(node.map(|node| grid.node(node)));
                let lane = lane.or(store.and_then(|store| grid.stores.get(store)).map(|truth| truth.lane));
                let lane = lane.unwrap_or(GUTTER);
                self.note(lane, row, &mut group);
                for agent in &row.breaks {
                    let at = grid.agent(*agent) + 16;
                    group.stroke(&broken_line(at));
                    group.stroke(&format!(
                        "<path class=\"h-ink\" stroke-dasharray=\"5 4\" d=\"M{lane} 0H{}\"/>",
                        at + 16
                    ));
                    group.take(Area::new(at, -10, lane, 10));
                }
            }
        }
        group
    }

    /// A label above the line, in as many lines as it needs.
    fn above(&self, x: i32, bottom: i32, class: &str, (text, gist): (&str, &str), group: &mut Group) {
        let (x, room) = self.room_at(x, width(text, 13));
        let lines = listed(text, gist, room, 13);
        let top = bottom - 16 * (count(lines.len()) - 1);
        group.lines((x, top), Anchor::Start, class, &lines, 16);
    }

    /// Where a text starts, and how much room it has.
    fn room_at(&self, x: i32, wanted: i32) -> (i32, i32) {
        let right = self.grid.right();
        let room = right - x;
        if room >= wanted || room >= CRAMPED {
            return (x, room);
        }
        let moved = (right - wanted.min(CRAMPED)).clamp(GUTTER.min(x), x);
        (moved, (right - moved).max(90))
    }

    /// Remarks below the line.
    fn remarks(&self, x: i32, mut y: i32, row: &Row, group: &mut Group) {
        for remark in &row.remarks {
            // The gist is bold in the label already.
            let wants = remark.words.strip_prefix("wants ").is_some_and(|wants| row.label.contains(wants));
            if wants && !row.gist.is_empty() {
                continue;
            }
            y = self.remark(x, y, remark, row, group);
        }
    }

    fn remark(&self, x: i32, y: i32, remark: &Remark, row: &Row, group: &mut Group) -> i32 {
        let class = if row.shows.is_some() {
            "h-s"
        } else if remark.words.contains("store is") || remark.words.contains("without a key") {
            "h-oldtext h-s"
        } else {
            "h-dim h-s"
        };
        // A sign stands beside the lane, which text interrupts.
        let (x, beside) = if remark.sign.is_some() { (x + 14, SIGN) } else { (x, 0) };
        let (x, room) = self.room_at(x, width(&remark.words, 12) + beside);
        if let Some(sign) = remark.sign {
            group.stroke(&signs::drawn(sign, x, y));
            group.take(Area::new(x, y - 10, x + SIGN, y + 3));
        }
        let lines = wrapped(&remark.words, (room - beside).min(330), 12);
        group.lines((x + beside, y), Anchor::Start, class, &lines, 15);
        y + 15 * count(lines.len())
    }

    fn hand_off(&self, from: usize, to: &[usize], row: &Row, group: &mut Group) {
        let from = self.grid.agent(from);
        let to: Vec<i32> = to.iter().map(|to| self.grid.agent(*to)).collect();
        let (first, last) =
            (to.iter().min().map_or(from, |x| from.min(*x)), to.iter().max().map_or(from, |x| from.max(*x)));
        let mut heads = String::new();
        for x in &to {
            heads.push_str(&head(*x, if *x > from { 1 } else { -1 }));
        }
        group.stroke(&format!(
            "<path class=\"h-ink\" stroke-width=\"1.5\" d=\"M{first} 0H{last}\"/><path class=\"h-solid\" d=\"{heads}\"/>"
        ));
        group.take(Area::new(first, -5, last, 5));
        if last + 10 + width(&row.label, 12) <= self.grid.right() {
            group.text((last + 10, 4), Anchor::Start, "h-s", &[("", row.label.clone())]);
        } else {
            self.above(first + 10, -8, "h-s", (&row.label, ""), group);
        }
        self.remarks(from + 10, 16, row, group);
    }

    fn fold(&self, agents: &[usize], nodes: &[usize], store: Option<usize>, row: &Row, group: &mut Group) {
        let agents: Vec<i32> = agents.iter().map(|agent| self.grid.agent(*agent)).collect();
        let nodes: Vec<i32> = nodes.iter().map(|node| self.grid.node(*node)).collect();
        let from = agents.iter().min().copied().unwrap_or(GUTTER);
        let store = store.and_then(|store| self.grid.stores.get(store)).map(|truth| truth.lane);
        let to = store.or(nodes.iter().max().copied()).unwrap_or(from + 60);
        group.stroke(&format!(
            "<path class=\"h-line\" d=\"M{} -2H{}l-6-4M{} 2H{}l6 4\"/>",
            from + 5,
            to - 5,
            to - 5,
            from + 5
        ));
        group.take(Area::new(from, -5, to, 5));
        for x in &nodes {
            group.stroke(&format!("<circle class=\"h-solid\" cx=\"{x}\" cy=\"0\" r=\"3.5\"/>"));
        }
        for x in agents.iter().filter(|x| **x > from) {
            group.stroke(&format!("<circle class=\"h-solid\" cx=\"{x}\" cy=\"0\" r=\"2.5\"/>"));
        }
        self.above(from + 10, -8, "h-dim h-s", (&row.label, ""), group);
        self.remarks(from + 10, 17, row, group);
    }

    fn request(&self, agent: usize, node: usize, late: bool, row: &Row, group: &mut Group) {
        let (lane, to) = (self.grid.agent(agent), self.grid.node(node));
        // What arrives later starts at a dot, as it ended when it was sent; what nobody waits for any more, away from
        // its agent.
        let from = if row.orphan { (to - 64).max(lane + 16) } else { lane };
        let dash = if row.orphan { " stroke-dasharray=\"3 2\"" } else { "" };
        group.stroke(&format!("<path class=\"h-ink\" stroke-width=\"1.5\"{dash} d=\"M{from} 0H{}\"/>", to - 8));
        group.stroke(&format!("<path class=\"h-solid\" d=\"{}\"/>", head(to, 1)));
        if late {
            let x = if row.orphan { from } else { lane + 12 };
            group.cover(&format!("<circle class=\"h-ghost\" stroke-width=\"1.5\" cx=\"{x}\" cy=\"0\" r=\"4\"/>"));
        }
        group.take(Area::new(from, -5, to, 5));
        self.above(lane + 10, -8, "", (&row.label, &row.gist), group);
        self.remarks(lane + 10, 16, row, group);
    }

    /// A call that was kept comes to its node from nowhere near its agent.
    fn take_up(&self, node: usize, row: &Row, group: &mut Group) {
        let to = self.grid.node(node);
        let from = to - 44;
        group.stroke(&format!("<path class=\"h-ink\" stroke-width=\"1.5\" d=\"M{from} 0H{}\"/>", to - 8));
        group.stroke(&format!("<path class=\"h-solid\" d=\"{}\"/>", head(to, 1)));
        group.cover(&format!("<circle class=\"h-ghost\" stroke-width=\"1.5\" cx=\"{from}\" cy=\"0\" r=\"4\"/>"));
        group.take(Area::new(from - 4, -5, to, 5));
        self.above(from, -8, "", (&row.label, &row.gist), group);
        self.remarks(from, 16, row, group);
    }

    fn send(&self, agent: usize, row: &Row, group: &mut Group) {
        let lane = self.grid.agent(agent);
        group.stroke(&format!("<path class=\"h-ink\" stroke-width=\"1.5\" d=\"M{lane} 0H{}\"/>", lane + 44));
        group.cover(&format!("<circle class=\"h-ghost\" stroke-width=\"1.5\" cx=\"{}\" cy=\"0\" r=\"4\"/>", lane + 48));
        group.take(Area::new(lane, -5, lane + 52, 5));
        self.above(lane + 10, -8, "", (&row.label, &row.gist), group);
        self.remarks(lane + 10, 16, row, group);
    }

    fn transaction(
        &self,
        node: usize,
        store: Option<usize>,
        (brief, ended): (&str, bool),
        row: &Row,
        group: &mut Group,
    ) {
        let lane = self.grid.node(node);
        // To where it changed something, which a call about something else may do, and on to what else it changed.
        let lane_of = |store: usize| self.grid.stores.get(store).map(|truth| truth.lane);
        let changed = || row.commits.iter().filter_map(|commit| lane_of(commit.store));
        let store = changed().min().or_else(|| store.and_then(lane_of));
        let to = store.unwrap_or_else(|| (lane + 90).min(self.grid.right()));
        let left = if row.orphan { lane + 8 } else { lane - 6 };
        let right = if ended { to - 16 } else { to + 6 };
        // Dashes and the bar where it starts say that nobody waits for it.
        let plain = |text: &str| text.trim_end_matches(ORPHANED).to_owned();
        let (label, brief) = (plain(&row.label), &*plain(brief));
        let gist = if ended { brief.split_once(": ").map_or("", |halves| halves.1) } else { "" };
        let room = right - left - 16;
        let one = width(&label, 13) <= room;
        let size = if one { 13 } else { 12 };
        let longest = |text: &str| text.split_whitespace().map(|word| width(word, 12)).max().unwrap_or(0);
        let mut lines = if one { vec![emphasis(&label, gist)] } else { listed(&label, gist, room, 12) };
        if lines.len() > IN_BOX {
            let rest = if brief == label { brief.to_owned() } else { format!("… {brief}") };
            lines = listed(&rest, gist, room, 12);
        }
        let outside = longest(&label) > room || lines.len() > IN_BOX;
        let half = if outside { 6 } else { 14 + (count(lines.len()) - 1) * 8 };
        let dash = if row.orphan { " stroke-dasharray=\"3 2\"" } else { "" };
        group.cover(&format!(
            "<rect class=\"h-box\"{dash} x=\"{left}\" y=\"{}\" width=\"{}\" height=\"{}\"/>",
            -half,
            right - left,
            2 * half
        ));
        let mut caps = format!("M{} {}V{half}", left + 2, -half);
        if !ended {
            caps = format!("{caps}M{} {}V{half}", right - 2, -half);
        }
        let shows = row.shows.filter(|_| !ended).map(style::tone);
        let class = shows.map_or("h-ink", |tone| tone.line);
        if shows.is_some() {
            group.cover(&format!(
                "<path class=\"{class}\" stroke-width=\"2\" d=\"M{left} -{half}H{right}M{left} {half}H{right}\"/>"
            ));
        }
        for other in changed().filter(|other| *other > to && !ended) {
            let thin = if shows.is_some() { 2 } else { 1 };
            group.stroke(&format!("<path class=\"{class}\" stroke-width=\"{thin}\" d=\"M{right} -{half}H{other}\"/>"));
            group.take(Area::new(right, -half - 1, other, 1 - half));
            caps = format!("{caps}M{other} -{half}V{half}");
            group.take(Area::new(other - 2, -half, other + 2, half));
        }
        group.cover(&format!("<path class=\"{class}\" stroke-width=\"4\" d=\"{caps}\"/>"));
        group.take(Area::new(left, -half, right, half));
        if outside {
            let wide = (right - GUTTER - 40).min(330);
            let lines = listed(&label, gist, wide, 12);
            let top = -half - 5 - 15 * (count(lines.len()) - 1);
            group.lines((to - 9, top), Anchor::End, "h-s", &lines, 15);
        } else {
            let pitch = 15;
            let class = if size == 13 { "" } else { "h-s" };
            let first = 4 - pitch * (count(lines.len()) - 1) / 2;
            group.lines((i32::midpoint(left, right), first), Anchor::Middle, class, &lines, pitch);
        }
        self.remarks(left.min(self.grid.right() - 150), half + 14, row, group);
    }

    fn answer(&self, node: usize, agent: usize, received: bool, row: &Row, group: &mut Group) {
        let (from, to) = (self.grid.node(node), self.grid.agent(agent));
        let class = row.shows.map_or("h-ink", |shows| style::tone(shows).line);
        let wide = if row.shows.is_some() { " stroke-width=\"2\"" } else { "" };
        let end = if received { to + 4 } else { to + 17 };
        group.stroke(&format!("<path class=\"{class}\"{wide} stroke-dasharray=\"5 4\" d=\"M{from} 0H{end}\"/>"));
        if received {
            group.stroke(&format!("<path class=\"{class}\" stroke-width=\"1.5\" d=\"M{} -5l-8 5 8 5\"/>", to + 12));
        } else {
            group.cover(&format!("<circle class=\"h-ghost\" cx=\"{}\" cy=\"0\" r=\"4\"/>", to + 13));
        }
        group.take(Area::new(to, -5, from, 5));
        let class = if received { "h-s" } else { "h-dim h-s" };
        self.above(to + if received { 16 } else { 24 }, -7, class, (&row.label, ""), group);
        self.remarks(to + 16, 16, row, group);
    }

    fn broken(&self, agent: usize, node: Option<usize>, answer: Option<&str>, row: &Row, group: &mut Group) {
        let lane = self.grid.agent(agent);
        let left = lane + 10;
        let wide = width(&row.label, 12) + 22;
        let node = node.map(|node| self.grid.node(node));
        let slashes = left + wide + 6;
        let beside = node.is_none_or(|node| slashes + 36 <= node);
        // The label is on the line, or above it where the line is too short for both.
        let down = if beside { 0 } else { -20 };
        let wide_label = (left, left + wide);
        group.cover(&format!("<g transform=\"translate(0 {down})\">{}</g>", torn(wide_label.0, wide_label.1, 12)));
        group.take(Area::new(left, down - 13, left + wide, down + 13));
        group.interrupt(Area::new(left - 2, down - 13, left + wide + 2, down + 13));
        group.text((left + wide / 2, down + 4), Anchor::Middle, "h-rev h-b h-s", &[("", row.label.clone())]);
        let at = if beside { slashes } else { lane + 16 };
        group.stroke(&broken_line(at));
        if let Some(node) = node {
            group.stroke(&format!("<path class=\"h-ink\" stroke-dasharray=\"5 4\" d=\"M{node} 0H{}\"/>", at + 16));
            group.take(Area::new(at, -5, node, 5));
            let words = answer.unwrap_or_default();
            if width(words, 12) <= node - at - 24 {
                group.text((node - 6, -7), Anchor::End, "h-s", &[("", words.to_owned())]);
            }
        }
        let mut remarks = row.remarks.iter();
        let fate = remarks.next().map_or("", |remark| remark.words.as_str());
        let head = fate.strip_prefix("call is orphaned: ");
        let x = node.map_or(lane + 10, |node| node + 24);
        let room = self.grid.right() - x;
        // Beside the call at its node where there is room, and otherwise below the label.
        let below = node.is_none() || room < 120;
        let (x, room) = if below { (lane + 10, self.grid.right() - lane - 10) } else { (x, room) };
        let mut y = if below && beside { 28 } else { 16 };
        if head.is_some() {
            group.text((x, y), Anchor::Start, "h-b h-s", &[("", "orphaned call".to_owned())]);
            y += 15;
        }
        let lines = wrapped(head.unwrap_or(fate), room, 12);
        group.lines((x, y), Anchor::Start, "h-dim h-s", &lines, 15);
        y += 15 * count(lines.len());
        for remark in remarks {
            y = self.remark(lane + 10, y, remark, row, group);
        }
    }

    /// Anything without a shape of its own, at a lane.
    fn note(&self, lane: i32, row: &Row, group: &mut Group) {
        let at_store = self.grid.stores.iter().any(|truth| truth.lane == lane);
        let size = if row.fault { 12 } else { 13 };
        let wide = width(&row.label, size) + if row.fault { 22 } else { 0 };
        let most = if at_store { lane + 6 } else { self.grid.right() };
        let left = (lane - if row.fault { 14 } else { -10 }).min(most - wide).max(GUTTER);
        if row.fault {
            group.cover(&torn(left, left + wide, 12));
            group.text((left + wide / 2, 4), Anchor::Middle, "h-rev h-b h-s", &[("", row.label.clone())]);
        } else {
            group.stroke(&format!("<circle class=\"h-solid\" cx=\"{lane}\" cy=\"0\" r=\"3.5\"/>"));
            group.text((left, 4), Anchor::Start, "h-b", &[("", row.label.clone())]);
        }
        group.take(Area::new(left, -13, left + wide, 13));
        group.interrupt(Area::new(left - 2, -13, left + wide + 2, 13));
        let mut y = 27;
        for remark in &row.remarks {
            if at_store {
                let lines = wrapped(&remark.words, 300, 12);
                group.lines((lane - 9, y), Anchor::End, "h-dim h-s", &lines, 15);
                y += 15 * count(lines.len());
            } else {
                y = self.remark(lane + 10, y, remark, row, group);
            }
        }
    }
}

fn emphasis(text: &str, gist: &str) -> Vec<Span> {
    listed(text, gist, i32::MAX / 100, 13).into_iter().next().unwrap_or_default()
}
