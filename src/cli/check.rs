//! `check`: explores a scenario under one design or several, and prints a verdict for each invariant.

use std::path::PathBuf;

use super::exploring::Exploring;
use super::reporting::Reporting;
use super::{Failure, Terminal, writing};
use crate::reports::Asked;

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// Scenarios: paths, or names of shipped ones (`handlecheck list scenarios`)
    #[arg(required = true, value_name = "SCENARIO")]
    scenarios: Vec<String>,
    /// Designs: paths, or names; by default those that the scenario expects something of, or else `naive`, `dedup-only` and
    /// `versioned`
    #[arg(long = "design", value_name = "DESIGN")]
    designs: Vec<String>,
    #[command(flatten)]
    exploring: Exploring,
    #[command(flatten)]
    reporting: Reporting,
    /// The folder that traces are written to
    #[arg(long, value_name = "FOLDER", default_value = "traces")]
    traces: PathBuf,
}

pub(super) fn run(arguments: &Arguments, terminal: Terminal, out: &mut String) -> Result<u8, Failure> {
    let mut explorer = arguments.exploring.start(terminal)?;
    let mut runs = Vec::new();
    for scenario in &arguments.scenarios {
        let scenario = explorer.scenario(scenario)?;
        let expecting: Vec<String> = scenario.value.expect.keys().cloned().collect();
        let designs = match (arguments.designs.is_empty(), expecting.is_empty()) {
            (true, false) => expecting,
            _ => super::compare::designs(&arguments.designs, false),
        };
        for design in &designs {
            runs.push(explorer.compose(&scenario, &explorer.design(design, &scenario)?)?);
        }
    }
    explorer.warn(&runs);
    let mut reports = arguments.reporting.begin(Asked::Verdicts, &runs, terminal);
    let mut standings = Vec::new();
    for run in &runs {
        let mut report = explorer.explore(run)?;
        writing::write_traces(&mut report, &arguments.traces)?;
        standings.extend(report.invariants.iter().map(|property| Asked::Verdicts.standing(&report, property)));
        reports.explored(run, &report, out);
    }
    explorer.finish();
    reports.finish(out)?;
    Ok(explorer.exit_code(standings))
}
