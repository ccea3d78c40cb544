//! What the commands that explore have in common: arguments, limits, progress, warnings.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use indicatif::ProgressBar;

use super::cache::{self, Caching};
use super::deploying::Deploying;
use super::kinds::{expected_of_nothing, refuse_another_kind};
use super::progress::{Bounds, Watch, spinner};
use super::values::{self, budget, bytes, engine, known_property};
use super::{Failure, Terminal, exit, memory};
use crate::engine::Progress;
use crate::input::{self, Input, InputError, Kind, Severity, render};
use crate::lock::Asked;
use crate::model::{Design, Protocol, Scenario};
use crate::policies::costs;
use crate::policies::verdicts::Evaluated;
use crate::reports::Standing;
use crate::run::{Cache, Checkpoint, Costs, Engine, Options, Report, ResumeError, Run, invariant_names};
use crate::situation;
use crate::trace::RecordError;

/// Arguments of every command that explores.
#[derive(clap::Args)]
pub(super) struct Exploring {
    /// Use this protocol instead of the one that the scenario names, or the default
    #[arg(long, value_name = "PROTOCOL")]
    protocol: Option<String>,
    #[command(flatten)]
    deploying: Deploying,
    /// Replace budgets of the scenario: `drop-stream=2,restart-node=1`
    #[arg(long, value_name = "FAULT=N,..", value_delimiter = ',')]
    faults: Vec<String>,
    /// Check this invariant or assertion only; may be given several times
    #[arg(long = "invariant", value_name = "NAME")]
    invariants: Vec<String>,
    /// Give up after so many states
    #[arg(long, value_name = "N")]
    max_states: Option<usize>,
    /// Give up after this time, all runs together: `90s`, `5m`
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration)]
    timeout: Option<Duration>,
    /// Explore with so many threads; by default with as many as there are cores. Nothing but the time depends on it
    #[arg(long, value_name = "N")]
    threads: Option<std::num::NonZeroUsize>,
    /// Give up before the program takes more memory than this: `500MB`, `4GiB`; by default than three quarters of what there is
    #[arg(long, value_name = "SIZE", value_parser = bytes)]
    max_memory: Option<usize>,
    /// Explore every interleaving of every action, also where a model is so large that it would be reduced
    #[arg(long)]
    no_reduction: bool,
    /// Which engine explores: `handlecheck`, or `stateright` as a second witness, which does not check `resolves`
    #[arg(long, value_name = "ENGINE", default_value = "handlecheck", value_parser = engine)]
    engine: Engine,
}

/// Arguments of the commands that judge runs by themselves and report the verdicts.
#[derive(clap::Args)]
pub(super) struct Judging {
    #[command(flatten)]
    exploring: Exploring,
    #[command(flatten)]
    caching: Caching,
    /// Stop a run as soon as everything that it checks is violated
    #[arg(long)]
    stop_early: bool,
    /// For each violated invariant, show the shortest break for each pair of transactions that races
    #[arg(long)]
    all_causes: bool,
    /// Exit with 4 if something is vacuous
    #[arg(long)]
    deny_vacuous: bool,
}

impl Judging {
    /// Checks the arguments that name things, starts the clock, and remembers verdicts where that is asked for.
    pub(super) fn start(&self, terminal: Terminal) -> Result<Explorer, Failure> {
        if self.all_causes && self.stop_early {
            let why = "it stops at the first break of each invariant, and others may have other causes";
            return Err(Failure::Usage(format!("--stop-early can't be combined with --all-causes: {why}")));
        }
        if self.all_causes && self.exploring.engine == Engine::Stateright {
            return Err(Failure::Usage("--all-causes: stateright tells none apart".to_owned()));
        }
        let mut explorer = self.exploring.start(terminal)?;
        explorer.remember(&self.caching)?;
        explorer.options.stop_early = self.stop_early;
        explorer.options.all_causes = self.all_causes;
        explorer.deny_vacuous = self.deny_vacuous;
        Ok(explorer)
    }
}

/// The limits and the liveliness of one command, over all of its runs.
pub(super) struct Explorer {
    options: Options,
    protocol: Option<String>,
    deploying: Deploying,
    deny_vacuous: bool,
    deadline: Option<(Duration, Instant)>,
    max_memory: Option<usize>,
    started: Instant,
    interrupted: Arc<AtomicBool>,
    bar: Option<ProgressBar>,
    terminal: Terminal,
    runs: usize,
    states: usize,
    stopped: bool,
    cache: Option<Arc<cache::Folder>>,
    /// What was asked for and not checked in some run, and why.
    unchecked: BTreeSet<(String, &'static str)>,
}

impl Exploring {
    /// Checks the arguments that name things, and starts the clock.
    pub(super) fn start(&self, terminal: Terminal) -> Result<Explorer, Failure> {
        let mut faults = BTreeMap::new();
        for fault in &self.faults {
            let (name, budget) = budget(fault)?;
            faults.insert(name, budget);
        }
        let options = Options {
            engine: self.engine,
            max_states: self.max_states,
            threads: self.threads.map_or_else(cores, std::num::NonZeroUsize::get),
            no_reduction: self.no_reduction,
            hash_compact: false,
            stop_early: false,
            only: self.invariants.clone(),
            faults,
            shows: Vec::new(),
            all_causes: false,
            keep: false,
            cache: None,
        };
        #[expect(clippy::disallowed_methods, reason = "time limits and durations are for people, never in a report")]
        let started = Instant::now();
        let explorer = Explorer {
            options,
            protocol: self.protocol.clone(),
            deploying: self.deploying.clone(),
            deny_vacuous: false,
            deadline: self.timeout.map(|timeout| (timeout, started + timeout)),
            max_memory: memory::limit(self.max_memory),
            started,
            interrupted: interrupts(),
            bar: spinner(terminal),
            terminal,
            runs: 0,
            states: 0,
            stopped: false,
            cache: None,
            unchecked: BTreeSet::new(),
        };
        explorer.decides("--engine stateright")?;
        Ok(explorer)
    }
}

/// How many threads this machine runs side by side.
fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get)
}

/// Set when the user interrupts, or the program is told to end (SIGTERM, as `timeout` and CI do); a second time ends it.
pub(super) fn interrupts() -> Arc<AtomicBool> {
    static INTERRUPTED: OnceLock<Arc<AtomicBool>> = OnceLock::new();
    let flag = INTERRUPTED.get_or_init(|| {
        let flag = Arc::new(AtomicBool::new(false));
        let set = Arc::clone(&flag);
        // Without a handler an interrupt just ends the program, which is no harm.
        let _ = ctrlc::set_handler(move || {
            if set.swap(true, Ordering::Relaxed) {
                std::process::exit(i32::from(exit::INCONCLUSIVE));
            }
        });
        flag
    });
    Arc::clone(flag)
}

impl Exploring {
    /// The limit of states that was asked for.
    pub(super) const fn max_states(&self) -> Option<usize> {
        self.max_states
    }
}

impl Explorer {
    pub(super) fn scenario(&self, spec: &str) -> Result<Input<Scenario>, Failure> {
        refuse_another_kind(Kind::Scenario, spec)?;
        let source = input::resolve(Kind::Scenario, spec, None)?;
        Ok(input::read_scenario(&source, &invariant_names())?)
    }

    /// A design: a path, or the name of one beside the scenario, or of a shipped one.
    pub(super) fn design(&self, spec: &str, scenario: &Input<Scenario>) -> Result<Input<Design>, Failure> {
        refuse_another_kind(Kind::Design, spec)?;
        let beside = scenario.source.folder.as_deref();
        self.deploying.design(input::design(spec, beside)?, beside)
    }

    /// Remembers verdicts, where that is asked for.
    pub(super) fn remember(&mut self, caching: &Caching) -> Result<(), Failure> {
        self.cache = caching.open()?.map(Arc::new);
        self.options.cache = self.cache.clone().map(|cache| cache as Arc<dyn Cache>);
        Ok(())
    }

    /// Composes a run, under the protocol that was asked for.
    pub(super) fn compose(&self, scenario: &Input<Scenario>, design: &Input<Design>) -> Result<Run, Failure> {
        let protocol = input::protocol_of(scenario, self.protocol.as_deref())?;
        let protocol = self.deploying.protocol(protocol, scenario.source.folder.as_deref())?;
        self.compose_under(scenario, design, protocol)
    }

    /// Composes a run, under this protocol.
    pub(super) fn compose_under(
        &self,
        scenario: &Input<Scenario>,
        design: &Input<Design>,
        protocol: Input<Protocol>,
    ) -> Result<Run, Failure> {
        let run = Run::new(scenario.clone(), design.clone(), protocol, &self.options.faults)?;
        for name in &self.options.only {
            known_property(name, &run)?;
        }
        Ok(run)
    }

    /// Looks for these situations in a run, and checks no invariant but those that were named.
    pub(super) fn show(&mut self, texts: &[String], run: &Run) -> Result<(), Failure> {
        self.options.shows.clear();
        for text in texts {
            let found = situation::parse(text, &run.model().scenario).map_err(|problems| {
                let problems = problems.into_iter().map(|problem| (problem.range, problem.message, problem.help));
                InputError::of_text("--show", text.trim(), problems)
            })?;
            if !self.options.shows.contains(&found) {
                self.options.shows.push(found);
            }
        }
        let room = run.room();
        if self.options.shows.len() > room {
            return Err(Failure::Usage(format!("--show: at most {room} situations can be looked for at once here")));
        }
        Ok(())
    }

    /// Explores a run.
    pub(super) fn explore(&mut self, run: &Run) -> Result<Report, Failure> {
        self.go_on(run, None)
    }

    /// Whether something is deployed, by the command line.
    pub(super) const fn deploys(&self) -> bool {
        !self.deploying.is_empty()
    }

    /// The one thing that is deployed by the command line, from now on to be named with what it replaces.
    pub(super) fn take_deployed(&mut self) -> Result<Option<String>, Failure> {
        std::mem::take(&mut self.deploying).only()
    }

    /// Refuses `--deploy` where it has no meaning.
    pub(super) fn deploys_nothing(&self, why: &str) -> Result<(), Failure> {
        if self.deploys() { Err(Failure::Usage(format!("--deploy: {why}"))) } else { Ok(()) }
    }

    /// The engine that explores.
    pub(super) const fn engine(&self) -> Engine {
        self.options.engine
    }

    /// Knows states by their hashes alone. What needs more than that is refused.
    pub(super) fn compact(&mut self) -> Result<(), Failure> {
        let refused = |why: &str| Err(Failure::Usage(format!("--hash-compact {why}")));
        if self.options.engine == Engine::Stateright {
            return refused("is of the engine handlecheck: stateright keeps what it keeps");
        }
        self.options.hash_compact = true;
        self.decides("--hash-compact")
    }

    /// Refuses what was named and can't be decided, because of this flag.
    fn decides(&self, flag: &str) -> Result<(), Failure> {
        match self.options.unable() {
            Some(why) if self.options.only.iter().any(|name| name == "resolves") => {
                Err(Failure::Usage(format!("{flag} can't decide `resolves`: {why}")))
            }
            _ => Ok(()),
        }
    }

    /// Keeps what it takes to go on with runs that are cut short.
    pub(super) const fn keep(&mut self) {
        self.options.keep = true;
    }

    /// Explores a run, from a checkpoint on where there is one, which stands in this file.
    pub(super) fn go_on(&mut self, run: &Run, checkpoint: Option<(&Path, &Checkpoint)>) -> Result<Report, Failure> {
        let name = format!("{} x {}", run.model().scenario.name, run.model().design.name);
        let bounds = Bounds { states: self.options.max_states, deadline: self.deadline, memory: self.max_memory };
        let mut watch = Watch::new(name, self.bar.clone(), bounds, Arc::clone(&self.interrupted));
        let mut look = |progress: Progress| watch.look(progress);
        let mut report = match checkpoint {
            None => run.explore(&self.options, &mut look)?,
            Some((file, checkpoint)) => {
                run.resume(checkpoint, &self.options, &mut look).map_err(|error| match error {
                    ResumeError::Unfit(why) => Failure::Usage(format!(
                        "--resume {}: {why}; without --resume the run begins anew",
                        file.display()
                    )),
                    ResumeError::Record(error) => Failure::Bug(error),
                })?
            }
        };
        // The engine knows that it was stopped, and we know why.
        if report.stopped.is_some() && watch.reason.is_some() {
            report.stopped = watch.reason;
            self.stopped = true;
        }
        self.runs += 1;
        self.states += report.states;
        self.unchecked.extend(report.unchecked.iter().map(|unchecked| (unchecked.name.clone(), unchecked.why)));
        Ok(report)
    }

    /// What a finished intent costs in a run; expected values from so many random runs.
    pub(super) fn costs(&mut self, run: &Run, runs: u64) -> Costs {
        let (options, max_memory, stopped) = (self.options.clone(), self.max_memory, self.is_stopped());
        let (deadline, interrupted, bar) = (self.deadline, Arc::clone(&self.interrupted), self.bar.clone());
        let name = format!("{} x {}", run.model().scenario.name, run.model().design.name);
        let watch = |done: u64| {
            if let Some(bar) = bar.as_ref().filter(|_| done > 0) {
                bar.set_message(format!("{name}: {done} of {runs} random runs"));
                bar.tick();
            }
            #[expect(clippy::disallowed_methods, reason = "a time limit is no part of a report but that it was hit")]
            let late = deadline.is_some_and(|(_, deadline)| Instant::now() > deadline);
            let large =
                max_memory.is_some_and(|most| memory_stats::memory_stats().is_some_and(|now| now.physical_mem > most));
            stopped || late || large || interrupted.load(Ordering::Relaxed)
        };
        costs::costs(run, &options, if stopped { 0 } else { runs }, &watch)
    }

    /// Whether a run was stopped by a clock or by a person, or the next one would be: where that is, it would not be on
    /// another machine.
    pub(super) fn is_stopped(&mut self) -> bool {
        #[expect(clippy::disallowed_methods, reason = "a time limit is no part of a report but that it was hit")]
        let late = self.deadline.is_some_and(|(_, deadline)| Instant::now() > deadline);
        self.stopped |= late || self.interrupted.load(Ordering::Relaxed);
        self.stopped
    }

    /// The invariants and assertions that were asked for; empty: all.
    pub(super) fn invariants(&self) -> &[String] {
        &self.options.only
    }

    /// The protocol that was asked for, for all runs.
    pub(super) fn protocol(&self) -> Option<&str> {
        self.protocol.as_deref()
    }

    /// What is asked of every run, for a lock.
    pub(super) fn asked(&self, expected: bool) -> Asked {
        let Options { faults, only, max_states, .. } = &self.options;
        Asked {
            expected,
            protocol: self.protocol.clone(),
            faults: faults.iter().map(|(fault, budget)| ((*fault).to_owned(), *budget)).collect(),
            invariants: only.clone(),
            max_states: *max_states,
        }
    }

    /// Asks what a lock was made with, where the command line does not say otherwise.
    pub(super) fn ask(&mut self, asked: &Asked) -> Result<(), Failure> {
        let Asked { expected: _, protocol, faults, invariants, max_states } = asked;
        self.protocol = self.protocol.take().or_else(|| protocol.clone());
        for (name, budget) in faults {
            let (fault, budget) = values::budget(&format!("{name}={budget}"))?;
            self.options.faults.entry(fault).or_insert(budget);
        }
        if self.options.only.is_empty() {
            self.options.only.clone_from(invariants);
        }
        self.options.max_states = self.options.max_states.or(*max_states);
        Ok(())
    }

    /// Says which files of a folder were left out.
    pub(super) fn mention(&self, others: &[PathBuf]) {
        for path in others.iter().filter(|_| !self.terminal.quiet) {
            let path = path.display();
            let _ = writeln!(std::io::stderr(), "{path} is no scenario, design or protocol, and is left out");
        }
    }

    /// Explores many variants of a run side by side, each on one thread. `work` is given on how many threads, and what stops
    /// it, which also shows how far it is.
    pub(super) fn evaluate<T>(
        &mut self,
        run: &Run,
        work: impl FnOnce(&Options, usize, &(dyn Fn(Evaluated) -> bool + Sync)) -> Result<T, RecordError>,
    ) -> Result<T, Failure> {
        // A change that breaks what is not checked would pass for a good one.
        if let Some(why) = self.options.unable().filter(|_| self.options.only.is_empty()) {
            let help = "name with --invariant what variants are to be judged by";
            return Err(Failure::Usage(format!("--engine stateright can't decide `resolves`: {why}; {help}")));
        }
        let name = format!("{} x {}", run.model().scenario.name, run.model().design.name);
        let (bar, deadline, interrupted) = (self.bar.clone(), self.deadline, Arc::clone(&self.interrupted));
        let (runs, states, max_memory) = (AtomicUsize::new(0), AtomicUsize::new(0), self.max_memory);
        let watch = |progress: Evaluated| {
            let Evaluated { done, all, states: so_far } = progress;
            runs.fetch_max(done, Ordering::Relaxed);
            states.fetch_max(so_far, Ordering::Relaxed);
            if let Some(bar) = &bar {
                bar.set_message(format!("{name}: {done} of {all} variants, {so_far} states"));
                bar.tick();
            }
            #[expect(clippy::disallowed_methods, reason = "a time limit is no part of a report but that it was hit")]
            let late = deadline.is_some_and(|(_, deadline)| Instant::now() > deadline);
            let large =
                max_memory.is_some_and(|most| memory_stats::memory_stats().is_some_and(|now| now.physical_mem > most));
            late || large || interrupted.load(Ordering::Relaxed)
        };
        let options = Options { threads: 1, ..self.options.clone() };
        let result = work(&options, self.options.threads, &watch)?;
        self.runs += runs.load(Ordering::Relaxed);
        self.states += states.load(Ordering::Relaxed);
        Ok(result)
    }

    /// Prints warnings about the inputs, each once.
    pub(super) fn warn<'r>(&self, runs: impl IntoIterator<Item = &'r Run>) {
        if self.terminal.quiet {
            return;
        }
        let runs: Vec<&Run> = runs.into_iter().collect();
        let mut seen = Vec::new();
        let expected = runs.iter().flat_map(|run| expected_of_nothing(run, &runs));
        for warning in runs.iter().flat_map(|run| run.warnings.clone()).chain(expected) {
            debug_assert_eq!(warning.severity, Severity::Warning);
            if !seen.contains(&warning) {
                seen.push(warning);
            }
        }
        let _ = std::io::stderr().write_all(render(&seen, self.terminal.look).as_bytes());
    }

    /// Says how long everything took, to whoever watches.
    pub(super) fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
        if !self.terminal.quiet {
            let (runs, states, seconds) = (self.runs, self.states, self.started.elapsed().as_secs_f64());
            let plural = if runs == 1 { "run" } else { "runs" };
            let known =
                self.cache.as_ref().map_or_else(String::new, |cache| format!(", {} recalled", cache.recalled()));
            let _ = writeln!(std::io::stderr(), "{runs} {plural}{known}, {states} states, {seconds:.2} s");
            for (name, why) in &self.unchecked {
                let _ = writeln!(std::io::stderr(), "{name} was not checked in every run, since {why}");
            }
            for note in self.cache.iter().flat_map(|cache| cache.notes()) {
                let _ = writeln!(std::io::stderr(), "{note}");
            }
        }
    }

    /// The exit code that everything together means.
    pub(super) fn exit_code(&self, standings: impl IntoIterator<Item = Standing>) -> u8 {
        let standings: Vec<Standing> = standings.into_iter().collect();
        if standings.contains(&Standing::Failed) {
            exit::VIOLATED
        } else if standings.contains(&Standing::Inconclusive) {
            exit::INCONCLUSIVE
        } else if self.deny_vacuous && standings.contains(&Standing::Vacuous) {
            exit::VACUOUS
        } else {
            exit::HOLDS
        }
    }
}
