//! `replay`: executes traces step by step on today's model.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use super::{Failure, Terminal, exit, writing};
use crate::reports::plural;
use crate::trace::{ReplayError, Trace};

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
        match replayed(path, &trace)? {
            Ok(steps) => {
                let steps = plural(steps, "step");
                let claim = match &trace.shows {
                    Some(situation) => format!("{situation} is reached"),
                    None => format!("{} is violated", trace.invariant),
                };
                writeln!(out, "{name}: {steps} replayed, {claim}").expect("writing to a string doesn't fail");
            }
            Err(why) => {
                out.push_str(&why);
                code = exit::VIOLATED;
            }
        }
    }
    Ok(code)
}

/// How many steps a trace has, if it replays; or else the line that says why it does not. What does not replay is neither told nor
/// drawn: it never happened.
pub(super) fn replayed(path: &Path, trace: &Trace) -> Result<Result<usize, String>, Failure> {
    let name = path.display();
    match crate::trace::replay(trace) {
        Ok(steps) => Ok(Ok(steps.len())),
        Err(ReplayError::Input(error)) => Err(Failure::Input(*error)),
        Err(error @ (ReplayError::Bounds(_) | ReplayError::Property(_) | ReplayError::Situation(..))) => {
            Err(Failure::Usage(format!("{name}: {error}")))
        }
        Err(error) => Ok(Err(format!("{name}: does not replay: {error}\n"))),
    }
}
