//! What `audit` finds in the log of a run of ours, held against what the model knows of the same run.
//!
//! The model has taken every step of the run itself, so it knows which invariants the run violates. What the audit finds in
//! the log must be one of these. Checks that are no invariants, and designs with effects outside of resources, are held against
//! the audit of the log that the model's own clients would have written. The other way round, what the model knows must be found, or the audit must say that it can't
//! judge it.

use super::run::Driven;
use super::{journal, note};
use crate::audit::history::History;
use crate::audit::of_trace;
use crate::audit::report::{Checked, Report, audit};
use crate::log::Line;
use crate::model::Verdict;
use crate::run::invariant_names;
use crate::trace::Trace;

/// What came out for one run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Audited {
    /// The checks that the log shows to be violated, and of which the model knows it.
    pub found: Vec<&'static str>,
    /// The invariants of which the model knows that the run violates them, and a log can't show it; each with the reason.
    pub unseen: Vec<(&'static str, String)>,
    /// Where the audit and the model differ.
    pub differences: Vec<String>,
}

/// Audits the log of a run, and the one that the model's clients would have written, and compares both with the model.
///
/// # Errors
///
/// When a log of ours can't be read, which is a bug.
pub fn audited(driven: &Driven) -> Result<Audited, String> {
    let mut model = of_trace::log(&driven.run);
    if driven.run.design.text.contains("state = \"handle\"") {
        note::leave_out_versions(&mut model);
    }
    let (real, model) = (judged(&driven.log)?, judged(&model)?);
    let mut audited = Audited::default();
    let invariants = invariant_names();
    for (check, expected) in real.checks.iter().zip(&model.checks) {
        let shown = expected.verdict == Verdict::Violated;
        // What happens outside of resources an invariant counts, and no log tells.
        let same = invariants.contains(&check.name) && !outside(&driven.run);
        // This check also holds answers against later views: in the model that is a violation of another invariant.
        let wider = check.name == "truthful-outcome" && !driven.violated.is_empty();
        let known = driven.violated.contains(check.name) || shown && (wider || !same);
        match (check.verdict == Verdict::Violated, known) {
            (true, true) => audited.found.push(check.name),
            (true, false) => audited.differences.push(unknown(check)),
            (false, true) => match unseen(check, &driven.run).filter(|_| !shown) {
                Some(because) => audited.unseen.push((check.name, because)),
                None => audited.differences.push(missed(check)),
            },
            (false, false) => {}
        }
    }
    Ok(audited)
}

/// What the audit of a log of ours comes to.
///
/// # Errors
///
/// When a line of it can't be read, which is a bug.
pub fn judged(lines: &[Line]) -> Result<Report, String> {
    let text = journal::text(lines);
    let history = History::read(text.as_bytes(), None, &mut |_| None).map_err(|error| error.to_string())?;
    match history.mistakes.first() {
        Some(mistake) => Err(format!("line {} of the log can't be read: {}", mistake.line, mistake.what)),
        None => Ok(audit("the log", &history, &[])),
    }
}

/// Why a log can't show it, if it can't: the audit says that it can't judge, and why; or no log can tell. What happens outside
/// of resources is in none, and what was there between two transactions of a call only when somebody read it then.
fn unseen(check: &Checked, run: &Trace) -> Option<String> {
    let inside = ["fresh-read", "version-names-one-content"].contains(&check.name);
    if check.verdict == Verdict::Inconclusive {
        Some(check.unjudged.keys().copied().collect::<Vec<_>>().join("; "))
    } else if outside(run) {
        Some("it happens outside of resources, which no answer shows".to_owned())
    } else {
        inside.then(|| "nobody read what was there between two transactions".to_owned())
    }
}

/// Whether a run's design has effects outside of resources.
fn outside(run: &Trace) -> bool {
    run.design.text.contains("call-upstream")
}

fn unknown(check: &Checked) -> String {
    let sentence = check.findings.first().map_or("", |finding| &finding.sentence);
    format!("`audit` finds {} violated, and the model does not know it: {sentence}", check.name)
}

fn missed(check: &Checked) -> String {
    format!("the run violates {} in the model, and `audit` says of its log: {}", check.name, check.verdict.name())
}
