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
use crate::model::Client;
use crate::world::{Agent, Component, Fact, Setting};

pub static FAULT: Fault = Fault { strikes: Strikes::Agents, targets, parts: one_part, strike };

/// The agent, where it has work left and can move.
pub(super) fn at_work(setting: &Setting, _: &Programs, access: &Access<'_, Component>, agent: usize) -> Vec<Target> {
    let at = access.get(setting.agent_slot(agent)).agent();
    let works = !at.stopped && usize::from(at.entry) < setting.model.scenario.agents[agent].work.len();
    works.then_some(Target::Agent(at.id)).into_iter().collect()
}

fn targets(setting: &Setting, programs: &Programs, access: &Access<'_, Component>, agent: usize) -> Vec<Target> {
    let struck = at_work(setting, programs, access, agent);
    let ways = ways(setting, access.get(setting.agent_slot(agent)).agent());
    if struck.is_empty() || ways.len() == 1 {
        return struck;
    }
    let mut kept = Vec::new();
    let mut targets = Vec::new();
    for (number, way) in (0..).zip(ways) {
        let mut trial = access.trial();
        let mut harness = Harness::new(setting, &mut trial, agent).behaving(way);
        harness.compact();
        if !kept.contains(&harness.agent) {
            kept.push(harness.agent);
            targets.push(Target::Keeping(u8::try_from(agent).expect("there are few agents"), number));
        }
    }
    targets
}

/// What the agent may keep.
fn ways<'s>(setting: &'s Setting, agent: &Agent) -> &'s [Client] {
    &setting.choices(usize::from(agent.id), setting.tool_at(agent)).keeps
}

fn strike(strike: &mut Strike<'_, '_>, target: Target, _: usize) -> Vec<Fact> {
    let (agent, way) = match target {
        Target::Agent(agent) => (agent, 0),
        Target::Keeping(agent, way) => (agent, way),
        _ => unreachable!("agents are compacted"),
    };
    let agent = usize::from(agent);
    let way = &ways(strike.setting, strike.access.get(strike.setting.agent_slot(agent)).agent())[usize::from(way)];
    let mut harness = Harness::new(strike.setting, strike.access, agent).behaving(way);
    harness.compact();
    harness.finish()
}
