//! The context of an agent is compacted.
//!
//! An agent with work left keeps what the harness setting `keeps` says: of each resource the handle, the version, the
//! content. Content that is kept without a version is a stale summary. An agent that needs a handle which it has forgotten
//! reacts as to `not-found`.

use super::{Fault, Strike, Strikes, one_part};
use crate::action::Target;
use crate::engine::Access;
use crate::handler::Programs;
use crate::harness::Harness;
use crate::world::{Component, Fact, Setting};

pub static FAULT: Fault = Fault { strikes: Strikes::Agents, targets, parts: one_part, strike };

pub(super) fn targets(setting: &Setting, _: &Programs, access: &Access<'_, Component>, agent: usize) -> Vec<Target> {
    let at = access.get(setting.agent_slot(agent)).agent();
    let works = !at.stopped && usize::from(at.entry) < setting.model.scenario.agents[agent].work.len();
    works.then_some(Target::Agent(at.id)).into_iter().collect()
}

fn strike(strike: &mut Strike<'_, '_>, target: Target, _: usize) -> Vec<Fact> {
    let Target::Agent(agent) = target else { unreachable!("agents are compacted") };
    let mut harness = Harness::new(strike.setting, strike.access, usize::from(agent));
    harness.compact();
    harness.finish()
}
