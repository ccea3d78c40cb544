//! A read never presents a state that was superseded before the read was issued.
//!
//! It is violated when the content presented was superseded before the read was sent.
//!
//! **Witness.** A read of what has changed: one that is served from an earlier time shows something else.

use super::{Anomaly, Invariant, Judgement, violation, witness_if};
use crate::model::Tool;
use crate::world::{Fact, Instance, Lifecycle, Setting};

pub static INVARIANT: Invariant = Invariant {
    sentence: "a read never presents a state that was superseded before the read was issued",
    anomaly: Some(Anomaly {
        name: "stale read (non-monotonic read)",
        reference: "Terry et al., Session Guarantees for Weakly Consistent Replicated Data, 1994",
    }),
    witness: "a read of what has changed",
    judge,
    at_rest: None,
};

fn judge(setting: &Setting, fact: &Fact) -> Judgement {
    let (request, answer) = match fact {
        Fact::Started { request, instance: Some(instance), .. } => {
            return witness_if(request.tool == Tool::Read && has_changed(setting, instance));
        }
        Fact::Received { request, answer, .. } => (request, answer),
        _ => return Judgement::Irrelevant,
    };
    let Some(seen) = answer.view.as_ref().filter(|_| answer.handle == request.handle) else {
        return Judgement::Irrelevant;
    };
    let older = seen.version.zip(request.sent_at).is_some_and(|(seen, current)| seen < current);
    if !older && !request.superseded {
        return Judgement::Irrelevant;
    }
    let (agent, handle) = (setting.agent_name(usize::from(request.agent)), request.handle);
    let handle = handle.map_or_else(String::new, |handle| setting.handle_name(handle));
    violation(format!("{agent} read {handle} as it was before a change that was there when it asked"))
}

/// Whether something is not as it was when it came to be. That it was minted is no change of it.
fn has_changed(setting: &Setting, instance: &Instance) -> bool {
    let changed = instance.content.iter().any(|field| !field.shows.without(setting.minting()).is_empty());
    changed || instance.approved.is_some() || instance.lifecycle != Lifecycle::Open
}
