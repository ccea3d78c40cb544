//! Pictures of a trace.
//!
//! Each format is one file of this folder; its page is the comment at the file's top. A format sees the [`Sequence`] of
//! lanes and rows, which is made from the trace alone: no picture knows the model, so none can show what the trace does
//! not hold. The same trace gives the same bytes on every machine.

use crate::table::table;
use crate::trace::Trace;

mod canvas;
pub mod sequence;
pub mod words;

pub use sequence::Sequence;

/// One format of pictures.
#[derive(Debug)]
pub struct Format {
    /// What the name of a file in this format ends with, without the dot.
    pub extension: &'static str,
    /// Draws a trace; the picture ends with a newline. A trace file is a user's, so nothing in it may cause a panic.
    pub draw: fn(&Trace) -> String,
}

table! {
    /// Every format, the one for terminals first.
    FORMATS: Format in FORMAT {
        text,
        mermaid,
        svg,
    }
}
