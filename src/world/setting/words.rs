//! What things are called.

use super::Setting;
use crate::model::{AgentId, EntryId, Operation, ResourceId};
use crate::model::{Also, Entry};
use crate::world::Handle;

/// Names, for people.
impl Setting {
    /// An agent's name.
    #[must_use]
    pub fn agent_name(&self, agent: AgentId) -> &str {
        &self.model.scenario.agents[agent].name
    }

    /// A node's name: they are numbered from 1.
    #[must_use]
    pub fn node_name(&self, node: u8) -> String {
        format!("node-{}", node + 1)
    }

    /// What a node runs, at the start or when it has changed over: the design, the protocol, or both, as far as that changes.
    #[must_use]
    pub fn side_name(&self, deployed: bool) -> String {
        let Some(to) = &self.deployed else { return self.model.design.name.clone() };
        let (old, new) = (&self.model, &to.model);
        let pairs = [(&old.design.name, &new.design.name), (&old.protocol.name, &new.protocol.name)];
        let changed = pairs.into_iter().filter(|(old, new)| old != new);
        let names: Vec<&str> = changed
            .map(|(pair, new)| {
                // The name of the pair tells both.
                let old = pair.strip_suffix(new.as_str()).and_then(|old| old.strip_suffix(".."));
                if deployed { new } else { old.unwrap_or(pair) }
            })
            .collect();
        names.join(" under ")
    }

    /// A handle as clients see it. Minted ones are named after the resource.
    #[must_use]
    pub fn handle_name(&self, handle: Handle) -> String {
        let resource = self.resource(usize::from(handle.resource));
        match &resource.handle {
            Some(name) if handle.instance == 0 => name.clone(),
            _ => format!("{}-{}", resource.name, handle.instance + 1),
        }
    }

    /// What a work entry is about, in words: `memory 32 on basket`.
    #[must_use]
    pub fn entry_words(&self, agent: AgentId, entry: EntryId) -> String {
        let on = |resource: ResourceId, operation: &Operation| {
            let words = self.operation_words(resource, operation);
            let whole = words == operation.name();
            let words = if whole { format!("the {words} of") } else { format!("{words} on") };
            format!("{words} {}", self.resource(resource).name)
        };
        match &self.model.scenario.agents[agent].work[entry] {
            Entry::Read { resource } => format!("a read of {}", self.resource(*resource).name),
            Entry::HandOff { resource, .. } => format!("the hand-off of {}", self.resource(*resource).name),
            Entry::Mutate { resource, operation, also, .. } => {
                let own = on(*resource, operation);
                let words = |also: &Also| on(also.resource, &also.operation);
                also.as_ref().map_or_else(|| own.clone(), |also| format!("{own} and {}", words(also)))
            }
        }
    }

    /// What an operation does, in words: `memory 32`.
    #[must_use]
    pub fn operation_words(&self, resource: ResourceId, operation: &Operation) -> String {
        let fields = &self.resource(resource).fields;
        let list = |words: Vec<String>| words.join(", ");
        match operation {
            Operation::Set(changes) => {
                list(changes.iter().map(|(field, value)| format!("{} {value}", fields[*field].0)).collect())
            }
            Operation::Append(changes) => {
                list(changes.iter().map(|(field, value)| format!("{} + {value}", fields[*field].0)).collect())
            }
            Operation::Increment(changes) => {
                let words = |(field, amount): &(usize, i64)| {
                    let sign = if *amount < 0 { '-' } else { '+' };
                    format!("{} {sign} {}", fields[*field].0, amount.unsigned_abs())
                };
                list(changes.iter().map(words).collect())
            }
            other => other.name().to_owned(),
        }
    }
}
