//! Models for tests: those of which a shipped file expects something, and those of three texts.

#![allow(dead_code, reason = "each test file is a crate of its own and uses a part of this")]

use std::collections::BTreeMap;

use handlecheck::input::{self, Kind, Look, Source, library};
use handlecheck::model::Model;
use handlecheck::run::invariant_names;

/// Every model that some shipped file expects something of, with the names of its scenario and its design.
pub fn expected() -> BTreeMap<(String, String), Model> {
    let invariants = invariant_names();
    let design = |name: &str| {
        let source = library::find(Kind::Design, name).expect("the design is shipped");
        input::read_design(&source).expect("a shipped design can be read")
    };
    let scenario = |name: &str| {
        let source = library::find(Kind::Scenario, name).expect("the scenario is shipped");
        input::read_scenario(&source, &invariants).expect("a shipped scenario can be read")
    };
    let mut pairs: Vec<(String, String)> = Vec::new();
    for name in library::names(Kind::Design) {
        pairs.extend(design(name).value.expect.keys().map(|scenario| (scenario.clone(), name.to_owned())));
    }
    for name in library::names(Kind::Scenario) {
        pairs.extend(scenario(name).value.expect.keys().map(|design| (name.to_owned(), design.clone())));
    }
    let compose = |(s, d): (String, String)| {
        let (scenario, design) = (scenario(&s), design(&d));
        let protocol = input::protocol_of(&scenario, None).expect("the protocol is shipped");
        let (model, _) = input::compose(&scenario, &design, &protocol, &invariants).expect("shipped inputs fit");
        ((s, d), model)
    };
    pairs.into_iter().map(compose).collect()
}

/// The model of the texts of a scenario, a design and a protocol, as the product reads them.
pub fn of_texts(scenario: &str, design: &str, protocol: &str) -> Result<Model, String> {
    let invariants = invariant_names();
    let shown = |error: input::InputError| error.render(Look::Plain);
    let source = |name: &str, text: &str| Source::new(name, format!("{name}.toml"), text);
    let scenario = input::read_scenario(&source("scenario", scenario), &invariants).map_err(shown)?;
    let design = input::read_design(&source("design", design)).map_err(shown)?;
    let protocol = input::read_protocol(&source("protocol", protocol)).map_err(shown)?;
    input::compose(&scenario, &design, &protocol, &invariants).map(|(model, _)| model).map_err(shown)
}
