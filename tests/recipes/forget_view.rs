//! An agent forgets what it has seen.
//!
//! It still knows its handles, and reads again when it needs a view.

use super::{Fault, Strike, Strikes, one_part};
use crate::action::Target;
use crate::engine::Access;
use crate::handler::Programs;
use crate::world::{Component, Fact, Setting};

pub static FAULT: Fault = Fault { strikes: Strikes::Agents, targets, parts: one_part, strike };

fn targets(setting: &Setting, _: &Programs, access: &Access<'_, Component>, agent: usize) -> Vec<Target> {
    let agent = access.get(setting.agent_slot(agent)).agent();
    let sees = agent.known.iter().any(|known| known.view.is_some());
    sees.then_some(Target::Agent(agent.id)).into_iter().collect()
}

fn strike(strike: &mut Strike<'_, '_>, target: Target, _: usize) -> Vec<Fact> {
    let Target::Agent(agent) = target else { unreachable!("agents forget") };
    let slot = strike.setting.agent_slot(usize::from(agent));
    let mut agent = strike.access.get(slot).agent().clone();
    for known in &mut agent.known {
        known.view = None;
    }
    strike.access.set(slot, agent.into());
    Vec::new()
}
