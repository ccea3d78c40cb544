//! The changes of an intent, where they are told apart.

use super::{Intent, Setting};
use crate::model::design::{CALLS_UPSTREAM, STORES};
use crate::model::{AgentId, EntryId, Operation, Tool};
use crate::world::{Effect, IntentLedger, Intents};

impl Setting {
    /// What the change of an entry may take away from a field unseen: itself, and its author's own earlier changes where it
    /// sets the field. `besides`: in the other resource of its call.
    #[must_use]
    pub fn may_erase(&self, agent: AgentId, entry: EntryId, besides: bool, field: usize) -> Intents {
        let Some(intent) = self.intent(agent, entry) else { return Intents::NONE };
        let operation = self.intents[intent].operation(besides);
        let sets = matches!(operation, Operation::Set(_)) && operation.fields().contains(&field);
        let own = if sets { self.earlier_intents(agent, entry) } else { Intents::NONE };
        own.union(Intents::of(intent))
    }

    /// The changes that an operation makes, as the ledger counts them: one for each field where a handler may make them one
    /// by one, or leave some out, else one for all.
    #[must_use]
    pub fn changes(&self, operation: &Operation) -> Vec<u8> {
        let fields = operation.fields();
        let one_by_one = self.has_step("apply-next") || self.layout.drops_new_fields;
        if fields.is_empty() || !one_by_one {
            return vec![0];
        }
        fields.into_iter().map(|field| u8::try_from(field).expect("limits keep fields below 256")).collect()
    }

    /// The changes that an operation makes besides, in the other resource of an intent.
    #[must_use]
    pub fn changes_besides(&self, operation: &Operation) -> Vec<u8> {
        self.changes(operation).into_iter().map(|change| Effect::OTHER + change).collect()
    }

    /// The changes that an entry of a work list makes, as the ledger counts them.
    #[must_use]
    pub fn changes_of_entry(&self, agent: AgentId, entry: EntryId) -> Vec<u8> {
        let Some(intent) = self.intent(agent, entry) else { return Vec::new() };
        let Intent { operation, also, .. } = &self.intents[intent];
        let besides = also.iter().flat_map(|also| self.changes_besides(&also.operation));
        self.changes(operation).into_iter().chain(besides).collect()
    }

    /// Whether all handlers of this tool, whatever nodes run, have one of these steps.
    fn all_have(&self, tool: Tool, steps: &[&str]) -> bool {
        self.sides().all(|side| side.model.design.server.handler(tool).is_some_and(|handler| handler.has(steps)))
    }

    /// What is missing of an intent that is to be done: nothing, if it took effect in all that its handlers do for it, in the
    /// store and upstream.
    #[must_use]
    pub fn missing(&self, agent: AgentId, entry: EntryId, ledger: &IntentLedger) -> Option<Missing> {
        let tool = self.model.scenario.agents[agent].work[entry].tool()?;
        let stored = |change: &u8| ledger.effects.iter().any(|effect| effect.change == *change);
        let calls_upstream = self.all_have(tool, &CALLS_UPSTREAM);
        match (ledger.effects.is_empty(), ledger.upstream > 0) {
            (true, false) => Some(Missing::All),
            (true, true) if self.all_have(tool, &STORES) => Some(Missing::Stored),
            (false, false) if calls_upstream => Some(Missing::Upstream),
            (false, _) if !self.changes_of_entry(agent, entry).iter().all(stored) => Some(Missing::Fields),
            _ => None,
        }
    }
}

/// What is missing of the effects of an intent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    /// It never took effect.
    All,
    /// Some of its fields.
    Fields,
    /// Everything in the store.
    Stored,
    /// The effect upstream.
    Upstream,
}
