//! `simulate`: seeded random runs, and how often each invariant breaks in them.

use std::collections::BTreeMap;
use std::io::Write;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use indicatif::ProgressBar;

use super::deploying::Deploying;
use super::exploring::interrupts;
use super::progress::spinner;
use super::values::{budget, known_property};
use super::{Failure, Terminal, exit};
use crate::faults::FAULTS;
use crate::input::{self, Input, Kind, render};
use crate::model::{Design, Extent, Protocol, Verdict};
use crate::policies::crowd::crowd;
use crate::policies::simulate::{self, Pace, SimulationOptions, SimulationReport};
use crate::reports::policies::{self, FORMATS, simulation};
use crate::run::{Run, invariant_names};
use crate::suggest::did_you_mean;

#[derive(clap::Args)]
#[command(after_help = "\
A seed means the same on every machine and for any number of threads. Random runs prove nothing: what they never saw may \
still happen, and the interval says how often at most. Exits with 1 when something was violated, or else with 0.

How pct chooses: Burckhardt et al., A Randomized Scheduler with Probabilistic Guarantees of Finding Bugs, 2010.")]
pub(super) struct Arguments {
    /// The scenario: a path, or the name of a shipped one
    #[arg(value_name = "SCENARIO")]
    scenario: String,
    /// Designs: paths, or names; by default `naive`, `dedup-only` and `versioned`
    #[arg(long = "design", value_name = "DESIGN")]
    designs: Vec<String>,
    /// Use this protocol instead of the one that the scenario names, or the default
    #[arg(long, value_name = "PROTOCOL")]
    protocol: Option<String>,
    #[command(flatten)]
    deploying: Deploying,
    /// How many runs
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    runs: u64,
    /// From which all random numbers come
    #[arg(long, value_name = "S", default_value_t = 0)]
    seed: u64,
    /// Who moves next: `uniform`, `slow-thinker` (agents think long before they send), `bursts` (whoever moved goes on) or
    /// `pct` (random priorities, which find rare orders of few events sooner)
    #[arg(long, value_name = "SCHEDULE", default_value = "uniform", value_parser = pace)]
    schedule: Pace,
    /// How likely a fault strikes before a step, without a budget: `drop-stream=0.02,restart-node=0.001`. A fault that has a
    /// budget only strikes before 5 % of the steps, while its budget lasts
    #[arg(long, value_name = "FAULT=P,..", value_delimiter = ',')]
    rates: Vec<String>,
    /// Replace budgets of the scenario: `drop-stream=2,restart-node=1`
    #[arg(long, value_name = "FAULT=N,..", value_delimiter = ',')]
    faults: Vec<String>,
    /// Copy the agents that work until there are so many
    #[arg(long, value_name = "N")]
    agents: Option<usize>,
    /// With so many nodes
    #[arg(long, value_name = "N")]
    nodes: Option<usize>,
    /// One simulation for each of these numbers of agents, to see how conflicts grow with contention
    #[arg(long, value_name = "N,..", value_delimiter = ',', conflicts_with = "agents")]
    sweep: Vec<usize>,
    /// Draw the sweep: an SVG file
    #[arg(long, value_name = "FILE", requires = "sweep")]
    plot: Option<PathBuf>,
    /// Judge this invariant or assertion only; may be given several times
    #[arg(long = "invariant", value_name = "NAME")]
    invariants: Vec<String>,
    /// Cut a run short that has not ended after so many steps; by default 2,000 and 200 more for each agent
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    max_steps: Option<u32>,
    /// On so many threads; by default as many as the machine has cores. The result is the same
    #[arg(long, value_name = "N")]
    threads: Option<NonZero<usize>>,
    /// Stop after this time, with the runs that were made: `90s`, `5m`
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration)]
    timeout: Option<Duration>,
    /// How to report: `human` or `json`
    #[arg(long, value_name = "FORMAT", default_value = "human", value_parser = FORMATS)]
    format: String,
    /// The folder that traces are written to
    #[arg(long, value_name = "FOLDER", default_value = "traces")]
    traces: PathBuf,
}

fn pace(name: &str) -> Result<Pace, String> {
    Pace::named(name).ok_or_else(|| {
        let names: Vec<&str> = Pace::ALL.iter().map(|pace| pace.name()).collect();
        let help = did_you_mean(name, names.iter().copied()).map_or_else(String::new, |help| format!("; {help}"));
        format!("expected one of {}{help}", names.join(", "))
    })
}

fn rate(text: &str) -> Result<(&'static str, f64), Failure> {
    let usage = |message: String| Failure::Usage(format!("--rates {text}: {message}"));
    let (name, rate) = text.split_once('=').ok_or_else(|| usage("expected FAULT=P".to_owned()))?;
    let names: Vec<&'static str> = FAULTS.iter().map(|fault| fault.name).collect();
    let Some(fault) = names.iter().find(|fault| **fault == name) else {
        let help = did_you_mean(name, names.iter().copied()).map_or_else(String::new, |help| format!("; {help}"));
        return Err(usage(format!("there is no fault `{name}`{help}")));
    };
    let rate: Option<f64> = rate.parse().ok().filter(|rate| (0.0..=1.0).contains(rate));
    Ok((fault, rate.ok_or_else(|| usage("expected a probability from 0 to 1".to_owned()))?))
}

/// The inputs of a command, from which runs of any size are composed.
struct Inputs<'a> {
    arguments: &'a Arguments,
    source: input::Source,
    protocol: Input<Protocol>,
    faults: BTreeMap<&'static str, u8>,
}

impl Inputs<'_> {
    /// The run with so many agents and nodes.
    fn run(&self, design: &Input<Design>, agents: Option<usize>, nodes: Option<usize>) -> Result<Run, Failure> {
        let source = if agents.is_none() && nodes.is_none() {
            self.source.clone()
        } else {
            crowd(&self.source, agents, nodes)
                .map_err(|error| Failure::Usage(format!("scenario `{}`: {error}", self.source.name)))?
        };
        let scenario = input::read_scenario_within(&source, &invariant_names(), Extent::SIMULATED)?;
        let run = Run::new(scenario, design.clone(), self.protocol.clone(), &self.faults)?;
        for name in &self.arguments.invariants {
            known_property(name, &run)?;
        }
        Ok(run)
    }
}

pub(super) fn run(arguments: &Arguments, terminal: Terminal, out: &mut String) -> Result<u8, Failure> {
    let source = input::resolve(Kind::Scenario, &arguments.scenario, None)?;
    let scenario = input::read_scenario_within(&source, &invariant_names(), Extent::SIMULATED)?;
    let protocol = input::protocol_of(&scenario, arguments.protocol.as_deref())?;
    let beside = scenario.source.folder.as_deref();
    let protocol = arguments.deploying.protocol(protocol, beside)?;
    let mut faults = BTreeMap::new();
    for fault in &arguments.faults {
        let (name, budget) = budget(fault)?;
        faults.insert(name, budget);
    }
    let mut options = SimulationOptions {
        runs: arguments.runs,
        seed: arguments.seed,
        pace: arguments.schedule,
        most_steps: arguments.max_steps,
        threads: threads(arguments.threads),
        only: arguments.invariants.clone(),
        ..SimulationOptions::default()
    };
    for text in &arguments.rates {
        let (name, rate) = rate(text)?;
        options.rates.insert(name, rate);
    }
    faults.extend(simulate::lifted(&options.rates));
    let inputs = Inputs { arguments, source: scenario.source.clone(), protocol, faults };
    let sizes: Vec<Option<usize>> = match &*arguments.sweep {
        [] => vec![arguments.agents],
        sizes => sizes.iter().copied().map(Some).collect(),
    };
    let mut runs = Vec::new();
    for spec in super::compare::designs(&arguments.designs, false) {
        let design = arguments.deploying.design(input::design(&spec, beside)?, beside)?;
        for size in &sizes {
            runs.push((inputs.run(&design, *size, arguments.nodes)?, design.clone(), *size));
        }
    }
    // A sweep has one run for each number of agents.
    if arguments.sweep.is_empty() {
        super::plan::told_apart(&runs.iter().map(|(run, ..)| run.clone()).collect::<Vec<_>>())?;
    }
    for (run, ..) in &runs {
        let sum = simulate::sum_of_rates(run, &options);
        if sum > 1.0 {
            return Err(Failure::Usage(format!("--rates: all faults together strike with probability {sum}, above 1")));
        }
    }
    if !terminal.quiet {
        let mut warnings = runs.iter().flat_map(|(run, ..)| run.warnings.clone()).collect::<Vec<_>>();
        warnings.dedup();
        let _ = std::io::stderr().write_all(render(&warnings, terminal.look).as_bytes());
    }

    let mut clock = Clock::start(arguments.timeout, terminal);
    let mut reports = Vec::new();
    for (run, design, size) in &runs {
        let mut report = clock.simulate(run, &options);
        for position in 0..report.invariants.len() {
            write_trace(&inputs, &options, run, design, *size, &mut report, position)?;
        }
        reports.push(report);
    }
    clock.finish();
    if let Some(file) = &arguments.plot {
        super::writing::write_file(file, simulation::plot(&reports))?;
    }
    *out = match arguments.format.as_str() {
        "json" => policies::json(&reports),
        _ if arguments.sweep.is_empty() => simulation::report(&reports, terminal.colour),
        _ => simulation::sweep(&reports),
    };
    let violated = reports.iter().flat_map(|report| &report.invariants).any(|row| row.verdict == Verdict::Violated);
    Ok(if violated { exit::VIOLATED } else { exit::HOLDS })
}

/// As many threads as asked for, or as the machine has cores.
fn threads(asked: Option<NonZero<usize>>) -> usize {
    asked.map_or_else(|| std::thread::available_parallelism().map_or(1, NonZero::get), NonZero::get)
}

/// Writes the trace of a property that was violated. A crowd's break is shown in the smallest crowd in which the same seed
/// finds it, if it does.
fn write_trace(
    inputs: &Inputs<'_>,
    options: &SimulationOptions,
    run: &Run,
    design: &Input<Design>,
    agents: Option<usize>,
    report: &mut SimulationReport,
    position: usize,
) -> Result<(), Failure> {
    let property = &mut report.invariants[position];
    let (Some(number), Verdict::Violated) = (property.run, property.verdict) else { return Ok(()) };
    let mut recorded = None;
    if agents.is_some() || inputs.arguments.nodes.is_some() {
        let quick =
            SimulationOptions { runs: options.runs.min(20_000), only: vec![property.name.clone()], ..options.clone() };
        let few = inputs.run(design, None, None)?.model().scenario.agents.len();
        for size in few..agents.unwrap_or(few).min(few + 6) {
            let smaller = inputs.run(design, Some(size), None)?;
            let found = simulate::simulate(&smaller, &quick, &|_| false);
            if let Some(number) = found.invariants.first().and_then(|found| found.run) {
                recorded = Some(simulate::trace(&smaller, &quick, &property.name, number)?);
                break;
            }
        }
    }
    let trace = match recorded {
        Some(trace) => trace,
        None => simulate::trace(run, options, &property.name, number)?,
    };
    property.steps = u32::try_from(trace.steps.len()).ok();
    property.faults = Some(trace.faults);
    property.sentence = Some(trace.sentence.clone());
    property.trace = Some(super::writing::write_trace(&trace, 0, Path::new(&inputs.arguments.traces))?);
    property.recorded = Some(Box::new(trace));
    Ok(())
}

/// The limits and the liveliness of one command, over all of its simulations.
struct Clock {
    deadline: Option<Instant>,
    started: Instant,
    bar: Option<ProgressBar>,
    terminal: Terminal,
    runs: u64,
}

impl Clock {
    fn start(timeout: Option<Duration>, terminal: Terminal) -> Self {
        #[expect(clippy::disallowed_methods, reason = "time limits and durations are for people, never in a report")]
        let started = Instant::now();
        let bar = spinner(terminal);
        Self { deadline: timeout.map(|timeout| started + timeout), started, bar, terminal, runs: 0 }
    }

    fn simulate(&mut self, run: &Run, options: &SimulationOptions) -> SimulationReport {
        let interrupted = interrupts();
        let model = run.model();
        let name = format!("{} x {}, {} agents", model.scenario.name, model.design.name, model.scenario.agents.len());
        let (bar, deadline) = (self.bar.as_ref().map(|bar| Mutex::new(bar.clone())), self.deadline);
        let watch = |done: u64| {
            if let Some(bar) = bar.as_ref().and_then(|bar| bar.try_lock().ok()) {
                bar.set_message(format!("{name}: {done} of {} runs", options.runs));
                bar.tick();
            }
            #[expect(clippy::disallowed_methods, reason = "a time limit is no part of a report but that it was hit")]
            let late = deadline.is_some_and(|deadline| Instant::now() > deadline);
            late || interrupted.load(Ordering::Relaxed)
        };
        let report = simulate::simulate(run, options, &watch);
        self.runs += report.runs;
        report
    }

    fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
        if !self.terminal.quiet {
            let _ = writeln!(std::io::stderr(), "{} runs, {:.2} s", self.runs, self.started.elapsed().as_secs_f64());
        }
    }
}
