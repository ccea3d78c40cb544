//! No accepted change is erased by a write whose author had not seen it.
//!
//! Each stored field shows the changes that made it what it is. When a write W commits, a field that W does not name
//! keeps what the copy shows from which it comes: the stored content for `apply`, the snapshot that was sent, the
//! working copy for `save`. A field that W sets shows W and, of that copy's changes, those that the author's view showed
//! when W was planned, or that are the author's own earlier changes of this field. An append or increment adds W. It is a
//! lost update when some field no longer shows a change that it showed just before, other than W itself and the author's
//! own earlier changes of a field that W sets. What a handler loads, its author has not seen. An `undo` that writes back
//! what was there before is judged as a write.
//!
//! **Witness.** Something that can erase (a set or a snapshot, anything that is saved, or state that comes with the
//! handle) is accepted on content that shows a change which it would have to keep: another agent's, or one of its
//! author's own that it may not undo.
//!
//! The anomaly is P4, *lost update*, in Berenson et al., "A Critique of ANSI SQL Isolation Levels" (1995).

use super::{Anomaly, Invariant, Judgement, Violation, witness_if};
use crate::model::Operation;
use crate::world::{Fact, Field, Instance, Intents, Request, Setting};

pub static INVARIANT: Invariant = Invariant {
    sentence: "no accepted change is erased by a write whose author had not seen it",
    anomaly: Some(Anomaly {
        name: "lost update (P4)",
        reference: "Berenson et al., A Critique of ANSI SQL Isolation Levels, 1995",
    }),
    witness: "something that can erase is accepted on content that shows a change which it has to keep",
    judge,
    at_rest: None,
};

fn judge(setting: &Setting, fact: &Fact) -> Judgement {
    let Fact::Committed { request, handle, before: Some(before), after, can_erase, besides, .. } = fact else {
        return Judgement::Irrelevant;
    };
    let (agent, entry) = (usize::from(request.agent), usize::from(request.entry));
    let intent = setting.intent(agent, entry).expect("only intents commit");
    for (index, (old, new)) in before.content.iter().zip(&after.content).enumerate() {
        let lost = old.shows.without(new.shows).without(setting.may_erase(agent, entry, *besides, index));
        if !lost.is_empty() {
            let operation = setting.intents[intent].operation(*besides);
            let field = (usize::from(handle.resource), index);
            return Judgement::Violation(violation(setting, request, operation, field, lost, before, after));
        }
    }
    let mut fields = before.content.iter().enumerate();
    let resource = setting.resource(usize::from(handle.resource));
    let keeps = |(index, field): (usize, &Field)| {
        let kept = field.shows.without(setting.may_erase(agent, entry, *besides, index));
        // What was there from the first is in every copy, but for the fields that a program does not know, and where what has
        // its name may be taken for it.
        let missed = resource.new_fields.contains(&index) || resource.chosen.is_some();
        let first = if missed { Intents::NONE } else { setting.minting() };
        !kept.without(first).is_empty()
    };
    witness_if(*can_erase && fields.any(keeps))
}

fn violation(
    setting: &Setting,
    request: &Request,
    operation: &Operation,
    (resource, index): (usize, usize),
    lost: Intents,
    before: &Instance,
    after: &Instance,
) -> Violation {
    let field = &setting.resource(resource).fields[index].0;
    let author = setting.agent_name(usize::from(request.agent));
    let mut victims: Vec<String> = lost.iter().map(|intent| setting.author_words(intent)).collect();
    victims.dedup();
    let (victim, who) = match &*victims {
        [] => ("the re-creation".to_owned(), author),
        [own] if own == author => ("its own".to_owned(), "it"),
        others => (format!("{}'s", others.join(" and ")), author),
    };
    let (old, new) = (&before.content[index].value, &after.content[index].value);
    let wrote = if operation.fields().contains(&index) { "wrote" } else { "wrote back" };
    Violation {
        kind: None,
        against: Some(format!("{victim} change of {field}")),
        sentence: format!(
            "{author} {wrote} {field} {new} and erased {victim} change to {old}, which {who} had not seen"
        ),
    }
}
