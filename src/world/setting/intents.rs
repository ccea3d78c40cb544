//! Intents: which entries of work lists serve which.

use super::{Condition, Setting};
use crate::model::{AgentId, Also, Entry, EntryId, Operation, Scenario, Tool};
use crate::world::{Intents, Request};

/// One piece of work: a mutating work entry, or several that share it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Intent {
    /// The name under which entries share it; `None`: it is one entry's own.
    pub name: Option<String>,
    /// The entries that serve it, in the order of agents and entries.
    pub entries: Vec<(AgentId, EntryId)>,
    /// How it changes its resource.
    pub operation: Operation,
    /// What it changes besides.
    pub also: Option<Also>,
}

impl Intent {
    /// How it changes its resource, or what it changes besides.
    #[must_use]
    pub fn operation(&self, besides: bool) -> &Operation {
        self.also.as_ref().filter(|_| besides).map_or(&self.operation, |also| &also.operation)
    }
}

/// What a work entry serves.
#[derive(Clone, Debug, Default)]
pub(super) struct Serves {
    /// The number of its intent; `None` where it changes nothing.
    intent: Option<usize>,
    /// Its place among all entries that change something, from 0.
    place: usize,
    /// Under which condition it is done.
    condition: Option<Condition>,
}

/// The intents of a scenario, and what each entry of each work list serves.
pub(super) fn of(scenario: &Scenario) -> (Vec<Intent>, Vec<Vec<Serves>>) {
    let mut intents: Vec<Intent> = Vec::new();
    let mut served = Vec::new();
    for (agent, declared) in scenario.agents.iter().enumerate() {
        let mut work = Vec::new();
        for (entry, declared) in declared.work.iter().enumerate() {
            let Entry::Mutate { operation, also, intent: name, .. } = declared else {
                work.push(Serves::default());
                continue;
            };
            let shared = intents.iter().position(|intent| name.is_some() && intent.name == *name);
            let intent = shared.unwrap_or(intents.len());
            if shared.is_none() {
                let (name, operation, also) = (name.clone(), operation.clone(), also.clone());
                intents.push(Intent { name, entries: Vec::new(), operation, also });
            }
            intents[intent].entries.push((agent, entry));
            let place = intents.iter().map(|intent| intent.entries.len()).sum::<usize>() - 1;
            work.push(Serves { intent: Some(intent), place, condition: Condition::of(scenario, declared) });
        }
        served.push(work);
    }
    (intents, served)
}

impl Setting {
    /// The number of the intent that an agent's work entry serves; `None` where it serves none.
    #[must_use]
    pub fn intent(&self, agent: AgentId, entry: EntryId) -> Option<usize> {
        self.work[agent].get(entry)?.intent
    }

    /// The place of a work entry among all that change something, in the order of agents and entries, from 0.
    #[must_use]
    pub fn place(&self, agent: AgentId, entry: EntryId) -> Option<usize> {
        self.work[agent].get(entry).filter(|serves| serves.intent.is_some()).map(|serves| serves.place)
    }

    /// The entries that serve the intent of an agent's work entry: that one, and those that share it. None for an entry
    /// that serves none.
    #[must_use]
    pub fn sharers(&self, agent: AgentId, entry: EntryId) -> &[(AgentId, EntryId)] {
        self.intent(agent, entry).map_or(&[], |intent| &self.intents[intent].entries)
    }

    /// The agents whose entries share an intent with one of this agent's, itself among them where it has any.
    pub fn sharing_agents(&self, agent: AgentId) -> impl Iterator<Item = AgentId> + '_ {
        let shared = (0..self.work[agent].len()).flat_map(move |entry| self.sharers(agent, entry));
        shared.map(|(other, _)| *other)
    }

    /// Under which condition an agent's work entry is done at all.
    #[must_use]
    pub fn condition(&self, agent: AgentId, entry: EntryId) -> Option<&Condition> {
        self.work[agent].get(entry)?.condition.as_ref()
    }

    /// The condition under which what a request asks for is done at all.
    #[must_use]
    pub fn condition_of(&self, request: &Request) -> Option<&Condition> {
        let changes = request.tool != Tool::Read;
        self.condition(usize::from(request.agent), usize::from(request.entry)).filter(|_| changes)
    }

    /// The number of the intent that a request serves; reads serve none.
    #[must_use]
    pub fn intent_of(&self, request: &Request) -> Option<usize> {
        if request.tool == Tool::Read {
            return None;
        }
        self.intent(usize::from(request.agent), usize::from(request.entry))
    }

    /// All intents that mint.
    #[must_use]
    pub fn minting(&self) -> Intents {
        let mints = self.intents.iter().enumerate().filter(|(_, intent)| intent.operation == Operation::Mint);
        mints.fold(Intents::NONE, |all, (number, _)| all.union(Intents::of(number)))
    }

    /// The intents of the entries that come before this one in its agent's work list.
    #[must_use]
    pub fn earlier_intents(&self, agent: AgentId, entry: EntryId) -> Intents {
        let earlier = self.work[agent].iter().take(entry).filter_map(|serves| serves.intent);
        earlier.fold(Intents::NONE, |all, intent| all.union(Intents::of(intent)))
    }

    /// The name under which entries share an intent.
    #[must_use]
    pub fn shared_name(&self, intent: usize) -> &str {
        self.intents[intent].name.as_deref().expect("what is shared has a name")
    }

    /// Whose change an intent is, in words: `A`, or `A or B` where several agents share it.
    #[must_use]
    pub fn author_words(&self, intent: usize) -> String {
        let mut agents: Vec<&str> =
            self.intents[intent].entries.iter().map(|(agent, _)| self.agent_name(*agent)).collect();
        agents.dedup();
        agents.join(" or ")
    }
}
