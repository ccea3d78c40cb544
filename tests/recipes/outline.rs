//! One line a step.

use super::{Draw, Format};
use crate::trace::Trace;

pub static FORMAT: Format = Format { extension: "outline", draw: Draw::Text(draw) };

fn draw(trace: &Trace) -> String {
    let lines = (1..).zip(&trace.steps).map(|(number, step)| format!("{number} {}\n", step.does.action));
    lines.collect()
}
