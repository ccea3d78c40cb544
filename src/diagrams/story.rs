//! The story of a trace, before it has a form: the setting, what everybody wanted, what happened and because of what, the
//! moment where it broke, why each guard let it pass, and what would have stopped it.
//!
//! Plain text, Markdown and the page that steps through a trace all tell this one. It is made from the trace alone. Each
//! cause comes with what it claims of the trace, so that a claim can be checked against the trace's own states.

mod because;
mod events;
mod guards;
mod looping;
mod race;
mod search;
mod setting;

pub use because::{Because, Claim};
pub use events::Event;
pub use guards::{Guard, Passage};

use super::sequence::{Calls, Sequence, Stale, without_unchanging};
use super::words;
use crate::trace::Trace;

/// The story of a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Story {
    /// What went wrong, and where: `Lost update: Two subagents configure one laptop`.
    pub title: String,
    /// Which inputs, who is there, and what is true at the start.
    pub setting: Vec<String>,
    /// What each agent wanted.
    pub wants: Vec<String>,
    /// `no-lost-update violated at step 15`.
    pub verdict: String,
    /// What happened to whom, in one sentence.
    pub sentence: String,
    /// It tells how something was violated, rather than how a situation was reached.
    pub violated: bool,
    /// What happened, from first to last.
    pub events: Vec<Event>,
    /// Where it broke: where belief and truth parted, which steps race, and how much it took.
    pub moment: Vec<String>,
    /// The steps of handlers that ran and could have ended a call, and why they did not; empty where nothing is violated.
    pub guards: Vec<Guard>,
    /// What stands over them.
    pub guards_title: &'static str,
    /// What would have stopped it, where somebody looked.
    pub stopping: Option<Stopping>,
    /// The command that looks for what would have stopped it.
    pub search: String,
}

/// What would have stopped a run, each thing tried out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stopping {
    /// Changes of the design with which the property holds, the least invasive first.
    pub remedies: Vec<Remedy>,
    /// What is known beyond them: how many changes were tried, whether the search was cut short.
    pub note: String,
}

/// A change of the design with which the property holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remedy {
    /// What is changed, in words.
    pub changes: Vec<String>,
    /// The same, as a patch of the design.
    pub patch: String,
    /// What then becomes of this very run.
    pub stops: String,
    /// How it is known that no other run breaks the property, and what else the change does.
    pub proof: String,
}

impl Story {
    /// The story of a trace.
    #[must_use]
    pub fn of(trace: &Trace) -> Self {
        let sequence = Sequence::of(trace);
        // Stories leave out of contents what pictures leave out.
        let (shown, _) = without_unchanging(trace);
        let calls = Calls::of(&shown);
        let violated = trace.shows.is_none();
        // Where nothing went wrong there is no pair of steps to blame.
        let race = violated.then(|| race::race(&shown, &calls)).flatten();
        let parting = parting(trace, &sequence);
        let rounds = if violated { looping::looping(trace, &calls) } else { Vec::new() };
        let race = race.filter(|_| rounds.is_empty());
        Self {
            title: format!("{}: {}", sequence.title, sequence.scenario),
            setting: setting::setting(trace, &sequence),
            wants: setting::wants(trace),
            verdict: sequence.band.verdict.clone(),
            sentence: [Some(sequence.band.sentence.clone()), words::assertion(trace)]
                .into_iter()
                .flatten()
                .collect::<Vec<_>>()
                .join(" "),
            violated,
            events: events::events(&shown, &sequence, &calls),
            moment: [parting, race].into_iter().flatten().chain(rounds).chain(closing(trace)).collect(),
            guards: if violated { guards::guards(&shown, &calls) } else { Vec::new() },
            guards_title: match trace.loops_from {
                Some(_) => "What each guard did in these rounds",
                None => "Why no guard stopped it",
            },
            stopping: None,
            search: search::search(trace),
        }
    }

    /// The same story, with what would have stopped the run.
    #[must_use]
    pub fn stopped_by(mut self, stopping: Stopping) -> Self {
        self.stopping = Some(stopping);
        self
    }
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
fn closing(trace: &Trace) -> Option<String> {
    // Where nothing happens, it took nothing.
    trace.steps.first()?;
    let faults: Vec<String> = trace
        .steps
        .iter()
        .enumerate()
        .filter(|(_, step)| step.does.fault)
        .map(|(index, step)| format!("{} at step {}", step.does.action, index + 1))
        .collect();
    let deploys = trace.steps.iter().any(|step| step.does.action == "deploy");
    Some(match &faults[..] {
        [] if deploys => "No fault was needed: it was enough that nodes change over, and ordinary timing.".to_owned(),
        [] => "No fault was needed: ordinary timing is enough.".to_owned(),
        [one] => format!("It took one fault: {one}."),
        many => format!("It took {} faults: {}.", many.len(), words::list(many)),
    })
}
