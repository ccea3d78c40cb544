//! A picture that fits a slide: the matrix of designs and invariants, with what each design costs.
//!
//! `check` and `test` draw the same of their runs. Vacuous rows are left out. `diff` draws its changes as a list, the
//! worst first. A terminal shows more.

use super::changes::{clause, summary};
use super::matrix::{Grid, Judged};
use super::{Asked, AtTheEnd, Changes, Format, People, Reporter};
use crate::model::Verdict;
use crate::run::Run;

pub static FORMAT: Format = Format { begin, changes };

/// The width of a slide, and its least height: 16 to 9.
const SLIDE: (f64, f64) = (1280.0, 720.0);
const MARGIN: f64 = 40.0;
/// So wide is a letter of the type, on average, for each unit of its size.
const LETTER: f64 = 0.55;

fn begin<'r>(asked: Asked, _: &'r [Run], _: People) -> Box<dyn Reporter<'r> + 'r> {
    AtTheEnd::begin(asked, |_, runs| drawn(&Grid::of(runs)))
}

/// A drawing that grows downwards.
struct Slide {
    body: String,
    y: f64,
}

impl Slide {
    fn new(title: &str) -> Self {
        let mut slide = Self { body: String::new(), y: MARGIN + 20.0 };
        slide.words(MARGIN, title, 26.0, "#1a1a1a", "font-weight=\"bold\"");
        slide.y += 20.0;
        slide
    }

    fn words(&mut self, x: f64, words: &str, size: f64, colour: &str, style: &str) {
        let escaped = words.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        let y = self.y;
        self.body.push_str(&format!(
            "<text x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"{size}\" fill=\"{colour}\" {style}>{escaped}</text>\n"
        ));
    }

    fn block(&mut self, x: f64, width: f64, height: f64, colour: &str) {
        let y = self.y;
        self.body.push_str(&format!(
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" rx=\"3\" fill=\"{colour}\"/>\n"
        ));
    }

    /// A paragraph over the whole width.
    fn paragraph(&mut self, words: &str, size: f64, colour: &str) {
        let letters = columns(SLIDE.0 - 2.0 * MARGIN, size);
        for line in textwrap::wrap(words, letters) {
            self.y += size * 1.35;
            self.words(MARGIN, &line, size, colour, "");
        }
    }

    fn finish(self) -> String {
        let height = SLIDE.1.max(self.y + MARGIN);
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {height:.0}\" \
             font-family=\"DejaVu Sans, Verdana, Helvetica, Arial, sans-serif\">\n\
             <rect width=\"{}\" height=\"{height:.0}\" fill=\"#ffffff\"/>\n{}</svg>\n",
            SLIDE.0, SLIDE.0, self.body
        )
    }
}

/// How many letters of a size fit into a width.
fn columns(width: f64, size: f64) -> usize {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a slide is a few hundred letters wide"
    )]
    let letters = (width / (size * LETTER)) as usize;
    letters.max(4)
}

#[expect(clippy::cast_precision_loss, reason = "there are few rows and columns")]
const fn number(count: usize) -> f64 {
    count as f64
}

/// The colours of a cell and of its words. They differ in lightness too, so they are told apart without colour.
const fn colours(verdict: Option<Verdict>) -> (&'static str, &'static str) {
    match verdict {
        Some(Verdict::Violated) => ("#b3261e", "#ffffff"),
        Some(Verdict::Holds) => ("#cfe8d4", "#0b3d1a"),
        Some(Verdict::Inconclusive) => ("#ffe08a", "#4a3600"),
        Some(Verdict::Vacuous) | None => ("#eeeeee", "#666666"),
    }
}

/// A row of cells, each wrapped into its width.
fn row(slide: &mut Slide, name: &str, first: f64, width: f64, cells: &[(String, (&str, &str))], size: f64) {
    let lines = |words: &str, width: f64| -> Vec<String> {
        textwrap::wrap(words, columns(width - 12.0, size)).into_iter().map(std::borrow::Cow::into_owned).collect()
    };
    let name = lines(name, first);
    let wrapped: Vec<Vec<String>> = cells.iter().map(|(words, _)| lines(words, width)).collect();
    let most = wrapped.iter().map(Vec::len).max().unwrap_or(1).max(name.len());
    let (line, height) = (size * 1.25, size * 1.25 * number(most) + 8.0);
    let top = slide.y;
    for (at, (_, (background, _))) in cells.iter().enumerate() {
        slide.block(MARGIN + first + width * number(at) + 2.0, width - 4.0, height, background);
    }
    for (number_of, text) in name.iter().enumerate() {
        slide.y = top + line * number(number_of) + size + 3.0;
        slide.words(MARGIN, text, size, "#1a1a1a", "");
    }
    for (at, ((_, (_, ink)), lines)) in cells.iter().zip(&wrapped).enumerate() {
        for (number_of, text) in lines.iter().enumerate() {
            slide.y = top + line * number(number_of) + size + 3.0;
            slide.words(MARGIN + first + width * number(at) + 8.0, text, size, ink, "");
        }
    }
    slide.y = top + height + 4.0;
}

fn drawn(grid: &Grid) -> String {
    let priced = if grid.costs.iter().any(|(name, _)| *name == "calls") { ", what it costs" } else { "" };
    let mut slide = Slide::new(&format!("What holds, what breaks{priced}"));
    let first = 210.0;
    let width = (SLIDE.0 - 2.0 * MARGIN - first) / number(grid.designs.len().max(1));
    let size = if grid.designs.len() > 5 { 11.0 } else { 13.0 };
    let heads: Vec<_> = grid.designs.iter().map(|design| (design.clone(), ("#1f2a44", "#ffffff"))).collect();
    row(&mut slide, "", first, width, &heads, size);
    let told = |cell: &Judged| cell.verdict.is_some_and(|verdict| verdict != Verdict::Vacuous);
    for (name, cells) in grid.verdicts.iter().filter(|(_, cells)| cells.iter().any(told)) {
        let cells: Vec<_> = cells.iter().map(|cell| (cell.text(), colours(cell.verdict))).collect();
        row(&mut slide, name, first, width, &cells, size);
    }
    slide.y += 8.0;
    for (name, cells) in grid.costs.iter().filter(|(name, _)| *name != "states explored") {
        let cells: Vec<_> = cells.iter().map(|cell| (cell.clone(), ("#f3f5fa", "#1a1a1a"))).collect();
        row(&mut slide, name, first, width, &cells, size);
    }
    slide.paragraph(&grid.notes.join(" "), 11.0, "#555555");
    slide.finish()
}

fn changes(changes: &Changes<'_>, _: bool) -> String {
    let mut slide = Slide::new("What changed");
    slide.paragraph(&format!("{} -> {}: {}", changes.old, changes.new, summary(changes)), 15.0, "#1a1a1a");
    slide.y += 10.0;
    for change in &changes.difference.changes {
        let colour = if change.kind.is_worse() { "#b3261e" } else { "#0b3d1a" };
        slide.paragraph(&format!("{}: {}", change.kind.words(), clause(change)), 13.0, colour);
    }
    slide.finish()
}
