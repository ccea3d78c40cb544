//! What a design costs: exact bounds of every run, and what is to be expected of random ones.

use super::estimate::Estimate;
use super::simulate::{SimulationOptions, simulate};
use crate::run::{Costs, Expected, Options, Run};
use crate::step::Measure;

/// The costs of a finished intent; expected values from so many random runs, 0 for none. `watch` is told how many of these are
/// done, and ends all of it by answering `true`: the values are then of the runs that were made.
pub fn costs(run: &Run, options: &Options, runs: u64, watch: &(dyn Fn(u64) -> bool + Sync)) -> Costs {
    let mut costs = run.costs(options, &mut |_| watch(0));
    if runs == 0 {
        return costs;
    }
    let random = SimulationOptions { runs, threads: options.threads, ..SimulationOptions::default() };
    let simulated = simulate(run, &random, watch);
    let found = simulated.costs;
    costs.runs = simulated.runs;
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
