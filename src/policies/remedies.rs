//! The parts of repairs: changes of one step or setting ([`TRIED`](super::stopping::TRIED)), and the well-known remedies.

use std::collections::BTreeSet;

use super::ablate::used_places;
use super::edit::{Edit, Place};
use super::variant::{side, source};
use super::world::{REACTIONS, values};
use crate::handler::STEPS;
use crate::input::settings;
use crate::model::design::{CALLS_UPSTREAM, STORES};
use crate::model::{Clients, Deploy, Entry, Event, Tool};
use crate::run::Run;

/// Steps that do the same in other ways, so that one can stand in the place of another.
const ALIKE: [[&str; 2]; 4] =
    [["apply", "apply-next"], CALLS_UPSTREAM, ["find-key", "claim-key"], ["check-version", "check-unchanged"]];

/// Whether a step is what a call is there to do.
fn has_effect(step: &str) -> bool {
    STORES.contains(&step) || CALLS_UPSTREAM.contains(&step)
}

/// What repairs are made of: every single change, and the well-known remedies. What a call is there to do is neither taken away
/// nor done once more.
pub(super) fn parts(run: &Run) -> Vec<Vec<Edit>> {
    let model = run.model();
    let places = used_places(side(model));
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
    let rests = |entry: &Entry| matches!(entry, Entry::Mutate { given, .. } if !given.is_empty());
    let given = model.scenario.agents.iter().flat_map(|agent| &agent.work).any(rests);
    // What a design says already is no change, and is left out of a remedy.
    let text = &source(run).text;
    let says = |edit: &Edit| matches!(edit, Edit::Set { .. }) && edit.apply(text).is_none();
    let remedies = remedies(&places, given).into_iter();
    let remedies = remedies.map(|edits| edits.into_iter().filter(|edit| !says(edit)).collect::<Vec<_>>());
    let distinct: BTreeSet<Vec<Edit>> = remedies.filter(|edits| edits.len() > 1).collect();
    parts.extend(distinct);
    if model.deployed.is_some() {
        // What a change is worth may depend on how it is deployed, so each is tried either way.
        let mut rolled_out: Vec<Vec<Edit>> = Vec::new();
        for other in rollouts(model.scenario.deploy) {
            rolled_out.push(vec![other.clone()]);
            rolled_out.extend(parts.iter().map(|part| [std::slice::from_ref(&other), part].concat()));
        }
        parts.extend(rolled_out);
    }
    parts
}

/// The other ways to deploy.
fn rollouts(Deploy { restart, clients }: Deploy) -> [Edit; 2] {
    let set = |key, value: String| Edit::Set { table: "deploy", key, value };
    let others = if clients == Clients::Old { Clients::New } else { Clients::Old };
    [set("restart", (!restart).to_string()), set("clients", format!("\"{others}\""))]
}

/// The well-known remedies, for all handlers that change something: keys, also for what is called upstream, versions, an owner
/// check, and their sums. `given`: some change rests on more than its target, so the versions of that can be asked for too.
fn remedies(places: &[Place], given: bool) -> Vec<Vec<Edit>> {
    let set = |table, key, value: &str| Edit::Set { table, key, value: value.to_owned() };
    let tools: BTreeSet<Tool> = places.iter().map(|place| place.tool).collect();
    let main = |tool: Tool| places.iter().filter(move |place| place.tool == tool && !place.at_end);
    let has = |tool: Tool, step: &str| main(tool).any(|place| place.step == step);
    let mut keys = vec![set("client", "key", "\"per-intent\"")];
    let mut versions = vec![
        set("client", "precondition", "\"viewed-version\""),
        set("client.on", "stale-view", "{ send = \"replan\" }"),
    ];
    // A mint has no version to expect but those of what it is given.
    let mut minted = Vec::new();
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
        // What makes a resource has nothing to resolve before it.
        let mints = change.clone().filter(|_| tool == Tool::Mint).map(|mint| (mint, false));
        let first = owned.or(resolve).map(|first| (first, true)).or(mints);
        if let Some((next_to, behind)) = first.filter(|_| !has(tool, "find-key") && !has(tool, "claim-key")) {
            keys.push(Edit::Add { step: "find-key", next_to, behind });
        }
        if let Some(change) = &change {
            if !has(tool, "record-key") {
                keys.push(Edit::Add { step: "record-key", next_to: change.clone(), behind: true });
            }
            if !has(tool, "check-version") {
                let check = |behind| Edit::Add { step: "check-version", next_to: change.clone(), behind };
                if tool == Tool::Mint { minted.push(check(true)) } else { versions.push(check(false)) }
            }
        }
    }
    let mut every: Vec<Edit> = versions.iter().cloned().chain(minted).collect();
    every[0] = set("client", "precondition", "\"every-viewed-version\"");
    let mut sums = vec![
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
    if given {
        sums.extend([vec![&every], vec![&keys, &every], vec![&owner, &keys, &every]]);
    }
    sums.into_iter().map(|parts| parts.into_iter().flatten().cloned().collect()).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::input::{self, Kind, Source};
    use crate::run::invariant_names;

    /// The parts of repairs of a design whose writes are these transactions; and while it replaces one without any guards.
    fn parts_of(write: &str, deployed: bool) -> Vec<Vec<Edit>> {
        let design = |write: &str| {
            let text = format!(
                "title = \"x\"\n[server.read]\ntransactions = [[\"resolve\", \"read\"]]\n[server.write]\ntransactions = {write}\n\
                 [client]\npayload = \"change\"\n[client.on]\nbroken-stream = {{ send = \"same\" }}\n"
            );
            input::read_design(&Source::new("x", "x.toml", text)).expect("it is readable")
        };
        let source = input::resolve(Kind::Scenario, "two-agents-no-faults", None).expect("it is shipped");
        let scenario = input::read_scenario(&source, &invariant_names()).expect("it is readable");
        let protocol = input::protocol_of(&scenario, None).expect("it is readable");
        let new = design(write);
        let design = if deployed { input::deploy_design(design("[[\"resolve\", \"apply\"]]"), new) } else { new };
        parts(&Run::new(scenario, design, protocol, &BTreeMap::new()).expect("they fit"))
    }

    #[test]
    fn what_a_call_is_there_to_do_is_neither_taken_away_nor_done_once_more() {
        let effects: Vec<&str> = STORES.into_iter().chain(CALLS_UPSTREAM).collect();
        for effect in &effects {
            // A handler of writes has no use for the effect of another tool.
            if *effect == "mint" {
                continue;
            }
            let load = if matches!(*effect, "save" | "write-content") { "\"load\", " } else { "" };
            for part in parts_of(&format!("[[\"resolve\", {load}\"{effect}\"]]"), false) {
                let wrong = part.iter().find(|edit| match edit {
                    Edit::Remove(place) => effects.contains(&&*place.step),
                    Edit::Add { step, .. } => effects.contains(step),
                    Edit::Replace { place, step } => {
                        effects.contains(&&*place.step) != effects.contains(step)
                            || STORES.contains(&&*place.step) != STORES.contains(step)
                    }
                    _ => false,
                });
                assert!(wrong.is_none(), "{effect}: {wrong:?}");
            }
        }
        let one = |part: &[Edit], words: &str| part.iter().map(Edit::words).eq([words.to_owned()]);
        let parts = parts_of("[[\"resolve\", \"apply\", \"find-key\", \"check-version\", \"call-upstream\"]]", false);
        for expected in [
            "write: apply-next in place of apply",
            "write: claim-key in place of find-key",
            "write: check-unchanged in place of check-version",
            "write: call-upstream-with-key in place of call-upstream",
            "write: without find-key",
            "write: authorize before apply",
        ] {
            assert!(parts.iter().any(|part| one(part, expected)), "{expected}");
        }
    }

    /// Whatever step stores, the well-known remedies stand before and behind it.
    #[test]
    fn the_well_known_remedies_find_what_stores() {
        for (write, stores) in [
            ("[[\"resolve\", \"apply\"]]", "apply"),
            ("[[\"resolve\", \"apply-next\"]]", "apply-next"),
            ("[[\"resolve\", \"load\", \"save\"]]", "save"),
            ("[[\"resolve\", \"load\", \"write-content\"], [\"advance-version\"]]", "write-content"),
        ] {
            let parts: Vec<Vec<String>> =
                parts_of(write, false).iter().map(|part| part.iter().map(Edit::words).collect()).collect();
            let key = "[client] key = \"per-intent\"".to_owned();
            let keys = [key, "write: find-key behind resolve".to_owned(), format!("write: record-key behind {stores}")];
            let versions = [
                "[client] precondition = \"viewed-version\"".to_owned(),
                "[client.on] stale-view = { send = \"replan\" }".to_owned(),
                format!("write: check-version before {stores}"),
            ];
            for expected in [&keys[..], &versions[..], &[&keys[..], &versions[..]].concat()] {
                assert!(parts.iter().any(|part| part == expected), "{expected:?}");
            }
        }
        let upstream = parts_of("[[\"resolve\", \"apply\"], [\"call-upstream\"]]", false);
        let replaces =
            |part: &Vec<Edit>| part.len() > 3 && part.iter().any(|edit| matches!(edit, Edit::Replace { .. }));
        assert!(upstream.iter().any(replaces), "what is called upstream gets the key too");
    }

    /// A mint has nothing to resolve and no version of its own: its key is looked for before it, and the versions of what it is
    /// given are compared behind it.
    #[test]
    fn what_makes_a_resource_is_guarded_too() {
        let parts_of = |given: &str| -> Vec<Vec<String>> {
            let scenario = format!(
                "title = \"x\"\nnodes = 1\n[resources.a]\nhandle = \"a1\"\nowner = \"u\"\nfields = {{ x = 1 }}\n\
                 [agents.A]\nprincipal = \"u\"\nwork = [{{ read = \"a\" }}, {{ mint = \"b\", y = 1{given} }}, {{ set = \"a\", x = 2 }}]\n"
            );
            let design = "title = \"x\"\n[server.read]\ntransactions = [[\"resolve\", \"read\"]]\n[server.mint]\n\
                          transactions = [[\"mint\"]]\n[server.write]\ntransactions = [[\"resolve\", \"apply\"]]\n";
            let scenario = input::read_scenario(&Source::new("x", "x.toml", scenario), &invariant_names());
            let scenario = scenario.expect("it is readable");
            let design = input::read_design(&Source::new("x", "x.toml", design)).expect("it is readable");
            let protocol = input::protocol_of(&scenario, None).expect("it is readable");
            let run = Run::new(scenario, design, protocol, &BTreeMap::new()).expect("they fit");
            let parts = parts(&run).into_iter().filter(|part| {
                // Whatever can't be read is no part of a repair.
                part.len() < 2 || crate::policies::variant::variant(&run, part).is_some_and(|run| run.is_ok())
            });
            parts.map(|part| part.iter().map(Edit::words).collect()).collect()
        };
        let keys = [
            "[client] key = \"per-intent\"",
            "mint: find-key before mint",
            "mint: record-key behind mint",
            "write: find-key behind resolve",
            "write: record-key behind apply",
        ];
        let replan = "[client.on] stale-view = { send = \"replan\" }";
        let versions = ["[client] precondition = \"viewed-version\"", replan, "write: check-version before apply"];
        let every = [
            "[client] precondition = \"every-viewed-version\"",
            replan,
            "write: check-version before apply",
            "mint: check-version behind mint",
        ];
        let (plain, given) = (parts_of(""), parts_of(", given = [\"a\"]"));
        for parts in [&plain, &given] {
            assert!(parts.iter().any(|part| *part == keys), "the keys");
            assert!(parts.iter().any(|part| *part == versions), "the versions");
        }
        assert!(given.iter().any(|part| *part == every), "the versions of what it is given");
        assert!(!plain.iter().any(|part| *part == every), "which nothing asks for otherwise");
    }

    /// While it is deployed, each part also comes with each other way to deploy it.
    #[test]
    fn what_is_deployed_is_tried_with_every_way_to_deploy_it() {
        let write = "[[\"resolve\", \"find-key\", \"apply\", \"record-key\"]]";
        let (alone, deployed) = (parts_of(write, false), parts_of(write, true));
        assert_eq!(deployed.len(), 3 * alone.len() + 2);
        assert!(alone.iter().flatten().all(|edit| !edit.is_of_the_rollout()));
        assert!(alone.iter().all(|part| deployed.contains(part)));
        for rollout in ["[deploy] restart = false", "[deploy] clients = \"new\""] {
            let with = deployed.iter().filter(|part| part[0].words() == rollout).count();
            assert_eq!(with, alone.len() + 1, "{rollout}");
        }
    }
}
