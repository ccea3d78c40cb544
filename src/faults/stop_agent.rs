//! An agent with work left never moves again.
//!
//! Its open call stays where it is and may still run and commit; nobody receives the answer.

use super::{Fault, Strike, Strikes, one_part};
use crate::action::Target;
use crate::world::Fact;

pub static FAULT: Fault = Fault { strikes: Strikes::Agents, targets: super::compact::at_work, parts: one_part, strike };

fn strike(strike: &mut Strike<'_, '_>, target: Target, _: usize) -> Vec<Fact> {
    let Target::Agent(agent) = target else { unreachable!("agents stop") };
    let slot = strike.setting.agent_slot(usize::from(agent));
    let mut agent = strike.access.get(slot).agent().clone();
    agent.stopped = true;
    strike.access.set(slot, agent.into());
    Vec::new()
}
