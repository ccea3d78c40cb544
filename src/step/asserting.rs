//! What the assertions of a scenario say of a state.

use super::Simulation;
use crate::assertion::{Compiled, Facts, ResourceFacts};
use crate::engine::Access;
use crate::faults::FAULTS;
use crate::invariants::INVARIANTS;
use crate::model::{Told, Value};
use crate::world::Component;

/// The fields of a resource and its version.
type Stored = (Vec<(String, Value)>, Option<i64>);

impl Simulation {
    /// What `[finally]` and `[at-rest]` say of a quiescent state: each assertion's bit, and whether it holds. `[finally]`
    /// says nothing where some intent was not told as `ok`.
    pub fn at_rest(&self, access: &Access<'_, Component>) -> Vec<(usize, Result<bool, String>)> {
        let first = INVARIANTS.len() + self.finally.len();
        let at_rest = (first..).zip(self.evaluate(&self.at_rest, access));
        self.finally(access).into_iter().chain(at_rest).collect()
    }

    pub(super) fn finally(&self, access: &Access<'_, Component>) -> Vec<(usize, Result<bool, String>)> {
        if self.finally.is_empty() || !self.all_told_ok(access) {
            return Vec::new();
        }
        // A resource that was created anew owes nothing to what was done before.
        let recreate = FAULTS.iter().position(|fault| fault.name == "recreate").expect("it is in the table");
        let left = access.get(self.setting.budgets_slot()).budgets()[recreate];
        if left < self.setting.faults()[recreate] {
            return Vec::new();
        }
        let holds = self.evaluate(&self.finally, access);
        (INVARIANTS.len()..).zip(holds).collect()
    }

    pub(super) fn all_told_ok(&self, access: &Access<'_, Component>) -> bool {
        let told_ok = |agent: usize| {
            let ledger = access.get(self.setting.ledger_slot(agent)).ledger();
            let entries = ledger.entries.iter().enumerate();
            let mut intents = entries.filter(|(entry, _)| self.setting.intent(agent, *entry).is_some());
            intents.all(|(_, intent)| intent.told.map_or(intent.skipped, |told| told == Told::Ok))
        };
        (0..self.setting.agents()).all(told_ok)
    }

    pub(super) fn sometimes(&self, access: &Access<'_, Component>) -> Vec<(usize, bool)> {
        if self.sometimes.is_empty() {
            return Vec::new();
        }
        let holds = self.evaluate(&self.sometimes, access).into_iter().map(|holds| holds == Ok(true));
        (INVARIANTS.len() + self.finally.len() + self.at_rest.len()..).zip(holds).collect()
    }

    pub(super) fn evaluate(
        &self,
        assertions: &[Compiled],
        access: &Access<'_, Component>,
    ) -> Vec<Result<bool, String>> {
        if assertions.is_empty() {
            return Vec::new();
        }
        let setting = &self.setting;
        let told: Vec<Vec<Told>> = (0..setting.agents())
            .map(|agent| {
                let ledger = access.get(setting.ledger_slot(agent)).ledger();
                ledger.entries.iter().filter_map(|intent| intent.told).collect()
            })
            .collect();
        let told: Vec<(&str, &[Told])> =
            told.iter().enumerate().map(|(agent, told)| (setting.agent_name(agent), &**told)).collect();
        // Fields and version are those of the latest instance; what was never minted has none.
        let state: Vec<Stored> = (0..setting.resources())
            .map(|resource| {
                let declared = setting.resource(resource);
                match access.get(setting.resource_slot(resource)).resource().instances.last() {
                    None => (Vec::new(), None),
                    Some(instance) => {
                        let names = declared.fields.iter().map(|(name, _)| name.clone());
                        let values = instance.content.iter().map(|field| field.value.clone());
                        (names.zip(values).collect(), Some(i64::from(instance.version)))
                    }
                }
            })
            .collect();
        let resources: Vec<ResourceFacts<'_>> = state
            .iter()
            .enumerate()
            .map(|(resource, (fields, version))| ResourceFacts {
                name: &setting.resource(resource).name,
                fields,
                version: *version,
            })
            .collect();
        let facts = Facts { resources: &resources, told: &told };
        assertions.iter().map(|assertion| assertion.evaluate(&facts)).collect()
    }
}
