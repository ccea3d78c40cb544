//! What agents believe, as badges on their lanes.

use super::grid::{GUTTER, Grid, MARGIN, count};
use super::paper::{Anchor, Area, Group, Span, columns, width};
use crate::diagrams::sequence::Stale;
use crate::diagrams::words;

/// A view that an agent now has, around the origin.
pub fn learns(grid: &Grid, agent: usize, text: &str) -> Group {
    let lane = grid.agent(agent);
    let version = text.split_once(' ').map_or("", |(version, _)| version);
    let version = if version.starts_with('v') { version } else { "" };
    let (before, after) = grid.beside(lane);
    let beside = width(version, 12);
    let room = after - 6 - (before + 6).max(GUTTER) - 18 - beside;
    let most = columns(room.clamp(44, 190) + beside, 12);
    // In several lines rather than cut off, as long as they are few.
    let mut texts = values(text, most);
    if texts.len() > 3 {
        let rest = texts.split_off(2).join(" ");
        texts.push(rest);
    }
    let texts: Vec<String> = texts.iter().map(|text| words::shorten(text, most)).collect();
    let wide = texts.iter().map(|text| width(text, 12)).max().unwrap_or(0) + 18;
    let left = fitted(grid, lane, wide);
    let half = i32::midpoint(15 * count(texts.len()), 9);
    let mut group = Group::default();
    group.cover(&format!(
        "<rect class=\"h-badge\" x=\"{left}\" y=\"{}\" width=\"{wide}\" height=\"{}\" rx=\"12\"/>",
        -half,
        2 * half
    ));
    group.take(Area::new(left, -half, left + wide, half));
    group.interrupt(Area::new(left - 1, -half, left + wide + 1, half));
    let lines: Vec<Vec<Span>> = texts
        .into_iter()
        .map(|text| match text.strip_prefix(version).filter(|_| !version.is_empty()) {
            Some(rest) => vec![("h-b", version.to_owned()), ("", rest.to_owned())],
            None => vec![("", text)],
        })
        .collect();
    group.lines((left + wide / 2, 16 - half), Anchor::Middle, "h-n h-s", &lines, 15);
    group
}

/// Where a badge starts: in the middle of its lane where there is room.
fn fitted(grid: &Grid, lane: i32, wide: i32) -> i32 {
    let (left, right) = grid.beside(lane);
    let mut start = lane - wide / 2;
    // Beside the neighbouring lanes rather than over them, as long as it covers its own.
    start = start.max((left + 6).min(lane - 12));
    start = start.min((right - 6 - wide).max(lane + 12 - wide).max(left + 6));
    start.clamp(GUTTER, (grid.width - MARGIN - wide).max(GUTTER)).min(lane - 4)
}

/// A view that is no longer true, around the origin.
pub fn stale(grid: &Grid, agent: usize, stale: &Stale, names_stores: bool) -> Group {
    let lane = grid.agent(agent);
    let (belief, truth) = stale.halves(names_stores);
    let belief = belief.strip_prefix(&format!("{} ", stale.agent)).unwrap_or(&belief).to_owned();
    let (left, right) = grid.beside(lane);
    let room = (right - 6 - (left + 6).max(GUTTER)).clamp(72, 240);
    let mut lines: Vec<Vec<Span>> = Vec::new();
    let most = columns(room - 14, 12);
    for (text, other) in [(&belief, &truth), (&truth, &belief)] {
        // In two lines rather than broken within its values.
        let content =
            text.match_indices(" v").map(|(at, _)| at).find(|at| text[at + 2..].starts_with(char::is_numeric));
        let halves = content.filter(|_| words::width(text) > most).map_or((text.as_str(), ""), |at| text.split_at(at));
        let mut bold = differing(text, other).into_iter();
        for line in [halves.0, halves.1].iter().flat_map(|half| values(half, most)) {
            lines.push(marked(&line, &mut bold));
        }
    }
    let longest = lines.iter().map(|line| line.iter().map(|span| width(&span.1, 12)).sum::<i32>()).max().unwrap_or(0);
    let wide = longest + 14;
    let left = fitted(grid, lane, wide);
    let half = i32::midpoint(15 * count(lines.len()), 8);
    let mut group = Group::default();
    group.cover(&format!(
        "<rect class=\"h-oldbadge\" x=\"{left}\" y=\"{}\" width=\"{wide}\" height=\"{}\" rx=\"3\" stroke-dasharray=\"3 2\"/>",
        -half,
        2 * half
    ));
    group.take(Area::new(left, -half, left + wide, half));
    group.interrupt(Area::new(left - 1, -half, left + wide + 1, half));
    group.lines((left + wide / 2, 15 - half), Anchor::Middle, "h-oldtext h-n h-s", &lines, 15);
    group
}

/// Lines of a text, in which no line starts with what separates values.
fn values(text: &str, columns: usize) -> Vec<String> {
    let text = words::line(text);
    let plain = words::wrap(&text, columns);
    if !plain.iter().any(|line| line.starts_with('/')) {
        return plain;
    }
    let mut lines: Vec<String> = Vec::new();
    for line in words::wrap(&text, columns.saturating_sub(2)) {
        match (lines.last_mut(), line.strip_prefix('/')) {
            (Some(before), Some(rest)) => {
                before.push_str(" /");
                lines.push(rest.trim_start().to_owned());
            }
            _ => lines.push(line),
        }
    }
    lines.retain(|line| !line.is_empty());
    lines
}

/// Which words of a half differ from the other half: those at the same place, where both have as many.
fn differing(text: &str, other: &str) -> Vec<bool> {
    let plain = ["believes", "will", "hear", "store", "is", "/"];
    let bare = |word: &str| word.trim_matches(['[', ']', ',']).to_owned();
    let content = |text: &str| -> Vec<String> {
        let words: Vec<String> = text.split_whitespace().map(bare).collect();
        let number = |word: &String| word.strip_prefix('v').is_some_and(|rest| rest.starts_with(char::is_numeric));
        let from = words.iter().position(number).unwrap_or(0);
        words[from..].to_vec()
    };
    let (own, theirs) = (content(text), content(other));
    let words: Vec<&str> = text.split_whitespace().collect();
    let before = words.len() - own.len();
    let differs = |index: usize, word: &str| match index.checked_sub(before) {
        Some(at) if own.len() == theirs.len() => own[at] != theirs[at],
        _ => !theirs.contains(&bare(word)),
    };
    words.iter().enumerate().map(|(index, word)| !plain.contains(word) && differs(index, word)).collect()
}

/// A line in which these words are bold.
fn marked(line: &str, bold: &mut impl Iterator<Item = bool>) -> Vec<Span> {
    let mut spans: Vec<Span> = Vec::new();
    for word in line.split_whitespace() {
        let class = if bold.next().unwrap_or(false) { "h-b" } else { "" };
        let word = if spans.is_empty() { word.to_owned() } else { format!(" {word}") };
        match spans.last_mut().filter(|last| last.0 == class) {
            Some(last) => last.1.push_str(&word),
            None => spans.push((class, word)),
        }
    }
    spans
}
