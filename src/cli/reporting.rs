//! In which formats the commands that explore report, and where to.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::builder::PossibleValuesParser;

use super::{Failure, Terminal, writing};
use crate::reports::{Asked, Changes, FORMATS, Format, People, Reporter};
use crate::run::{Report, Run};
use crate::suggest::did_you_mean;

/// Arguments of every command that reports on runs.
#[derive(clap::Args)]
pub(super) struct Reporting {
    /// How to report (`handlecheck list reports`)
    #[arg(long, value_name = "FORMAT", default_value = "human", value_parser = PossibleValuesParser::new(names()))]
    format: String,
    /// Say how often each action, outcome of a step and reaction of a client happened, and which never did
    #[arg(long)]
    coverage: bool,
    /// Write a further report to a file, in this format; may be given several times
    #[arg(long = "report", value_name = "FORMAT=FILE", value_parser = further)]
    further: Vec<(&'static str, PathBuf)>,
}

/// The names of the formats.
fn names() -> impl Iterator<Item = &'static str> {
    FORMATS.iter().map(|format| format.name)
}

fn further(text: &str) -> Result<(&'static str, PathBuf), String> {
    let (format, path) = text.split_once('=').filter(|(_, path)| !path.is_empty()).ok_or("expected FORMAT=FILE")?;
    let known = names().find(|name| *name == format).ok_or_else(|| {
        let help = did_you_mean(format, names());
        help.unwrap_or_else(|| format!("expected one of {}", names().collect::<Vec<_>>().join(", ")))
    })?;
    // Before anything is explored for it.
    let folder = Path::new(path).parent().filter(|folder| !folder.as_os_str().is_empty());
    match folder.filter(|folder| !folder.is_dir()) {
        Some(folder) => Err(format!("there is no folder {}", folder.display())),
        None => Ok((known, path.into())),
    }
}

/// The reports of one command, while it runs.
pub(super) struct Reports<'r> {
    first: Box<dyn Reporter<'r> + 'r>,
    further: Vec<(PathBuf, Box<dyn Reporter<'r> + 'r>, String)>,
}

impl Reporting {
    /// Whether what is printed is a text for people.
    pub(super) fn is_for_people(&self) -> bool {
        self.format == "human"
    }

    /// Refuses the formats that have no place for situations, before anything is explored.
    pub(super) fn tells_of_situations(&self) -> Result<(), Failure> {
        let asked = [&*self.format].into_iter().chain(self.further.iter().map(|(name, _)| *name));
        match asked.into_iter().find(|name| matches!(*name, "sarif" | "svg")) {
            None => Ok(()),
            Some(name) => {
                let others = names().filter(|name| !matches!(*name, "sarif" | "svg"));
                let others = crate::suggest::one_of(others.collect::<Vec<_>>());
                Err(Failure::Usage(format!("--show: `{name}` has no place for situations; expected {others}")))
            }
        }
    }

    /// Begins the reports.
    pub(super) fn begin<'r>(&self, asked: Asked, runs: &'r [Run], terminal: Terminal) -> Reports<'r> {
        let begin =
            |name: &str, colour: bool| (format(name).begin)(asked, runs, People { colour, counts: self.coverage });
        let further =
            self.further.iter().map(|(name, path)| (path.clone(), begin(name, false), String::new())).collect();
        Reports { first: begin(&self.format, terminal.colour), further }
    }
}

impl Reporting {
    /// Reports what changed between two locks.
    pub(super) fn changes(&self, changes: &Changes<'_>, terminal: Terminal, out: &mut String) -> Result<(), Failure> {
        *out = (format(&self.format).changes)(changes, terminal.colour);
        for (name, path) in &self.further {
            writing::write_file(path, (format(name).changes)(changes, false))?;
        }
        Ok(())
    }
}

/// The format of that name.
fn format(name: &str) -> &'static Format {
    FORMATS.iter().find(|format| format.name == name).expect("only formats are taken")
}

impl<'r> Reports<'r> {
    /// A run was explored.
    pub(super) fn explored(&mut self, run: &'r Run, report: &Report, out: &mut String) {
        out.push_str(&self.first.explored(run, report));
        for (_, reporter, text) in &mut self.further {
            text.push_str(&reporter.explored(run, report));
        }
    }

    /// That was the last one: writes the files.
    pub(super) fn finish(mut self, out: &mut String) -> Result<(), Failure> {
        out.push_str(&self.first.finished());
        for (path, reporter, text) in &mut self.further {
            text.write_str(&reporter.finished()).expect("writing to a string doesn't fail");
            writing::write_file(path, text)?;
        }
        Ok(())
    }
}
