//! Random runs of a scenario under a design: how often each invariant breaks, and what calls cost.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;

use super::estimate::{Estimate, Ratio, wilson};
use crate::action::Action;
use crate::engine::simulate::{self, Fault, Plan, Schedule, Step, TAGS, Tally};
use crate::faults::FAULTS;
use crate::invariants::INVARIANTS;
use crate::model::vocabulary::named;
use crate::model::{Expectation, Outcome, Told, Verdict};
use crate::run::{Bounds, Run, expected};
use crate::step::{PropertyKind, Simulation, tags};
use crate::trace::{RecordError, Trace};

named! {
    /// Who moves next in a random run.
    Pace {
        /// Whoever can move is equally likely to.
        Uniform = "uniform",
        /// Agents think long before they send: everything else is sixteen times as likely.
        SlowThinker = "slow-thinker",
        /// Whoever moved last mostly goes on: work is done in bursts.
        Bursts = "bursts",
        /// Random priorities, changed at three random steps of a run (PCT): rare orders of few events are found sooner.
        Priorities = "pct",
    }
}

/// How likely a fault with a budget strikes before a step, where nothing else is said.
pub const DEFAULT_RATE: f64 = 0.05;

/// How to simulate.
#[derive(Clone, Debug)]
pub struct SimulationOptions {
    /// How many runs.
    pub runs: u64,
    /// From which all random numbers come.
    pub seed: u64,
    /// Who moves next.
    pub pace: Pace,
    /// How likely each of these faults strikes before a step, 0 to 1, without a budget. The sum over all faults of a run,
    /// those with [`DEFAULT_RATE`] included, is at most 1.
    pub rates: BTreeMap<&'static str, f64>,
    /// A run that has not ended after so many steps is cut short; `None`: 2,000, and 200 more for each agent.
    pub most_steps: Option<u32>,
    /// On so many threads. The result is the same for any number.
    pub threads: usize,
    /// Judge these invariants and assertions only; empty: all.
    pub only: Vec<String>,
}

impl Default for SimulationOptions {
    fn default() -> Self {
        Self {
            runs: 10_000,
            seed: 0,
            pace: Pace::Uniform,
            rates: BTreeMap::new(),
            most_steps: None,
            threads: 1,
            only: Vec::new(),
        }
    }
}

/// What came out of random runs.
#[derive(Clone, Debug, Serialize)]
pub struct SimulationReport {
    /// The scenario's name.
    pub scenario: String,
    /// The design's name.
    pub design: String,
    /// The protocol's name.
    pub protocol: String,
    /// The budgets of the faults that have one.
    pub bounds: Bounds,
    /// How many agents there were.
    pub agents: usize,
    /// And nodes.
    pub nodes: usize,
    /// How many runs were made.
    pub runs: u64,
    /// From which all random numbers came.
    pub seed: u64,
    /// Who moved next.
    pub schedule: &'static str,
    /// How likely each fault struck before a step.
    pub rates: BTreeMap<&'static str, f64>,
    /// As many runs were made as asked for.
    pub complete: bool,
    /// Why not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stopped: Option<String>,
    /// Runs that were cut short, since they had not ended, or a fault with a rate had struck 255 times.
    pub cut: u64,
    /// Steps of a run.
    pub steps: Spread,
    /// One for each invariant and assertion.
    pub invariants: Vec<SimulatedProperty>,
    /// What calls cost.
    pub costs: ExpectedCosts,
    /// How often calls ended with each outcome.
    pub outcomes: BTreeMap<String, u64>,
}

/// The fewest, the mean and the most of something over the runs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Spread {
    /// The fewest.
    pub fewest: u32,
    /// The mean.
    pub mean: f64,
    /// The most.
    pub most: u32,
}

/// What came out for one invariant or assertion.
#[derive(Clone, Debug, Serialize)]
pub struct SimulatedProperty {
    /// Its name.
    pub name: String,
    /// `violated`, or `inconclusive`: random runs prove nothing. An assertion that must hold in some state `holds`, if it
    /// did.
    #[serde(serialize_with = "named_verdict")]
    pub verdict: Verdict,
    /// What the inputs expect, as they write it.
    pub expected: Option<String>,
    /// In how many runs it was violated.
    pub violations: u64,
    /// The probability that a run violates it: in 95 of 100 cases it lies between these (Wilson).
    pub interval: (f64, f64),
    /// In how many runs its witness was reached.
    pub reached: u64,
    /// The number of the first run that violated it, from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<u64>,
    /// Steps of the trace: of that run, without what is not needed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steps: Option<u32>,
    /// Faults of the trace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub faults: Option<u32>,
    /// The file of the trace, where one was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace: Option<String>,
    /// What happens in the trace, in one sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sentence: Option<String>,
    /// The trace.
    #[serde(skip)]
    pub recorded: Option<Box<Trace>>,
    /// What kind of property it is.
    #[serde(skip)]
    pub kind: PropertyKind,
}

/// What one finished intent costs in random runs. An intent is finished when its agent was told what became of it.
/// `None` where no intent was finished.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct ExpectedCosts {
    /// Requests that were sent, reads and repeats included.
    pub calls: Option<Estimate>,
    /// Answers that were received.
    pub round_trips: Option<Estimate>,
    /// Calls that were refused.
    pub conflicts: Option<Estimate>,
    /// Calls that were sent again.
    pub repeats: Option<Estimate>,
    /// Calls that were sent for a new plan.
    pub replans: Option<Estimate>,
    /// Intents that ended in a question to the person: told as `conflict`.
    pub questions: Option<Estimate>,
}

fn named_verdict<S: serde::Serializer>(verdict: &Verdict, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(verdict.name())
}

/// The quantities of [`ExpectedCosts`], in its order, of the tags of one run.
const COSTS: [fn(&[u32; TAGS]) -> u64; 6] = [
    |tags| sum(tags, &[tags::SENT_FIRST, tags::SENT_AGAIN, tags::SENT_ANEW]),
    |tags| sum(tags, &[tags::RECEIVED]),
    |tags| Outcome::ALL.iter().filter(|end| **end != Outcome::Ok).map(|end| sum(tags, &[tags::outcome(*end)])).sum(),
    |tags| sum(tags, &[tags::SENT_AGAIN]),
    |tags| sum(tags, &[tags::SENT_ANEW]),
    |tags| sum(tags, &[tags::told(Told::Conflict)]),
];

fn sum(tags: &[u32; TAGS], of: &[u16]) -> u64 {
    of.iter().map(|tag| u64::from(tags[usize::from(*tag)])).sum()
}

fn finished(tags: &[u32; TAGS]) -> u64 {
    Told::ALL.iter().map(|told| sum(tags, &[tags::told(*told)])).sum()
}

/// What is kept of the runs.
struct Kept {
    violated: [u64; 64],
    witnessed: [u64; 64],
    first: [Option<u64>; 64],
    cut: u64,
    steps: u64,
    fewest: u32,
    most: u32,
    tags: [u64; TAGS],
    costs: [Ratio; COSTS.len()],
}

impl Default for Kept {
    fn default() -> Self {
        Self {
            violated: [0; 64],
            witnessed: [0; 64],
            first: [None; 64],
            cut: 0,
            steps: 0,
            fewest: u32::MAX,
            most: 0,
            tags: [0; TAGS],
            costs: [Ratio::default(); COSTS.len()],
        }
    }
}

impl Tally for Kept {
    fn note(&mut self, run: &simulate::Run<'_>) {
        for property in bits(run.violated) {
            self.violated[property] += 1;
            self.first[property] = self.first[property].or(Some(run.number));
        }
        bits(run.witnessed).for_each(|property| self.witnessed[property] += 1);
        self.cut += u64::from(run.cut);
        self.steps += u64::from(run.steps);
        self.fewest = self.fewest.min(run.steps);
        self.most = self.most.max(run.steps);
        self.tags.iter_mut().zip(run.tags).for_each(|(all, more)| *all += u64::from(*more));
        let finished = finished(run.tags);
        self.costs.iter_mut().zip(COSTS).for_each(|(ratio, cost)| ratio.note(cost(run.tags), finished));
    }

    fn append(&mut self, later: Self) {
        for property in 0..64 {
            self.violated[property] += later.violated[property];
            self.witnessed[property] += later.witnessed[property];
            self.first[property] = self.first[property].or(later.first[property]);
        }
        self.cut += later.cut;
        self.steps += later.steps;
        self.fewest = self.fewest.min(later.fewest);
        self.most = self.most.max(later.most);
        self.tags.iter_mut().zip(later.tags).for_each(|(all, more)| *all += more);
        self.costs.iter_mut().zip(&later.costs).for_each(|(all, more)| all.append(more));
    }
}

fn bits(mut of: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = of.trailing_zeros() as usize;
        of &= of.wrapping_sub(1);
        (bit < 64).then_some(bit)
    })
}

/// Makes the random runs of a composed run, under the faults' rates that the options say. `watch` is told from time to time
/// how many are done, and ends the simulation by answering `true`.
///
/// The budgets of the faults with a rate of their own must have been lifted: see [`lifted`].
pub fn simulate(run: &Run, options: &SimulationOptions, watch: &(dyn Fn(u64) -> bool + Sync)) -> SimulationReport {
    let simulation = Simulation::new(run.model().clone());
    let plan = plan(&simulation, options);
    let (kept, runs): (Kept, u64) = simulate::simulate(&simulation, &plan, options.threads, watch);
    report(run, &simulation, options, &kept, runs)
}

/// The budget of every fault that has a rate: as many as can be counted.
#[must_use]
pub fn lifted(rates: &BTreeMap<&'static str, f64>) -> BTreeMap<&'static str, u8> {
    rates.iter().map(|(fault, rate)| (*fault, if *rate > 0.0 { u8::MAX } else { 0 })).collect()
}

/// How likely each fault strikes before a step: as the options say, or, where it has a budget only, as by default.
fn rates(simulation: &Simulation, options: &SimulationOptions) -> BTreeMap<&'static str, f64> {
    let budgets = FAULTS.iter().map(|fault| fault.name).zip(simulation.setting().faults());
    let with_budget = budgets.filter(|(_, budget)| **budget > 0);
    with_budget.map(|(fault, _)| (fault, options.rates.get(fault).copied().unwrap_or(DEFAULT_RATE))).collect()
}

/// The sum of the rates with which the faults of a run strike: at most 1.
#[must_use]
pub fn sum_of_rates(run: &Run, options: &SimulationOptions) -> f64 {
    rates(&Simulation::new(run.model().clone()), options).values().sum()
}

fn weigh_alike(_: &Action) -> u32 {
    1
}

fn weigh_slow_thinkers(action: &Action) -> u32 {
    if matches!(action, Action::Send { .. }) { 1 } else { 16 }
}

fn plan<'p>(simulation: &Simulation, options: &SimulationOptions) -> Plan<'p, Action> {
    let fault = |(name, rate): (&'static str, f64)| {
        let index = FAULTS.iter().position(|fault| fault.name == name);
        let sources = (0..crate::engine::System::sources(simulation))
            .filter(|source| simulation.fault_of(*source).is_some_and(|fault| Some(fault) == index));
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rate is between 0 and 1")]
        let chance = (rate * 4_294_967_296.0) as u64;
        // A rate knows no budget: a run that would need more than can be counted is not one that ended.
        let most = options.rates.contains_key(name).then_some(u32::from(u8::MAX));
        Fault { sources: sources.collect(), chance, most }
    };
    // In the order of the fault table, whatever the order of names.
    let rates = rates(simulation, options);
    let faults = FAULTS.iter().filter_map(|row| Some(fault((row.name, *rates.get(row.name)?)))).collect();
    let agents = u32::try_from(simulation.setting().agents()).expect("there are few agents");
    let mut plan = Plan {
        seed: options.seed,
        runs: options.runs,
        schedule: Schedule::Weighted,
        weigh: &weigh_alike,
        faults,
        most_steps: options.most_steps.unwrap_or(2000 + 200 * agents),
    };
    match options.pace {
        Pace::Uniform => {}
        Pace::SlowThinker => plan.weigh = &weigh_slow_thinkers,
        Pace::Bursts => plan.schedule = Schedule::Bursts,
        Pace::Priorities => {
            // How long runs are is found out from a few of another pace.
            plan.runs = 64;
            let (pilot, _): (Kept, u64) = simulate::simulate(simulation, &plan, 1, &|_| false);
            plan.runs = options.runs;
            plan.schedule = Schedule::Priorities { changes: 3, within: pilot.most };
        }
    }
    plan
}

fn report(run: &Run, simulation: &Simulation, options: &SimulationOptions, kept: &Kept, runs: u64) -> SimulationReport {
    let crate::model::Model { scenario, design, protocol, .. } = run.model();
    let lifted = |fault: &str| options.rates.contains_key(fault);
    let budgets = scenario.faults.iter().filter(|(fault, budget)| **budget > 0 && !lifted(fault));
    let wanted = |name: &str| options.only.is_empty() || options.only.iter().any(|only| only == name);
    let properties = simulation.properties();
    let invariants = properties.iter().enumerate().filter(|(_, property)| wanted(&property.name));
    let invariants = invariants.map(|(index, property)| {
        let (violations, reached) = (kept.violated[index], kept.witnessed[index]);
        let verdict = match property.kind {
            PropertyKind::Sometimes if reached > 0 => Verdict::Holds,
            _ if violations > 0 => Verdict::Violated,
            _ => Verdict::Inconclusive,
        };
        SimulatedProperty {
            name: property.name.clone(),
            verdict,
            expected: run.expectation(&property.name).map(|expectation: Expectation| expected(&expectation)),
            violations,
            interval: wilson(violations, runs),
            reached,
            run: kept.first[index],
            steps: None,
            faults: None,
            trace: None,
            sentence: None,
            recorded: None,
            kind: property.kind,
        }
    });
    let [calls, round_trips, conflicts, repeats, replans, questions] = kept.costs.map(|ratio| ratio.estimate());
    let ended = Outcome::ALL.iter().map(|outcome| (outcome.name(), tags::outcome(*outcome)));
    let ended = ended.chain([("replayed", tags::replayed())]);
    let ended = ended.map(|(name, tag)| (name.to_owned(), kept.tags[usize::from(tag)])).filter(|(_, seen)| *seen > 0);
    #[expect(clippy::cast_precision_loss, reason = "a mean has no 53 significant bits")]
    let mean = if runs == 0 { 0.0 } else { kept.steps as f64 / runs as f64 };
    SimulationReport {
        scenario: scenario.name.clone(),
        design: design.name.clone(),
        protocol: protocol.name.clone(),
        bounds: Bounds { faults: budgets.map(|(fault, budget)| (*fault, *budget)).collect() },
        agents: scenario.agents.len(),
        nodes: scenario.nodes,
        runs,
        seed: options.seed,
        schedule: options.pace.name(),
        rates: rates(simulation, options),
        complete: runs == options.runs,
        stopped: (runs < options.runs).then(|| format!("it was stopped after {runs} of {} runs", options.runs)),
        cut: kept.cut,
        steps: Spread { fewest: if runs == 0 { 0 } else { kept.fewest }, mean, most: kept.most },
        invariants: invariants.collect(),
        costs: ExpectedCosts { calls, round_trips, conflicts, repeats, replans, questions },
        outcomes: ended.collect(),
    }
}

/// The trace of a run that violates a property: what is not needed for that is left out, and what is left is written down
/// like any other trace, with no more faults in its bounds than it has, or than the scenario allows.
///
/// # Errors
///
/// When it can't be written down, which is a bug.
pub fn trace(run: &Run, options: &SimulationOptions, property: &str, number: u64) -> Result<Trace, RecordError> {
    let simulation = Simulation::new(run.model().clone());
    let plan = plan(&simulation, options);
    let properties = simulation.properties();
    let index = properties.iter().position(|other| other.name == property).expect("the run has this property");
    let steps = simulate::steps(&simulation, &plan, number);
    let shortest = simulate::shrink(&simulation, steps, index);
    let struck = |fault: &'static str| {
        let strikes = |step: &&Step<Action>| matches!(step.1, Action::Fault { fault: index, .. } if FAULTS[usize::from(index)].name == fault);
        u8::try_from(shortest.iter().filter(strikes).count()).unwrap_or(u8::MAX)
    };
    let budgets = options.rates.keys().map(|fault| (*fault, struck(fault))).collect();
    let bounded = run.with_budgets(&budgets);
    let simulation = Arc::new(Simulation::new(bounded.model().clone()));
    bounded.record(&simulation, &simulate::path(&*simulation, &shortest), index)
}

/// The trace of a whole random run, whatever is in it: it shows the run, and claims no violation.
///
/// # Errors
///
/// When it can't be written down, which is a bug.
pub fn whole_run(run: &Run, options: &SimulationOptions, number: u64) -> Result<Trace, RecordError> {
    let simulation = Arc::new(Simulation::new(run.model().clone()));
    let steps = simulate::steps(&*simulation, &plan(&simulation, options), number);
    run.record_run(&simulation, &simulate::path(&*simulation, &steps))
}

/// The row of an invariant's anomaly, with its reference, where it has one.
#[must_use]
pub fn anomaly(name: &str) -> Option<String> {
    let row = INVARIANTS.iter().find(|row| row.name == name)?;
    row.anomaly.map(|anomaly| format!("{}: {}", anomaly.name, anomaly.reference))
}
