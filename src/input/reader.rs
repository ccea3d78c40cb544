//! A walk over a TOML text that collects everything that is wrong with it.
//!
//! Cursors ([`Item`], [`Table`], [`Key`]) answer `Option`s: `None` says that the thing is missing or wrong and that
//! this has been reported. So a reader asks for everything first and gives up last, and one run reports all errors.

use std::cell::RefCell;
use std::ops::{Range, RangeInclusive};

use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use crate::suggest::{nearest, one_of};

use super::diagnostic::{Diagnostic, InputError, Place, Severity};
use super::report::{DIAGNOSTICS, Part, Reason, Report, Spot};
use super::words::Word;
use super::{Input, Source};

/// Reads a whole text: `meaning` turns its root table into what it means.
pub(super) fn read<T>(source: &Source, meaning: impl FnOnce(&Table<'_>) -> Option<T>) -> Result<Input<T>, InputError> {
    let (root, syntax_errors) = DeTable::parse_recoverable(&source.text);
    let report = Report::new(source);
    let table = Table::new(&report, root.get_ref(), 0..0);
    let value = meaning(&table);
    let (found, mut hidden) = report.into_findings();

    let mut diagnostics: Vec<Diagnostic>;
    if syntax_errors.is_empty() {
        diagnostics = found.into_iter().map(|(diagnostic, _)| diagnostic).collect();
    } else {
        hidden = syntax_errors.len().saturating_sub(DIAGNOSTICS);
        diagnostics = syntax_errors.iter().take(DIAGNOSTICS).map(|error| syntax_error(source, error)).collect();
        // What can't be parsed is missing from the table, and behind a header that can't be parsed everything may hang in
        // the wrong table. So of what the walk found only that is sure which stands before such a header and has its
        // whole reason in its own line, if nothing is wrong with the syntax of that line.
        let broken: Vec<usize> = diagnostics.iter().map(line_of).collect();
        let is_header =
            |line: &&usize| source.text.lines().nth(**line - 1).is_some_and(|text| text.trim().starts_with('['));
        let broken_header = broken.iter().find(is_header).copied().unwrap_or(usize::MAX);
        let sure = found.into_iter().filter(|(diagnostic, reason)| {
            let line = line_of(diagnostic);
            *reason == Reason::InPlace && line < broken_header && !broken.contains(&line)
        });
        diagnostics.extend(sure.map(|(diagnostic, _)| diagnostic));
    }
    if diagnostics.is_empty() {
        let value = value.expect("a reader that gives nothing has reported why");
        return Ok(Input { value, source: source.clone(), deployed: None });
    }
    diagnostics.sort_by_key(|diagnostic| diagnostic.place.as_ref().map(|place| place.span.start));
    hidden += diagnostics.len().saturating_sub(DIAGNOSTICS);
    diagnostics.truncate(DIAGNOSTICS);
    if hidden > 0 {
        let more = format!("{hidden} more errors in `{}` are not shown", source.origin);
        diagnostics.extend(InputError::whole(more, None).diagnostics);
    }
    Err(InputError { diagnostics })
}

fn line_of(diagnostic: &Diagnostic) -> usize {
    diagnostic.place.as_ref().map_or(1, Place::line)
}

fn syntax_error(source: &Source, error: &toml::de::Error) -> Diagnostic {
    let (message, label) = match error.message().split_once(", expected ") {
        Some((message, expected)) => (message, format!("expected {expected}")),
        None => (error.message(), String::new()),
    };
    let place = source.place(error.span().unwrap_or(0..0));
    Diagnostic { severity: Severity::Error, message: message.to_owned(), label, help: None, place: Some(place) }
}

/// A value in the text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Item<'a> {
    report: &'a Report<'a>,
    spanned: &'a Spanned<DeValue<'a>>,
}

impl Spot for Item<'_> {
    fn span(&self) -> Range<usize> {
        self.spanned.span()
    }

    fn report(&self) -> &Report<'_> {
        self.report
    }
}

impl<'a> Item<'a> {
    pub(super) fn value(self) -> &'a DeValue<'a> {
        self.spanned.get_ref()
    }

    /// What kind of value this is, for messages.
    pub(super) fn kind(self) -> &'static str {
        match self.value() {
            DeValue::String(_) => "a string",
            DeValue::Integer(_) => "a whole number",
            DeValue::Float(_) => "a number with a fraction",
            DeValue::Boolean(_) => "a truth value",
            DeValue::Datetime(_) => "a date",
            DeValue::Array(_) => "a list",
            DeValue::Table(_) => "a table",
        }
    }

    /// Reports that another kind of value was expected.
    pub(super) fn wrong_kind<T>(self, expected: &str) -> Option<T> {
        self.refuse_in_place(format!("this is {}", self.kind()), format!("expected {expected}"), None)
    }

    /// The text of a string.
    pub(super) fn string(self) -> Option<&'a str> {
        self.value().as_str().or_else(|| self.wrong_kind("a string"))
    }

    /// The text of a string that says something.
    pub(super) fn nonempty(self) -> Option<&'a str> {
        let text = self.string()?;
        if text.trim().is_empty() {
            return self.refuse_in_place("this is empty", "expected a string that says something", None);
        }
        Some(text)
    }

    pub(super) fn boolean(self) -> Option<bool> {
        self.value().as_bool().or_else(|| self.wrong_kind("`true` or `false`"))
    }

    /// A whole number in a range.
    pub(super) fn number<N: TryFrom<i64>>(self, range: RangeInclusive<i64>) -> Option<N> {
        let expected = format!("a whole number from {} to {}", range.start(), range.end());
        let DeValue::Integer(digits) = self.value() else { return self.wrong_kind(&expected) };
        i64::from_str_radix(digits.as_str(), digits.radix())
            .ok()
            .filter(|number| range.contains(number))
            .and_then(|number| N::try_from(number).ok())
            .or_else(|| self.refuse_in_place("this number is out of range", format!("expected {expected}"), None))
    }

    /// The elements of a list.
    pub(super) fn list(self) -> Option<Vec<Item<'a>>> {
        let elements = self.value().as_array().or_else(|| self.wrong_kind("a list"))?;
        Some(elements.iter().map(|spanned| Item { report: self.report, spanned }).collect())
    }

    /// The elements of a list that may not be empty.
    pub(super) fn nonempty_list(self, of: &str) -> Option<Vec<Item<'a>>> {
        let elements = self.list()?;
        if elements.is_empty() {
            return self.refuse_in_place("this list is empty", format!("expected at least one {of}"), None);
        }
        Some(elements)
    }

    pub(super) fn table(self) -> Option<Table<'a>> {
        let entries = self.value().as_table().or_else(|| self.wrong_kind("a table"))?;
        Some(Table::new(self.report, entries, self.span()))
    }

    /// One word of a closed set. What can't be it is said by `refusal`: "`payload` can't be", say.
    pub(super) fn word<W: Word>(self, refusal: &str) -> Option<W> {
        let words = W::words();
        let Some(text) = self.value().as_str() else { return self.wrong_kind(&one_of(words)) };
        let found = W::WORDS.iter().copied().find(|value| value.word() == text);
        found.or_else(|| self.not_among(format!("{refusal} `{text}`"), text, &words))
    }

    /// A list of different words of a closed set. What can't be in it is said by `refusal`: "`scope` can't have", say.
    pub(super) fn words<W: Word>(self, refusal: &str) -> Option<Vec<W>> {
        self.each(|element, before: &[W]| {
            let word = element.word(refusal)?;
            if before.contains(&word) {
                return element.refuse_in_place(format!("`{}` is listed twice", word.word()), "again", None);
            }
            Some(word)
        })
    }

    /// The elements of a list, each as `meaning` reads it, given those before it. `None` if any of them is wrong.
    pub(super) fn each<T>(self, mut meaning: impl FnMut(Item<'a>, &[T]) -> Option<T>) -> Option<Vec<T>> {
        let elements = self.list()?;
        let count = elements.len();
        let mut read = Vec::with_capacity(count);
        for element in elements {
            if let Some(value) = meaning(element, &read) {
                read.push(value);
            }
        }
        (read.len() == count).then_some(read)
    }

    /// The place of a part of this string: `range` counts bytes of the string's value.
    pub(super) fn part(self, range: Range<usize>) -> Part<'a> {
        let span = self.span();
        let value = self.value().as_str().unwrap_or_default();
        let offsets = written_offsets(&self.report.text()[span.clone()], value);
        let at = |offset: usize| offsets.get(offset).map_or(span.end, |written| span.start + written);
        Part::new(self.report, at(range.start)..at(range.end))
    }
}

/// Where each byte of a string's value begins in what is written for it, quotes included, and last where the value ends.
///
/// What is written may be broken, and its value then a guess of the parser: the answer may be short.
fn written_offsets(written: &str, value: &str) -> Vec<usize> {
    let opening = ["\"\"\"\r\n", "'''\r\n", "\"\"\"\n", "'''\n", "\"\"\"", "'''", "\"", "'"];
    let mut at = opening.iter().find(|quotes| written.starts_with(**quotes)).map_or(0, |quotes| quotes.len());
    let escapes = written.starts_with('"');
    let mut offsets = Vec::with_capacity(value.len() + 1);
    for character in value.chars() {
        let Some(mut rest) = written.get(at..) else { return offsets };
        // A backslash at the end of a line hides the line's end and the spaces behind it.
        while let Some(hidden) =
            rest.strip_prefix('\\').filter(|hidden| escapes && hidden.starts_with(char::is_whitespace))
        {
            rest = hidden.trim_start();
        }
        at = written.len() - rest.len();
        let length = match rest.strip_prefix('\\').filter(|_| escapes).and_then(|rest| rest.chars().next()) {
            Some('x') => 4,
            Some('u') => 6,
            Some('U') => 10,
            Some(_) => 2,
            None if character == '\n' && rest.starts_with('\r') => 2,
            None => character.len_utf8(),
        };
        offsets.extend(std::iter::repeat_n(at, character.len_utf8()));
        at += length;
    }
    offsets.push(at);
    offsets
}

/// A key in the text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Key<'a> {
    report: &'a Report<'a>,
    spanned: &'a Spanned<DeString<'a>>,
}

impl Spot for Key<'_> {
    fn span(&self) -> Range<usize> {
        self.spanned.span()
    }

    fn report(&self) -> &Report<'_> {
        self.report
    }
}

impl<'a> Key<'a> {
    pub(super) fn text(self) -> &'a str {
        self.spanned.get_ref()
    }
}

/// A table in the text. It keeps in mind which keys were asked for: the others are unknown.
#[derive(Debug)]
pub(super) struct Table<'a> {
    report: &'a Report<'a>,
    entries: &'a DeTable<'a>,
    span: Range<usize>,
    known: RefCell<Vec<&'static str>>,
    missing: RefCell<Vec<&'static str>>,
}

impl Spot for Table<'_> {
    fn span(&self) -> Range<usize> {
        self.span.clone()
    }

    fn report(&self) -> &Report<'_> {
        self.report
    }
}

impl<'a> Table<'a> {
    fn new(report: &'a Report<'a>, entries: &'a DeTable<'a>, span: Range<usize>) -> Self {
        Self { report, entries, span, known: RefCell::default(), missing: RefCell::default() }
    }

    /// Every key with its value, in the order of the file, for tables whose keys the file chooses.
    pub(super) fn entries(&self) -> impl Iterator<Item = (Key<'a>, Item<'a>)> + use<'a> {
        let report = self.report;
        self.entries.iter().map(move |(key, value)| (Key { report, spanned: key }, Item { report, spanned: value }))
    }

    /// The value of a key that may be missing.
    pub(super) fn get(&self, key: &'static str) -> Option<Item<'a>> {
        self.known.borrow_mut().push(key);
        self.entries().find(|(found, _)| found.text() == key).map(|(_, item)| item)
    }

    /// The value of a key that must be there. [`Table::finish`] reports it when it is not.
    pub(super) fn require(&self, key: &'static str) -> Option<Item<'a>> {
        let item = self.get(key);
        if item.is_none() {
            self.missing.borrow_mut().push(key);
        }
        item
    }

    /// One word of a closed set, if the key is there.
    pub(super) fn word<W: Word>(&self, key: &'static str) -> Option<W> {
        self.get(key).and_then(|item| item.word(&format!("`{key}` can't be")))
    }

    /// A list of words of a closed set, if the key is there.
    pub(super) fn words<W: Word>(&self, key: &'static str) -> Option<Vec<W>> {
        self.get(key).and_then(|item| item.words(&format!("`{key}` can't have")))
    }

    /// The table under a key, if it is there.
    pub(super) fn table(&self, key: &'static str) -> Option<Table<'a>> {
        self.get(key).and_then(Item::table)
    }

    /// Whether a key that nobody asked for so far is a slip of the hand for one of these, which were asked for:
    /// [`Table::finish`] reports it.
    pub(super) fn misspells(&self, keys: &[&str]) -> bool {
        let known = self.known.borrow();
        let mut unknown = self.entries().filter(|(key, _)| !known.contains(&key.text()));
        unknown.any(|(key, _)| nearest(key.text(), known.iter().copied()).is_some_and(|meant| keys.contains(&meant)))
    }

    /// Reports every key that nobody asked for, and every one that is missing.
    pub(super) fn finish(&self) {
        let known = self.known.borrow();
        let mut missing = self.missing.take();
        for (key, _) in self.entries() {
            if !known.contains(&key.text()) {
                let _: Option<()> = key.unknown_word("key", key.text(), &known);
                // What is only misspelt is not missing besides.
                let meant = nearest(key.text(), known.iter().copied());
                missing.retain(|missing| Some(*missing) != meant);
            }
        }
        let whole_file = self.span.is_empty();
        for key in missing {
            let label = format!("expected `{key}` in {}", if whole_file { "this file" } else { "here" });
            self.complain(format!("`{key}` is missing"), label, None);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::written_offsets;

    #[test]
    fn a_part_of_a_value_is_found_in_what_is_written() {
        assert_eq!(written_offsets(r#""ab""#, "ab"), [1, 2, 3]);
        assert_eq!(written_offsets(r#""a\"b""#, "a\"b"), [1, 2, 4, 5]);
        assert_eq!(written_offsets(r#""\u00e9b""#, "\u{e9}b"), [1, 1, 7, 8]);
        assert_eq!(written_offsets(r"'a\b'", r"a\b"), [1, 2, 3, 4]);
        assert_eq!(written_offsets("\"\"\"\na\\\n  b\"\"\"", "ab"), [4, 9, 10]);
        assert_eq!(written_offsets("'''\r\na\r\nb'''", "a\nb"), [5, 6, 8, 9]);
    }

    #[test]
    fn what_is_written_may_be_broken() {
        assert_eq!(written_offsets("\"\\", "\u{e9}\u{e9}"), [1, 1]);
        assert_eq!(written_offsets("", "a"), [0, 1]);
    }
}
