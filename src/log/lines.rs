//! The lines of a log, one at a time, whatever is in them: a line that can't be read is an item as any other.

use std::io::{self, BufRead, Read};

use super::Line;
use crate::input::foreign;

/// The longest line that is read.
pub const LINE_BYTES: u64 = 4 << 20;

/// What is wrong with one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// The line's number, from 1.
    pub line: u64,
    /// What is wrong with it.
    pub what: String,
}

/// The texts of the lines of a log, with their numbers; empty ones are left out.
#[derive(Debug)]
pub struct Lines<R> {
    reader: R,
    number: u64,
    bytes: Vec<u8>,
}

impl<R: BufRead> Lines<R> {
    /// Begins to read.
    pub const fn new(reader: R) -> Self {
        Self { reader, number: 0, bytes: Vec::new() }
    }

    /// How many lines there were so far.
    #[must_use]
    pub const fn count(&self) -> u64 {
        self.number
    }

    /// Hands the next line on as text, or what is wrong with it; `None` at the end.
    ///
    /// # Errors
    ///
    /// When the log can't be read any further.
    pub fn next_text<T>(&mut self, take: impl FnOnce(u64, Result<&str, Mistake>) -> T) -> io::Result<Option<T>> {
        loop {
            self.bytes.clear();
            let read = self.reader.by_ref().take(LINE_BYTES).read_until(b'\n', &mut self.bytes)?;
            if read == 0 {
                return Ok(None);
            }
            self.number += 1;
            let line = self.number;
            let too_long = read as u64 == LINE_BYTES && self.bytes.last() != Some(&b'\n');
            if too_long && !self.skip_rest()? {
                let what = format!("it is longer than {LINE_BYTES} bytes");
                return Ok(Some(take(line, Err(Mistake { line, what }))));
            }
            // A program may have put a mark before the text that says that it is UTF-8.
            let bytes = self.bytes.strip_prefix(b"\xef\xbb\xbf").filter(|_| line == 1).unwrap_or(&self.bytes);
            let text = std::str::from_utf8(bytes).map(str::trim_ascii);
            match text {
                Ok("") => {}
                Ok(text) => return Ok(Some(take(line, Ok(text)))),
                Err(error) => {
                    let what = format!("it is not UTF-8 from byte {} on", error.valid_up_to() + 1);
                    return Ok(Some(take(line, Err(Mistake { line, what }))));
                }
            }
        }
    }

    /// The next line; `None` at the end.
    ///
    /// # Errors
    ///
    /// When the log can't be read any further.
    pub fn next_line(&mut self) -> io::Result<Option<Result<(u64, Line), Mistake>>> {
        self.next_text(|line, text| {
            let read = Line::from_json(text?);
            read.map(|read| (line, read)).map_err(|error| Mistake { line, what: said(&error) })
        })
    }

    /// Goes to the end of a line that is too long. Says whether the line was over already.
    fn skip_rest(&mut self) -> io::Result<bool> {
        let mut over = true;
        loop {
            let (used, done) = {
                let buffer = match self.reader.fill_buf() {
                    Ok(buffer) => buffer,
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                    Err(error) => return Err(error),
                };
                match buffer.iter().position(|byte| *byte == b'\n') {
                    Some(at) => {
                        over &= at == 0;
                        (at + 1, true)
                    }
                    None => {
                        over &= buffer.is_empty();
                        (buffer.len(), buffer.is_empty())
                    }
                }
            };
            self.reader.consume(used);
            if done {
                return Ok(over);
            }
        }
    }
}

/// What is wrong, as a reader of the log sees it: each line is a document of one line.
#[must_use]
pub fn said(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let (message, help) = foreign::worded(text.split(" at line ").next().unwrap_or_default());
    let message = message.replace("internally tagged enum Line", "an object with a `type`");
    let help = help.map_or_else(String::new, |help| format!("; {help}"));
    let column = if error.column() == 0 { String::new() } else { format!(" (column {})", error.column()) };
    format!("{message}{column}{help}")
}
