//! In every quiescent state each live resource is known to an agent entitled to it, or will expire.
//!
//! It is violated in a quiescent state in which a resource that is open, has not expired and is not declared to expire by
//! itself is known to no agent that may use it: nobody can reach it or free it.
//!
//! **Witness.** The answer of a mint is lost, or an agent that knows a handle is compacted.

use super::{Anomaly, Invariant, Judgement, Violation, witness_if};
use crate::engine::Access;
use crate::model::protocol::TaskIds;
use crate::world::{Component, Fact, Handle, Lifecycle, Setting};

pub static INVARIANT: Invariant = Invariant {
    sentence: "in every quiescent state each live resource is known to an agent entitled to it, or will expire",
    anomaly: Some(Anomaly { name: "missing release of a resource", reference: "CWE-772" }),
    witness: "the answer of a mint is lost, or an agent that knows a handle is compacted",
    judge,
    at_rest: Some(at_rest),
};

fn judge(_: &Setting, fact: &Fact) -> Judgement {
    witness_if(matches!(fact, Fact::MintLost | Fact::Compacted))
}

fn at_rest(setting: &Setting, access: &Access<'_, Component>) -> Option<Violation> {
    for resource in 0..setting.resources() {
        if setting.resource(resource).expires {
            continue;
        }
        let stored = access.get(setting.resource_slot(resource)).resource();
        for (number, instance) in (0..).zip(&stored.instances) {
            let live = instance.is_reachable() && instance.lifecycle == Lifecycle::Open;
            let handle = Handle { resource: stored.id, instance: number };
            let knows = |agent: usize| {
                // It may know it as what it would have made itself.
                let mut known = access.get(setting.agent_slot(agent)).agent().known.iter();
                known.any(|known| known.handle == Some(handle)) && setting.entitled(setting.principal(agent), resource)
            };
            if live && !(0..setting.agents()).any(knows) {
                let name = setting.handle_name(handle);
                let chosen = setting.resource(resource).chosen.as_ref();
                let sentence = match chosen.filter(|_| setting.model.protocol.task_ids == TaskIds::Client) {
                    // Who chose a name and was answered that it is taken was answered no handle.
                    Some(chosen) => {
                        format!(
                            "{name}, under the name {chosen}, is live, and nobody who may use it was told its handle"
                        )
                    }
                    None => format!("{name} is live, and nobody who may use it knows it"),
                };
                return Some(Violation { kind: None, sentence, against: None });
            }
        }
    }
    None
}
