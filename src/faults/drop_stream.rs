//! A response stream breaks, at any point after sending.
//!
//! Before the request arrives, between two transactions, after the commit: the agent is told that the stream broke, and no
//! more than that. The call becomes an orphan: it may still arrive, run and commit, at any later time, and its answer
//! goes nowhere. Where the protocol lets a stream be resumed, the agent resumes it instead, and the call stays its own.
//!
//! MCP revision 2026-07-28 (basic/transports/streamable-http): a closed stream can't be resumed, and the server must take
//! it for a cancellation, which it can't tell from a broken connection.

use super::{Fault, Strike, Strikes, one_part};
use crate::action::Target;
use crate::engine::Access;
use crate::handler::{Programs, close_stream};
use crate::harness::Harness;
use crate::model::Tool;
use crate::model::protocol::Resumable;
use crate::world::{Component, Fact, Position, Setting};

pub static FAULT: Fault = Fault { strikes: Strikes::Agents, targets, parts: one_part, strike };

fn targets(setting: &Setting, _: &Programs, access: &Access<'_, Component>, agent: usize) -> Vec<Target> {
    let call = access.get(setting.call_slot(agent)).call();
    let open = call.as_ref().is_some_and(|call| !call.broken);
    open.then_some(Target::Agent(u8::try_from(agent).expect("there are few agents"))).into_iter().collect()
}

fn strike(strike: &mut Strike<'_, '_>, target: Target, _: usize) -> Vec<Fact> {
    let Target::Agent(agent) = target else { unreachable!("streams belong to agents") };
    let agent = usize::from(agent);
    let setting = strike.setting;
    let slot = setting.call_slot(agent);
    let mut call = strike.access.get(slot).call().clone().expect("the call is open");
    let resumes = |side: &Setting| match side.model.protocol.resumable {
        Resumable::Never => false,
        Resumable::AfterDelivery => call.position != Position::InTransit,
        Resumable::Always => true,
    };
    // Which node it would come to, nobody knows before it has: all of them would have to know the stream.
    let resumable = match (&call.position, setting.deployed_slot()) {
        (Position::InTransit, Some(slot)) => {
            let nodes = strike.access.get(slot).deployed();
            nodes.iter().all(|deployed| resumes(setting.of(*deployed)))
        }
        _ => resumes(setting.of(call.deployed)),
    };
    if resumable {
        call.broken = true;
        strike.access.set(slot, Some(call).into());
        return Vec::new();
    }
    break_for_good(strike, agent)
}

/// The stream of an agent's open call breaks, and can't be resumed.
pub fn break_for_good(strike: &mut Strike<'_, '_>, agent: usize) -> Vec<Fact> {
    let setting = strike.setting;
    let slot = setting.call_slot(agent);
    let call = strike.access.get(slot).call().clone().expect("the call is open");
    strike.access.set(slot, None.into());
    close_stream(setting, strike.access, call.request.agent);
    strike.programs.abandon(setting, strike.access, call.clone());
    let mut harness = Harness::new(setting, strike.access, agent);
    harness.stream_broke(&call.request);
    let mut facts = harness.finish();
    // A mint that is still on its way may run, and its answer will go nowhere.
    facts.extend((call.request.tool == Tool::Mint).then_some(Fact::MintLost));
    facts
}
