//! What agents choose from whose harness is free to: each way that does anything else than those before it.

use super::{Simulation, small};
use crate::action::Action;
use crate::engine::Access;
use crate::harness::Harness;
use crate::model::{Client, Free};
use crate::world::{Agent, Component, Fact};

/// What a step writes, slot by slot.
type Effects = Vec<(u16, Component)>;

impl Simulation {
    /// The calls that an idle agent can send.
    pub(super) fn sends(&self, agent: &Agent, access: &Access<'_, Component>) -> Vec<Action> {
        let (id, tool) = (usize::from(agent.id), self.setting.tool_at(agent));
        let ways = &self.setting.choices(id, tool).sends;
        let presents = self.setting.model.client(id, tool).is_free(Free::Presents);
        let mut sends = Vec::new();
        for (number, way) in (0..).zip(ways) {
            let keys = Harness::leaked_keys(&self.setting, way, agent);
            let own = (keys == 0 || presents).then_some(None);
            let keys = own.into_iter().chain((0..keys).map(Some));
            sends.extend(keys.map(|leaked| Action::Send { agent: agent.id, leaked, way: number }));
        }
        if ways.len() > 1 || presents { self.different(sends, access) } else { sends }
    }

    /// The clients as any of which an agent may react to what it has yet to react to.
    #[must_use]
    pub fn ways_to_decide(&self, agent: &Agent, access: &Access<'_, Component>) -> Vec<Client> {
        Harness::ways_to_decide(&self.setting, access, agent)
    }

    /// What an agent can decide to do with an event.
    pub(super) fn decisions(&self, agent: &Agent, access: &Access<'_, Component>) -> Vec<Action> {
        let ways = self.ways_to_decide(agent, access).len();
        let decisions = (0..ways).map(|way| Action::Decide { agent: agent.id, way: small(way) });
        self.different(decisions.collect(), access)
    }

    /// Of actions that do the same, the first.
    fn different(&self, actions: Vec<Action>, access: &Access<'_, Component>) -> Vec<Action> {
        let mut seen: Vec<Effects> = Vec::new();
        let mut different = Vec::new();
        for action in actions {
            let mut trial = access.trial();
            self.perform(&action, 0, &mut trial);
            let (_, mut effects) = trial.finish();
            effects.sort_by_key(|(slot, _)| *slot);
            if !seen.contains(&effects) {
                seen.push(effects);
                different.push(action);
            }
        }
        different
    }

    pub(super) fn send(
        &self,
        agent: usize,
        leaked: Option<u8>,
        way: u8,
        access: &mut Access<'_, Component>,
    ) -> Vec<Fact> {
        let tool = self.setting.tool_at(access.get(self.setting.agent_slot(agent)).agent());
        let way = &self.setting.choices(agent, tool).sends[usize::from(way)];
        let mut harness = Harness::new(&self.setting, access, agent).behaving(way);
        harness.send(leaked);
        harness.finish()
    }

    pub(super) fn decide(&self, agent: usize, way: u8, access: &mut Access<'_, Component>) -> Vec<Fact> {
        let ways = self.ways_to_decide(access.get(self.setting.agent_slot(agent)).agent(), access);
        let mut harness = Harness::new(&self.setting, access, agent).behaving(&ways[usize::from(way)]);
        harness.decide();
        harness.finish()
    }
}
