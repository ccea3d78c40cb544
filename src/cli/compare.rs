//! `compare`: the matrix of designs and invariants, over several scenarios.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;

use super::exploring::Judging;
use super::reporting::Reporting;
use super::{Failure, Terminal, writing};
use crate::input::{Kind, library};
use crate::reports::Asked;

/// The scenarios that are compared when none is named.
pub(super) const BASIC_SCENARIOS: &[&str] = &["laptop-basket", "import-rows", "foreign-handle"];

/// The designs that are compared when none is named.
const BASIC_DESIGNS: &[&str] = &["naive", "dedup-only", "versioned"];

#[derive(clap::Args)]
#[command(
    after_help = "Exits with 0 when every verdict is the one that the scenario or the design expects, and where \
nothing is expected, when nothing is violated."
)]
pub(super) struct Arguments {
    /// Scenarios; by default the three basic ones: `laptop-basket`, `import-rows`, `foreign-handle`
    #[arg(value_name = "SCENARIO")]
    scenarios: Vec<String>,
    /// Designs; by default `naive`, `dedup-only` and `versioned`
    #[arg(long = "design", value_name = "DESIGN")]
    designs: Vec<String>,
    /// Compare all shipped designs, but those that can't serve a scenario
    #[arg(long, conflicts_with = "designs")]
    all: bool,
    #[command(flatten)]
    judging: Judging,
    #[command(flatten)]
    reporting: Reporting,
    /// So many random runs of each, for what is to be expected; 0: none
    #[arg(long, value_name = "N", default_value_t = 1000)]
    runs: u64,
    /// Write traces, to this folder
    #[arg(long, value_name = "FOLDER")]
    traces: Option<PathBuf>,
}

/// The designs that were asked for, or the basic ones.
pub(super) fn designs(asked: &[String], all: bool) -> Vec<String> {
    if all {
        library::names(Kind::Design).into_iter().map(str::to_owned).collect()
    } else if asked.is_empty() {
        BASIC_DESIGNS.iter().map(|name| (*name).to_owned()).collect()
    } else {
        asked.to_vec()
    }
}

pub(super) fn run(arguments: &Arguments, terminal: Terminal, out: &mut String) -> Result<u8, Failure> {
    let mut explorer = arguments.judging.start(terminal)?;
    let basic: Vec<String> = BASIC_SCENARIOS.iter().map(|name| (*name).to_owned()).collect();
    let scenarios = if arguments.scenarios.is_empty() { &basic } else { &arguments.scenarios };
    let designs = designs(&arguments.designs, arguments.all);
    let mut runs = Vec::new();
    let mut unfit: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for design in &designs {
        for scenario in scenarios {
            let scenario = explorer.scenario(scenario)?;
            match explorer.compose(&scenario, &explorer.design(design, &scenario)?) {
                Ok(run) => runs.push(run),
                Err(Failure::Input(_)) if arguments.all => {
                    unfit.entry(scenario.value.name.clone()).or_default().push(design.clone());
                }
                Err(failure) => return Err(failure),
            }
        }
    }
    for (scenario, designs) in unfit.iter().filter(|_| !terminal.quiet) {
        let designs = designs.join(", ");
        let _ = writeln!(std::io::stderr(), "left out, since they can't serve the scenario `{scenario}`: {designs}");
    }
    super::plan::told_apart(&runs)?;
    explorer.warn(&runs);
    let mut reports = arguments.reporting.begin(Asked::Comparison, &runs, terminal);
    let mut standings = Vec::new();
    for run in &runs {
        let mut report = explorer.explore(run)?;
        report.costs = Some(explorer.costs(run, arguments.runs));
        if let Some(folder) = &arguments.traces {
            writing::write_traces(&mut report, folder)?;
        }
        standings.extend(report.invariants.iter().map(|property| Asked::Comparison.standing(&report, property)));
        reports.explored(run, &report, out);
    }
    explorer.finish();
    reports.finish(out)?;
    Ok(explorer.exit_code(standings))
}
