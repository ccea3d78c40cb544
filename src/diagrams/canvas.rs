//! A grid of characters in a monospaced type.

use unicode_width::UnicodeWidthChar;

use super::words;

/// One line of a drawing: a cell for each column. A wide character takes two cells, the second of which is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    cells: Vec<String>,
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
