//! A restart where calls are routed late: it strikes any calls that may have been at one node together.
//!
//! Which calls these are is decided now. Where there is one node, every call that has begun to run is at it, and of those
//! that have not, any may have arrived. Where there are several and one of them restarts once, every call may have come to
//! that node or to another: any calls may be struck. That none is changes nothing but the budget, and is left out; with one
//! node it counts, since a witness asks whether it restarted.
//!
//! Of orphans, only those that have begun to run matter. One that has not may as well be still on its way, for ever. With
//! several nodes, one that has begun may be left where it is too, unless it would have to run on.
//!
//! Where there are several nodes, each set of agents whose open calls may be struck together is a source of its own: one that an
//! agent is in can't move before that agent has a call, so partial-order reduction need not look at it until then. And a read that
//! is struck together with other calls might as well have been sent after the restart.

use super::super::Strike;
use crate::action::Target;
use crate::engine::Access;
use crate::handler::{Aspect, Programs};
use crate::model::Tool;
use crate::model::protocol::ClosedStream;
use crate::world::{Call, Component, Fact, Position, Setting};

/// Orphans of one agent that a target can name.
pub const ORPHANS: usize = 8;

/// Agents up to which each set of them is a source.
const AGENTS: usize = 5;

/// Whether each set of agents is a source of its own: only open calls are struck, and any of them.
pub(super) fn is_by_sets(setting: &Setting) -> bool {
    let must_run_on = setting.model.protocol.closed_stream == ClosedStream::Continues;
    setting.routes_late && setting.model.scenario.nodes > 1 && !must_run_on && setting.agents() <= AGENTS
}

/// The agents in a set, by the number of the source that stands for it.
pub fn set(struck: usize) -> impl Iterator<Item = usize> + Clone {
    (0..AGENTS).filter(move |agent| (struck + 1) & (1 << agent) != 0)
}

/// What strikes the open calls of a set of agents.
pub(super) fn targets_of_set(
    setting: &Setting,
    programs: &Programs,
    access: &Access<'_, Component>,
    struck: usize,
) -> Vec<Target> {
    let several = set(struck).count() > 1;
    let mut possible = true;
    for agent in set(struck) {
        let aspect = if several { Aspect::LeavesTrace(agent) } else { Aspect::Waits(agent) };
        if !aspect.is_in(setting, programs, access) {
            access.blocked_by(setting.call_slot(agent));
            possible = false;
        }
    }
    let open = set(struck).fold(0, |open, agent| open | 1 << agent);
    possible.then_some(Target::Calls { open, orphans: 0 }).into_iter().collect()
}

pub(super) fn targets(setting: &Setting, access: &Access<'_, Component>) -> Vec<Target> {
    let single = setting.model.scenario.nodes == 1;
    let must_run_on = setting.model.protocol.closed_stream == ClosedStream::Continues;
    // What is struck in any case, and the choices: a bit among the open calls, or a bit among the orphans.
    let mut always = 0_u8;
    let mut choices: Vec<(u8, u64)> = Vec::new();
    for agent in 0..setting.agents() {
        if let Some(call) = access.get(setting.call_slot(agent)).call() {
            if single && has_begun(call) {
                always |= 1 << agent;
            } else {
                choices.push((1 << agent, 0));
            }
        }
        if !single && must_run_on {
            let orphans = access.get(setting.orphans_slot(agent)).orphans().iter().enumerate();
            let begun = orphans.filter(|(_, call)| has_begun(call));
            choices.extend(begun.map(|(place, _)| (0, 1 << (agent * ORPHANS + place))));
        }
    }
    let none = Target::Calls { open: always, orphans: 0 };
    let mut targets = vec![none];
    for (call, orphan) in choices {
        for index in 0..targets.len() {
            let Target::Calls { open, orphans } = targets[index] else { unreachable!("all of them are calls") };
            targets.push(Target::Calls { open: open | call, orphans: orphans | orphan });
        }
    }
    if !single {
        targets.remove(0);
    }
    targets
}

pub(super) fn strike(strike: &mut Strike<'_, '_>, part: usize, open: u8, orphans: u64) -> Vec<Fact> {
    let setting = strike.setting;
    let agents = setting.agents();
    if part < agents {
        if open & (1 << part) == 0 {
            return Vec::new();
        }
        let call = strike.access.get(setting.call_slot(part)).call().clone().expect("an open call is struck");
        // It had arrived, or it would not have been struck.
        let lost = (call.request.tool == Tool::Mint).then_some(Fact::MintLost);
        return super::break_off(strike, part, &call, lost);
    }
    let single = setting.model.scenario.nodes == 1;
    if !single && orphans == 0 {
        return Vec::new();
    }
    let agent = part - agents;
    let slot = setting.orphans_slot(agent);
    let named = |place: usize| place < ORPHANS && orphans & (1 << (agent * ORPHANS + place)) != 0;
    let struck = |place: usize, call: &Call| if single { has_begun(call) } else { named(place) };
    let there = strike.access.get(slot).orphans();
    if there.iter().enumerate().any(|(place, call)| struck(place, call)) {
        let left = there.iter().enumerate().filter(|(place, call)| !struck(*place, call));
        let left = left.map(|(_, call)| call.clone()).collect();
        strike.access.set(slot, Component::Orphans(left));
    }
    Vec::new()
}

/// Whether a call is at a node for certain.
fn has_begun(call: &Call) -> bool {
    call.position != Position::InTransit
}
