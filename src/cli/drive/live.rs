//! What `drive` does, where the feature `live` is built in.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::sync::atomic::Ordering;

use super::super::exploring::interrupts;
use super::super::{Failure, Terminal, exit, writing};
use super::Arguments;
use crate::drive::agreement::{agree, pairs};
use crate::drive::audited::judged;
use crate::drive::free::Free;
use crate::drive::journal::{self, Journal};
use crate::drive::mapping::Mapping;
use crate::drive::note;
use crate::drive::run::{Driven, RunError, along, at_random};
use crate::drive::servers::{Commands, Servers};
use crate::drive::tally::{Tally, lacks_versions};
use crate::input::{self, Kind};
use crate::log::{Heading, Line};
use crate::model::Verdict;
use crate::reports::plural;
use crate::run::invariant_names;
use crate::step::Simulation;
use crate::trace::{Trace, simulation};

/// What is driven.
enum Subject {
    Trace(Box<Trace>),
    Scenario(String),
}

pub(in crate::cli) fn run(arguments: &Arguments, terminal: Terminal, out: &mut String) -> Result<u8, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let program = std::env::current_exe()?;
    if arguments.all {
        return runtime.block_on(all(arguments, terminal, &program, out));
    }
    let name = arguments.subject.as_deref().unwrap_or_default();
    let is_file = Path::new(name).extension().is_some_and(|end| end == "json");
    let subject = if is_file {
        Subject::Trace(Box::new(writing::read_trace(Path::new(name))?))
    } else {
        Subject::Scenario(name.to_owned())
    };
    let (code, log) = if arguments.nodes.is_empty() && arguments.stdio.is_empty() {
        runtime.block_on(forced(arguments, &subject, &program, out))?
    } else {
        runtime.block_on(free(arguments, &subject, out))?
    };
    if let Some(path) = &arguments.log {
        std::fs::write(path, journal::text(&log))?;
    }
    Ok(code)
}

/// The inputs of a scenario's run.
fn simulated(arguments: &Arguments, name: &str) -> Result<Inputs, Failure> {
    let design = arguments.design.as_deref();
    let design = design.ok_or_else(|| Failure::Usage("say with --design what is driven".to_owned()))?;
    let scenario = input::read_scenario(&input::resolve(Kind::Scenario, name, None)?, &invariant_names())?;
    let beside = scenario.source.folder.clone();
    let deploying = &arguments.deploying;
    let design = deploying.design(input::design(design, beside.as_deref())?, beside.as_deref())?;
    let protocol = deploying.protocol(input::protocol_of(&scenario, None)?, beside.as_deref())?;
    Ok(Inputs { scenario, design, protocol })
}

struct Inputs {
    scenario: input::Input<crate::model::Scenario>,
    design: input::Input<crate::model::Design>,
    protocol: input::Input<crate::model::Protocol>,
}

fn failure(error: &RunError) -> Failure {
    Failure::Usage(error.to_string())
}

/// Servers of ours, whose order is forced.
async fn forced(
    arguments: &Arguments,
    subject: &Subject,
    program: &Path,
    out: &mut String,
) -> Result<(u8, Vec<Line>), Failure> {
    let mut told = |what: &str, driven: Result<Driven, RunError>| match driven {
        Ok(Driven { steps, log, .. }) => {
            let steps = plural(steps, "step");
            writeln!(out, "{what}: {steps}, and the servers did what the model did")
                .expect("writing to a string doesn't fail");
            Ok(Some(log))
        }
        Err(RunError::Differs(difference)) => {
            writeln!(out, "{what}: differs at {difference}").expect("writing to a string doesn't fail");
            Ok(None)
        }
        Err(error) => Err(failure(&error)),
    };
    let mut last = Vec::new();
    match subject {
        Subject::Trace(trace) => {
            let what = format!("{} x {}: {}", trace.scenario.name, trace.design.name, trace.invariant);
            let driven = told(&what, along(program, trace).await)?;
            Ok((if driven.is_some() { exit::HOLDS } else { exit::VIOLATED }, driven.unwrap_or_default()))
        }
        Subject::Scenario(name) => {
            let Inputs { scenario, design, protocol } = simulated(arguments, name)?;
            let mut code = exit::HOLDS;
            for seed in arguments.seed..arguments.seed.saturating_add(arguments.runs) {
                let names = invariant_names();
                let driven = at_random(program, (&scenario, &design, &protocol), &names, seed).await;
                let what = format!("{} x {}, seed {seed}", scenario.value.name, design.value.name);
                match told(&what, driven)? {
                    Some(log) => last = log,
                    None => code = exit::VIOLATED,
                }
            }
            Ok((code, last))
        }
    }
}

/// Servers that go their own way.
async fn free(arguments: &Arguments, subject: &Subject, out: &mut String) -> Result<(u8, Vec<Line>), Failure> {
    let usage = Failure::Usage;
    let mapping = match &arguments.mapping {
        None => None,
        Some(path) => {
            let name = path.display().to_string();
            let text = std::fs::read_to_string(path).map_err(|error| usage(format!("{name}: {error}")))?;
            Some(Mapping::read(&name, &text)?)
        }
    };
    let (simulation, trace, runs) = match subject {
        Subject::Trace(trace) => {
            let simulation = simulation(trace).map_err(|error| usage(error.to_string()))?;
            (simulation, Some(&**trace), arguments.tries)
        }
        Subject::Scenario(name) => {
            let Inputs { scenario, design, protocol } = simulated(arguments, name)?;
            let (model, _) = input::compose(&scenario, &design, &protocol, &invariant_names())?;
            (Simulation::labelled(model), None, arguments.runs)
        }
    };
    let model = &simulation.setting().model;
    let mut say = |line: String| writeln!(out, "{line}").expect("writing to a string doesn't fail");
    if trace.is_some() {
        say("The order of transactions inside of these servers can't be forced: requests leave when the trace runs their first \
             transaction, and the run is repeated.".to_owned());
    }
    let mut last = Vec::new();
    let mut tally = Tally::default();
    let mut began_elsewhere = false;
    for number in 0..runs {
        let seed = arguments.seed.saturating_add(number);
        let mut servers = if arguments.stdio.is_empty() {
            let Arguments { prepare, restart, .. } = arguments;
            let commands = Commands { prepare: prepare.clone(), restart: restart.clone() };
            let at = Servers::at(&arguments.nodes, mapping.clone(), arguments.tokens.as_deref(), commands, seed);
            at.await.map_err(usage)?
        } else {
            Servers::start(&arguments.stdio, mapping.clone(), seed).await.map_err(usage)?
        };
        let heading = Heading {
            scenario: Some(model.scenario.name.clone()),
            design: Some(model.design.name.clone()),
            protocol: Some(model.protocol.name.clone()),
            seed: Some(seed),
            // Of others only what the mapping promises; ours run the design that is driven.
            versions_count: mapping.as_ref().map_or_else(|| note::versions_count(model), |its| its.versions_count),
            takes_back: mapping.as_ref().map_or_else(|| note::takes_back(model), |its| its.takes_back),
            ..Heading::default()
        };
        let came = Free::new(&simulation, &mut servers, Journal::new(heading), seed).run(trace).await.map_err(usage)?;
        let report = judged(&came.log).map_err(usage)?;
        tally.add(model, &came, &report);
        last = came.log;
        let here = format!("run {} (seed {seed})", number + 1);
        if let Some(other) = came.began.first().filter(|_| !began_elsewhere) {
            began_elsewhere = true;
            say(format!("{here}: it does not begin where the scenario begins: {other}"));
        }
        if let Some(refused) = came.refused.first() {
            let count = came.refused.len();
            say(format!("{here}: {} not taken by a server, the first {refused}", plural(count, "call")));
        }
        let wrong: Vec<&str> = came.assertions.iter().filter(|(_, holds)| !holds).map(|(name, _)| &**name).collect();
        if !wrong.is_empty() {
            say(format!("{here}: of what is stored now, this is not true: {}", wrong.join(", ")));
        }
        let violated = report.checks.iter().filter(|check| check.verdict == Verdict::Violated);
        let violated: Vec<&str> = violated.map(|check| check.name).collect();
        if !violated.is_empty() {
            say(format!("{here}: `audit` finds in its log: {}", violated.join(", ")));
        }
        if !wrong.is_empty() || !violated.is_empty() {
            return Ok((exit::VIOLATED, last));
        }
        if let Some(left) = came.left.filter(|_| arguments.runs == 1 && runs == 1) {
            say(format!("the servers left the trace at {left}"));
        }
    }
    let ran = plural(usize::try_from(runs).unwrap_or(usize::MAX), "run");
    let (came_to, code) = if tally.nothing_was_done() {
        ("nothing was done: no server accepted a change, so there was nothing to find", exit::INCONCLUSIVE)
    } else if !tally.was_judged() {
        ("nothing was found, since nothing could be judged", exit::INCONCLUSIVE)
    } else if model.scenario.finally.is_empty() && model.scenario.at_rest.is_empty() {
        let by = "nothing was found, by `audit` of their logs; the scenario has no assertion to judge their ends by";
        (by, exit::HOLDS)
    } else {
        ("nothing was found, by the scenario's assertions and by `audit` of their logs", exit::HOLDS)
    };
    say(format!("{ran}: {came_to}"));
    tally.lines().into_iter().for_each(|line| say(format!("  {line}")));
    if let Some(why) = lacks_versions(model, mapping.as_ref()).filter(|_| tally.nothing_was_done()) {
        say(format!("  {why}"));
    }
    Ok((code, last))
}

/// Everything that is shipped.
async fn all(arguments: &Arguments, terminal: Terminal, program: &Path, out: &mut String) -> Result<u8, Failure> {
    let names = invariant_names();
    let pairs = pairs(&names)?;
    let (mut violations, mut walks, mut differ) = (0, 0, 0);
    let mut found: BTreeMap<&str, usize> = BTreeMap::new();
    let mut unseen: BTreeMap<(&str, String), usize> = BTreeMap::new();
    let interrupted = interrupts();
    let (mut driven, mut unserved) = (0, 0);
    let mut say = |line: String| writeln!(out, "{line}").expect("writing to a string doesn't fail");
    for (number, pair) in (1..).zip(&pairs) {
        if terminal.live {
            let mut stderr = std::io::stderr();
            let _ = std::io::Write::write_fmt(&mut stderr, format_args!("\r{number} of {} pairs ", pairs.len()));
        }
        let seeds = arguments.seed..arguments.seed.saturating_add(arguments.runs);
        let agreement = agree(program, pair, &names, true, seeds).await?;
        // The servers of this pair may have been interrupted with us.
        if interrupted.load(Ordering::Relaxed) {
            break;
        }
        driven += 1;
        violations += agreement.violations;
        walks += agreement.walks;
        differ += agreement.differences.len();
        agreement.found.into_iter().for_each(|(check, count)| *found.entry(check).or_default() += count);
        agreement.unseen.into_iter().for_each(|(what, count)| *unseen.entry(what).or_default() += count);
        let what = format!("{} x {}", pair.scenario, pair.design);
        if let Some(why) = agreement.unserved {
            unserved += 1;
            say(format!("{what}: not served: {why}"));
        }
        agreement.differences.into_iter().for_each(|difference| say(format!("{what}: {difference}")));
    }
    say(format!(
        "{}, of which {unserved} can't be driven: {violations} violations of the model happened for real, step by step; {walks} random runs went as in the model; \
         {differ} differ",
        plural(pairs.len(), "pair")
    ));
    let counted: Vec<String> = found.iter().map(|(check, count)| format!("{check} {count}")).collect();
    let counted = if counted.is_empty() { "nothing".to_owned() } else { counted.join(", ") };
    say(format!("what `audit` found in the logs of these runs, all of it known to the model: {counted}"));
    let count: usize = unseen.values().sum();
    say(format!("what the model knows of these runs, and a log can't show: {count}"));
    unseen.iter().for_each(|((check, because), count)| say(format!("  {check} {count}: {because}")));
    if driven < pairs.len() {
        say(format!("it was interrupted after {driven} of these pairs"));
    }
    Ok(match differ {
        0 if driven < pairs.len() => exit::INCONCLUSIVE,
        0 => exit::HOLDS,
        _ => exit::VIOLATED,
    })
}
