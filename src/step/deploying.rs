//! A node changes over to what is deployed: at any point, once, with a restart or without one.
//!
//! With a restart the node loses its memory and its calls, as in the fault `restart-node`. Without one it keeps both: what
//! is in its memory is there for what is deployed to find, if it looks, and a call that began before ends as it began.
//! Nothing but the node decides how a call is handled, and the balancer brings a call to any. So a broken stream of a request
//! that has reached no node yet is lost as soon as one node would not know it.

use super::Simulation;
use crate::action::{Action, Target};
use crate::engine::Access;
use crate::faults::{RESTART_NODE, Strike, break_for_good};
use crate::model::protocol::Resumable;
use crate::world::{Component, Fact, Position};

impl Simulation {
    /// The nodes that run what is deployed, one after the other; a node changes over once.
    pub(super) fn deploys(&self, node: u8, access: &Access<'_, Component>) -> Vec<Action> {
        let slot = self.setting.deployed_slot().expect("something is deployed");
        let still = !access.get(slot).deployed()[usize::from(node)];
        still.then_some(Action::Deploy { node }).into_iter().collect()
    }

    /// Into how many parts a change falls: those of a restart, one for each agent, and one for the node itself.
    pub(super) fn parts_of_change_over(&self) -> usize {
        self.parts_of_restart() + self.setting.agents() + 1
    }

    fn parts_of_restart(&self) -> usize {
        let restart = self.setting.model.scenario.deploy.restart;
        if restart { (RESTART_NODE.parts)(&self.setting) } else { 0 }
    }

    /// Executes one part of it.
    pub(super) fn change_over(&self, node: u8, part: usize, access: &mut Access<'_, Component>) -> Vec<Fact> {
        let restart = self.parts_of_restart();
        let mut strike = Strike { setting: &self.setting, programs: &self.programs, access, executed: None };
        if part < restart {
            return (RESTART_NODE.strike)(&mut strike, Target::Node(node), part);
        }
        let agent = part - restart;
        if agent < self.setting.agents() {
            let call = strike.access.get(self.setting.call_slot(agent)).call();
            let waits = call.as_ref().is_some_and(|call| call.broken && call.position == Position::InTransit);
            let known = self.setting.of(true).model.protocol.resumable == Resumable::Always;
            return if waits && !known { break_for_good(&mut strike, agent) } else { Vec::new() };
        }
        let slot = self.setting.deployed_slot().expect("something is deployed");
        let mut deployed = access.get(slot).deployed().clone();
        deployed[usize::from(node)] = true;
        access.set(slot, Component::Deployed(deployed));
        Vec::new()
    }
}
