//! Conditions of work entries (`if`): an agent judges its own on its views, and `check-condition` on what is stored. Their
//! expressions are evaluated by the product, on contents of ours.

use std::cell::RefCell;
use std::collections::BTreeMap;

use handlecheck::assertion::{Compiled, Facts, ResourceFacts, compile, condition_names};
use handlecheck::model::{AgentId, Entry, Model, Outcome, ResourceId, Value};

use super::client::{self, Wish, current_entry, needed_handles};
use super::harness;
use super::state::{Handle, Intent, Next, Request, State, Stored, values};
use super::steps::{Passed, Step};
use super::world::World;

thread_local! {
    /// Expressions that were compiled, by what they say of which resources.
    static COMPILED: RefCell<BTreeMap<String, Compiled>> = const { RefCell::new(BTreeMap::new()) };
}

/// The entry of an intent.
fn entry_of(model: &Model, intent: Intent) -> &Entry {
    &model.scenario.agents[intent.0].work[intent.1]
}

/// What a condition may name: what the entry changes, and what it is given, but not what it changes besides.
fn judged(entry: &Entry) -> Vec<ResourceId> {
    let besides = match entry {
        Entry::Mutate { also: Some(also), .. } => Some(also.resource),
        _ => None,
    };
    needed_handles(entry).into_iter().filter(|resource| Some(*resource) != besides).collect()
}

fn compiled(model: &Model, entry: &Entry) -> Option<Compiled> {
    let Entry::Mutate { condition: Some(text), .. } = entry else { return None };
    let of: Vec<_> = judged(entry).into_iter().map(|resource| &model.scenario.resources[resource]).collect();
    let key = format!("{text} {:?}", of.iter().map(|resource| (&resource.name, &resource.fields)).collect::<Vec<_>>());
    let compile = || compile(text, &condition_names(of.iter().copied())).expect("it was read");
    Some(COMPILED.with_borrow_mut(|known| known.entry(key).or_insert_with(compile).clone()))
}

/// Does the condition of this entry name this resource?
pub fn names(model: &Model, entry: &Entry, resource: ResourceId) -> bool {
    compiled(model, entry).is_some_and(|condition| condition.names(&model.scenario.resources[resource].name))
}

/// Is the condition of an entry true of these values? `None`: some that it names are not there.
fn is_met(model: &Model, entry: &Entry, there: &dyn Fn(ResourceId) -> Option<Vec<Value>>) -> Option<bool> {
    let Some(condition) = compiled(model, entry) else { return Some(true) };
    let mut contents = Vec::new();
    for resource in judged(entry) {
        let declared = &model.scenario.resources[resource];
        if condition.names(&declared.name) {
            let fields = declared.fields.iter().map(|(name, _)| name.clone());
            contents.push((&declared.name, fields.zip(there(resource)?).collect::<Vec<_>>()));
        }
    }
    let facts = contents.iter().map(|(name, fields)| ResourceFacts { name, fields, version: Some(0) });
    let resources: Vec<ResourceFacts<'_>> = facts.collect();
    Some(condition.evaluate(&Facts { resources: &resources, told: &[] }) == Ok(true))
}

/// Does an agent leave out its entry now: would it send its change, and sees that the condition is not met?
pub fn skips(model: &Model, state: &State, id: AgentId) -> bool {
    let agent = &state.agents[id];
    let plans = matches!(&agent.next, Next::Plan { reread, .. } if reread.is_empty());
    let Some(entry) = current_entry(model, state, id).filter(|_| plans) else { return false };
    let view = |resource: ResourceId| Some(values(agent.views.get(&resource)?.content.as_ref()?));
    client::can_send(model, state, id) == Some(Wish::Mutate) && is_met(model, entry, &view) == Some(false)
}

/// The action `skip`: the agent goes on, and tells nothing.
pub fn skip(world: &mut World<'_>, id: AgentId) {
    let agent = &mut world.state.agents[id];
    agent.skipped.insert(agent.entry);
    harness::advance(world, id, true);
}

/// The handle by which a call knows a resource that its entry is given.
fn given(request: &Request, resource: ResourceId) -> Option<Handle> {
    request.basis.iter().map(|(handle, ..)| *handle).find(|handle| handle.0 == resource)
}

/// Is the condition of a call's intent not true of what is stored? `own`: what the call is about, before it changes that.
pub fn is_unmet(model: &Model, state: &State, request: &Request, own: Option<&Stored>) -> bool {
    let Some(entry) = request.intent.map(|intent| entry_of(model, intent)) else { return false };
    let there = |resource: ResourceId| {
        let there = if resource == request.resource { own } else { state.resources.get(&given(request, resource)?) };
        there.map(|stored| values(&stored.content))
    };
    is_met(model, entry, &there) != Some(true)
}

impl Step<'_, '_> {
    /// `check-condition`: the condition of the entry is true of what is stored.
    pub fn check_condition(&mut self) -> Passed {
        let Some(intent) = self.request.intent else { return Ok(()) };
        let own = match self.request.handle.filter(|_| self.handling.turned) {
            Some(handle) => self.stored_as(handle).map(|stored| values(&stored.content)),
            None => self.content_here().map(|content| values(&content)),
        };
        let there = |resource: ResourceId| {
            if resource == self.request.resource {
                return own.clone();
            }
            self.stored_as(given(self.request, resource)?).map(|stored| values(&stored.content))
        };
        match is_met(self.model(), entry_of(self.model(), intent), &there) {
            Some(true) => Ok(()),
            Some(false) => self.refuse(Outcome::ConditionNotMet),
            None => self.refuse(Outcome::NotFound),
        }
    }
}
