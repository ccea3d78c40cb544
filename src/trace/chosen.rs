//! What a client that is free to choose has chosen, as a design would write it.

use crate::input::settings::written;
use crate::model::Client;
use crate::world::Undecided;

/// The settings by which what was chosen differs from a client's own; `None`: by none.
pub(super) fn differs(own: &Client, chosen: &Client) -> Option<String> {
    let Client { payload, precondition, key, before_write, keeps, after_failure, attempts: _, blind, .. } = chosen;
    let word = |name: &str, word: &str, differs: bool| differs.then(|| format!("{name} = \"{word}\""));
    let kept: Vec<String> = keeps.iter().map(|part| format!("\"{part}\"")).collect();
    let different = [
        word("payload", payload.name(), *payload != own.payload),
        word("precondition", precondition.name(), *precondition != own.precondition),
        word("key", key.name(), *key != own.key),
        word("before-write", before_write.name(), *before_write != own.before_write),
        (*keeps != own.keeps).then(|| format!("keeps = [{}]", kept.join(", "))),
        word("after-failure", after_failure.name(), *after_failure != own.after_failure),
        (*blind != own.blind).then(|| format!("blind = {blind}")),
    ];
    let different: Vec<String> = different.into_iter().flatten().collect();
    (!different.is_empty()).then(|| different.join(", "))
}

/// What was decided.
pub(super) fn decision(own: &Client, undecided: &Undecided, chosen: &Client) -> String {
    let reaction = match undecided.occasion.event() {
        Some(event) => format!("{} = {}", event.name(), written(&chosen.reaction(event))),
        None => "{ tell = \"unknown\" }".to_owned(),
    };
    // How it would put its next call together is not decided yet.
    let goes_on = Client { key: own.key, ..chosen.clone() };
    std::iter::once(reaction).chain(differs(own, &goes_on)).collect::<Vec<_>>().join(", ")
}
