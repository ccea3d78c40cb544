//! A change that declares what it rests on commits only while that is as its author saw it.
//!
//! It is violated when a change commits though a resource that it is `given` has changed since its author saw it. One
//! version protects one resource: two plans that rest on each other's resource may both pass.
//!
//! **Witness.** Such a change in between.
//!
//! The anomaly is A5B, *write skew*, in Berenson et al., "A Critique of ANSI SQL Isolation Levels" (1995).

use super::{Anomaly, Invariant, Judgement, violation, witness_if};
use crate::world::{Fact, Setting};

pub static INVARIANT: Invariant = Invariant {
    sentence: "a change commits only while what it rests on is as its author saw it",
    anomaly: Some(Anomaly {
        name: "write skew (A5B)",
        reference: "Berenson et al., A Critique of ANSI SQL Isolation Levels, 1995",
    }),
    witness: "what a plan rests on changed before its call executes",
    judge,
    at_rest: None,
};

fn judge(setting: &Setting, fact: &Fact) -> Judgement {
    match fact {
        Fact::Started { basis_changed, .. } => witness_if(*basis_changed),
        Fact::Committed { request, basis_changed: true, .. } => {
            let (agent, entry) = (usize::from(request.agent), usize::from(request.entry));
            violation(format!(
                "{} of {} took effect, though what it rests on had changed since",
                setting.entry_words(agent, entry),
                setting.agent_name(agent)
            ))
        }
        _ => Judgement::Irrelevant,
    }
}
