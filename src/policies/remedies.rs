//! The parts of repairs: every change of one step or setting that leaves what a call is there to do, and the well-known
//! remedies.

use std::collections::BTreeSet;

use super::ablate::used_places;
use super::edit::{Edit, Place};
use super::world::{REACTIONS, values};
use crate::handler::STEPS;
use crate::input::settings;
use crate::model::design::{CALLS_UPSTREAM, STORES};
use crate::model::{Event, Model, Tool};

/// Steps that do the same in other ways, so that one can stand in the place of another.
const ALIKE: [[&str; 2]; 4] =
    [["apply", "apply-next"], CALLS_UPSTREAM, ["find-key", "claim-key"], ["check-version", "check-unchanged"]];

/// Whether a step is what a call is there to do.
fn has_effect(step: &str) -> bool {
    STORES.contains(&step) || CALLS_UPSTREAM.contains(&step)
}

/// What repairs are made of: every single change, and the well-known remedies. What a call is there to do is neither taken away
/// nor done once more.
pub(super) fn parts(model: &Model) -> Vec<Vec<Edit>> {
    let places = used_places(model);
    let mut single = Vec::new();
    let kinds: [fn(Place) -> Edit; 4] = [Edit::Remove, Edit::Split, Edit::Join, Edit::Forward];
    single.extend(kinds.iter().flat_map(|kind| places.iter().cloned().map(kind)));
    single.retain(|edit| !matches!(edit, Edit::Remove(place) if has_effect(&place.step)));
    for place in &places {
        for step in STEPS.iter().filter(|step| !has_effect(step.name)) {
            for behind in [false, true] {
                single.push(Edit::Add { step: step.name, next_to: place.clone(), behind });
            }
        }
        let alike = ALIKE.iter().filter(|alike| alike.contains(&&*place.step));
        let others = alike.flat_map(|alike| alike.iter().filter(|step| **step != place.step));
        single.extend(others.map(|step| Edit::Replace { place: place.clone(), step }));
    }
    let tables = [("server", settings::server()), ("server.keys", settings::keys()), ("client", settings::client())];
    for (table, settings) in tables {
        for setting in settings {
            let set = |value| Edit::Set { table, key: setting.name, value };
            single.extend(values(&setting).into_iter().map(set));
        }
    }
    for event in Event::all() {
        single.extend(REACTIONS.map(|value| Edit::Set {
            table: "client.on",
            key: event.name(),
            value: value.to_owned(),
        }));
    }
    let mut parts: Vec<Vec<Edit>> = single.into_iter().map(|edit| vec![edit]).collect();
    parts.extend(remedies(&places));
    parts
}

/// The well-known remedies, for all handlers that change something: keys, also for what is called upstream, versions, an owner
/// check, and their sums.
fn remedies(places: &[Place]) -> Vec<Vec<Edit>> {
    let set = |table, key, value: &str| Edit::Set { table, key, value: value.to_owned() };
    let tools: BTreeSet<Tool> = places.iter().map(|place| place.tool).collect();
    let main = |tool: Tool| places.iter().filter(move |place| place.tool == tool && !place.at_end);
    let has = |tool: Tool, step: &str| main(tool).any(|place| place.step == step);
    let mut keys = vec![set("client", "key", "\"per-intent\"")];
    let mut versions = vec![
        set("client", "precondition", "\"viewed-version\""),
        set("client.on", "stale-view", "{ send = \"replan\" }"),
    ];
    let mut owner = Vec::new();
    let upstream: Vec<Edit> = places
        .iter()
        .filter(|place| place.step == "call-upstream")
        .map(|place| Edit::Replace { place: place.clone(), step: "call-upstream-with-key" })
        .collect();
    for &tool in &tools {
        let resolve = main(tool).find(|place| place.step == "resolve").cloned();
        let change = main(tool).find(|place| STORES.contains(&&*place.step)).cloned();
        let owned = main(tool).find(|place| place.step == "authorize").cloned();
        if let (Some(resolve), false) = (&resolve, has(tool, "authorize")) {
            owner.push(Edit::Add { step: "authorize", next_to: resolve.clone(), behind: true });
        }
        if tool == Tool::Read {
            continue;
        }
        if let Some(first) = owned.or(resolve).filter(|_| !has(tool, "find-key") && !has(tool, "claim-key")) {
            keys.push(Edit::Add { step: "find-key", next_to: first, behind: true });
        }
        if let Some(change) = &change {
            if !has(tool, "record-key") {
                keys.push(Edit::Add { step: "record-key", next_to: change.clone(), behind: true });
            }
            if !has(tool, "check-version") {
                versions.push(Edit::Add { step: "check-version", next_to: change.clone(), behind: false });
            }
        }
    }
    let sums = [
        vec![&keys],
        vec![&versions],
        vec![&owner],
        vec![&keys, &versions],
        vec![&owner, &keys],
        vec![&owner, &keys, &versions],
        vec![&keys, &upstream],
        vec![&keys, &versions, &upstream],
        vec![&owner, &keys, &upstream],
    ];
    let sums = sums.map(|parts| parts.into_iter().flatten().cloned().collect::<Vec<_>>());
    let distinct: BTreeSet<Vec<Edit>> = sums.into_iter().filter(|edits| edits.len() > 1).collect();
    distinct.into_iter().collect()
}
