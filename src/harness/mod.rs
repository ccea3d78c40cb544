//! The client's harness: what an agent sends next, and what it does with every answer, refusal and broken stream.
//!
//! It knows what the agent knows, and nothing of nodes or stores; the ledger it only writes to, when the agent is told
//! something.

mod choosing;
mod planning;
mod reacting;

pub use planning::{fresh_issue, next_request};

use crate::engine::Access;
use crate::model::client::KeyPolicy;
use crate::model::{AgentId, Client, Entry, Free, ResourceId, Tool};
use crate::world::{Agent, Attempt, Component, Errand, Fact, Known, Redo, Setting, View};

/// One agent while it acts.
pub struct Harness<'h, 'a> {
    /// The static part of the run.
    pub setting: &'h Setting,
    /// The state.
    pub access: &'h mut Access<'a, Component>,
    /// The settings that it chose for what it does now, where its harness is free to choose.
    way: Option<&'h Client>,
    /// The agent, as it will be.
    pub agent: Agent,
    /// What happened, for the invariants.
    pub facts: Vec<Fact>,
}

/// What an agent does next by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Move {
    /// It sends a call.
    Send,
    /// It hands on what it knows.
    HandOff,
    /// It decides what to do with an event.
    Decide,
    /// It leaves its entry out, whose condition is not met as it sees it.
    Skip,
}

impl<'h, 'a> Harness<'h, 'a> {
    /// Takes up an agent.
    #[must_use]
    pub fn new(setting: &'h Setting, access: &'h mut Access<'a, Component>, agent: AgentId) -> Self {
        let agent = access.get(setting.agent_slot(agent)).agent().clone();
        Self { setting, access, way: None, agent, facts: Vec::new() }
    }

    /// It behaves for once as these settings say.
    #[must_use]
    pub fn behaving(self, way: &'h Client) -> Self {
        Self { way: Some(way), ..self }
    }

    /// Puts the agent back, and answers what happened.
    #[must_use]
    pub fn finish(self) -> Vec<Fact> {
        let slot = self.setting.agent_slot(usize::from(self.agent.id));
        self.access.set(slot, self.agent.into());
        self.facts
    }

    /// The agent's index.
    fn id(&self) -> AgentId {
        usize::from(self.agent.id)
    }

    /// The entry of its work list that the agent is at; `None` when it is done.
    fn entry(&self) -> Option<&'h Entry> {
        entry(self.setting, &self.agent)
    }

    fn client(&self, tool: Tool) -> &'h Client {
        self.way.unwrap_or_else(|| self.setting.model.client(self.id(), tool))
    }

    fn known(&self, resource: ResourceId) -> &Known {
        &self.agent.known[resource]
    }

    fn view(&self, resource: ResourceId) -> Option<&View> {
        self.known(resource).view.as_ref()
    }

    /// Goes on with the next entry of the work list. In a redo, only entries on that resource count.
    fn advance(&mut self) {
        let entry = usize::from(self.agent.entry);
        if !self.setting.mints_again(self.id()) {
            self.agent.plans[entry] = None;
        }
        self.agent.attempt = Attempt::First;
        let work = &self.setting.model.scenario.agents[self.id()].work;
        let resource = work[entry].resource();
        let mut next = self.agent.entry + 1;
        if let Some(redo) = self.agent.redo {
            while next < redo.until && work[usize::from(next)].resource() != resource {
                next += 1;
            }
            if next > redo.until {
                self.agent.redo = None;
            }
        }
        self.begin(next);
    }

    /// The hand-off that the agent was at is done.
    pub fn handed_off(&mut self) {
        self.advance();
    }

    /// The agent leaves out the entry that it is at: it tells nothing, and nobody owes anything.
    pub fn skip(&mut self) {
        let slot = self.setting.ledger_slot(self.id());
        let mut ledger = self.access.get(slot).ledger().clone();
        ledger.entries[usize::from(self.agent.entry)].skipped = true;
        self.access.set(slot, ledger.into());
        self.advance();
    }

    /// Leaves the rest of the work list.
    fn leave(&mut self) {
        let forgotten = self.agent.plans.iter_mut().chain(&mut self.agent.first_plans);
        forgotten.for_each(|plan| *plan = None);
        self.agent.attempt = Attempt::First;
        self.agent.redo = None;
        let work = &self.setting.model.scenario.agents[self.id()].work;
        self.begin(u8::try_from(work.len()).expect("limits keep work lists below 256 entries"));
    }

    /// The next key of the entry is a new one, if `new`. (A first key is new anyway.)
    fn renew_plan(&mut self, new: bool) {
        if let Some(Some(plan)) = self.agent.plans.get_mut(usize::from(self.agent.entry)).filter(|_| new) {
            *plan = plan.saturating_add(1);
            self.agent.under_first_plan = false;
        }
    }

    /// Whether the harness may use the key of a plan again at the entry that it is at.
    fn comes_back_to_keys(&self) -> bool {
        let client = self.setting.model.client(self.id(), self.setting.tool_at(&self.agent));
        let shares = |intent: usize| self.setting.intents[intent].name.is_some();
        let shared = self.setting.intent(self.id(), usize::from(self.agent.entry)).is_some_and(shares);
        !shared && (client.key == KeyPolicy::PerIntent || client.is_free(Free::Key))
    }

    /// Starts afresh at an entry.
    fn begin(&mut self, entry: u8) {
        self.agent.entry = entry;
        self.agent.errand = Errand::Begin;
        self.agent.undecided = None;
        self.agent.pending = None;
        self.agent.reissue = None;
        self.agent.old.clear();
        self.agent.sends = 0;
        self.agent.broke = false;
        self.agent.under_first_plan = false;
        if usize::from(entry) >= self.agent.plans.len() {
            return;
        }
        match self.agent.redo {
            Some(Redo { new_key: false, .. }) => {
                // Where its first plan is its last, that goes without saying.
                let (first, last) = (self.agent.first_plans[usize::from(entry)], self.agent.plans[usize::from(entry)]);
                self.agent.under_first_plan = first.is_some() && first != last && self.comes_back_to_keys();
            }
            Some(Redo { new_key: true, .. }) => self.renew_plan(true),
            None => {}
        }
        self.miss_handle();
    }
}

/// What an idle agent does next; `None`: nothing, it is done or waits to be handed what it needs.
#[must_use]
pub fn next_move(setting: &Setting, agent: &Agent) -> Option<Move> {
    let entry = entry(setting, agent).filter(|_| !agent.stopped)?;
    if agent.undecided.is_some() {
        return Some(Move::Decide);
    }
    let known = entry.rests_on().into_iter().all(|resource| agent.known[resource].handle.is_some());
    match entry {
        Entry::Mutate { .. } if known && planning::skips(setting, agent) => Some(Move::Skip),
        Entry::Read { .. } | Entry::Mutate { .. } => known.then_some(Move::Send),
        Entry::HandOff { .. } if !known => None,
        Entry::HandOff { .. } if agent.errand == Errand::Begin => {
            let client = setting.model.client(usize::from(agent.id), Tool::Read);
            let reads = planning::next_reading(setting, client, agent, crate::world::Purpose::Look, 0).is_some();
            Some(if reads { Move::Send } else { Move::HandOff })
        }
        Entry::HandOff { .. } => Some(if agent.errand == Errand::Act { Move::HandOff } else { Move::Send }),
    }
}

fn entry<'s>(setting: &'s Setting, agent: &Agent) -> Option<&'s Entry> {
    setting.model.scenario.agents[usize::from(agent.id)].work.get(usize::from(agent.entry))
}
