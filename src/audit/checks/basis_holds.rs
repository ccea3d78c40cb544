//! A change that rests on other resources takes effect only while they are as its author saw them.
//!
//! What a change rests on besides the resource that it changes is what its `saw` or `expects` name. It is violated when one
//! of these had a greater version, made by somebody else, before the change was sent. Two changes at the same time, each
//! resting on what the other changes, are a write skew, which the check `serializable` finds as a cycle.
//!
//! Not judged: what overlaps, and versions that are no numbers.

use std::collections::BTreeMap;

use super::{Case, Check, Judged};
use crate::audit::case::Finding;
use crate::audit::history::{NEVER, Name};

pub static CHECK: Check = Check {
    sentence: "a change that rests on other resources takes effect only while they are as its author saw them",
    anomaly: Some("write skew (A5B): Berenson et al., A Critique of ANSI SQL Isolation Levels, 1995"),
    about: "an accepted change that says what else it rests on",
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
    for resource in &case.resources {
        for effect in &resource.effects {
            let call = case.call(effect.call);
            let mut rests: BTreeMap<Name, _> = case.history.expects(call).iter().copied().collect();
            rests.extend(case.history.saw(call).iter().copied());
            rests.remove(&resource.handle);
            if rests.is_empty() {
                continue;
            }
            judged.about += 1;
            for (on, seen) in rests {
                let numbered = soonest.get(&on).zip(seen.number());
                let Some((all, seen)) = numbered else {
                    judged.unjudged("the versions of what it rests on have no order");
                    break;
                };
                let after = all.partition_point(|(version, ..)| *version <= seen);
                let overtaken = all.get(after).filter(|(_, by, ..)| *by < effect.from);
                if let Some((_, _, other, _)) =
                    overtaken.filter(|(_, _, other, _)| case.works[*other as usize] != effect.work)
                {
                    judged.found(case, || {
                        let sentence = format!(
                            "{}'s {} on {} rests on {} as of v{seen}, and took effect ({}) after {}'s {} had changed that ({})",
                            case.agent(effect.call),
                            case.asks(effect.call),
                            case.handle(effect.call),
                            case.history.text(on),
                            case.named(effect.call),
                            case.agent(*other),
                            case.asks(*other),
                            case.named(*other),
                        );
                        Finding { sentence, calls: vec![*other, effect.call], ..Finding::default() }
                    });
                    break;
                }
                // As a rule everything later had not begun.
                if all.get(after).is_none_or(|(.., begun)| *begun >= effect.by) {
                    continue;
                }
                let later = case.resource(on).map_or(&[][..], |resource| {
                    let first = resource.effects.partition_point(|other| other.version.number() <= Some(seen));
                    &resource.effects[first..]
                });
                if later.iter().any(|other| other.work != effect.work && other.from < effect.by) {
                    judged.unjudged("a change of what it rests on overlaps, and nothing tells which came first");
                    break;
                }
            }
        }
    }
}
