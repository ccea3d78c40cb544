//! Reacting: what an agent does with an answer, a refusal or a broken stream.

use super::Harness;
use crate::handler::{self, change_fields};
use crate::model::client::{AfterFailure, KeyPolicy};
use crate::model::free::Occasion;
use crate::model::scenario::Carried;
use crate::model::{Condition, Entry, Event, Operation, Outcome, Reaction, ResourceId, Told, Tool};
use crate::world::{
    Answer, Attempt, Errand, Fact, Handle, Intents, Known, Payload, Position, Purpose, Redo, Reissue, Request,
    Response, Stamp, View,
};

/// On what an agent is told something.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Ground {
    /// The server answered `ok`.
    Answer,
    /// The agent gave up, or was satisfied, with the view that it has.
    View,
}

impl Harness<'_, '_> {
    /// The agent receives the answer for which it waits.
    pub fn receive(&mut self) {
        let slot = self.setting.call_slot(self.id());
        let call = self.access.get(slot).call().clone().expect("an agent that receives has a call");
        self.access.set(slot, None.into());
        let Position::Answered { answer, .. } = call.position else { unreachable!("only an answer is received") };
        let request = call.request;
        let refused = request.other.as_ref().filter(|_| answer.of_other).map(|other| other.handle);
        let refused = refused.or(request.handle);
        let instance = refused.filter(|_| answer.outcome == Outcome::NotFound).and_then(|handle| {
            let slot = self.setting.resource_slot(usize::from(handle.resource));
            self.access.get(slot).resource().instances.get(usize::from(handle.instance)).cloned()
        });
        self.facts.push(Fact::Received { request: request.clone(), answer: answer.clone(), instance });
        if answer.outcome != Outcome::Ok {
            self.react(Event::Refused(answer.outcome), &request, Some(&answer));
        } else if request.tool == Tool::Read {
            self.has_read(&request, &answer);
        } else {
            self.believe_change(&request, &answer);
            self.tell(Told::Ok, Ground::Answer);
        }
        self.miss_handle();
    }

    /// The stream of a call broke for good: the agent is told so, and no more than that.
    pub fn stream_broke(&mut self, request: &Request) {
        if self.agent.stopped {
            // It will never move again: what it was at makes no difference.
            self.agent.errand = Errand::Begin;
            self.agent.old.clear();
            self.agent.pending = None;
            return;
        }
        if request.tool != Tool::Read && self.client(request.tool).attempts.is_some() {
            self.agent.broke = true;
        }
        self.react(Event::BrokenStream, request, None);
        self.miss_handle();
    }

    fn has_read(&mut self, request: &Request, answer: &Answer) {
        let resource = usize::from(request.resource);
        // An answer about another handle names other versions: none of them is believed. Nor is anything about a handle that
        // the agent has forgotten.
        let known = &mut self.agent.known[resource];
        let about_this = answer.handle == request.handle && known.handle == request.handle;
        known.view = answer.view.clone().filter(|_| about_this);
        match self.agent.errand {
            Errand::Begin => unreachable!("a call is open"),
            Errand::Act => self.advance(),
            Errand::Verify => {
                if self.is_satisfied() {
                    self.tell(Told::Ok, Ground::View);
                } else if self.is_free(request.tool) {
                    self.put_off(Occasion::Looked, request, None);
                } else {
                    self.tell(Told::Unknown, Ground::View);
                }
            }
            // It looks afresh what it still lacks.
            Errand::Reading { purpose: Purpose::Look, .. } if !self.reads_before_writing() => {
                self.agent.errand = Errand::Begin;
            }
            Errand::Reading { purpose, done } => {
                self.agent.errand = match self.next_reading(purpose, done + 1) {
                    Some(done) => Errand::Reading { purpose, done },
                    None => self.ready(),
                };
                if let (Errand::Begin | Errand::Act, Purpose::Replan(Some(event))) = (self.agent.errand, purpose) {
                    self.plan_or_react(event);
                }
            }
        }
    }

    /// Everything was read again: the agent plans anew, or does what its harness says for when it should not.
    fn plan_or_react(&mut self, event: Event) {
        let tool = self.entry().and_then(Entry::tool).unwrap_or(Tool::Read);
        let mut reaction = self.client(tool).reaction(event);
        while let Reaction::Replan { only_if: Some((condition, otherwise)), .. } = reaction {
            if self.holds(condition) {
                self.agent.pending = None;
                return self.reacted(event, Response::Replan);
            }
            reaction = *otherwise;
        }
        // The call that was refused or broken, where the harness may want it again.
        let refused = self.agent.pending.take();
        let again = matches!(reaction, Reaction::Same { .. } | Reaction::SameWithNewVersion { .. });
        if matches!(reaction, Reaction::Replan { .. }) || again && refused.is_none() {
            return self.reacted(event, Response::Replan);
        }
        let resource = self.entry().map_or(0, Entry::resource);
        let request = refused.unwrap_or_else(|| Request { tool, ..self.read_of(resource) });
        let current = request.expected.iter().map(|expected| self.current(*expected)).collect();
        let answer = Answer { current, ..Answer::about(request.handle) };
        self.perform(reaction, event, &request, Some(&answer));
    }

    /// The version of a handle that the agent has just read, in place of the one that it expected.
    fn current(&self, expected: Stamp) -> Stamp {
        let known = self.known(usize::from(expected.handle.resource));
        let read = known.view.as_ref().filter(|_| known.handle == Some(expected.handle));
        Stamp { version: read.and_then(|view| view.version).unwrap_or(expected.version), ..expected }
    }

    fn reacted(&mut self, event: Event, response: Response) {
        self.facts.push(Fact::Reacted { event, response });
    }

    /// Whether a replan goes ahead, now that everything was read again.
    fn holds(&self, condition: Condition) -> bool {
        let Some(entry @ Entry::Mutate { resource: own, operation, given, also, .. }) = self.entry() else {
            return true;
        };
        match condition {
            Condition::Unsatisfied => !self.is_satisfied(),
            Condition::Disjoint => entry.rests_on().into_iter().all(|resource| {
                let handle = self.known(resource).handle;
                let old = self.agent.old.iter().find(|(old, _)| Some(*old) == handle);
                let old = old.and_then(|(_, view)| view.content.as_ref());
                let new = self.view(resource).and_then(|view| view.content.as_ref());
                let (Some(old), Some(new)) = (old, new) else { return false };
                let besides = also.as_ref().filter(|also| also.resource == resource);
                let own = (*own == resource && !given.contains(own)).then_some(operation);
                let changes = besides.map(|also| &also.operation).or(own);
                let counts = |field: usize| changes.is_none_or(|operation| operation.fields().contains(&field));
                let mut pairs = old.iter().zip(new).enumerate();
                pairs.all(|(field, (old, new))| !counts(field) || old.value == new.value)
            }),
        }
    }

    /// Whether the agent's view shows what its intent wants. Only a `set` can be seen: an append or increment can't be
    /// told from another's equal one. What is done to two resources is not seen in a view of one.
    fn is_satisfied(&self) -> bool {
        let Some(Entry::Mutate { resource, operation, also: None, .. }) = self.entry() else { return false };
        let Some(content) = self.view(*resource).and_then(|view| view.content.as_ref()) else { return false };
        match operation {
            Operation::Set(changes) => changes.iter().all(|(field, value)| content[*field].value == *value),
            _ => false,
        }
    }

    /// After an accepted change the agent believes what it sent, or its view plus its change, under the new version.
    fn believe_change(&mut self, request: &Request, answer: &Answer) {
        let Some(Entry::Mutate { resource, operation, .. }) = self.entry() else { return };
        let intent = self.setting.intent(self.id(), usize::from(self.agent.entry)).expect("only intents change");
        self.believe_besides(request, answer, intent);
        // The answer to another call may come out of its stream: it can't tell.
        let about_this = answer.asked_about() == request.handle;
        if *operation == Operation::Mint {
            if !answer.made {
                return;
            }
            let fields = &self.setting.resource(*resource).fields;
            let field = |(_, value): &(String, _)| crate::world::Field {
                value: Clone::clone(value),
                shows: Intents::of(intent),
            };
            let content = Some(fields.iter().map(field).collect());
            let view = View { version: answer.version, content, fence: None };
            let token = answer.token.clone();
            self.agent.known[*resource] = Known { handle: answer.handle, view: Some(view), token, ..Known::default() };
            return;
        }
        let known = &mut self.agent.known[*resource];
        // It was handed another handle meanwhile, or has forgotten this one.
        if known.handle != request.handle {
            return;
        }
        if let Some(token) = answer.token.clone().filter(|_| about_this) {
            known.token = Some(token);
        }
        if operation.changes_fields() && matches!(request.payload, Payload::Snapshot(_)) {
            // It knows what it sent, even if a compaction took its view meanwhile.
            known.view.get_or_insert_with(View::default);
        }
        let Some(view) = &mut known.view else { return };
        match &request.payload {
            Payload::Snapshot(sent) if operation.changes_fields() => view.content = Some(sent.clone()),
            Payload::Change(change) => {
                if let Some(content) = &mut view.content {
                    change_fields(content, change, Intents::of(intent));
                }
            }
            Payload::Snapshot(_) | Payload::Made(_) | Payload::Nothing => {}
        }
        view.version = answer.version.filter(|_| about_this);
    }

    /// The same of what it changed besides.
    fn believe_besides(&mut self, request: &Request, answer: &Answer, intent: usize) {
        let (Some(other), Some(Entry::Mutate { also: Some(also), .. })) = (&request.other, self.entry()) else {
            return;
        };
        let known = &mut self.agent.known[also.resource];
        let Some(view) = known.view.as_mut().filter(|_| known.handle == Some(other.handle)) else { return };
        if let Some(content) = &mut view.content {
            change_fields(content, &other.operation, Intents::of(intent));
        }
        let stamp = answer.other.filter(|stamp| stamp.handle == other.handle);
        view.version = stamp.map(|stamp| stamp.version);
    }

    fn react(&mut self, event: Event, request: &Request, answer: Option<&Answer>) {
        let sent_again = event == Event::BrokenStream && request.tool == Tool::Read;
        if self.is_free(request.tool) && !sent_again {
            return self.put_off(Occasion::Event(event), request, answer);
        }
        let reaction = self.client(request.tool).reaction(event);
        let reaction = match (event, request.tool) {
            // A read whose stream broke is always sent again.
            (Event::BrokenStream, Tool::Read) => Reaction::Same { new_key: false },
            _ => reaction,
        };
        self.perform(reaction, event, request, answer);
    }

    pub(super) fn perform(&mut self, reaction: Reaction, event: Event, request: &Request, answer: Option<&Answer>) {
        let reads = request.tool == Tool::Read;
        if !reads && !matches!(reaction, Reaction::Tell(_) | Reaction::Read) && self.is_spent() {
            let told = if self.agent.broke { Told::Unknown } else { Told::Failure };
            self.reacted(event, Response::GiveUp);
            return self.tell(told, Ground::View);
        }
        let waits = matches!(reaction, Reaction::Replan { only_if: Some(_), .. }) && !reads && self.reads_anew(event);
        if !waits {
            let unable =
                matches!(reaction, Reaction::Mint { .. }) && self.minting(usize::from(request.resource)).is_none();
            self.reacted(event, if unable { Response::TellFailure } else { Response::of(&reaction) });
        }
        match reaction {
            Reaction::Tell(told) => self.tell(told, Ground::View),
            // What was minted can't be looked at without its handle.
            Reaction::Read if request.tool == Tool::Mint => self.tell(Told::Unknown, Ground::View),
            // A read has nothing to keep: whatever the reaction, it is read again.
            Reaction::Same { .. } | Reaction::SameWithNewVersion { .. } | Reaction::Replan { .. } | Reaction::Read
                if reads =>
            {
                self.before_reading();
                self.issue_again(event, request);
                // A read whose stream broke leaves no trace: the agent is as it was before it sent it.
                if event != Event::BrokenStream {
                    self.agent.attempt = Attempt::Repeat;
                }
            }
            Reaction::Same { new_key } => {
                self.issue_again(event, request);
                let again = self.again(request, new_key);
                self.send_again(again);
            }
            Reaction::SameWithNewVersion { new_key } => {
                self.issue_again(event, request);
                let mut again = self.again(request, new_key);
                if let Some(answer) = answer.filter(|answer| !answer.current.is_empty()) {
                    // A refusal may tell of one of them alone.
                    let told = |old: &Stamp| answer.current.iter().find(|new| new.handle == old.handle).copied();
                    let kept = again.expected.iter().map(|old| told(old).unwrap_or(*old)).collect();
                    again.expected = if request.other.is_some() { kept } else { answer.current.clone() };
                }
                self.send_again(again);
            }
            Reaction::Replan { new_key, ref only_if } => {
                self.renew_plan(new_key);
                self.agent.attempt = Attempt::Replan;
                let kept = waits && may_send_again(&reaction);
                self.agent.pending = kept.then(|| Request { id: 0, issue: None, credential: 0, ..request.clone() });
                self.agent.old = self.views_of_basis();
                let purpose = Purpose::Replan(only_if.as_ref().map(|_| event));
                self.agent.errand = match self.next_reading(purpose, 0) {
                    Some(done) => Errand::Reading { purpose, done },
                    None => self.ready(),
                };
            }
            Reaction::Read => {
                self.agent.attempt = Attempt::Repeat;
                self.agent.pending = None;
                self.agent.old.clear();
                self.agent.errand = Errand::Verify;
            }
            Reaction::Mint { new_key } => self.mint_again(usize::from(request.resource), new_key),
        }
    }

    /// Whether a replan after this event begins with reading, so that its condition is judged later.
    fn reads_anew(&self, event: Event) -> bool {
        self.next_reading(Purpose::Replan(Some(event)), 0).is_some()
    }

    /// What an agent is at when it has read all that it needs. One that reads before each write must remember that it did;
    /// another sees that it has its views.
    fn ready(&self) -> Errand {
        if self.reads_before_writing() { Errand::Act } else { Errand::Begin }
    }

    /// What the agent does next is to send this request, a repeat.
    fn send_again(&mut self, request: Request) {
        self.agent.attempt = Attempt::Repeat;
        self.agent.errand = Errand::Act;
        self.agent.pending = Some(request);
        self.agent.old.clear();
    }

    /// A request to send again: under its key, unless there is to be a new one.
    fn again(&mut self, request: &Request, new_key: bool) -> Request {
        self.renew_plan(new_key);
        let changes = matches!(self.client(request.tool).key, KeyPolicy::PerAttempt | KeyPolicy::HashOfArguments);
        let key = request.key.clone().filter(|_| !new_key && !changes);
        Request { key, id: 0, issue: None, credential: 0, ..request.clone() }
    }

    /// A call whose stream broke will be issued again, where its request id is kept then. One that was answered is over: what
    /// follows is another.
    fn issue_again(&mut self, event: Event, request: &Request) {
        let issue = request.issue.filter(|_| event == Event::BrokenStream);
        self.agent.reissue = issue.map(|issue| Reissue { tool: request.tool, resource: request.resource, issue });
    }

    /// The agent is as it was before it sent a read: one that had sent nothing else yet begins its entry.
    fn before_reading(&mut self) {
        let begins = match self.agent.errand {
            Errand::Act => true,
            Errand::Reading { purpose: Purpose::Look, done } => {
                let first = self.next_reading(Purpose::Look, 0) == Some(done);
                // It looks afresh what it still lacks.
                first || !self.reads_before_writing()
            }
            Errand::Begin | Errand::Reading { .. } | Errand::Verify => false,
        };
        if begins {
            self.agent.errand = Errand::Begin;
        }
    }

    /// The context of the agent is compacted: of each resource it keeps what its harness keeps.
    pub fn compact(&mut self) {
        let tool = self.entry().and_then(Entry::tool).unwrap_or(Tool::Read);
        let keeps = self.client(tool).keeps.clone();
        let mut knew = false;
        for known in &mut self.agent.known {
            knew |= known.handle.is_some();
            if !keeps.contains(&Carried::Handle) {
                let forgotten = known.forgotten || known.handle.is_some();
                *known = Known { forgotten, ..Known::default() };
            }
            known.view = known.view.take().and_then(|view| {
                let version = view.version.filter(|_| keeps.contains(&Carried::Version));
                let content = view.content.filter(|_| keeps.contains(&Carried::Content));
                let fence = view.fence.filter(|_| keeps.contains(&Carried::Version));
                (version.is_some() || content.is_some()).then_some(View { version, content, fence })
            });
        }
        if knew {
            self.facts.push(Fact::Compacted);
        }
        let idle = self.access.get(self.setting.call_slot(self.id())).call().is_none();
        if idle {
            self.miss_handle();
        }
    }

    /// An idle agent that needs a handle which it has forgotten reacts as to `not-found`: a call that it would have sent again
    /// is forgotten too.
    pub(super) fn miss_handle(&mut self) {
        let Some(entry) = self.entry().filter(|_| self.agent.undecided.is_none()) else { return };
        let missing = |resource: &ResourceId| self.known(*resource).handle.is_none() && self.known(*resource).forgotten;
        let Some(resource) = entry.rests_on().into_iter().find(missing) else { return };
        let tool = entry.tool().unwrap_or(Tool::Read);
        let event = Event::Refused(Outcome::NotFound);
        self.agent.pending = None;
        self.agent.reissue = None;
        // Without the handle there is nothing that it could send.
        let request = Request { tool, ..self.read_of(resource) };
        if self.is_free(tool) {
            self.put_off(Occasion::Forgot, &request, None);
        } else if matches!(self.client(tool).reaction(event), Reaction::Mint { .. } | Reaction::Tell(_)) {
            self.react(event, &request, None);
        }
    }

    /// The agent's views of the resources that its plan rests on.
    fn views_of_basis(&self) -> Vec<(Handle, View)> {
        let resources = self.entry().map(Entry::rests_on).unwrap_or_default();
        let view = |resource: ResourceId| {
            let known = self.known(resource);
            Some((known.handle?, known.view.clone()?))
        };
        resources.into_iter().filter_map(view).collect()
    }

    /// Whether the bound on sends of this intent is used up.
    fn is_spent(&self) -> bool {
        let Some(tool) = self.entry().and_then(Entry::tool) else { return false };
        self.client(tool).attempts.is_some_and(|most| self.agent.sends >= most)
    }

    /// The entry of the agent's work that mints the resource.
    fn minting(&self, resource: ResourceId) -> Option<usize> {
        minting(&self.setting.model.scenario.agents[self.id()].work, resource)
    }

    /// Back to the entry that minted. An agent that did not mint the resource itself can only tell that it failed.
    fn mint_again(&mut self, resource: ResourceId, new_key: bool) {
        let Some(minting) = self.minting(resource) else { return self.tell(Told::Failure, Ground::View) };
        let until = self.agent.redo.map_or(self.agent.entry, |redo| redo.until.max(self.agent.entry));
        self.agent.redo = Some(Redo { until, new_key });
        self.agent.known[resource] = Known::default();
        self.agent.attempt = Attempt::Replan;
        self.begin(u8::try_from(minting).expect("limits keep work lists below 256 entries"));
    }

    /// The agent is told what became of its entry, and goes on or stops. An intent is told once.
    pub(super) fn tell(&mut self, told: Told, ground: Ground) {
        let entry = self.agent.entry;
        let tool = self.entry().and_then(Entry::tool).unwrap_or(Tool::Read);
        if self.setting.intent(self.id(), usize::from(entry)).is_some() {
            let slot = self.setting.ledger_slot(self.id());
            let mut ledger = self.access.get(slot).ledger().clone();
            let of_intent = &mut ledger.entries[usize::from(entry)];
            // It is told once; what it is told when the work is done again changes nothing, but must be true too.
            of_intent.told = of_intent.told.or(Some(told));
            let shown = ground == Ground::View && self.is_satisfied();
            let became = handler::became(self.setting, self.access, self.agent.id, entry);
            let missing = self.setting.missing(self.id(), usize::from(entry), &became).is_some();
            let promised = told == Told::Ok
                && !shown
                && missing
                && handler::is_at_work(self.setting, self.access, self.agent.id, entry);
            of_intent.promised |= promised;
            let troubled = ground == Ground::View || self.agent.attempt != Attempt::First;
            let agent = self.agent.id;
            self.facts.push(Fact::Told { agent, entry, told, ledger: became, shown, troubled, promised });
            self.access.set(slot, ledger.into());
        }
        let stops = told != Told::Ok && self.client(tool).after_failure == AfterFailure::Stop;
        if stops { self.leave() } else { self.advance() }
    }
}

/// The entry of a work list that mints the resource.
pub(super) fn minting(work: &[Entry], resource: ResourceId) -> Option<usize> {
    let mints = |entry: &Entry| matches!(entry, Entry::Mutate { resource: minted, operation: Operation::Mint, .. } if *minted == resource);
    work.iter().position(mints)
}

/// Whether a harness that plans anew under a condition may send the same call again where the condition fails.
fn may_send_again(reaction: &Reaction) -> bool {
    match reaction {
        Reaction::Same { .. } | Reaction::SameWithNewVersion { .. } => true,
        Reaction::Replan { only_if: Some((_, otherwise)), .. } => may_send_again(otherwise),
        Reaction::Replan { only_if: None, .. } | Reaction::Read | Reaction::Mint { .. } | Reaction::Tell(_) => false,
    }
}
