//! Everything around the lanes: the title, the heads, the numbers, the violation, the caption.

use std::fmt::Write as _;

use super::grid::{self, Grid, MARGIN};
use super::paper::{Anchor, Area, Group, Span, columns, escape, width};
use super::style;
use crate::diagrams::sequence::{Row, Sequence, Shape, Shown};
use crate::diagrams::words;
use crate::trace::Trace;

/// A torn label around the origin, its left and right edges ragged.
pub fn torn(left: i32, right: i32, half: i32) -> String {
    let (tooth, quarter) = (5, half / 2);
    format!(
        "<path class=\"h-solid\" d=\"M{left} {}H{right}l-{tooth} {quarter} {tooth} {quarter}-{tooth} {quarter} {tooth} \
         {quarter}H{left}l{tooth}-{quarter}-{tooth}-{quarter} {tooth}-{quarter}z\"/>",
        -2 * quarter
    )
}

/// The sign of what a trace is about, around a point: the octagon of a violation, or the round of a situation.
fn sign(shows: Shown, x: i32, y: i32, half: i32) -> String {
    let class = style::tone(shows).solid;
    if shows == Shown::Situation {
        return format!("<circle class=\"{class}\" cx=\"{x}\" cy=\"{y}\" r=\"{half}\"/>");
    }
    let cut = (half * 3) / 5;
    let side = 2 * (half - cut);
    format!(
        "<path class=\"{class}\" d=\"M{} {}h{side}l{cut} {cut}v{side}l-{cut} {cut}h-{side}l-{cut}-{cut}v-{side}z\"/>",
        x - half + cut,
        y - half
    )
}

/// The numbers of a row's steps, and what marks it in the gutter.
pub fn number(row: &Row, group: &mut Group) {
    let numbers = row.numbers();
    let class = match (row.shows, row.fault) {
        (Some(shows), _) => format!("{} h-b h-s h-n", style::tone(shows).text),
        (None, true) => "h-b h-s h-n".to_owned(),
        (None, false) => "h-dim h-s h-n".to_owned(),
    };
    group.text((MARGIN, 4), Anchor::Start, &class, &[("", numbers.clone())]);
    let x = MARGIN + width(&numbers, 12) + 5;
    if let Some(shows) = row.shows {
        group.stroke(&sign(shows, x.max(43) + 7, 0, 7));
    } else if row.fault {
        let x = x.max(40);
        group.stroke(&format!("<path class=\"h-solid\" d=\"M{x} -6h16l-3 3 3 3-3 3 3 3H{x}l3-3-3-3 3-3z\"/>"));
    }
    group.take(Area::new(MARGIN, -8, grid::GUTTER - 4, 8));
}

/// The round of a run that goes on for ever, left of the lanes.
pub fn round(from: i32, to: i32) -> String {
    let (top, bottom) = (from - 8, to + 8);
    format!(
        "<path class=\"h-bad\" stroke-width=\"2\" d=\"M18 {bottom}H12V{top}H17\"/>\
         <path class=\"h-badsolid\" d=\"M20 {top}l-8-4v8z\"/>\n"
    )
}

/// What the ids of a picture start with: another for each picture, so that a page can hold several.
pub fn prefix(trace: &Trace) -> String {
    let names = [&trace.scenario.name, &trace.design.name, &trace.protocol.name, &trace.invariant, &trace.sentence];
    let mut hash: u32 = 0x811c_9dc5;
    for byte in names.into_iter().flat_map(|name| name.bytes().chain([0])) {
        hash = (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    }
    format!("h{hash:08x}-")
}

/// The whole file around what happens.
pub fn page(sequence: &Sequence, grid: &Grid, prefix: &str, inside: &str, band: i32) -> String {
    let mut body = String::new();
    let mut foot = Group::default();
    let bottom = foot_of(sequence, grid, &mut foot, &mut body, band);
    let mut paper = super::Paper::default();
    paper.put(foot, 0, "");
    let outer = paper.into_drawn().replace("<g transform=\"translate(0 0)\">\n", "").replace("</g>\n", "");
    let height = bottom + 18;
    let (wide, sans, sheet) = (grid.width, style::SANS, style::sheet(sequence.band.shows));
    let title = escape(&format!("{}: {}", sequence.title, sequence.scenario));
    let story: Vec<&str> = sequence.rows.iter().map(|row| row.sentence.as_str()).filter(|it| !it.is_empty()).collect();
    let desc = escape(&format!("{}. {} {}", sequence.band.verdict, sequence.band.sentence, story.join(" ")));
    let (large, small) = (escape(&sequence.title), escape(&sequence.scenario));
    let large = shortened(&large, &sequence.title, wide - 2 * MARGIN, 22);
    let small = shortened(&small, &sequence.scenario, wide - 2 * MARGIN, 13);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {wide} {height}\" width=\"{wide}\" height=\"{height}\" \
         class=\"h-text\" role=\"img\" aria-labelledby=\"{prefix}t {prefix}d\" font-family=\"{sans}\" font-size=\"13\">\n\
         <title id=\"{prefix}t\">{title}</title>\n<desc id=\"{prefix}d\">{desc}</desc>\n<style>\n{sheet}</style>\n\
         <rect class=\"h-paper\" width=\"{wide}\" height=\"{height}\"/>\n\
         <text class=\"h-b\" x=\"{MARGIN}\" y=\"38\" font-size=\"22\">{large}</text>\n\
         <text class=\"h-dim\" x=\"{MARGIN}\" y=\"59\">{small}</text>\n{inside}{body}{outer}</svg>\n"
    )
}

/// A text that may have to be shortened; as it is escaped already where it fits.
fn shortened(escaped: &str, text: &str, pixels: i32, size: i32) -> String {
    if width(text, size) <= pixels { escaped.to_owned() } else { escape(&words::shorten(text, columns(pixels, size))) }
}

/// A text in at most so many pixels.
fn within(text: &str, pixels: i32, size: i32) -> String {
    words::shorten(text, columns(pixels, size))
}

/// A name in at most so many pixels.
fn name_within(name: &str, pixels: i32, size: i32) -> String {
    words::shorten_name(name, columns(pixels, size))
}

/// The groups and heads of the lanes.
pub fn heads(sequence: &Sequence, grid: &Grid, head: &mut Group) {
    let lanes = &sequence.lanes;
    let mut rules = String::new();
    let mut rule = |head: &mut Group, first: i32, last: i32, limit: i32, names: &[String]| {
        let (left, mut right) = ((first - 28).max(MARGIN), last + 28);
        let name = names.iter().find(|name| left + width(name, 12) <= limit).or(names.last());
        let name = name.map_or_else(String::new, |name| within(name, limit - left, 12));
        right = right.max(left + width(&name, 12)).min(limit);
        head.text((left, 87), Anchor::Start, "h-dim h-s", &[("", name)]);
        let _ = write!(rules, "M{left} 94H{right}");
    };
    let mut start = 0;
    let first_node = grid.nodes.first().or(grid.stores.first().map(|truth| &truth.lane));
    for index in 0..lanes.agents.len() {
        let principal = &lanes.agents[index].principal;
        if lanes.agents.get(index + 1).is_some_and(|next| next.principal == *principal) {
            continue;
        }
        let next = grid.agents.get(index + 1).or(first_node).map_or(grid.width - MARGIN, |next| next - 36);
        let names = if principal.is_empty() {
            vec!["unknown".to_owned()]
        } else {
            vec![format!("principal {principal}"), principal.clone()]
        };
        rule(head, grid.agents[start], grid.agents[index], next, &names);
        start = index + 1;
    }
    if let (Some(first), Some(last)) = (grid.nodes.first(), grid.nodes.last()) {
        let limit = grid.stores.first().map_or(grid.width - MARGIN, |truth| truth.lane - 36);
        rule(head, *first, *last, limit, &["nodes".to_owned()]);
    }
    if let (Some(first), Some(last)) = (grid.stores.first(), grid.stores.last()) {
        rule(head, first.lane, last.right - 28, last.right, &["store: what is true".to_owned()]);
    }
    head.stroke(&format!("<path class=\"h-line\" d=\"{rules}\"/>"));
    for (agent, lane) in lanes.agents.iter().zip(&grid.agents) {
        let (left, right) = grid.beside(*lane);
        let room = 2 * (lane - left).min(right - lane).min(60) - 12;
        let room = if grid.dense { 2 * (right - lane).min(62) } else { room.max(76) };
        head.text((*lane, staggered(grid, *lane)), Anchor::Middle, "h-b", &[("", name_within(&agent.name, room, 13))]);
        if !grid.dense {
            head.text((*lane, 129), Anchor::Middle, "h-dim h-s", &[("", agent.role.to_owned())]);
        }
    }
    for (node, lane) in lanes.nodes.iter().zip(&grid.nodes) {
        let room = if grid.dense { 2 * (grid.beside(*lane).1 - lane).min(62) } else { 80 };
        head.text((*lane, staggered(grid, *lane)), Anchor::Middle, "h-b", &[("", name_within(node, room, 13))]);
    }
    stores(sequence, grid, head);
}

/// The heads of the stores and of their columns: in one line where every handle has room left of its first column, and the
/// columns a line lower otherwise.
fn stores(sequence: &Sequence, grid: &Grid, head: &mut Group) {
    let stores = || sequence.lanes.stores.iter().zip(&grid.stores);
    let name = |store, column: &grid::Column| name_within(grid::name(store, column), column.width - 4, 12);
    let left = |truth: &grid::Truth| {
        let before = grid.stores.iter().filter(|other| other.lane < truth.lane).map(|other| other.right + 4);
        before.max().unwrap_or(grid.beside(truth.lane).0 + 44)
    };
    let beside = |store, truth: &grid::Truth| {
        truth.columns.first().map_or(truth.right, |column| column.centre - width(&name(store, column), 12) / 2 - 6)
    };
    let lower = stores().any(|(store, truth)| width(&store.handle, 13) > beside(store, truth) - left(truth));
    for (store, truth) in stores() {
        let (left, right) = (left(truth), if lower { truth.right } else { beside(store, truth) });
        let handle = name_within(&store.handle, right - left, 13);
        let half = (width(&handle, 13) + 1) / 2;
        // In the middle of its lane, unless it would touch what is beside it.
        let x = truth.lane.min(right - half).max(left + half);
        head.text((x, 114), Anchor::Middle, "h-b", &[("", handle)]);
        for column in &truth.columns {
            let y = if lower { 129 } else { 114 };
            head.text((column.centre, y), Anchor::Middle, "h-dim h-s", &[("", name(store, column))]);
        }
    }
}

/// The line of a head: where lanes are close to each other, every other one is a line lower.
fn staggered(grid: &Grid, lane: i32) -> i32 {
    let before = grid.lanes().filter(|other| *other < lane).count();
    if grid.dense && before % 2 == 1 { 129 } else { 114 }
}

/// The violation and the caption; answers where they end.
fn foot_of(sequence: &Sequence, grid: &Grid, foot: &mut Group, body: &mut String, band: i32) -> i32 {
    let right = grid.width - MARGIN;
    let sentence = words::wrap(&words::line(&sequence.band.sentence), 84);
    let verdict = words::wrap(&words::line(&sequence.band.verdict), columns(right - 80, 15));
    let lines = grid::count(sentence.len().max(1)) + grid::count(verdict.len().max(1)) - 2;
    let height = 60 + 19 * lines;
    let middle = band + 30;
    let shows = sequence.band.shows;
    let tone = style::tone(shows);
    let mark = match shows {
        Shown::Violation => format!("M39 {}l2-2 5 5 5-5 2 2-5 5 5 5-2 2-5-5-5 5-2-2 5-5z", middle - 4),
        Shown::Situation => format!("M38 {}l2-2 4 4 8-8 2 2-10 10z", middle + 1),
    };
    let _ = writeln!(
        body,
        "<rect class=\"{}\" x=\"{MARGIN}\" y=\"{band}\" width=\"{}\" height=\"{height}\"/>\
         <path class=\"{}\" stroke-width=\"4\" d=\"M{MARGIN} {band}H{right}\"/>{}<path class=\"h-rev\" d=\"{mark}\"/>",
        tone.fill,
        right - MARGIN,
        tone.line,
        sign(shows, 46, middle + 1, 15)
    );
    let mut y = band + 25;
    for line in verdict {
        let _ = writeln!(
            body,
            "<text class=\"{} h-b\" x=\"74\" y=\"{y}\" font-size=\"15\">{}</text>",
            tone.text,
            escape(&line)
        );
        y += 19;
    }
    y += 2;
    for line in sentence {
        foot.text((74, y), Anchor::Start, "", &[("", line)]);
        y += 18;
    }
    y = band + height + 28;
    let mut x = MARGIN;
    for (name, value) in &sequence.band.facts {
        let value = within(value, right - MARGIN, 12);
        let wide = width(&value, 12).max(width(name, 12));
        if x > MARGIN && x + wide > right {
            x = MARGIN;
            y += 40;
        }
        foot.text((x, y), Anchor::Start, "h-dim h-s", &[("", (*name).to_owned())]);
        foot.text((x, y + 16), Anchor::Start, "h-s", &[("", value)]);
        x += wide + 24;
    }
    y += 16;
    for line in not_shown(sequence, grid) {
        y += 20;
        foot.text((MARGIN, y), Anchor::Start, "h-dim h-s", &line);
    }
    let command = words::wrap(&words::line(&sequence.band.command), columns(right - MARGIN, 12));
    y += 4;
    for line in command {
        y += 18;
        foot.text((MARGIN, y), Anchor::Start, "h-dim h-m h-s", &[("", line)]);
    }
    y
}

/// What a picture leaves out, in lines.
fn not_shown(sequence: &Sequence, grid: &Grid) -> Vec<Vec<Span>> {
    let hidden: Vec<String> = grid.stores.iter().flat_map(|truth| truth.hidden.iter().cloned()).collect();
    let mut text = sequence.left_out.clone();
    if !hidden.is_empty() {
        text = format!("{text} Without a column: {}.", words::list(&hidden));
    }
    let lines = words::wrap(&words::line(&text), columns(grid.width - 2 * MARGIN, 12));
    lines.into_iter().map(|line| vec![("", line)]).collect()
}

/// The agents that have nothing left to do after a row, and never had a view: their lanes end there.
pub fn ends(sequence: &Sequence, index: usize) -> Vec<usize> {
    let takes_part = |row: &Row, agent: usize| match &row.shape {
        Shape::HandOff { from, to } => *from == agent || to.contains(&agent),
        Shape::Fold { agents, .. } => agents.contains(&agent),
        Shape::Request { agent: one, .. }
        | Shape::Send { agent: one }
        | Shape::Answer { agent: one, .. }
        | Shape::Break { agent: one, .. } => *one == agent,
        Shape::Note { agent: one, .. } => *one == Some(agent),
        Shape::TakeUp { .. } | Shape::Transaction { .. } => false,
    };
    let row = &sequence.rows[index];
    let Shape::HandOff { from, .. } = row.shape else { return Vec::new() };
    let later = sequence.rows[index + 1..].iter().any(|row| takes_part(row, from));
    let believes = sequence.rows.last().is_some_and(|last| last.minds.get(from) != Some(&super::lanes::BLANK));
    if later || believes { Vec::new() } else { vec![from] }
}
