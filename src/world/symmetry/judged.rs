//! Whether an assertion says the same after a symmetry.
//!
//! It does when it names nothing that the symmetry moves. Where it does name such things, it is a conjunction, like
//! `basket.memory == 32 && basket.storage == 1024`, that becomes itself in another order: each part compares a field, a
//! version or what an agent was told with something written out. Of any other form nothing is known, and then the renaming
//! is no symmetry.

use std::collections::BTreeSet;

use super::Work;
use crate::model::{AgentId, ResourceId, Scenario, Value};

/// One comparison.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    /// A field of a resource has a value.
    Field(ResourceId, usize, Literal),
    /// A resource has a version.
    Version(ResourceId, Literal),
    /// An agent was told this.
    Told(AgentId, Literal),
}

/// Something that is written out.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Literal {
    /// A number or a string.
    Value(Value),
    /// A list, as it is written.
    List(String),
}

/// Whether an expression says the same after what a permutation of agents amounts to.
pub(super) fn is_kept(scenario: &Scenario, work: &Work, expression: &str) -> bool {
    !names_moved(scenario, work, expression)
        || parts(scenario, expression).is_some_and(|parts| {
            let renamed: Option<BTreeSet<Part>> = parts.iter().map(|part| renamed(work, part)).collect();
            renamed.is_some_and(|renamed| renamed == parts)
        })
}

/// Whether an expression has the name of something in it that is moved. One with an escape in it might have any.
fn names_moved(scenario: &Scenario, work: &Work, expression: &str) -> bool {
    let words: BTreeSet<&str> = expression.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
    let names = |name: &str| words.contains(name) || words.contains(&*spelled(name));
    let agents = scenario.agents.iter().enumerate();
    let mut agents = agents.filter(|(agent, _)| work.agents[*agent] != *agent);
    let resources = scenario.resources.iter().enumerate();
    let mut resources = resources.filter(|(resource, _)| changes(work, *resource));
    expression.contains('\\')
        || agents.any(|(_, agent)| names(&agent.name))
        || resources.any(|(_, resource)| names(&resource.name))
}

/// Whether fields of a resource, or values in them, become others.
fn changes(work: &Work, resource: ResourceId) -> bool {
    let moved = work.fields[resource].iter().enumerate().any(|(field, image)| field != *image);
    moved || work.values[resource].iter().flatten().any(|(value, becomes)| value != becomes)
}

fn spelled(name: &str) -> String {
    name.replace('-', "_")
}

/// The parts of a conjunction of comparisons; `None`: it is something else.
fn parts(scenario: &Scenario, expression: &str) -> Option<BTreeSet<Part>> {
    if expression.contains(['(', ')', '|', '!', '?', '<', '>', '\\']) {
        return None;
    }
    expression.split("&&").map(|part| comparison(scenario, part)).collect()
}

fn comparison(scenario: &Scenario, part: &str) -> Option<Part> {
    let (left, right) = part.split_once("==")?;
    let (owner, member) = left.trim().split_once('.')?;
    let literal = literal(right.trim())?;
    if owner == "told" {
        let agent = scenario.agents.iter().position(|agent| spelled(&agent.name) == member)?;
        return Some(Part::Told(agent, literal));
    }
    let resource = scenario.resources.iter().position(|resource| spelled(&resource.name) == owner)?;
    if member == "version" {
        return Some(Part::Version(resource, literal));
    }
    let field = scenario.resources[resource].fields.iter().position(|(field, _)| spelled(field) == member)?;
    Some(Part::Field(resource, field, literal))
}

fn literal(text: &str) -> Option<Literal> {
    if let Ok(number) = text.parse() {
        return Some(Literal::Value(Value::Number(number)));
    }
    let (first, last) = (text.chars().next()?, text.chars().next_back()?);
    let inside = text.get(1..text.len() - 1)?;
    match (first, last) {
        ('"', '"') | ('\'', '\'') if !inside.contains(first) => Some(Literal::Value(Value::Text(inside.to_owned()))),
        ('[', ']') if !inside.contains(['[', ']']) => Some(Literal::List(text.to_owned())),
        _ => None,
    }
}

/// What a comparison says of the renamed state; `None`: that can't be written so.
fn renamed(work: &Work, part: &Part) -> Option<Part> {
    match part {
        Part::Version(..) => Some(part.clone()),
        Part::Told(agent, told) => Some(Part::Told(work.agents[*agent], told.clone())),
        Part::Field(resource, field, literal) => {
            let values = &work.values[*resource][*field];
            let stay = values.iter().all(|(value, becomes)| value == becomes);
            let becomes = match literal {
                literal if stay => literal.clone(),
                // A value that the field never has may be one that its image has.
                Literal::Value(value) => Literal::Value(values.get(value)?.clone()),
                Literal::List(_) => return None,
            };
            Some(Part::Field(*resource, work.fields[*resource][*field], becomes))
        }
    }
}
