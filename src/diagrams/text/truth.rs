//! How the drawing writes what is true, right of the store.

use crate::diagrams::sequence::{Sequence, StoreHead};
use crate::diagrams::words;
use crate::trace::Content;

/// At most so many fields have columns.
const COLUMNS: usize = 3;

/// Columns are at least so wide in sum, for the head and for notes below.
const LEAST: usize = 23;

/// The widest column, and the widest truth in words.
const WIDEST: (usize, usize) = (16, 36);

/// The column where the truth starts, and how it is written.
#[derive(Clone, Debug)]
pub struct Truth {
    /// Its first column.
    pub column: usize,
    /// How many columns it has.
    pub width: usize,
    /// The fields that have columns, and how wide these are; none: the truth is written in words.
    fields: Option<Vec<(usize, usize)>>,
    /// How wide the column of the version is.
    version: usize,
}

impl Truth {
    /// A column for each field; possible where there is one store with few fields and short values.
    #[must_use]
    pub fn columns(sequence: &Sequence) -> Option<Self> {
        let [store] = &sequence.lanes.stores[..] else { return None };
        if sequence.names_stores() {
            return None;
        }
        let commits = || sequence.rows.iter().flat_map(|row| &row.commits);
        let contents: Vec<&Content> = store.initial.iter().chain(commits().map(|commit| &commit.content)).collect();
        let wide = |field: usize| {
            let values = contents.iter().filter_map(|content| content.values.get(field));
            let values = values.map(|value| words::width(&words::line(value)) + 1);
            values.chain([words::width(&words::line(&store.fields[field]))]).max().unwrap_or(0) + 2
        };
        let fields: Vec<(usize, usize)> = (0..store.fields.len()).map(|field| (field, wide(field))).collect();
        let version = contents.iter().filter_map(|content| content.version);
        let version = version.map(|version| words::version(version).len()).max().unwrap_or(0) + 2;
        let fits = !fields.is_empty() && fields.len() <= COLUMNS && fields.iter().all(|(_, width)| *width <= WIDEST.0);
        let width = version + fields.iter().map(|(_, width)| width).sum::<usize>();
        let width = width.max(LEAST);
        fits.then_some(Self { column: 0, width, fields: Some(fields), version })
    }

    /// The truth in words: `v8 *32 / 512`.
    #[must_use]
    pub fn words(sequence: &Sequence) -> Self {
        let mut truth = Self { column: 0, width: 0, fields: None, version: 0 };
        for (index, store) in sequence.lanes.stores.iter().enumerate() {
            let commits = sequence.rows.iter().flat_map(|row| &row.commits).filter(|commit| commit.store == index);
            for content in store.initial.iter().chain(commits.map(|commit| &commit.content)) {
                let line = truth.line(sequence, index, content, &vec![true; content.values.len()]);
                truth.width = truth.width.max(words::width(&line));
            }
        }
        truth.width = truth.width.clamp(LEAST, WIDEST.1);
        truth
    }

    /// How wide notes below the truth may be.
    #[must_use]
    pub const fn room(&self) -> usize {
        self.width
    }

    /// The names of the fields.
    #[must_use]
    pub fn head(&self, sequence: &Sequence) -> String {
        match (&self.fields, &sequence.lanes.stores[..]) {
            (Some(fields), [store]) => {
                let mut head = " ".repeat(self.version);
                for (field, width) in fields {
                    // One column for the star.
                    head.push_str(&pad(&format!(" {}", words::line(&store.fields[*field])), *width));
                }
                head
            }
            (None, [store]) => words::shorten(&words::line(&store.fields.join(" / ")), self.width),
            _ => String::new(),
        }
    }

    /// The truth about a store, in lines that fit.
    #[must_use]
    pub fn lines(&self, sequence: &Sequence, store: usize, content: &Content, changed: &[bool]) -> Vec<String> {
        let line = self.line(sequence, store, content, changed);
        if self.fields.is_some() { vec![line] } else { words::wrap(&line, self.width) }
    }

    fn line(&self, sequence: &Sequence, store: usize, content: &Content, changed: &[bool]) -> String {
        let marked = |index: usize, value: &str| {
            let star = if changed.get(index) == Some(&true) { "*" } else { "" };
            format!("{star}{}", words::line(value))
        };
        let number = content.version.map_or_else(String::new, words::version);
        if let Some(fields) = &self.fields {
            let mut line = pad(&number, self.version);
            for (field, width) in fields {
                let value = content.values.get(*field).map_or_else(String::new, |value| marked(*field, value));
                let value = if value.starts_with('*') { value } else { format!(" {value}") };
                line.push_str(&pad(&words::shorten(&value, width - 1), *width));
            }
            return line;
        }
        let head: Option<&StoreHead> = sequence.lanes.stores.get(store).filter(|_| sequence.names_stores());
        let values: Vec<String> =
            content.values.iter().enumerate().map(|(index, value)| marked(index, value)).collect();
        let values = values.join(" / ");
        let handle = head.map_or_else(String::new, |_| words::line(&content.handle));
        let parts = [handle, number, values];
        parts.iter().filter(|part| !part.is_empty()).cloned().collect::<Vec<_>>().join(" ")
    }
}

fn pad(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(words::width(text))))
}
