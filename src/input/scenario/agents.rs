//! `[agents]`: who they act for, and their own harness.

use crate::model::AgentId;
use crate::model::scenario::{Agent, Entry, Principal};

use super::resources::{confused, principal, same_in_assertions};
use crate::input::client::{ClientTables, client};
use crate::input::reader::{Item, Table};
use crate::input::report::Spot;

/// An agent of which everything has been read but its work, which needs the names of all agents and resources.
pub(super) struct Draft<'a> {
    pub(super) name: &'a str,
    pub(super) work: Vec<Item<'a>>,
    /// `None` when the file has it wrong.
    acts_for: Option<ActsFor>,
    client: ClientTables,
}

#[derive(Clone, Debug)]
enum ActsFor {
    Itself(Principal),
    Parent(AgentId),
}

/// Reads `[agents]` but for the work: at most so many.
pub(super) fn drafts<'a>(table: &Table<'a>, most: usize) -> Vec<Draft<'a>> {
    let Some(agents) = table.require("agents").and_then(Item::table) else { return Vec::new() };
    // Of absurdly many only the first are looked at; that there are too many is said in any case.
    let entries = || agents.entries().take(4 * most);
    let names: Vec<&str> = entries().map(|(key, _)| key.text()).collect();
    if names.is_empty() {
        agents.complain("there is no agent", "expected a table for each agent in here", None);
    }
    let mut parents = Vec::new();
    let mut drafts = Vec::new();
    for (index, (key, item)) in entries().enumerate() {
        key.is_name(key.text(), "an agent");
        if let Some(other) = names[..index].iter().find(|other| same_in_assertions(other, key.text())) {
            confused(&key, key.text(), other);
        }
        if index == most {
            let label = format!("a scenario has at most {most}");
            key.complain("too many agents", label, None);
        }
        let mut draft = Draft { name: key.text(), work: Vec::new(), acts_for: None, client: ClientTables::default() };
        if let Some(table) = item.table() {
            let parent = table.get("parent");
            draft.work = table.get("work").and_then(Item::list).unwrap_or_default();
            draft.client = client(&table);
            draft.acts_for = acts_for(&table, parent, &names);
            table.finish();
            parents.push(parent);
        } else {
            parents.push(None);
        }
        drafts.push(draft);
    }
    refuse_circles(&mut drafts, &parents);
    drafts
}

fn acts_for(table: &Table<'_>, parent: Option<Item<'_>>, names: &[&str]) -> Option<ActsFor> {
    match (table.get("principal"), parent) {
        (Some(_), Some(parent)) => {
            let label = "and a `principal` besides";
            parent.refuse("a subagent acts for its parent's principal", label, Some("leave one of them out".to_owned()))
        }
        (Some(item), None) => principal(item).map(ActsFor::Itself),
        (None, Some(item)) => {
            let name = item.nonempty()?;
            let parent = names.iter().position(|known| *known == name);
            parent.map(ActsFor::Parent).or_else(|| item.unknown("agent", name, names))
        }
        // A slip of the hand explains it.
        (None, None) if table.misspells(&["principal", "parent"]) => None,
        (None, None) => {
            let label = "expected `principal`, or for a subagent `parent`";
            table.refuse("whom does this agent act for?", label, None)
        }
    }
}

/// Reports each circle of parents once, at the first of its agents, and takes all its agents' parents away.
fn refuse_circles(drafts: &mut [Draft<'_>], parents: &[Option<Item<'_>>]) {
    for (first, written) in parents.iter().enumerate() {
        let mut line = vec![first];
        let mut last = first;
        while let Some(ActsFor::Parent(parent)) = drafts[last].acts_for {
            if parent == first {
                let names: Vec<&str> = line.iter().chain([&first]).map(|&agent| drafts[agent].name).collect();
                if let Some(item) = written {
                    let label = format!("the parents go round: {}", names.join(", "));
                    item.complain("no principal is at the end of these parents", label, None);
                }
                for &agent in &line {
                    drafts[agent].acts_for = None;
                }
                break;
            }
            // The line runs into a circle that doesn't come back to its start; that one's own agents report it.
            if line.contains(&parent) {
                break;
            }
            line.push(parent);
            last = parent;
        }
    }
}

/// The agents with their work, if nothing is wrong with any of them.
pub(super) fn agents(drafts: Vec<Draft<'_>>, works: Vec<Option<Vec<Entry>>>) -> Option<Vec<Agent>> {
    let principals: Option<Vec<Principal>> = (0..drafts.len()).map(|agent| principal_of(&drafts, agent)).collect();
    let (principals, works) = (principals?, works.into_iter().collect::<Option<Vec<_>>>()?);
    let agents = drafts.into_iter().zip(principals).zip(works).map(|((draft, principal), work)| Agent {
        name: draft.name.to_owned(),
        principal,
        parent: match draft.acts_for {
            Some(ActsFor::Parent(parent)) => Some(parent),
            _ => None,
        },
        work,
        client: draft.client.0,
        client_tools: draft.client.1,
    });
    Some(agents.collect())
}

/// The principal at the end of an agent's parents. Circles of them have been taken away.
fn principal_of(drafts: &[Draft<'_>], agent: AgentId) -> Option<Principal> {
    match drafts[agent].acts_for.as_ref()? {
        ActsFor::Itself(principal) => Some(principal.clone()),
        ActsFor::Parent(parent) => principal_of(drafts, *parent),
    }
}

/// Whether two agents act for one principal, or that is not known since the file has it wrong.
pub(super) fn is_for_the_same(drafts: &[Draft<'_>], one: AgentId, other: AgentId) -> bool {
    match (principal_of(drafts, one), principal_of(drafts, other)) {
        (Some(one), Some(other)) => one == other,
        _ => true,
    }
}

/// The agent that a string names.
pub(super) fn agent_named(item: Item<'_>, agents: &[Draft<'_>]) -> Option<AgentId> {
    let name = item.nonempty()?;
    let names: Vec<&str> = agents.iter().map(|agent| agent.name).collect();
    agents.iter().position(|agent| agent.name == name).or_else(|| item.unknown("agent", name, &names))
}
