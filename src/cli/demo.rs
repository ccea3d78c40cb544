//! `demo`: the shortest way to see the point.

use super::{Failure, Terminal, exit};
use crate::explain::explain;
use crate::input::{self, Kind};
use crate::run::{Options, Run, invariant_names};

#[derive(clap::Args)]
pub(super) struct Arguments {}

pub(super) fn run(_: &Arguments, terminal: Terminal, out: &mut String) -> Result<u8, Failure> {
    let scenario = input::resolve(Kind::Scenario, "laptop-basket", None)?;
    let scenario = input::read_scenario(&scenario, &invariant_names())?;
    let design = input::read_design(&input::resolve(Kind::Design, "naive", None)?)?;
    let protocol = input::protocol_of(&scenario, None)?;
    let run = Run::new(scenario, design, protocol, &std::collections::BTreeMap::new())?;
    let report = run.explore(&Options::default(), &mut |_| false)?;
    let lost = report.invariants.iter().find(|property| property.name == "no-lost-update");
    let trace = lost.and_then(|lost| lost.breaks.first()).and_then(|shortest| shortest.recorded.as_deref());
    let trace = trace.ok_or_else(|| Failure::Usage("the naive design loses no update any more".to_owned()))?;
    let drawn = crate::diagrams::FORMATS
        .iter()
        .find(|format| format.name == "text")
        .and_then(|format| format.in_colour(trace).filter(|_| terminal.colour).or_else(|| format.text(trace)))
        .unwrap_or_default();
    *out = format!(
        "{}\n{drawn}\n\
         This is the shortest of all interleavings of {} states. Next:\n  \
         handlecheck compare                                   which design breaks, and how cheaply\n  \
         handlecheck check laptop-basket --design versioned    a design that holds\n  \
         handlecheck list                                      what there is\n",
        explain(trace),
        report.states,
    );
    Ok(exit::HOLDS)
}
