//! Nothing takes effect on a resource that is closed, executed, deleted or expired.
//!
//! A resource has ended when an accepted `close`, `execute` or `delete` says so, an observer found it ended, or an event
//! `expire-handle` names it. A change comes after that when its version is a greater number, or when it was sent after the
//! end was known. The end itself, sent again, is no change after the end.
//!
//! Not judged: a change that overlaps the end, without versions that tell which came first.

use super::{Case, Check, Judged};
use crate::audit::case::Finding;
use crate::audit::effects::Effect;
use crate::log::Operation;

pub static CHECK: Check = Check {
    sentence: "nothing takes effect on a closed, executed, deleted or expired resource",
    anomaly: None,
    about: "a change that is accepted, or asked for, on a resource that has ended",
    judge,
};

/// How a resource ended.
struct End<'e> {
    effect: Option<&'e Effect>,
    by: u64,
    words: String,
}

fn judge(case: &Case<'_>, judged: &mut Judged) {
    for resource in &case.resources {
        let effects = resource.effects.iter();
        let mut ending = effects.clone().filter(|effect| case.call(effect.call).tool.ends());
        // They are in the order of their versions, or else of the times by which they had happened.
        let first = ending.next();
        let mut ends: Vec<End<'_>> = first
            .into_iter()
            .map(|effect| {
                let call = case.call(effect.call);
                let words =
                    format!("{}'s {} was accepted, {}", case.agent(effect.call), call.tool, case.named(effect.call));
                End { effect: Some(effect), by: effect.by, words }
            })
            .collect();
        ends.extend(resource.noticed.map(|(by, line)| End { effect: None, by, words: format!("line {line} says so") }));
        if ends.is_empty() {
            continue;
        }
        // Where it is minted anew under the same handle, what is after what can't be told.
        let minted = effects.clone().filter(|effect| case.call(effect.call).tool == Operation::Mint).count();
        for effect in effects.filter(|effect| case.call(effect.call).tool != Operation::Mint) {
            let call = case.call(effect.call);
            let mut open = false;
            for end in &ends {
                if end.effect.is_some_and(|end| end.work == effect.work) {
                    continue;
                }
                let numbers = end.effect.and_then(|end| end.version.number()).zip(effect.version.number());
                let after = effect.from > end.by || numbers.is_some_and(|(end, made)| made > end);
                let before = numbers.is_some_and(|(end, made)| made < end)
                    || end.effect.is_some_and(|end| effect.by < end.from)
                    || end.effect.is_none() && effect.by < end.by;
                if after && minted <= 1 {
                    judged.about += 1;
                    judged.found(case, || {
                        let sentence = format!(
                            "{}'s {} on {} took effect ({}) after it had ended: {}",
                            case.agent(effect.call),
                            case.asks(effect.call),
                            case.handle(effect.call),
                            case.named(effect.call),
                            end.words
                        );
                        let calls = end.effect.map(|end| end.call).into_iter().chain([effect.call]).collect();
                        Finding { sentence, calls, ..Finding::default() }
                    });
                    open = false;
                    break;
                }
                open |= !before && !after;
            }
            if open && call.received != crate::audit::history::NEVER {
                judged.about += 1;
                judged.unjudged("a change overlaps the end, and no version tells which came first");
            }
        }
        let late = resource.refused.iter().filter(|call| ends.iter().any(|end| case.call(**call).sent > end.by));
        judged.about += late.count() as u64;
    }
}
