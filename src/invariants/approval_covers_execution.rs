//! What is executed is what was approved.
//!
//! It is violated when an execute commits and the content is not what the latest approver's view showed when it planned
//! the approval, or nobody approved. So every `execute` without an `approve` before it violates this: what is used up once
//! without anybody's approval is `close`d.
//!
//! **Witness.** An attempt to execute what is not approved as it is: it changed since, its approver saw something else, or
//! nobody approved.
//!
//! The anomaly is a race between time of check and time of use (CWE-367).

use super::{Anomaly, Invariant, Judgement, violation, witness_if};
use crate::model::Operation;
use crate::world::{Fact, Instance, Request, Setting};

pub static INVARIANT: Invariant = Invariant {
    sentence: "what is executed is what was approved",
    anomaly: Some(Anomaly { name: "time of check, time of use", reference: "CWE-367" }),
    witness: "an attempt to execute what is not approved as it is",
    judge,
    at_rest: None,
};

fn judge(setting: &Setting, fact: &Fact) -> Judgement {
    match fact {
        Fact::Started { request, instance: Some(instance), .. } => {
            witness_if(executes(setting, request) && !is_approved(instance))
        }
        Fact::Committed { request, handle, before: Some(before), besides: false, taken_back: false, .. }
            if executes(setting, request) && !is_approved(before) =>
        {
            let (agent, handle) = (setting.agent_name(usize::from(request.agent)), setting.handle_name(*handle));
            let but = if before.approved.is_some() { "something else was approved" } else { "nobody approved it" };
            violation(format!("{agent} executed {handle}, and {but}"))
        }
        _ => Judgement::Irrelevant,
    }
}

fn executes(setting: &Setting, request: &Request) -> bool {
    setting.intent_of(request).is_some_and(|intent| setting.intents[intent].operation == Operation::Execute)
}

fn is_approved(instance: &Instance) -> bool {
    let approved = instance.approved.as_ref();
    approved.is_some_and(|content| content.iter().map(|field| &field.value).eq(instance.values().iter()))
}
