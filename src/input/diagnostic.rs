//! What is wrong with an input, and where: one type for everything that is reported about a user's files.

use std::fmt;
use std::ops::Range;

use super::Source;
use super::render::{Look, render};

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The input can't be used.
    Error,
    /// The input can be used, but hardly means what its author thinks.
    Warning,
}

/// A place in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The text.
    pub source: Source,
    /// Bytes of the text, on character boundaries.
    pub span: Range<usize>,
}

impl Place {
    /// The line of the place's start, counted from 1.
    #[must_use]
    pub fn line(&self) -> usize {
        self.source.text[..self.span.start].matches('\n').count() + 1
    }
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong, in a clause.
    pub message: String,
    /// What stands next to the underlined words: mostly what was expected there. May be empty.
    pub label: String,
    /// What to do about it, for example the nearest valid name.
    pub help: Option<String>,
    /// Where; `None` for what is wrong with a file as a whole.
    pub place: Option<Place>,
}

/// Everything that is wrong with an input: one error or more, and the warnings that came with them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputError {
    /// In the order of the files and of the places in them.
    pub diagnostics: Vec<Diagnostic>,
}

impl InputError {
    /// One error about a file as a whole.
    pub(crate) fn whole(message: impl Into<String>, help: Option<String>) -> Self {
        let diagnostic =
            Diagnostic { severity: Severity::Error, message: message.into(), label: String::new(), help, place: None };
        Self { diagnostics: vec![diagnostic] }
    }

    /// What is wrong with a text that is in no file, an argument of a command say: places in it, messages and helps.
    #[must_use]
    pub fn of_text(
        origin: &str,
        text: &str,
        problems: impl IntoIterator<Item = (Range<usize>, String, Option<String>)>,
    ) -> Self {
        let source = Source::new(origin, origin, text);
        let diagnostic = |(span, message, help)| Diagnostic {
            severity: Severity::Error,
            message,
            label: String::new(),
            help,
            place: Some(source.place(span)),
        };
        Self { diagnostics: problems.into_iter().map(diagnostic).collect() }
    }

    /// All of it as text.
    #[must_use]
    pub fn render(&self, look: Look) -> String {
        render(&self.diagnostics, look)
    }
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.render(Look::Plain).trim_end())
    }
}

impl std::error::Error for InputError {}
