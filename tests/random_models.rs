//! Models at random: nothing panics, and the three witnesses agree on each.

mod models;
mod random;
mod reference;

use std::collections::BTreeMap;
use std::sync::Arc;

use handlecheck::engine::plain;
use handlecheck::engine::{Limits, System, explore, second};
use handlecheck::input::{self, Kind, library};
use handlecheck::model::{Model, Verdict};
use handlecheck::run::invariant_names;
use handlecheck::step::Simulation;
use handlecheck::trace::is_ambiguous;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};
use random::{Texts, texts};
use reference::search::{Assertions, check};

/// The largest model that is compared.
const LARGEST: usize = 3_000;

/// Seeds of the test: a debug build takes its time.
const SEEDS: u64 = if cfg!(debug_assertions) { 60 } else { 400 };

/// Seeds of which the witnesses are known to differ: the causes are still to be decided one by one, and each decision
/// takes seeds from this list. Found so far: an agent that is `blind` and has `before-write = "read-again"` reads first in
/// the engine and not in the reference interpreter; one that hands off a `version` or `content` without a view reads first
/// in the engine only; a coarse clock has transitions of its own; what counts as a change for the witnesses of
/// `version-names-one-content` and `fresh-read`, and which call after a restart is one for `handle-resolvable`.
/// In 164 and 241 the engine holds more states than stateright.
#[rustfmt::skip]
const DIFFER: &[u64] = &[
    4, 9, 10, 11, 14, 15, 16, 17, 18, 21, 27, 28, 31, 34, 36, 37, 38, 46, 48, 49, 51, 54, 59, 63, 66, 73, 76,
    79, 80, 85, 91, 95, 96, 101, 105, 109, 110, 118, 119, 122, 124, 127, 131, 133, 137, 140, 141, 142, 143, 144,
    145, 146, 149, 153, 154, 164, 165, 167, 169, 170, 171, 173, 176, 177, 178, 180, 185, 187, 191, 196, 201,
    204, 207, 208, 209, 210, 212, 213, 215, 216, 220, 222, 226, 229, 230, 241, 242, 243, 244, 246, 249, 250,
    255, 256, 257, 263, 264, 265, 266, 278, 282, 285, 287, 289, 290, 295, 296, 298, 299, 301, 302, 309, 310,
    314, 316, 320, 322, 323, 324, 325, 326, 327, 331, 332, 333, 336, 337, 339, 340, 344, 351, 357, 359, 362,
    368, 369, 377, 379, 380, 382, 385, 389, 393, 399,
];

/// What became of a seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Seed {
    Agreed,
    TooLarge,
    DoesNotCompose,
    Differs,
}

/// The model of three texts.
fn model(texts: &Texts) -> Result<Model, String> {
    models::of_texts(&texts.scenario, &texts.design, &texts.protocol)
}

/// Compares the three witnesses; what they disagree on is the error.
fn compare(model: &Model) -> Result<Seed, String> {
    let simulation = Arc::new(Simulation::new(model.clone()));
    let limits = Limits { states: Some(LARGEST), liveness: true, ..Limits::default() };
    let found = explore(&*simulation, limits, &mut |_| false);
    if found.stop.is_some() {
        return Ok(Seed::TooLarge);
    }
    let mut differ = Vec::new();
    let report = check(model, 20 * LARGEST, &Assertions::default());
    let (ours, theirs) = ((found.states(), found.transitions), (report.states, report.transitions as u64));
    if ours != theirs {
        differ.push(format!("states and transitions: engine {ours:?}, reference {theirs:?}"));
    }
    for (index, property) in simulation.properties().iter().enumerate() {
        let theirs = &report.findings[&property.name];
        let front: Vec<_> = found.front(index).iter().map(|found| (found.steps, found.faults)).collect();
        let verdict = match (front.is_empty(), found.witnessed & (1 << index) != 0) {
            (false, _) => Verdict::Violated,
            (true, true) => Verdict::Holds,
            (true, false) => Verdict::Vacuous,
        };
        if (verdict, &front) != (theirs.verdict, &theirs.front) {
            let (name, theirs) = (&property.name, (theirs.verdict, &theirs.front));
            differ.push(format!("{name}: engine {:?}, reference {theirs:?}", (verdict, &front)));
        }
    }
    let stateright = second::explore(&simulation, None);
    let liveness = simulation.liveness().map_or(0, |property| 1_u64 << property);
    let violated = (0..simulation.properties().len()).filter(|index| !found.front(*index).is_empty());
    let violated = violated.fold(0, |bits, index| bits | 1_u64 << index) & !liveness;
    let ours = second::Report { states: found.states(), violated, witnessed: found.witnessed };
    if ours != stateright {
        differ.push(format!("engine {ours:?}, stateright {stateright:?}"));
    }
    if differ.is_empty() { Ok(Seed::Agreed) } else { Err(differ.join("\n")) }
}

fn run(seed: u64) -> Result<Seed, String> {
    model(&texts(seed)).map_or(Ok(Seed::DoesNotCompose), |model| compare(&model))
}

#[test]
#[ignore = "the disagreements that `DIFFER` lists are not all classified yet"]
fn the_witnesses_agree_on_random_models() {
    let mut counts = BTreeMap::new();
    for seed in 0..SEEDS {
        let became = run(seed).unwrap_or_else(|differ| {
            if DIFFER.contains(&seed) {
                return Seed::Differs;
            }
            let Texts { scenario, design, protocol } = texts(seed);
            panic!("seed {seed}:\n{differ}\n\n{scenario}\n\n{design}\n\n{protocol}")
        });
        assert!(
            became == Seed::Differs || !DIFFER.contains(&seed),
            "the witnesses agree on seed {seed} now: take it from the list"
        );
        *counts.entry(became).or_insert(0) += 1;
    }
    let count = |became| counts.get(&became).copied().unwrap_or(0);
    assert!(2 * count(Seed::DoesNotCompose) <= SEEDS, "at least half of the models compose: {counts:?}");
    assert!(5 * count(Seed::Agreed) >= SEEDS, "enough of the models are small: {counts:?}");
}

/// A random walk of a shipped model, in a simulation whose states can be written down and in one that can be explored.
fn walk(model: &Model, steps: usize, seed: u64) {
    let mut dice = ChaCha8Rng::seed_from_u64(seed);
    for labelled in [false, true] {
        let simulation = if labelled { Simulation::labelled(model.clone()) } else { Simulation::new(model.clone()) };
        let mut state = simulation.initial();
        for _ in 0..steps {
            let mut normal = state.clone();
            plain::normalise(&simulation, &mut normal);
            let once = normal.clone();
            plain::normalise(&simulation, &mut normal);
            assert!(once == normal, "normalising twice is normalising once");
            for agent in 0..simulation.setting().agents() {
                let orphans = state[simulation.setting().orphans_slot(agent)].orphans();
                assert!(orphans.is_sorted(), "orphans are sorted: their order means nothing");
            }
            if labelled {
                assert!(!is_ambiguous(&simulation, &state), "two actions would be written down alike");
            }
            let enabled = plain::enabled(&simulation, &state);
            if enabled.is_empty() {
                break;
            }
            let action = &enabled[usize::try_from(dice.next_u32()).expect("32 bits fit") % enabled.len()];
            state = plain::apply(&simulation, &state, action).0;
            if !labelled {
                plain::normalise(&simulation, &mut state);
            }
        }
    }
}

#[test]
fn walks_of_shipped_models_keep_the_rules_of_the_house() {
    let invariants = invariant_names();
    let mut walks = 0;
    for name in library::names(Kind::Design) {
        let source = library::find(Kind::Design, name).expect("the design is shipped");
        let design = input::read_design(&source).expect("a shipped design can be read");
        for scenario in design.value.expect.keys() {
            let source = library::find(Kind::Scenario, scenario).expect("the scenario is shipped");
            let scenario = input::read_scenario(&source, &invariants).expect("a shipped scenario can be read");
            let protocol = input::protocol_of(&scenario, None).expect("the protocol is shipped");
            let (model, _) = input::compose(&scenario, &design, &protocol, &invariants).expect("shipped inputs fit");
            walk(&model, 40, walks);
            walks += 1;
        }
    }
    assert!(walks > 50, "most designs name a scenario: {walks}");
}

/// For finding disagreements: `HANDLECHECK_SEEDS=1000..3000 cargo test --release --test random_models -- --ignored`.
#[test]
#[ignore = "a tool for whoever changes the engine: it runs as many seeds as one asks for"]
fn as_many_seeds_as_asked_for() {
    let mut failures = Vec::new();
    let mut counts = BTreeMap::new();
    for seed in random::asked() {
        match std::panic::catch_unwind(|| run(seed)).unwrap_or_else(|_| Err("it panics".to_owned())) {
            Ok(became) => *counts.entry(became).or_insert(0) += 1,
            Err(differ) => failures.push(format!("seed {seed}: {differ}")),
        }
    }
    assert!(failures.is_empty(), "{counts:?}, and {} disagree:\n{}", failures.len(), failures.join("\n"));
}
