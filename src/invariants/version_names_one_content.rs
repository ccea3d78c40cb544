//! Two different contents never carry the same version of one handle.
//!
//! It is violated when two contents of one handle were current under one version: a content is written without a new
//! version, a clock does not tick between two changes, or the versions of a re-created resource start again. (Where the
//! handle carries the state, every change makes another handle.)
//!
//! **Witness.** Two changes of one resource.
//!
//! RFC 9110 section 8.8.1 calls a validator that names one content *strong*.

use super::{Anomaly, Invariant, Judgement, violation, witness_if};
use crate::world::{Fact, Handle, Instance, Setting};

pub static INVARIANT: Invariant = Invariant {
    sentence: "two different contents never carry the same version of one handle",
    anomaly: Some(Anomaly { name: "ABA", reference: "Treiber, Systems Programming: Coping with Parallelism, 1986" }),
    witness: "two changes of one resource",
    judge,
    at_rest: None,
};

fn judge(setting: &Setting, fact: &Fact) -> Judgement {
    match fact {
        Fact::Committed { request, handle, before: Some(before), after, besides, .. } => {
            let changes = setting.intent_of(request).is_some_and(|intent| changes_content(setting, intent, *besides));
            if !setting.is_state_in_handle() && shares_version(before, after) {
                return violation(sentence(setting, *handle));
            }
            witness_if(changes && before.content.iter().any(|field| !field.shows.is_empty()))
        }
        Fact::Recreated { handle, before, after } => {
            if !setting.is_state_in_handle() && shares_version(before, after) {
                violation(sentence(setting, *handle))
            } else {
                Judgement::Witness
            }
        }
        _ => Judgement::Irrelevant,
    }
}

fn changes_content(setting: &Setting, intent: usize, besides: bool) -> bool {
    setting.intents[intent].operation(besides).changes_fields()
}

/// Whether the later content stands under a version that named another one.
fn shares_version(before: &Instance, after: &Instance) -> bool {
    let values = after.values();
    let at_once = after.version == before.version && values != before.values();
    at_once || after.history.iter().any(|(version, earlier)| *version == after.version && *earlier != values)
}

fn sentence(setting: &Setting, handle: Handle) -> String {
    format!("two different contents of {} were current under one version", setting.handle_name(handle))
}
