//! `lock`: what every run of a folder comes to, in one file.

use std::fs;
use std::path::PathBuf;

use super::cache::Caching;
use super::exploring::Exploring;
use super::models::Models;
use super::plan::{Explored, Plan, explore, folder, lock_of, locked};
use super::{Failure, Terminal, exit, writing};
use crate::model::Verdict;

#[derive(clap::Args)]
#[command(after_help = "\
A lock holds what every scenario of the folder comes to under every design, with its bounds, the cheapest breaks, the \
numbers of states and the digests of the inputs. Designs that a scenario expects something of are covered too. Commit \
it: its changes are reviewed, and `handlecheck diff` says what has changed since.

Exits with 0 when the lock is written, or with --check, when it is as it would be written; with 3 when it was stopped \
by a time limit or an interrupt, and then nothing is written; and with 3 when another limit cut runs short: what they left \
open is written as inconclusive.")]
pub(super) struct Arguments {
    /// The folder of models; by default `models`, or else the current folder
    #[arg(value_name = "FOLDER")]
    folder: Option<PathBuf>,
    /// Write nothing; exit with 1 if the lock is not what would be written
    #[arg(long)]
    check: bool,
    /// Cover only what a scenario or a design expects something of
    #[arg(long)]
    expected: bool,
    /// Write to this file instead of `handlecheck.lock` in the folder
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    exploring: Exploring,
    #[command(flatten)]
    caching: Caching,
}

pub(super) fn run(arguments: &Arguments, terminal: Terminal, out: &mut String) -> Result<u8, Failure> {
    let folder = folder(arguments.folder.as_deref())?;
    let file = arguments.output.clone().unwrap_or_else(|| lock_of(&folder));
    let mut explorer = arguments.exploring.start(terminal)?;
    explorer.remember(&arguments.caching)?;
    explorer.deploys_nothing("what is expected of a deploy stands under `OLD..NEW` in `[expect]`")?;
    let mut expected = arguments.expected;
    let there = if arguments.check {
        let source = writing::read_lock(&file)?;
        let lock = crate::lock::read(&source)?;
        explorer.ask(&lock.asked)?;
        expected |= lock.asked.expected;
        Some((source, lock))
    } else {
        None
    };
    let asked = explorer.asked(expected);
    let plan = Plan::of(&Models::read(std::slice::from_ref(&folder))?, &asked, &explorer)?;
    if plan.runs.is_empty() {
        let folder = folder.display();
        let help = "it needs a scenario, and a design or an [expect] that names one";
        return Err(Failure::Usage(format!("there is nothing to run in {folder}: {help}")));
    }
    let explored = explore(&mut explorer, &plan.runs)?;
    explorer.finish();
    let done = explored.iter().filter(|explored| explored.report.is_some()).count();
    let all = plan.runs.len();
    if done < all {
        *out = format!("stopped after {done} of {all} runs: {} is as it was\n", file.display());
        return Ok(exit::INCONCLUSIVE);
    }
    let lock = locked(asked, &explored, &plan.misfits);
    let text = lock.to_toml();
    let cut = explored.iter().filter(|explored| is_open(explored)).count();
    let open = if cut == 0 { String::new() } else { format!(", of which {cut} left something open") };
    let runs = format!("{}{open}", if all == 1 { "1 run".to_owned() } else { format!("{all} runs") });
    let written = if cut == 0 { exit::HOLDS } else { exit::INCONCLUSIVE };
    match there {
        Some((old, _)) if *old.text == *text => {
            *out = format!("{} is as it would be written: {runs}\n", file.display());
            Ok(exit::HOLDS)
        }
        Some((_, old)) => {
            *out = super::diff::shown(&old, &lock, &file, &folder, &explored, terminal.colour);
            Ok(exit::VIOLATED)
        }
        None => {
            let same = fs::read_to_string(&file).is_ok_and(|old| old == text);
            if !same {
                writing::write_file(&file, &text)?;
            }
            let as_it_was = if same { ", as it was" } else { "" };
            let misfits = match plan.misfits.len() {
                0 => String::new(),
                1 => "; 1 pair does not fit together".to_owned(),
                more => format!("; {more} pairs don't fit together"),
            };
            *out = format!("{}: {runs}{as_it_was}{misfits}\n", file.display());
            Ok(written)
        }
    }
}

/// Whether a run was cut short before everything that was asked was decided.
fn is_open(explored: &Explored<'_>) -> bool {
    let invariants = explored.report.iter().flat_map(|report| &report.invariants);
    invariants.into_iter().any(|property| property.verdict == Verdict::Inconclusive)
}
