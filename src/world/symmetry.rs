//! Symmetries of a model: renamings of nodes and agents under which it is the same model.
//!
//! **Nodes.** No rule names a node by its number: the balancer may choose any, and where it has a memory (`sticky`,
//! `by-handle`), that is part of the state and is renamed too. Where state lives in nodes, the resources of the scenario
//! are on the first, and so the first stays where it is.
//!
//! **Agents.** A permutation of the agents is a symmetry when the scenario says the same of the agents that correspond: the
//! same principal and the same client; parents, and receivers of hand-offs, that correspond; and, entry by entry, the same
//! work. Two sets of fields correspond, too, when they set *other* fields to *other* values: then these fields correspond,
//! and these values in them, as long as all entries of all agents, and the contents at the start, agree on that. Values are
//! only ever compared for equality where a field is only set; where it is appended to or incremented, or where something
//! may be created anew with values of its own, values correspond to themselves only.
//!
//! Whatever is judged must be the same too. Invariants name nobody. An assertion names agents, and fields with values, and
//! must say the same of a state and of its image.

use std::collections::BTreeMap;

use super::Setting;
use super::setting::small;
use crate::model::design::LostReply;
use crate::model::{AgentId, Entry, Operation, ResourceId, Value};

mod judged;

/// The most symmetries that are used: of more agents or nodes that could be exchanged, only some are.
const MOST: usize = 256;

/// A renaming under which a model is the same model.
#[derive(Clone, Debug)]
pub struct Symmetry {
    nodes: Vec<u8>,
    work: Work,
    slots: Vec<usize>,
}

/// A permutation of agents, with what follows from it.
#[derive(Clone, Debug)]
struct Work {
    agents: Vec<AgentId>,
    intents: Vec<usize>,
    /// For each resource, the field to which each is moved.
    fields: Vec<Vec<usize>>,
    /// For each field of each resource, what its values become; those that are not here stay.
    values: Vec<Vec<BTreeMap<Value, Value>>>,
}

impl Symmetry {
    /// The node that a node becomes.
    #[must_use]
    pub fn node(&self, node: u8) -> u8 {
        self.nodes[usize::from(node)]
    }

    /// The agent that an agent becomes.
    #[must_use]
    pub fn agent(&self, agent: u8) -> u8 {
        small(self.work.agents[usize::from(agent)])
    }

    /// The intent that an intent becomes.
    #[must_use]
    pub fn intent(&self, intent: usize) -> usize {
        self.work.intents[intent]
    }

    /// The field that a field of a resource becomes.
    #[must_use]
    pub fn field(&self, resource: ResourceId, field: usize) -> usize {
        self.work.fields[resource][field]
    }

    /// What a value of a field of a resource becomes.
    #[must_use]
    pub fn value(&self, resource: ResourceId, field: usize, value: &Value) -> Value {
        self.work.values[resource][field].get(value).unwrap_or(value).clone()
    }

    /// An operation on a resource, on the fields and with the values that correspond to its own, in the same order.
    #[must_use]
    pub fn operation(&self, resource: ResourceId, operation: &Operation) -> Operation {
        let changes = |changes: &Vec<(usize, Value)>, renames: bool| {
            let change = |(field, value): &(usize, Value)| {
                let value = if renames { self.value(resource, *field, value) } else { value.clone() };
                (self.field(resource, *field), value)
            };
            changes.iter().map(change).collect()
        };
        match operation {
            Operation::Set(set) => Operation::Set(changes(set, true)),
            // Fields that are appended to or incremented keep their values.
            Operation::Append(appended) => Operation::Append(changes(appended, false)),
            Operation::Increment(added) => {
                Operation::Increment(added.iter().map(|(field, by)| (self.field(resource, *field), *by)).collect())
            }
            Operation::Mint => Operation::Mint,
            Operation::Close => Operation::Close,
            Operation::Approve => Operation::Approve,
            Operation::Execute => Operation::Execute,
            Operation::Delete => Operation::Delete,
        }
    }

    /// The slot that a slot becomes.
    #[must_use]
    pub fn slot(&self, slot: usize) -> usize {
        self.slots[slot]
    }

    /// Whether it exchanges nodes.
    #[must_use]
    pub fn moves_nodes(&self) -> bool {
        (0..).zip(&self.nodes).any(|(node, image)| node != *image)
    }

    /// Whether it exchanges agents.
    #[must_use]
    pub fn moves_agents(&self) -> bool {
        self.work.agents.iter().enumerate().any(|(agent, image)| agent != *image)
    }
}

/// The symmetries of a model besides the identity, with which they are a group.
#[must_use]
pub fn symmetries(setting: &Setting) -> Vec<Symmetry> {
    // Of a group, what leaves all from some number on where they are is a group again.
    let nodes = |free: usize| node_permutations(setting, free);
    let agents = |free: usize| agent_permutations(setting, free);
    let (all_nodes, all_agents) = (setting.model.scenario.nodes, setting.agents());
    let mut best: (Vec<Vec<u8>>, Vec<Work>) = (Vec::new(), Vec::new());
    for free_nodes in 1..=all_nodes {
        let Some(nodes) = nodes(free_nodes) else { break };
        for free_agents in 1..=all_agents {
            let Some(agents) = agents(free_agents) else { break };
            let size = nodes.len() * agents.len();
            if size <= MOST && size > best.0.len() * best.1.len() {
                best = (nodes.clone(), agents);
            }
        }
    }
    let (nodes, agents) = best;
    let pairs = nodes.iter().flat_map(|nodes| agents.iter().map(move |work| (nodes.clone(), work.clone())));
    let all = pairs.map(|(nodes, work)| {
        let slots = setting.slots_after(&nodes, &work.agents);
        Symmetry { nodes, work, slots }
    });
    all.filter(|symmetry| symmetry.moves_nodes() || symmetry.moves_agents()).collect()
}

/// The permutations of the first nodes that are symmetries; `None`: there are too many.
fn node_permutations(setting: &Setting, free: usize) -> Option<Vec<Vec<u8>>> {
    let at_start = (0..setting.resources()).any(|resource| setting.resource(resource).handle.is_some());
    let first_stays = setting.is_state_in_nodes() && at_start;
    // Where calls are routed late, states have no nodes.
    let all = permutations(setting.model.scenario.nodes, free, &|node, image| {
        node == image || !(setting.routes_late || first_stays && (node == 0 || image == 0))
    })?;
    Some(all.into_iter().map(|nodes| nodes.into_iter().map(small).collect()).collect())
}

/// The permutations of the first agents that are symmetries; `None`: there are too many.
fn agent_permutations(setting: &Setting, free: usize) -> Option<Vec<Work>> {
    let all = permutations(setting.agents(), free, &|one, other| is_like(setting, one, other))?;
    Some(all.into_iter().filter_map(|agents| work_after(setting, agents)).collect())
}

/// The permutations of so many things that move only the first ones, and each to where it may be.
fn permutations(count: usize, free: usize, may: &dyn Fn(usize, usize) -> bool) -> Option<Vec<Vec<usize>>> {
    let mut found: Vec<Vec<usize>> = vec![Vec::new()];
    for place in 0..count {
        let images = |begun: &Vec<usize>| {
            let images = (0..count).filter(|image| place < free && *image < free || place == *image);
            let open = images.filter(|image| !begun.contains(image) && may(place, *image));
            open.map(|image| [begun.as_slice(), &[image]].concat()).collect::<Vec<_>>()
        };
        found = found.iter().flat_map(images).collect();
        if found.len() > 8 * MOST {
            return None;
        }
    }
    Some(found)
}

/// Whether two agents are alike in what does not hang on others.
fn is_like(setting: &Setting, one: AgentId, other: AgentId) -> bool {
    let agents = &setting.model.scenario.agents;
    // The first agent gets answers that have no address, where there is such a default.
    let chosen = setting.model.design.server.lost_reply == LostReply::FirstAgent && one.min(other) == 0;
    one == other
        || !chosen
            && agents[one].principal == agents[other].principal
            && setting.model.clients[one] == setting.model.clients[other]
            && agents[one].work.len() == agents[other].work.len()
}

/// What follows from a permutation of agents; `None`: it is no symmetry.
fn work_after(setting: &Setting, agents: Vec<AgentId>) -> Option<Work> {
    let scenario = &setting.model.scenario;
    let intents = setting.intents.iter().map(|intent| {
        let mut images = intent.entries.iter().map(|(agent, entry)| setting.intent(agents[*agent], *entry));
        let image = images.next()??;
        // Entries that share an intent become entries that share one.
        images.all(|other| other == Some(image)).then_some(image)
    });
    let mut matching = Matching::new(setting);
    for (agent, declared) in scenario.agents.iter().enumerate() {
        let image = &scenario.agents[agents[agent]];
        if declared.parent.map(|parent| agents[parent]) != image.parent {
            return None;
        }
        for (one, other) in declared.work.iter().zip(&image.work) {
            matching.entry(&agents, one, other)?;
        }
    }
    let intents = intents.collect::<Option<Vec<usize>>>()?;
    let (fields, values) = matching.finish()?;
    let work = Work { agents, intents, fields, values };
    let judged = scenario.assertions().map(|assertion| &assertion.expression);
    let work_of = scenario.agents.iter().flat_map(|agent| &agent.work);
    let conditions = work_of.filter_map(|entry| match entry {
        Entry::Mutate { condition, .. } => condition.as_ref(),
        Entry::Read { .. } | Entry::HandOff { .. } => None,
    });
    let mut judged = judged.chain(conditions);
    judged.all(|expression| judged::is_kept(scenario, &work, expression)).then_some(work)
}

/// Which fields and values correspond, as far as it is known.
struct Matching<'m> {
    setting: &'m Setting,
    fields: Vec<BTreeMap<usize, usize>>,
    values: Vec<Vec<BTreeMap<Value, Value>>>,
}

impl<'m> Matching<'m> {
    fn new(setting: &'m Setting) -> Self {
        let resources = || (0..setting.resources()).map(|resource| setting.resource(resource).fields.len());
        Self {
            setting,
            fields: resources().map(|_| BTreeMap::new()).collect(),
            values: resources().map(|fields| vec![BTreeMap::new(); fields]).collect(),
        }
    }

    /// Two entries of agents that correspond.
    fn entry(&mut self, agents: &[AgentId], one: &Entry, other: &Entry) -> Option<()> {
        match (one, other) {
            (Entry::Read { resource: one }, Entry::Read { resource: other }) => (one == other).then_some(()),
            (
                Entry::HandOff { resource: one, to, carries },
                Entry::HandOff { resource: other, to: also_to, carries: also_carries },
            ) => {
                let mut receivers: Vec<AgentId> = to.iter().map(|agent| agents[*agent]).collect();
                let mut also_receivers = also_to.clone();
                receivers.sort_unstable();
                also_receivers.sort_unstable();
                (one == other && receivers == also_receivers && carries == also_carries).then_some(())
            }
            (
                Entry::Mutate { resource: one, operation, given, also, condition, intent: _ },
                Entry::Mutate {
                    resource: other,
                    operation: like,
                    given: also_given,
                    also: also_like,
                    condition: also_condition,
                    intent: _,
                },
            ) if one == other && given == also_given && condition == also_condition => {
                match (also, also_like) {
                    (None, None) => {}
                    (Some(also), Some(other)) if also.resource == other.resource => {
                        self.operation(also.resource, &also.operation, &other.operation)?;
                    }
                    _ => return None,
                }
                self.operation(*one, operation, like)
            }
            (Entry::Read { .. } | Entry::HandOff { .. } | Entry::Mutate { .. }, _) => None,
        }
    }

    fn operation(&mut self, resource: ResourceId, one: &Operation, other: &Operation) -> Option<()> {
        match (one, other) {
            (Operation::Set(one), Operation::Set(other)) if one.len() == other.len() => {
                for ((field, value), (image, becomes)) in one.iter().zip(other) {
                    self.field(resource, *field, *image)?;
                    self.value(resource, *field, value, becomes)?;
                }
                Some(())
            }
            (Operation::Append(one), Operation::Append(other)) if one.len() == other.len() => {
                for ((field, element), (image, becomes)) in one.iter().zip(other) {
                    self.field(resource, *field, *image)?;
                    (element == becomes).then_some(())?;
                }
                Some(())
            }
            (Operation::Increment(one), Operation::Increment(other)) if one.len() == other.len() => {
                for ((field, amount), (image, becomes)) in one.iter().zip(other) {
                    self.field(resource, *field, *image)?;
                    (amount == becomes).then_some(())?;
                }
                Some(())
            }
            (Operation::Set(_) | Operation::Append(_) | Operation::Increment(_), _) => None,
            (one, other) => (one == other).then_some(()),
        }
    }

    fn field(&mut self, resource: ResourceId, field: usize, image: usize) -> Option<()> {
        (*self.fields[resource].entry(field).or_insert(image) == image).then_some(())
    }

    fn value(&mut self, resource: ResourceId, field: usize, value: &Value, becomes: &Value) -> Option<()> {
        (self.values[resource][field].entry(value.clone()).or_insert_with(|| becomes.clone()) == becomes).then_some(())
    }

    /// The permutations of fields, and of the values in them, if that is what they are. A field that no entry names stays.
    #[expect(clippy::type_complexity, reason = "the two fields of `Work`, which is made of it")]
    fn finish(mut self) -> Option<(Vec<Vec<usize>>, Vec<Vec<BTreeMap<Value, Value>>>)> {
        let mut moved = Vec::new();
        for resource in 0..self.setting.resources() {
            let declared = &self.setting.resource(resource).fields;
            let fields: Vec<usize> =
                (0..declared.len()).map(|field| *self.fields[resource].get(&field).unwrap_or(&field)).collect();
            let mut images = fields.clone();
            images.sort_unstable();
            if !images.into_iter().eq(0..declared.len()) {
                return None;
            }
            let is_new = |field: usize| self.setting.resource(resource).new_fields.contains(&field);
            if fields.iter().enumerate().any(|(field, image)| is_new(field) != is_new(*image)) {
                return None;
            }
            for (field, image) in fields.iter().enumerate() {
                self.value(resource, field, &declared[field].1, &declared[*image].1)?;
            }
            let of_field = std::mem::take(&mut self.values[resource]);
            for (field, values) in of_field.iter().enumerate() {
                let mut images: Vec<&Value> = values.values().collect();
                images.sort_unstable();
                images.dedup();
                let stay = values.iter().all(|(value, becomes)| value == becomes);
                if images.len() < values.len() || !stay && self.calculates(resource, field) {
                    return None;
                }
            }
            moved.push(fields);
            self.values[resource] = of_field;
        }
        Some((moved, self.values))
    }

    /// Whether a field may have values that no entry sets and that it did not have at the start.
    fn calculates(&self, resource: ResourceId, field: usize) -> bool {
        let computed = |operation: &Operation| match operation {
            Operation::Append(_) | Operation::Increment(_) => operation.fields().contains(&field),
            _ => false,
        };
        self.setting.budget("recreate") > 0
            || self.setting.resource(resource).new_fields.contains(&field)
            || self.setting.model.scenario.agents.iter().flat_map(|agent| &agent.work).any(|entry| match entry {
                Entry::Mutate { resource: own, operation, also, .. } => {
                    let besides = also.as_ref().filter(|also| also.resource == resource);
                    *own == resource && computed(operation) || besides.is_some_and(|also| computed(&also.operation))
                }
                Entry::Read { .. } | Entry::HandOff { .. } => false,
            })
    }
}
