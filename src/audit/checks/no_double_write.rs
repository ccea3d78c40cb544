//! No piece of work takes effect more than once.
//!
//! Calls of one agent with one `intent` are one piece of work; without intents, calls with one key, or calls of which one
//! `repeats` the other. It took effect twice when two of its calls were answered with two versions, neither from a record;
//! when a version that no answer tells of can be nobody else's; when an element that it alone appends is there twice; or
//! when a sum comes to more than all that was asked for.
//!
//! Not judged: a repeated piece of work, where a call whose answer was lost may have happened and no version or content
//! tells; the same where two answers say `ok` and neither names a version; a second mint, where what the first one made was
//! not found.

use std::collections::{BTreeMap, BTreeSet};

use super::{Case, Check, Judged};
use crate::audit::case::{Finding, short};
use crate::audit::effects::Resource;
use crate::audit::evidence::Shows;
use crate::audit::history::Mark;
use crate::log::{Ended, Operation};
use crate::model::Outcome;

pub static CHECK: Check = Check {
    sentence: "no piece of work takes effect more than once",
    anomaly: None,
    about: "a piece of work with more than one call",
    judge,
};

fn judge(case: &Case<'_>, judged: &mut Judged) {
    // For each resource: the pieces of work with several calls.
    let mut repeated: BTreeMap<usize, BTreeMap<u32, Vec<u32>>> = BTreeMap::new();
    for (index, work) in (0..).zip(&case.works) {
        let call = case.call(index);
        let place = call.handle.or(case.call(*work).handle).and_then(|handle| case.place_of(handle));
        if let Some(place) = place.filter(|_| *work != index && call.tool.changes()) {
            repeated.entry(place).or_default().entry(*work).or_default().push(index);
        }
    }
    mints(case, judged);
    for (place, (resource, evidence)) in case.resources.iter().zip(&case.evidence).enumerate() {
        let mut doubled: BTreeSet<u32> = BTreeSet::new();
        let mut last: BTreeMap<u32, usize> = BTreeMap::new();
        for (place, effect) in resource.effects.iter().enumerate() {
            let Some(before) = last.insert(effect.work, place) else { continue };
            let (first, again) = (&resource.effects[before], effect);
            if first.version == Mark::None || again.version == Mark::None || !doubled.insert(effect.work) {
                continue;
            }
            judged.found(case, || {
                let made = |effect: &crate::audit::effects::Effect| {
                    let how = if effect.inferred { ", whose answer was lost" } else { "" };
                    format!("{} by {}{how}", case.history.version(effect.version), case.named(effect.call))
                };
                let sentence = format!(
                    "{}'s {} on {} took effect twice: as {}, and as {}",
                    case.agent(effect.call),
                    case.asks(effect.call),
                    case.handle(effect.call),
                    made(first),
                    made(again),
                );
                Finding { sentence, calls: vec![first.call, again.call], ..Finding::default() }
            });
        }
        for call in &resource.happened {
            let work = case.works[*call as usize];
            let other = resource.effects.iter().find(|effect| effect.work == work);
            if let Some(other) = other.filter(|_| !doubled.contains(&work)) {
                doubled.insert(work);
                judged.found(case, || {
                    let sentence = format!(
                        "{}'s {} on {} took effect twice: {}, and once more by {}, whose answer was lost; every such call took effect, since there are as many versions that no answer tells of",
                        case.agent(*call),
                        case.asks(*call),
                        case.handle(*call),
                        case.named(other.call),
                        case.named(*call),
                    );
                    Finding { sentence, calls: vec![other.call, *call], ..Finding::default() }
                });
            }
        }
        for sight in evidence.sights.iter().filter(|sight| sight.shows == Shows::Twice) {
            let work = case.works[sight.call as usize];
            if doubled.contains(&work) {
                continue;
            }
            doubled.insert(work);
            let sentence = format!(
                "{}'s {} on {} took effect more than once ({}): {} shows {} {}",
                case.agent(sight.call),
                case.asks(sight.call),
                case.handle(sight.call),
                case.named(sight.call),
                case.place(&sight.view),
                case.history.text(sight.field),
                if case.call(sight.call).tool == Operation::Append {
                    format!("with {} twice", short(&sight.what))
                } else {
                    sight.what.clone()
                },
            );
            judged.found(case, || {
                let mut finding = case.sighting(sentence, None, sight);
                finding
                    .calls
                    .extend(case.works.iter().zip(0..).filter(|(of, _)| **of == work).map(|(_, call)| call).take(4));
                finding
            });
        }
        unattributed(case, resource, &doubled, judged);
        for _ in &resource.unaccounted {
            judged.about += 1;
            judged.unjudged("a version was made by a call that is not in the log, or whose answer was lost");
        }
        about(case, resource, repeated.get(&place), evidence, &doubled, judged);
    }
}

/// One piece of work that minted two resources.
fn mints(case: &Case<'_>, judged: &mut Judged) {
    let mut first: BTreeMap<u32, u32> = BTreeMap::new();
    let history = case.history;
    if !history.calls.iter().any(|call| call.tool == Operation::Mint) {
        return;
    }
    let gone = |ended: Option<Ended>| matches!(ended, Some(Ended::As(Outcome::NotFound | Outcome::Expired)));
    let lost: BTreeSet<_> =
        history.calls.iter().filter(|call| gone(call.ended)).filter_map(|call| call.handle).collect();
    // A mint that is open names no handle, so no resource tells what became of it.
    let mut calls: BTreeMap<u32, (u64, bool)> = BTreeMap::new();
    for (index, call) in case.works.iter().zip(&history.calls).filter(|(_, call)| call.tool == Operation::Mint) {
        let of_work = calls.entry(*index).or_default();
        of_work.0 += 1;
        of_work.1 |= call.is_open();
    }
    for _ in calls.values().filter(|(count, open)| *count > 1 && *open) {
        judged.about += 1;
        judged.unjudged("a mint whose answer was lost may have made a resource");
    }
    for effect in case.resources.iter().flat_map(|resource| &resource.effects) {
        if case.call(effect.call).tool != Operation::Mint {
            continue;
        }
        let before = *first.entry(effect.work).or_insert(effect.call);
        // What is gone again is not counted.
        let made = [before, effect.call].map(|call| case.call(call).handle.and_then(|handle| case.resource(handle)));
        let gone = made.iter().any(|made| made.is_none_or(|resource| resource.noticed.is_some()));
        if case.call(before).handle == case.call(effect.call).handle || gone {
            continue;
        }
        if made.iter().flatten().any(|resource| lost.contains(&resource.handle)) {
            judged.about += 1;
            judged.unjudged("what was made first was not found later: it was gone, or a copy did not have it yet");
        } else {
            judged.found(case, || {
                let sentence = format!(
                    "{}'s {} took effect twice: it made {} ({}) and {} ({})",
                    case.agent(effect.call),
                    case.asks(effect.call),
                    case.handle(before),
                    case.named(before),
                    case.handle(effect.call),
                    case.named(effect.call),
                );
                Finding { sentence, calls: vec![before, effect.call], ..Finding::default() }
            });
        }
    }
}

/// More versions that no answer tells of than pieces of work that may have made them.
fn unattributed(case: &Case<'_>, resource: &Resource, doubled: &BTreeSet<u32>, judged: &mut Judged) {
    let whole = case.history.whole && !case.history.takes_back;
    if !whole || resource.unaccounted.is_empty() || resource.open.is_empty() {
        return;
    }
    let mut works: Vec<u32> = resource.open.iter().map(|call| case.works[*call as usize]).collect();
    works.sort_unstable();
    works.dedup();
    if works.iter().any(|work| doubled.contains(work)) {
        return;
    }
    let (made, open) = (resource.unaccounted.len(), resource.open.len());
    works.retain(|work| resource.effects.iter().all(|effect| effect.work != *work));
    if made > works.len() && made <= open {
        judged.found(case, || {
            let sentence = format!(
                "{made} versions of {} were made by calls whose answers were lost, and only {} pieces of work among these had not taken effect otherwise: one of the others took effect twice",
                case.history.text(resource.handle),
                works.len(),
            );
            Finding { sentence, calls: resource.open.iter().copied().take(20).collect(), ..Finding::default() }
        });
    }
}

/// The repeated pieces of work, and whether they could be judged.
fn about(
    case: &Case<'_>,
    resource: &Resource,
    calls: Option<&BTreeMap<u32, Vec<u32>>>,
    evidence: &crate::audit::evidence::Evidence,
    doubled: &BTreeSet<u32>,
    judged: &mut Judged,
) {
    for (work, repeats) in calls.into_iter().flatten() {
        judged.about += 1;
        if doubled.contains(work) || evidence.judged.binary_search(work).is_ok() {
            continue;
        }
        let all = || std::iter::once(*work).chain(repeats.iter().copied());
        let open = all().filter(|call| case.call(*call).may_have_happened()).count();
        let unversioned = all()
            .filter(|call| case.call(*call).is_ok() && !case.call(*call).replayed)
            .filter(|call| case.call(*call).version == Mark::None)
            .count();
        let accounted = resource
            .effects
            .iter()
            .any(|effect| effect.work == *work && (effect.inferred || case.call(effect.call).replayed));
        if unversioned > 1 || unversioned == 1 && open > 0 {
            judged.unjudged("the answers name no version, and may be one answer twice");
        } else if open > 0 && !resource.settled && !(accounted && open == 1) {
            judged.unjudged("a call whose answer was lost may have taken effect");
        }
    }
}
