//! Models at random: nothing panics, and the three witnesses agree on each.

mod agreement;
mod models;
mod random;
mod reference;

use handlecheck::engine::{System, plain};
use handlecheck::input::{self, Kind, library};
use handlecheck::model::Model;
use handlecheck::run::invariant_names;
use handlecheck::step::Simulation;
use handlecheck::trace::is_ambiguous;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};
use random::{Texts, texts};

/// The largest model that is compared.
const LARGEST: usize = 3_000;

/// The seeds of the test, unless others are asked for.
const SEEDS: &str = "0..400";

/// What became of a seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Seed {
    Agreed,
    TooLarge,
    DoesNotCompose,
}

fn run(seed: u64) -> Result<Seed, String> {
    let Texts { scenario, design, protocol } = texts(seed);
    let Ok(model) = models::of_texts(&scenario, &design, &protocol) else { return Ok(Seed::DoesNotCompose) };
    let compared = std::panic::catch_unwind(|| agreement::compare(&model, LARGEST));
    match compared.unwrap_or_else(|_| Err("it panics".to_owned())) {
        Ok(Some(_)) => Ok(Seed::Agreed),
        Ok(None) => Ok(Seed::TooLarge),
        Err(differ) => Err(format!("seed {seed}:\n{differ}\n\n{scenario}\n\n{design}\n\n{protocol}")),
    }
}

/// More of them: `HANDLECHECK_SEEDS=1000..3000 cargo test --release --test random_models`.
#[test]
fn the_witnesses_agree_on_random_models() {
    let std::ops::Range { start: from, end: to } = random::seeds(SEEDS);
    // Odd and even seeds, side by side.
    let half = |odd: u64| (from..to).filter(move |seed| seed % 2 == odd).map(run).collect::<Vec<_>>();
    let (mut all, odd) = std::thread::scope(|scope| {
        let odd = scope.spawn(move || half(1));
        (half(0), odd.join().expect("a half of the seeds is run"))
    });
    all.extend(odd);
    let failures: Vec<&String> = all.iter().filter_map(|seed| seed.as_ref().err()).collect();
    let became = |wanted: Seed| u64::try_from(all.iter().filter(|seed| **seed == Ok(wanted)).count()).expect("few");
    let counts = (became(Seed::Agreed), became(Seed::TooLarge), became(Seed::DoesNotCompose), failures.len());
    assert!(failures.is_empty(), "{counts:?}: {} disagree, the first is\n{}", failures.len(), failures[0]);
    assert!(2 * became(Seed::DoesNotCompose) <= to - from, "at least half of the models compose: {counts:?}");
    assert!(2 * became(Seed::Agreed) >= to - from, "at least half of the models are small enough: {counts:?}");
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
