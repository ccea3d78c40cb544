//! The key table: where a key stands, and the steps that look for, claim, record and release it (section 5).
//!
//! A request without a key passes every one of them.

use handlecheck::model::design::{ClaimNames, FingerprintPart, OtherPayload, Place, PrincipalPart, ScopePart, Taken};
use handlecheck::model::{Model, Operation, Outcome, Principal, Tool};

use super::judge;
use super::rename;
use super::state::{Answer, Handle, Key, KeyEntry, NodeId, Print, Request, Scope, Sent, Table, values};
use super::steps::{End, Passed, Step, caller, identity};
use super::world::World;

/// What a call must have in common with others, in these respects.
pub fn scope(world: &World<'_>, request: &Request, node: NodeId, parts: &[ScopePart]) -> Vec<Scope> {
    let caller = caller(world, request, node);
    let of = |kind: PrincipalPart| Scope::Part(judge::part(&caller, kind).cloned());
    let value = |part: &ScopePart| match part {
        ScopePart::Principal => Scope::Principal(caller.clone()),
        ScopePart::Subject => of(PrincipalPart::Subject),
        ScopePart::Client => of(PrincipalPart::Client),
        ScopePart::Tenant => of(PrincipalPart::Tenant),
        ScopePart::Credential => Scope::Credential(caller.clone(), identity(world, request, node).1),
        ScopePart::Handle => Scope::Handle(request.handle),
        ScopePart::Tool => Scope::Tool(request.tool),
    };
    parts.iter().map(value).collect()
}

/// Where in the key table this request's key stands; `None` without a key.
pub fn key_place(world: &World<'_>, request: &Request, node: NodeId) -> Option<(Vec<Scope>, Key)> {
    let key = request.key.clone()?;
    Some((scope(world, request, node, &world.model.design.keys.scope), key))
}

/// The table in which this request's key stands: everything of its place but the handle and the credential.
fn table(world: &World<'_>, request: &Request, node: NodeId) -> Table {
    let keys = &world.model.design.keys;
    let coarse = |part: Scope| match part {
        Scope::Handle(handle) => Scope::Resource(handle.map(|handle| handle.0)),
        Scope::Credential(principal, _) => Scope::Principal(principal),
        other => other,
    };
    let place = (keys.place == Place::Node).then_some(node);
    (place, scope(world, request, node, &keys.scope).into_iter().map(coarse).collect())
}

/// The fields and values that a request carries: with a snapshot the whole content, with an approval what its author saw, with
/// a mint what it makes.
pub fn sent(model: &Model, request: &Request) -> Sent {
    if request.tool == Tool::Mint {
        let made = &model.scenario.resources[request.resource];
        return Sent::Making(made.fields.iter().cloned().collect());
    }
    match (&request.snapshot, &request.approves) {
        (Some(content), _) => Sent::Content(values(content)),
        (None, Some(seen)) => Sent::Content(seen.clone()),
        (None, None) => Sent::Change(request.operation.clone()),
    }
}

/// What it changes besides, as the server sees it.
pub fn besides(request: &Request) -> Option<(Handle, Operation)> {
    request.other.as_ref().map(|other| (other.handle, other.operation.clone()))
}

/// What "the same arguments" means. The fields and values of an operation are those that are sent: with a snapshot,
/// the whole content.
pub fn fingerprint(model: &Model, request: &Request) -> Vec<Print> {
    let print = |part: &FingerprintPart| match part {
        FingerprintPart::Operation => Print::Sent(request.tool, sent(model, request), besides(request)),
        FingerprintPart::Handle => Print::Handle(request.handle),
        FingerprintPart::ExpectedVersion => Print::Expected(request.expected.clone()),
    };
    model.design.keys.fingerprint.iter().map(print).collect()
}

impl Step<'_, '_> {
    /// `find-key`: no record under this key, and no claim but this call's own.
    pub fn find_key(&mut self) -> Passed {
        let node = self.handling.node;
        let Some(place) = key_place(self.world, self.request, node) else { return Ok(()) };
        let fingerprint = fingerprint(self.model(), self.request);
        let refuses = self.model().design.keys.other_payload == OtherPayload::Refuse;
        let entry = self.world.state.key_table(self.world.model, node).get(&place).cloned();
        let mut answer = match &entry {
            None => return Ok(()),
            Some(KeyEntry::Claim { number, .. }) if self.is_own(*number) => return Ok(()),
            Some(KeyEntry::Claim { .. }) => Answer::refusal(Outcome::InProgress, self.request.handle),
            Some(KeyEntry::Record { fingerprint: recorded, .. }) if refuses && *recorded != fingerprint => {
                Answer::refusal(Outcome::KeyMismatch, self.request.handle)
            }
            Some(KeyEntry::Record { answer, by, .. }) => {
                let mut answer = answer.clone();
                answer.replayed = true;
                if by != judge::principal(self.model(), self.request.agent) {
                    answer.breaks.insert(judge::NO_CROSS_PRINCIPAL);
                }
                answer
            }
        };
        if let Some(entry) = &entry {
            self.note_interference(&mut answer, entry.by());
        }
        Err(Box::new(End { answer, recorded: false }))
    }

    /// A call on the caller's own handle is answered from, refused or blocked by what belongs to a principal who has no
    /// right on that handle (no-cross-principal, interference).
    pub fn note_interference(&self, answer: &mut Answer, by: &Principal) {
        let who = judge::principal(self.model(), self.request.agent);
        let interferes = match self.request.handle {
            None => by != who,
            Some(handle) => self.world.state.resources.get(&handle).is_some_and(|stored| {
                judge::entitled(self.model(), who, handle, &stored.owner)
                    && !judge::entitled(self.model(), by, handle, &stored.owner)
            }),
        };
        if interferes {
            answer.breaks.insert(judge::NO_CROSS_PRINCIPAL);
        }
    }

    /// `claim-key`: `find-key`, then a claim of this attempt.
    pub fn claim_key(&mut self) -> Passed {
        self.find_key()?;
        let node = self.handling.node;
        let Some(place) = key_place(self.world, self.request, node) else { return Ok(()) };
        if !self.world.state.key_table(self.world.model, node).contains_key(&place) {
            let table = table(self.world, self.request, node);
            let number = match self.model().design.keys.claim_names {
                ClaimNames::Attempt => rename::fresh_claim(&self.world.state, &table),
                ClaimNames::Nothing => 0,
            };
            self.handling.claim = Some((table.clone(), number));
            let by = judge::principal(self.model(), self.request.agent).clone();
            let claim = KeyEntry::Claim { table, number, by, with: self.request.handle };
            self.world.state.key_table(self.world.model, node).insert(place, claim);
        }
        Ok(())
    }

    /// Is this the number of the call's own claim? Numbers are compared in the call's own table only.
    fn is_own(&self, number: u32) -> bool {
        let table = table(self.world, self.request, self.handling.node);
        self.handling.claim.as_ref() == Some(&(table, number))
    }

    /// `record-key`: stores `ok` and the answer so far under the key.
    pub fn record_key(&mut self) -> Passed {
        let node = self.handling.node;
        let Some(place) = key_place(self.world, self.request, node) else { return Ok(()) };
        let model = self.world.model;
        let there = self.world.state.key_table(model, node).get(&place).cloned();
        let holder = match &there {
            None => None,
            Some(KeyEntry::Claim { number, .. }) if self.is_own(*number) => None,
            Some(entry) => Some(entry.by()),
        };
        if let Some(holder) = holder
            && model.design.keys.taken == Taken::Refuse
        {
            let mut answer = Answer::refusal(Outcome::InProgress, self.request.handle);
            self.note_interference(&mut answer, holder);
            return Err(Box::new(End { answer, recorded: false }));
        }
        let entry = KeyEntry::Record {
            fingerprint: fingerprint(model, self.request),
            answer: self.handling.answer.clone(),
            by: judge::principal(model, self.request.agent).clone(),
            with: self.request.handle,
        };
        self.world.state.key_table(model, node).insert(place, entry);
        Ok(())
    }

    /// `release-key`: removes this call's claim; where claims name nothing, whatever claim stands.
    pub fn release_key(&mut self) -> Passed {
        let node = self.handling.node;
        let Some(place) = key_place(self.world, self.request, node) else { return Ok(()) };
        let any = self.model().design.keys.claim_names == ClaimNames::Nothing;
        let there = self.world.state.key_table(self.world.model, node).get(&place).cloned();
        if matches!(there, Some(KeyEntry::Claim { number, .. }) if any || self.is_own(number)) {
            self.world.state.key_table(self.world.model, node).remove(&place);
        }
        self.handling.claim = None;
        Ok(())
    }
}

impl KeyEntry {
    /// Ghost: whose entry it is.
    pub fn by(&self) -> &Principal {
        match self {
            Self::Claim { by, .. } | Self::Record { by, .. } => by,
        }
    }

    /// Ghost: the handle with which the key was used.
    pub fn with(&self) -> Option<Handle> {
        match self {
            Self::Claim { with, .. } | Self::Record { with, .. } => *with,
        }
    }
}
