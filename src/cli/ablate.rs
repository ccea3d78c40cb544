//! `ablate`: takes one thing away at a time, and says what breaks without it.

use std::path::PathBuf;

use super::exploring::Judging;
use super::{Failure, Terminal, exit, writing};
use crate::policies::{ablate, world};
use crate::reports::policies::{self, FORMATS, ablation};

#[derive(clap::Args)]
#[command(after_help = "\
Each step of the handlers that the scenario uses is left out, moved one step forward, put into a transaction of its own and \
into the one before it, one change at a time. A change that breaks nothing shows that the scenario does not need the step \
where it is; another scenario may. With --deploy, the steps of both designs are changed. With --world the design stays, and what it relies on changes. Exits with 0, whatever \
breaks; with 3 if something was cut short.")]
pub(super) struct Arguments {
    /// The scenario: a path, or the name of a shipped one
    #[arg(value_name = "SCENARIO")]
    scenario: String,
    /// Designs: paths, or names of shipped ones
    #[arg(long = "design", value_name = "DESIGN", required = true)]
    designs: Vec<String>,
    /// Change what the design relies on instead: how clients behave, how long keys are kept, what the protocol does, how much
    /// goes wrong
    #[arg(long)]
    world: bool,
    #[command(flatten)]
    judging: Judging,
    /// How to report: `human` or `json`
    #[arg(long, value_name = "FORMAT", default_value = "human", value_parser = FORMATS)]
    format: String,
    /// The folder that traces are written to
    #[arg(long, value_name = "FOLDER", default_value = "traces")]
    traces: PathBuf,
}

pub(super) fn run(arguments: &Arguments, terminal: Terminal, out: &mut String) -> Result<u8, Failure> {
    let mut explorer = arguments.judging.start(terminal)?;
    let scenario = explorer.scenario(&arguments.scenario)?;
    let mut ablations = Vec::new();
    let runs = arguments.designs.iter().map(|design| explorer.compose(&scenario, &explorer.design(design, &scenario)?));
    let runs = runs.collect::<Result<Vec<_>, _>>()?;
    super::plan::told_apart(&runs)?;
    for run in &runs {
        explorer.warn([run]);
        let ablate = if arguments.world { world::ablate } else { ablate::ablate };
        let mut ablation = explorer.evaluate(run, |options, threads, watch| ablate(run, options, threads, watch))?;
        for property in ablation.changes.iter_mut().flat_map(|change| &mut change.breaks) {
            writing::write_breaks(&mut property.breaks, &arguments.traces)?;
            property.trace = property.breaks.first().and_then(|shortest| shortest.trace.clone());
        }
        ablations.push(ablation);
    }
    explorer.finish();
    *out = match arguments.format.as_str() {
        "json" => policies::json(&ablations),
        _ => ablation::report(&ablations, terminal.colour),
    };
    let complete = ablations.iter().all(|ablation| ablation.complete);
    Ok(if complete { exit::HOLDS } else { exit::INCONCLUSIVE })
}
