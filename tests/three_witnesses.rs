//! Three witnesses for every shipped pair of a scenario and a design of which something is expected: the engine of
//! handlecheck, stateright's search over the same steps, and the plain reference interpreter, which shares nothing with
//! the product but the parsed inputs.

mod models;
mod reference;

use std::collections::BTreeMap;
use std::sync::Arc;

use handlecheck::engine::{Exploration, Limits, System, explore, second};
use handlecheck::input::{self, Kind, library};
use handlecheck::run::invariant_names;
use handlecheck::step::{PropertyKind, Simulation};
use reference::assertions::check_all;

/// The front of each property that is violated, by name.
fn fronts(simulation: &Simulation, found: &Exploration<Simulation>) -> BTreeMap<String, Vec<(u32, u32)>> {
    let properties = simulation.properties();
    let fronts = properties.iter().enumerate().map(|(index, property)| {
        let front = found.front(index).iter().map(|found| (found.steps, found.faults)).collect();
        (property.name.clone(), front)
    });
    fronts.filter(|(_, front): &(String, Vec<_>)| !front.is_empty()).collect()
}

#[test]
fn the_engine_agrees_with_the_reference_interpreter() {
    let mut runs = 0;
    for (pair, model) in models::expected() {
        let simulation = Simulation::new(model.clone());
        let limits = Limits { liveness: true, ..Limits::default() };
        let found = explore(&simulation, limits, &mut |_| false);
        // The large ones are left to the two searches: the reference interpreter takes its time.
        if found.states() > LARGEST_FOR_REFERENCE {
            continue;
        }
        let report = check_all(&model, usize::MAX);
        assert_eq!((found.states(), found.transitions), (report.states, report.transitions as u64), "{pair:?}");
        let ours = fronts(&simulation, &found);
        for (index, property) in simulation.properties().iter().enumerate() {
            let theirs = &report.findings[&property.name];
            let front = ours.get(&property.name).cloned().unwrap_or_default();
            assert_eq!(front, theirs.front, "{} of {pair:?}", property.name);
            let witnessed = found.witnessed & (1 << index) != 0;
            let vacuous = theirs.verdict == handlecheck::model::Verdict::Vacuous;
            assert!(!front.is_empty() || witnessed != vacuous, "witness of {} of {pair:?}", property.name);
        }
        runs += 1;
    }
    assert!(runs > 190, "most shipped pairs are small enough: {runs}");
}

/// The largest model that the reference interpreter is run on here.
const LARGEST_FOR_REFERENCE: usize = 12_000;

#[test]
fn the_engine_agrees_with_stateright() {
    for (pair, model) in models::expected() {
        let simulation = Arc::new(Simulation::new(model));
        let found = explore(&*simulation, Limits::default(), &mut |_| false);
        if found.states() > LARGEST_FOR_STATERIGHT {
            continue;
        }
        let theirs = second::explore(&simulation, None, &mut |_| false);
        let liveness = simulation.liveness().map_or(0, |property| 1_u64 << property);
        let ours = (0..64).filter(|index| !found.front(*index).is_empty()).fold(0, |bits, index| bits | 1_u64 << index);
        assert_eq!(found.states(), theirs.states, "{pair:?}");
        assert_eq!(ours & !liveness, theirs.violated, "{pair:?}");
        assert_eq!(found.witnessed, theirs.witnessed, "{pair:?}");
        for (index, property) in simulation.properties().iter().enumerate() {
            let front = found.front(index);
            let small = found.states() < LARGEST_FOR_STATERIGHT / 8;
            if property.kind == PropertyKind::Sometimes || front.is_empty() || !small {
                continue;
            }
            let path =
                second::shortest(&simulation, index, &mut |_| false).expect("what is violated has a shortest path");
            assert_eq!(front[0].steps as usize, path.len() - 1, "{} of {pair:?}", property.name);
        }
    }
}

/// The largest model that stateright is run on here: it explores about a tenth as many states a second.
const LARGEST_FOR_STATERIGHT: usize = 20_000;

/// The basic scenarios and designs under every shipped protocol, whatever their size.
#[test]
fn the_searches_agree_on_the_whole_product_of_the_basic_models() {
    let invariants = invariant_names();
    for scenario in ["laptop-basket", "import-rows", "foreign-handle"] {
        for design in ["naive", "dedup-only", "versioned"] {
            for protocol in library::names(Kind::Protocol) {
                let source = |kind, name| library::find(kind, name).expect("it is shipped");
                let s = input::read_scenario(&source(Kind::Scenario, scenario), &invariants).expect("it can be read");
                let d = input::read_design(&source(Kind::Design, design)).expect("it can be read");
                let p = input::read_protocol(&source(Kind::Protocol, protocol)).expect("it can be read");
                let (model, _) = input::compose(&s, &d, &p, &invariants).expect("they fit");
                let simulation = Arc::new(Simulation::new(model));
                let found = explore(&*simulation, Limits::default(), &mut |_| false);
                let theirs = second::explore(&simulation, None, &mut |_| false);
                let violated = (0..64).filter(|index| !found.front(*index).is_empty());
                let violated = violated.fold(0, |bits, index| bits | 1_u64 << index);
                let ours = (found.states(), violated, found.witnessed);
                let theirs = (theirs.states, theirs.violated, theirs.witnessed);
                assert_eq!(ours, theirs, "{scenario} x {design} x {protocol}");
            }
        }
    }
}
