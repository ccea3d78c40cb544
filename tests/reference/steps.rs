//! The steps of a handler (section 5): one function each. A step passes, or ends the call.

use handlecheck::model::design::{FenceSeen, Foreign, Identity, LeaseNames, ReadsFrom, State as StateIn};
use handlecheck::model::{AgentId, Model, Outcome, Principal, Tool};

use super::judge::{self};
use super::keys;
use super::state::{
    Answer, Call, Content, Handle, Handling, Life, NodeId, Place, Request, Stored, View, on_any_side, values,
};
use super::world::World;

/// How a step ended the call.
#[derive(Clone, Debug)]
pub struct End {
    pub answer: Answer,
    /// A refusal by a step behind `find-key`, which `record = "every-outcome"` stores. Replays never are.
    pub recorded: bool,
}

/// A step passes, or ends the call.
pub type Passed = Result<(), Box<End>>;

/// What a step works with: the world, the request, and the handler at work.
pub struct Step<'w, 'm> {
    pub world: &'w mut World<'m>,
    pub request: &'w Request,
    pub handling: &'w mut Handling,
    /// The whole call, as it was before this step.
    pub call: Call,
}

/// Runs one step of a call at a node.
pub fn run(world: &mut World<'_>, call: &mut Call, name: &str) -> Passed {
    let mut copy = call.clone();
    let Place::AtNode(handling) = &mut call.place else { return Ok(()) };
    if name == "other" {
        turn(handling);
        return Ok(());
    }
    if handling.turned && is_about_a_resource(name) {
        let Some(request) = of_other(&call.request) else { return Ok(()) };
        copy.request = request.clone();
        let about = call.request.handle;
        let mut step = Step { world, request: &request, handling, call: copy };
        return named(&mut step, name).map_err(|mut end| {
            (end.answer.about, end.answer.of_other) = (about, true);
            end
        });
    }
    let (at_other, about) = (handling.turned, call.request.handle);
    named(&mut Step { world, request: &call.request, handling, call: copy }, name).map_err(|mut end| {
        end.answer.of_other |=
            at_other && end.answer.about == about && end.answer.outcome != Outcome::Ok && !end.answer.replayed;
        end
    })
}

/// The handler goes on with the other resource of the call.
pub fn turn(handling: &mut Handling) {
    std::mem::swap(&mut handling.bench, &mut handling.other_bench);
    handling.turned = !handling.turned;
}

/// Is this a step that works on a resource, rather than on the call as a whole?
pub fn is_about_a_resource(step: &str) -> bool {
    !(step.ends_with("-key") || matches!(step, "call-upstream" | "answer" | "mint" | "other" | "check-condition"))
}

/// What a request says of the other resource, as if that were all that it says.
fn of_other(request: &Request) -> Option<Request> {
    let other = request.other.as_ref()?;
    let expected = request.expected.iter().filter(|(handle, _)| *handle == other.handle).copied().collect();
    Some(Request {
        resource: other.resource,
        handle: Some(other.handle),
        token: None,
        operation: Some(other.operation.clone()),
        snapshot: None,
        approves: None,
        expected,
        fence: other.fence,
        seen: other.seen.clone(),
        ..request.clone()
    })
}

fn named(step: &mut Step<'_, '_>, name: &str) -> Passed {
    match name {
        "resolve" => step.resolve(),
        "authorize" => step.authorize(),
        "check-permission" => step.check_permission(),
        "check-live" => step.check_live(),
        "check-open" => step.check_open(),
        "find-key" => step.find_key(),
        "claim-key" => step.claim_key(),
        "record-key" => step.record_key(),
        "release-key" => step.release_key(),
        "check-version" => step.check_version(),
        "acquire-lease" => step.acquire_lease(),
        "release-lease" => step.release_lease(),
        "check-lease" => step.check_lease(),
        "check-fence" => step.check_fence(),
        "check-approval" => step.check_approval(),
        "find-cached" => step.find_cached(),
        "read" => step.read(),
        "fill-cache" => step.fill_cache(false),
        "fill-cache-if-newer" => step.fill_cache(true),
        "drop-cached" => step.drop_cached(),
        "load" => step.load().and_then(|()| step.note_loaded()),
        "check-condition" => step.check_condition(),
        "check-unchanged" => step.check_unchanged(),
        "call-upstream-with-key" => step.call_upstream_with_key(),
        "write-content" => step.write_content(true),
        "advance-version" => step.advance_version(),
        "save" => step.write_content(true).and_then(|()| step.advance_version()),
        "apply" => step.apply(),
        "apply-next" => step.apply_next(),
        "undo" => step.undo(),
        "call-upstream" => step.call_upstream(),
        "mint" => step.mint(),
        "answer" => {
            step.handling.answers = true;
            Ok(())
        }
        other => panic!("no step is called {other}"),
    }
}

/// The caller, as this node sees it: from the request, or read late from node memory.
pub fn caller(world: &World<'_>, request: &Request, node: NodeId) -> Principal {
    judge::principal(world.model, identity(world, request, node).0).clone()
}

/// The same, as the agent and its credential.
pub fn identity(world: &World<'_>, request: &Request, node: NodeId) -> (AgentId, u8) {
    let own = (request.agent, request.credential);
    match world.model.design.server.identity {
        Identity::PerRequest => own,
        Identity::NodeMemory => world.state.nodes[node].identity.unwrap_or(own),
    }
}

impl Step<'_, '_> {
    pub fn model(&self) -> &Model {
        self.world.model
    }

    /// The call ends with this refusal.
    pub fn refuse(&self, outcome: Outcome) -> Passed {
        self.refuse_with(Answer::refusal(outcome, self.request.handle))
    }

    pub fn refuse_with(&self, answer: Answer) -> Passed {
        Err(Box::new(End { answer, recorded: true }))
    }

    /// The handle that the handler works on: that of the request, or the one that it minted.
    pub fn handle(&self) -> Option<Handle> {
        self.request.handle.or(self.handling.answer.minted)
    }

    /// The resource, if it is here.
    pub fn stored(&mut self) -> Option<(Handle, &mut Stored)> {
        let handle = self.handle()?;
        self.stored_as(handle)?;
        Some((handle, self.world.state.resources.get_mut(&handle)?))
    }

    /// What this handle names, if it is here.
    pub fn stored_as(&self, handle: Handle) -> Option<&Stored> {
        let stored = self.world.state.resources.get(&handle)?;
        let here = !stored.lost && stored.node.is_none_or(|home| home == self.handling.node);
        let in_session = stored.session.is_none_or(|agent| agent == self.request.agent);
        (here && in_session).then_some(stored)
    }

    pub fn state_in_handle(&self) -> bool {
        self.model().design.server.state == StateIn::Handle
    }

    /// The content that a handler finds: the stored one, or the one in the handle.
    pub fn content_here(&mut self) -> Option<Content> {
        if self.state_in_handle()
            && let Some((content, _)) = &self.request.token
        {
            return Some(content.clone());
        }
        self.stored().map(|(_, stored)| stored.content.clone())
    }

    /// `resolve`: the handle names something here that was not deleted.
    fn resolve(&mut self) -> Passed {
        if self.is_not_in_copy() {
            return self.refuse(Outcome::NotFound);
        }
        match self.stored() {
            Some((_, stored)) if stored.life != Life::Deleted => Ok(()),
            _ => self.refuse(Outcome::NotFound),
        }
    }

    /// A read from a replica that lags does not find what was made last and not changed since.
    fn is_not_in_copy(&mut self) -> bool {
        let replica = self.model().design.server.reads_from == ReadsFrom::Replica;
        if !replica || !self.world.stale_read || self.request.tool != Tool::Read {
            return false;
        }
        let Some((handle, Stored { previous: None, .. })) = self.stored() else { return false };
        let minted = self.model().scenario.resources[handle.0].handle.is_none();
        self.world.stale_read &= !minted;
        minted
    }

    /// `authorize`: the principal owns the resource, or it is shared with it.
    fn authorize(&mut self) -> Passed {
        let caller = caller(self.world, self.request, self.handling.node);
        let compared = self.model().design.server.owner_is.clone();
        let Some((handle, stored)) = self.stored() else { return self.refuse(Outcome::NotFound) };
        let owner = stored.filed_under.as_ref().unwrap_or(&stored.owner).clone();
        let shared = &self.model().scenario.resources[handle.0].shared_with;
        let matches = |right: &Principal| match &compared {
            None => judge::same_principal(right, &caller),
            Some(parts) => parts.iter().all(|part| judge::part(right, *part) == judge::part(&caller, *part)),
        };
        if std::iter::once(&owner).chain(shared).any(matches) {
            return Ok(());
        }
        match self.model().design.server.foreign {
            Foreign::NotFound => self.refuse(Outcome::NotFound),
            Foreign::Forbidden => self.refuse(Outcome::Forbidden),
        }
    }

    /// `check-permission`: the permission has not been revoked.
    fn check_permission(&mut self) -> Passed {
        let caller = caller(self.world, self.request, self.handling.node);
        let Some(handle) = self.stored().map(|(handle, _)| handle) else { return self.refuse(Outcome::NotFound) };
        let revoked = self.world.state.revoked.contains(&(caller, handle));
        if revoked { self.refuse(Outcome::Forbidden) } else { Ok(()) }
    }

    /// `check-live`: the handle has not expired.
    fn check_live(&mut self) -> Passed {
        match self.stored() {
            None => self.refuse(Outcome::NotFound),
            Some((_, stored)) if stored.expired => self.refuse(Outcome::Expired),
            Some(_) => Ok(()),
        }
    }

    /// `check-open`: the resource is not closed or executed.
    fn check_open(&mut self) -> Passed {
        match self.stored() {
            None => self.refuse(Outcome::NotFound),
            Some((_, stored)) if matches!(stored.life, Life::Closed | Life::Executed) => self.refuse(Outcome::Closed),
            Some(_) => Ok(()),
        }
    }

    /// `check-version`: every expected version in the request is the current one.
    fn check_version(&mut self) -> Passed {
        if self.stored().is_none() {
            return self.refuse(Outcome::NotFound);
        }
        if self.request.expected.is_empty() && self.model().design.server.version_required {
            return self.refuse(Outcome::PreconditionRequired);
        }
        let carried = self.request.token.as_ref().map(|(_, version)| *version);
        let mut answer = Answer::refusal(Outcome::StaleView, self.request.handle);
        for (handle, _) in &self.request.expected {
            let Some(stored) = self.stored_as(*handle) else { return self.refuse(Outcome::NotFound) };
            let own = carried.filter(|_| self.request.handle == Some(*handle));
            answer.current.push((*handle, own.unwrap_or(stored.version)));
        }
        if answer.current == self.request.expected { Ok(()) } else { self.refuse_with(answer) }
    }

    /// The version that was loaded is remembered where `check-unchanged` asks for it.
    fn note_loaded(&mut self) -> Passed {
        let asks = |model: &Model| {
            let tools = model.design.server.tools.values();
            tools.flat_map(|tool| &tool.transactions).flatten().any(|step| *step == "check-unchanged")
        };
        let asked = on_any_side(self.world.whole, &asks);
        self.handling.bench.loaded = self.version_here().filter(|_| asked);
        Ok(())
    }

    /// The version that a handler finds: the stored one, or the one in the handle.
    fn version_here(&mut self) -> Option<u32> {
        let carried = self.request.token.as_ref().map(|(_, version)| *version);
        carried.or_else(|| self.stored().map(|(_, stored)| stored.version))
    }

    /// `check-unchanged`: the current version is the one that this call's own `load` found.
    fn check_unchanged(&mut self) -> Passed {
        let Some(current) = self.version_here() else { return self.refuse(Outcome::NotFound) };
        if self.handling.bench.loaded == Some(current) {
            return Ok(());
        }
        let mut answer = Answer::refusal(Outcome::StaleView, self.request.handle);
        answer.current = self.request.handle.map(|handle| (handle, current)).into_iter().collect();
        self.refuse_with(answer)
    }

    /// `acquire-lease`: takes the lease, always with a new fence number, which goes into the view.
    fn acquire_lease(&mut self) -> Passed {
        let Some(handle) = self.handle() else { return Ok(()) };
        let (model, node) = (self.world.model, self.handling.node);
        let (agent, _) = identity(self.world, self.request, node);
        let lease = self.world.state.lease_table(model, node).entry(handle).or_default();
        if let Some((holder, _)) = lease.holder
            && (holder != agent || model.design.server.lease_names == LeaseNames::Nothing)
        {
            let mut answer = Answer::refusal(Outcome::Locked, self.request.handle);
            self.note_interference(&mut answer, judge::principal(model, holder));
            return self.refuse_with(answer);
        }
        let passes_on = lease.given.is_some();
        let number = lease.given.map_or(0, |given| given + 1);
        lease.given = Some(number);
        lease.holder = Some((agent, number));
        self.handling.bench.grant = Some(number);
        let turned = self.handling.turned;
        if let Some(view) = self.handling.answer.view.as_mut().filter(|_| !turned) {
            view.fence = Some(number);
        }
        let under_older = |call: &Call| {
            let [granted, besides] = match &call.place {
                Place::AtNode(handling) | Place::Kept(handling) => [handling.bench.grant, handling.other_bench.grant],
                Place::Transit | Place::Answered(..) | Place::Unanswered(_) => [None, None],
            };
            let own = call.request.handle == Some(handle) && granted.or(call.request.fence).is_some();
            let also = call.request.other.as_ref().filter(|other| other.handle == handle);
            call.request.agent != agent && (own || also.is_some_and(|other| besides.or(other.fence).is_some()))
        };
        if passes_on && self.world.state.calls().any(under_older) {
            self.world.witnessed(judge::SINGLE_LEASE_HOLDER);
        }
        Ok(())
    }

    /// `release-lease`: frees the lease of the agent.
    fn release_lease(&mut self) -> Passed {
        let Some(handle) = self.handle() else { return Ok(()) };
        let (agent, _) = identity(self.world, self.request, self.handling.node);
        let named = self.model().design.server.lease_names == LeaseNames::Holder;
        let lease = self.world.state.lease_table(self.world.model, self.handling.node).entry(handle).or_default();
        lease.holder = lease.holder.filter(|(holder, _)| *holder != agent && named);
        Ok(())
    }

    /// `check-lease`: this agent holds the lease.
    fn check_lease(&mut self) -> Passed {
        let Some(handle) = self.handle() else { return Ok(()) };
        let (agent, _) = identity(self.world, self.request, self.handling.node);
        let named = self.model().design.server.lease_names == LeaseNames::Holder;
        let lease = self.world.state.lease_table(self.world.model, self.handling.node).entry(handle).or_default();
        let holds = lease.holder.is_some_and(|(holder, _)| holder == agent || !named);
        if holds { Ok(()) } else { self.refuse(Outcome::LeaseLost) }
    }

    /// `check-fence`: no newer fence number was given out, or presented to a check.
    fn check_fence(&mut self) -> Passed {
        let Some(handle) = self.handle() else { return Ok(()) };
        let (model, mine) = (self.world.model, self.handling.bench.grant.or(self.request.fence));
        let lease = self.world.state.lease_table(model, self.handling.node).entry(handle).or_default();
        let newest = match model.design.server.fence_seen {
            FenceSeen::AtAcquire => lease.given,
            FenceSeen::AtCheck => lease.presented,
        };
        if newest > mine {
            return self.refuse(Outcome::LeaseLost);
        }
        if model.design.server.fence_seen == FenceSeen::AtCheck {
            lease.presented = mine;
        }
        Ok(())
    }

    /// `check-approval`: the stored content is what was approved.
    fn check_approval(&mut self) -> Passed {
        let content = self.content_here().map(|content| values(&content));
        match self.stored() {
            None => self.refuse(Outcome::NotFound),
            Some((_, stored)) if stored.approved.is_none() || stored.approved != content => {
                self.refuse(Outcome::StaleApproval)
            }
            Some(_) => Ok(()),
        }
    }

    /// `read`: puts a view into the answer, from the store or from a copy that may lag.
    fn read(&mut self) -> Passed {
        if self.is_not_in_copy() {
            return self.refuse(Outcome::NotFound);
        }
        let fence = self.handling.bench.grant;
        let carried = self.request.token.as_ref().map(|(_, version)| *version);
        let Some(content) = self.content_here() else { return self.refuse(Outcome::NotFound) };
        let Some((handle, stored)) = self.stored() else { return self.refuse(Outcome::NotFound) };
        let version = Some(carried.unwrap_or(stored.version));
        let mut view = View { handle, version, content: Some(content), fence };
        let previous = stored.previous.clone();
        let lagging =
            previous.map(|(content, version)| View { content: Some(content), version: Some(version), ..view.clone() });
        match self.model().design.server.reads_from {
            ReadsFrom::Store => {}
            ReadsFrom::Replica => {
                if let Some(lagging) = lagging.filter(|_| self.world.stale_read) {
                    view = lagging;
                    self.world.stale_read = false;
                }
            }
            ReadsFrom::NodeCache => {
                let node = self.handling.node;
                let place = keys::scope(self.world, self.request, node, &self.model().design.server.cache_scope);
                let held: Vec<Handle> = self.world.state.nodes[node].cache.values().map(|view| view.handle).collect();
                let agent = self.request.agent;
                if held.iter().any(|handle| !judge::agent_entitled(self.model(), &self.world.state, agent, *handle)) {
                    self.world.witnessed(judge::NO_CROSS_PRINCIPAL);
                }
                let cache = &mut self.world.state.nodes[node].cache;
                view = cache.entry(place).or_insert(view).clone();
            }
        }
        let unknown = self.unknown_fields();
        view.content.iter_mut().for_each(|content| super::write::forget(content, &unknown));
        self.handling.answer.about = Some(view.handle);
        self.handling.answer.view = Some(view);
        Ok(())
    }

    /// `load`: copies the content into the working copy.
    pub fn load(&mut self) -> Passed {
        match self.content_here() {
            None => self.refuse(Outcome::NotFound),
            Some(content) => {
                self.handling.bench.working = Some(content);
                Ok(())
            }
        }
    }
}
