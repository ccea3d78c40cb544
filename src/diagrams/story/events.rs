//! What happened, one event a step or a fold, each with its cause.

use super::because::{Because, because};
use super::while_true;
use crate::diagrams::sequence::{Calls, CommitMark, Row, Sequence, Shape};
use crate::diagrams::words;
use crate::trace::{Step, Trace};

/// A step, or several that a picture folds into one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// The first and the last of its steps, from 1; none for an answer that is still under way at the end.
    pub steps: Option<(usize, usize)>,
    /// What happened, and because of what.
    pub sentence: String,
    /// What is said besides, a sentence each.
    pub more: Vec<String>,
    /// Why it happened, where it did not simply follow from the work. Its words stand in the sentences already.
    pub because: Option<Because>,
    /// It is a fault.
    pub fault: bool,
}

impl Event {
    /// The numbers of its steps: `12`, `2–5`, or nothing.
    #[must_use]
    pub fn numbers(&self) -> String {
        self.steps.map_or_else(String::new, |(first, last)| words::steps(first, last))
    }
}

pub(super) fn events(trace: &Trace, sequence: &Sequence, calls: &Calls<'_>) -> Vec<Event> {
    let teller = Teller { trace, sequence, calls };
    sequence.rows.iter().flat_map(|row| teller.row(row)).collect()
}

struct Teller<'t> {
    trace: &'t Trace,
    sequence: &'t Sequence,
    calls: &'t Calls<'t>,
}

impl Teller<'_> {
    fn row(&self, row: &Row) -> Vec<Event> {
        let event = |steps, sentence| Event { steps, sentence, more: Vec::new(), because: None, fault: row.fault };
        let Some((first, last)) = row.steps else {
            let Shape::Answer { agent, .. } = &row.shape else { return Vec::new() };
            let agent = self.sequence.lanes.agents.get(*agent).map_or("its agent", |agent| agent.name.as_str());
            let what = row.label.trim_end_matches(" (not yet received)");
            let sentence = format!("The answer to {agent}, {what}, is still under way when the trace ends.");
            return vec![event(None, sentence)];
        };
        let mut events = if matches!(row.shape, Shape::Fold { .. }) {
            vec![event(row.steps, self.fold(row))]
        } else {
            let steps = self.trace.steps.iter().enumerate().take(last).skip(first - 1);
            steps.map(|(index, step)| self.step(index, step, row)).collect()
        };
        let Some(last) = events.last_mut() else { return events };
        last.more.extend(row.commits.iter().flat_map(effects));
        last.more.extend(row.stale.iter().map(|stale| format!("Now {}.", while_true(stale, self.sequence))));
        events
    }

    fn step(&self, index: usize, step: &Step, row: &Row) -> Event {
        let sentence = words::sentence(&step.sentence);
        let fallback = format!("{} {}", step.does.action, step.does.agent.as_deref().unwrap_or_default());
        let sentence = if sentence.is_empty() { words::sentence(&fallback) } else { sentence };
        let mut more: Vec<String> = payload(step).into_iter().collect();
        if row.steps.is_some_and(|(first, _)| first == index + 1) {
            // Remarks are about the first step: the sending of a request, not its arrival.
            more.extend(row.remarks.iter().filter_map(|remark| remark.sentence.clone()));
        }
        // What becomes of a request that stays on the way is no part of why it was sent.
        let fate = if matches!(row.shape, Shape::Send { .. }) { more.pop() } else { None };
        let because = because(self.trace, self.calls, index);
        let mut event = Event { steps: Some((index + 1, index + 1)), sentence, more, because, fault: step.does.fault };
        if let Some(because) = &event.because {
            // Why something was planned anew is said where that is said, and not of the version that it was planned on.
            let anew = step.call.as_ref().is_some_and(|call| call.attempt.as_deref() == Some("replan"));
            match event.more.last_mut().filter(|_| !anew) {
                Some(place) => *place = format!("{}, {}.", place.trim_end_matches('.'), because.words),
                None => event.sentence = reasoned(&event.sentence, step, &because.words),
            }
        }
        event.more.extend(fate);
        event
    }

    /// Calls that changed nothing: `A reads bsk_42 through node-1 and sees v7.`
    fn fold(&self, row: &Row) -> String {
        let Shape::Fold { agents, nodes, store, asked, saw } = &row.shape else { return row.sentence.clone() };
        let lanes = &self.sequence.lanes;
        let handle = store.and_then(|store| lanes.stores.get(store)).map(|store| store.handle.as_str());
        if let ([agent], [node], Some(handle)) = (&agents[..], &nodes[..], handle)
            && let (Some(agent), Some(node)) = (lanes.agents.get(*agent), lanes.nodes.get(*node))
            && !asked.starts_with(|letter: char| letter.is_ascii_digit())
        {
            if asked.ends_with("read") {
                return format!("{} reads {handle} through {node} and {saw}.", agent.name);
            }
            return format!("{} asks {node} to {asked}, and is answered {saw}.", agent.name);
        }
        let names = |all: &[String], some: &[usize]| -> String {
            words::list(&some.iter().filter_map(|index| all.get(*index)).cloned().collect::<Vec<_>>())
        };
        let all: Vec<String> = lanes.agents.iter().map(|agent| agent.name.clone()).collect();
        let make = if agents.len() == 1 { "makes" } else { "make" };
        let of = handle.map_or_else(String::new, |handle| format!(" of {handle}"));
        format!("{} {make} {asked}{of} through {}: {saw}.", names(&all, agents), names(&lanes.nodes, nodes))
    }
}

/// A sentence with the reason for what happened, before what is noted besides.
fn reasoned(sentence: &str, step: &Step, reason: &str) -> String {
    let notes: usize = step.notes.iter().map(|note| note.len() + " .".len()).sum();
    let end = sentence.len().saturating_sub(notes);
    let (happened, notes) = sentence.split_at_checked(end).unwrap_or((sentence, ""));
    format!("{}, {reason}.{notes}", happened.trim_end_matches('.'))
}

/// What a request carries, where the sentence of its step does not say it.
fn payload(step: &Step) -> Option<String> {
    let call = step.call.as_ref().filter(|_| step.does.action == "send")?;
    let said = call.payload.is_empty() || call.payload == call.tool || step.sentence.contains(&call.payload);
    (!said).then(|| words::sentence(&format!("It carries {}", call.payload)))
}

/// What a commit did beyond its own change.
fn effects(commit: &CommitMark) -> Vec<String> {
    let erased = commit.erased.iter().map(|erased| format!("This erases {erased}."));
    let second = commit.second.iter().map(|intent| format!("This is the second effect of one intent, {intent}."));
    erased.chain(second).collect()
}
