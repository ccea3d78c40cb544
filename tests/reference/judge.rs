//! The invariants of section 8, each where the fact that breaks it happens.

use std::collections::BTreeSet;

use handlecheck::model::design::State as StateIn;
use handlecheck::model::protocol::TaskIds;
use handlecheck::model::{
    AgentId, Entry, EntryId, Model, Operation, Outcome, Principal, Told, Tool, Value, design::PrincipalPart,
};

use super::conditions;
use super::sharing;
use super::state::{
    Answer, Call, Change, Content, Handle, Intent, Life, Place, Request, State, Stored, Tag, Target, on_any_side,
    values,
};
use super::world::World;
use super::write::parts;

pub const NO_LOST_UPDATE: &str = "no-lost-update";
pub const NO_DOUBLE_WRITE: &str = "no-double-write";
pub const NO_CROSS_PRINCIPAL: &str = "no-cross-principal";
pub const TRUTHFUL_OUTCOME: &str = "truthful-outcome";
pub const RESPECTS_TERMINAL_STATE: &str = "respects-terminal-state";
pub const APPROVAL_COVERS_EXECUTION: &str = "approval-covers-execution";
pub const BASIS_HOLDS: &str = "basis-holds";
pub const HANDLE_RESOLVABLE: &str = "handle-resolvable";
pub const NO_ORPHAN: &str = "no-orphan";
pub const SINGLE_LEASE_HOLDER: &str = "single-lease-holder";
pub const NO_EFFECT_AFTER_REVOCATION: &str = "no-effect-after-revocation";
pub const VERSION_NAMES_ONE_CONTENT: &str = "version-names-one-content";
pub const FRESH_READ: &str = "fresh-read";
pub const RESOLVES: &str = "resolves";

/// All invariants. `resolves` is judged on the whole graph.
pub const ALL: &[&str] = &[
    NO_LOST_UPDATE,
    NO_DOUBLE_WRITE,
    NO_CROSS_PRINCIPAL,
    TRUTHFUL_OUTCOME,
    RESPECTS_TERMINAL_STATE,
    APPROVAL_COVERS_EXECUTION,
    BASIS_HOLDS,
    HANDLE_RESOLVABLE,
    NO_ORPHAN,
    SINGLE_LEASE_HOLDER,
    NO_EFFECT_AFTER_REVOCATION,
    VERSION_NAMES_ONE_CONTENT,
    FRESH_READ,
    RESOLVES,
];

/// The part of a principal.
pub fn part(principal: &Principal, part: PrincipalPart) -> Option<&String> {
    match part {
        PrincipalPart::Subject => Some(&principal.subject),
        PrincipalPart::Client => principal.client.as_ref(),
        PrincipalPart::Tenant => principal.tenant.as_ref(),
    }
}

/// Does this principal have all parts that the holder of the right has?
pub fn same_principal(right: &Principal, principal: &Principal) -> bool {
    let parts = PrincipalPart::ALL.iter().filter(|kind| part(right, **kind).is_some());
    parts.into_iter().all(|kind| part(right, *kind) == part(principal, *kind))
}

/// Is this principal the owner, or one with whom the resource is shared?
pub fn entitled(model: &Model, principal: &Principal, handle: Handle, owner: &Principal) -> bool {
    let shared = &model.scenario.resources[handle.0].shared_with;
    std::iter::once(owner).chain(shared).any(|right| same_principal(right, principal))
}

/// The principal for whom an agent acts.
pub fn principal(model: &Model, agent: AgentId) -> &Principal {
    &model.scenario.agents[agent].principal
}

/// Is this agent entitled to this handle? Nobody is entitled to a handle that never existed.
pub fn agent_entitled(model: &Model, state: &State, agent: AgentId, handle: Handle) -> bool {
    let stored = state.resources.get(&handle);
    stored.is_some_and(|stored| entitled(model, principal(model, agent), handle, &stored.owner))
}

/// Is a change the making of what it is in?
fn mints(model: &Model, change: &Change) -> bool {
    match change {
        Change::Of((agent, entry), _) => {
            super::client::tool_of(&model.scenario.agents[*agent].work[*entry]) == Tool::Mint
        }
        Change::Nobody => false,
    }
}

/// The changes that an intent makes.
pub fn changes_of(intent: Intent, operation: &Operation) -> BTreeSet<Change> {
    operation.fields().into_iter().map(|field| Change::Of(intent, field)).collect()
}

/// A commit of an intent on a resource, as it was just before and with the content that the commit left.
pub struct Commit<'c> {
    pub call: &'c Call,
    pub handle: Handle,
    pub before: &'c Stored,
    pub after: &'c Content,
    /// The fields that took effect with it.
    pub parts: Vec<Option<usize>>,
    /// Nothing of the intent was written by this call before.
    pub first: bool,
    /// A working copy was written back, not the bare operation applied.
    pub saved: bool,
    /// It takes back what the call did.
    pub taken_back: bool,
}

impl World<'_> {
    /// Everything that is judged when a change commits.
    pub fn judge_commit(&mut self, commit: &Commit<'_>) {
        let request = &commit.call.request;
        let (Some(intent), Some(operation)) = (request.intent, &request.operation) else { return };
        self.judge_lost_update(commit, intent, operation);
        let was_changed = commit.before.content.iter().any(|field| !field.shows.is_empty());
        if was_changed && !operation.fields().is_empty() {
            self.witnessed(VERSION_NAMES_ONE_CONTENT);
        }
        for part in &commit.parts {
            let target = Target::Resource(commit.handle, *part);
            if commit.taken_back {
                self.take_back_effect(intent, target);
            } else {
                self.count_effect(intent, target);
            }
        }
        let who = principal(self.model, request.agent).clone();
        if !entitled(self.model, &who, commit.handle, &commit.before.owner) {
            self.broken(NO_CROSS_PRINCIPAL);
        }
        if on_terminal_state(self.model, commit.before, intent) {
            self.broken(RESPECTS_TERMINAL_STATE);
        }
        if commit.taken_back {
            // It is no new change of the intent.
        } else if *operation == Operation::Execute && commit.before.approved != Some(values(&commit.before.content)) {
            self.broken(APPROVAL_COVERS_EXECUTION);
        }
        // What is written after the first change of a call rests on that.
        if commit.first && !commit.taken_back && basis_changed(self.model, &self.state, request, Some(commit.before)) {
            self.broken(BASIS_HOLDS);
        }
        if self.state.revoked.contains(&(who, commit.handle)) {
            self.broken(NO_EFFECT_AFTER_REVOCATION);
        }
    }

    /// Lost update: some field no longer shows a change that it showed just before, other than the write's own and
    /// the author's own earlier changes of a field that the write sets.
    fn judge_lost_update(&mut self, commit: &Commit<'_>, intent: Intent, operation: &Operation) {
        let own = changes_of(sharing::first(self.model, intent), operation);
        let sets = matches!(operation, Operation::Set(_));
        let carried = commit.call.request.token.is_some() && self.model.design.server.state == StateIn::Handle;
        let can_erase = commit.saved || sets || carried || commit.call.request.snapshot.is_some();
        let resource = &self.model.scenario.resources[commit.handle.0];
        for (index, field) in commit.before.content.iter().enumerate() {
            let set_here = sets && operation.fields().contains(&index);
            let earlier = |change: &Change| set_here && sharing::is_earlier(self.model, change, intent);
            let excused = |change: &Change| own.contains(change) || earlier(change);
            let mut must_stay = field.shows.iter().filter(|change| !excused(change));
            // Every copy has what was minted, unless a program does not know the field, or it is that of a namesake.
            let doubtful = resource.new_fields.contains(&index) || resource.chosen.is_some();
            let at_stake = |change: &Change| doubtful || !mints(self.model, change);
            if can_erase && must_stay.clone().any(at_stake) {
                self.witnessed(NO_LOST_UPDATE);
            }
            if must_stay.any(|change| !commit.after[index].shows.contains(change)) {
                self.broken(NO_LOST_UPDATE);
            }
        }
    }

    /// An effect of an intent was taken back.
    fn take_back_effect(&mut self, intent: Intent, target: Target) {
        if let Some(count) = self.state.ledger.get_mut(&(intent, target)).filter(|count| **count > 0) {
            *count -= 1;
            if *count == 0 {
                self.state.ledger.remove(&(intent, target));
            }
        }
    }

    /// An intent took effect: the ledger counts up to two, a double write is noticed, whichever of its entries did it, and so
    /// is a failure that was told too early, to whichever agent.
    pub fn count_effect(&mut self, intent: Intent, target: Target) {
        let count = self.state.ledger.entry((intent, target)).or_insert(0);
        *count = (*count + 1).min(2);
        let counted = |target: &Target| match target {
            Target::Upstream => false,
            Target::Resource(handle, _) => {
                let stored = &self.state.resources[handle];
                !stored.expired && !stored.lost && stored.life != Life::Deleted
            }
        };
        let work = sharing::same_work(self.model, intent);
        let of_intent = self.state.ledger.iter().filter(|((of, _), _)| work.contains(of));
        let part = |target: &Target| match target {
            Target::Upstream => None,
            Target::Resource(_, part) => *part,
        };
        let same_part = |at: &Target| counted(at) && part(at) == part(&target);
        let commits: u8 = of_intent.clone().filter(|((_, at), _)| same_part(at)).map(|(_, count)| count).sum();
        let upstream: u8 =
            of_intent.filter(|((_, target), _)| *target == Target::Upstream).map(|(_, count)| count).sum();
        if commits >= 2 || upstream >= 2 {
            self.broken(NO_DOUBLE_WRITE);
        }
        let denied = |(agent, entry): &Intent| {
            matches!(self.state.agents[*agent].told.get(entry), Some(Told::Failure | Told::Conflict))
        };
        if work.iter().any(denied) {
            self.broken(TRUTHFUL_OUTCOME);
        }
    }

    /// A leased write commits under a grant while another agent holds, or has written under, a newer one.
    pub fn judge_lease(&mut self, agent: AgentId, handle: Handle, node: usize, grant: u32) {
        let lease = self.state.lease_table(self.model, node).entry(handle).or_default();
        let newer = |of: AgentId, number: u32| of != agent && number > grant;
        let overtaken = lease.holder.is_some_and(|(of, number)| newer(of, number))
            || lease.wrote.iter().any(|(of, number)| newer(*of, *number));
        let written = lease.wrote.entry(agent).or_insert(grant);
        *written = (*written).max(grant);
        if overtaken {
            self.broken(SINGLE_LEASE_HOLDER);
        }
    }

    /// A request is sent: the witness of no-cross-principal.
    pub fn witness_send(&mut self, request: &Request) {
        let named = request.handle.into_iter().chain(request.other.as_ref().map(|other| other.handle));
        for handle in named {
            let there = self.state.resources.contains_key(&handle);
            if there && !agent_entitled(self.model, &self.state, request.agent, handle) {
                self.witnessed(NO_CROSS_PRINCIPAL);
            }
        }
        let who = principal(self.model, request.agent);
        let named = on_any_side(self.whole, &|side| side.protocol.task_ids == TaskIds::Client);
        if request.tool == Tool::Mint && named {
            let resources = &self.model.scenario.resources;
            let chosen = &resources[request.resource].chosen;
            let minter = |resource: usize| {
                let mints = |entry: &Entry| matches!(entry, Entry::Mutate { resource: of, operation: Operation::Mint, .. } if *of == resource);
                self.model
                    .scenario
                    .agents
                    .iter()
                    .find(|agent| agent.work.iter().any(mints))
                    .map(|agent| &agent.principal)
            };
            let taken = |other: usize| chosen.is_some() && resources[other].chosen == *chosen;
            if (0..resources.len()).any(|other| taken(other) && minter(other) != Some(who)) {
                self.witnessed(NO_CROSS_PRINCIPAL);
            }
        }
        let Some(key) = &request.key else { return };
        let by_call = self
            .state
            .calls()
            .any(|call| call.request.key.as_ref() == Some(key) && principal(self.model, call.request.agent) != who);
        let tables = self.state.nodes.iter().map(|node| &node.keys).chain([&self.state.keys]);
        let by_entry = tables.flatten().any(|((_, under), entry)| under == key && entry.by() != who);
        if by_call || by_entry {
            self.witnessed(NO_CROSS_PRINCIPAL);
        }
    }

    /// A request reaches a node: the witness of handle-resolvable.
    pub fn witness_delivery(&mut self, request: &Request, node: usize) {
        let Some(stored) = request.handle.and_then(|handle| self.state.resources.get(&handle)) else { return };
        let home = stored.node.unwrap_or(0);
        let scenario = &self.whole.scenario;
        let struck = self.state.left("restart-node") < scenario.faults.get("restart-node").copied().unwrap_or(0);
        let changed_over = scenario.deploy.restart && self.state.deployed.contains(&0);
        let only_node_restarted = self.state.nodes.len() == 1 && (struck || changed_over);
        if home != node || stored.lost || only_node_restarted {
            self.witnessed(HANDLE_RESOLVABLE);
        }
    }

    /// The first transaction of a call executes: witnesses.
    pub fn witness_start(&mut self, call: &Call) {
        let request = &call.request;
        let stored = request.handle.and_then(|handle| self.state.resources.get(&handle)).cloned();
        if let Some(intent) = request.intent {
            if self.state.happened(self.model, intent) {
                self.witnessed(NO_DOUBLE_WRITE);
            }
            let other = request.other.as_ref().and_then(|other| self.state.resources.get(&other.handle));
            if stored.iter().chain(other).any(|stored| on_terminal_state(self.model, stored, intent)) {
                self.witnessed(RESPECTS_TERMINAL_STATE);
            }
            if basis_changed(self.model, &self.state, request, stored.as_ref()) {
                self.witnessed(BASIS_HOLDS);
            }
        }
        let unlike_approved = |stored: &Stored| stored.approved != Some(values(&stored.content));
        if request.tool == Tool::Execute && stored.as_ref().is_some_and(unlike_approved) {
            self.witnessed(APPROVAL_COVERS_EXECUTION);
        }
        let minted = |change: &Change| mints(self.model, change);
        let has_changed = |stored: &Stored| {
            let changed = stored.content.iter().flat_map(|field| &field.shows).any(|change| !minted(change));
            changed || stored.approved.is_some() || stored.life != Life::Open
        };
        if request.tool == Tool::Read && stored.as_ref().is_some_and(has_changed) {
            self.witnessed(FRESH_READ);
        }
    }

    /// An answer is received: what is judged only then.
    pub fn judge_receive(&mut self, agent: AgentId, request: &Request, answer: &Answer) {
        if answer.of.is_some() {
            self.broken(NO_CROSS_PRINCIPAL);
        }
        for invariant in &answer.breaks {
            self.broken(invariant);
        }
        if answer.about != request.handle {
            self.broken(TRUTHFUL_OUTCOME);
        }
        if let Some(view) = &answer.view {
            if self.state.resources.contains_key(&view.handle)
                && !agent_entitled(self.model, &self.state, agent, view.handle)
            {
                self.broken(NO_CROSS_PRINCIPAL);
            }
            let older = request.sent_at.zip(view.version).is_some_and(|(sent, shown)| shown < sent);
            if Some(view.handle) == request.handle && (older || request.superseded) {
                self.broken(FRESH_READ);
            }
        }
        let other = request.other.as_ref().filter(|_| answer.of_other).map(|other| other.handle);
        let Some(handle) = other.or(request.handle) else { return };
        if answer.outcome == Outcome::NotFound && agent_entitled(self.model, &self.state, agent, handle) {
            let stored = &self.state.resources[&handle];
            // Whoever is entitled and presents a handle was told of it: nobody guesses or finds out what is its own.
            if stored.life != Life::Deleted && !stored.expired {
                self.broken(HANDLE_RESOLVABLE);
            }
        }
    }

    /// An agent is told something about an intent: `ok` is judged now, `failure` and `conflict` also ever after.
    pub fn judge_tell(&mut self, agent: AgentId, entry: EntryId, told: Told, shown: bool, plain: bool) {
        let happened = self.state.happened(self.model, (agent, entry));
        let wholly = self.happened_wholly(agent, entry);
        let lie = match told {
            Told::Ok => !wholly && !shown,
            Told::Failure | Told::Conflict => happened,
            Told::Unknown => false,
        };
        let promised = lie && told == Told::Ok && self.is_at_work((agent, entry));
        if promised {
            self.state.promised.insert((agent, entry));
            self.witnessed(TRUTHFUL_OUTCOME);
        } else if lie {
            self.broken(TRUTHFUL_OUTCOME);
        }
        if !plain || self.state.agents[agent].tag != Tag::First {
            self.witnessed(TRUTHFUL_OUTCOME);
        }
    }

    /// Is something left of a handler that has answered a call for this piece of work?
    fn is_at_work(&self, intent: Intent) -> bool {
        let work = sharing::same_work(self.model, intent);
        self.state.rests.iter().any(|rest| rest.request.intent.is_some_and(|served| work.contains(&served)))
    }

    /// What was told `ok` while something was left of its handler is judged when nothing is.
    pub fn judge_promises(&mut self) {
        for (agent, entry) in self.state.promised.clone() {
            if self.is_at_work((agent, entry)) {
                continue;
            }
            self.state.promised.remove(&(agent, entry));
            if !self.happened_wholly(agent, entry) {
                self.broken(TRUTHFUL_OUTCOME);
            }
        }
    }

    /// Did all of an intent take effect: each of its fields, somewhere, and upstream, as far as its handlers do such things?
    fn happened_wholly(&self, agent: AgentId, entry: EntryId) -> bool {
        let Entry::Mutate { operation, also, .. } = &self.model.scenario.agents[agent].work[entry] else { return true };
        let work = sharing::same_work(self.model, (agent, entry));
        let targets: Vec<Target> =
            self.state.ledger.keys().filter(|(of, _)| work.contains(of)).map(|(_, target)| *target).collect();
        let stored = |part| targets.iter().any(|target| matches!(target, Target::Resource(_, field) if *field == part));
        let called = targets.contains(&Target::Upstream);
        let tool = operation.tool();
        let some_step = |model: &Model, wanted: &dyn Fn(&str) -> bool| {
            model
                .design
                .server
                .handler(tool)
                .is_some_and(|handler| handler.transactions.concat().iter().any(|step| wanted(step)))
        };
        let always = |wanted: &dyn Fn(&str) -> bool| {
            let deployed = self.model.deployed.as_ref();
            some_step(self.model, wanted) && deployed.is_none_or(|deployed| some_step(&deployed.model, wanted))
        };
        let writes = always(&|step| matches!(step, "mint" | "apply" | "apply-next" | "write-content" | "save"));
        let calls = always(&|step| step.starts_with("call-upstream"));
        let others = also.iter().flat_map(|also| super::write::besides(parts(&also.operation)));
        let written = parts(operation).into_iter().chain(others).all(stored);
        let begun = targets.iter().any(|target| *target != Target::Upstream);
        (begun || called) && (written || !begun && !writes) && (called || !calls)
    }

    /// What is judged in a quiescent state: each live resource is known to an agent entitled to it, or will expire.
    pub fn judge_quiescent(&mut self) {
        let known = |handle: Handle| {
            (0..self.state.agents.len()).any(|agent| {
                let knows = self.state.agents[agent].knows.values().any(|known| known.handle == handle);
                knows && agent_entitled(self.model, &self.state, agent, handle)
            })
        };
        let lost = self.state.resources.iter().any(|(handle, stored)| {
            let live = stored.life == Life::Open && !stored.expired && !stored.lost;
            live && !self.model.scenario.resources[handle.0].expires && !known(*handle)
        });
        if lost {
            self.broken(NO_ORPHAN);
        }
    }
}

/// Has the resource expired, been deleted, or been ended by another intent?
pub fn on_terminal_state(model: &Model, stored: &Stored, intent: Intent) -> bool {
    let ended = stored.life != Life::Open && stored.ended_by != Some(sharing::first(model, intent));
    stored.expired || ended
}

/// Has a resource that the plan rests on changed since its author saw it, or is its condition not true? `own`: what the
/// call is about, before it changes that.
pub fn basis_changed(model: &Model, state: &State, request: &Request, own: Option<&Stored>) -> bool {
    let entry = request.intent.map(|(agent, entry)| &model.scenario.agents[agent].work[entry]);
    let judged = |resource| entry.is_some_and(|entry| conditions::names(model, entry, resource));
    let changed = request.basis.iter().any(|(handle, version, content)| {
        let now = if request.handle == Some(*handle) { own } else { state.resources.get(handle) };
        // What a condition names may change, as long as it is true.
        now.filter(|_| !judged(handle.0)).is_some_and(|stored| {
            version.is_some_and(|version| version != stored.version)
                || content.as_ref().is_some_and(|seen| {
                    let new = &model.scenario.resources[handle.0].new_fields;
                    // What it may not have been shown, it does not rest on.
                    let unseen = |field: usize| new.contains(&field) && is_empty(&seen[field]);
                    let now = values(&stored.content);
                    (0..seen.len()).any(|field| seen[field] != now[field] && !unseen(field))
                })
        })
    });
    changed || conditions::is_unmet(model, state, request, own)
}

/// Does a value say nothing?
fn is_empty(value: &Value) -> bool {
    match value {
        Value::Number(number) => *number == 0,
        Value::Text(text) => text.is_empty(),
        Value::List(elements) => elements.is_empty(),
    }
}

/// Was every intent of every agent told as `ok`?
pub fn all_told_ok(model: &Model, state: &State) -> bool {
    model.scenario.agents.iter().zip(&state.agents).all(|(of, agent)| {
        let intents = of.work.iter().enumerate().filter(|(_, entry)| matches!(entry, Entry::Mutate { .. }));
        intents
            .into_iter()
            .all(|(id, _)| agent.told.get(&id).map_or(agent.skipped.contains(&id), |told| *told == Told::Ok))
    })
}

/// The answer of a call that has been answered.
pub fn answer_of(call: &Call) -> Option<&Answer> {
    match &call.place {
        Place::Answered(_, answer) => Some(answer),
        Place::Transit | Place::AtNode(_) | Place::Kept(_) | Place::Unanswered(_) => None,
    }
}
