//! What can happen, and what it does: the one place where control flow lives.
//!
//! [`Simulation`] is the composed model as a [`System`] that the engine explores.

mod asserting;
mod budgets;
pub mod causes;
mod choosing;
mod costs;
mod dead_values;
mod deploying;
mod future;
mod initial;
mod judging;
mod learning;
mod listing;
mod showing;
pub mod tags;

pub use self::costs::Measure;
use self::dead_values::DeadValues;
use self::showing::Shown;
use crate::action::Action;
use crate::assertion::{self, Compiled, Names};
use crate::engine::{Access, Budgets, Class, Footprint, Observations, SlotSet, System};
use crate::faults::{FAULTS, Strike, Strikes, sources_of_restarts};
use crate::handler::{self, Aspect, Executed, Luck, Programs};
use crate::harness::Harness;
use crate::invariants::{INVARIANTS, Judgement, first_open};
use crate::model::protocol::ClosedStream;
use crate::model::{Assertion, Model};
use crate::situation::Moment;
use crate::world::{Answer, Call, CallRef, Component, Fact, Setting, Symmetry, numbers, renaming, symmetry};

mod late_routing;
mod unfolding;

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
    /// What of a state is forgotten; `None`: nothing, states are whole.
    dead_values: Option<DeadValues>,
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
    /// A node that changes over to what is deployed.
    Node(u8),
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

    /// Prepares a model to be explored in fewer states: calls are routed late, where that finds the same, and then dead values
    /// are forgotten. `witnessed`: the properties whose witness need not be looked for, one bit each.
    #[must_use]
    pub fn reduced(model: Model, witnessed: u64) -> Self {
        let mut setting = Setting::new(model, &fault_names(), false);
        setting.routes_late = late_routing::keeps_everything(&setting);
        let dead_values = setting.routes_late.then(|| DeadValues::of(&setting, witnessed));
        Self { dead_values, ..Self::with(setting) }
    }

    fn prepare(model: Model, labelled: bool) -> Self {
        Self::with(Setting::new(model, &fault_names(), labelled))
    }

    fn with(setting: Setting) -> Self {
        let programs = Programs::new(&setting);
        let agents = 0..setting.agents();
        let mut sources: Vec<Source> = agents.clone().map(Source::Agent).chain(agents.map(Source::Orphans)).collect();
        for (index, fault) in FAULTS.iter().enumerate() {
            if setting.faults()[index] > 0 {
                let struck = match fault.strikes {
                    Strikes::Agents => setting.agents(),
                    Strikes::Nodes => sources_of_restarts(&setting),
                    Strikes::Resources => setting.resources(),
                    Strikes::Keys => setting.all_keys_slots().count(),
                    Strikes::Leases => setting.all_lease_slots().count(),
                    Strikes::Principals => setting.principals.len(),
                    Strikes::Routes => setting.routes(),
                };
                sources.extend((0..struck).map(|struck| Source::Fault(index, struck)));
            }
        }
        if setting.deployed_slot().is_some() {
            sources.extend((0..small(setting.model.scenario.nodes)).map(Source::Node));
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
        Self {
            setting,
            programs,
            sources,
            symmetries,
            finally,
            at_rest,
            sometimes,
            shown: Vec::new(),
            dead_values: None,
        }
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
            Source::Agent(_) | Source::Orphans(_) | Source::Node(_) => None,
        }
    }

    /// The call that an action is about.
    #[must_use]
    pub fn call<'c>(&self, access: &'c Access<'_, Component>, at: CallRef) -> &'c Call {
        handler::call_at(&self.setting, access, at)
    }

    fn has(&self, aspect: Aspect, access: &Access<'_, Component>) -> bool {
        aspect.is_in(&self.setting, &self.programs, access)
    }

    /// Executes one part of an enabled action.
    pub fn perform(&self, action: &Action, part: usize, access: &mut Access<'_, Component>) -> Performed {
        match action {
            Action::Send { agent, leaked, way } => {
                Performed { facts: self.send(usize::from(*agent), *leaked, *way, access), ..Performed::default() }
            }
            Action::Decide { agent, way } => {
                Performed { facts: self.decide(usize::from(*agent), *way, access), ..Performed::default() }
            }
            Action::Skip { agent } => {
                let mut harness = Harness::new(&self.setting, access, usize::from(*agent));
                harness.skip();
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
                self.guess(usize::from(*agent), *handle, access);
                Performed::default()
            }
            Action::Deliver { call, node, takes_from, .. } => {
                let facts = self.programs.deliver(&self.setting, access, *call, *node, *takes_from);
                Performed { facts, ..Performed::default() }
            }
            Action::Execute { call, clock_stands, .. } => {
                let luck = Luck { ticks: !clock_stands, ..Luck::PLAIN };
                let executed = self.programs.execute(&self.setting, access, *call, luck);
                let Executed { facts, answered, decided, .. } = executed;
                Performed { facts, answered, decided }
            }
            Action::Cancel { call } => {
                self.programs.cancel(&self.setting, access, *call);
                Performed::default()
            }
            Action::Resume { agent } => {
                let at = CallRef::open(*agent);
                let mut call = self.call(access, at).clone();
                call.broken = false;
                handler::set_call(&self.setting, access, at, Some(call));
                Performed::default()
            }
            Action::Deploy { node } => {
                let facts = self.change_over(*node, part, access);
                Performed { facts, ..Performed::default() }
            }
            Action::Fault { fault, target } => {
                if part == 0 {
                    let slot = self.setting.budgets_slot();
                    let mut budgets = access.get(slot).budgets().clone();
                    budgets[usize::from(*fault)] -= 1;
                    access.set(slot, Component::Budgets(budgets));
                }
                let mut strike = Strike { setting: &self.setting, programs: &self.programs, access, executed: None };
                let facts = (FAULTS[usize::from(*fault)].strike)(&mut strike, *target, part);
                let executed = strike.executed.map(|executed| (executed.answered, executed.decided));
                let (answered, decided) = executed.unwrap_or_default();
                Performed { facts, answered, decided }
            }
        }
    }
}

impl System for Simulation {
    type Component = Component;
    type Action = Action;

    fn initial(&self) -> Vec<Component> {
        self.at_start()
    }

    fn sources(&self) -> usize {
        self.sources.len()
    }

    fn actions(&self, source: usize, access: &Access<'_, Component>) -> Vec<Action> {
        match self.sources[source] {
            Source::Agent(agent) => self.agent_actions(agent, access),
            Source::Orphans(agent) => self.orphan_actions(agent, access),
            Source::Fault(fault, struck) => {
                if !self.has(Aspect::MayStrike(fault), access) {
                    return Vec::new();
                }
                let targets = (FAULTS[fault].targets)(&self.setting, &self.programs, access, struck);
                targets.into_iter().map(|target| Action::Fault { fault: small(fault), target }).collect()
            }
            Source::Node(node) => self.deploys(node, access),
        }
    }

    fn parts(&self, action: &Action) -> usize {
        match action {
            Action::Fault { fault, .. } => (FAULTS[usize::from(*fault)].parts)(&self.setting),
            Action::Deploy { .. } => self.parts_of_change_over(),
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
        observations.tags.extend(performed.facts.iter().filter_map(|fact| self.succeeded(fact)).map(tags::done));
        observations.tags.extend(performed.moments().into_iter().map(Moment::tag));
        self.forget_in(access);
        observations
    }

    fn kind(&self, action: &Action) -> u16 {
        action.kind()
    }

    fn future(&self, source: usize, access: &Access<'_, Component>) -> Footprint {
        self.future_of(source, access)
    }

    fn aspects(&self) -> Vec<usize> {
        handler::slots_of_aspects(&self.setting)
    }

    fn has_aspect(&self, aspect: usize, component: &Component) -> bool {
        handler::has_aspect(&self.setting, &self.programs, aspect, component)
    }

    fn ghost(&self, kind: usize) -> u64 {
        future::ghost_invariants(kind)
    }

    fn counters(&self) -> SlotSet {
        [self.setting.budgets_slot()].into_iter().collect()
    }

    fn budgets(&self) -> Option<Budgets<Component>> {
        self.amounts_left()
    }

    fn observed(&self) -> SlotSet {
        self.slots_of_assertions()
    }

    fn is_fair(&self, action: &Action) -> bool {
        let cancels = |side: bool| self.setting.of(side).model.protocol.closed_stream == ClosedStream::Cancels;
        match action {
            // A node need never change over.
            Action::Fault { .. } | Action::Deploy { .. } => false,
            // It is no orphan: it goes on until its node restarts, and then elsewhere where calls are kept.
            Action::Deliver { answered: true, .. } | Action::Execute { answered: true, .. } => true,
            Action::Deliver { call, .. } | Action::Execute { call, arrives: true, .. } => call.orphan.is_none(),
            Action::Execute { call, deployed, .. } => call.orphan.is_none() || !cancels(*deployed),
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
            Action::Deploy { .. } => Class::Idle,
            Action::Deliver { answered: true, .. } | Action::Execute { answered: true, .. } => Class::Progress,
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

fn fault_names() -> Vec<&'static str> {
    FAULTS.iter().map(|fault| fault.name).collect()
}

/// An index that the limits of a scenario keep below 256.
fn small(index: usize) -> u8 {
    u8::try_from(index).expect("the limits of a scenario keep indices below 256")
}
