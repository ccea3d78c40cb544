//! Renaming components under a symmetry: other agents, nodes, intents, fields and values in the same places.
//!
//! Each function makes a component anew from all of its fields, so that a new field does not compile until someone has
//! thought of it. What is kept in an order of its content is put into that order again.

use super::agent::{Agent, Known, View};
use super::cache::Cache;
use super::call::{
    Answer, Arguments, Aside, Call, Claim, Key, Other, Payload, Position, Progress, Reply, Request, Wrote,
};
use super::content::{Content, Field, Intents};
use super::keys::{Fingerprint, KeyTable, Record, RecordKey};
use super::lease::{Lease, Leases};
use super::ledger::{IntentLedger, Ledger};
use super::node::Memory;
use super::resource::{Handle, Instance, Resource};
use super::{Component, Queue, Setting, Symmetry, Undecided};
use crate::model::{Operation, ResourceId, Value};

/// A symmetry at work.
struct Renaming<'r> {
    setting: &'r Setting,
    symmetry: &'r Symmetry,
}

/// The component as it is after a symmetry, in whichever slot.
#[must_use]
pub fn rename(setting: &Setting, symmetry: &Symmetry, component: &Component) -> Component {
    let renaming = Renaming { setting, symmetry };
    match component {
        Component::Agent(agent) => renaming.agent(agent).into(),
        Component::Call(call) => call.as_ref().map(|call| renaming.call(call)).into(),
        Component::Orphans(calls) => Component::Orphans(sorted(calls.iter().map(|call| renaming.call(call)).collect())),
        Component::Ledger(Ledger { agent, entries }) => {
            let image = symmetry.agent(*agent);
            let entries = entries.iter().enumerate();
            let entries = entries.map(|(entry, became)| renaming.became([*agent, image], entry, became)).collect();
            Ledger { agent: image, entries }.into()
        }
        Component::Resource(resource) => renaming.resource(resource).into(),
        Component::Keys(table) => renaming.keys(table).into(),
        Component::Leases(Leases { resource, leases }) => {
            let leases = leases.iter().map(|lease| renaming.lease(lease)).collect();
            Leases { resource: *resource, leases }.into()
        }
        Component::Queue(Queue { resource, tickets }) => Queue { resource: *resource, tickets: tickets.clone() }.into(),
        Component::Memory(memory) => renaming.memory(memory).into(),
        Component::Cache(cache) => renaming.cache(cache).into(),
        // Symmetries leave principals where they are.
        Component::Credentials(credentials) => Component::Credentials(credentials.clone()),
        Component::Upstream(seen) => {
            let seen = seen.iter().map(|(principal, key)| (*principal, renaming.key(key)));
            Component::Upstream(sorted(seen.collect()))
        }
        Component::Route(nodes) => {
            Component::Route(nodes.iter().map(|node| node.map(|node| symmetry.node(node))).collect())
        }
        Component::Deployed(nodes) => {
            let mut renamed = nodes.clone();
            for (node, deployed) in (0..).zip(nodes) {
                renamed[usize::from(symmetry.node(node))] = *deployed;
            }
            Component::Deployed(renamed)
        }
        Component::Budgets(budgets) => Component::Budgets(budgets.clone()),
        Component::Requests(requests) => {
            let mut renamed = requests.clone();
            for (agent, sent) in (0..).zip(requests) {
                renamed[usize::from(symmetry.agent(agent))] = *sent;
            }
            Component::Requests(renamed)
        }
    }
}

fn sorted<T: Ord>(mut values: Vec<T>) -> Vec<T> {
    values.sort();
    values
}

impl Renaming<'_> {
    /// What became of an intent says nothing of agents, nodes or values. Entries correspond, and so do what they change.
    fn became(&self, agents: [u8; 2], entry: usize, became: &IntentLedger) -> IntentLedger {
        let mut renamed = became.clone();
        if !renamed.effects.is_empty() {
            let [from, to] = agents.map(|agent| self.setting.changes_of_entry(usize::from(agent), entry));
            for effect in &mut renamed.effects {
                let place = from.iter().position(|change| *change == effect.change);
                effect.change = place.map_or(effect.change, |place| to[place]);
            }
            renamed.effects.sort_unstable();
        }
        renamed
    }

    fn agent(&self, agent: &Agent) -> Agent {
        let Agent {
            id,
            entry,
            errand,
            attempt,
            plans,
            first_plans,
            under_first_plan,
            undecided,
            pending,
            sends,
            broke,
            redo,
            reissue,
            stopped,
            old,
            known,
        } = agent;
        Agent {
            id: self.symmetry.agent(*id),
            // Work lists correspond entry by entry, and so do the plans for them.
            entry: *entry,
            errand: *errand,
            attempt: *attempt,
            plans: plans.clone(),
            first_plans: first_plans.clone(),
            under_first_plan: *under_first_plan,
            undecided: undecided.as_deref().map(|undecided| Box::new(self.undecided(undecided))),
            pending: pending.as_ref().map(|request| self.request(request)),
            sends: *sends,
            broke: *broke,
            redo: *redo,
            reissue: *reissue,
            stopped: *stopped,
            old: old.iter().map(|(handle, view)| (*handle, self.view(of(*handle), view))).collect(),
            known: known.iter().enumerate().map(|(resource, known)| self.known(resource, known)).collect(),
        }
    }

    fn undecided(&self, undecided: &Undecided) -> Undecided {
        let Undecided { occasion, request, current } = undecided;
        Undecided { occasion: *occasion, request: self.request(request), current: current.clone() }
    }

    fn known(&self, resource: ResourceId, known: &Known) -> Known {
        let Known { handle, view, leaked, token, forgotten } = known;
        Known {
            handle: *handle,
            view: view.as_ref().map(|view| self.view(resource, view)),
            leaked: sorted(leaked.iter().map(|key| self.key(key)).collect()),
            token: token.as_ref().map(|token| self.view(resource, token)),
            forgotten: *forgotten,
        }
    }

    fn view(&self, resource: ResourceId, view: &View) -> View {
        let View { version, content, fence } = view;
        View {
            version: *version,
            content: content.as_ref().map(|content| self.content(resource, content)),
            fence: *fence,
        }
    }

    fn content(&self, resource: ResourceId, content: &Content) -> Content {
        let renamed = content.iter().enumerate().map(|(index, Field { value, shows })| Field {
            value: self.symmetry.value(resource, index, value),
            shows: self.intents(*shows),
        });
        self.in_place(resource, renamed.collect())
    }

    /// Values of the fields of a resource, each where its field is now.
    fn in_place<T: Clone>(&self, resource: ResourceId, of_fields: Vec<T>) -> Vec<T> {
        let mut moved = of_fields.clone();
        for (index, of_field) in of_fields.into_iter().enumerate() {
            moved[self.symmetry.field(resource, index)] = of_field;
        }
        moved
    }

    fn intents(&self, intents: Intents) -> Intents {
        let nobody = intents.intersection(Intents::NOBODY);
        intents.iter().fold(nobody, |all, intent| all.union(Intents::of(self.symmetry.intent(intent))))
    }

    fn call(&self, call: &Call) -> Call {
        let Call { request, position, deployed, broken } = call;
        let resource = usize::from(request.resource);
        let position = match position {
            Position::InTransit => Position::InTransit,
            Position::AtNode { node, progress } => {
                Position::AtNode { node: self.symmetry.node(*node), progress: self.progress(request, progress) }
            }
            Position::Interrupted { progress } => Position::Interrupted { progress: self.progress(request, progress) },
            Position::Answered { node, answer } => {
                Position::Answered { node: self.symmetry.node(*node), answer: self.answer(resource, answer) }
            }
            Position::Unanswered { node } => Position::Unanswered { node: self.symmetry.node(*node) },
        };
        Call { request: self.request(request), position, deployed: *deployed, broken: *broken }
    }

    fn request(&self, request: &Request) -> Request {
        let Request {
            agent,
            entry,
            tool,
            resource,
            handle,
            payload,
            seen,
            basis,
            expected,
            key,
            fence,
            token,
            credential,
            sent_at,
            superseded,
            other,
            id,
            issue,
        } = request;
        let other = other.as_deref().map(|Other { handle, operation, seen, fence }| Other {
            handle: *handle,
            operation: self.symmetry.operation(of(*handle), operation),
            seen: self.in_place(of(*handle), seen.iter().map(|shown| self.intents(*shown)).collect()),
            fence: *fence,
        });
        let about = usize::from(*resource);
        let seen = self.in_place(about, seen.iter().map(|shown| self.intents(*shown)).collect());
        Request {
            agent: self.symmetry.agent(*agent),
            entry: *entry,
            tool: *tool,
            resource: *resource,
            handle: *handle,
            payload: self.payload(about, payload),
            seen,
            basis: basis.iter().map(|(handle, view)| (*handle, self.view(of(*handle), view))).collect(),
            expected: expected.clone(),
            key: key.as_ref().map(|key| self.key(key)),
            fence: *fence,
            token: token.as_ref().map(|token| self.view(about, token)),
            credential: *credential,
            sent_at: *sent_at,
            superseded: *superseded,
            other: other.map(Box::new),
            id: *id,
            issue: *issue,
        }
    }

    fn payload(&self, resource: ResourceId, payload: &Payload) -> Payload {
        match payload {
            Payload::Nothing => Payload::Nothing,
            // Whoever makes a resource makes it alike.
            Payload::Made(first) => Payload::Made(*first),
            Payload::Change(operation) => Payload::Change(self.symmetry.operation(resource, operation)),
            Payload::Snapshot(content) => Payload::Snapshot(self.content(resource, content)),
        }
    }

    fn key(&self, key: &Key) -> Key {
        match key {
            Key::Plan { agent, entry, plan } => {
                Key::Plan { agent: self.symmetry.agent(*agent), entry: *entry, plan: *plan }
            }
            Key::Shared(intent) => Key::Shared(small(self.symmetry.intent(usize::from(*intent)))),
            Key::Constant => Key::Constant,
            Key::Arguments(arguments) => {
                let Arguments { tool, handle, payload, expected, other } = &**arguments;
                // Only a mint names no handle, and what it carries is the same for all.
                let payload = handle.map_or_else(|| payload.clone(), |handle| self.payload(of(handle), payload));
                let (expected, other) = (expected.clone(), self.besides(other.as_ref()));
                Key::Arguments(Box::new(Arguments { tool: *tool, handle: *handle, payload, expected, other }))
            }
        }
    }

    /// What is changed besides, in another resource.
    fn besides(&self, other: Option<&(Handle, Operation)>) -> Option<(Handle, Operation)> {
        other.map(|(handle, operation)| (*handle, self.symmetry.operation(of(*handle), operation)))
    }

    fn wrote(&self, resource: ResourceId, wrote: &Wrote) -> Wrote {
        match wrote {
            Wrote::Anew(handle) => Wrote::Anew(*handle),
            Wrote::Over { content, lifecycle, approved, ended_by } => Wrote::Over {
                content: self.content(resource, content),
                lifecycle: *lifecycle,
                approved: approved.as_ref().map(|content| self.content(resource, content)),
                ended_by: ended_by.map(|intent| small(self.symmetry.intent(usize::from(intent)))),
            },
        }
    }

    fn aside(&self, resource: ResourceId, aside: &Aside) -> Aside {
        let Aside { working, loaded, written, grant, wrote } = aside;
        Aside {
            working: working.as_ref().map(|content| self.content(resource, content)),
            loaded: *loaded,
            written: *written,
            grant: *grant,
            wrote: wrote.as_deref().map(|wrote| Box::new(self.wrote(resource, wrote))),
        }
    }

    fn progress(&self, request: &Request, progress: &Progress) -> Progress {
        let Progress {
            next,
            ending,
            working,
            loaded,
            written,
            answer,
            claim,
            grant,
            wrote,
            aside,
            ticket,
            reply,
            answered,
        } = progress;
        let resource = usize::from(request.resource);
        let aside = aside.as_deref().zip(request.other.as_deref());
        Progress {
            wrote: wrote.as_deref().map(|wrote| Box::new(self.wrote(resource, wrote))),
            aside: aside.map(|(aside, other)| Box::new(self.aside(of(other.handle), aside))),
            next: *next,
            ending: *ending,
            working: working.as_ref().map(|content| self.content(resource, content)),
            loaded: *loaded,
            written: *written,
            answer: self.answer(resource, answer),
            claim: claim.map(|claim| self.claim(claim)),
            grant: *grant,
            ticket: *ticket,
            reply: match reply {
                Reply::Own => Reply::Own,
                Reply::Nowhere => Reply::Nowhere,
                Reply::Lost => Reply::Lost,
                Reply::StreamOf(agent) => Reply::StreamOf(self.symmetry.agent(*agent)),
            },
            answered: *answered,
        }
    }

    fn claim(&self, claim: Claim) -> Claim {
        let table = self.symmetry.slot(usize::from(claim.table));
        Claim { table: u16::try_from(table).expect("a state has few slots"), ..claim }
    }

    /// `resource`: what the call is about, for an answer that names no handle.
    fn answer(&self, resource: ResourceId, answer: &Answer) -> Answer {
        let Answer {
            outcome,
            handle,
            view,
            version,
            current,
            other,
            of_other,
            replayed,
            held_by,
            token,
            of: whose,
            made,
            unknown_handle,
        } = answer;
        let resource = handle.map_or(resource, of);
        Answer {
            outcome: *outcome,
            handle: *handle,
            view: view.as_ref().map(|view| self.view(resource, view)),
            version: *version,
            current: current.clone(),
            other: *other,
            of_other: *of_other,
            replayed: *replayed,
            // Symmetries leave principals where they are.
            held_by: *held_by,
            token: token.as_ref().map(|token| self.view(resource, token)),
            of: *whose,
            made: *made,
            unknown_handle: *unknown_handle,
        }
    }

    fn resource(&self, resource: &Resource) -> Resource {
        let Resource { id, instances } = resource;
        Resource {
            id: *id,
            instances: instances.iter().map(|instance| self.instance(usize::from(*id), instance)).collect(),
        }
    }

    fn instance(&self, resource: ResourceId, instance: &Instance) -> Instance {
        let Instance {
            content,
            version,
            lifecycle,
            expired,
            filed_under,
            revoked,
            approved,
            node,
            session,
            lost,
            ended_by,
            previous,
            history,
        } = instance;
        let values = |values: &Vec<Value>| {
            let renamed = values.iter().enumerate().map(|(index, value)| self.symmetry.value(resource, index, value));
            self.in_place(resource, renamed.collect())
        };
        Instance {
            content: self.content(resource, content),
            version: *version,
            lifecycle: *lifecycle,
            expired: *expired,
            // Symmetries leave principals where they are.
            filed_under: *filed_under,
            revoked: revoked.clone(),
            approved: approved.as_ref().map(|content| self.content(resource, content)),
            // Where state lives in the store, this is the first node, whichever made it.
            node: if self.setting.is_state_in_nodes() { self.symmetry.node(*node) } else { *node },
            session: session.map(|agent| self.symmetry.agent(agent)),
            lost: *lost,
            ended_by: ended_by.map(|intent| small(self.symmetry.intent(usize::from(intent)))),
            previous: previous.as_ref().map(|(version, content)| (*version, self.content(resource, content))),
            history: sorted(history.iter().map(|(version, old)| (*version, values(old))).collect()),
        }
    }

    fn keys(&self, table: &KeyTable) -> KeyTable {
        let KeyTable { slot, records } = table;
        let mut records: Vec<(RecordKey, Record)> = records
            .iter()
            .map(|(RecordKey { instance, credential, key }, record)| {
                let key = RecordKey { instance: *instance, credential: *credential, key: self.key(key) };
                (key, self.record(record))
            })
            .collect();
        records.sort_by(|a, b| a.0.cmp(&b.0));
        let slot = self.symmetry.slot(usize::from(*slot));
        KeyTable { slot: u16::try_from(slot).expect("a state has few slots"), records }
    }

    fn record(&self, record: &Record) -> Record {
        match record {
            // Symmetries leave principals where they are.
            Record::Claim { claim, by, handle } => Record::Claim { claim: *claim, by: *by, handle: *handle },
            Record::Done { fingerprint, answer, by, handle: named } => {
                // Only a mint names no handle, and what it carries is the same for all.
                let resource = named.map_or(0, of);
                let Fingerprint { operation, handle, expected, other } = &**fingerprint;
                let operation = operation.as_ref().map(|(tool, payload)| (*tool, self.payload(resource, payload)));
                let (expected, other) = (expected.clone(), self.besides(other.as_ref()));
                Record::Done {
                    fingerprint: Box::new(Fingerprint { operation, handle: *handle, expected, other }),
                    answer: self.answer(resource, answer),
                    by: *by,
                    handle: *named,
                }
            }
        }
    }

    fn lease(&self, lease: &Lease) -> Lease {
        let Lease { holder, given, presented, wrote } = lease;
        Lease {
            holder: holder.map(|(agent, fence)| (self.symmetry.agent(agent), fence)),
            given: *given,
            presented: *presented,
            wrote: sorted(wrote.iter().map(|(agent, fence)| (self.symmetry.agent(*agent), *fence)).collect()),
        }
    }

    fn memory(&self, memory: &Memory) -> Memory {
        let Memory { identity } = memory;
        Memory { identity: identity.map(|(agent, credential)| (self.symmetry.agent(agent), credential)) }
    }

    fn cache(&self, cache: &Cache) -> Cache {
        let Cache { copies } = cache;
        let copies = copies.iter().map(|(scope, handle, view)| {
            // A scope holds parts of principals, which symmetries leave where they are.
            (scope.clone(), *handle, self.view(of(*handle), view))
        });
        Cache { copies: sorted(copies.collect()) }
    }
}

fn of(handle: Handle) -> ResourceId {
    usize::from(handle.resource)
}

fn small(index: usize) -> u8 {
    super::setting::small(index)
}
