//! What an agent is finally told about its work is what happened to it.
//!
//! `told` lines say what agents told: `ok` is untrue when every call of the work was refused, or is known not to have taken
//! effect, and nothing shows that it was there anyway; `failure` and `conflict` are untrue when the work took effect, before
//! or later; `unknown` is always true. Without such lines answers are judged: a refusal is untrue when the change is there
//! all the same, an `ok` when the version that it names does not show it; and an answer about another handle is untrue.
//!
//! Not judged: what was told about work of which a call's answer was lost, where no version and no content tells whether it
//! took effect; a field that is gone in which nobody saw what was set.

use std::collections::BTreeSet;

use hashbrown::{HashMap, HashSet};
use rustc_hash::FxBuildHasher;

use super::{Case, Check, Judged};
use crate::audit::case::{CONTESTED, Finding, Known, short};
use crate::audit::effects::{Resource, content};
use crate::audit::evidence::Shows;
use crate::audit::gone::{NEVER_SEEN, gone};
use crate::audit::history::{NEVER, Name, of};
use crate::log::Operation;
use crate::model::Told;

pub static CHECK: Check = Check {
    sentence: "what an agent is finally told about its work is what happened to it",
    anomaly: None,
    about: "something that was told, and an answer about a resource",
    judge,
};

fn judge(case: &Case<'_>, judged: &mut Judged) {
    let history = case.history;
    let mut effects: HashMap<u32, u32, FxBuildHasher> = HashMap::default();
    for resource in &case.resources {
        let known = resource.effects.iter().map(|effect| (effect.work, effect.call));
        let happened = resource.happened.iter().map(|call| (case.works[*call as usize], *call));
        // Of what was only claimed, nothing tells that it is not so unless every version has its author.
        let claimed = resource.claimed.iter().filter(|_| !resource.settled).map(|work| (*work, *work));
        effects.extend(known.chain(happened).chain(claimed));
    }
    for (resource, evidence) in case.resources.iter().zip(&case.evidence) {
        let there = evidence.sights.iter().filter(|sight| sight.shows == Shows::Happened);
        effects.extend(there.map(|sight| (case.works[sight.call as usize], sight.call)));
        for sight in evidence.sights.iter().filter(|sight| sight.shows == Shows::Refused) {
            judged.about += 1;
            if history.takes_back && sight.view.from <= case.call(sight.call).received {
                judged.unjudged(TAKEN_BACK);
                continue;
            }
            let ended = case.call(sight.call).ended.map_or("no answer", crate::log::Ended::name);
            let sentence = format!(
                "{}'s {} on {} was refused with {ended} ({}), and {} shows {} in {}",
                case.agent(sight.call),
                case.asks(sight.call),
                case.handle(sight.call),
                case.named(sight.call),
                case.place(&sight.view),
                short(&sight.what),
                history.text(sight.field),
            );
            judged.found(case, || case.sighting(sentence, Some("aborted read (G1a)"), sight));
        }
        versions(case, resource, judged);
    }
    for (index, call) in (0..).zip(&history.calls) {
        if let (Some(asked), Some(about)) = (call.handle, call.about) {
            judged.about += 1;
            // A change may move its resource to a handle that nobody knew: then the answer is how its author learns it.
            if asked != about && known_before(case, about, call.received, index) {
                let sentence = format!(
                    "{} asked about {} and was answered about {} ({})",
                    case.agent(index),
                    history.text(asked),
                    history.text(about),
                    case.named(index)
                );
                judged.found(case, || Finding { sentence, calls: vec![index], ..Finding::default() });
            }
        }
    }
    told(case, &effects, judged);
}

fn told(case: &Case<'_>, effects: &HashMap<u32, u32, FxBuildHasher>, judged: &mut Judged) {
    let history = case.history;
    if history.told.is_empty() {
        return;
    }
    let mut calls: HashMap<(Name, Name), Vec<u32>, FxBuildHasher> = HashMap::default();
    for (index, call) in (0..).zip(&history.calls) {
        if let Some(intent) = call.intent.filter(|_| call.tool.changes()) {
            calls.entry((call.agent, intent)).or_default().push(index);
        }
    }
    let effects_of_all = case.resources.iter().flat_map(|resource| &resource.effects);
    let contested: HashSet<u32, FxBuildHasher> =
        effects_of_all.filter(|effect| effect.contested).map(|effect| effect.work).collect();
    for told in &history.told {
        judged.about += 1;
        let Some(calls) = calls.get(&(told.agent, told.intent)) else {
            judged.unjudged("no call of what was told about is in the log");
            continue;
        };
        let works: BTreeSet<u32> = calls.iter().map(|call| case.works[*call as usize]).collect();
        if works.iter().any(|work| contested.contains(work)) {
            judged.unjudged(CONTESTED);
            continue;
        }
        let disturbed = |call: &u32| {
            let resource = case.call(*call).handle.and_then(|handle| case.resource(handle));
            resource.is_some_and(|resource| resource.disturbed)
        };
        if calls.iter().any(disturbed) {
            judged.unjudged("the resource was created anew under the same handle");
            continue;
        }
        // What is done to two resources has two parts.
        let parts: Vec<(Known, Vec<u32>)> = works
            .iter()
            .map(|work| {
                let of_part: Vec<u32> =
                    calls.iter().copied().filter(|call| case.works[*call as usize] == *work).collect();
                let happened = match effects.get(work) {
                    Some(_) => Known::Yes,
                    None if of_part.iter().all(|call| settled(case, *call, *work)) => Known::No,
                    None => Known::Unknown,
                };
                (happened, of_part)
            })
            .collect();
        let is = |known: Known| parts.iter().any(|(happened, _)| *happened == known);
        let agent = history.text(told.agent);
        let intent = history.text(told.intent);
        // What is done to two resources is not seen in a view of one.
        let shown = || parts.len() == 1 && calls.iter().any(|call| was_shown(case, *call));
        let finding = |sentence: String, effect: Option<u32>| Finding {
            sentence,
            calls: calls.iter().copied().take(10).chain(effect).collect(),
            ..Finding::default()
        };
        match told.told {
            Told::Unknown => {}
            Told::Ok if is(Known::No) && !shown() => judged.found(case, || {
                let no = if is(Known::Yes) { "only a part of it took effect" } else { "it has no effect" };
                finding(format!("{agent} told that {intent} is done (line {}), and {no}", told.line), None)
            }),
            Told::Ok if is(Known::Unknown) && !shown() => judged.unjudged(lost(case, calls)),
            Told::Ok if parts.iter().any(|(_, of_part)| partly(case, of_part)) => judged.found(case, || {
                let sentence =
                    format!("{agent} told that {intent} is done (line {}), and a later view lacks it", told.line);
                finding(sentence, None)
            }),
            Told::Ok => {}
            Told::Failure | Told::Conflict if is(Known::Yes) => {
                let effect = works.iter().find_map(|work| effects.get(work)).copied();
                let effect = effect.expect("one of them is known");
                if history.takes_back && case.call(effect).may_have_happened() {
                    judged.unjudged(TAKEN_BACK);
                    continue;
                }
                judged.found(case, || {
                    let sentence = format!(
                        "{agent} told {} of {intent} (line {}), and {} took effect ({})",
                        told.told,
                        told.line,
                        if parts.len() > 1 { "a part of it" } else { "it" },
                        case.named(effect)
                    );
                    finding(sentence, Some(effect))
                });
            }
            Told::Failure | Told::Conflict if is(Known::Unknown) => judged.unjudged(lost(case, calls)),
            Told::Failure | Told::Conflict => {}
        }
    }
}

/// Why nothing is said of what was taken back, perhaps.
const TAKEN_BACK: &str = "what took effect may have been taken back";

/// Why it is not known whether work took effect.
fn lost(case: &Case<'_>, calls: &[u32]) -> &'static str {
    let by_half = |call: &&u32| case.call(**call).is_refused() && case.call(**call).half.is_some();
    if calls.iter().any(|call| by_half(&call)) {
        "a call that changes two resources was refused, and may have done half of it"
    } else {
        "a call whose answer was lost may have taken effect"
    }
}

/// Somebody named this handle before that time, in another call.
fn known_before(case: &Case<'_>, handle: Name, time: u64, but: u32) -> bool {
    let Some(resource) = case.resource(handle) else { return false };
    let effects = resource.effects.iter().map(|effect| effect.call);
    let views = resource.views.iter().filter_map(|view| match view.seen {
        crate::audit::effects::Seen::Call(call) => Some(call),
        crate::audit::effects::Seen::Observer(_) => None,
    });
    let observed = resource.owner.is_some();
    let mut calls = effects.chain(views).chain(resource.open.iter().copied()).chain(resource.refused.iter().copied());
    observed || calls.any(|call| call != but && case.call(call).sent < time)
}

/// A call that certainly did not take effect, given that nothing is known of an effect of its work.
fn settled(case: &Case<'_>, call: u32, work: u32) -> bool {
    let record = case.call(call);
    if !record.may_have_happened() {
        return true;
    }
    let Some(place) = record.handle.and_then(|handle| case.place_of(handle)) else { return false };
    case.resources[place].settled || case.evidence[place].judged.binary_search(&work).is_ok()
}

/// A part of what these calls append is not there, and nobody else's change is there instead.
fn partly(case: &Case<'_>, calls: &[u32]) -> bool {
    let place = calls.iter().find_map(|call| case.call(*call).handle).and_then(|handle| case.place_of(handle));
    place.is_some_and(|place| {
        let lost = |sight: &&crate::audit::evidence::Sight| sight.shows == Shows::Lost && sight.instead.is_none();
        case.evidence[place].sights.iter().filter(lost).any(|sight| calls.contains(&sight.call))
    })
}

/// The agent was shown what it wanted, whoever brought it about.
fn was_shown(case: &Case<'_>, call: u32) -> bool {
    let record = case.call(call);
    let wanted = case.history.fields(record);
    let Some(resource) = record.handle.and_then(|handle| case.resource(handle)) else { return false };
    let sets = record.tool == Operation::Set;
    sets && resource.views.iter().any(|view| {
        let shown = content(case.history, view);
        !shown.is_empty() && wanted.iter().all(|pair| shown.contains(pair))
    })
}

/// The version that an `ok` names shows what was set.
fn versions(case: &Case<'_>, resource: &Resource, judged: &mut Judged) {
    if !resource.numbered {
        return;
    }
    for _ in gone(case.history, resource).iter().filter(|gone| !gone.seen) {
        judged.about += 1;
        judged.unjudged(NEVER_SEEN);
    }
    let overtaken = resource.overtaken();
    let open = resource.open.iter().map(|call| case.call(*call).sent).min().unwrap_or(NEVER);
    for view in &resource.views {
        let first = resource.effects.partition_point(|effect| effect.version < view.version);
        let mut made = resource.effects[first..].iter().take_while(|effect| effect.version == view.version);
        let (Some(effect), None) = (made.next(), made.next()) else { continue };
        let call = case.call(effect.call);
        // Something later may show already.
        if overtaken[first].min(open) <= view.by
            || effect.inferred
            || !matches!(call.tool, Operation::Set | Operation::Mint)
        {
            continue;
        }
        judged.about += 1;
        let shown = content(case.history, view);
        let wrong = case.history.fields(call).iter().find_map(|(field, should)| {
            let is = of(shown, *field)?;
            (is != *should).then_some((*field, *should, is))
        });
        if let Some((field, should, is)) = wrong {
            judged.found(case, || {
                let sentence = format!(
                    "{}'s {} of {} to {} was answered with {} ({}), which shows {} ({})",
                    case.agent(effect.call),
                    call.tool,
                    case.history.text(field),
                    short(&case.history.shown_value(should)),
                    case.history.version(effect.version),
                    case.named(effect.call),
                    short(&case.history.shown_value(is)),
                    case.place(view),
                );
                case.viewing(sentence, None, effect.call, view)
            });
        }
    }
}
