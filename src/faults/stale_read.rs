//! A read is served from before the latest change.
//!
//! It strikes where `reads-from = "replica"`: a node executes the transaction of a read on a copy that lags behind. What is
//! read had to be changed before: a write and whatever else leaves a content is a change. That a resource was made, by a
//! `mint`, or deleted is none: the copy knows of that at once, so nobody is answered `not-found` because a copy lags.

use super::{Fault, Strike, Strikes, one_part};
use crate::action::Target;
use crate::engine::Access;
use crate::handler::{Luck, Programs};
use crate::world::{CallRef, Component, Fact, Setting};

pub static FAULT: Fault = Fault { strikes: Strikes::Agents, targets, parts: one_part, strike };

fn targets(setting: &Setting, programs: &Programs, access: &Access<'_, Component>, agent: usize) -> Vec<Target> {
    let agent = u8::try_from(agent).expect("there are few agents");
    if !setting.has_lagging_copies() {
        return Vec::new();
    }
    let luck = Luck { lags: true, ..Luck::PLAIN };
    let tried = programs.try_execute(setting, access, CallRef::open(agent), luck);
    tried.filter(|tried| tried.asked_copy).map(|_| Target::Agent(agent)).into_iter().collect()
}

fn strike(strike: &mut Strike<'_, '_>, target: Target, _: usize) -> Vec<Fact> {
    let Target::Agent(agent) = target else { unreachable!("agents read") };
    let luck = Luck { lags: true, ..Luck::PLAIN };
    let executed = strike.programs.execute(strike.setting, strike.access, CallRef::open(agent), luck);
    let facts = executed.facts.clone();
    strike.executed = Some(executed);
    facts
}
