//! An owner can reach acknowledged state until its declared expiry.
//!
//! It is violated when an entitled agent receives `not-found` for a resource that it was told of and that was neither
//! deleted nor has expired.
//!
//! **Witness.** A call on a resource reaches another node than the one that made it, or a node that lost it.

use super::{Anomaly, Invariant, Judgement, violation, witness_if};
use crate::model::Outcome;
use crate::world::{Fact, Lifecycle, Setting};

pub static INVARIANT: Invariant = Invariant {
    sentence: "an owner can reach acknowledged state until its declared expiry",
    anomaly: Some(Anomaly {
        name: "read your writes",
        reference: "Terry et al., Session Guarantees for Weakly Consistent Replicated Data, 1994",
    }),
    witness: "a call on a resource reaches another node than the one that made it, or the same after a restart",
    judge,
    at_rest: None,
};

fn judge(setting: &Setting, fact: &Fact) -> Judgement {
    match fact {
        Fact::Started { instance: Some(instance), node, restarted, .. } => {
            // A resource in the store was made on no node in particular: any other of several is another one.
            let several = setting.model.scenario.nodes > 1;
            let elsewhere = if setting.is_state_in_nodes() { instance.node != *node } else { several };
            witness_if(instance.lost || elsewhere || *restarted)
        }
        Fact::Received { request, answer, instance: Some(instance), .. } if answer.outcome == Outcome::NotFound => {
            let principal = setting.principal(usize::from(request.agent));
            let other = request.other.as_ref().filter(|_| answer.of_other).map(|other| other.handle);
            let asked = other.or(request.handle);
            let about = asked.map_or(request.about(), |handle| handle.resource);
            let entitled = setting.entitled(principal, usize::from(about));
            let there = !instance.expired && instance.lifecycle != Lifecycle::Deleted;
            if !(entitled && there) {
                return Judgement::Irrelevant;
            }
            let agent = setting.agent_name(usize::from(request.agent));
            let handle = asked.map_or_else(String::new, |handle| setting.handle_name(handle));
            let fate = if instance.lost { "was lost with its node" } else { "is there" };
            violation(format!("{agent} was answered not-found about {handle}, which {fate}"))
        }
        _ => Judgement::Irrelevant,
    }
}
