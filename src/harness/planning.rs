//! Planning and sending: how an agent makes a request of what it knows.

use super::Harness;
use crate::engine::Access;
use crate::handler::{change_fields, drop_fields};
use crate::model::client::{BeforeWrite, KeyPolicy, Payload as Carries, Precondition};
use crate::model::design::NewFields;
use crate::model::scenario::Carried;
use crate::model::{AgentId, Also, Client, Entry, Free, Operation, ResourceId, Tool};
use crate::world::{
    Agent, Arguments, Attempt, Call, Component, Condition, Content, Errand, Fact, Field, Handle, Intents, Key, Other,
    Payload, Position, Purpose, Record, Request, Setting, Stamp, View, ghost,
};

/// What an agent must know of a resource before it can plan.
#[derive(Clone, Copy, Default)]
struct Needs {
    version: bool,
    content: bool,
}

fn needs(setting: &Setting, agent: &Agent, client: &Client, entry: &Entry, resource: ResourceId) -> Needs {
    match entry {
        Entry::Read { .. } => Needs::default(),
        Entry::HandOff { carries, .. } => {
            Needs { version: carries.contains(&Carried::Version), content: carries.contains(&Carried::Content) }
        }
        Entry::Mutate { .. } if client.blind => Needs::default(),
        Entry::Mutate { resource: own, operation, given, .. } if *own == resource => Needs {
            version: client.precondition != Precondition::None,
            content: *operation == Operation::Approve
                || operation.changes_fields() && client.payload == Carries::Snapshot
                || given.contains(own)
                || condition(setting, agent).is_some_and(|condition| condition.names(resource)),
        },
        // What it changes besides it sends alone.
        Entry::Mutate { also, .. } => Needs {
            version: client.precondition == Precondition::EveryViewedVersion,
            content: also.as_ref().is_none_or(|also| also.resource != resource),
        },
    }
}

/// The condition of the entry that an agent is at.
fn condition<'s>(setting: &'s Setting, agent: &Agent) -> Option<&'s Condition> {
    setting.condition(usize::from(agent.id), usize::from(agent.entry))
}

/// Whether an idle agent leaves its entry out: it has nothing more to read before it would plan, and of what it sees the
/// condition is not true. What it sees nothing of, it can't judge.
pub(super) fn skips(setting: &Setting, agent: &Agent) -> bool {
    let Some(condition) = condition(setting, agent).filter(|_| agent.pending.is_none()) else { return false };
    let client = setting.model.client(usize::from(agent.id), setting.tool_at(agent));
    let plans = match agent.errand {
        Errand::Begin => next_reading(setting, client, agent, Purpose::Look, 0).is_none(),
        Errand::Act => next_lacking(setting, client, agent, false, 0).is_none(),
        Errand::Reading { .. } | Errand::Verify => false,
    };
    let view = |resource: ResourceId| agent.known[resource].view.as_ref()?.content.as_ref();
    plans && condition.is_met(setting, view) == Some(false)
}

/// The next resource, counted from `from` in the list of those that the entry rests on, that the agent has to read
/// before it can plan.
pub(super) fn next_reading(
    setting: &Setting,
    client: &Client,
    agent: &Agent,
    purpose: Purpose,
    from: u8,
) -> Option<u8> {
    let always = match purpose {
        Purpose::Replan(_) => true,
        Purpose::Look => reads_before_writing(setting, client, agent),
    };
    next_lacking(setting, client, agent, always, from)
}

/// Whether the agent is at a write before which its harness always reads.
fn reads_before_writing(setting: &Setting, client: &Client, agent: &Agent) -> bool {
    let writes = matches!(super::entry(setting, agent), Some(Entry::Mutate { .. }));
    writes && client.before_write == BeforeWrite::ReadAgain
}

/// The next resource of that list of which the agent lacks what it needs, or just the next, if it reads `always`.
fn next_lacking(setting: &Setting, client: &Client, agent: &Agent, always: bool, from: u8) -> Option<u8> {
    let entry = super::entry(setting, agent)?;
    let lacks = |resource: ResourceId| {
        let needs = needs(setting, agent, client, entry, resource);
        let view = agent.known[resource].view.as_ref();
        needs.version && view.is_none_or(|view| view.version.is_none())
            || needs.content && view.is_none_or(|view| view.content.is_none())
    };
    let list = (0..).zip(entry.rests_on()).skip(usize::from(from));
    list.into_iter().find(|(_, resource)| always || lacks(*resource)).map(|(index, _)| index)
}

/// The number of an agent's next request; 0 where states carry no request ids.
pub fn next_request(setting: &Setting, access: &mut Access<'_, Component>, agent: AgentId) -> u16 {
    let Some(slot) = setting.requests_slot() else { return 0 };
    let mut requests = access.get(slot).requests().clone();
    requests[agent] = requests[agent].saturating_add(1);
    let next = requests[agent];
    access.set(slot, Component::Requests(requests));
    next
}

/// An issue that is none of those of an agent's calls; `None` where that does not matter.
pub fn fresh_issue(setting: &Setting, access: &Access<'_, Component>, agent: AgentId) -> Option<u16> {
    if !setting.reuses_request_ids() {
        return None;
    }
    let orphans = access.get(setting.orphans_slot(agent)).orphans();
    let calls = access.get(setting.call_slot(agent)).call().iter().chain(orphans);
    Some(calls.filter_map(|call| call.request.issue).max().map_or(0, |newest| newest + 1))
}

impl Harness<'_, '_> {
    /// The resource that the agent reads in this errand.
    pub(super) fn reading(&self, done: u8) -> ResourceId {
        let entry = self.entry().expect("an agent that reads is at an entry");
        entry.rests_on()[usize::from(done)]
    }

    /// For what the agent reads what it lacks. Where it reads before each write anyway, one that plans anew is still at that.
    fn purpose(&self) -> Purpose {
        let client = self.setting.model.client(self.id(), self.tool());
        let always = reads_before_writing(self.setting, client, &self.agent);
        let anew = always && self.agent.attempt == Attempt::Replan;
        if anew { Purpose::Replan(None) } else { Purpose::Look }
    }

    /// Sends the next call. `leaked` says which of the leaked keys it presents, where it presents one.
    pub fn send(&mut self, leaked: Option<u8>) {
        let entry = self.entry().expect("an agent that sends is at an entry");
        let nothing_pending = self.agent.errand == Errand::Act && self.agent.pending.is_none();
        let chooses = nothing_pending && self.client(self.tool()).is_free(Free::BeforeWrite);
        if self.agent.errand == Errand::Begin || chooses {
            let look = match entry {
                Entry::Read { .. } => None,
                Entry::Mutate { .. } | Entry::HandOff { .. } => self.next_reading(Purpose::Look, 0),
            };
            self.agent.errand = match look {
                Some(done) => Errand::Reading { purpose: self.purpose(), done },
                None => Errand::Act,
            };
        }
        if self.agent.errand == Errand::Act && self.agent.pending.is_none() {
            // A compaction may have taken what the agent had read.
            if let Some(done) = next_lacking(self.setting, self.own(), &self.agent, false, 0) {
                self.agent.errand = Errand::Reading { purpose: self.purpose(), done };
            }
        }
        let mut request = match (self.agent.errand, entry) {
            (Errand::Begin, _) => unreachable!("the errand was just decided"),
            (Errand::Reading { done, .. }, _) => self.read_of(self.reading(done)),
            (Errand::Verify, _) | (Errand::Act, Entry::Read { .. } | Entry::HandOff { .. }) => {
                self.read_of(entry.resource())
            }
            (Errand::Act, Entry::Mutate { .. }) => self.mutating(leaked),
        };
        request.credential = self.credential();
        if request.tool == Tool::Read && self.setting.reads_may_be_stale() {
            self.note_what_is_current(&mut request);
        }
        request.id = next_request(self.setting, self.access, self.id());
        request.issue = self.issue(&request);
        let shares_key = request.key.as_ref().is_some_and(|key| self.is_shared(key));
        self.facts.push(Fact::Sent { request: request.clone(), attempt: self.agent.attempt, shares_key });
        let call = Call { request, position: Position::InTransit, deployed: false, broken: false };
        self.access.set(self.setting.call_slot(self.id()), Some(call).into());
    }

    /// Notes what a read must not fall behind (ghost).
    fn note_what_is_current(&self, request: &mut Request) {
        let Some(handle) = request.handle else { return };
        let slot = self.setting.resource_slot(usize::from(handle.resource));
        let stored = self.access.get(slot).resource().instances.get(usize::from(handle.instance));
        let Some(stored) = stored else { return };
        if self.setting.sides().any(|side| side.model.design.has_copies()) {
            request.sent_at = Some(stored.version);
        }
        let carried = request.token.as_ref().and_then(|token| token.content.as_ref());
        let values = |content: &[Field]| content.iter().map(|field| field.value.clone()).collect::<Vec<_>>();
        request.superseded = carried.is_some_and(|carried| values(carried) != stored.values());
    }

    pub(super) fn read_of(&self, resource: ResourceId) -> Request {
        let known = self.known(resource);
        Request { token: known.token.clone(), ..Request::read(self.agent.id, small(resource), known.handle) }
    }

    /// Which issue a request is, where that matters: one that it issues again, or another than all that there are.
    fn issue(&mut self, request: &Request) -> Option<u16> {
        let again = self.agent.reissue.take().filter(|of| of.tool == request.tool && of.resource == request.resource);
        let issue = again.map(|of| of.issue);
        issue.or_else(|| fresh_issue(self.setting, self.access, self.id()))
    }

    /// Which of its principal's credentials the agent uses now.
    fn credential(&self) -> u8 {
        let principal = usize::from(self.setting.principal(self.id()));
        self.setting.credentials_slot().map_or(0, |slot| self.access.get(slot).credentials()[principal])
    }

    /// The mutating call of an intent: one that it sends again, or a new plan.
    fn mutating(&mut self, leaked: Option<u8>) -> Request {
        let mut request = match self.agent.pending.take() {
            Some(pending) => pending,
            None => self.plan(),
        };
        let client = self.client(request.tool);
        if client.attempts.is_some() {
            self.agent.sends = self.agent.sends.saturating_add(1);
        }
        let known = self.known(usize::from(request.resource));
        request.key = match (leaked, client.key) {
            _ if request.key.is_some() => request.key,
            (Some(leaked), _) => Some(known.leaked[usize::from(leaked)].clone()),
            (None, KeyPolicy::None) => None,
            (None, KeyPolicy::Reused) => Some(Key::Constant),
            (None, KeyPolicy::HashOfArguments) => Some(Key::Arguments(Box::new(Arguments {
                tool: request.tool,
                handle: request.handle,
                payload: request.payload.bare(),
                expected: request.expected.clone(),
                other: request.besides(),
            }))),
            (None, KeyPolicy::PerIntent) => Some(self.shared_key().unwrap_or_else(|| self.plan_key(false))),
            (None, KeyPolicy::PerAttempt) => Some(self.plan_key(true)),
        };
        self.agent.old.clear();
        request
    }

    /// The key of the intent that the entry shares with others, if it does: one for all plans of them all.
    fn shared_key(&self) -> Option<Key> {
        let intent = self.setting.intent(self.id(), usize::from(self.agent.entry))?;
        self.setting.intents[intent].name.as_ref().map(|_| Key::Shared(small(intent)))
    }

    /// The key of the current plan, or of a new one.
    fn plan_key(&mut self, new: bool) -> Key {
        let entry = usize::from(self.agent.entry);
        let (agent, at) = (self.agent.id, self.agent.entry);
        if self.agent.under_first_plan && !new {
            let plan = self.agent.first_plans[entry].expect("it came back to its first plan");
            return Key::Plan { agent, entry: at, plan };
        }
        let plan = match self.agent.plans[entry] {
            Some(plan) if new => plan.saturating_add(1),
            Some(plan) => plan,
            None => 0,
        };
        self.agent.under_first_plan = false;
        self.agent.plans[entry] = Some(plan);
        if self.setting.mints_again_under_same_key(self.id()) && self.agent.first_plans[entry].is_none() {
            self.agent.first_plans[entry] = Some(plan);
        }
        Key::Plan { agent, entry: at, plan }
    }

    /// A new plan for the intent that the agent is at: its change, applied to what the agent believes.
    fn plan(&self) -> Request {
        let Some(Entry::Mutate { resource, operation, given, also, condition: _, intent: _ }) = self.entry() else {
            unreachable!("only intents are planned")
        };
        let client = self.client(operation.tool());
        let handle = match operation {
            Operation::Mint => None,
            _ => self.known(*resource).handle,
        };
        let view = self.view(*resource);
        let content = view.and_then(|view| view.content.as_ref());
        let intent = self.setting.intent(self.id(), usize::from(self.agent.entry)).expect("only intents are planned");
        let snapshot = client.payload == Carries::Snapshot;
        let payload = match (operation, content) {
            (Operation::Mint, _) => Payload::Made(self.setting.first_made_alike(*resource)),
            (Operation::Close | Operation::Execute | Operation::Delete, _) => Payload::Nothing,
            (Operation::Approve, Some(content)) => Payload::Snapshot(content.clone()),
            (Operation::Approve, None) => Payload::Nothing,
            (_, Some(content)) if snapshot => {
                let mut content = content.clone();
                if client.new_fields == NewFields::Dropped {
                    drop_fields(&mut content, &self.setting.resource(*resource).new_fields);
                }
                change_fields(&mut content, operation, Intents::of(intent));
                Payload::Snapshot(content)
            }
            _ => Payload::Change(operation.clone()),
        };
        let believed = |resource: ResourceId| {
            let handle: Handle = self.known(resource).handle?;
            let version = self.view(resource)?.version?;
            Some(Stamp { handle, version })
        };
        let expected: Vec<Stamp> = match client.precondition {
            Precondition::None => Vec::new(),
            // A blind client without a view sends no version: there is none to send.
            Precondition::ViewedVersion => handle.and_then(|_| believed(*resource)).into_iter().collect(),
            Precondition::EveryViewedVersion => {
                let own = handle.and_then(|_| believed(*resource));
                let also = also.as_ref().and_then(|also| believed(also.resource));
                let others = given.iter().filter(|given| *given != resource);
                own.into_iter().chain(also).chain(others.filter_map(|given| believed(*given))).collect()
            }
        };
        Request {
            agent: self.agent.id,
            entry: self.agent.entry,
            tool: operation.tool(),
            resource: small(*resource),
            handle,
            payload,
            seen: seen(content, operation),
            basis: self.basis(given),
            expected,
            key: None,
            fence: view.and_then(|view| view.fence),
            token: handle.and_then(|_| self.known(*resource).token.clone()),
            credential: 0,
            sent_at: None,
            superseded: false,
            other: also.as_ref().and_then(|also| self.besides(also)).map(Box::new),
            id: 0,
            issue: None,
        }
    }

    /// What a plan says of the resource that it changes besides.
    fn besides(&self, also: &Also) -> Option<Other> {
        let view = self.view(also.resource);
        Some(Other {
            handle: self.known(also.resource).handle?,
            operation: also.operation.clone(),
            seen: seen(view.and_then(|view| view.content.as_ref()), &also.operation),
            fence: view.and_then(|view| view.fence),
        })
    }

    pub(super) fn reads_before_writing(&self) -> bool {
        reads_before_writing(self.setting, self.own(), &self.agent)
    }

    /// See [`next_reading`].
    pub(super) fn next_reading(&self, purpose: Purpose, from: u8) -> Option<u8> {
        next_reading(self.setting, self.own(), &self.agent, purpose, from)
    }

    /// The settings for what it is at.
    fn own(&self) -> &Client {
        self.client(self.tool())
    }

    /// The tool that the entry calls which it is at.
    fn tool(&self) -> Tool {
        self.entry().and_then(Entry::tool).unwrap_or(Tool::Read)
    }

    /// What the agent saw of the resources on which its plan rests.
    fn basis(&self, given: &[ResourceId]) -> Vec<(Handle, View)> {
        let conditional = condition(self.setting, &self.agent).is_some();
        let seen = given.iter().filter_map(|given| {
            let known = self.known(*given);
            // A condition is judged on what the server has, whether or not its author looked.
            let view = known.view.clone().or_else(|| conditional.then(View::default))?;
            // The lease on another resource protects nothing in this call.
            Some((known.handle?, View { fence: None, ..view }))
        });
        seen.collect()
    }

    /// Whether an agent of another principal has presented an equal key before.
    fn is_shared(&self, key: &Key) -> bool {
        let principal = self.setting.principal(self.id());
        let others = (0..self.setting.agents()).filter(|other| self.setting.principal(*other) != principal);
        others.into_iter().any(|other| match key {
            // A plan's key is its agent's own, unless it leaked.
            Key::Plan { agent, .. } => *agent != self.agent.id,
            Key::Constant => self.has_presented_constant(other),
            Key::Shared(_) if self.is_recorded_by(other, key) => true,
            Key::Shared(_) | Key::Arguments(_) => {
                let call = self.access.peek(self.setting.call_slot(other), ghost::KEYS).call();
                call.as_ref().is_some_and(|call| call.request.key.as_ref() == Some(key))
            }
        })
    }

    /// Whether a key stands in a key table for the principal of another agent.
    fn is_recorded_by(&self, other: usize, key: &Key) -> bool {
        let principal = self.setting.principal(other);
        let resource = small(self.entry().expect("it is sending").resource());
        let tables = self.setting.all_keys_slots().map(|(slot, _)| slot);
        let mut tables = tables.filter(|slot| self.setting.keys_resource(*slot).is_none_or(|of| of == resource));
        tables.any(|slot| {
            self.access.get(slot).keys().records.iter().any(|(under, record)| match record {
                Record::Claim { by, .. } | Record::Done { by, .. } => under.key == *key && *by == principal,
            })
        })
    }

    /// Whether an agent with `key = "reused"` has sent a mutating call.
    fn has_presented_constant(&self, other: usize) -> bool {
        let agent = self.access.peek(self.setting.agent_slot(other), ghost::KEYS).agent();
        let at = usize::from(agent.entry);
        let presents = |entry: &usize| {
            let intent = self.setting.intent(other, *entry);
            let tool = intent.map(|intent| self.setting.intents[intent].operation.tool());
            let client = tool.map(|tool| self.setting.model.client(other, tool));
            client.is_some_and(|client| client.key == KeyPolicy::Reused || client.is_free(Free::Key))
        };
        let sent_here = agent.errand == Errand::Act || agent.attempt != Attempt::First;
        (0..at).any(|entry| presents(&entry)) || sent_here && presents(&at)
    }

    /// How many leaked keys the agent may choose from for its next call; 0: it presents its own, or none.
    #[must_use]
    pub fn leaked_keys(setting: &Setting, client: &Client, agent: &Agent) -> u8 {
        let Some(Entry::Mutate { resource, .. }) = super::entry(setting, agent) else { return 0 };
        let acts = match agent.errand {
            Errand::Begin => next_reading(setting, client, agent, Purpose::Look, 0).is_none(),
            Errand::Act => agent.pending.is_some() || next_lacking(setting, client, agent, false, 0).is_none(),
            Errand::Reading { .. } | Errand::Verify => false,
        };
        let keeps = agent.pending.as_ref().is_some_and(|pending| pending.key.is_some());
        if client.may_present_leaked_keys() && acts && !keeps {
            small(agent.known[*resource].leaked.len().min(usize::from(u8::MAX)))
        } else {
            0
        }
    }
}

/// For each field that is set, the changes that the author's view shows.
fn seen(content: Option<&Content>, operation: &Operation) -> Vec<Intents> {
    let names = operation.fields();
    let shows = |(index, field): (usize, &Field)| if names.contains(&index) { field.shows } else { Intents::NONE };
    let seen: Vec<Intents> = match (content, operation) {
        (Some(content), Operation::Set(_)) => content.iter().enumerate().map(shows).collect(),
        _ => Vec::new(),
    };
    // A view that shows no changes is as good as none.
    if seen.iter().all(|shown| shown.is_empty()) { Vec::new() } else { seen }
}

/// An index that the limits of a scenario keep below 256.
fn small(index: usize) -> u8 {
    u8::try_from(index).expect("the limits of a scenario keep indices below 256")
}
