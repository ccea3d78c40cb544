//! `test`: every scenario and design against what they expect.

use std::path::PathBuf;

use super::exploring::{Explorer, Judging};
use super::models::Models;
use super::reporting::Reporting;
use super::{Failure, Terminal, writing};
use crate::reports::Asked;
use crate::run::Run;

#[derive(clap::Args)]
#[command(
    after_help = "Without a path, tests the shipped models. A folder is searched with the folders in it; each run \
that a scenario or a design in it expects something of is made."
)]
pub(super) struct Arguments {
    /// Files or folders of scenarios and designs
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    judging: Judging,
    #[command(flatten)]
    reporting: Reporting,
    /// Write traces, to this folder
    #[arg(long, value_name = "FOLDER")]
    traces: Option<PathBuf>,
}

pub(super) fn run(arguments: &Arguments, terminal: Terminal, out: &mut String) -> Result<u8, Failure> {
    let mut explorer = arguments.judging.start(terminal)?;
    explorer.deploys_nothing("what is expected of a deploy stands under `OLD..NEW` in `[expect]`")?;
    let runs = runs(&arguments.paths, &explorer)?;
    if runs.is_empty() {
        return Err(Failure::Usage("nothing in these files expects anything".to_owned()));
    }
    if arguments.traces.is_some() {
        super::plan::told_apart(&runs)?;
    }
    explorer.warn(&runs);
    let mut reports = arguments.reporting.begin(Asked::Expectations, &runs, terminal);
    let mut standings = Vec::new();
    for run in &runs {
        let mut report = explorer.explore(run)?;
        if let Some(folder) = &arguments.traces {
            writing::write_traces(&mut report, folder)?;
        }
        standings.extend(report.invariants.iter().map(|property| Asked::Expectations.standing(&report, property)));
        reports.explored(run, &report, out);
    }
    explorer.finish();
    reports.finish(out)?;
    Ok(explorer.exit_code(standings))
}

/// Every run that something expects, each once.
fn runs(paths: &[PathBuf], explorer: &Explorer) -> Result<Vec<Run>, Failure> {
    let models = if paths.is_empty() { Models::shipped()? } else { Models::read(paths)? };
    explorer.mention(&models.others);
    models.expected()?.iter().map(|(scenario, design)| explorer.compose(scenario, design)).collect()
}
