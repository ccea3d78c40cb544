//! The interpreter: a handler as its steps, and the execution of one transaction.

use super::{End, Handling, Luck, STEPS, Step, Writes};
use crate::engine::Access;
use crate::model::design::{
    AfterStoreError, Calls, ClaimAfterError, ClaimNames, FenceSeen, Identity, LostReply, OnStoreError, ReadsFrom,
    Record as Recording, Replies, Server,
};
use crate::model::{Design, Outcome, Tool};
use crate::table::Row;
use crate::world::{Answer, Call, Component, Fact, Handle, Position, Progress, Request, Setting, ghost};

/// The handlers of a design, ready to run: one for each tool that it serves.
#[derive(Clone, Debug)]
pub struct Programs {
    programs: Vec<Option<Program>>,
    /// Those of the nodes that run what is deployed.
    deployed: Option<Box<Self>>,
}

/// One handler, ready to run.
#[derive(Clone, Debug)]
pub struct Program {
    transactions: Vec<Vec<&'static Row<Step>>>,
    at_end: Vec<Vec<&'static Row<Step>>>,
    /// For each transaction, whether it has a step that writes.
    writes: Vec<bool>,
    /// For each transaction, whether it or a later one (`at-end` included) can change something.
    changes_from: Vec<bool>,
    /// Its arrival changes what the node remembers.
    arrival_changes: bool,
    end_changes: bool,
    /// Its answer may come out of another's stream.
    strays: bool,
}

/// What became of a call after one transaction.
#[derive(Debug)]
pub enum Ran {
    /// It goes on with this.
    Goes(Progress),
    /// It is answered.
    Answered(Answer),
}

/// The execution of one transaction.
#[derive(Debug)]
pub(super) struct Execution {
    /// What became of the call.
    pub(super) ran: Ran,
    /// What happened, for the invariants.
    pub(super) facts: Vec<Fact>,
    /// The step that ended the call.
    pub(super) step: Option<&'static Row<Step>>,
    /// The transaction came to its end, and has a step that writes. Those of `at-end` don't count.
    pub(super) committed: bool,
    /// It asked a coarse clock for a version.
    pub(super) asked_clock: bool,
    /// It read from a copy that lags behind.
    pub(super) asked_copy: bool,
}

impl Programs {
    /// Finds the steps of every handler of a design, whose names must be those of [`STEPS`].
    #[must_use]
    pub fn new(setting: &Setting) -> Self {
        let design = &setting.model.design;
        let program = |tool: &Tool| design.server.handler(*tool).map(|handler| Program::new(design, handler));
        let deployed = setting.deployed.as_ref().map(|deployed| Box::new(Self::new(deployed)));
        Self { programs: Tool::ALL.iter().map(program).collect(), deployed }
    }

    /// The handler of a call at a node.
    #[must_use]
    pub fn of(&self, call: &Call) -> &Program {
        let side = self.deployed.as_deref().filter(|_| call.deployed).unwrap_or(self);
        side.of_tool(call.request.tool)
    }

    /// The handler of a tool, which composition has checked to exist for every tool that the scenario uses.
    fn of_tool(&self, tool: Tool) -> &Program {
        self.programs[tool as usize].as_ref().expect("composition checked that every tool in use has a handler")
    }

    /// Whether a call can still change anything that outlives it. One that begins at whatever node it comes to can, if it
    /// can at any.
    #[must_use]
    pub fn can_change(&self, setting: &Setting, call: &Call) -> bool {
        let again = setting.model.design.server.calls == Calls::Redelivered;
        let any = |progress: Option<&Progress>| {
            let sides = std::iter::once(self).chain(self.deployed.as_deref());
            sides.into_iter().any(|side| side.of_tool(call.request.tool).can_change(progress))
        };
        match &call.position {
            Position::InTransit => any(None),
            Position::Interrupted { progress } if again => any(Some(progress)),
            Position::AtNode { progress, .. } | Position::Interrupted { progress } => {
                self.of(call).can_change(Some(progress))
            }
            Position::Answered { .. } | Position::Unanswered { .. } => false,
        }
    }
}

/// Whether the answer of a call for which nobody waits may come out of another's stream. Then no such call is idle before it
/// is answered.
fn answers_stray(server: &Server) -> bool {
    let loses_table = server.replies != Replies::PerRequest && server.calls != Calls::Memory;
    server.replies == Replies::ByRequestId || loses_table && server.lost_reply == LostReply::FirstAgent
}

impl Program {
    fn new(design: &Design, handler: &crate::model::Handler) -> Self {
        let find = |name: &&'static str| {
            STEPS.iter().find(|step| step.name == *name).expect("reading checked the names of steps")
        };
        let list = |transactions: &[Vec<&'static str>]| -> Vec<Vec<&'static Row<Step>>> {
            transactions.iter().map(|steps| steps.iter().map(find).collect()).collect()
        };
        let (transactions, at_end) = (list(&handler.transactions), list(&handler.at_end));
        let fills = design.server.reads_from == ReadsFrom::NodeCache;
        let presents = design.server.fence_seen == FenceSeen::AtCheck;
        let writes = |steps: &Vec<&'static Row<Step>>| {
            steps.iter().any(|step| match step.name {
                "read" => fills,
                "check-fence" => presents,
                _ => step.writes == Writes::Something,
            })
        };
        let end_changes = at_end.iter().any(writes);
        let strays = answers_stray(&design.server);
        // Where every outcome is recorded, whatever follows a `find-key` may record a refusal.
        let records = design.keys.record == Recording::EveryOutcome;
        let finds = |steps: &Vec<&'static Row<Step>>| steps.iter().any(|step| looks_for_key(step.name));
        let first_find = transactions.iter().position(finds);
        let changes = |index: usize| {
            let later = &transactions[index..];
            end_changes || later.iter().any(writes) || records && first_find.is_some()
        };
        let changes_from = (0..transactions.len()).map(changes).collect();
        let arrival_changes = design.server.identity == Identity::NodeMemory;
        let writes = transactions.iter().map(writes).collect();
        Self { transactions, at_end, writes, changes_from, arrival_changes, end_changes, strays }
    }

    /// Whether a call at this point can still change anything that outlives it.
    #[must_use]
    fn can_change(&self, progress: Option<&Progress>) -> bool {
        match progress {
            None => self.strays || self.arrival_changes || self.changes_from[0],
            Some(progress) if self.strays && !progress.answered => true,
            Some(progress) if progress.ending => self.end_changes,
            Some(progress) => self.changes_from[usize::from(progress.next)],
        }
    }

    /// Whether the call has run a transaction and has another one before it: where it can be stopped in between.
    #[must_use]
    pub const fn is_between(&self, progress: &Progress) -> bool {
        progress.next > 0 || progress.ending
    }

    /// Whether it has transactions that run when the outcome is decided.
    #[must_use]
    pub fn has_end(&self) -> bool {
        !self.at_end.is_empty()
    }

    /// The names of the steps of the transaction that a call runs next.
    #[must_use]
    pub fn next_steps(&self, progress: &Progress) -> Vec<&'static str> {
        let list = if progress.ending { &self.at_end } else { &self.transactions };
        list[usize::from(progress.next)].iter().map(|step| step.name).collect()
    }

    /// Executes the next transaction of a call.
    pub(super) fn execute(
        &self,
        setting: &Setting,
        access: &mut Access<'_, Component>,
        request: &Request,
        node: u8,
        progress: Progress,
        luck: Luck,
    ) -> Execution {
        let index = usize::from(progress.next);
        let before = progress.clone();
        let mut handling = Handling {
            setting,
            access,
            request,
            node,
            progress,
            at_other: false,
            facts: Vec::new(),
            luck,
            upstream: 0,
            asked_clock: false,
            asked_copy: false,
        };
        if handling.progress.ending {
            // The answer is decided: a step that would end the call ends this transaction alone.
            let _ = handling.transaction(&self.at_end[index]);
            handling.call_upstream();
            let ran = if index + 1 < self.at_end.len() {
                handling.progress.next += 1;
                Ran::Goes(handling.progress)
            } else {
                Ran::Answered(handling.progress.answer)
            };
            let Handling { facts, asked_clock, .. } = handling;
            return Execution { ran, facts, step: None, committed: false, asked_clock, asked_copy: false };
        }
        let mut started = Vec::new();
        if index == 0 {
            started.push(handling.started());
        }
        let ended = handling.transaction(&self.transactions[index]);
        handling.call_upstream();
        let committed = ended.is_ok() && self.writes[index];
        let (asked_clock, asked_copy) = (handling.asked_clock, handling.asked_copy);
        let execution = |ran, facts, step| Execution { ran, facts, step, committed, asked_clock, asked_copy };
        if luck.error && committed {
            let ran = handling.after_error(before);
            started.append(&mut handling.facts);
            return execution(ran, started, None);
        }
        let (answer, step) = match ended {
            Ok(()) if index + 1 < self.transactions.len() => {
                handling.progress.next += 1;
                started.append(&mut handling.facts);
                return execution(Ran::Goes(handling.progress), started, None);
            }
            Ok(()) => (handling.progress.answer.clone(), None),
            Err((position, end)) => {
                let step = self.transactions[index][position];
                let mut answer = *end.answer;
                if answer.outcome != Outcome::Ok {
                    answer.unknown_handle = self.outcome_if_unknown(&handling, index, position, answer.outcome);
                }
                self.record_refusal(&mut handling, index, position, &answer);
                (answer, Some(step))
            }
        };
        started.append(&mut handling.facts);
        if self.at_end.is_empty() {
            return execution(Ran::Answered(answer), started, step);
        }
        let mut progress = Progress { next: 0, ending: true, answer, ..handling.progress };
        progress.end_work();
        execution(Ran::Goes(progress), started, step)
    }

    /// With `record = "every-outcome"`, a refusal by a step behind `find-key` is stored under the key, atomically with
    /// the rollback; what was found under the key never is.
    fn record_refusal(&self, handling: &mut Handling<'_, '_>, index: usize, position: usize, answer: &Answer) {
        let by = self.transactions[index][position];
        let behind = self.before(index, position).any(|(step, _)| looks_for_key(step.name));
        if handling.setting.model.design.keys.record == Recording::OkOnly || !behind || touches_key(by.name) {
            return;
        }
        let Some((slot, key)) = handling.key() else { return };
        let record = super::find_key::record(handling, Answer { held_by: None, ..answer.clone() });
        handling.change_keys(slot, |table| table.insert(key, record));
    }

    /// The outcome that this refused call would have had, had one of its handles never existed; `None`: the same, or the
    /// caller may know them. A key table that does not hold the handle answers both alike, as long as nothing before it
    /// looked at the resource; whatever does look at a resource that is not there ends with `not-found`. What looks at the
    /// other resource of the call does not look at its own.
    fn outcome_if_unknown(
        &self,
        handling: &Handling<'_, '_>,
        index: usize,
        position: usize,
        outcome: Outcome,
    ) -> Option<Outcome> {
        let (setting, request) = (handling.setting, handling.request);
        let principal = setting.principal(handling.agent());
        let foreign = |handle: Handle| !setting.entitled(principal, usize::from(handle.resource));
        let by = self.transactions[index][position];
        let in_key_table = touches_key(by.name);
        let looks = |besides: bool| {
            let looked = self.before(index, position).any(|(step, other)| other == besides && looks_at_resource(step));
            let expects = besides
                && request.other.as_ref().is_some_and(|other| {
                    let expected = request.expected.iter().any(|expected| expected.handle == other.handle);
                    let mut until = self.before(index, position + 1);
                    expected && until.any(|(step, other)| !other && step.name == "check-version")
                });
            let at_it = self.is_at_other(index, position) == besides && !in_key_table;
            looked || expects || at_it || !besides && in_key_table && setting.keys_by_handle()
        };
        let own = request.handle.is_some_and(|handle| foreign(handle) && looks(false));
        let other = request.other.as_ref().is_some_and(|other| foreign(other.handle) && looks(true));
        ((own || other) && outcome != Outcome::NotFound).then_some(Outcome::NotFound)
    }

    /// Whether the step at this place works on the other resource of the call.
    fn is_at_other(&self, index: usize, position: usize) -> bool {
        self.transactions[index][..position].iter().filter(|step| step.name == "other").count() % 2 == 1
    }

    /// The steps that ran before the one at this place, each with whether it works on the other resource of the call.
    fn before(&self, index: usize, position: usize) -> impl Iterator<Item = (&'static Row<Step>, bool)> {
        let places = (0..index).map(|index| (index, self.transactions[index].len())).chain([(index, position)]);
        places.flat_map(move |(index, end)| {
            (0..end).map(move |place| (self.transactions[index][place], self.is_at_other(index, place)))
        })
    }
}

fn looks_for_key(step: &str) -> bool {
    matches!(step, "find-key" | "claim-key")
}

fn looks_at_resource(step: &Row<Step>) -> bool {
    step.requires == super::Requires::Resource
}

fn touches_key(step: &str) -> bool {
    looks_for_key(step) || matches!(step, "record-key" | "release-key")
}

impl Handling<'_, '_> {
    /// Runs the steps of one transaction. A step that ends the call rolls back what the transaction did in the store.
    fn transaction(&mut self, steps: &[&'static Row<Step>]) -> Result<(), (usize, End)> {
        let save_point = self.access.save_point();
        let before = self.progress.clone();
        for (position, step) in steps.iter().enumerate() {
            if self.passes(step) {
                continue;
            }
            if let Err(end) = (step.run)(self) {
                self.at_other = false;
                let setting = self.setting;
                // What was written in the memory of a node has taken effect.
                let in_node = setting.is_state_in_nodes();
                let ledger = setting.ledger_slot(self.agent());
                let stays = |slot: usize| setting.outlives_rollback(slot) || in_node && slot == ledger;
                self.access.roll_back(save_point, stays);
                let last = self.facts.iter().rposition(|fact| in_node && matches!(fact, Fact::Committed { .. }));
                self.facts.truncate(last.map_or(0, |last| last + 1));
                self.see_what_committed();
                self.progress = before;
                return Err((position, end));
            }
        }
        if self.at_other {
            self.turn();
        }
        self.see_what_committed();
        Ok(())
    }

    /// Notes the external effects of a transaction in the ledger, whatever became of it.
    fn call_upstream(&mut self) {
        let Some(_) = self.intent().filter(|_| self.upstream > 0) else { return };
        let slot = self.setting.ledger_slot(self.agent());
        let mut ledger = self.access.get(slot).ledger().clone();
        let of_intent = &mut ledger.entries[usize::from(self.request.entry)];
        of_intent.upstream = (of_intent.upstream + self.upstream).min(2);
        self.access.set(slot, ledger.into());
        let effects = super::became(self.setting, self.access, self.request.agent, self.request.entry).upstream;
        let denied = super::intents::denied(self.setting, self.access, self.request);
        self.facts.push(Fact::CalledUpstream { request: self.request.clone(), effects, denied });
        self.upstream = 0;
    }

    /// The store answered a commit with an error: the node does not know what it did, and does what `on-store-error`
    /// says. What it learned in the transaction it does not know either; but a claim that names its attempt it had named
    /// before it asked the store.
    fn after_error(&mut self, mut before: Progress) -> Ran {
        let OnStoreError { then, claim } = self.setting.model.design.server.on_store_error;
        if self.setting.model.design.keys.claim_names == ClaimNames::Attempt {
            before.claim = self.progress.claim;
        }
        self.progress = before;
        if claim == ClaimAfterError::Release {
            let released = super::release_key::run(self);
            assert!(released.is_ok(), "a release refuses nothing");
        }
        match then {
            AfterStoreError::Retry => Ran::Goes(self.progress.clone()),
            AfterStoreError::AnswerUnknown => Ran::Answered(*self.refuse(Outcome::Unknown).answer),
        }
    }

    /// The first transaction is about to run.
    fn started(&self) -> Fact {
        let instance = self.request.handle.and_then(|handle| self.anywhere(handle)).cloned();
        let other = self.request.other.as_ref().and_then(|other| self.anywhere(other.handle)).cloned();
        let became = || super::became(self.setting, self.access, self.request.agent, self.request.entry);
        let happened = self.intent().is_some() && became().happened();
        let (request, node, broken_basis) = (self.request.clone(), self.node, self.broken_basis(instance.as_ref()));
        let restarted = self.has_only_node_restarted();
        Fact::Started { request, instance, other, node, restarted, happened, broken_basis }
    }

    /// Whether this is the only node, and has restarted. (Where there are several, another one is there to be reached.)
    fn has_only_node_restarted(&self) -> bool {
        if self.setting.model.scenario.nodes > 1 {
            return false;
        }
        let changed_over = self.setting.model.scenario.deploy.restart && self.is_node_deployed();
        let budget = self.setting.budget("restart-node");
        let Some(index) = self.setting.fault_index("restart-node").filter(|_| budget > 0) else {
            return changed_over;
        };
        changed_over || self.access.peek(self.setting.budgets_slot(), ghost::RESTARTS).budgets()[index] < budget
    }

    /// Whether the node runs what is deployed by now.
    fn is_node_deployed(&self) -> bool {
        super::calls::is_deployed(self.setting, self.access, self.node)
    }

    /// What others can see of a commit is the state at the end of its transaction.
    fn see_what_committed(&mut self) {
        let mut facts = std::mem::take(&mut self.facts);
        for fact in &mut facts {
            if let Fact::Committed { handle, after, .. } = fact {
                *after = self.anywhere(*handle).expect("what was written is there").clone();
            }
        }
        self.facts = facts;
    }
}
