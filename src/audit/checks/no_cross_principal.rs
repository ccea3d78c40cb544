//! No principal reads or changes another's resource, or is answered about another's call.
//!
//! A resource belongs to the owner that a `state` line names, or to whoever minted it. `read`: a view of it was answered to
//! somebody who is neither its owner nor shares it. `write`: such a principal's change was accepted.
//! `delivery`: a call was answered about another resource, which is somebody else's. `interference`: a
//! principal was answered from a record, or refused by a key, though it had never used that key before and another had.
//! `disclosure`: a principal who may not know the handle was refused with another outcome than is given, in the same log,
//! for a handle that nobody ever minted.
//!
//! Not judged: a refusal of a call that names two resources; calls on resources of which the log does not tell the owner; a principal who is refused with `forbidden`, in a
//! log that does not show how handles that never were are refused.

use std::collections::BTreeMap;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::{Case, Check, Judged};
use crate::audit::case::Finding;
use crate::audit::history::Name;
use crate::log::Ended;
use crate::model::Outcome;

pub static CHECK: Check = Check {
    sentence: "no principal reads or changes another's resource, or is answered about another's call",
    anomaly: None,
    about: "a call on a resource that another principal owns, or with a key that another has used",
    judge,
};

/// Who first used a key, and when.
type Users = Vec<(Name, u64, u32)>;

fn judge(case: &Case<'_>, judged: &mut Judged) {
    let history = case.history;
    // How the server answers for handles that do not exist: nobody minted, owned or was ever shown them.
    let mut nowhere: BTreeMap<Ended, u32> = BTreeMap::new();
    let mut keys: HashMap<Name, Users, FxBuildHasher> = HashMap::default();
    for (index, call) in (0..).zip(&history.calls) {
        if let Some(key) = call.key.filter(|_| !call.is_besides()) {
            let users = keys.entry(key).or_default();
            match users.iter_mut().find(|(principal, ..)| *principal == call.principal) {
                Some((_, sent, _)) => *sent = (*sent).min(call.sent),
                None => users.push((call.principal, call.sent, index)),
            }
        }
        let resource = call.handle.and_then(|handle| case.resource(handle));
        if let (Some(resource), Some(ended)) = (resource, call.ended)
            && resource.owner.is_none()
            && resource.views.is_empty()
            && resource.effects.is_empty()
            && call.is_refused()
            && call.half.is_none()
        {
            nowhere.entry(ended).or_insert(index);
        }
    }
    for (index, call) in (0..).zip(&history.calls) {
        let (Some(handle), Some(ended)) = (call.handle, call.ended) else { continue };
        if !call.is_besides() {
            key(case, index, &keys, judged);
        }
        delivery(case, index, judged);
        let Some(resource) = case.resource(handle) else { continue };
        let Some(owner) = resource.owner else {
            if call.is_ok() {
                judged.about += 1;
                judged.unjudged("the log does not tell whose the resource is");
            }
            continue;
        };
        if call.principal == owner || resource.shared_with.contains(&call.principal) {
            continue;
        }
        judged.about += 1;
        let (who, whose) = (history.text(call.principal), history.text(owner));
        if ended.is_ok() {
            let does = if call.tool.changes() { "changed" } else { "read" };
            let sentence = format!(
                "{who} {does} {}, which is {whose}'s: {} was answered ok ({})",
                history.text(handle),
                case.asks(index),
                case.named(index)
            );
            judged.found(case, || Finding { sentence, calls: vec![index], ..Finding::default() });
        } else if call.half.is_some() {
            judged.unjudged("nothing tells for which of its two resources a call was refused");
        } else if let Some((usual, control)) = nowhere.first_key_value()
            && nowhere.len() == 1
            && call.is_refused()
            && *usual != ended
        {
            let sentence = format!(
                "{who} can tell that {}, which is {whose}'s, is there: {} was refused with {ended}, and {} for a handle that never was with {usual} ({}, {})",
                history.text(handle),
                case.asks(index),
                case.asks(*control),
                case.named(index),
                case.named(*control),
            );
            judged.found(case, || Finding { sentence, calls: vec![index, *control], ..Finding::default() });
        } else if nowhere.is_empty() && ended == Ended::As(Outcome::Forbidden) {
            judged.unjudged("no call on a handle that never was shows how these are refused");
        }
    }
}

/// Answered about a resource that the call did not name, and that is another's.
fn delivery(case: &Case<'_>, index: u32, judged: &mut Judged) {
    let call = case.call(index);
    let Some(about) = call.about.filter(|about| call.handle != Some(*about)) else { return };
    let Some(resource) = case.resource(about) else { return };
    let Some(owner) = resource.owner.filter(|owner| *owner != call.principal) else { return };
    if resource.shared_with.contains(&call.principal) {
        return;
    }
    judged.about += 1;
    judged.found(case, || {
        let sentence = format!(
            "{} asked about {} and was answered about {}, which is {}'s ({})",
            case.history.text(call.principal),
            case.handle(index),
            case.history.text(about),
            case.history.text(owner),
            case.named(index),
        );
        Finding { sentence, calls: vec![index], ..Finding::default() }
    });
}

/// Answered from a record, or refused by a key, of somebody else.
fn key(case: &Case<'_>, index: u32, keys: &HashMap<Name, Users, FxBuildHasher>, judged: &mut Judged) {
    let call = case.call(index);
    let Some(users) = call.key.and_then(|key| keys.get(&key)) else { return };
    if users.len() < 2 {
        return;
    }
    judged.about += 1;
    let by_key = matches!(call.ended, Some(Ended::As(Outcome::InProgress | Outcome::KeyMismatch))) || call.replayed;
    let before = |(principal, sent, _): &&(Name, u64, u32)| *principal != call.principal && *sent < call.received;
    let own = users.iter().any(|(principal, sent, _)| *principal == call.principal && *sent < call.sent);
    let Some((_, _, other)) = users.iter().find(before) else { return };
    if by_key && !own {
        judged.found(case, || {
            let answered = call.ended.map_or("", Ended::name);
            let sentence = format!(
                "{} used the key {} for the first time and was answered {answered}{} ({}): {} had used it before ({})",
                case.history.text(call.principal),
                call.key.map_or("", |key| case.history.text(key)),
                if call.replayed { " from a record" } else { "" },
                case.named(index),
                case.history.text(case.call(*other).principal),
                case.named(*other),
            );
            Finding { sentence, calls: vec![*other, index], ..Finding::default() }
        });
    }
}
