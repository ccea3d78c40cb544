//! The texts that inputs are read from.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use toml::de::{DeTable, DeValue};

use super::diagnostic::Place;

/// The three kinds of input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Who is there, what they want, what may go wrong, what must hold.
    Scenario,
    /// How the server handles each tool call, and how the client's harness behaves.
    Design,
    /// What the transport and the protocol revision do to calls, streams and ids.
    Protocol,
}

impl Kind {
    /// Every kind.
    pub const ALL: &'static [Self] = &[Self::Scenario, Self::Design, Self::Protocol];

    /// The name of the kind, also the second-last part of a file name like `two-agents.scenario.toml`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Scenario => "scenario",
            Self::Design => "design",
            Self::Protocol => "protocol",
        }
    }

    /// The name of a folder of them.
    #[must_use]
    pub const fn folder(self) -> &'static str {
        match self {
            Self::Scenario => "scenarios",
            Self::Design => "designs",
            Self::Protocol => "protocols",
        }
    }

    /// The name by which a file is looked up, expected and reported: its stem, without `.scenario`, `.design` or
    /// `.protocol` at the end.
    #[must_use]
    pub fn name_of_file(file: &str) -> &str {
        let stem = file.strip_suffix(".toml").unwrap_or(file);
        Self::ALL
            .iter()
            .find_map(|kind| stem.strip_suffix(kind.name())?.strip_suffix('.'))
            .filter(|name| !name.is_empty())
            .unwrap_or(stem)
    }
}

/// A text that an input is read from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// The name of the input: the one by which it was asked for, or that of its file ([`Kind::name_of_file`]).
    pub name: String,
    /// Where the text comes from, as errors show it: a path, or a place in the library.
    pub origin: String,
    /// The text.
    pub text: Arc<str>,
    /// The folder of its file: where the names in it are looked up. `None` for a text from elsewhere.
    pub folder: Option<PathBuf>,
    /// The path or the name by which its file was asked for. `None` for a shipped model, and for a text from elsewhere.
    pub asked: Option<String>,
}

impl Source {
    /// A text that comes from no file: from the library, or from a trace.
    #[must_use]
    pub fn new(name: impl Into<String>, origin: impl Into<String>, text: impl Into<Arc<str>>) -> Self {
        Self { name: name.into(), origin: origin.into(), text: text.into(), folder: None, asked: None }
    }

    /// A place in this text. Its ends are moved inwards onto the text and onto character boundaries.
    pub(super) fn place(&self, span: Range<usize>) -> Place {
        let boundary = |offset: usize| {
            let offset = offset.min(self.text.len());
            (0..=offset).rev().find(|&offset| self.text.is_char_boundary(offset)).unwrap_or(0)
        };
        let start = boundary(span.start);
        Place { source: self.clone(), span: start..boundary(span.end).max(start) }
    }

    /// The place of what stands under these keys (or, in a list, indices); `None` where nothing does.
    ///
    /// It is looked up in the text again, so that what an input means needs no places of its own.
    #[must_use]
    pub fn find_place(&self, path: &[&str]) -> Option<Place> {
        let (span, found) = self.find(path);
        (found == path.len()).then(|| self.place(span))
    }

    /// The place of what stands under these keys, or of the innermost of them that is there.
    pub(super) fn place_of(&self, path: &[&str]) -> Place {
        self.place(self.find(path).0)
    }

    /// Where the innermost of these keys that is there stands, and how many of them are there.
    fn find(&self, path: &[&str]) -> (Range<usize>, usize) {
        let (root, _) = DeTable::parse_recoverable(&self.text);
        let root = DeValue::Table(root.into_inner());
        let mut value = &root;
        let mut span = 0..0;
        for (number, step) in path.iter().enumerate() {
            let below = match value {
                DeValue::Table(table) => table
                    .iter()
                    .find(|(key, _)| key.get_ref() == step)
                    // A table that has a header is shown by it, everything else with its key.
                    .map(|(key, item)| {
                        (if item.get_ref().is_table() { item.span() } else { key.span().start..item.span().end }, item)
                    }),
                DeValue::Array(list) => {
                    step.parse().ok().and_then(|index: usize| list.get(index)).map(|item| (item.span(), item))
                }
                _ => None,
            };
            let Some((found, item)) = below else { return (span, number) };
            span = found;
            value = item.get_ref();
        }
        (span, path.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_named_by_its_stem() {
        assert_eq!(Kind::name_of_file("two-agents.scenario.toml"), "two-agents");
        assert_eq!(Kind::name_of_file("03-versioned.toml"), "03-versioned");
        assert_eq!(Kind::name_of_file("mcp-2026-07-28.protocol.toml"), "mcp-2026-07-28");
        assert_eq!(Kind::name_of_file("scenario.toml"), "scenario");
        assert_eq!(Kind::name_of_file(".scenario.toml"), ".scenario");
    }

    #[test]
    fn a_place_is_found_by_its_keys() {
        let source = Source::new("x", "x.toml", "[faults]\nexpire-key = 1\n[a]\nwork = [{ b = 1 }, { c = 2 }]\n");
        let text = |path: &[&str]| source.text[source.place_of(path).span].to_owned();
        assert_eq!(text(&["faults", "expire-key"]), "expire-key = 1");
        assert_eq!(text(&["a"]), "[a]");
        assert_eq!(text(&["a", "work", "1"]), "{ c = 2 }");
        assert_eq!(text(&["a", "work", "7"]), "work = [{ b = 1 }, { c = 2 }]");
        assert_eq!(text(&["nowhere"]), "");
    }

    #[test]
    fn a_place_lies_in_its_text() {
        let source = Source::new("x", "x.toml", "é");
        assert_eq!(source.place(1..9).span, 0..2);
    }
}
