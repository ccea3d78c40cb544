//! Calls at nodes: delivery, execution, queues, and what becomes of a call for which nobody waits any more.

use super::{Luck, Programs, Ran, replies, settle};
use crate::engine::Access;
use crate::model::Outcome;
use crate::model::design::{Calls, Identity, OnCancel};
use crate::world::{Answer, Call, CallRef, Component, Fact, Position, Progress, Reply, Request, Setting};

/// What the execution of one transaction did.
#[derive(Debug, Default)]
pub struct Executed {
    /// What happened, for the invariants.
    pub facts: Vec<Fact>,
    /// The transaction came to its end, and wrote something.
    pub committed: bool,
    /// It asked a coarse clock for a version.
    pub asked_clock: bool,
    /// It read from a copy that lags behind.
    pub asked_copy: bool,
    /// How the call ended, if it did: its answer, and the name of the step that ended it early.
    pub answered: Option<(Answer, Option<&'static str>)>,
    /// Its answer is decided by this step, and `at-end` transactions are left.
    pub decided: Option<(Answer, &'static str)>,
}

impl Executed {
    /// The same, with more facts.
    fn with(mut self, facts: Vec<Fact>) -> Self {
        self.facts.extend(facts);
        self
    }
}

/// The call that an action is about.
pub fn call_at<'c>(setting: &Setting, access: &'c Access<'_, Component>, at: CallRef) -> &'c Call {
    let agent = usize::from(at.agent);
    match at.orphan {
        Some(index) => &access.get(setting.orphans_slot(agent)).orphans()[usize::from(index)],
        None => {
            let open = access.get(setting.call_slot(agent)).call();
            open.as_ref().expect("an action names a call that is there")
        }
    }
}

/// Replaces a call; `None` removes it.
pub fn set_call(setting: &Setting, access: &mut Access<'_, Component>, at: CallRef, call: Option<Call>) {
    let agent = usize::from(at.agent);
    let Some(index) = at.orphan else {
        access.set(setting.call_slot(agent), call.into());
        return;
    };
    let slot = setting.orphans_slot(agent);
    let mut orphans = access.get(slot).orphans().clone();
    orphans.remove(usize::from(index));
    orphans.extend(call);
    orphans.sort();
    access.set(slot, Component::Orphans(orphans));
}

/// Puts a call back that was removed.
fn add_call(setting: &Setting, access: &mut Access<'_, Component>, at: CallRef, call: Option<Call>) {
    match call {
        Some(call) if at.orphan.is_some() => add_orphan(setting, access, call),
        None if at.orphan.is_some() => {}
        call => access.set(setting.call_slot(usize::from(at.agent)), call.into()),
    }
}

/// One more call for which nobody waits.
fn add_orphan(setting: &Setting, access: &mut Access<'_, Component>, call: Call) {
    let slot = setting.orphans_slot(usize::from(call.request.agent));
    let mut orphans = access.get(slot).orphans().clone();
    orphans.push(call);
    orphans.sort();
    access.set(slot, Component::Orphans(orphans));
}

/// Puts a call back in its place, or ends it there. What was promised of it is judged when it ends.
fn put_or_end(
    setting: &Setting,
    access: &mut Access<'_, Component>,
    at: CallRef,
    call: Call,
    lives: bool,
) -> Vec<Fact> {
    if lives {
        set_call(setting, access, at, Some(call));
        return Vec::new();
    }
    leave_queue(setting, access, &call);
    set_call(setting, access, at, None);
    let Request { agent, entry, .. } = &call.request;
    if call.has_answered() { settle(setting, access, *agent, *entry) } else { Vec::new() }
}

/// Whether a node runs what is deployed.
pub(super) fn is_deployed(setting: &Setting, access: &Access<'_, Component>, node: u8) -> bool {
    setting.deployed_slot().is_some_and(|slot| access.get(slot).deployed()[usize::from(node)])
}

impl Programs {
    /// Brings a request to a node. `takes_from`: its request id equals that of this call there, whose entry in the node's
    /// reply table it takes over. Answers what happened.
    pub fn deliver(
        &self,
        setting: &Setting,
        access: &mut Access<'_, Component>,
        at: CallRef,
        node: u8,
        takes_from: Option<CallRef>,
    ) -> Vec<Fact> {
        let mut facts = Vec::new();
        let mut call = call_at(setting, access, at).clone();
        // What goes on where it was does so as it began.
        let goes_on = setting.model.design.server.calls == Calls::Resumed;
        if !(goes_on && matches!(call.position, Position::Interrupted { .. })) {
            call.deployed = is_deployed(setting, access, node);
        }
        let enters = setting.replies_by_request_id();
        if enters {
            // What becomes of other calls may move it among the orphans.
            set_call(setting, access, at, None);
        }
        let mut progress = match call.position {
            Position::Interrupted { progress } => progress,
            _ if enters => {
                facts.extend(
                    replies::meets_other(setting, access, call.request.agent, node).then_some(Fact::SharedWithOther),
                );
                let reply = replies::enter(setting, access, at, call.request.issue, node, takes_from);
                Progress { reply, ..Progress::start(call.request.handle) }
            }
            _ => Progress::start(call.request.handle),
        };
        if let Some((slot, place)) = setting.route(&call.request) {
            let mut routes = access.get(slot).route().clone();
            routes.resize(routes.len().max(place + 1), None);
            routes[place] = Some(node);
            access.set(slot, Component::Route(routes));
        }
        let late = setting.of(call.deployed).model.design.server.identity == Identity::NodeMemory;
        if let Some(slot) = setting.memory_slot(node).filter(|_| late) {
            let mut memory = access.get(slot).memory().clone();
            memory.identity = Some((call.request.agent, call.request.credential));
            access.set(slot, memory.into());
        }
        if let (Some(handle), Some(slot)) = (call.request.handle, setting.queue_slot(usize::from(call.request.about())))
        {
            let mut queue = access.get(slot).queue().clone();
            progress.ticket = Some(queue.join(handle.instance));
            access.set(slot, queue.into());
        }
        call.position = Position::AtNode { node, progress };
        let lives = at.orphan.is_none() || self.can_change(setting, &call);
        if !lives {
            leave_queue(setting, access, &call);
        }
        let put = if enters { add_call } else { set_call };
        put(setting, access, at, lives.then_some(call));
        facts
    }

    /// Whether a call at a node may run its next transaction: it is the first in the queue of its handle, if there is one.
    #[must_use]
    pub fn may_run(&self, setting: &Setting, access: &Access<'_, Component>, call: &Call) -> bool {
        let Position::AtNode { progress, .. } = &call.position else { return false };
        let queue = setting.queue_slot(usize::from(call.request.about()));
        match (queue, progress.ticket, call.request.handle) {
            (Some(slot), Some(ticket), Some(handle)) => access.get(slot).queue().is_first(handle.instance, ticket),
            _ => true,
        }
    }

    /// Tries the next transaction of a call, and leaves the state as it is; `None`: there is no such call at a node, or it
    /// has to wait for its turn.
    #[must_use]
    pub fn try_execute(
        &self,
        setting: &Setting,
        access: &Access<'_, Component>,
        at: CallRef,
        luck: Luck,
    ) -> Option<Executed> {
        let call = match at.orphan {
            Some(index) => access.get(setting.orphans_slot(usize::from(at.agent))).orphans().get(usize::from(index)),
            None => access.get(setting.call_slot(usize::from(at.agent))).call().as_ref(),
        };
        let arrives = |call: &Call| setting.routes_late && call.position == Position::InTransit;
        let runs = call.is_some_and(|call| arrives(call) || self.may_run(setting, access, call));
        runs.then(|| self.execute(setting, &mut access.trial(), at, luck))
    }

    /// Executes the next transaction of a call.
    pub fn execute(&self, setting: &Setting, access: &mut Access<'_, Component>, at: CallRef, luck: Luck) -> Executed {
        let mut call = call_at(setting, access, at).clone();
        let (node, progress) = match call.position {
            Position::AtNode { node, progress } => (node, progress),
            // It arrives now, at any node: it does not matter at which.
            Position::InTransit if setting.routes_late => (0, Progress::start(call.request.handle)),
            _ => unreachable!("only a call at a node executes"),
        };
        let (ticket, reply, had_answered) = (progress.ticket, progress.reply, progress.answered);
        let start = Progress::start(None);
        // What became of the call is put back in its place.
        call.position = Position::InTransit;
        let program = self.of(&call);
        let own = setting.of(call.deployed);
        let execution = program.execute(own, access, &call.request, node, progress, luck);
        let super::program::Execution { ran, facts, step, committed, asked_clock, asked_copy } = execution;
        let executed = Executed { facts, committed, asked_clock, asked_copy, ..Executed::default() };
        let (answer, rest) = match ran {
            Ran::Goes(progress) if progress.answered && !had_answered => {
                let answer = progress.answer.clone();
                // No entry of a table leads to it any more.
                (answer, Some(Progress { reply: Reply::Own, ..progress }))
            }
            Ran::Goes(progress) => {
                let decided = step.map(|step| (progress.answer.clone(), step.name));
                call.position = Position::AtNode { node, progress };
                let lives = at.orphan.is_none() || self.can_change(setting, &call);
                let kept = put_or_end(setting, access, at, call, lives);
                return Executed { decided, ..executed.with(kept) };
            }
            // Nobody hears what becomes of it.
            Ran::Answered(answer) if had_answered => {
                call.position = Position::AtNode { node, progress: Progress { ticket, answered: true, ..start } };
                let kept = put_or_end(setting, access, at, call, false);
                let answered = step.map(|step| (answer, Some(step.name)));
                return Executed { answered, ..executed.with(kept) };
            }
            Ran::Answered(answer) => (answer, None),
        };
        let rest = rest.map(|progress| Call { position: Position::AtNode { node, progress }, ..call.clone() });
        let rest = rest.filter(|rest| self.can_change(setting, rest));
        if rest.is_none() {
            call.position = Position::AtNode { node, progress: Progress { ticket, ..start } };
            leave_queue(setting, access, &call);
        }
        let stream = replies::stream_of(setting, at, reply);
        let own = call.request.agent;
        call.position = if at.orphan.is_none() && stream == Some(own) {
            replies::close_stream(setting, access, own);
            Position::Answered { node, answer: answer.clone() }
        } else {
            Position::Unanswered { node }
        };
        let unanswered = matches!(call.position, Position::Unanswered { .. });
        set_call(setting, access, at, at.orphan.is_none().then_some(call));
        if let Some(rest) = rest {
            add_orphan(setting, access, Call { broken: false, ..rest });
        }
        if let Some(taker) = stream.filter(|_| unanswered) {
            let [of, receives] = [own, taker].map(|agent| setting.principal(usize::from(agent)));
            let of = Some(of).filter(|of| *of != receives);
            self.misdeliver(setting, access, (taker, node), Answer { of, ..answer.clone() });
        }
        Executed { answered: Some((answer, step.map(|step| step.name))), ..executed }
    }

    /// The server stops a call whose stream is closed. Where it cleans up then, its `at-end` transactions are left of it.
    pub fn cancel(&self, setting: &Setting, access: &mut Access<'_, Component>, at: CallRef) {
        let mut call = call_at(setting, access, at).clone();
        let cleans_up = setting.of(call.deployed).model.design.server.on_cancel == OnCancel::AtEnd;
        if let Position::AtNode { node, progress } = call.position.clone()
            && cleans_up
            && self.of(&call).has_end()
            && self.of(&call).is_between(&progress)
        {
            // Those that it has run stay as they are: the list is run from where it is.
            let next = if progress.ending { progress.next } else { 0 };
            let about = progress.answer.handle.or(call.request.handle);
            let answer = Answer { outcome: Outcome::Unknown, ..Answer::about(about) };
            let reply = Reply::Own;
            let mut left = Progress { next, ending: true, answer, reply, answered: true, ..progress };
            left.end_work();
            call.position = Position::AtNode { node, progress: left };
            if self.can_change(setting, &call) {
                return set_call(setting, access, at, Some(call));
            }
        }
        leave_queue(setting, access, &call);
        set_call(setting, access, at, None);
    }

    /// The answer from a node comes out of the stream of another call, that of this agent, if it still waits. That call itself
    /// may run on, and its own answer finds no stream.
    fn misdeliver(
        &self,
        setting: &Setting,
        access: &mut Access<'_, Component>,
        (taker, node): (u8, u8),
        answer: Answer,
    ) {
        let slot = setting.call_slot(usize::from(taker));
        let Some(waiting) = access.get(slot).call().clone() else { return };
        if !matches!(waiting.position, Position::Answered { .. }) {
            let answered = Call { position: Position::Answered { node, answer }, ..waiting.clone() };
            access.set(slot, Some(answered).into());
            replies::close_stream(setting, access, taker);
            self.abandon(setting, access, waiting);
        }
    }

    /// Nobody waits for this call any more: it becomes an orphan, if it can still change anything.
    pub fn abandon(&self, setting: &Setting, access: &mut Access<'_, Component>, mut call: Call) {
        call.broken = false;
        replies::stop_waiting(setting, &mut call);
        if matches!(call.position, Position::Answered { .. } | Position::Unanswered { .. }) {
            return;
        }
        if self.can_change(setting, &call) {
            add_orphan(setting, access, call);
        } else {
            leave_queue(setting, access, &call);
        }
    }
}

/// A call that is over frees its place in the queue.
pub fn leave_queue(setting: &Setting, access: &mut Access<'_, Component>, call: &Call) {
    let Position::AtNode { progress, .. } = &call.position else { return };
    let slot = setting.queue_slot(usize::from(call.request.about()));
    let (Some(ticket), Some(handle), Some(slot)) = (progress.ticket, call.request.handle, slot) else { return };
    let mut queue = access.get(slot).queue().clone();
    queue.leave(handle.instance, ticket);
    access.set(slot, queue.into());
}
