//! What was asked for, and is not decided: it is said, and never passes for what was checked.

use serde::Serialize;

use super::{Engine, Options, PropertyReport, Run};
use crate::model::Verdict;
use crate::step::{Property, PropertyKind, Simulation};

/// An invariant that was asked for, and of which this run says nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unchecked {
    /// Its name.
    pub name: String,
    /// Why it was not checked, to stand behind "since".
    pub why: &'static str,
}

impl Options {
    /// Why an engine with these options does not decide `resolves`; `None` where it does.
    #[must_use]
    pub fn unable(&self) -> Option<&'static str> {
        if self.engine == Engine::Stateright {
            return Some("stateright looks at one path at a time, and misses runs that go on for ever");
        }
        let why = "whether a run goes on for ever needs the states, not their hashes alone";
        self.hash_compact.then_some(why)
    }

    /// Whether a property is asked for.
    fn asks(&self, property: &Property) -> bool {
        match property.kind {
            PropertyKind::Shown => true,
            _ if !self.only.is_empty() => self.only.contains(&property.name),
            _ => self.shows.is_empty(),
        }
    }

    /// Whether a property of a run is to be checked: it is asked for, and can be decided.
    pub(super) fn wants(&self, run: &Run, property: &Property) -> bool {
        self.asks(property) && self.leaves_out(run, property).is_none()
    }

    /// Why a property that is asked for is not checked; `None` where it is. Unless somebody names it, `resolves` is not where
    /// clients choose.
    fn leaves_out(&self, run: &Run, property: &Property) -> Option<&'static str> {
        if property.name != "resolves" {
            return None;
        }
        let named = !self.only.is_empty() || run.expectation(&property.name).is_some();
        let chosen = !named && run.model.may_choose_not_to_end();
        self.unable().or(chosen.then_some("clients that choose may choose never to come to an end"))
    }
}

impl Run {
    /// What is asked for, and not checked.
    pub(super) fn unchecked(&self, simulation: &Simulation, options: &Options) -> Vec<Unchecked> {
        let properties = simulation.properties().into_iter().filter(|property| options.asks(property));
        let left_out = properties.filter_map(|property| {
            let why = options.leaves_out(self, &property)?;
            Some(Unchecked { name: property.name, why })
        });
        left_out.collect()
    }

    /// What is expected and not checked is not known: a verdict of its own, so that no test passes by it.
    pub(super) fn undecided(&self, simulation: &Simulation, options: &Options) -> Vec<PropertyReport> {
        let expected = |property: &Property| {
            options.asks(property)
                && options.leaves_out(self, property).is_some()
                && self.expectation(&property.name).is_some()
        };
        let properties = simulation.properties().into_iter().filter(expected);
        properties.map(|property| self.property(&property, Vec::new(), Verdict::Inconclusive)).collect()
    }
}
