//! What a step sees: one call, and the state that its transaction works on.

use super::End;
use crate::engine::Access;
use crate::model::design::{Identity, LeaseNames, NewFields, ScopePart};
use crate::model::{AgentId, Operation, Outcome, ResourceId};
use crate::world::{
    Answer, Component, Content, Effect, Fact, Field, Handle, Instance, Intents, KeyTable, Lease, Lifecycle, Other,
    Payload, Progress, RecordKey, Request, Setting, View,
};

/// One call while one of its transactions runs.
pub struct Handling<'h, 'a> {
    /// The static part of the run.
    pub setting: &'h Setting,
    /// The state.
    pub access: &'h mut Access<'a, Component>,
    /// What was asked.
    pub request: &'h Request,
    /// The node that handles it.
    pub node: u8,
    /// What the handler has done so far.
    pub progress: Progress,
    /// It is at the other resource of the call.
    pub at_other: bool,
    /// What happened, for the invariants.
    pub facts: Vec<Fact>,
    /// How the dice fall.
    pub luck: Luck,
    /// External effects of this transaction, which nothing rolls back.
    pub upstream: u8,
    /// The clock that versions are taken from was asked.
    pub asked_clock: bool,
    /// A copy that lags behind was asked.
    pub asked_copy: bool,
}

/// How the dice fall in one transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Luck {
    /// The clock that versions are taken from ticks.
    pub ticks: bool,
    /// A read is served from a copy that lags behind.
    pub lags: bool,
    /// The transaction commits, and the node sees an error.
    pub error: bool,
}

impl Luck {
    /// The ordinary course of things.
    pub const PLAIN: Self = Self { ticks: true, lags: false, error: false };
}

impl Handling<'_, '_> {
    /// The agent that sent the request. Only ghost facts and the principal may depend on it.
    #[must_use]
    pub fn agent(&self) -> AgentId {
        usize::from(self.request.agent)
    }

    /// The resource that the request is about.
    #[must_use]
    pub fn resource_id(&self) -> ResourceId {
        usize::from(self.request.resource)
    }

    /// The handle of what the handler is at: that of the request, or of what it minted; or the request's other one.
    #[must_use]
    pub fn handle(&self) -> Option<Handle> {
        // What is answered may be what was recorded, or cached, for another one.
        let own = || self.request.handle.or(self.progress.answer.handle);
        self.other().map_or_else(own, |other| Some(other.handle))
    }

    /// What the request says of the other resource, while the handler is at that.
    #[must_use]
    pub fn other(&self) -> Option<&Other> {
        self.request.other.as_deref().filter(|_| self.at_other)
    }

    /// What the intent is to do to what the handler is at.
    #[must_use]
    pub fn operation(&self) -> Option<&Operation> {
        Some(self.setting.intents[self.intent()?].operation(self.at_other))
    }

    /// The resource that the handle names, if it names one here. Where the handle carries the state, that is what the
    /// caller gets to see and to change, whatever became of it since.
    #[must_use]
    pub fn instance(&self) -> Option<Instance> {
        let mut instance = self.instance_of(self.handle()?)?.clone();
        if let Some(token) = self.request.token.clone().filter(|_| self.setting.is_state_in_handle()) {
            instance.version = token.version.unwrap_or(instance.version);
            instance.content = token.content.unwrap_or(instance.content);
        }
        Some(instance)
    }

    /// The agent as whom the call runs: that of the request, or the one that the node remembers.
    #[must_use]
    pub fn caller(&self) -> AgentId {
        usize::from(self.identity().0)
    }

    /// The agent as whom the call runs, and the credential.
    #[must_use]
    pub fn identity(&self) -> (u8, u8) {
        let own = (self.request.agent, self.request.credential);
        if self.setting.model.design.server.identity == Identity::PerRequest {
            return own;
        }
        let memory = self.setting.memory_slot(self.node).map(|slot| self.access.get(slot).memory().identity);
        memory.flatten().unwrap_or(own)
    }

    /// The lease on the call's handle, as this node sees it.
    #[must_use]
    pub fn lease(&self) -> Lease {
        let Some(handle) = self.handle() else { return Lease::default() };
        let slot = self.setting.lease_slot(handle.resource, self.node);
        slot.map_or_else(Lease::default, |slot| self.access.get(slot).leases().of(handle.instance))
    }

    /// Replaces the lease on the call's handle.
    pub fn set_lease(&mut self, lease: Lease) {
        let Some(handle) = self.handle() else { return };
        let Some(slot) = self.setting.lease_slot(handle.resource, self.node) else { return };
        let mut leases = self.access.get(slot).leases().clone();
        leases.set(handle.instance, lease);
        self.access.set(slot, leases.into());
    }

    /// Whether leases name their holders, so that one can be told from another.
    #[must_use]
    pub fn leases_name_holders(&self) -> bool {
        self.setting.model.design.server.lease_names == LeaseNames::Holder
    }

    /// The fence number under which the call works: the one that it was given, or that of its author's view.
    #[must_use]
    pub fn fence(&self) -> Option<u16> {
        self.progress.grant.or(self.other().map_or(self.request.fence, |other| other.fence))
    }

    /// The resource that a handle names, if it names one here. What was deleted is still here: only `resolve` does not find
    /// it, so a handler that looked before the deletion goes on.
    #[must_use]
    pub fn instance_of(&self, handle: Handle) -> Option<&Instance> {
        let slot = self.setting.resource_slot(usize::from(handle.resource));
        let instance = self.access.get(slot).resource().instances.get(usize::from(handle.instance))?;
        let session = instance.session.is_none_or(|session| session == self.request.agent);
        let here = !self.setting.is_state_in_nodes() || instance.node == self.node && session;
        (here && !instance.lost).then_some(instance)
    }

    /// What a handle names, wherever it is and whatever became of it (ghost: for the invariants only).
    #[must_use]
    pub fn anywhere(&self, handle: Handle) -> Option<&Instance> {
        let slot = self.setting.resource_slot(usize::from(handle.resource));
        self.access.get(slot).resource().instances.get(usize::from(handle.instance))
    }

    /// The resource that the handle names.
    ///
    /// # Errors
    ///
    /// The end of the call with `not-found`, when it names none here.
    pub fn existing(&self) -> Result<Instance, End> {
        self.instance().ok_or_else(|| self.refuse(Outcome::NotFound))
    }

    /// Ends the call with a refusal.
    #[must_use]
    pub fn refuse(&self, outcome: Outcome) -> End {
        End { answer: Box::new(Answer { outcome, of_other: self.at_other, ..Answer::about(self.request.handle) }) }
    }

    /// The principal of a record, claim, lease or name that answers or refuses this call, where that holds it up: the call
    /// is about what its caller has a right to, and the other has none.
    #[must_use]
    pub fn held_up_by(&self, other: u8) -> Option<u8> {
        let own = self.setting.principal(self.agent());
        let about = self.other().map_or(self.request.handle, |other| Some(other.handle));
        let holds_up = match about.map(|handle| usize::from(handle.resource)) {
            None => other != own,
            Some(resource) => self.setting.entitled(own, resource) && !self.setting.entitled(other, resource),
        };
        holds_up.then_some(other)
    }

    /// The intent that the call serves; reads serve none.
    #[must_use]
    pub fn intent(&self) -> Option<usize> {
        self.setting.intent_of(self.request)
    }

    /// The slot of the call's key table and the place in it; `None` for a request without a key.
    #[must_use]
    pub fn key(&self) -> Option<(usize, RecordKey)> {
        let key = self.request.key.clone()?;
        let (caller, credential) = self.identity();
        let slot = self.setting.keys_slot(
            usize::from(caller),
            usize::from(self.request.about()),
            self.request.tool,
            self.node,
        );
        let instance = self.request.handle.filter(|_| self.setting.keys_by_handle()).map(|handle| handle.instance);
        let by_credential = self.setting.model.design.keys.scope.contains(&ScopePart::Credential);
        let credential = by_credential.then_some(credential);
        Some((slot, RecordKey { instance, credential, key }))
    }

    /// Whether a claim in this key table is the one that the call made.
    #[must_use]
    pub fn is_own_claim(&self, slot: usize, number: u16) -> bool {
        self.progress.claim.is_some_and(|own| usize::from(own.table) == slot && own.number == number)
    }

    /// Changes a key table.
    pub fn change_keys<T>(&mut self, slot: usize, change: impl FnOnce(&mut KeyTable) -> T) -> T {
        let mut table = self.access.get(slot).keys().clone();
        let result = change(&mut table);
        self.access.set(slot, table.into());
        result
    }

    /// Changes the instance that a handle names, which must exist.
    pub fn change_instance<T>(&mut self, handle: Handle, change: impl FnOnce(&mut Instance) -> T) -> T {
        let slot = self.setting.resource_slot(usize::from(handle.resource));
        let mut resource = self.access.get(slot).resource().clone();
        let instance = &mut resource.instances[usize::from(handle.instance)];
        let result = change(instance);
        self.access.set(slot, resource.into());
        result
    }

    /// Writes the operation over this content, or one of its changes, or the snapshot that was sent; or ends the resource.
    /// The intent takes effect, or that part of it.
    ///
    /// # Errors
    ///
    /// Ends the call with `not-found` when there is no such resource.
    pub fn write(&mut self, base: Content, part: Option<usize>, loaded: bool) -> Result<(), End> {
        self.existing()?;
        let handle = self.handle().expect("a resource that exists was named");
        let before = self.anywhere(handle).expect("a resource that exists is somewhere").clone();
        let Some(intent) = self.intent() else { return Ok(()) };
        let operation = self.setting.intents[intent].operation(self.at_other).clone();
        self.note_before(&before);
        let alone = self.other().map(|other| Payload::Change(other.operation.clone()));
        let payload = alone.as_ref().unwrap_or(&self.request.payload);
        let content = match payload {
            Payload::Snapshot(content) if operation.changes_fields() => content.clone(),
            Payload::Change(change) => match part {
                Some(part) => self.changed(base, &change.part(part), intent),
                None => self.changed(base, change, intent),
            },
            Payload::Snapshot(_) | Payload::Made(_) | Payload::Nothing => base,
        };
        let content = if operation.changes_fields() { self.known_fields(content) } else { content };
        let approved = match (&operation, payload) {
            (Operation::Approve, Payload::Snapshot(viewed)) => Some(viewed.clone()),
            _ => before.approved.clone(),
        };
        let lifecycle = match operation {
            Operation::Close => Lifecycle::Closed,
            Operation::Execute => Lifecycle::Executed,
            Operation::Delete => Lifecycle::Deleted,
            Operation::Set(_)
            | Operation::Append(_)
            | Operation::Increment(_)
            | Operation::Mint
            | Operation::Approve => before.lifecycle,
        };
        let ends =
            (lifecycle != Lifecycle::Open).then(|| u8::try_from(intent).expect("there are fewer than 64 intents"));
        let ended_by = before.ended_by.or(ends);
        let erases_fields = match (&operation, payload) {
            (Operation::Set(_), _) => true,
            (operation, Payload::Snapshot(_)) => operation.changes_fields(),
            _ => false,
        };
        let version = self.version_to_write(&before);
        let after = Instance { content, version, approved, lifecycle, ended_by, ..before.clone() };
        let after = self.store(handle, &before, after);
        self.carry_state();
        let changes = self.changes(&part.map_or_else(|| operation.clone(), |part| operation.part(part)));
        let drops = !self.unknown_fields().is_empty() && operation.changes_fields();
        // What comes with the handle may be as it was long ago.
        let carried = self.setting.is_state_in_handle() && self.request.token.is_some();
        self.committed(handle, Some(before), after, &changes, erases_fields || loaded || drops || carried);
        Ok(())
    }

    /// Stores an instance in place of what was there before, and keeps of that what copies and judges may look at.
    pub fn store(&mut self, handle: Handle, before: &Instance, mut after: Instance) -> Instance {
        if self.setting.versions_come_back() {
            after.history.push((before.version, before.values()));
            after.history.sort();
            after.history.dedup();
        }
        if self.setting.has_lagging_copies() {
            after.previous = Some((before.version, before.content.clone()));
        }
        self.change_instance(handle, |instance| *instance = after.clone());
        after
    }

    /// What of an operation on what the handler is at takes effect by itself, as the ledger counts it: nothing of what the
    /// handler does not know.
    #[must_use]
    pub fn changes(&self, operation: &Operation) -> Vec<u8> {
        let mut changes = self.setting.changes(operation);
        let drops = !self.unknown_fields().is_empty() && operation.changes_fields();
        changes.retain(|change| !drops || !self.unknown_fields().contains(&usize::from(*change)));
        let first = if self.at_other { Effect::OTHER } else { 0 };
        changes.into_iter().map(|change| first + change).collect()
    }

    /// The fields of the call's resource that its handler does not know.
    #[must_use]
    pub fn unknown_fields(&self) -> &[usize] {
        let drops = self.setting.model.design.server.new_fields == NewFields::Dropped;
        let answered = self.progress.answer.handle.or(self.request.handle);
        let answered = self.other().map_or(answered, |other| Some(other.handle));
        let about = usize::from(answered.map_or(self.request.resource, |handle| handle.resource));
        if drops { &self.setting.resource(about).new_fields } else { &[] }
    }

    /// A content without what the handler does not know: such fields say nothing, and show nobody's change.
    #[must_use]
    pub fn known_fields(&self, mut content: Content) -> Content {
        drop_fields(&mut content, self.unknown_fields());
        content
    }

    /// The version over which a write is made: where the handle carries the state, the one that it carries.
    #[must_use]
    pub fn version_to_write(&self, stored: &Instance) -> u16 {
        let token = self.request.token.as_ref().filter(|_| self.setting.is_state_in_handle());
        token.and_then(|token| token.version).unwrap_or(stored.version)
    }

    /// Where the handle carries the state, the answer carries the new one.
    pub fn carry_state(&mut self) {
        if !self.setting.is_state_in_handle() {
            return;
        }
        let Some(instance) = self.handle().and_then(|handle| self.anywhere(handle)) else { return };
        let token = View { version: Some(instance.version), content: Some(instance.content.clone()), fence: None };
        self.progress.answer.token = Some(token);
    }

    /// Notes in the ledger that changes of the intent took effect, and tells the invariants.
    pub fn committed(
        &mut self,
        handle: Handle,
        before: Option<Instance>,
        after: Instance,
        changes: &[u8],
        can_erase: bool,
    ) {
        let slot = self.setting.ledger_slot(self.agent());
        let mut ledger = self.access.get(slot).ledger().clone();
        let of_intent = &mut ledger.entries[usize::from(self.request.entry)];
        changes.iter().for_each(|change| of_intent.note_effect(handle, *change));
        self.access.set(slot, ledger.into());
        self.tell_of_commit(handle, before, after, can_erase, false);
    }

    /// Tells the invariants of what was committed, under whatever lease.
    pub fn tell_of_commit(
        &mut self,
        handle: Handle,
        before: Option<Instance>,
        after: Instance,
        can_erase: bool,
        taken_back: bool,
    ) {
        let denied = super::intents::denied(self.setting, self.access, self.request);
        let leased = self.fence().map(|fence| (fence, self.lease()));
        if let Some((fence, mut lease)) = leased.clone() {
            let agent = self.request.agent;
            match lease.wrote.iter_mut().find(|(other, _)| *other == agent) {
                Some((_, newest)) => *newest = fence.max(*newest),
                None => lease.wrote.push((agent, fence)),
            }
            lease.wrote.sort_unstable();
            self.set_lease(lease);
        }
        let (request, effects) = (self.request.clone(), self.effects());
        let broken_basis = self.broken_basis(before.as_ref());
        self.facts.push(Fact::Committed {
            request,
            handle,
            before,
            after,
            broken_basis,
            can_erase,
            effects,
            denied,
            besides: self.at_other,
            taken_back,
            leased,
        });
    }

    /// How often the call's intent, or the part of it that did most often, took effect on what can still be reached:
    /// neither expired nor deleted. At most 2.
    #[must_use]
    pub fn effects(&self) -> u8 {
        let effects = super::became(self.setting, self.access, self.request.agent, self.request.entry).effects;
        let counts = |handle: Handle| self.anywhere(handle).is_some_and(Instance::is_reachable);
        let of = |change: u8| {
            let reachable = effects.iter().filter(|effect| effect.change == change && counts(effect.handle));
            reachable.map(|effect| effect.count).sum::<u8>().min(2)
        };
        effects.iter().map(|effect| of(effect.change)).max().unwrap_or(0)
    }

    /// A content with the change of an intent in it. A field that is set shows the intent and, of what the copy showed,
    /// only what the author's view showed or the author did before; an append or increment adds to it.
    fn changed(&self, mut content: Content, change: &Operation, intent: usize) -> Content {
        let own = self.setting.earlier_intents(self.agent(), usize::from(self.request.entry));
        let seen = self.other().map_or(&self.request.seen, |other| &other.seen);
        let seen = |field: usize| seen.get(field).copied().unwrap_or(Intents::NONE).union(own);
        let before: Vec<Intents> = content.iter().map(|field| field.shows).collect();
        change_fields(&mut content, change, Intents::of(intent));
        if matches!(change, Operation::Set(_)) {
            for field in change.fields() {
                content[field].shows = Intents::of(intent).union(before[field].intersection(seen(field)));
            }
        }
        content
    }
}

/// Empties fields: they say nothing, and show nobody's change.
pub fn drop_fields(content: &mut [Field], fields: &[usize]) {
    for &field in fields {
        content[field] = Field { value: content[field].value.empty(), shows: Intents::NONE };
    }
}

/// Applies an operation to a content, and adds the intent to what its fields show. An increment saturates.
pub fn change_fields(content: &mut [Field], operation: &Operation, intent: Intents) {
    use crate::model::Value;
    for index in operation.fields() {
        content[index].shows = content[index].shows.union(intent);
    }
    match operation {
        Operation::Set(changes) => {
            for (index, value) in changes {
                content[*index].value = value.clone();
            }
        }
        Operation::Append(changes) => {
            for (index, element) in changes {
                if let Value::List(elements) = &mut content[*index].value {
                    elements.push(element.clone());
                }
            }
        }
        Operation::Increment(changes) => {
            for (index, amount) in changes {
                if let Value::Number(number) = &mut content[*index].value {
                    *number = number.saturating_add(*amount);
                }
            }
        }
        Operation::Mint | Operation::Close | Operation::Approve | Operation::Execute | Operation::Delete => {}
    }
}
