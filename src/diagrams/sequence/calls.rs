//! What became of each call of a trace, and which calls a picture may fold.

use crate::trace::{AnswerNote, CallNote, Commit, Does, Reaches, Step, Trace};

/// A call, followed through the trace. Steps are indices, from 0.
#[derive(Debug)]
pub struct Followed<'t> {
    /// Its name: `A-2`.
    pub request: String,
    /// Whose it is.
    pub agent: &'t str,
    /// What its request says.
    pub note: Option<&'t CallNote>,
    /// Where it was delivered.
    pub node: Option<&'t str>,
    /// The steps that are about it.
    pub steps: Vec<usize>,
    /// Where it was sent; none for a copy that a fault made.
    pub sent: Option<usize>,
    /// Where it was delivered first.
    pub delivered: Option<usize>,
    /// Where it came to a node.
    pub arrives: Vec<usize>,
    /// Where it left a node that restarted.
    pub leaves: Vec<usize>,
    /// Where its transactions ran.
    pub executed: Vec<usize>,
    /// Where it ended, and how.
    pub answered: Option<(usize, &'t AnswerNote)>,
    /// What comes out of its stream, from where on: its own answer, or another's.
    pub hears: Option<(usize, &'t AnswerNote)>,
    /// The request whose answer that is, where it is another.
    pub hears_of: Option<String>,
    /// Where something was received from its stream.
    pub received: Option<usize>,
    /// Where its stream broke for good: a fault struck it, or its node restarted.
    pub broken: Option<usize>,
    /// Where a change of it was accepted.
    pub committed: Option<(usize, &'t Commit)>,
    /// A picture may show it in one row.
    pub folds: bool,
}

/// Every call of a trace.
#[derive(Debug)]
pub struct Calls<'t> {
    all: Vec<Followed<'t>>,
    of_step: Vec<Option<usize>>,
}

impl<'t> Calls<'t> {
    /// Follows the calls of a trace.
    #[must_use]
    pub fn of(trace: &'t Trace) -> Self {
        let mut calls = Self { all: Vec::new(), of_step: Vec::new() };
        for (index, step) in trace.steps.iter().enumerate() {
            let call = calls.find(&step.does);
            calls.of_step.push(call);
            if let Some(call) = call {
                calls.all[call].note(index, step);
                calls.astray(call, index, step);
            }
            if step.does.action == "restart-node" || step.does.restarts {
                calls.restart(index, step);
            }
        }
        calls.mark_folds(trace);
        calls
    }

    /// The call that a step is about; no call starts with a step that is not about one.
    fn find(&mut self, does: &'t Does) -> Option<usize> {
        let about_a_call =
            matches!(does.action.as_str(), "send" | "deliver" | "execute" | "receive" | "cancel" | "resume");
        if does.action == "send" {
            return Some(self.begin(does, false));
        }
        if let Some(request) = &does.request {
            let known = self.all.iter().rposition(|call| call.request == *request);
            return known.or_else(|| about_a_call.then(|| self.begin(does, does.orphan)));
        }
        if !about_a_call && does.action != "drop-stream" {
            return None;
        }
        let agent = does.agent.as_deref()?;
        self.all.iter().rposition(|call| call.agent == agent && call.received.is_none() && call.broken.is_none())
    }

    fn begin(&mut self, does: &'t Does, orphan: bool) -> usize {
        let agent = does.agent.as_deref().unwrap_or_default();
        let count = self.all.iter().filter(|call| call.agent == agent).count();
        self.all.push(Followed {
            request: does.request.clone().unwrap_or_else(|| format!("{agent}-{}", count + 1)),
            agent,
            note: None,
            node: None,
            steps: Vec::new(),
            sent: None,
            delivered: None,
            arrives: Vec::new(),
            leaves: Vec::new(),
            executed: Vec::new(),
            answered: None,
            hears: None,
            hears_of: None,
            received: None,
            broken: orphan.then_some(self.of_step.len()),
            committed: None,
            folds: false,
        });
        self.all.len() - 1
    }

    /// An answer that comes out of the stream of another call.
    fn astray(&mut self, call: usize, index: usize, step: &'t Step) {
        let Some(answer) = &step.answer else { return };
        let Reaches::StreamOf(taker) = &answer.reaches else { return };
        let of = self.all[call].request.clone();
        if let Some(taker) = self.all.iter_mut().rfind(|call| call.request == *taker) {
            taker.hears = Some((index, answer));
            taker.hears_of = Some(of);
        }
    }

    /// A node that restarts loses every call in it, answered ones too, and their streams break; but for those that are kept
    /// somewhere else.
    fn restart(&mut self, index: usize, step: &'t Step) {
        let node = step.does.node.as_deref();
        let there = |call: &&mut Followed<'_>| node.is_some() && call.node == node && call.received.is_none();
        for call in self.all.iter_mut().filter(there) {
            if call.arrives.len() > call.leaves.len() {
                call.leaves.push(index);
            }
            let name = format!("{} ", call.request);
            let became = step.changes.iter().find(|change| change.before.starts_with(&name));
            // A step that tells what it changed would tell of a call that it lost.
            let kept = became.map_or(!step.changes.is_empty(), |change| change.after.starts_with(&name));
            if !kept {
                call.broken = call.broken.or(Some(index));
            }
        }
    }

    /// Folds what may be folded: starting with every call that looks like it, and giving up those during which something
    /// else happens, until nothing changes.
    fn mark_folds(&mut self, trace: &Trace) {
        let last = trace.steps.len().saturating_sub(1);
        for call in &mut self.all {
            call.folds = call.looks_foldable(trace, last);
        }
        loop {
            let interrupted = |call: &Followed<'_>| {
                let (Some(first), Some(last)) = (call.steps.first(), call.steps.last()) else { return true };
                (*first..=*last).any(|step| !self.call_of(step).is_some_and(|call| call.folds))
            };
            let Some(index) = self.all.iter().position(|call| call.folds && interrupted(call)) else { return };
            self.all[index].folds = false;
        }
    }

    /// The call that a step is about.
    #[must_use]
    pub fn call_of(&self, step: usize) -> Option<&Followed<'t>> {
        self.of_step.get(step).copied().flatten().map(|index| &self.all[index])
    }

    /// The call for which an agent waits after a step.
    #[must_use]
    pub fn awaited_by(&self, agent: &str, step: usize) -> Option<&Followed<'t>> {
        let open = |call: &&Followed<'_>| {
            let over = |at: Option<usize>| at.is_some_and(|at| at <= step);
            call.agent == agent && over(call.sent) && !over(call.received) && !over(call.broken)
        };
        self.all.iter().rev().find(open)
    }

    /// The call that a request repeats, or plans anew: the last one before it of the same agent for the same work.
    #[must_use]
    pub fn earlier(&self, call: &Followed<'_>) -> Option<&Followed<'t>> {
        let (note, sent) = (call.note?, call.sent?);
        let same = |other: &&Followed<'_>| {
            let alike = other.note.is_some_and(|other| other.entry == note.entry && other.tool == note.tool);
            other.agent == call.agent && alike && other.sent.is_some_and(|other| other < sent)
        };
        self.all.iter().rev().find(same)
    }

    /// Every call, in the order of their first steps.
    #[must_use]
    pub fn all(&self) -> &[Followed<'t>] {
        &self.all
    }
}

impl<'t> Followed<'t> {
    /// Takes down a step about this call.
    fn note(&mut self, index: usize, step: &'t Step) {
        self.steps.push(index);
        self.note = self.note.or(step.call.as_ref());
        match step.does.action.as_str() {
            "send" => self.sent = Some(index),
            "deliver" => {
                self.delivered = self.delivered.or(Some(index));
                self.arrives.push(index);
                self.node = step.does.node.as_deref();
            }
            "execute" => {
                self.executed.push(index);
                self.node = self.node.or(step.does.node.as_deref());
                // What comes of a handler that has answered, nobody hears.
                let late = |answer: &AnswerNote| self.answered.is_some() && answer.reaches == Reaches::Nobody;
                if let Some(answer) = step.answer.as_ref().filter(|answer| !late(answer)) {
                    self.answered = Some((index, answer));
                    if answer.reaches.is_caller() {
                        self.hears = self.answered;
                    }
                }
                if let Some(commit) = step.commits.first() {
                    self.committed = Some((index, commit));
                }
            }
            "receive" => {
                self.received = Some(index);
                self.broken = None;
                if let Some(answer) = &step.answer {
                    let hears = (self.hears.map_or(index, |hears| hears.0), answer);
                    self.hears = Some(hears);
                    self.answered = if self.hears_of.is_none() { Some(hears) } else { self.answered };
                }
            }
            "resume" => self.broken = None,
            "drop-stream" => self.broken = Some(index),
            _ => {}
        }
        if step.does.orphan {
            self.broken = self.broken.or(Some(index));
        }
    }

    /// Whether it is orphaned by a step: nobody hears its answer any more.
    #[must_use]
    pub fn orphaned(&self, step: usize) -> bool {
        self.broken.is_some_and(|broken| broken <= step)
    }

    /// Whether it is at its node, not answered yet or still at work, after a step.
    #[must_use]
    pub fn busy(&self, step: usize) -> bool {
        let at_work = self.executed.last().is_some_and(|last| *last > step);
        let over = self.answered.map(|answered| answered.0).is_some_and(|at| at <= step) && !at_work;
        let times = |steps: &[usize]| steps.iter().filter(|at| **at <= step).count();
        times(&self.arrives) > times(&self.leaves) && !over
    }

    /// Whether it went through all its four stages, was answered `ok`, and changed nothing. The last step of a trace is
    /// never folded, since it shows the violation.
    fn looks_foldable(&self, trace: &Trace, last: usize) -> bool {
        let whole =
            self.sent.is_some() && self.delivered.is_some() && !self.executed.is_empty() && self.received.is_some();
        let fine = self.answered.is_some_and(|(_, answer)| {
            answer.outcome == "ok" && !answer.replayed && answer.reaches.is_caller() && self.hears_of.is_none()
        });
        let quiet = self.steps.iter().all(|index| {
            let step = &trace.steps[*index];
            let plain = matches!(step.does.action.as_str(), "send" | "deliver" | "execute" | "receive");
            plain && step.commits.is_empty() && step.told.is_empty() && step.notes.is_empty() && !writes(step)
        });
        whole && fine && quiet && self.broken.is_none() && self.steps.last() != Some(&last)
    }
}

/// Whether a transaction left something behind, such as a lease or a key.
fn writes(step: &Step) -> bool {
    step.transaction.as_ref().is_some_and(|transaction| transaction.writes)
}
