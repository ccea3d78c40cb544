//! Pictures of a trace.
//!
//! Each format is one file of this folder; its page is the comment at the file's top. A format sees the [`Sequence`] of
//! lanes and rows, which is made from the trace alone: no picture knows the model, so none can show what the trace does
//! not hold. The same trace gives the same bytes on every machine.

use std::collections::BTreeSet;

use crate::table::table;
use crate::trace::Trace;

mod canvas;
pub mod causes;
pub mod sequence;
pub mod story;
pub mod words;

pub use sequence::Sequence;
pub use story::Story;
pub use svg::{SHEET, escape};

/// One format of pictures.
#[derive(Debug)]
pub struct Format {
    /// What the name of a file in this format ends with, without the dot.
    pub extension: &'static str,
    /// Draws a trace.
    pub draw: Draw,
}

/// How a format draws. A trace file is a user's, so nothing in it may cause a panic.
#[derive(Clone, Copy, Debug)]
pub enum Draw {
    /// As text, which ends with a newline.
    Text(fn(&Trace) -> String),
    /// As text for a terminal too, in colour or without.
    Terminal(fn(&Trace, bool) -> String),
    /// As text with the story beside it.
    Page(fn(&Trace, &Story) -> String),
    /// As bytes that are no text, in a type that is built in.
    Bytes {
        /// Draws it.
        draw: fn(&Trace) -> Vec<u8>,
        /// The characters that the type has no sign for.
        lacks: fn(&Trace) -> BTreeSet<char>,
    },
}

impl Format {
    /// The picture of a trace, as its file holds it.
    #[must_use]
    pub fn drawn(&self, trace: &Trace) -> Vec<u8> {
        match self.draw {
            Draw::Bytes { draw, .. } => draw(trace),
            Draw::Text(_) | Draw::Terminal(_) | Draw::Page(_) => self.text(trace).unwrap_or_default().into_bytes(),
        }
    }

    /// The characters that the picture of a trace has no sign for, and shows as boxes.
    #[must_use]
    pub fn lacks(&self, trace: &Trace) -> BTreeSet<char> {
        match self.draw {
            Draw::Bytes { lacks, .. } => lacks(trace),
            Draw::Text(_) | Draw::Terminal(_) | Draw::Page(_) => BTreeSet::new(),
        }
    }

    /// Whether the story stands beside the picture.
    #[must_use]
    pub const fn tells(&self) -> bool {
        matches!(self.draw, Draw::Page(_))
    }

    /// The picture of a trace with this story beside it, where it has room for one.
    #[must_use]
    pub fn beside(&self, trace: &Trace, story: &Story) -> Option<String> {
        match self.draw {
            Draw::Page(draw) => Some(draw(trace, story)),
            _ => self.text(trace),
        }
    }

    /// The picture of a trace, where it is text.
    #[must_use]
    pub fn text(&self, trace: &Trace) -> Option<String> {
        match self.draw {
            Draw::Text(draw) => Some(draw(trace)),
            Draw::Terminal(draw) => Some(draw(trace, false)),
            Draw::Page(draw) => Some(draw(trace, &Story::of(trace))),
            Draw::Bytes { .. } => None,
        }
    }

    /// The picture of a trace on a terminal that shows colours, where there is one.
    #[must_use]
    pub fn in_colour(&self, trace: &Trace) -> Option<String> {
        match self.draw {
            Draw::Terminal(draw) => Some(draw(trace, true)),
            _ => None,
        }
    }
}

table! {
    /// Every format, the one for terminals first.
    FORMATS: Format in FORMAT {
        text,
        mermaid,
        plantuml,
        svg,
        #[cfg(feature = "png")]
        png,
        html,
        dot,
        itf,
    }
}
