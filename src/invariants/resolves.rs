//! Under fairness every intent ends: done, or told.
//!
//! It is a liveness property: violated by a fair run in which some intent never ends. Fair is everything but faults, the
//! arrival of an orphan and, where a closed stream cancels, the execution of an orphan; any other call at a node keeps
//! executing until that node restarts, and what can be cancelled is cancelled some day if it does not run. Fairness does
//! not mean that the balancer ever picks the right node. Agents that were stopped, have left the rest of their work, or
//! were never given the handle, are exempt.
//!
//! The counterexample is a shortest path to a state on a fair loop, and the loop; or to a state in which nothing fair can
//! move and an intent is open. Its steps are those of the path.
//!
//! **Witness.** A mutating call is sent.

use super::{Anomaly, Invariant, Judgement, witness_if};
use crate::engine::Access;
use crate::model::{Entry, Operation, ResourceId};
use crate::world::{Component, Fact, Setting};

pub static INVARIANT: Invariant = Invariant {
    sentence: "under fairness every intent ends: done, or told",
    anomaly: Some(Anomaly { name: "livelock or deadlock", reference: "Alpern and Schneider, Defining Liveness, 1985" }),
    witness: "a mutating call is sent",
    judge,
    at_rest: None,
};

fn judge(setting: &Setting, fact: &Fact) -> Judgement {
    witness_if(matches!(fact, Fact::Sent { request, .. } if setting.intent_of(request).is_some()))
}

/// The first agent with an intent that has not ended, unless it is exempt.
pub fn first_open(setting: &Setting, access: &Access<'_, Component>) -> Option<usize> {
    (0..setting.agents()).find(|agent| is_open(setting, access, *agent))
}

fn is_open(setting: &Setting, access: &Access<'_, Component>, agent: usize) -> bool {
    let at = access.get(setting.agent_slot(agent)).agent();
    let work = &setting.model.scenario.agents[agent].work;
    let Some(entry) = work.get(usize::from(at.entry)).filter(|_| !at.stopped) else { return false };
    let ledger = access.get(setting.ledger_slot(agent)).ledger();
    let mut rest = usize::from(at.entry)..work.len();
    let ended = |entry: usize| ledger.entries[entry].told.is_some() || ledger.entries[entry].skipped;
    let open = rest.any(|entry| setting.intent(agent, entry).is_some() && !ended(entry));
    if !open {
        return false;
    }
    let given = |resource: ResourceId| at.known[resource].handle.is_some() || at.known[resource].forgotten;
    let (own, also) = match entry {
        Entry::Mutate { operation: Operation::Mint, also, .. } => (true, also.as_ref()),
        Entry::Mutate { resource, also, .. } => (given(*resource), also.as_ref()),
        Entry::Read { resource } | Entry::HandOff { resource, .. } => (given(*resource), None),
    };
    let waits = access.get(setting.call_slot(agent)).call().is_some();
    waits || own && also.is_none_or(|also| given(also.resource))
}
