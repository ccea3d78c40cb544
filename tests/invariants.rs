//! Each invariant has a shipped model that violates it and one in which it holds: a check that can't fail is none.

use handlecheck::input::{self, Kind, library};
use handlecheck::model::{Expectation, Verdict};
use handlecheck::run::invariant_names;

/// Everything that a shipped file expects of an invariant. `handlecheck test`, and the tests that run it, hold the models
/// to it.
fn expectations(invariant: &str) -> Vec<Expectation> {
    let names = invariant_names();
    let mut all = Vec::new();
    for name in library::names(Kind::Design) {
        let source = library::find(Kind::Design, name).expect("the design is shipped");
        all.extend(input::read_design(&source).expect("it can be read").value.expect.into_values());
    }
    for name in library::names(Kind::Scenario) {
        let source = library::find(Kind::Scenario, name).expect("the scenario is shipped");
        all.extend(input::read_scenario(&source, &names).expect("it can be read").value.expect.into_values());
    }
    all.iter().filter_map(|expected| expected.get(invariant).copied()).collect()
}

#[test]
fn each_invariant_has_a_red_and_a_green_model() {
    for invariant in invariant_names() {
        let expected = expectations(invariant);
        let red =
            |expectation: &Expectation| !matches!(expectation, Expectation::Verdict(Verdict::Holds | Verdict::Vacuous));
        assert!(expected.iter().any(red), "a model violates {invariant}");
        assert!(expected.contains(&Expectation::Verdict(Verdict::Holds)), "{invariant} holds in a model");
    }
}
