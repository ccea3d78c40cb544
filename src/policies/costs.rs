//! What a design costs: exact bounds of every run, and what is to be expected of random ones.

use super::estimate::Estimate;
use super::simulate::{SimulationOptions, simulate};
use crate::engine::Progress;
use crate::run::{Costs, Expected, Options, Run};
use crate::step::Measure;

/// The costs of a finished intent; expected values from so many random runs, 0 for none.
pub fn costs(run: &Run, options: &Options, runs: u64, watch: &mut dyn FnMut(Progress) -> bool) -> Costs {
    let mut costs = run.costs(options, watch);
    if runs == 0 {
        return costs;
    }
    let random = SimulationOptions { runs, threads: options.threads, ..SimulationOptions::default() };
    let found = simulate(run, &random, &|_| false).costs;
    costs.runs = runs;
    for cost in &mut costs.measures {
        let estimate = match cost.name {
            Measure::Calls => found.calls,
            Measure::RoundTrips => found.round_trips,
            Measure::Conflicts => found.conflicts,
            Measure::Repeats => found.repeats,
            Measure::Replans => found.replans,
            Measure::Questions => found.questions,
            // What is left behind is no event of a run.
            Measure::Records => None,
        };
        cost.expected = estimate.map(|Estimate { mean, low, high }| Expected { mean, low, high });
    }
    costs
}
