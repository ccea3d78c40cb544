//! No accepted change is erased by a write whose author had not seen it.
//!
//! A `set` erases what its field shows: the last `set` of that field and what was added since. It is a lost update when
//! that is another agent's and the author of the `set` had not seen it: the version that it saw is older, or, where there
//! are no numbers, what it had last read was answered before the other change was sent. An `append` or `increment` erases
//! nothing by itself; that it was erased is seen in a later content, which shows less than what was acknowledged before.
//! Where versions are numbers, a field that no accepted call has changed since must show what was last set.
//!
//! Not judged: a `set` whose author is not known to have seen anything; two changes of which nothing tells which came
//! first; an append that nothing shows, because nothing was read after it; a call of several fields that is there in part,
//! where nobody else changed the rest: a server may commit it in parts, and that part never was; a field that is gone in which
//! nobody saw what was set.

use hashbrown::{HashMap, HashSet};
use rustc_hash::FxBuildHasher;

use super::{Case, Check, Judged};
use crate::audit::case::{CONTESTED, Finding, Known, short};
use crate::audit::effects::{Effect, Resource, content};
use crate::audit::evidence::{Shows, Sight};
use crate::audit::gone::{NEVER_SEEN, gone};
use crate::audit::history::{NEVER, Name, ValueId, of};
use crate::log::Operation;

pub static CHECK: Check = Check {
    sentence: "no accepted change is erased by a write whose author had not seen it",
    anomaly: Some("lost update (P4): Berenson et al., A Critique of ANSI SQL Isolation Levels, 1995"),
    about: "an accepted set of a field that shows another agent's change, or an accepted append or increment",
    judge,
};

const ANOMALY: Option<&str> = Some("lost update (P4)");

fn judge(case: &Case<'_>, judged: &mut Judged) {
    for (resource, evidence) in case.resources.iter().zip(&case.evidence) {
        if resource.disturbed {
            judged.about += 1;
            judged.unjudged("the resource was created anew under the same handle");
            continue;
        }
        sets(case, resource, judged);
        if resource.numbered {
            contents(case, resource, judged);
        }
        for sight in evidence.sights.iter().filter(|sight| sight.shows == Shows::Lost) {
            if in_part(case, resource, sight) {
                judged.about += 1;
                judged.unjudged("a call of several fields is there in part, and nobody else changed the rest");
                continue;
            }
            let (call, field) = (sight.call, case.history.text(sight.field));
            let instead = sight.instead.map(|other| {
                format!("; {}'s {} is there ({})", case.agent(other), case.asks(other), case.named(other))
            });
            let sentence = format!(
                "{}'s {} on {} was acknowledged ({}), and {} does not show it: {field} lacks {}{}",
                case.agent(call),
                case.asks(call),
                case.handle(call),
                case.named(call),
                case.place(&sight.view),
                short(&sight.what),
                instead.unwrap_or_default(),
            );
            judged.found(case, || case.sighting(sentence, ANOMALY, sight));
        }
        let added = resource.effects.iter().filter(|effect| {
            matches!(case.call(effect.call).tool, Operation::Append | Operation::Increment) && !effect.inferred
        });
        let added: u64 = added.count() as u64;
        let shown = evidence.shown.len() as u64;
        judged.about += added;
        let happened: HashSet<u32, FxBuildHasher> = resource.effects.iter().map(|effect| effect.call).collect();
        let maybe = resource.open.iter().filter(|call| {
            matches!(case.call(**call).tool, Operation::Set | Operation::Append | Operation::Increment)
                && !happened.contains(*call)
        });
        for _ in maybe.filter(|_| !resource.settled) {
            judged.about += 1;
            judged.unjudged("a call whose answer was lost may have taken effect");
        }
        for _ in shown..added {
            judged.unjudged("nothing shows what became of an append or increment");
        }
    }
}

/// Whether a content shows another field of the same call, and nobody else is known to have changed the one that is not
/// there.
fn in_part(case: &Case<'_>, resource: &Resource, sight: &Sight) -> bool {
    let (history, work) = (case.history, case.works[sight.call as usize]);
    let calls = resource.effects.iter().map(|effect| effect.call).chain(resource.open.iter().copied());
    let mut others = calls.filter(|call| case.works[*call as usize] != work);
    let shown = content(history, &sight.view);
    let is_there = |(field, value): &(Name, ValueId)| {
        let elements = of(shown, *field).and_then(|shown| history.elements(shown)).unwrap_or_default();
        *field != sight.field && history.appended(*value).iter().any(|element| elements.contains(element))
    };
    history.fields(case.call(sight.call)).iter().any(is_there)
        && resource.unaccounted.is_empty()
        && !others.any(|other| of(history.fields(case.call(other)), sight.field).is_some())
}

/// Whether somebody else's change was there, and what became of the question.
fn sets(case: &Case<'_>, resource: &Resource, judged: &mut Judged) {
    let history = case.history;
    let mut contributors: HashMap<Name, Vec<&Effect>, FxBuildHasher> = HashMap::default();
    let mut minted: Option<&Effect> = None;
    for effect in &resource.effects {
        let call = case.call(effect.call);
        match call.tool {
            Operation::Delete => {
                contributors.clear();
                minted = None;
            }
            Operation::Mint => {
                contributors.clear();
                if effect.contested {
                    judged.about += 1;
                    judged.unjudged(CONTESTED);
                }
                minted = Some(effect).filter(|effect| !effect.contested);
            }
            Operation::Append | Operation::Increment => {
                for (field, _) in history.fields(call) {
                    contributors.entry(*field).or_default().push(effect);
                }
            }
            Operation::Set => {
                let mut standing = Standing::Alone;
                for (field, _) in history.fields(call) {
                    // A mint is a change of every field.
                    let there = contributors.entry(*field).or_insert_with(|| minted.into_iter().collect());
                    for other in there.iter().filter(|other| case.call(other.call).agent != call.agent) {
                        let found = erases(case, resource, effect, other, *field, judged);
                        let doubted = found == Standing::Judged && there.len() == 1 && !resource.numbered;
                        standing = standing.max(if doubted && was_shown_other(case, effect, other, *field) {
                            Standing::Unjudged("what its author read does not show a change that was there by then")
                        } else {
                            found
                        });
                    }
                    // What overlaps may still be there after it.
                    there.retain(|other| !resource.numbered && other.by >= effect.from);
                    there.push(effect);
                }
                match standing {
                    Standing::Alone => {}
                    Standing::Judged => judged.about += 1,
                    Standing::Unjudged(because) => {
                        judged.about += 1;
                        judged.unjudged(because);
                    }
                }
            }
            _ => {}
        }
    }
}

/// What a set comes to with regard to the changes of others.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Standing {
    /// There are none.
    Alone,
    /// It could be judged.
    Judged,
    /// It could not.
    Unjudged(&'static str),
}

fn erases(
    case: &Case<'_>,
    resource: &Resource,
    effect: &Effect,
    other: &Effect,
    field: Name,
    judged: &mut Judged,
) -> Standing {
    let Some(base) = case.base(effect.call) else {
        return Standing::Unjudged("the log does not tell what the author had seen");
    };
    if !resource.numbered && other.by >= effect.from {
        return Standing::Unjudged("two changes overlap, and no version tells which came first");
    }
    match case.had_seen(resource, base, other) {
        Known::Yes => Standing::Judged,
        Known::Unknown => Standing::Unjudged("a change overlaps what the author read, and no version tells more"),
        Known::No => {
            judged.found(case, || finding(case, effect, other, field, base.call));
            Standing::Judged
        }
    }
}

/// Whether the author of a change was shown another value than the one set that it should have seen.
fn was_shown_other(case: &Case<'_>, effect: &Effect, other: &Effect, field: Name) -> bool {
    let (history, set) = (case.history, case.call(other.call));
    let view = case.base(effect.call).and_then(|base| base.call).map(|view| case.call(view));
    let read = view.filter(|view| view.tool == Operation::Read && set.before(view));
    let shown = read.and_then(|read| of(history.shown(read), field));
    set.tool == Operation::Set && shown.is_some() && shown != of(history.fields(set), field)
}

fn finding(case: &Case<'_>, effect: &Effect, other: &Effect, field: Name, view: Option<u32>) -> Finding {
    let (writer, erased) = (case.call(effect.call), case.call(other.call));
    let value = |call| {
        of(case.history.fields(call), field).map_or_else(String::new, |value| short(&case.history.shown_value(value)))
    };
    let name = case.history.text(field);
    let saw = case.base(effect.call).map_or_else(String::new, |base| match (base.version.number(), base.call) {
        (Some(_), _) => format!(", having seen {}", case.history.version(base.version)),
        (None, Some(view)) => format!(", having read in {} before that", case.named(view)),
        (None, None) => String::new(),
    });
    let sentence = format!(
        "{} set {name} of {} to {}{saw} ({}), and erased {}'s {} of {name} {} ({}), which it had not seen",
        case.agent(effect.call),
        case.handle(effect.call),
        value(writer),
        case.named(effect.call),
        case.agent(other.call),
        erased.tool,
        value(erased),
        case.named(other.call),
    );
    let calls = [other.call, effect.call].into_iter().chain(view).collect();
    Finding { sentence, anomaly: ANOMALY, calls, ..Finding::default() }
}

/// A field that no accepted call has changed since shows what was last set.
fn contents(case: &Case<'_>, resource: &Resource, judged: &mut Judged) {
    let history = case.history;
    let mut setters: HashMap<Name, Vec<(u64, &Effect)>, FxBuildHasher> = HashMap::default();
    for effect in &resource.effects {
        let call = case.call(effect.call);
        let Some(version) = effect.version.number() else { continue };
        if call.tool == Operation::Delete {
            return;
        }
        for (field, _) in history.fields(call) {
            setters.entry(*field).or_default().push((version, effect));
        }
    }
    let (overtaken, gone) = (resource.overtaken(), gone(history, resource));
    let open = resource.open.iter().map(|call| case.call(*call).sent).min().unwrap_or(NEVER);
    let mut told: HashMap<(u32, Name), (), FxBuildHasher> = HashMap::default();
    for view in &resource.views {
        let Some(at) = view.version.number() else { continue };
        // Something later may show already.
        let last = resource.effects.partition_point(|effect| effect.version <= view.version);
        if last.checked_sub(1).is_none_or(|last| overtaken[last].min(open) <= view.by) {
            continue;
        }
        for (field, value) in content(history, view) {
            let Some(all) = setters.get(field) else { continue };
            let Some(place) = all.partition_point(|(version, _)| *version <= at).checked_sub(1) else { continue };
            let (version, last) = all[place];
            let call = case.call(last.call);
            let should = of(history.fields(call), *field);
            let sets = matches!(call.tool, Operation::Set | Operation::Mint);
            // They are in the order of their versions.
            let alone = place.checked_sub(1).is_none_or(|before| all[before].0 != version);
            let whole = !resource.unaccounted.iter().any(|other| *other > version && *other <= at);
            if !sets || !alone || !whole || !resource.happened.is_empty() || should == Some(*value) || version == at {
                continue;
            }
            if told.insert((last.call, *field), ()).is_some() {
                continue;
            }
            if gone.iter().any(|gone| (gone.call, gone.field, gone.seen) == (last.call, *field, false)) {
                judged.about += 1;
                judged.unjudged(NEVER_SEEN);
                continue;
            }
            judged.found(case, || {
                let should = should.map_or_else(String::new, |value| short(&history.shown_value(value)));
                let (name, shown) = (history.text(*field), short(&history.shown_value(*value)));
                let (shows, because) = if history.is_nothing(*value) {
                    (format!("has no {name}"), "something left it out of what it wrote, or wrote back a copy from before it")
                } else {
                    (format!("shows {shown}"), "something wrote back a copy from before it")
                };
                let sentence = format!(
                    "{}'s set of {name} to {should} on {} ({}, {}) is gone at v{at} ({}), which {shows}, and no accepted call sets {name} in between: {because}",
                    case.agent(last.call),
                    case.handle(last.call),
                    case.named(last.call),
                    history.version(last.version),
                    case.place(view),
                );
                case.viewing(sentence, ANOMALY, last.call, view)
            });
        }
    }
}
