//! Partial-order reduction: taking as few actions as are needed decides everything as taking all of them does. And subsumption:
//! leaving out what differs from a state by less to spend keeps every front.

mod models;
mod random;

use std::collections::BTreeSet;

use handlecheck::action::Action;
use handlecheck::engine::{
    Access, Budgets, Class, Exploration, Footprint, Found, Limits, Observations, SlotSet, System, explore, plain,
};
use handlecheck::step::Simulation;
use handlecheck::world::Component;

/// The largest model that is compared, in unreduced states.
const LARGEST: usize = 12_000;

/// What a reduction must keep.
#[derive(Debug, PartialEq, Eq)]
struct Kept {
    /// For each property: with how few faults it can be violated.
    fewest_faults: Vec<Option<u32>>,
    witnessed: u64,
    /// How calls ended.
    tags: BTreeSet<u16>,
    /// What happened.
    kinds: BTreeSet<u16>,
    /// Why properties are violated.
    causes: BTreeSet<(u8, u64)>,
}

fn kept<S: System>(found: &Exploration<S>) -> Kept {
    let fewest = |property: usize| found.violations[property].first().map(|found| found.faults);
    Kept {
        fewest_faults: (0..64).map(fewest).collect(),
        witnessed: found.witnessed,
        tags: found.tags.iter().map(|(tag, _)| *tag).collect(),
        kinds: found.kinds.iter().map(|(kind, _)| *kind).collect(),
        causes: found.causes.iter().map(|(cause, _)| *cause).collect(),
    }
}

/// Explores a system as a whole and reduced, and answers how many states there are in either; `None`: too many.
fn compare<S: System>(system: &S, liveness: bool, symmetry: bool) -> Result<Option<(usize, usize)>, String> {
    // Symmetries that exchange agents exchange causes, and are not used where these are asked for.
    let limits = Limits { states: Some(LARGEST), liveness, causes: !symmetry, ..Limits::default() };
    let whole = explore(system, limits, &mut |_| false);
    if whole.stop.is_some() {
        return Ok(None);
    }
    let reduced = explore(system, Limits { reduce: true, symmetry, subsume: liveness, ..limits }, &mut |_| false);
    let (all, some) = (kept(&whole), kept(&reduced));
    if all != some {
        return Err(format!(
            "liveness {liveness}, symmetry {symmetry}\nall actions: {all:?}\nas few as needed: {some:?}"
        ));
    }
    if reduced.states() > whole.states() {
        return Err("there are more states with fewer actions".to_owned());
    }
    for property in 0..64 {
        for place in reduced.front(property) {
            let mut path = reduced.path(system, place);
            path.extend(reduced.round(system, place).into_iter().flatten());
            is_real(system, &path)?;
        }
    }
    Ok(Some((whole.states(), reduced.states())))
}

/// The cheapest breaks of each property, with the states on the paths to them.
type Fronts<S> = Vec<Vec<(u32, u32, Vec<Vec<<S as System>::Component>>)>>;

/// Explores a system as a whole and without what is subsumed, and answers how many states there are in either; `None`: too many.
fn subsumes<S: System>(system: &S) -> Result<Option<(usize, usize)>, String> {
    let limits = Limits { states: Some(LARGEST), liveness: true, causes: true, ..Limits::default() };
    let whole = explore(system, limits, &mut |_| false);
    if whole.stop.is_some() {
        return Ok(None);
    }
    let less = explore(system, Limits { subsume: true, ..limits }, &mut |_| false);
    let (all, some) = (kept(&whole), kept(&less));
    if all != some {
        return Err(format!("all states: {all:?}\nwithout those that are subsumed: {some:?}"));
    }
    // Of what can stay pending for ever, the fewest faults are kept, and not the length.
    let decided_by_steps = |property: &usize| Some(*property) != system.liveness();
    let fronts = |found: &Exploration<S>| -> Fronts<S> {
        let place = |place: Found| (place.steps, place.faults, found.path(system, place));
        let front = |property| found.front(property).into_iter().map(place).collect();
        (0..64).filter(decided_by_steps).map(front).collect()
    };
    if fronts(&whole) != fronts(&less) {
        return Err("a front or a path on it is another one".to_owned());
    }
    Ok(Some((whole.states(), less.states())))
}

/// Whether each state is a successor of the one before.
fn is_real<S: System>(system: &S, path: &[Vec<S::Component>]) -> Result<(), String> {
    let leads =
        |pair: &[Vec<S::Component>]| plain::successors(system, &pair[0]).iter().any(|next| next.state == pair[1]);
    if path.windows(2).all(leads) { Ok(()) } else { Err("a path takes a step that is none".to_owned()) }
}

#[test]
fn shipped_models_are_decided_alike() {
    let (mut states, mut fewer) = (0, 0);
    for (pair, model) in models::expected() {
        let simulation = Simulation::new(model);
        for (liveness, symmetry) in [(true, false), (false, true)] {
            let sizes = compare(&simulation, liveness, symmetry).unwrap_or_else(|differ| panic!("{pair:?}: {differ}"));
            let (all, some) = sizes.unwrap_or_default();
            (states, fewer) = (states + all, fewer + some);
        }
    }
    assert!(fewer * 5 < states * 4, "the reduction reduces: {fewer} of {states} states");
}

#[test]
fn what_is_subsumed_is_on_no_front() {
    let (mut states, mut fewer) = (0, 0);
    let mut add = |shown: &str, model| {
        let sizes = subsumes(&Simulation::new(model)).unwrap_or_else(|differ| panic!("{shown}: {differ}"));
        let (all, some) = sizes.unwrap_or_default();
        (states, fewer) = (states + all, fewer + some);
    };
    for (pair, model) in models::expected() {
        add(&format!("{pair:?}"), model);
    }
    for seed in random::seeds("60..90") {
        let shared = [random::sharing::sharing(seed), random::sharing::alike(seed)];
        for texts in [random::texts(seed), random::symmetric(seed), random::choosing(seed)].into_iter().chain(shared) {
            let Ok(model) = models::of_texts(&texts.scenario, &texts.design, &texts.protocol) else { continue };
            add(&format!("seed {seed}\n{}\n{}", texts.scenario, texts.design), model);
        }
    }
    assert!(fewer * 10 < states * 9, "something is subsumed: {fewer} of {states} states are left");
}

/// A system that takes whatever else is left for more.
struct Spendthrift {
    system: Simulation,
}

impl System for Spendthrift {
    models::delegate!();

    fn budgets(&self) -> Option<Budgets<Component>> {
        let Budgets { slot, amounts } = self.system.budgets()?;
        let others = |place: usize| (0..amounts.len()).filter(|other| *other != place).collect();
        let amounts = amounts.iter().enumerate().map(|(place, (amount, _))| (amount.clone(), others(place))).collect();
        Some(Budgets { slot, amounts })
    }
}

#[test]
fn what_is_not_more_taken_for_more_is_caught() {
    let differs = |model| subsumes(&Spendthrift { system: Simulation::new(model) }).is_err();
    let caught = models::expected().into_iter().filter(|(_, model)| differs(model.clone())).count();
    assert!(caught > 1, "only {caught} notices");
}

#[test]
fn random_models_are_decided_alike() {
    let (mut compared, mut states, mut fewer) = (0, 0, 0);
    let mut differ = Vec::new();
    for seed in random::seeds("0..60") {
        let shared = [random::sharing::sharing(seed), random::sharing::alike(seed)];
        let whole = [random::texts(seed), random::symmetric(seed), random::choosing(seed)].into_iter().chain(shared);
        let whole = whole.map(|texts| {
            let model = models::of_texts(&texts.scenario, &texts.design, &texts.protocol);
            (model, format!("{}\n{}", texts.scenario, texts.design))
        });
        let (scenario, designs, protocols) = random::deploys(seed);
        let deployed = models::of_deploy(&scenario, &designs, &protocols);
        for (model, shown) in whole.into_iter().chain([(deployed, format!("{scenario}\n{designs:?}"))]) {
            let Ok(model) = model else { continue };
            let simulation = Simulation::new(model);
            for (liveness, symmetry) in [(true, false), (false, true)] {
                match compare(&simulation, liveness, symmetry) {
                    Ok(sizes) => {
                        let (all, some) = sizes.unwrap_or_default();
                        compared += usize::from(sizes.is_some());
                        (states, fewer) = (states + all, fewer + some);
                    }
                    Err(flaw) => differ.push(format!("seed {seed}: {flaw}\n{shown}")),
                }
            }
        }
    }
    assert!(differ.is_empty(), "{} differ\n{}", differ.len(), differ.join("\n\n"));
    assert!(compared > 60, "enough were small enough: {compared}");
}

/// A system that declares too much to be a counter, or that whoever can't move now never will, as forgotten conditions would.
struct Careless {
    system: Simulation,
    forgets_the_blocked: bool,
}

impl System for Careless {
    models::delegate!();

    fn future(&self, source: usize, access: &Access<'_, Component>) -> Footprint {
        if self.forgets_the_blocked && self.system.actions(source, access).is_empty() {
            return Footprint::NONE;
        }
        self.system.future(source, access)
    }

    fn counters(&self) -> SlotSet {
        if self.forgets_the_blocked { self.system.counters() } else { SlotSet::ALL }
    }

    fn observed(&self) -> SlotSet {
        SlotSet::NONE
    }
}

#[test]
fn an_unsound_reduction_is_caught() {
    let caught = |forgets_the_blocked: bool| {
        let careless = |model| Careless { system: Simulation::new(model), forgets_the_blocked };
        models::expected()
            .into_iter()
            .filter(|(_, model)| compare(&careless(model.clone()), false, false).is_err())
            .count()
    };
    let (counters, blocked) = (caught(false), caught(true));
    // Few verdicts of shipped models hang on one interleaving.
    assert!(counters > 0 && blocked > 0, "{counters} and {blocked} shipped models notice");
}

/// What a source may still do becomes less with every step of whoever, never more.
#[test]
fn what_is_declared_only_shrinks() {
    for seed in 0..40 {
        let texts = random::texts(seed);
        let Ok(model) = models::of_texts(&texts.scenario, &texts.design, &texts.protocol) else { continue };
        let system = Simulation::new(model);
        let mut state = system.initial();
        for step in 0..30 {
            let successors = plain::successors(&system, &state);
            let Some(next) = successors.get(step * 7 % successors.len().max(1)) else { break };
            for source in 0..system.sources() {
                let before = system.future(source, &Access::new(&state));
                let after = system.future(source, &Access::new(&next.state));
                assert!(
                    after.with_ghosts(u8::MAX).is_within(&before.with_ghosts(u8::MAX)),
                    "seed {seed}, source {source}: {:?}",
                    next.action
                );
            }
            state = next.state.clone();
        }
    }
}
