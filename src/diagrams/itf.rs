//! The trace in the Informal Trace Format, which viewers of other checkers read.
//!
//! A state for each step, with every fact that the trace speaks of as a map, and what led there. The file holds the whole
//! trace: `replay`, `explain` and `diagram` read it as they read a trace.

use super::{Draw, Format};
use crate::trace::Trace;

pub static FORMAT: Format = Format { extension: "itf.json", draw: Draw::Text(Trace::to_itf) };
