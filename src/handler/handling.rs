//! What a step sees: one call, and the state that its transaction works on.

use super::End;
use crate::engine::Access;
use crate::model::{AgentId, Operation, Outcome, ResourceId};
use crate::world::{
    Answer, Component, Content, Fact, Field, Handle, Instance, Intents, Key, KeyTable, Lifecycle, Payload, Progress,
    Request, Setting,
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
    /// What happened, for the invariants.
    pub facts: Vec<Fact>,
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

    /// The handle that the call is about: that of the request, or of what it minted.
    #[must_use]
    pub const fn handle(&self) -> Option<Handle> {
        match self.progress.answer.handle {
            Some(handle) => Some(handle),
            None => self.request.handle,
        }
    }

    /// The resource that the handle names, if it names one here.
    #[must_use]
    pub fn instance(&self) -> Option<&Instance> {
        self.instance_of(self.handle()?)
    }

    /// The resource that a handle names, if it names one here.
    #[must_use]
    pub fn instance_of(&self, handle: Handle) -> Option<&Instance> {
        let slot = self.setting.resource_slot(usize::from(handle.resource));
        let instance = self.access.get(slot).resource().instances.get(usize::from(handle.instance))?;
        let session = instance.session.is_none_or(|session| session == self.request.agent);
        let here = !self.setting.is_state_in_nodes() || instance.node == self.node && session;
        (here && !instance.lost && instance.lifecycle != Lifecycle::Deleted).then_some(instance)
    }

    /// What a handle names, wherever it is and whatever became of it (ghost: for the invariants only).
    #[must_use]
    pub fn anywhere(&self, handle: Handle) -> Option<&Instance> {
        let slot = self.setting.resource_slot(usize::from(handle.resource));
        self.access.get(slot).resource().instances.get(usize::from(handle.instance))
    }

    /// Whether a resource that the plan rests on has changed since its author saw it (ghost).
    #[must_use]
    pub fn basis_changed(&self) -> bool {
        self.request.basis.iter().any(|(handle, seen)| {
            let Some(now) = self.anywhere(*handle) else { return true };
            let version = seen.version.is_some_and(|version| version != now.version);
            version || seen.content.as_ref().is_some_and(|content| !same_values(content, &now.content))
        })
    }

    /// The resource that the handle names, or the end of the call with `not-found`.
    pub fn existing(&self) -> Result<&Instance, End> {
        self.instance().ok_or_else(|| self.refuse(Outcome::NotFound))
    }

    /// Ends the call with a refusal.
    #[must_use]
    pub fn refuse(&self, outcome: Outcome) -> End {
        End { answer: Box::new(Answer { outcome, ..Answer::about(self.request.handle) }) }
    }

    /// The intent that the call serves; reads serve none.
    #[must_use]
    pub fn intent(&self) -> Option<usize> {
        self.setting.intent_of(self.request)
    }

    /// The principal for whom the intent works.
    #[must_use]
    pub fn principal_of(&self, intent: u8) -> u8 {
        self.setting.principal(self.setting.intents[usize::from(intent)].agent)
    }

    /// The slot of the call's key table and the place in it; `None` for a request without a key.
    #[must_use]
    pub fn key(&self) -> Option<(usize, (Option<u8>, Key))> {
        let key = self.request.key.clone()?;
        let slot = self.setting.keys_slot(self.agent(), self.resource_id(), self.request.tool, self.node);
        let instance = self.request.handle.filter(|_| self.setting.keys_by_handle()).map(|handle| handle.instance);
        Some((slot, (instance, key)))
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

    /// Writes the operation over this content, or the snapshot that was sent; or ends the resource. The intent takes
    /// effect.
    ///
    /// # Errors
    ///
    /// Ends the call with `not-found` when there is no such resource.
    pub fn write(&mut self, base: Content, loaded: bool) -> Result<(), End> {
        let before = self.existing()?.clone();
        let handle = self.handle().expect("a resource that exists was named");
        let Some(intent) = self.intent() else { return Ok(()) };
        let operation = self.setting.intents[intent].operation.clone();
        let content = match &self.request.payload {
            Payload::Snapshot(content) if operation.changes_fields() => content.clone(),
            Payload::Change(change) => self.changed(base, change, intent),
            Payload::Snapshot(_) | Payload::Nothing => base,
        };
        let approved = match (&operation, &self.request.payload) {
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
        let ended_by = if lifecycle == before.lifecycle { before.ended_by } else { u8::try_from(intent).ok() };
        let mut after = Instance { content, approved, lifecycle, ended_by, ..before.clone() };
        if self.setting.versions_come_back() {
            after.history.push((before.version, before.values()));
            after.history.sort();
            after.history.dedup();
        }
        self.change_instance(handle, |instance| *instance = after.clone());
        let erases_fields = match (&operation, &self.request.payload) {
            (Operation::Set(_), _) => true,
            (operation, Payload::Snapshot(_)) => operation.changes_fields(),
            _ => false,
        };
        self.committed(handle, Some(before), after, erases_fields || loaded);
        Ok(())
    }

    /// Notes in the ledger that the intent took effect, and tells the invariants.
    pub fn committed(&mut self, handle: Handle, before: Option<Instance>, after: Instance, can_erase: bool) {
        let slot = self.setting.ledger_slot(self.agent());
        let mut ledger = self.access.get(slot).ledger().clone();
        let of_intent = &mut ledger.entries[usize::from(self.request.entry)];
        of_intent.note_effect(handle);
        let told = of_intent.told;
        self.access.set(slot, ledger.into());
        let (request, effects, basis_changed) = (self.request.clone(), self.effects(), self.basis_changed());
        self.facts.push(Fact::Committed { request, handle, before, after, basis_changed, can_erase, effects, told });
    }

    /// How often the call's intent took effect on what can still be reached: neither expired nor deleted. At most 2.
    #[must_use]
    pub fn effects(&self) -> u8 {
        let ledger = self.access.get(self.setting.ledger_slot(self.agent())).ledger();
        let effects = &ledger.entries[usize::from(self.request.entry)].effects;
        let counts = |handle: &Handle| self.anywhere(*handle).is_some_and(Instance::is_reachable);
        effects.iter().filter(|(handle, _)| counts(handle)).map(|(_, count)| count).sum::<u8>().min(2)
    }

    /// A content with the change of an intent in it. A field that is set shows the intent and, of what the copy showed,
    /// only what the author's view showed or the author did before; an append or increment adds to it.
    fn changed(&self, mut content: Content, change: &Operation, intent: usize) -> Content {
        let own = self.setting.earlier_intents(intent);
        let seen = |field: usize| self.request.seen.get(field).copied().unwrap_or(Intents::NONE).union(own);
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

fn same_values(one: &[Field], other: &[Field]) -> bool {
    one.iter().map(|field| &field.value).eq(other.iter().map(|field| &field.value))
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
