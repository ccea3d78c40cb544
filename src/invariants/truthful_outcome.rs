//! What an agent is finally told about an intent is what happened to it.
//!
//! An agent is told `ok`, `failure`, `conflict` or `unknown`, once for each intent. `ok` is judged when it is told: the
//! intent has taken effect, in all its fields and, where its handler has both kinds of steps, in the store and upstream; or
//! the view on which the agent stopped shows it. `failure` and `conflict` are judged ever
//! after: no effect before or later. `unknown` is always true. An answer about another handle than the call's is false
//! when it is received, reads included.
//!
//! **Witness.** An agent is told something about an intent whose call was repeated, refused or broken.

use super::{Invariant, Judgement, violation, witness_if};
use crate::model::Told;
use crate::world::{Fact, Missing, Setting};

pub static INVARIANT: Invariant = Invariant {
    sentence: "what an agent is finally told about an intent is what happened to it",
    anomaly: None,
    witness: "an agent is told something about an intent whose call was repeated, refused or broken",
    judge,
    at_rest: None,
};

fn judge(setting: &Setting, fact: &Fact) -> Judgement {
    match fact {
        Fact::Told { agent, entry, told, ledger, shown, troubled } => {
            let (happened, id) = (ledger.happened(), usize::from(*agent));
            let name = setting.agent_name(id);
            let what = setting.entry_words(id, usize::from(*entry));
            let missing = setting.missing(id, usize::from(*entry), ledger);
            match told {
                Told::Ok if !shown && missing.is_some() => {
                    let how = match missing {
                        Some(Missing::Fields) => "of which only a part took effect",
                        Some(Missing::Stored) => "which took effect upstream, but never in the store",
                        Some(Missing::Upstream) => "which took effect in the store, but never upstream",
                        Some(Missing::All) | None => "which never took effect",
                    };
                    violation(format!("{name} was told ok about {what}, {how}"))
                }
                Told::Failure | Told::Conflict if happened => {
                    violation(format!("{name} was told {told} about {what}, which had taken effect"))
                }
                Told::Ok | Told::Failure | Told::Conflict | Told::Unknown => witness_if(*troubled),
            }
        }
        Fact::Committed { request, told, .. } | Fact::CalledUpstream { request, told, .. } => match told {
            Some(told @ (Told::Failure | Told::Conflict)) => {
                let (agent, entry) = (usize::from(request.agent), usize::from(request.entry));
                let what = setting.entry_words(agent, entry);
                let name = setting.agent_name(agent);
                violation(format!("{name} was told {told} about {what}, and then it took effect"))
            }
            Some(Told::Ok | Told::Unknown) | None => Judgement::Irrelevant,
        },
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
