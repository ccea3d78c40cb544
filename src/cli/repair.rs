//! `repair`: searches the smallest changes of a design that make everything hold.

use std::path::PathBuf;

use super::cache::Caching;
use super::exploring::Exploring;
use super::{Failure, Terminal, exit, writing};
use crate::policies::repair;
use crate::reports::policies::{self, FORMATS, repairs};

#[derive(clap::Args)]
#[command(after_help = "\
One change is tried first: steps are added, left out, put in each other's place and moved one earlier, transactions split and \
joined, settings of one word and reactions changed, as far as that leaves what a call is there to do, answers no sooner, and gives \
back what it takes. Where none is enough, those that help are combined, together with the well-known remedies (keys, versions, an owner check), and where that is not enough either, everything is tried on top of those that help most. Whatever is not needed is taken back: \
no change of a repair can be left out, but for a reaction with which clients go on after a refusal that is new. What could end with ok must still be able to; something becomes vacuous only where nothing \
else repairs, and never all that was violated. Repairs with which clients give up sooner come last. \
With --deploy NEW, or OLD..NEW as the design, NEW is changed, and how it is deployed ([deploy] of the scenario): what runs \
already can't be. Each repair is proved by exploring everything in the scenario's \
bounds. A variant is given up after --max-states; by default after 20 times as many as the design has, and at least 20,000. Exits with 0 if something was found or nothing is violated, with \
1 if nothing was found, and with 3 if the search was cut short before.")]
pub(super) struct Arguments {
    /// The scenario: a path, or the name of a shipped one
    #[arg(value_name = "SCENARIO")]
    scenario: String,
    /// The design: a path, or the name of a shipped one
    #[arg(long, value_name = "DESIGN")]
    design: String,
    #[command(flatten)]
    exploring: Exploring,
    #[command(flatten)]
    caching: Caching,
    /// Show so many repairs, the smallest ones
    #[arg(long, value_name = "N", default_value_t = 3)]
    most: usize,
    /// Write the design with the first repair to this file, without what it said of itself and expected when it was broken;
    /// while something is deployed, the one that is
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// How to report: `human` or `json`
    #[arg(long, value_name = "FORMAT", default_value = "human", value_parser = FORMATS)]
    format: String,
}

pub(super) fn run(arguments: &Arguments, terminal: Terminal, out: &mut String) -> Result<u8, Failure> {
    let mut explorer = arguments.exploring.start(terminal)?;
    explorer.remember(&arguments.caching)?;
    let scenario = explorer.scenario(&arguments.scenario)?;
    let run = explorer.compose(&scenario, &explorer.design(&arguments.design, &scenario)?)?;
    explorer.warn([&run]);
    let most = arguments.most.max(1);
    let found =
        explorer.evaluate(&run, |options, threads, watch| repair::repair(&run, options, most, threads, watch))?;
    explorer.finish();
    if let (Some(file), Some(first)) = (&arguments.output, found.repairs.first()) {
        writing::write_file(file, &first.text)?;
    }
    let done = !found.repairs.is_empty() || found.complete && found.violated.is_empty();
    let code = match (done, found.complete) {
        (true, _) => exit::HOLDS,
        (false, true) => exit::VIOLATED,
        (false, false) => exit::INCONCLUSIVE,
    };
    *out = match arguments.format.as_str() {
        "json" => policies::json(&[found]),
        _ => repairs::report(&[found]),
    };
    Ok(code)
}
