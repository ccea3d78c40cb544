//! Runs that differ from another one in one of their inputs, and traces of what they do.

use std::collections::BTreeMap;

use super::{Run, invariant_names};
use crate::input::{self, InputError, Source};
use crate::step::Simulation;
use crate::trace::{RecordError, Trace, record, record_run};
use crate::world::Component;

impl Run {
    /// The same run with another text of its design.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with the text, or that does not fit the other inputs.
    pub fn with_design(&self, source: &Source) -> Result<Self, InputError> {
        let mut design = input::read_design(source)?;
        if let Some(deployed) = &self.design.deployed {
            let expect = std::mem::take(&mut design.value.expect);
            design = input::deploy_design(design, (**deployed).clone());
            design.value.expect = expect;
        }
        Self::new(self.scenario.clone(), design, self.protocol.clone(), &BTreeMap::new())
    }

    /// The same run with another text of what is deployed.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with the text, or that does not fit the other inputs.
    pub fn with_deployed_design(&self, source: &Source) -> Result<Self, InputError> {
        let old = input::read_design(self.sources().design)?;
        let mut design = input::deploy_design(old, input::read_design(source)?);
        design.value.expect = self.design.value.expect.clone();
        Self::new(self.scenario.clone(), design, self.protocol.clone(), &BTreeMap::new())
    }

    /// The same run with another text of its scenario. Budgets stay, since they may be others than the text has, and so does
    /// what is expected.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with the text, or that does not fit the other inputs.
    pub fn with_scenario(&self, source: &Source) -> Result<Self, InputError> {
        let mut scenario = input::read_scenario(source, &invariant_names())?;
        scenario.value.faults = self.scenario.value.faults.clone();
        scenario.value.expect = self.scenario.value.expect.clone();
        Self::new(scenario, self.design.clone(), self.protocol.clone(), &BTreeMap::new())
    }

    /// The same run with another text of its protocol.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with the text, or that does not fit the other inputs.
    pub fn with_protocol(&self, source: &Source) -> Result<Self, InputError> {
        let mut protocol = input::read_protocol(source)?;
        if let Some(deployed) = &self.protocol.deployed {
            protocol = input::deploy_protocol(protocol, (**deployed).clone());
        }
        Self::new(self.scenario.clone(), self.design.clone(), protocol, &BTreeMap::new())
    }

    /// The same run, of which nothing is expected.
    #[must_use]
    pub fn expecting_nothing(mut self) -> Self {
        self.design.value.expect.clear();
        self.model.design.expect.clear();
        self
    }

    /// The same run with other budgets of these faults.
    #[must_use]
    pub fn with_budgets(&self, budgets: &BTreeMap<&'static str, u8>) -> Self {
        let mut run = self.clone();
        for scenario in [&mut run.scenario.value, &mut run.model.scenario] {
            scenario.faults.extend(budgets.iter().map(|(fault, budget)| (*fault, *budget)));
        }
        run
    }

    /// Writes down a violation of a property, by its number, from the states on the path to it.
    ///
    /// # Errors
    ///
    /// When the path can't be walked again, which is a bug.
    pub fn record(
        &self,
        simulation: &Simulation,
        path: &[Vec<Component>],
        property: usize,
    ) -> Result<Trace, RecordError> {
        record(simulation, path, None, property, &self.sources())
    }

    /// Writes down a run whatever is in it, from the states on its way.
    ///
    /// # Errors
    ///
    /// When the path can't be walked again, which is a bug.
    pub fn record_run(&self, simulation: &Simulation, path: &[Vec<Component>]) -> Result<Trace, RecordError> {
        record_run(simulation, path, &self.sources())
    }
}
