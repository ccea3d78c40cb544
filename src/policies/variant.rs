//! Variants of a run, made by edits of its files.
//!
//! Edits are made in the design; while another one is deployed, in that one, since what runs already can't be changed any more.
//! How it is deployed stands in the scenario, and can be changed too.

use similar::TextDiff;

use super::edit::Edit;
use crate::input::{InputError, Source};
use crate::model::Model;
use crate::run::Run;

/// The model with the design that edits are made in.
#[must_use]
pub fn side(model: &Model) -> &Model {
    model.deployed.as_ref().map_or(model, |deployed| &deployed.model)
}

/// The text of that design.
#[must_use]
pub fn source(run: &Run) -> &Source {
    let sources = run.sources();
    sources.deployed_design.unwrap_or(sources.design)
}

/// A design with these changes, under a name that says so. `None`: they change nothing.
#[must_use]
pub fn edited(source: &Source, edits: &[Edit]) -> Option<Source> {
    let slugs: Vec<String> = edits.iter().map(Edit::slug).collect();
    let mut name = format!("{}-{}", source.name, slugs.join("-"));
    // A name is a part of file names.
    name.truncate(100);
    let origin = format!("{} with changes", source.origin);
    Some(Source { name, origin, ..applied(source, edits.iter())? })
}

/// The text with these changes; `None` where one of them changes nothing.
fn applied<'e>(source: &Source, edits: impl IntoIterator<Item = &'e Edit>) -> Option<Source> {
    let mut text = source.text.to_string();
    for edit in edits {
        text = edit.apply(&text)?;
    }
    Some(Source { text: text.into(), asked: None, ..source.clone() })
}

/// A run with these changes. `None`: they change nothing.
///
/// # Errors
///
/// What is wrong with the run that has them.
#[must_use]
pub fn variant(run: &Run, edits: &[Edit]) -> Option<Result<Run, InputError>> {
    let (rollout, design): (Vec<&Edit>, Vec<&Edit>) = edits.iter().partition(|edit| edit.is_of_the_rollout());
    let sources = run.sources();
    let mut changed = Ok(run.clone());
    if !rollout.is_empty() {
        changed = run.with_scenario(&applied(sources.scenario, rollout)?);
    }
    if !design.is_empty() {
        changed = match sources.deployed_design {
            // Traces name what is deployed, so it keeps its name.
            Some(source) => {
                let source = applied(source, design)?;
                changed.and_then(|run| run.with_deployed_design(&source))
            }
            None => {
                let design: Vec<Edit> = design.into_iter().cloned().collect();
                let source = edited(sources.design, &design)?;
                changed.and_then(|run| run.with_design(&source))
            }
        };
    }
    Some(changed)
}

/// What edits change, in full.
#[must_use]
pub fn texts(run: &Run) -> String {
    [&*source(run).text, &*run.sources().scenario.text].join("\n")
}

/// The difference of two runs as a patch of their files, under these names.
#[must_use]
pub fn patch(old: &Run, new: &Run, name: impl Fn(&Source) -> String) -> String {
    let pairs = [(source(old), source(new)), (old.sources().scenario, new.sources().scenario)];
    let differ = pairs.into_iter().filter(|(old, new)| old.text != new.text);
    let patches = differ.map(|(old, new)| {
        let name = name(old);
        TextDiff::from_lines(&*old.text, &*new.text).unified_diff().context_radius(2).header(&name, &name).to_string()
    });
    patches.collect()
}
