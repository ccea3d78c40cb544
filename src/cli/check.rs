//! `check`: explores a scenario under one design or several, and prints a verdict for each invariant; or, with `--show`, the
//! shortest run that reaches a situation.

use std::io::Write as _;
use std::path::PathBuf;

use super::exploring::Judging;
use super::reporting::Reporting;
use super::resuming::{Checkpoints, write_checkpoint};
use super::{Failure, Terminal, writing};
use crate::explain::explain;
use crate::model::Free;
use crate::policies::world::any_client;
use crate::reports::{Asked, Standing};
use crate::run::{Engine, Report};
use crate::suggest::{did_you_mean, one_of};

#[derive(clap::Args)]
#[command(
    after_help = "With --show it exits with 0 when every situation is reached in every run, and with 1 when one is \
not reached by any interleaving."
)]
pub(super) struct Arguments {
    /// Scenarios: paths, or names of shipped ones (`handlecheck list scenarios`)
    #[arg(required = true, value_name = "SCENARIO")]
    scenarios: Vec<String>,
    /// Designs: paths, or names; by default those that the scenario expects something of, or else `naive`, `dedup-only` and
    /// `versioned`
    #[arg(long = "design", value_name = "DESIGN")]
    designs: Vec<String>,
    /// Show the shortest run that reaches this situation, instead of checking everything: a word of
    /// `handlecheck list situations`, an assertion, or an expression; may be given several times
    #[arg(long = "show", value_name = "SITUATION")]
    shows: Vec<String>,
    /// Go on where a run was cut short: the checkpoint that it left. Everything but the limits must be as it was
    #[arg(long = "resume", value_name = "FILE")]
    resumed: Vec<PathBuf>,
    /// Keep 64 bits of each state that was explored instead of the state: about 25 bytes of memory for each. The report then says
    /// how probable it is at most that one was left out. `resolves` is not checked
    #[arg(long, conflicts_with = "resumed")]
    hash_compact: bool,
    /// Let clients choose anew each time what they send and how they react, and so check all client settings at once; or only
    /// these of them: `payload`, `precondition`, `key`, `before-write`, `keeps`, `blind`, `presents`, `on`
    #[arg(
        long,
        value_name = "SETTING,..",
        num_args = 0..=1,
        require_equals = true,
        value_delimiter = ',',
        value_parser = free,
    )]
    any_client: Option<Vec<Free>>,
    #[command(flatten)]
    judging: Judging,
    #[command(flatten)]
    reporting: Reporting,
    /// The folder that traces are written to, and checkpoints of runs that are cut short
    #[arg(long, value_name = "FOLDER", default_value = "traces")]
    traces: PathBuf,
}

/// What of its settings a client may choose.
fn free(name: &str) -> Result<Free, String> {
    let names = Free::ALL.iter().map(|free| free.name());
    Free::named(name).ok_or_else(|| {
        did_you_mean(name, names.clone()).unwrap_or_else(|| format!("expected {}", one_of(names.clone())))
    })
}

pub(super) fn run(arguments: &Arguments, terminal: Terminal, out: &mut String) -> Result<u8, Failure> {
    let mut explorer = arguments.judging.start(terminal)?;
    if arguments.hash_compact {
        explorer.compact()?;
    }
    let mut runs = Vec::new();
    for scenario in &arguments.scenarios {
        let scenario = explorer.scenario(scenario)?;
        let mut expecting: Vec<String> = scenario.value.expect.keys().cloned().collect();
        expecting.retain(|design| !explorer.deploys() || crate::input::halves(design).is_none());
        let designs = match (arguments.designs.is_empty(), expecting.is_empty()) {
            (true, false) => expecting,
            _ => super::compare::designs(&arguments.designs, false),
        };
        for design in &designs {
            let run = explorer.compose(&scenario, &explorer.design(design, &scenario)?)?;
            runs.push(match &arguments.any_client {
                Some(free) => any_client(&run, free)?,
                None => run,
            });
        }
    }
    if !arguments.resumed.is_empty() && explorer.engine() != Engine::Handlecheck {
        return Err(Failure::Usage("--resume: stateright can't go on where it was cut short".to_owned()));
    }
    if !arguments.shows.is_empty() {
        arguments.reporting.tells_of_situations()?;
    }
    super::plan::told_apart(&runs)?;
    let checkpoints = Checkpoints::read(&arguments.resumed, &runs)?;
    explorer.keep();
    explorer.warn(&runs);
    let mut reports = arguments.reporting.begin(Asked::Verdicts, &runs, terminal);
    let (mut standings, mut cut_short) = (Vec::new(), false);
    for run in &runs {
        explorer.show(&arguments.shows, run)?;
    }
    for run in &runs {
        explorer.show(&arguments.shows, run)?;
        let mut report = explorer.go_on(run, checkpoints.of(run))?;
        writing::write_traces(&mut report, &arguments.traces)?;
        write_checkpoint(&mut report, &arguments.traces)?;
        cut_short |= !report.complete;
        standings.extend(report.invariants.iter().map(|property| Asked::Verdicts.standing(&report, property)));
        standings.extend(report.shows.iter().map(|show| match show.is_reached(&report) {
            Some(true) => Standing::Passed,
            Some(false) => Standing::Failed,
            None => Standing::Inconclusive,
        }));
        reports.explored(run, &report, out);
        if arguments.reporting.is_for_people() {
            tell(&report, out);
        }
    }
    explorer.finish();
    if arguments.any_client.is_some() && cut_short && !terminal.quiet {
        let _ = writeln!(
            std::io::stderr(),
            "clients that choose everything have very many ways: --any-client=payload,key leaves them these settings only, \
             and --invariant with --stop-early looks for one break"
        );
    }
    reports.finish(out)?;
    Ok(explorer.exit_code(standings))
}

/// Tells how each situation that was asked for comes about, at its soonest.
fn tell(report: &Report, out: &mut String) {
    let shortest = report.shows.iter().filter_map(|show| show.runs.first()?.recorded.as_deref());
    for trace in shortest {
        out.push('\n');
        out.push_str(&explain(trace));
    }
}
