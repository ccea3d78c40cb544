//! `diagram`: a picture of a trace.

use std::collections::BTreeSet;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};

use super::{Failure, Terminal, exit, explain, replay, writing};
use crate::diagrams::{FORMATS, Format};
use crate::suggest::{did_you_mean, one_of};
use crate::table::Row;
use crate::trace::Trace;

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// The trace
    trace: PathBuf,
    /// The format (`handlecheck list formats`)
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: String,
    /// Write to this file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(super) fn run(arguments: &Arguments, terminal: Terminal, out: &mut String) -> Result<u8, Failure> {
    let format = format(&arguments.format)?;
    let trace = writing::read_trace(&arguments.trace)?;
    if let Err(why) = replay::replayed(&arguments.trace, &trace)? {
        *out = why;
        return Ok(exit::VIOLATED);
    }
    writing::mention_changes(&trace, terminal);
    let (text, code) = if format.tells() {
        let (story, code) = explain::story(&trace, terminal)?;
        (format.beside(&trace, &story), code)
    } else {
        (format.text(&trace), exit::HOLDS)
    };
    draw(format, &trace, text, arguments.output.as_deref(), terminal, out)?;
    Ok(code)
}

/// The format of that name.
pub(super) fn format(name: &str) -> Result<&'static Row<Format>, Failure> {
    FORMATS.iter().find(|format| format.name == name).ok_or_else(|| {
        let help = did_you_mean(name, FORMATS.iter().map(|format| format.name));
        let known = FORMATS.iter().map(|format| format.name);
        let help = help.unwrap_or_else(|| format!("expected {}", one_of(known.collect::<Vec<_>>())));
        Failure::Usage(format!("there is no format `{name}`; {help}"))
    })
}

/// Writes a picture, and its text where it is one, to a file, or else to standard output.
pub(super) fn draw(
    format: &Row<Format>,
    trace: &Trace,
    text: Option<String>,
    output: Option<&Path>,
    terminal: Terminal,
    out: &mut String,
) -> Result<(), Failure> {
    let lacks = if terminal.quiet { BTreeSet::new() } else { format.lacks(trace) };
    if !lacks.is_empty() {
        let letters: String = lacks.into_iter().collect();
        let _ = writeln!(
            std::io::stderr(),
            "the type of `{}` has no signs for {letters}, which it draws as boxes: `svg` and `html` use the reader's own type",
            format.name
        );
    }
    match (output, text) {
        (Some(path), Some(text)) => writing::write_file(path, text)?,
        (Some(path), None) => writing::write_file(path, format.drawn(trace))?,
        // In a file there are no codes of a terminal.
        (None, Some(text)) => *out = format.in_colour(trace).filter(|_| terminal.colour).unwrap_or(text),
        (None, None) if std::io::stdout().is_terminal() => {
            let name = format.name;
            return Err(Failure::Usage(format!("{name} is no text for a terminal: name a file with `-o`")));
        }
        (None, None) => std::io::stdout().lock().write_all(&format.drawn(trace))?,
    }
    Ok(())
}
