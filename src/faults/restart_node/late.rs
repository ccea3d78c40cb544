//! A restart where calls are routed late: it strikes any calls that may have been at one node together.
//!
//! Which calls these are is decided now. Where there is one node, every call that has begun to run is at it, and of those
//! that have not, any may have arrived. Where there are several and one of them restarts once, every call may have come to
//! that node or to another: any calls may be struck. That none is changes nothing but the budget, and is left out; with one
//! node it counts, since a witness asks whether it restarted.
//!
//! Of orphans, only those that have begun to run matter. One that has not may as well be still on its way, for ever. With
//! several nodes, one that has begun may be left where it is too, unless it would have to run on.

use super::super::Strike;
use crate::action::Target;
use crate::engine::Access;
use crate::model::Tool;
use crate::model::protocol::ClosedStream;
use crate::world::{Call, Component, Fact, Position, Setting};

/// Orphans of one agent that a target can name.
pub const ORPHANS: usize = 8;

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
    let agent = part - agents;
    let slot = setting.orphans_slot(agent);
    let struck = |place: usize, call: &Call| match setting.model.scenario.nodes {
        1 => has_begun(call),
        _ => place < ORPHANS && orphans & (1 << (agent * ORPHANS + place)) != 0,
    };
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
