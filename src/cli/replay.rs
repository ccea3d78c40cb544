//! `replay`: executes traces step by step on today's model.

use std::fmt::Write;
use std::path::PathBuf;

use super::{Failure, Terminal, exit, writing};
use crate::reports::plural;
use crate::trace::ReplayError;

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// The traces: of violations, or of situations that `check --show` wrote
    #[arg(required = true, value_name = "TRACE")]
    traces: Vec<PathBuf>,
}

pub(super) fn run(arguments: &Arguments, _: Terminal, out: &mut String) -> Result<u8, Failure> {
    let mut code = exit::HOLDS;
    for path in &arguments.traces {
        let trace = writing::read_trace(path)?;
        let name = path.display();
        match crate::trace::replay(&trace) {
            Ok(steps) => {
                let steps = plural(steps.len(), "step");
                let claim = match &trace.shows {
                    Some(situation) => format!("{situation} is reached"),
                    None => format!("{} is violated", trace.invariant),
                };
                writeln!(out, "{name}: {steps} replayed, {claim}").expect("writing to a string doesn't fail");
            }
            Err(ReplayError::Input(error)) => return Err(Failure::Input(*error)),
            Err(error @ (ReplayError::Bounds(_) | ReplayError::Property(_) | ReplayError::Situation(..))) => {
                return Err(Failure::Usage(format!("{name}: {error}")));
            }
            Err(error) => {
                writeln!(out, "{name}: does not replay: {error}").expect("writing to a string doesn't fail");
                code = exit::VIOLATED;
            }
        }
    }
    Ok(code)
}
