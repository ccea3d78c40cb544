//! A grid of characters in a monospaced type.

use anstyle::{AnsiColor, Style};
use unicode_width::UnicodeWidthChar;

use super::words;

/// One line of a drawing: a cell for each column. A wide character takes two cells, the second of which is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    cells: Vec<String>,
    tone: Tone,
}

/// What a line is about, where a terminal shows it in colour. Nothing is told by colour alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tone {
    /// Whatever happens every day.
    #[default]
    Plain,
    /// The names of the lanes.
    Heading,
    /// A fault.
    Fault,
    /// Somebody believes what is not true.
    Stale,
    /// A property breaks.
    Break,
    /// A situation is reached.
    Reached,
}

impl Tone {
    const fn style(self) -> Style {
        match self {
            Self::Plain => Style::new(),
            Self::Heading => Style::new().bold(),
            Self::Fault => AnsiColor::Yellow.on_default(),
            Self::Stale => AnsiColor::Magenta.on_default(),
            Self::Break => AnsiColor::Red.on_default().bold(),
            Self::Reached => AnsiColor::Green.on_default().bold(),
        }
    }
}

impl Line {
    /// Writes a text from a column on, over what is there. Nothing is written left of the first column.
    pub fn write(&mut self, column: usize, text: &str) {
        let mut at = column;
        for letter in words::line(text).chars() {
            let width = letter.width().unwrap_or(0);
            if width == 0 {
                // A combining mark belongs to the character before it.
                if let Some(cell) =
                    at.checked_sub(1).filter(|cell| *cell >= column).and_then(|cell| self.cells.get_mut(cell))
                {
                    cell.push(letter);
                }
                continue;
            }
            while self.cells.len() < at + width {
                self.cells.push(" ".to_owned());
            }
            self.free(at);
            self.free(at + width - 1);
            self.cells[at] = letter.to_string();
            for cell in &mut self.cells[at + 1..at + width] {
                cell.clear();
            }
            at += width;
        }
    }

    /// Fills the columns from `from` up to and without `to` with one character.
    pub fn fill(&mut self, from: usize, to: usize, letter: char) {
        self.write(from, &String::from(letter).repeat(to.saturating_sub(from)));
    }

    /// Says what the line is about.
    pub const fn set_tone(&mut self, tone: Tone) {
        self.tone = tone;
    }

    /// The line with the codes of a terminal: lanes are dim, one whose agent believes what is not true
    /// has the colour of that, and what is written has the colour of the line's tone.
    pub fn in_colour(&self) -> String {
        let style = |cell: &str| match cell {
            "│" | "┃" => Style::new().dimmed(),
            "┊" => Tone::Stale.style(),
            _ => self.tone.style(),
        };
        let end = self.cells.iter().rposition(|cell| !cell.trim().is_empty()).map_or(0, |last| last + 1);
        let mut painted = String::new();
        for run in self.cells[..end].chunk_by(|one, next| style(one) == style(next)) {
            let (text, style) = (run.concat(), style(&run[0]));
            // What nobody sees needs no code.
            let plain = style == Style::new() || text.trim().is_empty();
            painted += &if plain { text } else { format!("{style}{text}{style:#}") };
        }
        painted
    }

    /// Clears the other half of a wide character that is about to lose one.
    fn free(&mut self, column: usize) {
        if self.cells[column].is_empty() && column > 0 {
            " ".clone_into(&mut self.cells[column - 1]);
        }
        if self.cells.get(column + 1).is_some_and(String::is_empty) {
            " ".clone_into(&mut self.cells[column + 1]);
        }
    }
}

impl std::fmt::Display for Line {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.cells.concat().trim_end())
    }
}

#[cfg(test)]
mod tests {
    use super::Line;

    #[test]
    fn what_is_written_later_stands_above() {
        let mut line = Line::default();
        line.fill(0, 10, '─');
        line.write(3, "abc");
        assert_eq!(line.to_string(), "───abc────");
    }

    #[test]
    fn half_a_wide_character_becomes_a_space() {
        let mut line = Line::default();
        line.write(0, "名前");
        line.write(1, "x");
        assert_eq!(line.to_string(), " x前");
        line.write(3, "y");
        assert_eq!(line.to_string(), " x y");
    }

    #[test]
    fn marks_stay_with_their_letters_and_control_characters_do_not_get_through() {
        let mut line = Line::default();
        line.write(2, "e\u{301}\u{1b}z");
        assert_eq!(line.to_string(), "  e\u{301} z");
    }
}
