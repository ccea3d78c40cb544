//! What is wrong with one text, as it is found, and the ways to say it.

use std::cell::{Cell, RefCell};
use std::ops::Range;

use crate::suggest::{did_you_mean, one_of};

use super::Source;
use super::diagnostic::{Diagnostic, Severity};

/// Of a file with more errors than this, the first ones are reported.
pub(super) const DIAGNOSTICS: usize = 100;

/// Lists of at most so many names are shown next to the wrong one; longer ones move to the help.
const SHORT_LIST: usize = 8;

/// Whether a finding can be trusted when other lines of the file can't be parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reason {
    /// It rests on its own place alone: an unknown word, a wrong type.
    InPlace,
    /// It rests on other places too: something is missing, a name is nowhere declared.
    Elsewhere,
}

/// What has been found in one text so far.
#[derive(Debug)]
pub(super) struct Report<'a> {
    source: &'a Source,
    found: RefCell<Vec<(Diagnostic, Reason)>>,
    /// How many were found after the first [`DIAGNOSTICS`].
    hidden: Cell<usize>,
}

impl<'a> Report<'a> {
    pub(super) fn new(source: &'a Source) -> Self {
        Self { source, found: RefCell::default(), hidden: Cell::new(0) }
    }

    /// What was found, and how many findings besides.
    pub(super) fn into_findings(self) -> (Vec<(Diagnostic, Reason)>, usize) {
        (self.found.into_inner(), self.hidden.get())
    }

    /// The text that is read.
    pub(super) fn text(&self) -> &'a str {
        &self.source.text
    }

    fn push(&self, reason: Reason, span: Range<usize>, message: String, label: String, help: Option<String>) {
        if self.found.borrow().len() == DIAGNOSTICS {
            self.hidden.set(self.hidden.get() + 1);
            return;
        }
        let diagnostic =
            Diagnostic { severity: Severity::Error, message, label, help, place: Some(self.source.place(span)) };
        self.found.borrow_mut().push((diagnostic, reason));
    }
}

/// Something in the text that can be pointed at.
pub(super) trait Spot {
    /// Where it is.
    fn span(&self) -> Range<usize>;

    /// Where it is reported.
    fn report(&self) -> &Report<'_>;

    /// Reports that this is wrong.
    fn complain(&self, message: impl Into<String>, label: impl Into<String>, help: Option<String>) {
        self.report().push(Reason::Elsewhere, self.span(), message.into(), label.into(), help);
    }

    /// As [`Spot::complain`], for what is wrong whatever the rest of the text says.
    fn complain_in_place(&self, message: impl Into<String>, label: impl Into<String>, help: Option<String>) {
        self.report().push(Reason::InPlace, self.span(), message.into(), label.into(), help);
    }

    /// As [`Spot::complain`]. Answers `None`, for the reader to pass on.
    fn refuse<T>(&self, message: impl Into<String>, label: impl Into<String>, help: Option<String>) -> Option<T> {
        self.complain(message, label, help);
        None
    }

    /// As [`Spot::complain_in_place`]. Answers `None`, for the reader to pass on.
    fn refuse_in_place<T>(
        &self,
        message: impl Into<String>,
        label: impl Into<String>,
        help: Option<String>,
    ) -> Option<T> {
        self.complain_in_place(message, label, help);
        None
    }

    /// Reports that `name`, which stands here, is none of the `known` names of a `what`.
    fn unknown<T>(&self, what: &str, name: &str, known: &[&str]) -> Option<T> {
        let (label, help) = expected(name, known);
        self.refuse(format!("unknown {what} `{name}`"), label, help)
    }

    /// Whether `text`, which stands here, can be the name of something. Reports it when it can't.
    ///
    /// Names stand in expressions, diagrams and file names, so they are made of letters, digits, `-` and `_` only.
    fn is_name(&self, text: &str, what: &str) -> bool {
        const LENGTH: usize = 64;
        let made_well = text.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
        if made_well && text.starts_with(|c: char| c.is_ascii_alphabetic()) && text.len() <= LENGTH {
            return true;
        }
        let help = format!("a name is a letter, then letters, digits, `-` or `_`, and has at most {LENGTH} of them");
        self.complain_in_place(format!("this can't be the name of {what}"), "expected a name", Some(help));
        false
    }

    /// As [`Spot::unknown`], where the known names are a closed set.
    fn unknown_word<T>(&self, what: &str, name: &str, known: &[&str]) -> Option<T> {
        self.not_among(format!("unknown {what} `{name}`"), name, known)
    }

    /// Reports, as `message`, that `word`, which stands here, is none of a closed set.
    fn not_among<T>(&self, message: String, word: &str, known: &[&str]) -> Option<T> {
        let (label, help) = expected(word, known);
        self.refuse_in_place(message, label, help)
    }
}

/// Label and help for a word that is none of the `known` ones.
pub(super) fn expected(word: &str, known: &[&str]) -> (String, Option<String>) {
    let question = did_you_mean(word, known.iter().copied());
    if known.len() <= SHORT_LIST {
        return (format!("expected {}", one_of(known.iter().copied())), question);
    }
    let list = format!("expected one of {}", known.join(", "));
    let help = question.map_or_else(|| list.clone(), |question| format!("{question} {list}"));
    (String::new(), Some(help))
}

/// A part of a string.
#[derive(Clone, Debug)]
pub(super) struct Part<'a> {
    report: &'a Report<'a>,
    span: Range<usize>,
}

impl<'a> Part<'a> {
    pub(super) const fn new(report: &'a Report<'a>, span: Range<usize>) -> Self {
        Self { report, span }
    }
}

impl Spot for Part<'_> {
    fn span(&self) -> Range<usize> {
        self.span.clone()
    }

    fn report(&self) -> &Report<'_> {
        self.report
    }
}
