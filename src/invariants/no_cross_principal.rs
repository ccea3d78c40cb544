//! No principal reads or changes another's resource, receives another's answer, is held up by another's keys or leases,
//! or can tell another's handle from an unknown one.
//!
//! Five kinds: `read` (a view of Q's resource, or Q's recorded outcome, is answered to P), `write` (P's change commits on
//! Q's resource), `delivery` (P's stream carries the answer to Q's call), `disclosure` (P, never entitled to the handle,
//! is refused with another outcome than this design gives for a handle that never existed), `interference` (P's call on
//! its own handle, or its mint, is answered from, refused or blocked by a key record, claim, lease or chosen name of Q,
//! who has no right on that handle). All but `write` are judged when the answer is received. A principal is entitled to
//! what it owns and to what is shared with it.
//!
//! **Witness.** A call names another principal's handle, or a mint chooses another's name; calls of two principals present
//! equal keys; a call comes to a node whose table of replies, or whose read cache, holds another principal's.
//!
//! The MCP security best practices call the attack *state handle hijacking*; possession of a handle is no authentication.

use super::{Anomaly, Invariant, Judgement, Violation, witness_if};
use crate::model::protocol::TaskIds;
use crate::model::{Outcome, Tool};
use crate::world::{Answer, Fact, Handle, Request, Setting};

pub static INVARIANT: Invariant = Invariant {
    sentence: "no principal reads, changes, receives, is held up by or can probe what is another's",
    anomaly: Some(Anomaly { name: "confused deputy", reference: "Hardy, The Confused Deputy, 1988; CWE-639" }),
    witness: "a call names another principal's handle or chosen name, or calls of two principals meet under equal keys, in a \
              table of replies or in a read cache",
    judge,
    at_rest: None,
};

fn judge(setting: &Setting, fact: &Fact) -> Judgement {
    match fact {
        Fact::Sent { request, shares_key, attempt: _ } => {
            witness_if(*shares_key || is_foreign(setting, request) || shares_name(setting, request))
        }
        Fact::SharedWithOther => Judgement::Witness,
        Fact::Committed { request, handle, before: Some(_), .. } if !is_entitled(setting, request, *handle) => {
            violation(
                "write",
                format!(
                    "{} changed {}, which belongs to {}",
                    caller(setting, request),
                    setting.handle_name(*handle),
                    setting.principals[usize::from(setting.owner(usize::from(handle.resource)))]
                ),
            )
        }
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
    if let Some(of) = answer.of {
        let of = &setting.principals[usize::from(of)];
        return violation("delivery", format!("the stream of {caller} carried the answer to a call of {of}"));
    }
    if let (Some(_), Some(seen)) = (&answer.view, answer.handle) {
        let resource = usize::from(seen.resource);
        if !setting.entitled(principal, resource) {
            let owner = &setting.principals[usize::from(setting.owner(resource))];
            return violation("read", format!("{caller} read {}, which belongs to {owner}", setting.handle_name(seen)));
        }
    }
    let refused = request.other.as_ref().filter(|_| answer.of_other).map(|other| other.handle);
    let about = refused.or(answer.handle).map_or_else(String::new, |handle| setting.handle_name(handle));
    if let Some(holder) = answer.held_by {
        let holder = &setting.principals[usize::from(holder)];
        let named = refused.or(request.handle).is_some();
        if answer.replayed {
            return violation("read", format!("{caller} received the recorded outcome of a call of {holder}"));
        }
        let own = if named { format!("its own {about}") } else { "what it would have made".to_owned() };
        let sentence =
            format!("{caller} was answered {} on {own} because of a key, lease or name of {holder}", answer.outcome);
        return violation("interference", sentence);
    }
    if let (Some(unknown), true) = (answer.unknown_handle, answer.outcome != Outcome::Ok) {
        let outcome = answer.outcome;
        let named = request.handle.into_iter().chain(request.besides().map(|(handle, _)| handle));
        let foreign = named.into_iter().find(|handle| !is_entitled(setting, request, *handle));
        let foreign = foreign.map_or(about, |handle| setting.handle_name(handle));
        return violation(
            "disclosure",
            format!(
                "{caller} was refused with {outcome}, where an unknown handle gets {unknown}: it can tell that {foreign} exists"
            ),
        );
    }
    Judgement::Irrelevant
}

fn violation(kind: &'static str, sentence: String) -> Judgement {
    Judgement::Violation(Violation { kind: Some(kind), sentence, against: None })
}

/// Whether the call names a handle to which its caller is not entitled.
fn is_foreign(setting: &Setting, request: &Request) -> bool {
    let mut named = request.handle.into_iter().chain(request.other.as_ref().map(|other| other.handle));
    named.any(|handle| !is_entitled(setting, request, handle))
}

/// Whether the caller of a request is entitled to a handle.
fn is_entitled(setting: &Setting, request: &Request, handle: Handle) -> bool {
    setting.entitled(setting.principal(usize::from(request.agent)), usize::from(handle.resource))
}

/// Whether a client chooses a name for what it mints that another principal chooses too.
fn shares_name(setting: &Setting, request: &Request) -> bool {
    let named = |side: &Setting| side.model.protocol.task_ids == TaskIds::Client;
    let chooses = request.tool == Tool::Mint && setting.sides().any(named);
    let principal = setting.principal(usize::from(request.agent));
    let mut named = setting.of_one_name(usize::from(request.resource));
    chooses && named.any(|resource| setting.owner(resource) != principal)
}

fn caller(setting: &Setting, request: &Request) -> String {
    let agent = usize::from(request.agent);
    format!("{} (of {})", setting.agent_name(agent), setting.principals[usize::from(setting.principal(agent))])
}
