//! No principal reads or changes another's resource, receives another's answer, is held up by another's keys or leases,
//! or can tell another's handle from an unknown one.
//!
//! Five kinds: `read` (a view of Q's resource, or Q's recorded outcome, is answered to P), `write` (P's change commits on
//! Q's resource), `delivery` (P's stream carries the answer to Q's call), `disclosure` (P, never entitled to the handle,
//! is refused with another outcome than this design gives for a handle that never existed), `interference` (P's call on
//! its own handle is answered from, refused or blocked by a key record, claim or lease of Q, who has no right on that
//! handle). All but `write` are judged when the answer is received. A principal is entitled to what it owns and to what
//! is shared with it.
//!
//! **Witness.** A call names another principal's handle, or calls of two principals present equal keys.
//!
//! The MCP security best practices call the attack *state handle hijacking*; possession of a handle is no authentication.

use super::{Anomaly, Invariant, Judgement, Violation, witness_if};
use crate::model::Outcome;
use crate::world::{Answer, Fact, Request, Setting};

pub static INVARIANT: Invariant = Invariant {
    sentence: "no principal reads, changes, receives, is held up by or can probe what is another's",
    anomaly: Some(Anomaly { name: "confused deputy", reference: "Hardy, The Confused Deputy, 1988; CWE-639" }),
    witness: "a call names another principal's handle, or calls of two principals present equal keys",
    judge,
    at_rest: None,
};

fn judge(setting: &Setting, fact: &Fact) -> Judgement {
    match fact {
        Fact::Sent { request, shares_key, attempt: _ } => witness_if(*shares_key || is_foreign(setting, request)),
        Fact::Committed { request, .. } if is_foreign(setting, request) => violation(
            "write",
            format!(
                "{} changed {}, which belongs to {}",
                caller(setting, request),
                handle(setting, request),
                owner(setting, request)
            ),
        ),
        Fact::Received { request, answer, .. } => received(setting, request, answer),
        Fact::StateShown { agent, handle } => violation(
            "read",
            format!(
                "{} learned {}, and the handle carries the state",
                setting.agent_name(usize::from(*agent)),
                setting.handle_name(*handle)
            ),
        ),
        _ => Judgement::Irrelevant,
    }
}

fn received(setting: &Setting, request: &Request, answer: &Answer) -> Judgement {
    let principal = setting.principal(usize::from(request.agent));
    let caller = caller(setting, request);
    if let Some(of) = answer.of.map(usize::from).filter(|of| setting.principal(*of) != principal) {
        let sentence = format!("the stream of {caller} carried the answer to a call of {}", setting.agent_name(of));
        return violation("delivery", sentence);
    }
    if let (Some(_), Some(seen)) = (&answer.view, answer.handle) {
        let resource = usize::from(seen.resource);
        if !setting.entitled(principal, resource) {
            let owner = &setting.principals[usize::from(setting.owner(resource))];
            return violation("read", format!("{caller} read {}, which belongs to {owner}", setting.handle_name(seen)));
        }
    }
    let holder = answer.held_by.filter(|holder| *holder != principal);
    if let (true, Some(holder)) = (answer.replayed, holder) {
        let holder = &setting.principals[usize::from(holder)];
        return violation("read", format!("{caller} received the recorded outcome of a call of {holder}"));
    }
    if is_foreign(setting, request) {
        if let (Some(unknown), true) = (answer.unknown_handle, answer.outcome != Outcome::Ok) {
            return violation(
                "disclosure",
                format!(
                    "{caller} was refused with {}, where an unknown handle gets {unknown}: it can tell that {} exists",
                    answer.outcome,
                    handle(setting, request)
                ),
            );
        }
        return Judgement::Irrelevant;
    }
    if let Some(holder) = holder.filter(|holder| !setting.entitled(*holder, usize::from(request.resource))) {
        let holder = &setting.principals[usize::from(holder)];
        let sentence = format!(
            "{caller} was answered {} on its own {} because of a key or lease of {holder}",
            answer.outcome,
            handle(setting, request)
        );
        return violation("interference", sentence);
    }
    Judgement::Irrelevant
}

fn violation(kind: &'static str, sentence: String) -> Judgement {
    Judgement::Violation(Violation { kind: Some(kind), sentence, against: None })
}

/// Whether the call names a handle to which its caller is not entitled.
fn is_foreign(setting: &Setting, request: &Request) -> bool {
    let principal = setting.principal(usize::from(request.agent));
    request.handle.is_some() && !setting.entitled(principal, usize::from(request.resource))
}

fn caller(setting: &Setting, request: &Request) -> String {
    let agent = usize::from(request.agent);
    format!("{} (of {})", setting.agent_name(agent), setting.principals[usize::from(setting.principal(agent))])
}

fn owner<'s>(setting: &'s Setting, request: &Request) -> &'s crate::model::Principal {
    &setting.principals[usize::from(setting.owner(usize::from(request.resource)))]
}

fn handle(setting: &Setting, request: &Request) -> String {
    request.handle.map_or_else(String::new, |handle| setting.handle_name(handle))
}
