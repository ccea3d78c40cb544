//! Where answers go: the tables of replies (sections 3 and 5).

use handlecheck::model::design::{LostReply, Replies};

use super::judge;
use super::server::{Seat, abandon, call_at, seats};
use super::state::{Call, Handling, NodeId, Place, Reply, Request, State};
use super::world::World;

/// Under `replies = "by-request-id"` a call that arrives (and was taken from its seat) takes over the entry of a call with an
/// equal id in the reply table of its node. Ids of different clients may be equal; those of one client are, where a
/// re-issue keeps its id. What leads to the same stream has the same id. Where the new call is an orphan, its stream is
/// closed.
pub fn enter_reply_table(world: &mut World<'_>, seat: Seat, request: &Request, node: NodeId) -> Reply {
    if world.model.design.server.replies != Replies::ByRequestId {
        return Reply::OwnStream;
    }
    let who = judge::principal(world.model, request.agent);
    let anothers = |call: &Call| call.node() == Some(node) && judge::principal(world.model, call.request.agent) != who;
    let there = |call: &Call| matches!(call.place, Place::AtNode(_)) && anothers(call);
    if world.state.open_calls().chain(&world.state.orphans).any(there) {
        world.witnessed(judge::NO_CROSS_PRINCIPAL);
    }
    let (mut equal, mut perhaps) = (Vec::new(), Vec::new());
    for other in seats(&world.state) {
        let Some(Call { request: of, place: Place::AtNode(handling), .. }) = call_at(&world.state, other) else {
            continue;
        };
        if let Seat::Rest(_) = other {
            continue;
        }
        let like_the_last = matches!(other, Seat::Orphan(index)
            if index > 0 && world.state.orphans[index - 1] == world.state.orphans[index]);
        if handling.node == node && of.agent == request.agent && of.issue.is_some() && of.issue == request.issue {
            equal.push(other);
        } else if handling.node == node && of.agent != request.agent && !like_the_last {
            perhaps.extend(Some(other).filter(|_| !matches!(handling.reply, Reply::StreamOf(_))));
        }
    }
    if let Some(index) = world.dice.roll(perhaps.len() + 1).checked_sub(1) {
        equal.push(perhaps[index]);
    }
    let goes_to = |state: &State, of: Seat| match (call_at(state, of).map(|call| &call.place), of) {
        (Some(Place::AtNode(handling)), _) if handling.node != node => None,
        (Some(Place::AtNode(Handling { reply: Reply::OwnStream, .. })), Seat::Open(agent)) => Some(agent),
        (Some(Place::AtNode(Handling { reply: Reply::StreamOf(agent), .. })), _) => Some(*agent),
        _ => None,
    };
    let streams: Vec<usize> = equal.iter().filter_map(|of| goes_to(&world.state, *of)).collect();
    let follows: Vec<Seat> = seats(&world.state)
        .into_iter()
        .filter(|of| equal.contains(of) || goes_to(&world.state, *of).is_some_and(|stream| streams.contains(&stream)))
        .collect();
    let (theirs, own) = match seat {
        Seat::Open(agent) => (Reply::StreamOf(agent), Reply::OwnStream),
        Seat::Orphan(_) | Seat::Rest(_) => (Reply::Nowhere, Reply::Nowhere),
    };
    redirect(&mut world.state, theirs, &mut |of| follows.contains(&of));
    own
}

/// The answers of these calls at a node will go there.
fn redirect(state: &mut State, reply: Reply, which: &mut dyn FnMut(Seat) -> bool) {
    for seat in seats(state) {
        let call = match seat {
            Seat::Open(agent) => state.agents[agent].call.as_mut(),
            Seat::Orphan(index) => state.orphans.get_mut(index),
            Seat::Rest(_) => continue,
        };
        if let Some(Call { place: Place::AtNode(handling), .. }) = call
            && which(seat)
        {
            handling.reply = reply;
        }
    }
}

/// The stream of an agent's call is closed, or has carried its answer: no other answer reaches it.
pub fn forget_stream(state: &mut State, agent: usize) {
    let waiting = |state: &State, seat: Seat| match call_at(state, seat).map(|call| &call.place) {
        Some(Place::AtNode(handling)) => handling.reply == Reply::StreamOf(agent),
        _ => false,
    };
    let to_it: Vec<Seat> = seats(state).into_iter().filter(|seat| waiting(state, *seat)).collect();
    redirect(state, Reply::Nowhere, &mut |seat| to_it.contains(&seat));
}

/// Sends the answer of a call that has run through the stream that the reply table names.
pub fn send_answer(world: &mut World<'_>, seat: Seat, call: &mut Call, reply: Reply) {
    let Place::Answered(node, answer) = &call.place else { return };
    let (node, mut answer) = (*node, answer.clone());
    // The default receiver is the first agent; it may be the one who asked.
    let reply = match (reply, world.model.design.server.lost_reply) {
        (Reply::Lost, LostReply::FirstAgent) if seat == Seat::Open(0) => Reply::OwnStream,
        (Reply::Lost, LostReply::FirstAgent) => Reply::StreamOf(0),
        _ => reply,
    };
    match (reply, seat) {
        (Reply::OwnStream, Seat::Open(agent)) => return forget_stream(&mut world.state, agent),
        (Reply::OwnStream, Seat::Orphan(_) | Seat::Rest(_)) => return,
        (Reply::Nowhere | Reply::Lost, _) => {}
        (Reply::StreamOf(agent), _) => {
            let waits = |call: &mut Call| !matches!(call.place, Place::Answered(..));
            if let Some(waiting) = world.state.agents[agent].call.take_if(waits) {
                let request = waiting.request.clone();
                let asker = judge::principal(world.model, call.request.agent);
                if judge::principal(world.model, agent) != asker {
                    answer.of = Some(asker.clone());
                }
                let new = waiting.new;
                world.state.agents[agent].call = Some(Call { request, place: Place::Answered(node, answer), new });
                forget_stream(&mut world.state, agent);
                abandon(world.model, &mut world.state, waiting);
            }
        }
    }
    call.place = Place::Unanswered(node);
}
