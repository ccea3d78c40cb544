//! A trace as prose: who did what, who believed what, what was true, and which steps race.
//!
//! It sees the trace only. Each step has its own sentence there; what is added here is what no single step knows.

mod race;

use crate::diagrams::sequence::{Calls, CommitMark, Row, Sequence, Shape, Stale};
use crate::diagrams::words;
use crate::trace::{Step, Trace};

/// The width to which prose is wrapped.
const WIDTH: usize = 100;

/// Tells a trace; the story ends with a newline.
#[must_use]
pub fn explain(trace: &Trace) -> String {
    let sequence = Sequence::of(trace);
    let calls = Calls::of(trace);
    let mut story = Story { text: String::new(), indent: 0 };
    story.paragraph(&format!("{}: {}", sequence.title, sequence.scenario));
    story.paragraph(&format!(
        "Scenario {}, design {}{}, protocol {}.",
        trace.scenario.name,
        trace.design.name,
        aside(&trace.design.title),
        trace.protocol.name
    ));
    story.gap();
    story.paragraph(&format!("{}: {}", sequence.band.verdict, sequence.band.sentence));
    story.gap();
    let initial = |store: &crate::diagrams::sequence::StoreHead| {
        let initial = store.initial.as_ref()?;
        Some(format!("{} is {}", initial.handle, words::full(initial, Some(store))))
    };
    let start: Vec<String> = sequence.lanes.stores.iter().filter_map(initial).collect();
    if !start.is_empty() {
        story.paragraph(&format!("At the start, {}. {}", start.join("; "), sequence.left_out));
        story.gap();
    }
    let numbers = sequence.rows.iter().map(|row| words::width(&row.numbers()));
    story.indent = numbers.max().unwrap_or(0).max(trace.steps.len().to_string().len()) + 4;
    for row in &sequence.rows {
        story.row(trace, &sequence, row);
    }
    story.indent = 0;
    // Where nothing went wrong there is no pair of steps to blame.
    let race = trace.shows.is_none().then(|| race::race(trace, &calls)).flatten();
    for paragraph in [parting(trace, &sequence), race].into_iter().flatten() {
        story.gap();
        story.paragraph(&paragraph);
    }
    story.gap();
    story.paragraph(&closing(trace));
    story.text
}

struct Story {
    text: String,
    /// How far steps are indented; their numbers stand in this margin.
    indent: usize,
}

impl Story {
    fn gap(&mut self) {
        self.text.push('\n');
    }

    fn paragraph(&mut self, text: &str) {
        self.numbered("", text);
    }

    /// A sentence, with the numbers of its steps in the margin.
    fn numbered(&mut self, numbers: &str, text: &str) {
        let mut margin = numbers.to_owned();
        for line in words::wrap(&words::line(text), WIDTH - self.indent.min(WIDTH / 2)) {
            let room = self.indent.saturating_sub(2 + words::width(&margin));
            let margin = std::mem::take(&mut margin);
            let line = if self.indent == 0 { line } else { format!("{}{margin}  {line}", " ".repeat(room)) };
            self.text.push_str(&line);
            self.text.push('\n');
        }
    }

    /// What a request carries, where the sentence of its step does not say it.
    fn payload(&mut self, step: &Step) {
        let Some(call) = step.call.as_ref().filter(|_| step.does.action == "send") else { return };
        if !call.payload.is_empty() && call.payload != call.tool && !step.sentence.contains(&call.payload) {
            self.paragraph(&words::sentence(&format!("It carries {}", call.payload)));
        }
    }

    fn row(&mut self, trace: &Trace, sequence: &Sequence, row: &Row) {
        let Some((first, last)) = row.steps else {
            if let Shape::Answer { agent, .. } = &row.shape {
                let agent = sequence.lanes.agents.get(*agent).map_or("its agent", |agent| agent.name.as_str());
                self.paragraph(&format!(
                    "The answer to {agent}, {}, is still under way when the trace ends.",
                    row.label.trim_end_matches(" (not yet received)")
                ));
            }
            return;
        };
        if let Shape::Fold { agents, nodes, store, asked, saw } = &row.shape {
            let names = |all: &[String], some: &[usize]| -> String {
                words::list(&some.iter().filter_map(|index| all.get(*index)).cloned().collect::<Vec<_>>())
            };
            let all: Vec<String> = sequence.lanes.agents.iter().map(|agent| agent.name.clone()).collect();
            let make = if agents.len() == 1 { "makes" } else { "make" };
            let of = store.and_then(|store| sequence.lanes.stores.get(store));
            let of = of.map_or_else(String::new, |store| format!(" of {}", store.handle));
            let (who, through) = (names(&all, agents), names(&sequence.lanes.nodes, nodes));
            let text =
                folded(row, sequence).unwrap_or_else(|| format!("{who} {make} {asked}{of} through {through}: {saw}."));
            self.numbered(&words::steps(first, last), &text);
        } else {
            for (number, step) in trace.steps.iter().enumerate().take(last).skip(first - 1) {
                let sentence = words::sentence(&step.sentence);
                let fallback = format!("{} {}", step.does.action, step.does.agent.as_deref().unwrap_or_default());
                let told = if sentence.is_empty() { words::sentence(&fallback) } else { sentence };
                self.numbered(&(number + 1).to_string(), &told);
                if number + 1 == first {
                    // Remarks are about the first step: the sending of a request, not its arrival.
                    self.payload(step);
                    for sentence in row.remarks.iter().filter_map(|remark| remark.sentence.as_ref()) {
                        self.paragraph(sentence);
                    }
                }
            }
        }
        for commit in &row.commits {
            for line in effects(commit) {
                self.paragraph(&line);
            }
        }
        for stale in &row.stale {
            self.paragraph(&format!("Now {}.", while_true(stale, sequence)));
        }
    }
}

/// A single folded call as a sentence: `A reads bsk_42 through node-1 and sees v7: memory 16, storage 512.`
fn folded(row: &Row, sequence: &Sequence) -> Option<String> {
    let Shape::Fold { agents, nodes, store: Some(store), asked, saw } = &row.shape else { return None };
    let ([agent], [node]) = (&agents[..], &nodes[..]) else { return None };
    let (agent, node) = (sequence.lanes.agents.get(*agent)?, sequence.lanes.nodes.get(*node)?);
    let handle = &sequence.lanes.stores.get(*store)?.handle;
    if asked.ends_with("read") {
        return Some(format!("{} reads {handle} through {node} and {saw}.", agent.name));
    }
    Some(format!("{} asks {node} to {asked}, and is answered {saw}.", agent.name))
}

/// What a commit did beyond its own change.
fn effects(commit: &CommitMark) -> Vec<String> {
    let erased = commit.erased.iter().map(|erased| format!("This erases {erased}."));
    let second = commit.second.iter().map(|intent| format!("This is the second effect of one intent, {intent}."));
    erased.chain(second).collect()
}

/// `B believes v7 16 / 512, while the store is v8 32 / 512`.
fn while_true(stale: &Stale, sequence: &Sequence) -> String {
    let (belief, truth) = stale.halves(sequence.names_stores());
    let the = if truth.starts_with("store is ") { "the " } else { "" };
    format!("{belief}, while {the}{truth}")
}

/// Where the belief of the agent that moves last, or of any, first parts from the truth.
fn parting(trace: &Trace, sequence: &Sequence) -> Option<String> {
    let last = trace.steps.last()?.does.agent.as_deref();
    let notes = || sequence.rows.iter().flat_map(|row| row.stale.iter().map(move |stale| (row, stale)));
    let (row, stale) = notes().find(|(_, stale)| Some(stale.agent.as_str()) == last).or_else(|| notes().next())?;
    let step = row.steps?.1;
    let by = row.commits.first().and_then(|_| trace.steps.get(step - 1)?.commits.first());
    let when = by.map_or_else(String::new, |commit| format!(", when {}'s change commits", commit.agent));
    Some(format!("Belief and truth part at step {step}{when}: from then on {}.", while_true(stale, sequence)))
}

/// What it took.
fn closing(trace: &Trace) -> String {
    let faults: Vec<String> = trace
        .steps
        .iter()
        .enumerate()
        .filter(|(_, step)| step.does.fault)
        .map(|(index, step)| format!("{} at step {}", step.does.action, index + 1))
        .collect();
    match &faults[..] {
        [] => "No fault was needed: ordinary timing is enough.".to_owned(),
        [one] => format!("It took one fault: {one}."),
        many => format!("It took {} faults: {}.", many.len(), words::list(many)),
    }
}

fn aside(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!(" ({text})") }
}
