//! The distinct causes of violations: one break for each pair that races.

use serde::Serialize;

use super::reducing::Explored;
use super::{Break, ResumeError, Run};
use crate::step::Simulation;
use crate::step::causes::Against;

/// One cause of the violations of an invariant.
#[derive(Clone, Debug, Serialize)]
pub struct CauseReport {
    /// The step that violates: whose transaction, serving what.
    pub by: String,
    /// What it meets, where the invariant names that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub against: Option<String>,
    /// What happens, in one sentence.
    pub sentence: String,
    /// The shortest break that has this cause.
    #[serde(flatten)]
    pub shown: Break,
}

impl Run {
    /// What was found of the causes of an invariant's violations, shortest first.
    pub(super) fn causes(
        &self,
        simulation: &Simulation,
        explored: &Explored,
        property: usize,
    ) -> Result<Vec<CauseReport>, ResumeError> {
        let found = &explored.decided;
        let mut causes = Vec::new();
        for (_, place) in found.causes.iter().filter(|((of, _), _)| usize::from(*of) == property) {
            let (path, _) = explored.decider().path(simulation, *place, property);
            let [.., before, after] = &*path else { continue };
            let Some(cause) = simulation.cause_of(before, after, property) else { continue };
            // With fewer actions taken, paths are real and need not be shortest.
            let shown =
                self.recorded(simulation, explored.decider(), *place, property, explored.reductions.is_empty())?;
            let sentence = shown.recorded.as_ref().map_or_else(String::new, |trace| trace.sentence.clone());
            let against = match cause.against {
                Against::Effect(words) => Some(words),
                Against::Sentence(_) => None,
            };
            causes.push(CauseReport { by: cause.by, against, sentence, shown });
        }
        causes.sort_by(|one, other| {
            let key =
                |cause: &CauseReport| (cause.shown.steps, cause.shown.faults, cause.by.clone(), cause.against.clone());
            key(one).cmp(&key(other))
        });
        Ok(causes)
    }
}
