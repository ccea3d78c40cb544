//! A call is sent twice, by a host, proxy or SDK.
//!
//! The copy has the same arguments, the same key and another request id. Nobody waits for its answer: it is an orphan from
//! birth.

use super::{Fault, Strike, Strikes, one_part};
use crate::action::Target;
use crate::engine::Access;
use crate::handler::Programs;
use crate::harness::{fresh_issue, next_request};
use crate::world::{Component, Fact, Position, Setting};

pub static FAULT: Fault = Fault { strikes: Strikes::Agents, targets, parts: one_part, strike };

fn targets(setting: &Setting, _: &Programs, access: &Access<'_, Component>, agent: usize) -> Vec<Target> {
    let call = access.get(setting.call_slot(agent)).call();
    let sending = call.as_ref().is_some_and(|call| call.position == Position::InTransit);
    sending.then_some(Target::Agent(u8::try_from(agent).expect("there are few agents"))).into_iter().collect()
}

fn strike(strike: &mut Strike<'_, '_>, target: Target, _: usize) -> Vec<Fact> {
    let Target::Agent(agent) = target else { unreachable!("agents send calls") };
    let slot = strike.setting.call_slot(usize::from(agent));
    let mut copy = strike.access.get(slot).call().clone().expect("the call is open");
    copy.broken = false;
    copy.request.id = next_request(strike.setting, strike.access, usize::from(agent));
    copy.request.issue = fresh_issue(strike.setting, strike.access, usize::from(agent));
    strike.programs.abandon(strike.setting, strike.access, copy);
    Vec::new()
}
