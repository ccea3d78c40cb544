//! A read never presents a state that was superseded before the read was issued.
//!
//! It is violated when the content presented was superseded before the read was sent.
//!
//! **Witness.** A change between two reads of one agent.

use super::{Invariant, Judgement, violation, witness_if};
use crate::world::{Fact, Setting};

pub static INVARIANT: Invariant = Invariant {
    sentence: "a read never presents a state that was superseded before the read was issued",
    witness: "a change between two reads",
    judge,
    at_rest: None,
};

fn judge(setting: &Setting, fact: &Fact) -> Judgement {
    let Fact::Received { request, answer, previous, .. } = fact else { return Judgement::Irrelevant };
    let Some(seen) = answer.view.as_ref().and_then(|view| view.version).filter(|_| answer.handle == request.handle)
    else {
        return Judgement::Irrelevant;
    };
    if request.sent_at.is_some_and(|current| seen < current) {
        let (agent, handle) = (setting.agent_name(usize::from(request.agent)), request.handle);
        let handle = handle.map_or_else(String::new, |handle| setting.handle_name(handle));
        return violation(format!("{agent} read {handle} as it was before a change that was there when it asked"));
    }
    let current = request.sent_at.unwrap_or(seen);
    witness_if(previous.is_some_and(|previous| previous != current))
}
