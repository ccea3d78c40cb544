//! What is wrong with a trace file, with its place: before anything is made of the trace.

use std::ops::Range;

use super::replay::inputs;
use super::{ReadError, ReplayError, Trace};
use crate::action::ACTIONS;
use crate::faults::FAULTS;
use crate::input::{InputError, foreign};
use crate::invariants::INVARIANTS;
use crate::suggest::{did_you_mean, one_of};

impl ReadError {
    /// As what is wrong with a file of this name and text, with its place.
    #[must_use]
    pub fn shown(&self, origin: &str, text: &str) -> InputError {
        match self {
            Self::Malformed { path, source } => foreign::of_json(origin, text, path, source),
            Self::Schema { .. } => InputError::whole(format!("{origin}: {self}"), None),
        }
    }
}

/// Whether the names in a trace are such as there are: of its inputs, of what it shows and of its actions. What is drawn of
/// a log has no inputs, and is not checked.
///
/// # Errors
///
/// Everything that is wrong, in the text that the trace was read from.
pub fn check(trace: &Trace, origin: &str, text: &str) -> Result<(), InputError> {
    if trace.scenario.text.is_empty() {
        return Ok(());
    }
    let (scenario, ..) = inputs(trace).map_err(|error| match error {
        ReplayError::Input(error) => *error,
        other => InputError::whole(format!("{origin}: {other}"), None),
    })?;
    let mut problems = Vec::new();
    let invariants = INVARIANTS.iter().map(|row| row.name);
    let known: Vec<&str> = invariants.chain(scenario.value.assertions().map(|assertion| &*assertion.name)).collect();
    if trace.shows.is_none() && !known.contains(&&*trace.invariant) {
        let name = &trace.invariant;
        let help = did_you_mean(name, known.iter().copied()).unwrap_or_else(|| format!("expected {}", one_of(known)));
        problems.push((
            place(text, "invariant", name),
            format!("there is no invariant or assertion `{name}`"),
            Some(help),
        ));
    }
    let known: Vec<&str> = ACTIONS.iter().map(|(name, _)| *name).chain(FAULTS.iter().map(|fault| fault.name)).collect();
    let mut reported: Vec<&str> = Vec::new();
    for (number, step) in (1..).zip(&trace.steps) {
        let name = &*step.does.action;
        if !known.contains(&name) && !reported.contains(&name) {
            reported.push(name);
            let help = did_you_mean(name, known.iter().copied())
                .or_else(|| Some(format!("expected {}", one_of(known.iter().copied()))));
            let message = format!("step {number}: there is no action and no fault `{name}`");
            problems.push((place(text, "action", name), message, help));
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(foreign::shown(origin, text, problems)) }
}

/// Where this key first has this value.
fn place(text: &str, key: &str, value: &str) -> Range<usize> {
    let (key, value) = (format!("\"{key}\""), serde_json::to_string(value).unwrap_or_default());
    let has = |at: &usize| {
        let before = text[..*at].trim_end().strip_suffix(':').map(str::trim_end);
        before.is_some_and(|before| before.ends_with(&key))
    };
    let found = text.match_indices(&value).map(|(at, _)| at).find(has);
    found.map_or(0..0, |at| at..at + value.len())
}
