//! Nothing takes effect on a closed, expired or executed resource.
//!
//! It is violated when a change commits on a resource that has expired, or was ended (closed, executed, deleted) by another
//! intent. That an intent ends its own resource twice is a matter of `no-double-write`.
//! Effects outside of the store (`call-upstream`) are judged by `no-double-write` and `truthful-outcome` alone.
//!
//! **Witness.** A mutating call executes on such a resource.

use super::{Anomaly, Invariant, Judgement, violation, witness_if};
use crate::world::{Fact, Instance, Lifecycle, Request, Setting};

pub static INVARIANT: Invariant = Invariant {
    sentence: "nothing takes effect on a closed, expired or executed resource",
    anomaly: Some(Anomaly { name: "time of check, time of use", reference: "CWE-367" }),
    witness: "a mutating call executes on a resource that has ended",
    judge,
    at_rest: None,
};

fn judge(setting: &Setting, fact: &Fact) -> Judgement {
    match fact {
        Fact::Started { request, instance, other, .. } => {
            let mutates = setting.intent_of(request).is_some();
            let mut named = instance.iter().chain(other);
            witness_if(mutates && named.any(|instance| has_ended(setting, request, instance).is_some()))
        }
        Fact::Committed { request, handle, before: Some(before), .. } => match has_ended(setting, request, before) {
            None => Judgement::Irrelevant,
            Some(end) => violation(format!(
                "{} of {} took effect on {}, which was {end}",
                setting.entry_words(usize::from(request.agent), usize::from(request.entry)),
                setting.agent_name(usize::from(request.agent)),
                setting.handle_name(*handle)
            )),
        },
        _ => Judgement::Irrelevant,
    }
}

/// How the resource had ended before this call, if it had: by itself, or by another intent.
fn has_ended(setting: &Setting, request: &Request, instance: &Instance) -> Option<&'static str> {
    let by_other = instance.ended_by.is_some_and(|by| setting.intent_of(request) != Some(usize::from(by)));
    match instance.lifecycle {
        _ if instance.expired => Some("expired"),
        Lifecycle::Open => None,
        ended => by_other.then(|| ended.name()),
    }
}
