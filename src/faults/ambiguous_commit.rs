//! A transaction commits, and the node sees an error.
//!
//! It strikes a transaction that comes to its end and has a step that writes, of whatever call, but not one of `at-end`.
//! The node can't tell whether it committed, and goes on as `on-store-error` says: it answers `unknown` or runs the
//! transaction again, and it releases or keeps the claim of this call. Of a claim that it made in this very transaction it
//! knows nothing.

use super::{Fault, Strike, Strikes, one_part};
use crate::action::Target;
use crate::engine::Access;
use crate::handler::{Luck, Programs};
use crate::world::{CallRef, Component, Fact, Setting};

pub static FAULT: Fault = Fault { strikes: Strikes::Agents, targets, parts: one_part, strike };

fn targets(setting: &Setting, programs: &Programs, access: &Access<'_, Component>, agent: usize) -> Vec<Target> {
    let orphans = access.get(setting.orphans_slot(agent)).orphans();
    let agent = u8::try_from(agent).expect("there are few agents");
    let mut calls: Vec<CallRef> = Vec::new();
    if access.get(setting.call_slot(usize::from(agent))).call().is_some() {
        calls.push(CallRef::open(agent));
    }
    for (index, call) in (0..).zip(orphans) {
        // Equal orphans have equal futures: one of them stands for all.
        if index == 0 || orphans[usize::from(index) - 1] != *call {
            calls.push(CallRef { agent, orphan: Some(index) });
        }
    }
    let mut targets = Vec::new();
    for call in calls {
        let tried = |ticks: bool| programs.try_execute(setting, access, call, Luck { ticks, ..Luck::PLAIN });
        let Some(tried) = tried(true).filter(|tried| tried.committed) else { continue };
        targets.push(Target::Transaction { call, clock_stands: false });
        if tried.asked_clock {
            targets.push(Target::Transaction { call, clock_stands: true });
        }
    }
    targets
}

fn strike(strike: &mut Strike<'_, '_>, target: Target, _: usize) -> Vec<Fact> {
    let Target::Transaction { call, clock_stands } = target else { unreachable!("transactions commit") };
    let luck = Luck { error: true, ticks: !clock_stands, ..Luck::PLAIN };
    let executed = strike.programs.execute(strike.setting, strike.access, call, luck);
    let facts = executed.facts.clone();
    strike.executed = Some(executed);
    facts
}
