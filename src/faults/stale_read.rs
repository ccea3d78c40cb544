//! A read is served from before the latest change.
//!
//! It strikes where `reads-from = "replica"`: a node executes the transaction of a read on a copy that lags behind.

use super::{Fault, Strike, Strikes, one_part};
use crate::action::Target;
use crate::engine::Access;
use crate::handler::Luck;
use crate::model::Tool;
use crate::model::design::ReadsFrom;
use crate::world::{CallRef, Component, Fact, Position, Setting};

pub static FAULT: Fault = Fault { strikes: Strikes::Agents, targets, parts: one_part, strike };

fn targets(setting: &Setting, access: &Access<'_, Component>, agent: usize) -> Vec<Target> {
    let call = access.get(setting.call_slot(agent)).call().as_ref();
    let runs = |position: &Position| match position {
        Position::AtNode { .. } => true,
        Position::InTransit => setting.routes_late,
        _ => false,
    };
    let reads = call.filter(|call| call.request.tool == Tool::Read && runs(&call.position));
    let Some(handle) = reads.and_then(|call| call.request.handle) else { return Vec::new() };
    let stored = access.get(setting.resource_slot(usize::from(handle.resource))).resource();
    let lags = stored.instances.get(usize::from(handle.instance)).is_some_and(|instance| instance.previous.is_some());
    let replica = setting.model.design.server.reads_from == ReadsFrom::Replica;
    let agent = u8::try_from(agent).expect("there are few agents");
    (lags && replica).then_some(Target::Agent(agent)).into_iter().collect()
}

fn strike(strike: &mut Strike<'_, '_>, target: Target, _: usize) -> Vec<Fact> {
    let Target::Agent(agent) = target else { unreachable!("agents read") };
    let luck = Luck { lags: true, ..Luck::PLAIN };
    strike.programs.execute(strike.setting, strike.access, CallRef::open(agent), luck).facts
}
