//! `--hash-compact`: a search that keeps hashes alone ends as one that keeps states does, unless hashes are too short.

use handlecheck::engine::{Limits, explore};
use handlecheck::input::{self, Kind, Source};
use handlecheck::run::invariant_names;
use handlecheck::step::Simulation;

use super::resuming::everything;
use crate::{models, random};

/// States up to which searches are compared; those of larger models are cut short alike.
const LARGEST: usize = 300;

fn systems() -> impl Iterator<Item = Simulation> {
    let random = random::seeds("0..20").map(random::symmetric);
    let random = random.filter_map(|texts| models::of_texts(&texts.scenario, &texts.design, &texts.protocol).ok());
    let shipped = models::expected().into_values();
    shipped.chain(random).map(Simulation::new)
}

#[test]
fn a_search_that_keeps_hashes_ends_as_one_that_keeps_states() {
    let (mut whole, mut cut) = (0, 0);
    for (number, system) in systems().enumerate() {
        let exact = Limits { states: Some(LARGEST), causes: true, ..Limits::default() };
        let reduced = Limits { reduce: true, symmetry: true, subsume: true, causes: false, ..exact };
        let limits = if number % 2 == 0 { exact } else { reduced };
        let states = explore(&system, limits, &mut |_| false);
        let hashes = explore(&system, Limits { compact: Some(64), ..limits }, &mut |_| false);
        assert_eq!(everything(&system, &hashes), everything(&system, &states));
        assert_eq!(hashes.causes, states.causes);
        assert!(states.omission() == 0.0 && hashes.omission() > 0.0 && hashes.omission() < 1e-12);
        assert!(hashes.checkpoint().is_none(), "nobody can go on with it");
        *if states.stop.is_none() { &mut whole } else { &mut cut } += 1;
    }
    assert!(whole > 50 && cut > 20, "{whole} were explored to their end, {cut} cut short");
}

#[test]
fn a_level_of_several_batches_is_forgotten_and_found_again() {
    let system = basket();
    let limits = Limits { threads: 2, ..Limits::default() };
    for limits in [limits, Limits { reduce: true, subsume: true, ..limits }] {
        let mut most = [0; 2];
        let [states, hashes] = [None, Some(64)].map(|compact| {
            let most = &mut most[usize::from(compact.is_some())];
            explore(&system, Limits { compact, ..limits }, &mut |now| {
                *most = now.bytes.max(*most);
                false
            })
        });
        assert_eq!(everything(&system, &hashes), everything(&system, &states));
        assert!(states.states() > 40_000 || limits.reduce, "{}", states.states());
        assert!(most[1] < most[0], "{most:?} bytes with states and with hashes");
    }
}

/// Larger than a few batches.
fn basket() -> Simulation {
    let scenario = "nodes = 2\n[resources.basket]\nhandle = \"bsk_42\"\nowner = \"u\"\nversion = 7\n\
                    fields = { memory = 16, storage = 512 }\n\
                    [agents.A]\nprincipal = \"u\"\nwork = [{ set = \"basket\", memory = 32 }]\n\
                    [agents.B]\nprincipal = \"u\"\nwork = [{ set = \"basket\", storage = 1024 }]\n\
                    [faults]\ndrop-stream = 2\nrestart-node = 1\n";
    let scenario = Source::new("basket", "basket.toml", scenario);
    let scenario = input::read_scenario(&scenario, &invariant_names()).expect("it is readable");
    let design = input::resolve(Kind::Design, "versioned", None).expect("it is shipped");
    let design = input::read_design(&design).expect("it is readable");
    let protocol = input::protocol_of(&scenario, None).expect("it is shipped");
    let (model, _) = input::compose(&scenario, &design, &protocol, &invariant_names()).expect("they fit");
    Simulation::new(model)
}

#[test]
fn hashes_that_are_too_short_leave_states_out() {
    let (mut missed, mut states_lost) = (0, 0);
    for system in systems().take(60) {
        let limits = Limits { states: Some(20_000), ..Limits::default() };
        let exact = explore(&system, limits, &mut |_| false);
        if exact.stop.is_some() {
            continue;
        }
        let short = explore(&system, Limits { compact: Some(7), ..limits }, &mut |_| false);
        assert!(short.states() <= 128, "there are no more hashes than that");
        states_lost += usize::from(short.states() < exact.states());
        missed += usize::from(everything(&system, &short) != everything(&system, &exact));
        assert!(exact.states() < 128 || short.omission() > 0.99);
    }
    assert!(
        states_lost > 20 && missed >= states_lost,
        "states were left out of {states_lost}, {missed} say something else"
    );
}

/// The bound rests on hashes being as good as random ones. Of so many states with so few bits, about as many must be left out
/// as of random hashes. (Some more are, which can be reached through those alone.)
#[test]
fn as_many_states_are_left_out_as_the_formula_says() {
    let system = basket();
    let explored = |compact| explore(&system, Limits { compact, ..Limits::default() }, &mut |_| false).states();
    let exact = explored(None);
    for bits in [20, 22] {
        let pairs = exact * exact / 2;
        let (lost, expected) = (exact - explored(Some(bits)), pairs >> bits);
        assert!(lost > expected / 2 && lost < expected * 2, "{lost} of {exact} states, and {expected} are expected");
    }
}
