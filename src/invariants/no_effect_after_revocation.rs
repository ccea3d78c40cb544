//! Nothing takes effect after the permission that it rests on was revoked.
//!
//! It is violated when a change commits after the permission of its principal was revoked.
//! Effects outside of the store (`call-upstream`) are judged by `no-double-write` and `truthful-outcome` alone.
//!
//! **Witness.** A revocation while a call that changes something is open. A read has no effect: what somebody sees after a
//! revocation, this says nothing about.

use super::{Anomaly, Invariant, Judgement, violation, witness_if};
use crate::world::{Fact, Setting};

pub static INVARIANT: Invariant = Invariant {
    sentence: "nothing takes effect after the permission that it rests on was revoked",
    anomaly: Some(Anomaly { name: "time of check, time of use", reference: "CWE-367" }),
    witness: "a permission is revoked while a call that changes something is open",
    judge,
    at_rest: None,
};

fn judge(setting: &Setting, fact: &Fact) -> Judgement {
    match fact {
        Fact::Revoked { open } => witness_if(*open),
        Fact::Committed { request, handle, before: Some(before), .. } => {
            let agent = usize::from(request.agent);
            if !before.revoked.contains(&setting.principal(agent)) {
                return Judgement::Irrelevant;
            }
            violation(format!(
                "{} of {} took effect on {} after the permission was revoked",
                setting.entry_words(agent, usize::from(request.entry)),
                setting.agent_name(agent),
                setting.handle_name(*handle)
            ))
        }
        _ => Judgement::Irrelevant,
    }
}
