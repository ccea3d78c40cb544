//! What could have caused what: the order of the rows that any observer would agree on.
//!
//! A row follows another where they share an agent, a call, a resource, or a node's memory that a restart wipes. What
//! follows from other edges is left out.

use super::sequence::{Row, Sequence, Shape};

/// For each row, the rows that directly precede it.
#[must_use]
pub fn causes(sequence: &Sequence) -> Vec<Vec<usize>> {
    let mut direct: Vec<Vec<usize>> = Vec::new();
    for (index, row) in sequence.rows.iter().enumerate() {
        let own = shares(row);
        let mut before: Vec<usize> = Vec::new();
        for share in &own {
            let last = sequence.rows[..index].iter().rposition(|earlier| shares(earlier).contains(share));
            before.extend(last.filter(|last| !before.contains(last)));
        }
        before.sort_unstable();
        direct.push(before);
    }
    let past: Vec<Vec<bool>> = (0..direct.len()).map(|row| past_of(&direct, row)).collect();
    let needed = |before: &[usize], cause: usize| !before.iter().any(|other| *other != cause && past[*other][cause]);
    direct.iter().map(|before| before.iter().copied().filter(|cause| needed(before, *cause)).collect()).collect()
}

/// The rows without which a row could not have been as it was; itself included.
#[must_use]
pub fn past_of(causes: &[Vec<usize>], row: usize) -> Vec<bool> {
    let mut past = vec![false; causes.len()];
    let mut next = vec![row];
    while let Some(row) = next.pop() {
        if let Some(seen) = past.get_mut(row).filter(|seen| !**seen) {
            *seen = true;
            next.extend(&causes[row]);
        }
    }
    past
}

/// What rows have in common when one follows another.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Share {
    Agent(usize),
    Call(String),
    Store(usize),
    Node(usize),
}

fn shares(row: &Row) -> Vec<Share> {
    let mut shares: Vec<Share> = row.call.iter().cloned().map(Share::Call).collect();
    match &row.shape {
        Shape::HandOff { from, to } => shares.extend([from].into_iter().chain(to).map(|agent| Share::Agent(*agent))),
        Shape::Fold { agents, store, .. } => {
            shares.extend(agents.iter().map(|agent| Share::Agent(*agent)));
            shares.extend(store.map(Share::Store));
        }
        // A node in which calls are lost when it restarts.
        Shape::Request { agent, node, .. } => shares.extend([Share::Agent(*agent), Share::Node(*node)]),
        Shape::Send { agent } | Shape::Answer { agent, .. } | Shape::Break { agent, .. } => {
            shares.push(Share::Agent(*agent));
        }
        Shape::TakeUp { node } => shares.push(Share::Node(*node)),
        Shape::Transaction { store, .. } => shares.extend(store.map(Share::Store)),
        Shape::Note { agent, node, store } => {
            shares.extend(agent.map(Share::Agent));
            shares.extend(node.map(Share::Node));
            shares.extend(store.map(Share::Store));
        }
    }
    shares.extend(row.breaks.iter().map(|agent| Share::Agent(*agent)));
    shares.extend(row.commits.iter().map(|commit| Share::Store(commit.store)));
    shares
}
