//! What an agent is finally told about an intent is what happened to it.
//!
//! An agent is told `ok`, `failure`, `conflict` or `unknown`, once for each intent. `ok` is judged when it is told: the
//! intent has taken effect, in all its fields and, where its handler has both kinds of steps, in the store and upstream; or
//! the view on which the agent stopped shows it. Where its handler has answered and is still at work (`answer`), `ok` is a
//! promise, and judged when that handler has ended or is lost. `failure` and `conflict` are judged ever after: no effect
//! before or later, not even in a part; what was taken back (`undo`) before it is told has no effect. `unknown` is always
//! true. Where entries share an intent (`intent = "NAME"`), what each agent is told is about that intent: `ok` is true
//! when another did it, and `failure` is not. An answer about another handle than the call's is false when it is
//! received, reads included.
//!
//! **Witness.** An agent is told something about an intent whose call was repeated, refused or broken, or whose handler
//! answered before it was done.

use super::{Invariant, Judgement, violation, witness_if};
use crate::model::Told;
use crate::world::{Denied, Fact, Missing, Setting};

pub static INVARIANT: Invariant = Invariant {
    sentence: "what an agent is finally told about an intent is what happened to it",
    anomaly: None,
    witness: "an agent is told something about an intent whose call was repeated, refused or broken, or answered early",
    judge,
    at_rest: None,
};

fn judge(setting: &Setting, fact: &Fact) -> Judgement {
    match fact {
        Fact::Told { agent, entry, told, ledger, shown, troubled, promised } => {
            let (happened, id) = (ledger.happened(), usize::from(*agent));
            let name = setting.agent_name(id);
            let what = setting.entry_words(id, usize::from(*entry));
            let missing = setting.missing(id, usize::from(*entry), ledger);
            match (told, missing.filter(|_| !shown && !promised)) {
                (Told::Ok, Some(missing)) => violation(format!("{name} was told ok about {what}, {}", how(missing))),
                (Told::Failure | Told::Conflict, _) if happened => {
                    let part = if missing == Some(Missing::Fields) { "of which a part" } else { "which" };
                    violation(format!("{name} was told {told} about {what}, {part} had taken effect"))
                }
                _ => witness_if(*troubled || *promised),
            }
        }
        Fact::Unkept { agent, entry, missing } => {
            let name = setting.agent_name(usize::from(*agent));
            let what = setting.entry_words(usize::from(*agent), usize::from(*entry));
            violation(format!("{name} was told ok early about {what}, {}", how(*missing)))
        }
        Fact::Committed { denied: Some(Denied { agent, entry, told }), taken_back: false, .. }
        | Fact::CalledUpstream { denied: Some(Denied { agent, entry, told }), .. } => {
            let (agent, entry) = (usize::from(*agent), usize::from(*entry));
            let (name, what) = (setting.agent_name(agent), setting.entry_words(agent, entry));
            violation(format!("{name} was told {told} about {what}, and then it took effect"))
        }
        Fact::Received { request, answer, .. } if answer.asked_about() != request.handle => {
            let handle = |handle| setting.handle_name(handle);
            let name = setting.agent_name(usize::from(request.agent));
            let asked = request
                .handle
                .map_or_else(|| "for something new".to_owned(), |asked| format!("about {}", handle(asked)));
            let about = answer.handle.map_or_else(|| "nothing that has a handle".to_owned(), handle);
            violation(format!("{name} asked {asked} and was answered about {about}"))
        }
        _ => Judgement::Irrelevant,
    }
}

/// What became of an intent of which something is missing.
const fn how(missing: Missing) -> &'static str {
    match missing {
        Missing::Fields => "of which only a part took effect",
        Missing::Stored => "which took effect upstream, but never in the store",
        Missing::Upstream => "which took effect in the store, but never upstream",
        Missing::All => "which never took effect",
    }
}
