//! What can happen, and what it does: the one place where control flow lives.
//!
//! [`Simulation`] is the composed model as a [`System`] that the engine explores.

pub mod causes;
mod costs;
mod future;
mod showing;
pub mod tags;

pub use self::costs::Measure;
use self::showing::Shown;
use crate::action::Action;
use crate::assertion::{self, Compiled, Facts, Names, ResourceFacts};
use crate::engine::{Access, Class, Footprint, Observations, SlotSet, System, plain};
use crate::faults::{FAULTS, Strike, Strikes};
use crate::handler::{self, Executed, Luck, Programs};
use crate::harness::{Harness, Move, next_move};
use crate::invariants::{INVARIANTS, Judgement, Violation, first_open};
use crate::model::design::{Balancer, Handles, Versions};
use crate::model::protocol::ClosedStream;
use crate::model::scenario::Carried;
use crate::model::{Assertion, Entry, Model, Told, Value};
use crate::situation::Moment;
use crate::world::{
    Agent, Answer, Attempt, Call, CallRef, Component, Errand, Fact, Field, Handle, Instance, IntentLedger, Intents,
    KeyTable, Known, Leases, Ledger, Memory, Position, Progress, Queue, Resource, Setting, Symmetry, View, numbers,
    renaming, symmetry,
};

mod late_routing;

/// The composed model: scenario x design x protocol, ready to run.
pub struct Simulation {
    setting: Setting,
    programs: Programs,
    sources: Vec<Source>,
    symmetries: Vec<Symmetry>,
    finally: Vec<Compiled>,
    at_rest: Vec<Compiled>,
    sometimes: Vec<Compiled>,
    shown: Vec<Shown>,
}

/// Something that is checked in a run: an invariant, or an assertion of the scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Property {
    /// Its name.
    pub name: String,
    /// What kind of property it is.
    pub kind: PropertyKind,
}

/// What kind of property it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PropertyKind {
    /// A row of the invariant table, which judges steps.
    Invariant,
    /// Judged in every quiescent state in which every intent was told as `ok`.
    Finally,
    /// Judged in every quiescent state.
    AtRest,
    /// Must hold in some state.
    Sometimes,
    /// A situation that was asked for. To the engine it is violated where it is reached, so that the shortest run that
    /// reaches it is found.
    Shown,
}

/// Whatever may move by itself.
#[derive(Clone, Copy, Debug)]
enum Source {
    /// An agent, with the call for which it waits.
    Agent(usize),
    /// The orphans of an agent.
    Orphans(usize),
    /// A fault with a budget, for one of the things that it strikes.
    Fault(usize, usize),
}

/// What one part of an action did.
#[derive(Debug, Default)]
pub struct Performed {
    /// What happened, for the invariants.
    pub facts: Vec<Fact>,
    /// How a call ended, if one did: its answer, and the name of the step that ended it early.
    pub answered: Option<(Answer, Option<&'static str>)>,
    /// The answer of a call is decided by this step, and `at-end` transactions are left.
    pub decided: Option<(Answer, &'static str)>,
}

impl Simulation {
    /// Prepares a model to be explored.
    #[must_use]
    pub fn new(model: Model) -> Self {
        Self::prepare(model, false)
    }

    /// Prepares a model to be shown: its states carry real version numbers and request ids. They must not be explored,
    /// since such numbers are not renamed.
    #[must_use]
    pub fn labelled(model: Model) -> Self {
        Self::prepare(model, true)
    }

    /// Prepares a model to be explored in fewer states: calls are routed late, where that finds the same.
    #[must_use]
    pub fn reduced(model: Model) -> Self {
        let mut setting = Setting::new(model, &fault_names(), false);
        setting.routes_late = late_routing::keeps_everything(&setting);
        Self::with(setting)
    }

    fn prepare(model: Model, labelled: bool) -> Self {
        Self::with(Setting::new(model, &fault_names(), labelled))
    }

    fn with(setting: Setting) -> Self {
        let programs = Programs::new(&setting.model.design);
        let agents = 0..setting.agents();
        let mut sources: Vec<Source> = agents.clone().map(Source::Agent).chain(agents.map(Source::Orphans)).collect();
        for (index, fault) in FAULTS.iter().enumerate() {
            if setting.faults()[index] > 0 {
                let struck = match fault.strikes {
                    Strikes::Agents => setting.agents(),
                    Strikes::Nodes => setting.model.scenario.nodes,
                    Strikes::Resources => setting.resources(),
                    Strikes::Keys => setting.all_keys_slots().count(),
                    Strikes::Leases => setting.all_lease_slots().count(),
                    Strikes::Principals => setting.principals.len(),
                };
                sources.extend((0..struck).map(|struck| Source::Fault(index, struck)));
            }
        }
        let scenario = &setting.model.scenario;
        let names = Names::of(scenario);
        let compile = |assertion: &Assertion| {
            assertion::compile(&assertion.expression, &names).expect("reading checked every assertion")
        };
        let compile = |assertions: &[Assertion]| assertions.iter().map(compile).collect();
        let (finally, at_rest) = (compile(&scenario.finally), compile(&scenario.at_rest));
        let sometimes = compile(&scenario.sometimes);
        // States that are shown are not explored.
        let symmetries = if setting.labelled { Vec::new() } else { symmetry::symmetries(&setting) };
        Self { setting, programs, sources, symmetries, finally, at_rest, sometimes, shown: Vec::new() }
    }

    /// Everything that is checked, in the order of the engine's bits.
    #[must_use]
    pub fn properties(&self) -> Vec<Property> {
        let scenario = &self.setting.model.scenario;
        let invariants = INVARIANTS.iter().map(|row| (row.name, PropertyKind::Invariant));
        let finally = scenario.finally.iter().map(|assertion| (&*assertion.name, PropertyKind::Finally));
        let at_rest = scenario.at_rest.iter().map(|assertion| (&*assertion.name, PropertyKind::AtRest));
        let sometimes = scenario.sometimes.iter().map(|assertion| (&*assertion.name, PropertyKind::Sometimes));
        let all = invariants.chain(finally).chain(at_rest).chain(sometimes);
        let all = all.map(|(name, kind)| Property { name: name.to_owned(), kind });
        let shown = self.shown.iter().map(|shown| shown.situation.name());
        all.chain(shown.map(|name| Property { name, kind: PropertyKind::Shown })).collect()
    }

    /// The static part.
    #[must_use]
    pub const fn setting(&self) -> &Setting {
        &self.setting
    }

    /// What of this model may be exchanged, so that it stays the same model. `nodes`, `agents`.
    #[must_use]
    pub fn exchangeable(&self) -> Vec<&'static str> {
        let nodes = self.symmetries.iter().any(Symmetry::moves_nodes).then_some("nodes");
        let agents = self.symmetries.iter().any(Symmetry::moves_agents).then_some("agents");
        nodes.into_iter().chain(agents).collect()
    }

    /// The handlers.
    #[must_use]
    pub const fn programs(&self) -> &Programs {
        &self.programs
    }

    /// The fault whose actions a source offers, by its place in the fault table; `None`: what it offers is no fault.
    #[must_use]
    pub fn fault_of(&self, source: usize) -> Option<usize> {
        match self.sources[source] {
            Source::Fault(fault, _) => Some(fault),
            Source::Agent(_) | Source::Orphans(_) => None,
        }
    }

    /// The call that an action is about.
    #[must_use]
    pub fn call<'c>(&self, access: &'c Access<'_, Component>, at: CallRef) -> &'c Call {
        handler::call_at(&self.setting, access, at)
    }

    fn agent_actions(&self, agent: usize, access: &Access<'_, Component>) -> Vec<Action> {
        let id = small(agent);
        let setting = &self.setting;
        let Some(call) = access.get(setting.call_slot(agent)).call() else {
            let known = access.get(setting.agent_slot(agent)).agent();
            let mut actions = match next_move(setting, known) {
                None => Vec::new(),
                Some(Move::HandOff) => vec![Action::HandOff { agent: id }],
                Some(Move::Send) => match Harness::leaked_keys(setting, known) {
                    0 => vec![Action::Send { agent: id, leaked: None }],
                    keys => (0..keys).map(|key| Action::Send { agent: id, leaked: Some(key) }).collect(),
                },
            };
            actions.extend(self.guesses(agent, access));
            return actions;
        };
        let mut actions = self.call_actions(CallRef::open(id), call, access);
        if access.get(setting.agent_slot(agent)).agent().stopped {
            return actions;
        }
        if call.broken {
            actions.push(Action::Resume { agent: id });
        } else if matches!(call.position, Position::Answered { .. }) {
            actions.push(Action::Receive { agent: id });
        }
        actions.extend(self.guesses(agent, access));
        actions
    }

    /// The handles of others that an agent with work on them can guess.
    fn guesses(&self, agent: usize, access: &Access<'_, Component>) -> Vec<Action> {
        let setting = &self.setting;
        if setting.model.design.server.handles != Handles::Sequential {
            return Vec::new();
        }
        let at = access.get(setting.agent_slot(agent)).agent();
        let foreign = |resource: &usize| !setting.entitled(setting.principal(agent), *resource);
        let unknown = |resource: &usize| at.known[*resource].handle.is_none() && !at.stopped;
        let mut guesses = Vec::new();
        for resource in (0..setting.resources()).filter(foreign).filter(unknown) {
            let stored = access.get(setting.resource_slot(resource)).resource();
            guesses.extend((0..).zip(&stored.instances).map(|(instance, _)| Action::Guess {
                agent: small(agent),
                handle: Handle { resource: stored.id, instance },
            }));
        }
        guesses
    }

    /// What can happen to a call on the server's side.
    fn call_actions(&self, at: CallRef, call: &Call, access: &Access<'_, Component>) -> Vec<Action> {
        match call.position {
            Position::InTransit if self.setting.routes_late => {
                self.executions(at, call, access, &Progress::start(call.request.handle), true)
            }
            Position::InTransit | Position::Interrupted { .. } => {
                let route = self.setting.route(&call.request);
                let chosen = route.and_then(|(slot, place)| access.get(slot).route().get(place).copied().flatten());
                let chosen = chosen.or_else(|| self.home(call, access));
                let nodes = 0..small(self.setting.model.scenario.nodes);
                let open = nodes.filter(|node| chosen.is_none_or(|chosen| chosen == *node));
                open.flat_map(|node| {
                    let equal = handler::equal_ids(&self.setting, access, at, node).into_iter().map(Some);
                    let deliver = move |takes_from| Action::Deliver { call: at, node, takes_from };
                    std::iter::once(None).chain(equal).map(deliver)
                })
                .collect()
            }
            Position::AtNode { ref progress, .. } if self.programs.may_run(&self.setting, access, call) => {
                self.executions(at, call, access, progress, false)
            }
            Position::AtNode { .. } | Position::Answered { .. } | Position::Unanswered { .. } => Vec::new(),
        }
    }

    /// The node to which a balancer that knows where each handle lives brings a call.
    fn home(&self, call: &Call, access: &Access<'_, Component>) -> Option<u8> {
        let by_handle = self.setting.model.design.server.balancer == Balancer::ByHandle;
        let handle = call.request.handle.filter(|_| by_handle && self.setting.is_state_in_nodes())?;
        let stored = access.get(self.setting.resource_slot(usize::from(handle.resource))).resource();
        stored.instances.get(usize::from(handle.instance)).map(|instance| instance.node)
    }

    /// How the next transaction of a call may be executed. `arrives`: the request arrives first.
    fn executions(
        &self,
        at: CallRef,
        call: &Call,
        access: &Access<'_, Component>,
        progress: &Progress,
        arrives: bool,
    ) -> Vec<Action> {
        let next = self.programs.of(call.request.tool).next_steps(progress);
        let advances = next.iter().any(|step| matches!(*step, "apply" | "apply-next" | "save" | "advance-version"));
        let coarse = self.setting.model.design.server.versions == Versions::CoarseClock;
        let tried = || self.programs.try_execute(&self.setting, access, at, Luck::PLAIN);
        let mut actions = vec![Action::Execute { call: at, clock_stands: false, arrives }];
        if advances && coarse && tried().is_some_and(|tried| tried.asked_clock) {
            actions.push(Action::Execute { call: at, clock_stands: true, arrives });
        }
        actions
    }

    fn orphan_actions(&self, agent: usize, access: &Access<'_, Component>) -> Vec<Action> {
        let orphans = access.get(self.setting.orphans_slot(agent)).orphans();
        let cancels = self.setting.model.protocol.closed_stream == ClosedStream::Cancels;
        let mut actions = Vec::new();
        for (index, call) in orphans.iter().enumerate() {
            // Equal orphans have equal futures: one of them stands for all.
            if index > 0 && orphans[index - 1] == *call {
                continue;
            }
            let at = CallRef { agent: small(agent), orphan: Some(small(index)) };
            actions.extend(self.call_actions(at, call, access));
            if let Position::AtNode { progress, .. } = &call.position {
                let between = self.programs.of(call.request.tool).is_between(progress);
                if cancels && (between || !self.programs.may_run(&self.setting, access, call)) {
                    actions.push(Action::Cancel { call: at });
                }
            }
        }
        actions
    }

    /// Executes one part of an enabled action.
    pub fn perform(&self, action: &Action, part: usize, access: &mut Access<'_, Component>) -> Performed {
        match action {
            Action::Send { agent, leaked } => {
                let mut harness = Harness::new(&self.setting, access, usize::from(*agent));
                harness.send(*leaked);
                Performed { facts: harness.finish(), ..Performed::default() }
            }
            Action::Receive { agent } => {
                let mut harness = Harness::new(&self.setting, access, usize::from(*agent));
                harness.receive();
                Performed { facts: harness.finish(), ..Performed::default() }
            }
            Action::HandOff { agent } => {
                Performed { facts: self.hand_off(usize::from(*agent), access), ..Performed::default() }
            }
            Action::Guess { agent, handle } => {
                let slot = self.setting.agent_slot(usize::from(*agent));
                let mut guesser = access.get(slot).agent().clone();
                let stored = access.get(self.setting.resource_slot(usize::from(handle.resource))).resource();
                let token = self.setting.token_of(&stored.instances[usize::from(handle.instance)]);
                let known = &mut guesser.known[usize::from(handle.resource)];
                (known.handle, known.token) = (Some(*handle), token);
                access.set(slot, guesser.into());
                Performed::default()
            }
            Action::Deliver { call, node, takes_from } => {
                let facts = self.programs.deliver(&self.setting, access, *call, *node, *takes_from);
                Performed { facts, ..Performed::default() }
            }
            Action::Execute { call, clock_stands, arrives: _ } => {
                let luck = Luck { ticks: !clock_stands, ..Luck::PLAIN };
                let executed = self.programs.execute(&self.setting, access, *call, luck);
                let Executed { facts, answered, decided, .. } = executed;
                Performed { facts, answered, decided }
            }
            Action::Cancel { call } => {
                let stopped = self.call(access, *call).clone();
                handler::leave_queue(&self.setting, access, &stopped);
                handler::set_call(&self.setting, access, *call, None);
                Performed::default()
            }
            Action::Resume { agent } => {
                let at = CallRef::open(*agent);
                let mut call = self.call(access, at).clone();
                call.broken = false;
                handler::set_call(&self.setting, access, at, Some(call));
                Performed::default()
            }
            Action::Fault { fault, target } => {
                if part == 0 {
                    let slot = self.setting.budgets_slot();
                    let mut budgets = access.get(slot).budgets().clone();
                    budgets[usize::from(*fault)] -= 1;
                    access.set(slot, Component::Budgets(budgets));
                }
                let mut strike = Strike { setting: &self.setting, programs: &self.programs, access };
                let facts = (FAULTS[usize::from(*fault)].strike)(&mut strike, *target, part);
                Performed { facts, ..Performed::default() }
            }
        }
    }

    fn hand_off(&self, agent: usize, access: &mut Access<'_, Component>) -> Vec<Fact> {
        let setting = &self.setting;
        let giver = access.get(setting.agent_slot(agent)).agent().clone();
        let work = &setting.model.scenario.agents[agent].work;
        let Entry::HandOff { resource, to, carries } = &work[usize::from(giver.entry)] else {
            unreachable!("the agent is at a hand-off")
        };
        let known = &giver.known[*resource];
        let carried = |part: Carried| carries.contains(&part);
        let view = known.view.as_ref().map(|view| View {
            version: view.version.filter(|_| carried(Carried::Version)),
            content: view.content.clone().filter(|_| carried(Carried::Content)),
            fence: view.fence.filter(|_| carried(Carried::Version)),
        });
        let view = view.filter(|view| view.version.is_some() || view.content.is_some());
        for receiver in to {
            let slot = setting.agent_slot(*receiver);
            let mut agent = access.get(slot).agent().clone();
            let record = &mut agent.known[*resource];
            record.handle = known.handle;
            record.forgotten = false;
            record.token.clone_from(&known.token);
            if let Some(view) = &view {
                record.view = Some(view.clone());
            }
            access.set(slot, agent.into());
        }
        let mut harness = Harness::new(setting, access, agent);
        harness.handed_off();
        harness.finish()
    }

    /// What `[finally]` and `[at-rest]` say of a quiescent state: each assertion's bit, and whether it holds. `[finally]`
    /// says nothing where some intent was not told as `ok`.
    pub fn at_rest(&self, access: &Access<'_, Component>) -> Vec<(usize, Result<bool, String>)> {
        let first = INVARIANTS.len() + self.finally.len();
        let at_rest = (first..).zip(self.evaluate(&self.at_rest, access));
        self.finally(access).into_iter().chain(at_rest).collect()
    }

    fn finally(&self, access: &Access<'_, Component>) -> Vec<(usize, Result<bool, String>)> {
        if self.finally.is_empty() || !self.all_told_ok(access) {
            return Vec::new();
        }
        // A resource that was created anew owes nothing to what was done before.
        let recreate = FAULTS.iter().position(|fault| fault.name == "recreate").expect("it is in the table");
        let left = access.get(self.setting.budgets_slot()).budgets()[recreate];
        if left < self.setting.faults()[recreate] {
            return Vec::new();
        }
        let holds = self.evaluate(&self.finally, access);
        (INVARIANTS.len()..).zip(holds).collect()
    }

    fn all_told_ok(&self, access: &Access<'_, Component>) -> bool {
        let told_ok = |agent: usize| {
            let ledger = access.get(self.setting.ledger_slot(agent)).ledger();
            let entries = ledger.entries.iter().enumerate();
            let mut intents = entries.filter(|(entry, _)| self.setting.intent(agent, *entry).is_some());
            intents.all(|(_, intent)| intent.told == Some(Told::Ok))
        };
        (0..self.setting.agents()).all(told_ok)
    }

    fn sometimes(&self, access: &Access<'_, Component>) -> Vec<(usize, bool)> {
        if self.sometimes.is_empty() {
            return Vec::new();
        }
        let holds = self.evaluate(&self.sometimes, access).into_iter().map(|holds| holds == Ok(true));
        (INVARIANTS.len() + self.finally.len() + self.at_rest.len()..).zip(holds).collect()
    }

    fn evaluate(&self, assertions: &[Compiled], access: &Access<'_, Component>) -> Vec<Result<bool, String>> {
        if assertions.is_empty() {
            return Vec::new();
        }
        let setting = &self.setting;
        let told: Vec<Vec<Told>> = (0..setting.agents())
            .map(|agent| {
                let ledger = access.get(setting.ledger_slot(agent)).ledger();
                ledger.entries.iter().filter_map(|intent| intent.told).collect()
            })
            .collect();
        let told: Vec<(&str, &[Told])> =
            told.iter().enumerate().map(|(agent, told)| (setting.agent_name(agent), &**told)).collect();
        // Fields and version are those of the latest instance; of a resource that was never minted, as declared.
        let state: Vec<(Vec<(String, Value)>, i64)> = (0..setting.resources())
            .map(|resource| {
                let declared = setting.resource(resource);
                match access.get(setting.resource_slot(resource)).resource().instances.last() {
                    None => (declared.fields.clone(), i64::from(declared.version)),
                    Some(instance) => {
                        let names = declared.fields.iter().map(|(name, _)| name.clone());
                        let values = instance.content.iter().map(|field| field.value.clone());
                        (names.zip(values).collect(), i64::from(instance.version))
                    }
                }
            })
            .collect();
        let resources: Vec<ResourceFacts<'_>> = state
            .iter()
            .enumerate()
            .map(|(resource, (fields, version))| ResourceFacts {
                name: &setting.resource(resource).name,
                fields,
                version: *version,
            })
            .collect();
        let facts = Facts { resources: &resources, told: &told };
        assertions.iter().map(|assertion| assertion.evaluate(&facts)).collect()
    }

    /// Judges facts by every invariant: its place in the table, and the judgement.
    pub fn judge<'j>(&'j self, facts: &'j [Fact]) -> impl Iterator<Item = (usize, Judgement)> + 'j {
        facts.iter().flat_map(move |fact| {
            INVARIANTS.iter().enumerate().map(move |(index, invariant)| (index, (invariant.judge)(&self.setting, fact)))
        })
    }

    /// How a step with these facts, or the state after it, violates an invariant.
    #[must_use]
    pub fn violation(&self, facts: &[Fact], after: &[Component], invariant: usize) -> Option<Violation> {
        let by_step = self.judge(facts).find_map(|(index, judgement)| match judgement {
            Judgement::Violation(violation) if index == invariant => Some(violation),
            _ => None,
        });
        let at_rest = || {
            let judge = INVARIANTS[invariant].at_rest?;
            let progress = |action: &Action| self.class(action) == Class::Progress;
            let quiescent = !plain::enabled(self, after).iter().any(progress);
            quiescent.then(|| judge(&self.setting, &Access::new(after))).flatten()
        };
        by_step.or_else(at_rest)
    }
}

impl System for Simulation {
    type Component = Component;
    type Action = Action;

    fn initial(&self) -> Vec<Component> {
        let setting = &self.setting;
        let scenario = &setting.model.scenario;
        let mut components = Vec::new();
        for (agent, declared) in scenario.agents.iter().enumerate() {
            let known = (0..setting.resources()).map(|resource| initially_known(setting, agent, resource)).collect();
            let entries = declared.work.len();
            components.push(Component::Agent(Agent {
                id: small(agent),
                entry: 0,
                errand: Errand::Begin,
                attempt: Attempt::First,
                plans: vec![None; entries],
                first_plans: vec![None; entries],
                under_first_plan: false,
                pending: None,
                sends: 0,
                broke: false,
                redo: None,
                reissue: None,
                stopped: false,
                old: Vec::new(),
                known,
            }));
            components.push(Component::Call(None));
            components.push(Component::Orphans(Vec::new()));
            let ledger = Ledger { agent: small(agent), entries: vec![IntentLedger::default(); entries] };
            components.push(Component::Ledger(ledger));
        }
        for (resource, declared) in scenario.resources.iter().enumerate() {
            let instance = declared.handle.is_some().then(|| {
                let field = |(_, value): &(String, Value)| Field { value: value.clone(), shows: Intents::NONE };
                let content = declared.fields.iter().map(field).collect();
                Instance::new(content, setting.first_version(resource), 0)
            });
            components.push(Resource { id: small(resource), instances: instance.into_iter().collect() }.into());
        }
        for (slot, _) in setting.all_keys_slots() {
            let slot = u16::try_from(slot).expect("a state has few slots");
            components.push(KeyTable { slot, records: Vec::new() }.into());
        }
        let places = usize::from(setting.model.design.server.balancer == Balancer::Sticky);
        components.extend((0..setting.routes()).map(|_| Component::Route(vec![None; places])));
        components
            .extend(setting.all_lease_slots().map(|(_, resource, _)| Leases { resource, leases: Vec::new() }.into()));
        let queue = |resource| Queue { resource: small(resource), tickets: Vec::new() }.into();
        components.extend((0..setting.queues()).map(queue));
        components.extend((0..setting.memories()).map(|_| Component::from(Memory::default())));
        components.push(Component::Budgets(setting.faults().to_vec()));
        if setting.credentials_slot().is_some() {
            components.push(Component::Credentials(vec![0; setting.principals.len()]));
        }
        if setting.upstream_slot().is_some() {
            components.push(Component::Upstream(Vec::new()));
        }
        if setting.labelled {
            components.push(Component::Requests(vec![0; setting.agents()]));
        }
        components
    }

    fn sources(&self) -> usize {
        self.sources.len()
    }

    fn actions(&self, source: usize, access: &Access<'_, Component>) -> Vec<Action> {
        match self.sources[source] {
            Source::Agent(agent) => self.agent_actions(agent, access),
            Source::Orphans(agent) => self.orphan_actions(agent, access),
            Source::Fault(fault, struck) => {
                if access.get(self.setting.budgets_slot()).budgets()[fault] == 0 {
                    return Vec::new();
                }
                let targets = (FAULTS[fault].targets)(&self.setting, &self.programs, access, struck);
                targets.into_iter().map(|target| Action::Fault { fault: small(fault), target }).collect()
            }
        }
    }

    fn parts(&self, action: &Action) -> usize {
        match action {
            Action::Fault { fault, .. } => (FAULTS[usize::from(*fault)].parts)(&self.setting),
            _ => 1,
        }
    }

    fn step(&self, action: &Action, part: usize, access: &mut Access<'_, Component>) -> Observations {
        let performed = self.perform(action, part, access);
        let mut observations = Observations::default();
        for (index, judgement) in self.judge(&performed.facts) {
            match judgement {
                Judgement::Irrelevant => {}
                Judgement::Witness => observations.witnessed |= 1 << index,
                Judgement::Violation(_) => {
                    observations.violated |= 1 << index;
                    observations.witnessed |= 1 << index;
                }
            }
        }
        if observations.violated != 0 {
            let causes = self.causes(action, &performed).map(|(index, cause)| (small(index), cause.number()));
            observations.causes.extend(causes);
        }
        for bit in self.shown_by_step(action, &performed) {
            observations.violated |= 1 << bit;
        }
        observations.tags.extend(performed.facts.iter().filter_map(tags::of));
        observations.tags.extend(performed.moments().into_iter().map(Moment::tag));
        observations
    }

    fn kind(&self, action: &Action) -> u16 {
        action.kind()
    }

    fn future(&self, source: usize, access: &Access<'_, Component>) -> Footprint {
        self.future_of(source, access)
    }

    fn ghost(&self, kind: usize) -> u64 {
        future::ghost_invariants(kind)
    }

    fn counters(&self) -> SlotSet {
        [self.setting.budgets_slot()].into_iter().collect()
    }

    fn observed(&self) -> SlotSet {
        self.slots_of_assertions()
    }

    fn is_fair(&self, action: &Action) -> bool {
        let cancels = self.setting.model.protocol.closed_stream == ClosedStream::Cancels;
        match action {
            Action::Fault { .. } => false,
            Action::Deliver { call, .. } | Action::Execute { call, arrives: true, .. } => call.orphan.is_none(),
            Action::Execute { call, .. } => call.orphan.is_none() || !cancels,
            _ => true,
        }
    }

    fn liveness(&self) -> Option<usize> {
        INVARIANTS.iter().position(|invariant| invariant.name == "resolves")
    }

    fn is_pending(&self, access: &Access<'_, Component>) -> bool {
        first_open(&self.setting, access).is_some()
    }

    fn class(&self, action: &Action) -> Class {
        match action {
            Action::Fault { .. } => Class::Fault,
            Action::Deliver { call, .. } | Action::Execute { call, .. } | Action::Cancel { call }
                if call.orphan.is_some() =>
            {
                Class::Idle
            }
            _ => Class::Progress,
        }
    }

    fn observe(&self, quiescent: bool, access: &Access<'_, Component>) -> Observations {
        let mut observations = Observations::default();
        for bit in self.shown_by_state(quiescent, access) {
            observations.violated |= 1 << bit;
        }
        for (index, holds) in self.sometimes(access) {
            observations.witnessed |= u64::from(holds) << index;
        }
        if quiescent {
            for (index, row) in INVARIANTS.iter().enumerate() {
                if row.at_rest.is_some_and(|at_rest| at_rest(&self.setting, access).is_some()) {
                    observations.violated |= 1 << index;
                }
            }
            for (index, holds) in self.at_rest(access) {
                observations.witnessed |= 1 << index;
                observations.violated |= u64::from(holds != Ok(true)) << index;
            }
        }
        observations
    }

    fn numbers(&self, component: &Component, visit: &mut dyn FnMut(u16, u16)) {
        let real = self.setting.has_real_versions();
        numbers::visit(&self.setting, &mut component.clone(), &mut |space, number| {
            if !(real && numbers::are_versions(space)) {
                visit(space, *number);
            }
        });
    }

    fn renumber(&self, component: &mut Component, space: u16, rename: &dyn Fn(u16) -> u16) {
        numbers::visit(&self.setting, component, &mut |other, number| {
            if other == space {
                *number = rename(*number);
            }
        });
    }

    fn symmetries(&self) -> usize {
        self.symmetries.len()
    }

    fn moves_sources(&self, symmetry: usize) -> bool {
        self.symmetries[symmetry].moves_agents()
    }

    fn moved_slot(&self, symmetry: usize, slot: usize) -> usize {
        self.symmetries[symmetry].slot(slot)
    }

    fn renamed(&self, symmetry: usize, component: &Component) -> Component {
        renaming::rename(&self.setting, &self.symmetries[symmetry], component)
    }
}

/// A root client of the owner, or of a principal with which it is shared, knows the resources that exist at the start.
fn initially_known(setting: &Setting, agent: usize, resource: usize) -> Known {
    let exists = setting.resource(resource).handle.is_some();
    let root = setting.model.scenario.agents[agent].parent.is_none();
    let knows = exists && root && setting.entitled(setting.principal(agent), resource);
    let handle = knows.then_some(Handle { resource: small(resource), instance: 0 });
    let field = |(_, value): &(String, Value)| Field { value: value.clone(), shows: Intents::NONE };
    let content = setting.resource(resource).fields.iter().map(field).collect();
    let token = setting.token_of(&Instance::new(content, setting.first_version(resource), 0));
    Known { handle, token: token.filter(|_| knows), ..Known::default() }
}

fn fault_names() -> Vec<&'static str> {
    FAULTS.iter().map(|fault| fault.name).collect()
}

/// An index that the limits of a scenario keep below 256.
fn small(index: usize) -> u8 {
    u8::try_from(index).expect("the limits of a scenario keep indices below 256")
}
