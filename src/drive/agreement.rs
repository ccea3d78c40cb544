//! Whether the server does what the model does, for everything that is shipped.

use std::collections::BTreeMap;
use std::path::Path;

use super::audited::{Audited, audited};
use super::run::{Driven, RunError, along, at_random};
use crate::input::{self, Input, InputError, Kind, library};
use crate::model::{Design, Scenario};
use crate::run::{Options, Run};

/// A scenario and a design, of which something is expected.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pair {
    /// The scenario.
    pub scenario: String,
    /// The design.
    pub design: String,
}

/// What driving one pair came to.
#[derive(Debug, Default)]
pub struct Agreement {
    /// Violations of the model that happened for real, step by step.
    pub violations: usize,
    /// Random runs in which the server did what the model did.
    pub walks: usize,
    /// Violations that `audit` found in the logs of these runs, and the model knows: how often each check.
    pub found: BTreeMap<&'static str, usize>,
    /// Violations that the model knows, and no log can show: how often each check, and for which reason.
    pub unseen: BTreeMap<(&'static str, String), usize>,
    /// Why the server can't run it, where it can't.
    pub unserved: Option<String>,
    /// Where the two differ.
    pub differences: Vec<String>,
}

/// Every shipped pair of which something is expected.
///
/// # Errors
///
/// When a shipped file can't be read, which is a bug.
pub fn pairs(invariants: &[&str]) -> Result<Vec<Pair>, InputError> {
    let mut pairs = Vec::new();
    for name in library::names(Kind::Scenario) {
        let designs = scenario(name, invariants)?.value.expect.into_keys();
        pairs.extend(designs.map(|design| Pair { scenario: name.to_owned(), design }));
    }
    for name in library::names(Kind::Design) {
        let scenarios = design(name)?.value.expect.into_keys();
        pairs.extend(scenarios.map(|scenario| Pair { scenario, design: name.to_owned() }));
    }
    pairs.sort();
    pairs.dedup();
    Ok(pairs)
}

fn scenario(name: &str, invariants: &[&str]) -> Result<Input<Scenario>, InputError> {
    input::read_scenario(&input::resolve(Kind::Scenario, name, None)?, invariants)
}

fn design(name: &str) -> Result<Input<Design>, InputError> {
    input::read_design(&input::resolve(Kind::Design, name, None)?)
}

/// Drives servers along everything that the model finds violated with no fault or one broken stream (`violations`), and
/// through as many random runs as there are seeds. `program` is the command `handlecheck`.
///
/// # Errors
///
/// When an input can't be read.
pub async fn agree(
    program: &Path,
    pair: &Pair,
    invariants: &[&str],
    violations: bool,
    seeds: std::ops::Range<u64>,
) -> Result<Agreement, InputError> {
    let scenario = scenario(&pair.scenario, invariants)?;
    let design = input::design(&pair.design, None)?;
    let protocol = input::protocol_of(&scenario, None)?;
    let mut agreement = Agreement::default();
    if violations {
        let budget = |(fault, budget): (&&'static str, &u8)| {
            (*fault, if *fault == "drop-stream" { (*budget).min(1) } else { 0 })
        };
        let faults = scenario.value.faults.iter().map(budget).collect();
        let run = Run::new(scenario.clone(), design.clone(), protocol.clone(), &faults)?;
        let options = Options { faults, threads: 2, ..Options::default() };
        match run.explore(&options, &mut |_| false) {
            Err(error) => agreement.differences.push(error.to_string()),
            Ok(report) => {
                let traces = report.invariants.iter().flat_map(|property| &property.breaks);
                for trace in traces.filter_map(|broken| broken.recorded.as_ref()) {
                    let ran = along(program, trace).await;
                    if !agreement.note(&trace.invariant, ran) {
                        return Ok(agreement);
                    }
                    agreement.violations += 1;
                }
            }
        }
    }
    for seed in seeds {
        let ran = at_random(program, (&scenario, &design, &protocol), invariants, seed).await;
        if !agreement.note(&format!("seed {seed}"), ran) {
            return Ok(agreement);
        }
        agreement.walks += 1;
    }
    Ok(agreement)
}

impl Agreement {
    /// Notes how a run ended. Answers whether the pair can be run at all.
    fn note(&mut self, what: &str, ran: Result<Driven, RunError>) -> bool {
        match ran {
            Ok(driven) => {
                let Audited { found, unseen, differences } =
                    audited(&driven).unwrap_or_else(|why| Audited { differences: vec![why], ..Audited::default() });
                found.into_iter().for_each(|check| *self.found.entry(check).or_default() += 1);
                unseen.into_iter().for_each(|unseen| *self.unseen.entry(unseen).or_default() += 1);
                self.differences.extend(differences.into_iter().map(|difference| format!("{what}: {difference}")));
                true
            }
            Err(RunError::Unserved(why)) => {
                self.unserved = Some(why);
                false
            }
            Err(error) => {
                self.differences.push(format!("{what}: {error}"));
                true
            }
        }
    }
}
