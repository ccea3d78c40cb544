//! A change that declares what it rests on commits only while that is as its author saw it, or as it says that it must be.
//!
//! It is violated when a change commits though a resource that it is `given` has changed since its author saw it, or though
//! its condition (`if`) is not true of what is stored. What the condition names may have changed as long as it is true. One
//! version protects one resource: two plans that rest on each other's resource may both pass.
//!
//! **Witness.** A call of such a change starts when that is not so any more.
//!
//! The anomaly is A5B, *write skew*, in Berenson et al., "A Critique of ANSI SQL Isolation Levels" (1995).

use super::{Anomaly, Invariant, Judgement, violation, witness_if};
use crate::world::{BrokenBasis, Fact, Setting};

pub static INVARIANT: Invariant = Invariant {
    sentence: "a change commits only while what it rests on is as its author saw it, or as its condition says",
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
        Fact::Started { broken_basis, .. } => witness_if(broken_basis.is_some()),
        Fact::Committed { request, broken_basis: Some(broken), taken_back: false, .. } => {
            let condition = setting.condition_of(request);
            let why = match (broken, condition) {
                (BrokenBasis::ConditionNotMet, Some(condition)) => format!("{} was not true", condition.text),
                _ => "what it rests on had changed since".to_owned(),
            };
            let (agent, entry) = (usize::from(request.agent), usize::from(request.entry));
            let words = setting.entry_words(agent, entry);
            violation(format!("{words} of {} took effect, though {why}", setting.agent_name(agent)))
        }
        _ => Judgement::Irrelevant,
    }
}
