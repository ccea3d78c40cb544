//! Two different contents never carry the same version of one handle.
//!
//! It is violated when two views of one version show a field differently, and when two pieces of work were answered with
//! the same new version.
//!
//! Not judged: resources that are shown or changed without versions.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::{Case, Check, Judged};
use crate::audit::case::{CONTESTED, Finding, short};
use crate::audit::effects::{View, content};
use crate::audit::history::{Mark, Name, ValueId};
use crate::log::Operation;

pub static CHECK: Check = Check {
    sentence: "two different contents never carry the same version of one handle",
    anomaly: None,
    about: "a second view of a version, or a change that is answered with one",
    judge,
};

fn judge(case: &Case<'_>, judged: &mut Judged) {
    let history = case.history;
    for resource in &case.resources {
        if resource.disturbed {
            judged.about += 1;
            judged.unjudged("the resource was created anew under the same handle");
            continue;
        }
        let mut shown: HashMap<(Mark, Name), (ValueId, &View), FxBuildHasher> = HashMap::default();
        let mut versions: HashMap<Mark, bool, FxBuildHasher> = HashMap::default();
        for view in &resource.views {
            if view.version == Mark::None {
                if !content(history, view).is_empty() {
                    judged.about += 1;
                    judged.unjudged("a view names no version");
                }
                continue;
            }
            judged.about += u64::from(versions.contains_key(&view.version));
            let told = versions.entry(view.version).or_default();
            for (field, value) in content(history, view) {
                let (before, other) = *shown.entry((view.version, *field)).or_insert((*value, view));
                if before == *value || *told {
                    continue;
                }
                *told = true;
                judged.found(case, || {
                    let sentence = format!(
                        "{} of {} showed {} as {} ({}) and as {} ({})",
                        history.version(view.version),
                        history.text(resource.handle),
                        history.text(*field),
                        short(&history.shown_value(before)),
                        case.place(other),
                        short(&history.shown_value(*value)),
                        case.place(view),
                    );
                    case.views(sentence, &[other, view])
                });
            }
        }
        let mut made: HashMap<Mark, u32, FxBuildHasher> = HashMap::default();
        for effect in &resource.effects {
            judged.about += u64::from(effect.version != Mark::None);
            if effect.version == Mark::None {
                continue;
            }
            if effect.contested {
                judged.unjudged(CONTESTED);
                continue;
            }
            let call = case.call(effect.call);
            let fields = history.fields(call).iter().filter(|_| call.tool == Operation::Set);
            let mut other = fields.filter_map(|(field, value)| {
                let (before, view) = shown.get(&(effect.version, *field))?;
                (before != value && view.by < effect.from).then_some((*field, *before, *value, *view))
            });
            if let Some((field, before, value, view)) = other.next() {
                judged.found(case, || {
                    let sentence = format!(
                        "{} of {} showed {} as {} ({}), and {}'s set of it to {} was answered with that version ({})",
                        history.version(effect.version),
                        history.text(resource.handle),
                        history.text(field),
                        short(&history.shown_value(before)),
                        case.place(view),
                        case.agent(effect.call),
                        short(&history.shown_value(value)),
                        case.named(effect.call),
                    );
                    case.viewing(sentence, None, effect.call, view)
                });
            }
            let first = *made.entry(effect.version).or_insert(effect.call);
            // A mint may answer what is there already.
            if first != effect.call && call.tool != Operation::Mint {
                judged.found(case, || {
                    let sentence = format!(
                        "{}'s {} and {}'s {} on {} were both answered with {} ({}; {})",
                        case.agent(first),
                        case.asks(first),
                        case.agent(effect.call),
                        case.asks(effect.call),
                        history.text(resource.handle),
                        history.version(effect.version),
                        case.named(first),
                        case.named(effect.call),
                    );
                    Finding { sentence, calls: vec![first, effect.call], ..Finding::default() }
                });
            }
        }
    }
}
