//! Models for tests: those of which a shipped file expects something, and those of three texts.

#![allow(dead_code, reason = "each test file is a crate of its own and uses a part of this")]

use std::collections::BTreeMap;

use handlecheck::input::{self, Kind, Look, Source, library};
use handlecheck::model::Model;
use handlecheck::run::invariant_names;

/// Every model that some shipped file expects something of, with the names of its scenario and its design.
pub fn expected() -> BTreeMap<(String, String), Model> {
    let invariants = invariant_names();
    let design = |name: &str| input::design(name, None).expect("a shipped design can be read");
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

/// The same, while another design and another protocol are deployed.
pub fn of_deploy(scenario: &str, designs: &[String; 2], protocols: &[String; 2]) -> Result<Model, String> {
    let invariants = invariant_names();
    let shown = |error: input::InputError| error.render(Look::Plain);
    let source = |name: &str, text: &str| Source::new(name, format!("{name}.toml"), text);
    let scenario = input::read_scenario(&source("scenario", scenario), &invariants).map_err(shown)?;
    let [old, new] = [("old", &designs[0]), ("new", &designs[1])].map(|(name, text)| source(name, text));
    let design =
        input::deploy_design(input::read_design(&old).map_err(shown)?, input::read_design(&new).map_err(shown)?);
    let [old, new] = [("old", &protocols[0]), ("new", &protocols[1])].map(|(name, text)| source(name, text));
    let protocol =
        input::deploy_protocol(input::read_protocol(&old).map_err(shown)?, input::read_protocol(&new).map_err(shown)?);
    input::compose(&scenario, &design, &protocol, &invariants).map(|(model, _)| model).map_err(shown)
}

/// A protocol in which streams are never resumed, and calls are issued again.
#[allow(dead_code, reason = "each test file is a crate of its own")]
pub const PROTOCOL: &str = "title = \"P\"\nresumable = \"never\"\nsessions = false\nclosed-stream = \"cancels\"\n\
                            task-ids = \"server\"\nreissue = \"new-request-id\"\n";

/// The functions of a system that another one, in its field `system`, has already: for systems that differ in one point.
#[allow(unused_macros, reason = "each test file is a crate of its own")]
macro_rules! delegate {
    () => {
        models::delegate!(but actions);

        fn actions(&self, source: usize, access: &Access<'_, Component>) -> Vec<Action> {
            self.system.actions(source, access)
        }
    };
    (but actions) => {
        type Component = Component;
        type Action = Action;

        fn initial(&self) -> Vec<Component> {
            self.system.initial()
        }

        fn sources(&self) -> usize {
            self.system.sources()
        }

        fn parts(&self, action: &Action) -> usize {
            self.system.parts(action)
        }

        fn step(&self, action: &Action, part: usize, access: &mut Access<'_, Component>) -> Observations {
            self.system.step(action, part, access)
        }

        fn kind(&self, action: &Action) -> u16 {
            self.system.kind(action)
        }

        fn is_fair(&self, action: &Action) -> bool {
            self.system.is_fair(action)
        }

        fn liveness(&self) -> Option<usize> {
            self.system.liveness()
        }

        fn is_pending(&self, access: &Access<'_, Component>) -> bool {
            self.system.is_pending(access)
        }

        fn class(&self, action: &Action) -> Class {
            self.system.class(action)
        }

        fn observe(&self, quiescent: bool, access: &Access<'_, Component>) -> Observations {
            self.system.observe(quiescent, access)
        }

        fn numbers(&self, component: &Component, visit: &mut dyn FnMut(u16, u16)) {
            self.system.numbers(component, visit);
        }

        fn renumber(&self, component: &mut Component, space: u16, rename: &dyn Fn(u16) -> u16) {
            self.system.renumber(component, space, rename);
        }
    };
}
#[allow(unused_imports, reason = "each test file is a crate of its own")]
pub(crate) use delegate;
