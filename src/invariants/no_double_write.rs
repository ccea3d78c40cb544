//! No intent takes effect more than once, in the store or upstream.
//!
//! It is violated when the number of commits of one intent, or of a part of one, reaches two, whichever of the entries
//! that share the intent (`intent = "NAME"`) they come from. Setting a field twice counts: the version moves, watchers
//! fire, and a change in between is undone. Effects on a resource that has since expired or been deleted are not
//! counted.
//!
//! **Witness.** A call of an intent starts (its first transaction runs) after that intent took effect.

use super::{Anomaly, Invariant, Judgement, Violation, witness_if};
use crate::world::{Fact, Setting};

pub static INVARIANT: Invariant = Invariant {
    sentence: "no intent takes effect more than once",
    anomaly: Some(Anomaly { name: "duplicate execution (double spend)", reference: "RFC 9110 section 9.2.2; AIP-155" }),
    witness: "a call of an intent starts after that intent took effect",
    judge,
    at_rest: None,
};

fn judge(setting: &Setting, fact: &Fact) -> Judgement {
    match fact {
        Fact::Started { happened, .. } => witness_if(*happened),
        Fact::Committed { request, effects, taken_back: false, .. } if *effects > 1 => {
            let (agent, entry) = (usize::from(request.agent), usize::from(request.entry));
            let it = if setting.changes_of_entry(agent, entry).len() > 1 { "a part of it" } else { "it" };
            violation(format!("{}, and {it} took effect twice", wanted(setting, agent, entry)))
        }
        Fact::CalledUpstream { request, effects, .. } if *effects > 1 => {
            let (agent, entry) = (usize::from(request.agent), usize::from(request.entry));
            violation(format!("{}, and its external effect happened twice", wanted(setting, agent, entry)))
        }
        _ => Judgement::Irrelevant,
    }
}

/// Who wanted what once.
fn wanted(setting: &Setting, agent: usize, entry: usize) -> String {
    let what = setting.entry_words(agent, entry);
    let intent = setting.intent(agent, entry).expect("only intents take effect");
    match &setting.intents[intent].name {
        Some(name) => format!("{name} was to be done once, {what}"),
        None => format!("{} wanted {what} once", setting.agent_name(agent)),
    }
}

fn violation(sentence: String) -> Judgement {
    Judgement::Violation(Violation { kind: None, sentence, against: Some("its own earlier effect".to_owned()) })
}
