//! The changes of an intent, where they are told apart.

use super::Setting;
use crate::model::{AgentId, EntryId, Operation};

impl Setting {
    /// The changes that an operation makes, as the ledger counts them: one for each field where a handler may make them one
    /// by one, else one for all.
    #[must_use]
    pub fn changes(&self, operation: &Operation) -> Vec<u8> {
        let fields = operation.fields();
        if fields.is_empty() || !self.has_step("apply-next") {
            return vec![0];
        }
        fields.into_iter().map(|field| u8::try_from(field).expect("limits keep fields below 256")).collect()
    }

    /// The changes that an entry of a work list makes, as the ledger counts them.
    #[must_use]
    pub fn changes_of_entry(&self, agent: AgentId, entry: EntryId) -> Vec<u8> {
        self.intent(agent, entry).map_or_else(Vec::new, |intent| self.changes(&self.intents[intent].operation))
    }
}
