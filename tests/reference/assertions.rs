//! A check with the assertions of the scenario: their expressions are evaluated by the product, on states of ours.

use handlecheck::assertion::{self, Compiled, Facts, Names, ResourceFacts};
use handlecheck::model::{self, Model, Told, Value};

use super::search::{Assertion, Assertions, Report, check};
use super::state::State;

/// The fields of a resource and its version.
type Stored = (Vec<(String, Value)>, Option<i64>);

type Holds<'a> = Box<dyn Fn(&State) -> bool + 'a>;

/// Explores a model, up to this many states, and judges every invariant and every assertion of its scenario.
pub fn check_all(model: &Model, most_states: usize) -> Report {
    let scenario = &model.scenario;
    let [finally, at_rest, sometimes] =
        [&scenario.finally, &scenario.at_rest, &scenario.sometimes].map(|assertions| ready(model, assertions));
    let assertions =
        Assertions { finally: borrowed(&finally), at_rest: borrowed(&at_rest), sometimes: borrowed(&sometimes) };
    check(model, most_states, &assertions)
}

fn borrowed<'a>(ready: &'a [(&'a str, Holds<'a>)]) -> Vec<Assertion<'a>> {
    ready.iter().map(|(name, holds)| (*name, &**holds)).collect()
}

fn ready<'a>(model: &'a Model, assertions: &'a [model::Assertion]) -> Vec<(&'a str, Holds<'a>)> {
    let names = Names::of(&model.scenario);
    let ready = |assertion: &'a model::Assertion| {
        let compiled = assertion::compile(&assertion.expression, &names).expect("an assertion that was read compiles");
        let holds: Holds<'a> = Box::new(move |state| evaluate(model, &compiled, state));
        (assertion.name.as_str(), holds)
    };
    assertions.iter().map(ready).collect()
}

fn evaluate(model: &Model, compiled: &Compiled, state: &State) -> bool {
    let fields: Vec<Stored> = model
        .scenario
        .resources
        .iter()
        .enumerate()
        .map(|(id, resource)| match state.latest(id) {
            None => (Vec::new(), None),
            Some(stored) => {
                let names = resource.fields.iter().map(|(name, _)| name.clone());
                let values = stored.content.iter().map(|field| field.value.clone());
                (names.zip(values).collect(), Some(i64::from(stored.version)))
            }
        })
        .collect();
    let resources: Vec<ResourceFacts<'_>> = model
        .scenario
        .resources
        .iter()
        .zip(&fields)
        .map(|(resource, (fields, version))| ResourceFacts { name: &resource.name, fields, version: *version })
        .collect();
    let told: Vec<Vec<Told>> = (0..model.scenario.agents.len()).map(|agent| state.told(agent)).collect();
    let told: Vec<(&str, &[Told])> =
        model.scenario.agents.iter().zip(&told).map(|(agent, told)| (&*agent.name, &**told)).collect();
    compiled.evaluate(&Facts { resources: &resources, told: &told }) == Ok(true)
}
