//! `resolves`: under fairness every intent ends (sections 3 and 8), judged on the explored graph.
//!
//! Fair is everything but faults, the arrival of an orphan and, where a closed stream cancels, the execution of an
//! orphan. So `cancel` is fair: an orphan that can be stopped is not left standing between two transactions for ever.

use std::collections::BTreeMap;

use handlecheck::model::protocol::ClosedStream;
use handlecheck::model::{AgentId, Entry, Model};

use super::actions::{self, Action};
use super::client;
use super::server::Seat;
use super::state::{State, entry_resource, side};

/// Who makes the move of an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mover {
    /// An agent, or the network and the node on its open call.
    Agent(AgentId),
    Orphan,
    /// A fault, or a node that changes over: what need never happen, and happens only so often.
    Fault,
}

/// Who makes this move.
pub fn mover(action: Action) -> Mover {
    match action {
        Action::Send(agent)
        | Action::Deliver(Seat::Open(agent), _)
        | Action::Execute(Seat::Open(agent))
        | Action::Receive(agent)
        | Action::HandOff(agent)
        | Action::Guess(agent, _)
        | Action::Resume(agent)
        | Action::Decide(agent)
        | Action::Skip(agent) => Mover::Agent(agent),
        Action::Deliver(Seat::Orphan(_) | Seat::Rest(_), _)
        | Action::Execute(Seat::Orphan(_) | Seat::Rest(_))
        | Action::Cancel(_) => Mover::Orphan,
        Action::Fault(_) | Action::Deploy(_) => Mover::Fault,
    }
}

/// An edge of the graph: to which state, and whose move.
pub type Edge = (usize, Mover);

/// Is there a fair action of an orphan in this state?
fn orphan_must_move(model: &Model, state: &State) -> bool {
    actions::possible(model, state).into_iter().any(|action| match action {
        Action::Cancel(_) | Action::Deliver(Seat::Rest(_), _) | Action::Execute(Seat::Rest(_)) => true,
        Action::Execute(Seat::Orphan(index)) => {
            let rules = &side(model, state.orphans[index].new).protocol;
            rules.closed_stream == ClosedStream::Continues
        }
        _ => false,
    })
}

/// Has this agent an open intent, and is it not exempt: stopped, gone from its work, or never given the handle?
fn waits(model: &Model, state: &State, id: AgentId) -> bool {
    let agent = &state.agents[id];
    let Some(entry) = client::current_entry(model, state, id) else { return false };
    let work = model.scenario.agents[id].work.iter().enumerate();
    let intents = work.filter(|(_, entry)| matches!(entry, Entry::Mutate { .. }));
    let open =
        intents.into_iter().any(|(number, _)| !agent.told.contains_key(&number) && !agent.skipped.contains(&number));
    let resource = entry_resource(entry);
    let mints = matches!(entry, Entry::Mutate { operation: handlecheck::model::Operation::Mint, .. });
    let was_given = |resource: usize| agent.knows.contains_key(&resource) || agent.forgot.contains(&resource);
    let other = match entry {
        Entry::Mutate { also: Some(also), .. } => was_given(also.resource) || agent.call.is_some(),
        _ => true,
    };
    let given = (mints || was_given(resource)) && other;
    open && given && !agent.stopped
}

/// The states in which a fair run can stay for ever while some intent stays open.
pub fn unresolved(model: &Model, states: &[&State], edges: &[Vec<Edge>]) -> Vec<usize> {
    let mut found = Vec::new();
    for agent in 0..model.scenario.agents.len() {
        let within: Vec<bool> = states.iter().map(|state| waits(model, state, agent)).collect();
        for component in components(&within, edges) {
            if is_fair(model, states, edges, &component) {
                found.extend(component);
            }
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// Can a fair run stay in these states? Each agent moves within them or is sometimes unable to, and in some of them
/// no orphan must move. (Orphans never move on a loop, since only faults make new ones.) A single state without a loop
/// must be one where nothing that is fair can happen at all.
fn is_fair(model: &Model, states: &[&State], edges: &[Vec<Edge>], component: &[usize]) -> bool {
    let inside = |state: &usize| component.binary_search(state).is_ok();
    let agents = 0..model.scenario.agents.len();
    let all_agents = agents.into_iter().all(|agent| {
        component.iter().any(|state| {
            let own = edges[*state].iter().filter(|(_, mover)| *mover == Mover::Agent(agent));
            let mut own = own.peekable();
            own.peek().is_none() || own.any(|(to, _)| inside(to))
        })
    });
    all_agents && component.iter().any(|state| !orphan_must_move(model, states[*state]))
}

/// The strongly connected components of the states `within`, joined by moves that are no faults; each sorted.
fn components(within: &[bool], edges: &[Vec<Edge>]) -> Vec<Vec<usize>> {
    let follow = |from: usize| {
        let onward = edges[from].iter().filter(|(to, mover)| within[*to] && *mover != Mover::Fault);
        onward.map(|(to, _)| *to).collect::<Vec<_>>()
    };
    let mut backward: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for from in (0..within.len()).filter(|from| within[*from]) {
        for to in follow(from) {
            backward.entry(to).or_default().push(from);
        }
    }
    let mut finished = Vec::new();
    let mut seen = vec![false; within.len()];
    for start in (0..within.len()).filter(|start| within[*start]) {
        visit(start, &mut seen, &follow, &mut finished);
    }
    let mut seen = vec![false; within.len()];
    let back = |to: usize| backward.get(&to).cloned().unwrap_or_default();
    let mut all = Vec::new();
    while let Some(start) = finished.pop() {
        let mut component = Vec::new();
        visit(start, &mut seen, &back, &mut component);
        component.sort_unstable();
        if !component.is_empty() {
            all.push(component);
        }
    }
    all
}

/// Depth-first search without recursion: appends every new state when all that follows it is done.
fn visit(start: usize, seen: &mut [bool], follow: &dyn Fn(usize) -> Vec<usize>, finished: &mut Vec<usize>) {
    if std::mem::replace(&mut seen[start], true) {
        return;
    }
    let mut stack = vec![(start, follow(start))];
    while let Some((state, rest)) = stack.last_mut() {
        match rest.pop() {
            Some(next) if !seen[next] => {
                seen[next] = true;
                stack.push((next, follow(next)));
            }
            Some(_) => {}
            None => {
                finished.push(*state);
                stack.pop();
            }
        }
    }
}
