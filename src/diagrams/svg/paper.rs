//! Where things stand on the paper, so that no two stand in one place.
//!
//! What belongs together is a [`Group`], drawn around its own origin. The paper finds the first height at which nothing of
//! the group meets anything that is there already. Text is never measured, since nobody knows the reader's type: it is
//! reckoned at 0.6 em a character, which the widest common sans-serif does not exceed.

use std::fmt::Write as _;
use std::ops::Range;

use crate::diagrams::words;

/// A rectangle.
#[derive(Clone, Copy, Debug)]
pub struct Area {
    pub left: i32,
    pub top: i32,
    pub right: i32,
    pub bottom: i32,
}

impl Area {
    pub const fn new(left: i32, top: i32, right: i32, bottom: i32) -> Self {
        Self { left, top, right, bottom }
    }

    pub const fn moved(self, down: i32) -> Self {
        Self { top: self.top + down, bottom: self.bottom + down, ..self }
    }

    const fn meets(&self, other: &Self) -> bool {
        self.left < other.right && other.left < self.right && self.top < other.bottom && other.top < self.bottom
    }
}

/// Where a text is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    Start,
    Middle,
    End,
}

/// A piece of a text, with the classes that it has beyond those of the text.
pub type Span = (&'static str, String);

/// Things that belong together, around their own origin.
#[derive(Debug, Default)]
pub struct Group {
    /// What is below everything else of the group.
    strokes: String,
    /// Boxes with text in them.
    boxes: String,
    texts: String,
    /// Where nothing else may stand.
    areas: Vec<Area>,
    /// What must be free when the group is placed, and may be used afterwards.
    reserved: Vec<Area>,
    /// Where lanes are interrupted.
    gaps: Vec<Area>,
}

/// How wide a text is, at a size in pixels.
pub fn width(text: &str, size: i32) -> i32 {
    let columns = i32::try_from(words::width(text)).unwrap_or(i32::MAX / 100);
    (columns * size * 6 + 9) / 10
}

/// How many columns of a text fit.
pub fn columns(pixels: i32, size: i32) -> usize {
    usize::try_from(pixels.max(0) * 10 / (size * 6)).unwrap_or(0)
}

impl Group {
    /// A text; its size follows from its classes.
    pub fn text(&mut self, (x, y): (i32, i32), anchor: Anchor, class: &str, spans: &[Span]) {
        let size = if class.split(' ').any(|class| class == "h-s") { 12 } else { 13 };
        let whole: String = spans.iter().map(|(_, text)| words::line(text)).collect();
        if whole.trim().is_empty() {
            return;
        }
        let wide = width(&whole, size);
        let left = match anchor {
            Anchor::Start => x,
            Anchor::Middle => x - wide / 2,
            Anchor::End => x - wide,
        };
        let area = Area::new(left, y - 11, left + wide, y + 3);
        self.areas.push(area);
        self.gaps.push(Area::new(left - 3, y - 11, left + wide + 3, y + 4));
        let held = match anchor {
            Anchor::Start => "",
            Anchor::Middle => "h-c",
            Anchor::End => "h-e",
        };
        let class: Vec<&str> = [class, held].into_iter().filter(|class| !class.is_empty()).collect();
        let class = class.join(" ");
        let class = if class.is_empty() { class } else { format!(" class=\"{class}\"") };
        let spans: String = spans.iter().map(|(class, text)| span(class, text)).collect();
        writeln!(self.texts, "<text{class} x=\"{x}\" y=\"{y}\">{spans}</text>")
            .expect("writing to a string doesn't fail");
    }

    /// Lines of text, each so far below the one before.
    pub fn lines(&mut self, (x, y): (i32, i32), anchor: Anchor, class: &str, lines: &[Vec<Span>], pitch: i32) {
        let mut at = y;
        for line in lines {
            self.text((x, at), anchor, class, line);
            at += pitch;
        }
    }

    /// Something below the texts that takes no room of its own.
    pub fn stroke(&mut self, element: &str) {
        self.strokes.push_str(element);
        self.strokes.push('\n');
    }

    /// Something that covers what is below it, lanes too.
    pub fn cover(&mut self, element: &str) {
        self.boxes.push_str(element);
        self.boxes.push('\n');
    }

    /// Takes room.
    pub fn take(&mut self, area: Area) {
        self.areas.push(area);
    }

    /// Needs room now, which smaller things may use later.
    pub fn reserve(&mut self, area: Area) {
        self.reserved.push(area);
    }

    /// Interrupts lanes.
    pub fn interrupt(&mut self, area: Area) {
        self.gaps.push(area);
    }

    /// How far it reaches down from its origin.
    pub fn bottom(&self) -> i32 {
        self.areas.iter().map(|area| area.bottom).max().unwrap_or(0)
    }
}

/// Spaces stand outside: some renderers lose them at the edges of a span.
fn span(class: &str, text: &str) -> String {
    let text = escape(text);
    let bare = text.trim();
    if class.is_empty() || bare.is_empty() {
        return text;
    }
    let (before, rest) = text.split_at(text.len() - text.trim_start().len());
    format!("{before}<tspan class=\"{class}\">{bare}</tspan>{}", &rest[bare.len()..])
}

/// Everything that has its place.
#[derive(Debug, Default)]
pub struct Paper {
    taken: Vec<Area>,
    gaps: Vec<Area>,
    drawn: String,
    bottom: i32,
}

/// The least room between two things.
const APART: i32 = 4;

impl Paper {
    /// The first height from `least` on at which nothing of a group meets anything.
    pub fn room(&self, group: &Group, least: i32) -> i32 {
        let mut y = least;
        loop {
            let apart = |area: &Area| Area::new(area.left - 2, area.top - APART, area.right + 2, area.bottom + APART);
            let met = group.areas.iter().chain(&group.reserved).find_map(|area| {
                let here = apart(&area.moved(y));
                self.taken.iter().find(|taken| taken.meets(&here)).map(|taken| taken.bottom + APART - area.top)
            });
            match met {
                Some(next) => y = next.max(y + 1),
                None => return y,
            }
        }
    }

    /// Draws a group with its origin at this height.
    pub fn put(&mut self, group: Group, y: i32, id: &str) {
        self.taken.extend(group.areas.iter().map(|area| area.moved(y)));
        self.gaps.extend(group.gaps.iter().map(|area| area.moved(y)));
        self.bottom = self.bottom.max(y + group.bottom());
        let id = if id.is_empty() { String::new() } else { format!(" id=\"{id}\"") };
        let inside = format!("{}{}{}", group.strokes, group.boxes, group.texts);
        if !inside.is_empty() {
            writeln!(self.drawn, "<g{id} transform=\"translate(0 {y})\">\n{inside}</g>")
                .expect("writing to a string doesn't fail");
        }
    }

    /// Places a group, and says where.
    pub fn place(&mut self, group: Group, least: i32, id: &str) -> i32 {
        let y = self.room(&group, least);
        self.put(group, y, id);
        y
    }

    /// Whether a group could stand at this height.
    pub fn fits(&self, group: &Group, y: i32) -> bool {
        self.room(group, y) == y
    }

    /// The parts of a vertical line that nothing interrupts.
    pub fn free(&self, x: i32, from: i32, to: i32) -> Vec<(i32, i32)> {
        let mut cuts: Vec<(i32, i32)> = self
            .gaps
            .iter()
            .filter(|gap| gap.left < x && x < gap.right && gap.bottom > from && gap.top < to)
            .map(|gap| (gap.top, gap.bottom))
            .collect();
        cuts.sort_unstable();
        let mut free = Vec::new();
        let mut at = from;
        for (top, bottom) in cuts {
            if top > at {
                free.push((at, top));
            }
            at = at.max(bottom);
        }
        if at < to {
            free.push((at, to));
        }
        free
    }

    /// How far everything reaches down.
    pub const fn bottom(&self) -> i32 {
        self.bottom
    }

    /// Everything that was drawn.
    pub fn into_drawn(self) -> String {
        self.drawn
    }
}

/// A text as XML shows it. Characters that XML can't hold are left out.
#[must_use]
pub fn escape(text: &str) -> String {
    let mut escaped = String::new();
    for letter in words::line(text).chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\u{fffe}' | '\u{ffff}' => {}
            letter => escaped.push(letter),
        }
    }
    escaped
}

/// Lines of a text that are at most so wide.
pub fn wrapped(text: &str, pixels: i32, size: i32) -> Vec<Vec<Span>> {
    let lines = words::wrap(&words::line(text), columns(pixels, size));
    lines.into_iter().map(|line| vec![("", line)]).collect()
}

/// Lines of a list, broken at commas where that is possible, or else before "and", with what matters most in bold.
pub fn listed(text: &str, gist: &str, pixels: i32, size: i32) -> Vec<Vec<Span>> {
    let text = words::line(text).split_whitespace().collect::<Vec<_>>().join(" ");
    let columns = columns(pixels, size);
    let parts = text.split_inclusive(", ").flat_map(|part| {
        let and = part.find(" and ").filter(|_| words::width(part.trim_end()) > columns);
        let (first, second) = part.split_at(and.map_or(part.len(), |at| at + 1));
        [first, second].into_iter().filter(|part| !part.is_empty())
    });
    let mut lines: Vec<String> = Vec::new();
    for part in parts {
        match lines.last_mut() {
            Some(last) if words::width(last) + words::width(part.trim_end()) <= columns => last.push_str(part),
            _ => lines.push(part.to_owned()),
        }
    }
    let bold = text.find(gist).filter(|_| !gist.is_empty()).map_or(0..0, |at| at..at + gist.len());
    let mut at = 0;
    let lines = lines.iter().flat_map(|line| words::wrap(line, columns));
    lines
        .map(|line| {
            at += text[at..].find(&*line).expect("lines are parts of the text");
            let spans = emphasised(&line, bold.start.saturating_sub(at)..bold.end.saturating_sub(at));
            at += line.len();
            spans
        })
        .collect()
}

/// A line in which what is in a range is bold.
fn emphasised(line: &str, bold: Range<usize>) -> Vec<Span> {
    let (start, end) = (bold.start.min(line.len()), bold.end.min(line.len()));
    let pieces = [("", &line[..start]), ("h-b", &line[start..end]), ("", &line[end..])];
    pieces.into_iter().filter(|(_, text)| !text.is_empty()).map(|(class, text)| (class, text.to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use super::{Anchor, Group, Paper, escape, listed, span};

    fn text(words: &str) -> Group {
        let mut group = Group::default();
        group.text((10, 0), Anchor::Start, "", &[("", words.to_owned())]);
        group
    }

    #[test]
    fn what_would_overlap_is_moved_down() {
        let mut paper = Paper::default();
        assert_eq!(paper.place(text("one"), 50, ""), 50);
        let second = paper.place(text("two"), 50, "");
        assert!(second > 60, "{second}");
        assert!(!paper.fits(&text("three"), 50));
    }

    #[test]
    fn text_interrupts_what_it_crosses() {
        let mut paper = Paper::default();
        paper.put(text("one"), 50, "");
        assert_eq!(paper.free(20, 0, 100), [(0, 39), (54, 100)]);
        assert_eq!(paper.free(500, 0, 100), [(0, 100)]);
    }

    #[test]
    fn markup_is_escaped_and_what_matters_is_bold() {
        assert_eq!(escape("a<b & \"c\"\u{ffff}"), "a&lt;b &amp; &quot;c&quot;");
        let lines = listed("write memory 32, storage 512", "memory 32", 400, 13);
        assert_eq!(
            lines,
            [[("", "write ".to_owned()), ("h-b", "memory 32".to_owned()), ("", ", storage 512".to_owned())]]
        );
    }
    #[test]
    fn a_long_list_breaks_before_and_and_stays_bold_over_its_lines() {
        let text = "write balance - 10 on giro and balance + 10 on savings, key A/1";
        let lines = listed(text, "balance - 10 on giro and balance + 10 on savings", 260, 13);
        let (plain, bold) = (|text: &str| ("", text.to_owned()), |text: &str| ("h-b", text.to_owned()));
        let first = vec![plain("write "), bold("balance - 10 on giro")];
        assert_eq!(lines, [first, vec![bold("and balance + 10 on savings"), plain(",")], vec![plain("key A/1")]]);
    }

    #[test]
    fn spaces_stand_outside_of_what_is_bold() {
        assert_eq!(span("h-b", " v3 4 "), " <tspan class=\"h-b\">v3 4</tspan> ");
        assert_eq!(span("", " v3 "), " v3 ");
    }
}
