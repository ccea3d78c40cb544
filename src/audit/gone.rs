//! Fields that are gone: an observer had found them there, and later finds nothing.

use std::collections::BTreeMap;

use super::effects::{Resource, content};
use super::history::{History, Name, ValueId, of};
use crate::log::Operation;

/// Why nothing is claimed of a field that was set, and is gone, when nobody has seen it in between.
pub const NEVER_SEEN: &str =
    "a field is gone in which nobody saw what was set: it was never stored, or was left out later";

/// What was set last in a field that is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gone {
    /// The field.
    pub field: Name,
    /// The call that set it.
    pub call: u32,
    /// Somebody has seen there what it set.
    pub seen: bool,
}

/// The fields that are gone without a call that takes them away. Only where versions are numbers.
#[must_use]
pub fn gone(history: &History, resource: &Resource) -> Vec<Gone> {
    let mut first: BTreeMap<Name, u64> = BTreeMap::new();
    for view in &resource.views {
        let Some(version) = view.version.number() else { continue };
        for (field, value) in content(history, view) {
            if history.is_nothing(*value) {
                let least = first.entry(*field).or_insert(version);
                *least = version.min(*least);
            }
        }
    }
    first.into_iter().filter_map(|(field, at)| last_set(history, resource, field, at)).collect()
}

fn last_set(history: &History, resource: &Resource, field: Name, at: u64) -> Option<Gone> {
    let setters = resource.effects.iter().filter_map(|effect| {
        let call = &history.calls[effect.call as usize];
        let value = of(history.fields(call), field)?;
        Some((effect.version.number().filter(|version| *version <= at)?, effect.call, call.tool, value))
    });
    let (version, call, tool, should): (u64, u32, Operation, ValueId) = setters.max_by_key(|(version, ..)| *version)?;
    let sets = matches!(tool, Operation::Set | Operation::Mint) && !history.is_nothing(should) && version < at;
    let shows = |view: &super::effects::View| {
        view.version.number().is_some_and(|number| version <= number && number < at)
            && of(content(history, view), field) == Some(should)
    };
    sets.then(|| Gone { field, call, seen: resource.views.iter().any(shows) })
}
