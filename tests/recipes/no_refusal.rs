//! Nobody is refused.
//!
//! It is violated when an agent receives an answer that is not `ok`.
//!
//! **Witness.** An answer is received.

use super::{Invariant, Judgement, violation};
use crate::model::Outcome;
use crate::world::{Fact, Setting};

pub static INVARIANT: Invariant =
    Invariant { sentence: "nobody is refused", anomaly: None, witness: "an answer is received", judge, at_rest: None };

fn judge(setting: &Setting, fact: &Fact) -> Judgement {
    match fact {
        Fact::Received { request, answer, .. } if answer.outcome != Outcome::Ok => {
            let agent = setting.agent_name(usize::from(request.agent));
            violation(format!("{agent} was refused with {}", answer.outcome))
        }
        Fact::Received { .. } => Judgement::Witness,
        _ => Judgement::Irrelevant,
    }
}
