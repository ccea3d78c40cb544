//! `completions`: for the shell.

use clap::CommandFactory;

use super::{Failure, Terminal, exit};

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// The shell
    shell: clap_complete::Shell,
}

pub(super) fn run(arguments: &Arguments, _: Terminal, out: &mut String) -> Result<u8, Failure> {
    let mut bytes = Vec::new();
    clap_complete::generate(arguments.shell, &mut super::Arguments::command(), "handlecheck", &mut bytes);
    *out = String::from_utf8(bytes).expect("completions are made of names");
    Ok(exit::HOLDS)
}
