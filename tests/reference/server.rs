//! What the balancer and the nodes do with a call: deliver it, execute one transaction, keep the answer (section 5).

use handlecheck::model::design::{
    Balancer, Calls, Identity, LostReply, OnCancel, Queue, ReadsFrom, Record, Replies, State as StateIn,
};
use handlecheck::model::{Model, Outcome};

use super::judge;
use super::refusals;
use super::rename;
use super::replies;
use super::state::{
    Answer, Bench, Call, Handle, Handling, NodeId, Place, Reply, Request, State, Stored, Target, Token, on_any_side,
    side,
};
use super::steps;
use super::world::World;

/// Whose call: an agent's open one, an orphan, or what is left of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seat {
    Open(usize),
    Orphan(usize),
    /// What is left of a handler that has answered.
    Rest(usize),
}

/// The call on this seat.
pub fn call_at(state: &State, seat: Seat) -> Option<&Call> {
    match seat {
        Seat::Open(agent) => state.agents[agent].call.as_ref(),
        Seat::Orphan(index) => state.orphans.get(index),
        Seat::Rest(index) => state.rests.get(index),
    }
}

/// Takes a call from its seat.
fn take(state: &mut State, seat: Seat) -> Option<Call> {
    match seat {
        Seat::Open(agent) => state.agents[agent].call.take(),
        Seat::Orphan(index) => Some(state.orphans.remove(index)),
        Seat::Rest(index) => Some(state.rests.remove(index)),
    }
}

/// Puts a call back. An orphan that can't change anything any more is gone.
fn put(model: &Model, state: &mut State, seat: Seat, call: Call) {
    match seat {
        Seat::Open(agent) => state.agents[agent].call = Some(call),
        Seat::Orphan(_) => abandon(model, state, call),
        Seat::Rest(_) => state.rests.extend(Some(call).filter(|call| rest_can_still_change(model, call))),
    }
}

/// A call becomes an orphan, or is gone if its remaining transactions change nothing (section 3).
pub fn abandon(model: &Model, state: &mut State, mut call: Call) {
    if let Place::AtNode(handling) | Place::Kept(handling) = &mut call.place
        && model.design.server.replies == Replies::ByRequestId
        && handling.reply == Reply::OwnStream
    {
        handling.reply = Reply::Nowhere;
    }
    if can_still_change(model, &call) {
        state.orphans.push(call);
    }
}

/// A request on its way.
pub fn fresh_call(request: Request) -> Call {
    Call { request, place: Place::Transit, new: false }
}

/// The transactions of a call and, behind them, those of `at-end`; and how many are not of `at-end`.
pub fn transactions(model: &Model, call: &Call) -> (Vec<Vec<&'static str>>, usize) {
    let Some(handler) = model.design.server.handler(call.request.tool) else { return (Vec::new(), 0) };
    (handler.transactions.iter().chain(&handler.at_end).cloned().collect(), handler.transactions.len())
}

/// The same of what is left of a call that was answered: no other answer of it goes anywhere.
fn rest_can_still_change(model: &Model, call: &Call) -> bool {
    let model = side(model, call.new);
    let (all, before_end) = transactions(model, call);
    let (Place::AtNode(handling) | Place::Kept(handling)) = &call.place else { return false };
    let looks = all[..before_end].iter().flatten().any(|step| matches!(*step, "find-key" | "claim-key"));
    let refuses = matches!(call.place, Place::AtNode(_)) && handling.next < before_end;
    let records = model.design.keys.record == Record::EveryOutcome && looks && refuses;
    records || all[handling.next..].iter().flatten().any(|step| writes(model, step))
}

/// Can the remaining transactions of a call change something? Where it begins at whatever node it comes to, on any side.
fn can_still_change(model: &Model, call: &Call) -> bool {
    let again = model.design.server.calls == Calls::Redelivered;
    match &call.place {
        Place::Transit => on_any_side(model, &|side| can_change_here(side, call)),
        Place::Kept(_) if again => on_any_side(model, &|side| can_change_here(side, call)),
        _ => can_change_here(side(model, call.new), call),
    }
}

/// The same as one side says. Derived from what its steps declare that they write.
fn can_change_here(model: &Model, call: &Call) -> bool {
    let (all, before_end) = transactions(model, call);
    let looks = all[..before_end].iter().flatten().any(|step| matches!(*step, "find-key" | "claim-key"));
    let records = model.design.keys.record == Record::EveryOutcome && looks;
    match &call.place {
        Place::Answered(..) | Place::Unanswered(_) => false,
        Place::Transit if records => true,
        Place::AtNode(handling) if records && handling.next < before_end => true,
        _ if answers_stray(model) => true,
        Place::Transit => {
            model.design.server.identity == Identity::NodeMemory || all.iter().flatten().any(|step| writes(model, step))
        }
        Place::AtNode(handling) | Place::Kept(handling) => {
            all[handling.next..].iter().flatten().any(|step| writes(model, step))
        }
    }
}

/// Can the answer of a call for which nobody waits come out of another's stream: by an equal id, or a default address?
fn answers_stray(model: &Model) -> bool {
    let server = &model.design.server;
    let addressed = server.replies != Replies::PerRequest && server.calls != Calls::Memory;
    server.replies == Replies::ByRequestId || addressed && server.lost_reply == LostReply::FirstAgent
}

/// Has the next transaction of a call a step that writes? Those of `at-end` don't count.
pub fn writes_next(model: &Model, call: &Call) -> bool {
    let model = side(model, call.new);
    let (all, before_end) = transactions(model, call);
    match &call.place {
        Place::AtNode(handling) if handling.next < before_end => {
            all[handling.next].iter().any(|step| writes(model, step))
        }
        _ => false,
    }
}

/// What a step declares that it writes: store, keys, leases, presented fences, node memory, upstream.
fn writes(model: &Model, step: &str) -> bool {
    let server = &model.design.server;
    match step {
        "claim-key"
        | "record-key"
        | "release-key"
        | "acquire-lease"
        | "release-lease"
        | "write-content"
        | "advance-version"
        | "save"
        | "apply"
        | "apply-next"
        | "undo"
        | "call-upstream"
        | "call-upstream-with-key"
        | "fill-cache"
        | "fill-cache-if-newer"
        | "drop-cached"
        | "mint" => true,
        "check-fence" => server.fence_seen == handlecheck::model::design::FenceSeen::AtCheck,
        "read" => server.reads_from == ReadsFrom::NodeCache,
        _ => false,
    }
}

/// The nodes to which the balancer may deliver this request.
pub fn routes(model: &Model, state: &State, request: &Request) -> Vec<NodeId> {
    let all = || (0..state.nodes.len()).collect();
    match model.design.server.balancer {
        Balancer::Any => all(),
        Balancer::Sticky => state.sticky.get(&request.agent).map_or_else(all, |node| vec![*node]),
        Balancer::ByHandle => {
            let stored = request.handle.and_then(|handle| state.resources.get(&handle));
            let home = stored.and_then(|stored| stored.node);
            let known = request.handle.and_then(|handle| state.by_handle.get(&handle).copied());
            home.or(known).map_or_else(all, |node| vec![node])
        }
    }
}

/// The action `deliver`.
pub fn deliver(world: &mut World<'_>, seat: Seat, node: NodeId) {
    let model = world.model;
    let Some(mut call) = take(&mut world.state, seat) else { return };
    world.witness_delivery(&call.request, node);
    // One that goes on where it was ends as it began.
    if !(matches!(call.place, Place::Kept(_)) && model.design.server.calls == Calls::Resumed) {
        call.new = world.state.deployed.contains(&node);
    }
    if model.design.server.balancer == Balancer::Sticky {
        world.state.sticky.insert(call.request.agent, node);
    }
    let lives_nowhere = |handle: &Handle| world.state.resources.get(handle).is_some_and(|stored| stored.node.is_none());
    if let Some(handle) = call.request.handle.filter(lives_nowhere)
        && model.design.server.balancer == Balancer::ByHandle
    {
        world.state.by_handle.insert(handle, node);
    }
    if side(model, call.new).design.server.identity == Identity::NodeMemory {
        world.state.nodes[node].identity = Some((call.request.agent, call.request.credential));
    }
    let queue = model.design.server.queue == Queue::PerHandle;
    let queued = call.request.handle.filter(|_| queue).map(|handle| rename::fresh_turn(&world.state, handle));
    if let Place::Kept(handling) = call.place {
        call.place = Place::AtNode(Handling { node, queued, ..handling });
    } else {
        call.place = Place::AtNode(Handling { queued, ..untouched(&call.request, node) });
        let of_call = replies::enter_reply_table(world, seat, &call.request, node);
        if let Place::AtNode(handling) = &mut call.place {
            handling.reply = of_call;
        }
    }
    put(model, &mut world.state, seat, call);
}

/// A handler that has not done anything yet.
fn untouched(request: &Request, node: NodeId) -> Handling {
    Handling {
        node,
        next: 0,
        ended: None,
        answer: Answer::ok(request.handle),
        bench: Bench::default(),
        other_bench: Bench::default(),
        turned: false,
        claim: None,
        queued: None,
        reply: Reply::OwnStream,
        answers: false,
    }
}

/// What a call is after its node restarted, where calls outlive their nodes: one that is redelivered starts again, unless
/// its answer was received or went elsewhere; one that is resumed goes on, and when answered it stays so. The node's
/// table of replies is gone, and so are claims in its memory.
pub fn outlived(model: &Model, mut call: Call) -> Call {
    let server = &model.design.server;
    let mut handling = match (&call.place, server.calls) {
        (Place::AtNode(handling), Calls::Resumed) => handling.clone(),
        (Place::AtNode(_) | Place::Answered(..), Calls::Redelivered) => {
            call.new = false;
            untouched(&call.request, 0)
        }
        _ => return call,
    };
    (handling.node, handling.queued) = (0, None);
    handling.claim = handling.claim.filter(|((node, _), _)| node.is_none());
    if server.replies != Replies::PerRequest {
        handling.reply = Reply::Lost;
    }
    call.place = Place::Kept(handling);
    call
}

/// A call is stopped between two transactions, or in a queue. Where a handler cleans up then, its `at-end` is left of it.
pub fn cancel(world: &mut World<'_>, mut call: Call) {
    let model = world.model;
    let own = side(model, call.new);
    let (all, before_end) = transactions(own, &call);
    let about = call.request.handle;
    let Place::AtNode(handling) = &mut call.place else { return };
    if own.design.server.on_cancel != OnCancel::AtEnd || all.len() == before_end || handling.next == 0 {
        return;
    }
    handling.next = handling.next.max(before_end);
    handling.ended = Some(Answer::refusal(Outcome::Unknown, about));
    handling.answer = Answer { minted: handling.answer.minted, ..Answer::ok(None) };
    clear(handling);
    handling.reply = Reply::OwnStream;
    put(model, &mut world.state, Seat::Rest(0), call);
}

/// Working copies are of no use when the outcome is decided.
fn clear(handling: &mut Handling) {
    for bench in [&mut handling.bench, &mut handling.other_bench] {
        (bench.working, bench.loaded) = (None, None);
    }
}

/// Can this call execute its next transaction? In a queue only the first call for a handle can.
pub fn can_execute(state: &State, call: &Call) -> bool {
    let Place::AtNode(handling) = &call.place else { return false };
    let Some(turn) = handling.queued else { return true };
    state.calls().all(|other| match &other.place {
        Place::AtNode(of) => other.request.handle != call.request.handle || of.queued.is_none_or(|of| of >= turn),
        Place::Transit | Place::Kept(_) | Place::Answered(..) | Place::Unanswered(_) => true,
    })
}

/// The seats of all calls.
pub fn seats(state: &State) -> Vec<Seat> {
    let open = (0..state.agents.len()).map(Seat::Open);
    let orphans = (0..state.orphans.len()).map(Seat::Orphan);
    open.chain(orphans).chain((0..state.rests.len()).map(Seat::Rest)).collect()
}

/// The action `execute`: one transaction.
pub fn execute(world: &mut World<'_>, seat: Seat) {
    execute_with(world, seat, &mut |_, _| {});
}

/// One transaction, and what happens to the call right behind it, before the node goes on.
pub fn execute_with(world: &mut World<'_>, seat: Seat, behind: &mut dyn FnMut(&mut World<'_>, &mut Call)) {
    let model = world.model;
    let Some(mut call) = take(&mut world.state, seat) else { return };
    let own = side(model, call.new);
    let (all, before_end) = transactions(own, &call);
    let Place::AtNode(handling) = &mut call.place else { return put(model, &mut world.state, seat, call) };
    let (number, reply) = (handling.next, handling.reply);
    handling.next += 1;
    if number == 0 {
        world.witness_start(&call);
    }
    world.model = own;
    run_transaction(world, &mut call, number);
    behind(world, &mut call);
    world.model = model;
    let answer = early_answer(seat, &mut call);
    finish(&mut call, all.len(), before_end);
    if let (Seat::Rest(_), Place::Answered(..)) = (seat, &call.place) {
        return;
    }
    if let (Some((node, answer)), Place::AtNode(_)) = (answer, &call.place) {
        let rest = call.clone();
        call.place = Place::Answered(node, answer);
        replies::send_answer(world, seat, &mut call, reply);
        put(model, &mut world.state, seat, call);
        return put(model, &mut world.state, Seat::Rest(0), rest);
    }
    replies::send_answer(world, seat, &mut call, reply);
    put(model, &mut world.state, seat, call);
}

/// What leaves now of a call in whose transaction `answer` has run, and from which node; the reply table knows it no more.
fn early_answer(seat: Seat, call: &mut Call) -> Option<(NodeId, Answer)> {
    let Place::AtNode(handling) = &mut call.place else { return None };
    if !std::mem::take(&mut handling.answers) || matches!(seat, Seat::Rest(_)) {
        return None;
    }
    handling.reply = Reply::OwnStream;
    Some((handling.node, handling.answer.clone()))
}

/// Runs the steps of one transaction; a refusal rolls back what it did in the store.
fn run_transaction(world: &mut World<'_>, call: &mut Call, number: usize) {
    let (all, before_end) = transactions(world.model, call);
    let (before, call_before) = (world.clone(), call.clone());
    let at_end = number >= before_end;
    for (index, step) in all.get(number).into_iter().flatten().enumerate() {
        let turned = matches!(&call.place, Place::AtNode(handling) if handling.turned);
        let Err(mut end) = steps::run(world, call, step) else { continue };
        roll_back(world, before);
        *call = call_before;
        let Place::AtNode(handling) = &mut call.place else { return };
        if at_end {
            return;
        }
        handling.next = before_end;
        let earlier = all[..number].iter().flatten().chain(&all[number][..index]);
        end.recorded &= earlier.into_iter().any(|step| matches!(*step, "find-key" | "claim-key"));
        let place = (number, index, turned);
        refusals::end_with(world, call, *end, place);
        return;
    }
    if let Place::AtNode(handling) = &mut call.place
        && handling.turned
    {
        steps::turn(handling);
    }
    for (handle, stored) in &before.state.resources {
        if world.state.resources[handle] != *stored {
            names_one_content(world, *handle, stored);
        }
    }
}

/// Undoes what a transaction did in the store; node memory and upstream stay as they became.
fn roll_back(world: &mut World<'_>, before: World<'_>) {
    let after = std::mem::replace(&mut world.state, before.state);
    world.state.nodes = after.nodes;
    world.state.upstream = after.upstream;
    for (handle, stored) in &after.resources {
        if stored.node.is_some() {
            world.state.resources.insert(*handle, stored.clone());
        }
    }
    let kept = |target: &Target| match target {
        Target::Upstream => true,
        Target::Resource(handle, _) => after.resources.get(handle).is_some_and(|of| of.node.is_some()),
    };
    for ((intent, target), count) in &after.ledger {
        if kept(target) {
            world.state.ledger.insert((*intent, *target), *count);
        }
    }
    world.facts = before.facts;
    let lasting = std::mem::take(&mut world.lasting);
    world.facts.broken.extend(lasting.broken);
    world.facts.witnessed.extend(lasting.witnessed);
}

/// After the last transaction and the last of `at-end` the call has its answer. What it was made of is of no use then.
fn finish(call: &mut Call, all: usize, before_end: usize) {
    let Place::AtNode(handling) = &mut call.place else { return };
    if handling.next >= before_end && handling.ended.is_none() {
        handling.ended = Some(handling.answer.clone());
    }
    if let Some(ended) = &handling.ended {
        // `at-end` works on what the call made.
        handling.answer = Answer { minted: ended.minted, ..Answer::ok(None) };
        clear(handling);
    }
    if handling.next >= all {
        let node = handling.node;
        if let Some(answer) = handling.ended.take() {
            call.place = Place::Answered(node, answer);
        }
    }
}

/// Two contents of one handle must never be current under one version. Where the state is in the handle, every change
/// makes another handle.
pub fn names_one_content(world: &mut World<'_>, handle: Handle, before: &Stored) {
    let stored = &world.state.resources[&handle];
    let content = super::state::values(&stored.content);
    let at_once = before.version == stored.version && super::state::values(&before.content) != content;
    let again = stored.named.iter().any(|(version, named)| *version == stored.version && *named != content);
    if (at_once || again) && world.model.design.server.state != StateIn::Handle {
        world.broken(judge::VERSION_NAMES_ONE_CONTENT);
    }
}

/// What a handle carries, where the handle carries the state.
pub fn token_of(model: &Model, stored: &Stored) -> Option<Token> {
    (model.design.server.state == StateIn::Handle).then(|| (stored.content.clone(), stored.version))
}

/// Ghost: what is current when a read is sent, where a read can be stale.
pub fn note_what_is_current(model: &Model, state: &State, request: &mut Request) {
    let Some(stored) = request.handle.and_then(|handle| state.resources.get(&handle)) else { return };
    let looks_up = |side: &Model| {
        let handlers = side.design.server.tools.values();
        handlers.flat_map(|handler| &handler.transactions).flatten().any(|step| *step == "find-cached")
    };
    if on_any_side(model, &|side| side.design.server.reads_from != ReadsFrom::Store || looks_up(side)) {
        request.sent_at = Some(stored.version);
    }
    if let Some((content, _)) = &request.token {
        request.superseded = super::state::values(content) != super::state::values(&stored.content);
    }
}

/// Can a read be served from a copy that lags?
pub fn can_lag(model: &Model) -> bool {
    let budget = model.scenario.faults.get("stale-read").copied().unwrap_or(0);
    on_any_side(model, &|side| side.design.server.reads_from == ReadsFrom::Replica) && budget > 0
}
