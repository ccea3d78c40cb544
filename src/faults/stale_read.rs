//! A read is served from before the latest change.
//!
//! It strikes where `reads-from = "replica"`: a node executes a transaction of a read on a copy that lags behind by the
//! latest change: a write and whatever else leaves a content. Where that change made what is read, by a `mint`, the copy
//! does not have it yet, and `resolve` or `read` ends the call with `not-found`. That a resource was deleted the copy knows
//! at once.

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
