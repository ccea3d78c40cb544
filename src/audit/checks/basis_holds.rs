//! A change takes effect only while what its plan rests on is as its author saw it, or as its condition says.
//!
//! What a plan rests on is what `given` names; without that, what `saw` or `expects` name besides the resource that is changed. It
//! is violated when one of these had a greater version, made by somebody else, before the change was sent; or, where it is the
//! changed resource itself, a version in between. And it is violated when a condition (`if`) is not true of what was stored when
//! the change took effect, as views and the changes behind them show it. What the condition names may have changed as long as it is
//! true. Two changes at the same time, each resting on what the other changes, are a write skew, which the check `serializable`
//! finds as a cycle.
//!
//! Not judged: what overlaps, versions that are no numbers, and conditions in logs whose versions don't count.

use std::collections::BTreeMap;

use super::{Case, Check, Judged};
use crate::audit::case::Finding;
use crate::audit::conditions::{Stored, condition};
use crate::audit::effects::{Effect, Resource};
use crate::audit::history::{Condition, Mark, NEVER, Name};

pub static CHECK: Check = Check {
    sentence: "a change takes effect only while what it rests on is as its author saw it, or as its condition says",
    anomaly: Some("write skew (A5B): Berenson et al., A Critique of ANSI SQL Isolation Levels, 1995"),
    about: "an accepted change that says on what it rests",
    judge,
};

fn judge(case: &Case<'_>, judged: &mut Judged) {
    // For each resource, by version: the effect from there on that had happened first.
    // And when the first of these may have begun.
    let mut soonest: BTreeMap<Name, Vec<(u64, u64, u32, u64)>> = BTreeMap::new();
    for resource in case.resources.iter().filter(|resource| resource.numbered) {
        let (mut first, mut begun) = ((NEVER, 0), NEVER);
        let mut all: Vec<(u64, u64, u32, u64)> = Vec::new();
        for effect in resource.effects.iter().rev() {
            first = first.min((effect.by, effect.call));
            begun = begun.min(effect.from);
            all.extend(effect.version.number().map(|version| (version, first.0, first.1, begun)));
        }
        all.reverse();
        soonest.insert(resource.handle, all);
    }
    let stored = Stored::of(case);
    for resource in &case.resources {
        for effect in &resource.effects {
            let condition = condition(case, effect);
            let rests_on = case.rests_on(resource.handle, effect.call);
            if rests_on.is_empty() && condition.is_none() {
                continue;
            }
            judged.about += 1;
            let unmet = condition.map(|condition| unmet(case, &stored, (resource, effect), condition, judged));
            if unmet != Some(Unmet::Yes) && !rests_on.is_empty() && unmet != Some(Unmet::Unknown) {
                rests(case, &soonest, (resource, effect), &rests_on, judged);
            }
        }
    }
}

#[derive(PartialEq, Eq)]
enum Unmet {
    Yes,
    No,
    Unknown,
}

/// Whether a change took effect though its condition was not true.
fn unmet(
    case: &Case<'_>,
    stored: &Stored,
    (resource, effect): (&Resource, &Effect),
    condition: &Condition,
    judged: &mut Judged,
) -> Unmet {
    match stored.was_met(case, resource, effect, condition) {
        None => {
            judged.unjudged("no view and no change tells what was stored of what its condition names");
            Unmet::Unknown
        }
        Some((true, _)) => Unmet::No,
        Some((false, at)) => {
            judged.found(case, || {
                let at = at.iter().map(|(handle, version)| format!("{} at v{version}", case.history.text(*handle)));
                let sentence = format!(
                    "{}'s {} on {} took effect as {} ({}), though {} was not true of {}",
                    case.agent(effect.call),
                    case.asks(effect.call),
                    case.handle(effect.call),
                    case.history.version(effect.version),
                    case.named(effect.call),
                    condition.expression,
                    at.collect::<Vec<_>>().join(" and "),
                );
                let made = |other: &&Effect| other.version.number() == effect.version.number().map(|made| made - 1);
                let before = resource.effects.iter().find(made).map(|other| other.call);
                Finding { sentence, calls: before.into_iter().chain([effect.call]).collect(), ..Finding::default() }
            });
            Unmet::Yes
        }
    }
}

/// Whether what a change rests on was as its author had seen it.
fn rests(
    case: &Case<'_>,
    soonest: &BTreeMap<Name, Vec<(u64, u64, u32, u64)>>,
    (resource, effect): (&Resource, &Effect),
    rests_on: &BTreeMap<Name, Mark>,
    judged: &mut Judged,
) {
    for (on, seen) in rests_on {
        let numbered = soonest.get(on).zip(seen.number());
        let Some((all, seen)) = numbered else {
            judged.unjudged("the versions of what it rests on have no order");
            return;
        };
        let after = all.partition_point(|(version, ..)| *version <= seen);
        let overtaken = if *on == resource.handle {
            let between = |other: &&Effect| {
                let version = other.version.number();
                version > Some(seen) && version < effect.version.number() && other.work != effect.work
            };
            resource.effects.iter().find(between).map(|other| other.call)
        } else {
            let other = all.get(after).filter(|(_, by, ..)| *by < effect.from);
            other.filter(|(_, _, other, _)| case.works[*other as usize] != effect.work).map(|(_, _, other, _)| *other)
        };
        if let Some(other) = overtaken {
            judged.found(case, || {
                let sentence = format!(
                    "{}'s {} on {} rests on {} as of v{seen}, and took effect ({}) after {}'s {} had changed that ({})",
                    case.agent(effect.call),
                    case.asks(effect.call),
                    case.handle(effect.call),
                    case.history.text(*on),
                    case.named(effect.call),
                    case.agent(other),
                    case.asks(other),
                    case.named(other),
                );
                Finding { sentence, calls: vec![other, effect.call], ..Finding::default() }
            });
            return;
        }
        // As a rule everything later had not begun.
        if *on == resource.handle || all.get(after).is_none_or(|(.., begun)| *begun >= effect.by) {
            continue;
        }
        let later = case.resource(*on).map_or(&[][..], |resource| {
            let first = resource.effects.partition_point(|other| other.version.number() <= Some(seen));
            &resource.effects[first..]
        });
        if later.iter().any(|other| other.work != effect.work && other.from < effect.by) {
            judged.unjudged("a change of what it rests on overlaps, and nothing tells which came first");
            return;
        }
    }
}
