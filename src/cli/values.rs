//! Values of options: what a word on the command line means, and what is wrong with it.

use super::Failure;
use crate::faults::FAULTS;
use crate::model::limits;
use crate::run::{Engine, Run, invariant_names};
use crate::suggest::{did_you_mean, one_of};

/// The name of an engine.
pub(super) fn engine(name: &str) -> Result<Engine, String> {
    Engine::named(name).ok_or_else(|| {
        let names: Vec<&str> = Engine::ALL.iter().map(|engine| engine.name()).collect();
        format!("expected {}", names.join(" or "))
    })
}

/// A size in bytes, with a unit.
pub(super) fn bytes(text: &str) -> Result<usize, String> {
    let size: bytesize::ByteSize = text.parse().map_err(|_| "expected a size such as 500MB or 4GiB".to_owned())?;
    usize::try_from(size.as_u64()).map_err(|_| "that is more than this machine can address".to_owned())
}

/// A fault and its budget.
pub(super) fn budget(text: &str) -> Result<(&'static str, u8), Failure> {
    let usage = |message: String| Failure::Usage(format!("--faults {text}: {message}"));
    let (name, budget) = text.split_once('=').ok_or_else(|| usage("expected FAULT=N".to_owned()))?;
    let names: Vec<&str> = FAULTS.iter().map(|fault| fault.name).collect();
    let Some(fault) = names.iter().find(|fault| **fault == name) else {
        let help = did_you_mean(name, names.iter().copied());
        return Err(usage(format!(
            "there is no fault `{name}`{}",
            help.map_or_else(String::new, |help| format!("; {help}"))
        )));
    };
    let budget = budget.parse().ok().filter(|budget| *budget <= limits::BUDGET);
    let budget = budget.ok_or_else(|| usage(format!("expected a number from 0 to {}", limits::BUDGET)))?;
    Ok((fault, budget))
}

/// `--invariant` names something that this run has.
pub(super) fn known_property(name: &str, run: &Run) -> Result<(), Failure> {
    let scenario = &run.model().scenario;
    let assertions = scenario.assertions().map(|assertion| &*assertion.name);
    let names: Vec<&str> = invariant_names().into_iter().chain(assertions).collect();
    if names.contains(&name) {
        return Ok(());
    }
    let help = did_you_mean(name, names.iter().copied()).unwrap_or_else(|| format!("expected {}", one_of(names)));
    Err(Failure::Usage(format!("--invariant {name}: there is no such invariant or assertion; {help}")))
}
