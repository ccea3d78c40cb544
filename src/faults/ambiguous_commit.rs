//! A transaction commits, and the node sees an error.
//!
//! The node can't tell whether it committed, and goes on as `on-store-error` says: it answers `unknown` or runs the
//! transaction again, and it releases or keeps the claim of this call. Of a claim that it made in this very transaction it
//! knows nothing.

use super::{Fault, Strike, Strikes, one_part};
use crate::action::Target;
use crate::engine::Access;
use crate::handler::Luck;
use crate::world::{CallRef, Component, Fact, Position, Setting};

pub static FAULT: Fault = Fault { strikes: Strikes::Agents, targets, parts: one_part, strike };

fn targets(setting: &Setting, access: &Access<'_, Component>, agent: usize) -> Vec<Target> {
    let call = access.get(setting.call_slot(agent)).call();
    let runs = |position: &Position| match position {
        Position::AtNode { progress, .. } => !progress.ending,
        Position::InTransit => setting.routes_late,
        _ => false,
    };
    let commits = call.as_ref().is_some_and(|call| setting.intent_of(&call.request).is_some() && runs(&call.position));
    let agent = u8::try_from(agent).expect("there are few agents");
    commits.then_some(Target::Agent(agent)).into_iter().collect()
}

fn strike(strike: &mut Strike<'_, '_>, target: Target, _: usize) -> Vec<Fact> {
    let Target::Agent(agent) = target else { unreachable!("agents write") };
    let luck = Luck { error: true, ..Luck::PLAIN };
    strike.programs.execute(strike.setting, strike.access, CallRef::open(agent), luck).facts
}
