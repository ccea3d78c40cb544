//! What came out for situations that were asked for.

use serde::Serialize;

use super::{Break, Report, Run};
use crate::situation::Situation;
use crate::step::Property;

/// What came out for one situation that was asked for.
#[derive(Clone, Debug, Serialize)]
pub struct ShowReport {
    /// The situation.
    pub situation: String,
    /// Some run reaches it.
    pub reached: bool,
    /// Why none can, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// Every run to it that is cheapest in steps or in faults, shortest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub runs: Vec<Break>,
}

impl ShowReport {
    /// Whether a run reaches it; `None`: none did before the search was cut short.
    #[must_use]
    pub fn is_reached(&self, report: &Report) -> Option<bool> {
        match (self.reached, report.complete) {
            (true, _) => Some(true),
            (false, true) => Some(false),
            (false, false) => None,
        }
    }

    /// The same in words.
    #[must_use]
    pub fn words(&self, report: &Report) -> &'static str {
        match self.is_reached(report) {
            Some(true) => "reached",
            Some(false) => "not reached",
            None => "inconclusive",
        }
    }
}

impl Run {
    /// What was found of a situation.
    pub(super) fn show(&self, property: &Property, runs: Vec<Break>, shows: &[Situation]) -> ShowReport {
        let situation = shows.iter().find(|situation| situation.name() == property.name);
        let hint = situation.filter(|_| runs.is_empty()).and_then(|situation| self.why_never(situation));
        ShowReport { situation: property.name.clone(), reached: !runs.is_empty(), hint, runs }
    }
}
