//! A change that names a version is accepted only while that version is the current one.
//!
//! It was stale when some other change made a version between the expected one and the one that it made itself; where
//! versions count, when it did not make the next one; and, without numbers, when another change was sent after the
//! expected version was there, and was accepted before this one was sent.
//!
//! A client that is promised a precondition relies on it: a check and a write in two transactions break it without any
//! fault.

use super::{Case, Check, Judged};
use crate::audit::case::Finding;
use crate::audit::effects::{Effect, Resource};
use crate::audit::history::{Mark, of};

pub static CHECK: Check = Check {
    sentence: "a change that names a version is accepted only while that version is the current one",
    anomaly: None,
    about: "an accepted change that says which version it expects",
    judge,
};

fn judge(case: &Case<'_>, judged: &mut Judged) {
    for resource in &case.resources {
        let numbers: Vec<u64> = resource.effects.iter().filter_map(|effect| effect.version.number()).collect();
        for (place, effect) in resource.effects.iter().enumerate() {
            let expected = of(case.history.expects(case.call(effect.call)), resource.handle);
            let Some(expected) = expected else { continue };
            judged.about += 1;
            let overtaken = match (expected, effect.version) {
                (Mark::Number(expected), Mark::Number(made)) => {
                    if made <= expected {
                        Overtaken::By(None)
                    } else if resource.numbered {
                        let first = numbers.partition_point(|number| *number <= expected);
                        // They are in the order of their versions.
                        let other = resource.effects.get(first).filter(|other| other.version < effect.version);
                        let beside = [place.checked_sub(1), Some(place + 1)].into_iter().flatten();
                        let mut beside = beside.filter_map(|other| resource.effects.get(other));
                        let twin = beside.find(|other| other.version == Mark::Number(made));
                        let seen = resource.unaccounted.iter().any(|other| *other > expected && *other < made);
                        match other.or(twin) {
                            Some(other) => Overtaken::By(Some(other)),
                            None if seen || case.history.versions_count && made != expected + 1 => Overtaken::By(None),
                            None => Overtaken::No,
                        }
                    } else {
                        by_time(case, resource, effect, Mark::Number(expected))
                    }
                }
                (expected, _) => by_time(case, resource, effect, expected),
            };
            match overtaken {
                Overtaken::No => {}
                Overtaken::Unknown => judged.unjudged("the log does not tell when the expected version was made"),
                Overtaken::By(other) => judged.found(case, || {
                    let by = other.map_or_else(
                        || format!("it made {}", case.history.version(effect.version)),
                        |other| {
                            let made = case.history.version(other.version);
                            format!("{} had made {made} by then ({})", case.agent(other.call), case.named(other.call))
                        },
                    );
                    let sentence = format!(
                        "{}'s {} on {}, which expects {}, was accepted ({}) though that was no longer current: {by}",
                        case.agent(effect.call),
                        case.asks(effect.call),
                        case.handle(effect.call),
                        case.history.version(expected),
                        case.named(effect.call),
                    );
                    let calls = other.map(|other| other.call).into_iter().chain([effect.call]).collect();
                    Finding { sentence, calls, ..Finding::default() }
                }),
            }
        }
    }
}

enum Overtaken<'e> {
    No,
    Unknown,
    By(Option<&'e Effect>),
}

/// Another change that was sent when the expected version was there already, and was over before this one was sent.
fn by_time<'e>(case: &Case<'_>, resource: &'e Resource, effect: &Effect, expected: Mark) -> Overtaken<'e> {
    let made = resource.effects.iter().find(|other| other.version == expected).map(|other| other.by);
    let seen = resource.views.iter().filter(|view| view.version == expected).map(|view| view.by).min();
    let Some(there) = made.into_iter().chain(seen).min() else { return Overtaken::Unknown };
    let sent = case.call(effect.call).sent;
    // Sorted by the time by which each had happened.
    let over = resource.effects.partition_point(|other| other.by < sent);
    let over = if resource.numbered { &resource.effects[..] } else { &resource.effects[..over] };
    let other = over.iter().rev().take_while(|other| other.by > there || resource.numbered);
    let mut other = other.filter(|other| other.by < sent && other.from > there && other.version != expected);
    other.find(|other| other.work != effect.work).map_or(Overtaken::No, |other| Overtaken::By(Some(other)))
}
