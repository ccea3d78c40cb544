//! How an agent comes to know a handle that it neither minted nor had from the start: it is handed one, or guesses one.

use super::Simulation;
use crate::engine::Access;
use crate::harness::Harness;
use crate::model::Entry;
use crate::model::scenario::Carried;
use crate::world::{Component, Fact, Handle, View};

impl Simulation {
    /// A foreign agent guesses a handle.
    pub(super) fn guess(&self, agent: usize, handle: Handle, access: &mut Access<'_, Component>) {
        let slot = self.setting.agent_slot(agent);
        let mut guesser = access.get(slot).agent().clone();
        let stored = access.get(self.setting.resource_slot(usize::from(handle.resource))).resource();
        let token = self.setting.token_of(&stored.instances[usize::from(handle.instance)]);
        let known = &mut guesser.known[usize::from(handle.resource)];
        (known.handle, known.token) = (Some(handle), token);
        access.set(slot, guesser.into());
    }

    /// An agent hands a handle on, with what is carried of its view.
    pub(super) fn hand_off(&self, agent: usize, access: &mut Access<'_, Component>) -> Vec<Fact> {
        let setting = &self.setting;
        let giver = access.get(setting.agent_slot(agent)).agent().clone();
        let work = &setting.model.scenario.agents[agent].work;
        let Entry::HandOff { resource, to, carries } = &work[usize::from(giver.entry)] else {
            unreachable!("the agent is at a hand-off")
        };
        let known = &giver.known[*resource];
        let carried = |part: Carried| carries.contains(&part);
        let view = known.view.as_ref().map(|view| View {
            version: view.version.filter(|_| carried(Carried::Version)),
            content: view.content.clone().filter(|_| carried(Carried::Content)),
            fence: view.fence.filter(|_| carried(Carried::Version)),
        });
        let view = view.filter(|view| view.version.is_some() || view.content.is_some());
        for receiver in to {
            let slot = setting.agent_slot(*receiver);
            let mut agent = access.get(slot).agent().clone();
            let record = &mut agent.known[*resource];
            // A view of what another handle named says nothing of this one.
            record.view = record.view.take().filter(|_| record.handle == known.handle);
            record.handle = known.handle;
            record.forgotten = false;
            record.token.clone_from(&known.token);
            if let Some(view) = &view {
                record.view = Some(view.clone());
            }
            access.set(slot, agent.into());
        }
        let mut harness = Harness::new(setting, access, agent);
        harness.handed_off();
        harness.finish()
    }
}
