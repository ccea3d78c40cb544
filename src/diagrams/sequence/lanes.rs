//! Who has a lane in a picture.

use crate::trace::{CallNote, Content, Does, Step, Trace};

/// The lanes of a picture, from left to right: agents, nodes, stores. Only what occurs in the trace has one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lanes {
    /// The agents, those of one principal side by side.
    pub agents: Vec<AgentHead>,
    /// The nodes.
    pub nodes: Vec<String>,
    /// The resources.
    pub stores: Vec<StoreHead>,
    /// More than one handle names something in them, so that what is said must name its own.
    pub several: bool,
}

/// The head of an agent's lane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentHead {
    /// Its name.
    pub name: String,
    /// `client` or `subagent`.
    pub role: &'static str,
    /// For whom it acts; empty where the trace does not say.
    pub principal: String,
}

/// The head of a resource's lane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreHead {
    /// The name of the resource in the scenario.
    pub name: String,
    /// The first handle that it has in the trace.
    pub handle: String,
    /// The names of its fields.
    pub fields: Vec<String>,
    /// Its content at the start.
    pub initial: Option<Content>,
}

impl Lanes {
    /// The lanes of a trace.
    #[must_use]
    pub fn of(trace: &Trace) -> Self {
        let mut lanes = Self::default();
        lanes.add_agents(trace);
        lanes.add_nodes(trace);
        lanes.add_stores(trace);
        lanes
    }

    fn add_agents(&mut self, trace: &Trace) {
        let occurring = occurring(&trace.steps, |does| does.agent.iter().chain(&does.to).collect());
        let declared = trace.agents.iter().filter(|agent| occurring.contains(&agent.name.as_str()));
        let declared = declared.map(|agent| AgentHead {
            name: agent.name.clone(),
            role: if agent.parent.is_some() { "subagent" } else { "client" },
            principal: agent.principal.clone(),
        });
        let known = |name: &&&str| !trace.agents.iter().any(|agent| agent.name == **name);
        let unknown = occurring.iter().filter(known);
        let unknown =
            unknown.map(|name| AgentHead { name: (*name).to_owned(), role: "client", principal: String::new() });
        let agents: Vec<AgentHead> = declared.chain(unknown).collect();
        for agent in &agents {
            if !self.agents.iter().any(|other| other.principal == agent.principal) {
                self.agents.extend(agents.iter().filter(|other| other.principal == agent.principal).cloned());
            }
        }
    }

    fn add_nodes(&mut self, trace: &Trace) {
        let occurring = occurring(&trace.steps, |does| does.node.iter().collect());
        let declared = trace.nodes.iter().map(String::as_str).filter(|node| occurring.contains(node));
        for node in declared.chain(occurring.iter().copied()) {
            if !self.nodes.iter().any(|other| other == node) {
                self.nodes.push(node.to_owned());
            }
        }
    }

    fn add_stores(&mut self, trace: &Trace) {
        for resource in &trace.resources {
            let handle =
                resource.initial.as_ref().map_or_else(|| first_handle(trace, &resource.name), |it| it.handle.clone());
            self.stores.push(StoreHead {
                name: resource.name.clone(),
                handle,
                fields: resource.fields.clone(),
                initial: resource.initial.clone(),
            });
        }
        let mut occurs = vec![false; self.stores.len()];
        for step in &trace.steps {
            let index = self.store_of_step(step).or_else(|| {
                let name = step.call.as_ref().map(|call| &call.resource).or(step.does.handle.as_ref())?;
                let handle = first_handle(trace, name);
                self.stores.push(StoreHead { name: name.clone(), handle, fields: Vec::new(), initial: None });
                occurs.push(false);
                Some(self.stores.len() - 1)
            });
            let Some(index) = index else { continue };
            occurs[index] = true;
            for commit in &step.commits {
                occurs[self.store(&commit.content.handle).unwrap_or(index)] = true;
            }
        }
        let mut occurs = occurs.into_iter();
        self.stores.retain(|_| occurs.next().unwrap_or(false));
        let mut commits = trace.steps.iter().flat_map(|step| &step.commits);
        self.several = self.stores.len() > 1 || commits.any(|commit| self.store(&commit.content.handle).is_none());
    }

    /// How many there are.
    #[must_use]
    pub const fn count(&self) -> usize {
        self.agents.len() + self.nodes.len() + self.stores.len()
    }

    /// The lane of an agent.
    #[must_use]
    pub fn agent(&self, name: Option<&str>) -> Option<usize> {
        self.agents.iter().position(|agent| Some(agent.name.as_str()) == name)
    }

    /// The lane of a node.
    #[must_use]
    pub fn node(&self, name: Option<&str>) -> Option<usize> {
        self.nodes.iter().position(|node| Some(node.as_str()) == name)
    }

    /// The lane of what a handle names.
    #[must_use]
    pub fn store(&self, handle: &str) -> Option<usize> {
        self.stores.iter().position(|store| store.handle == handle)
    }

    /// The lane of the resource that a call is about: of what its handle names, or else of what its agent means.
    #[must_use]
    pub fn store_of_call(&self, call: &CallNote) -> Option<usize> {
        let named = call.handle.as_ref().and_then(|handle| self.store(handle));
        named.or_else(|| self.stores.iter().position(|store| store.name == call.resource))
    }

    /// The lane of the resource that a step is about.
    #[must_use]
    pub fn store_of_step(&self, step: &Step) -> Option<usize> {
        let named = |name: &str| self.stores.iter().position(|store| store.name == name);
        let called = step.call.as_ref().and_then(|call| self.store_of_call(call));
        called.or_else(|| step.does.handle.as_ref().and_then(|handle| self.store(handle).or_else(|| named(handle))))
    }
}

/// The handle that a resource gets in the trace; its name until then. Its agents may hold the handle of another, which they
/// take for its own.
fn first_handle(trace: &Trace, resource: &str) -> String {
    let about = |step: &Step, resource: &str| step.call.as_ref().is_some_and(|call| call.resource == resource);
    let mints = |step: &Step| step.call.as_ref().is_some_and(|call| call.tool == "mint");
    let minted = |resource: &str| {
        let steps = trace.steps.iter().filter(|step| about(step, resource) && mints(step));
        steps.flat_map(|step| &step.commits).map(|commit| &commit.content.handle).next()
    };
    let elsewhere = |handle: &String| {
        trace.resources.iter().filter(|other| other.name != resource).any(|other| {
            let initial = other.initial.as_ref().map(|content| &content.handle);
            initial.or_else(|| minted(&other.name)) == Some(handle)
        })
    };
    let named = || {
        let names = |step: &Step| {
            let commit = step.commits.first().map(|commit| commit.content.handle.clone());
            commit.or_else(|| step.call.as_ref()?.handle.clone())
        };
        let mut steps = trace.steps.iter().filter(|step| about(step, resource));
        steps.find_map(names).filter(|handle| !elsewhere(handle))
    };
    minted(resource).cloned().or_else(named).unwrap_or_else(|| resource.to_owned())
}

/// Names that occur in steps, each once, in the order of the steps.
fn occurring<'t>(steps: &'t [Step], names: impl Fn(&'t Does) -> Vec<&'t String>) -> Vec<&'t str> {
    let mut found: Vec<&str> = Vec::new();
    for name in steps.iter().flat_map(|step| names(&step.does)) {
        if !found.contains(&name.as_str()) {
            found.push(name);
        }
    }
    found
}
