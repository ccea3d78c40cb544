//! Reply tables: out of whose stream the answer of a call comes.
//!
//! With `replies = "by-request-id"` a node keeps one table from request ids to response streams. A call that arrives enters
//! it, and takes over the entry of any call there with an equal id: one of another client, whose ids may be equal, or one of
//! its own agent, where a call that is issued again keeps its id. All calls whose answers lead to one entry follow it.

use super::{call_at, set_call};
use crate::engine::Access;
use crate::model::design::LostReply;
use crate::world::{Call, CallRef, Component, Position, Reply, Setting};

/// The agent to which answers go that have no address, where there is a default one: the first of the scenario.
const DEFAULT_RECEIVER: u8 = 0;

/// The calls of other agents at a node, each of another entry, whose request ids may equal that of a call that arrives
/// there.
pub fn equal_ids(setting: &Setting, access: &Access<'_, Component>, at: CallRef, node: u8) -> Vec<CallRef> {
    // A call that is taken up again is no new request: nothing is entered for it.
    let arrives = call_at(setting, access, at).position == Position::InTransit;
    if !setting.replies_by_request_id() || !arrives {
        return Vec::new();
    }
    let leads = |other: &CallRef| {
        let call = call_at(setting, access, *other);
        // Equal orphans have equal futures: one of them stands for all.
        let before =
            other.orphan.and_then(|index| index.checked_sub(1)).map(|index| CallRef { orphan: Some(index), ..*other });
        let again = before.is_some_and(|before| call_at(setting, access, before) == call);
        other.agent != at.agent
            && !again
            && reply_at(call, node).is_some_and(|reply| !matches!(reply, Reply::StreamOf(_)))
    };
    calls(setting, access).into_iter().filter(leads).collect()
}

/// A call that was taken out of the state enters the table of a node. It takes over the entry of this call, and of those of
/// its own agent that are the same issue. Answers where its own entry leads.
pub(super) fn enter(
    setting: &Setting,
    access: &mut Access<'_, Component>,
    at: CallRef,
    issue: Option<u16>,
    node: u8,
    takes_from: Option<CallRef>,
) -> Reply {
    let all = calls(setting, access);
    let issued_before = |other: &CallRef| {
        let call = call_at(setting, access, *other);
        other.agent == at.agent && issue.is_some() && call.request.issue == issue
    };
    let taken: Vec<CallRef> = all.iter().copied().filter(issued_before).chain(takes_from).collect();
    let (reply, own) = match at.orphan {
        None => (Reply::StreamOf(at.agent), Reply::Own),
        Some(_) => (Reply::Nowhere, Reply::Nowhere),
    };
    // The streams to which those entries lead, and the calls that lead to none but have one of the ids.
    let streams: Vec<u8> =
        taken.iter().filter_map(|taken| leads_to(call_at(setting, access, *taken), *taken, node)).collect();
    let follows = |other: CallRef, call: &Call| {
        reply_at(call, node).is_some()
            && (taken.contains(&other) || leads_to(call, other, node).is_some_and(|stream| streams.contains(&stream)))
    };
    redirect(setting, access, reply, &follows);
    own
}

/// Whether a call of another principal than this agent's is at a node.
pub(super) fn meets_other(setting: &Setting, access: &Access<'_, Component>, agent: u8, node: u8) -> bool {
    let principal = |agent: u8| setting.principal(usize::from(agent));
    calls(setting, access).into_iter().any(|other| {
        principal(other.agent) != principal(agent) && reply_at(call_at(setting, access, other), node).is_some()
    })
}

/// To whose stream a call at a node leads.
fn leads_to(call: &Call, at: CallRef, node: u8) -> Option<u8> {
    match reply_at(call, node)? {
        Reply::Own => at.orphan.is_none().then_some(at.agent),
        Reply::StreamOf(agent) => Some(agent),
        Reply::Nowhere | Reply::Lost => None,
    }
}

/// The stream out of which the answer of a call comes, by whose it is.
pub(super) fn stream_of(setting: &Setting, at: CallRef, reply: Reply) -> Option<u8> {
    match reply {
        Reply::Own => at.orphan.is_none().then_some(at.agent),
        Reply::StreamOf(agent) => Some(agent),
        Reply::Nowhere => None,
        Reply::Lost => {
            let or_default = setting.model.design.server.lost_reply == LostReply::FirstAgent;
            or_default.then_some(DEFAULT_RECEIVER)
        }
    }
}

/// The stream of an agent's call is closed, or has carried its answer: no other answer comes out of it.
pub fn close_stream(setting: &Setting, access: &mut Access<'_, Component>, agent: u8) {
    if setting.replies_by_request_id() {
        redirect(
            setting,
            access,
            Reply::Nowhere,
            &|_, call| matches!(&call.position, Position::AtNode { progress, .. } if progress.reply == Reply::StreamOf(agent)),
        );
    }
}

/// Nobody waits for this call any more: no answer comes out of its own stream.
pub(super) fn stop_waiting(setting: &Setting, call: &mut Call) {
    if setting.replies_by_request_id()
        && let Position::AtNode { progress, .. } | Position::Interrupted { progress } = &mut call.position
        && progress.reply == Reply::Own
    {
        progress.reply = Reply::Nowhere;
    }
}

/// Where the answer of a call at this node will go; `None`: it is not there, or has answered.
fn reply_at(call: &Call, node: u8) -> Option<Reply> {
    match &call.position {
        Position::AtNode { node: there, progress } if *there == node && !progress.answered => Some(progress.reply),
        _ => None,
    }
}

/// All calls there are.
fn calls(setting: &Setting, access: &Access<'_, Component>) -> Vec<CallRef> {
    let mut all = Vec::new();
    for (agent, id) in (0..setting.agents()).zip(0_u8..) {
        all.extend(access.get(setting.call_slot(agent)).call().is_some().then_some(CallRef::open(id)));
        let orphans = access.get(setting.orphans_slot(agent)).orphans().len();
        all.extend((0..orphans).zip(0_u8..).map(|(_, index)| CallRef { agent: id, orphan: Some(index) }));
    }
    all
}

/// The answers of these calls will go there.
fn redirect(setting: &Setting, access: &mut Access<'_, Component>, to: Reply, which: &dyn Fn(CallRef, &Call) -> bool) {
    let redirected = |at: CallRef, call: &Call| {
        let mut call = call.clone();
        if which(at, &call)
            && let Position::AtNode { progress, .. } = &mut call.position
        {
            progress.reply = to;
        }
        call
    };
    for (agent, id) in (0..setting.agents()).zip(0_u8..) {
        if let Some(call) = access.get(setting.call_slot(agent)).call() {
            let changed = redirected(CallRef::open(id), call);
            if changed != *call {
                set_call(setting, access, CallRef::open(id), Some(changed));
            }
        }
        let orphans = access.get(setting.orphans_slot(agent)).orphans();
        let places = orphans.iter().zip(0_u8..);
        let mut changed: Vec<Call> =
            places.map(|(call, index)| redirected(CallRef { agent: id, orphan: Some(index) }, call)).collect();
        changed.sort();
        if changed != *orphans {
            access.set(setting.orphans_slot(agent), Component::Orphans(changed));
        }
    }
}
