//! `explain`: a trace as prose.

use std::path::PathBuf;

use super::{Failure, Terminal, exit, writing};

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// The trace
    trace: PathBuf,
}

pub(super) fn run(arguments: &Arguments, _: Terminal, out: &mut String) -> Result<u8, Failure> {
    *out = crate::explain::explain(&writing::read_trace(&arguments.trace)?);
    Ok(exit::HOLDS)
}
