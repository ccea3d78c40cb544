//! Leaves out the lanes of agents and nodes that only make or serve calls which are folded, and names them there.

use super::{Lanes, Row, Shape};
use crate::diagrams::words;

/// Drops the lanes that occur in folded calls only.
pub fn drop(lanes: &mut Lanes, rows: &mut [Row]) {
    let (mut agents, mut nodes) = (vec![false; lanes.agents.len()], vec![false; lanes.nodes.len()]);
    for row in rows.iter().filter(|row| !matches!(row.shape, Shape::Fold { .. })) {
        each(&mut row.shape.clone(), &mut |agent| agents[*agent] = true, &mut |node| nodes[*node] = true);
    }
    for agent in rows.iter().flat_map(|row| &row.breaks) {
        agents[*agent] = true;
    }
    for stale in rows.iter().flat_map(|row| &row.stale) {
        if let Some(agent) = lanes.agent(Some(&stale.agent)) {
            agents[agent] = true;
        }
    }
    // A folded call starts at a lane all the same.
    for row in rows.iter() {
        if let Shape::Fold { agents: at, .. } = &row.shape
            && let (Some(first), true) = (at.first(), at.iter().all(|agent| !agents[*agent]))
        {
            agents[*first] = true;
        }
    }
    for row in rows.iter_mut() {
        name(lanes, &agents, row);
        let kept = |flags: &[bool], index: usize| flags.iter().take(index).filter(|kept| **kept).count();
        if let Shape::Fold { agents: at, nodes: through, .. } = &mut row.shape {
            at.retain(|agent| agents[*agent]);
            through.retain(|node| nodes[*node]);
        }
        each(&mut row.shape, &mut |agent| *agent = kept(&agents, *agent), &mut |node| *node = kept(&nodes, *node));
        row.learns.retain(|(agent, _)| agents[*agent]);
        row.learns.iter_mut().for_each(|(agent, _)| *agent = kept(&agents, *agent));
        row.breaks.iter_mut().for_each(|agent| *agent = kept(&agents, *agent));
        keep(&mut row.minds, &agents);
        keep(&mut row.busy_nodes, &nodes);
    }
    keep(&mut lanes.agents, &agents);
    keep(&mut lanes.nodes, &nodes);
}

/// Says in the label of a folded call whose it is, if its lane goes.
fn name(lanes: &Lanes, kept: &[bool], row: &mut Row) {
    let Shape::Fold { agents, asked, saw, .. } = &mut row.shape else { return };
    if agents.iter().any(|agent| !kept[*agent]) {
        let names: Vec<String> = agents.iter().map(|agent| lanes.agents[*agent].name.clone()).collect();
        *asked = format!("{asked} by {}", words::list(&names));
        row.label = format!("{asked}, {saw}");
    }
}

fn keep<T>(items: &mut Vec<T>, kept: &[bool]) {
    let mut kept = kept.iter();
    items.retain(|_| kept.next().copied().unwrap_or(true));
}

/// Visits every agent and every node of a shape.
fn each(shape: &mut Shape, agents: &mut impl FnMut(&mut usize), nodes: &mut impl FnMut(&mut usize)) {
    match shape {
        Shape::HandOff { from, to } => {
            agents(from);
            to.iter_mut().for_each(agents);
        }
        Shape::Fold { agents: at, nodes: through, .. } => {
            at.iter_mut().for_each(agents);
            through.iter_mut().for_each(nodes);
        }
        Shape::Request { agent, node, .. } | Shape::Answer { agent, node, .. } => {
            agents(agent);
            nodes(node);
        }
        Shape::Send { agent } => agents(agent),
        Shape::TakeUp { node } | Shape::Transaction { node, .. } => nodes(node),
        Shape::Break { agent, node, .. } => {
            agents(agent);
            node.iter_mut().for_each(nodes);
        }
        Shape::Note { agent, node, .. } => {
            agent.iter_mut().for_each(agents);
            node.iter_mut().for_each(nodes);
        }
    }
}
