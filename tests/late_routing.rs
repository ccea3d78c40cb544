//! Late routing: exploring calls that have no node until one matters finds what exploring all of them finds.

mod models;
mod random;

use std::collections::BTreeSet;
use std::sync::Arc;

use handlecheck::action::{Action, Target};
use handlecheck::engine::{
    self, Access, Class, Exploration, Footprint, Limits, Observations, SlotSet, System, explore, plain, second,
};
use handlecheck::model::Model;
use handlecheck::step::Simulation;
use handlecheck::world::{Call, Component, Position};
use random::Texts;

/// The largest model that is compared, in unreduced states.
const LARGEST: usize = 12_000;

/// What a search found, apart from counts and lengths.
#[derive(Debug, PartialEq, Eq)]
struct Found {
    /// For each property, the fewest faults of a break, if there is one.
    faults: Vec<Option<u32>>,
    witnessed: u64,
    /// How calls ended.
    tags: BTreeSet<u16>,
    /// What happened.
    names: BTreeSet<&'static str>,
    /// Why properties are violated, where that was asked for.
    causes: BTreeSet<(u8, u64)>,
}

fn found<S: System>(simulation: &Simulation, exploration: &Exploration<S>) -> Found {
    let names = exploration.kinds.iter().flat_map(|(kind, _)| Action::names_of_kind(*kind));
    Found {
        faults: (0..64).map(|property| exploration.front(property).last().map(|found| found.faults)).collect(),
        witnessed: exploration.witnessed,
        tags: exploration.tags.iter().map(|(tag, _)| *tag).collect(),
        names: names.chain(simulation.left_out()).collect(),
        causes: exploration.causes.iter().map(|(cause, _)| *cause).collect(),
    }
}

/// Explores a model with and without late routing, the other reductions and symmetry, and answers how many states there are in either; `None`: it is too
/// large, or its calls can't be routed late. What differs is the error.
fn compare(model: &Model, reduce: bool, symmetry: bool) -> Result<Option<(usize, usize)>, String> {
    let whole = Simulation::new(model.clone());
    if !Simulation::reduced(model.clone(), 0).routes_late() {
        return Ok(None);
    }
    // Symmetries that exchange agents exchange causes, and are not used where these are asked for.
    let limits = Limits { states: Some(LARGEST), liveness: true, causes: !symmetry, ..Limits::default() };
    let all = explore(&whole, limits, &mut |_| false);
    if all.stop.is_some() {
        return Ok(None);
    }
    let witnessed = if reduce { all.witnessed } else { 0 };
    let late = Simulation::reduced(model.clone(), witnessed);
    let mut some = explore(&late, Limits { reduce, symmetry, witnessed, subsume: reduce, ..limits }, &mut |_| false);
    some.witnessed |= witnessed;
    let (one, other) = (found(&whole, &all), found(&late, &some));
    if one != other {
        return Err(format!("early: {one:?}\nlate:  {other:?}"));
    }
    if some.states() > all.states() {
        return Err(format!("{} states became {}", all.states(), some.states()));
    }
    for property in 0..64 {
        let fewest = all.front(property).first().map(|found| found.steps);
        for place in some.front(property) {
            let (path, loops_from) = unfolded(&late, &whole, &some, place, property)?;
            let steps = loops_from.unwrap_or(path.len() - 1);
            if fewest.is_none_or(|fewest| steps < fewest as usize) {
                return Err(format!("a break of {steps} steps, and the shortest has {fewest:?}"));
            }
            is_real(&whole, &path, loops_from, place.faults)?;
        }
    }
    Ok(Some((all.states(), some.states())))
}

type Path = Vec<Vec<Component>>;

/// What was found where calls are routed late, as a run of the whole model, and where it goes round from.
fn unfolded(
    late: &Simulation,
    whole: &Simulation,
    found: &Exploration<Simulation>,
    place: engine::Found,
    property: usize,
) -> Result<(Path, Option<usize>), String> {
    let routed = found.path(late, place);
    let mut path = late.unfolded(whole, &routed, property).ok_or("a run can't be unfolded")?;
    let Some(round) = found.round(late, place) else { return Ok((path, None)) };
    let lap: Path = routed.last().cloned().into_iter().chain(round).collect();
    let start = path.len() - 1;
    let (rest, back) = late.unfolded_round(whole, &path[start], &lap).ok_or("a loop can't be unfolded")?;
    path.extend(rest);
    Ok((path, Some(start + back)))
}

/// Whether each state is a successor of the one before, with so many faults in all, and the last one comes back.
fn is_real(system: &Simulation, path: &Path, loops_from: Option<usize>, faults: u32) -> Result<(), String> {
    let mut seen = 0;
    for pair in path.windows(2) {
        let successors = plain::successors(system, &pair[0]).into_iter().filter(|next| next.state == pair[1]);
        let costs = successors.map(|next| u32::from(system.class(&next.action) == Class::Fault));
        seen += costs.min().ok_or("a path takes a step that is none")?;
    }
    let comes_back = loops_from.is_none_or(|start| path.last() == Some(&path[start]));
    if seen <= faults && comes_back { Ok(()) } else { Err(format!("{seen} faults, and not {faults}")) }
}

#[test]
fn shipped_models_are_the_same_with_late_routing() {
    let (mut early, mut late, mut models) = (0, 0, 0);
    for (pair, model) in models::expected() {
        for (reduce, symmetry) in [(false, false), (false, true), (true, true)] {
            let sizes = compare(&model, reduce, symmetry).unwrap_or_else(|differ| panic!("{pair:?}: {differ}"));
            let (all, some) = sizes.unwrap_or_default();
            (early, late, models) = (early + all, late + some, models + usize::from(sizes.is_some()));
        }
    }
    assert!(models > 100 && late * 3 < early, "{models} models: {early} states became {late}");
}

#[test]
fn random_models_are_the_same_with_late_routing() {
    let mut models = 0;
    for seed in random::seeds("0..320") {
        for texts in [random::texts(seed), random::symmetric(seed)] {
            models += usize::from(agrees(seed, &texts));
        }
    }
    assert!(models > 50, "enough models can be routed late: {models}");
}

fn agrees(seed: u64, texts: &Texts) -> bool {
    let Ok(model) = models::of_texts(&texts.scenario, &texts.design, &texts.protocol) else { return false };
    let sizes = compare(&model, seed.is_multiple_of(3), seed.is_multiple_of(2)).unwrap_or_else(|differ| {
        panic!("seed {seed}: {differ}\n{}\n{}\n{}", texts.scenario, texts.design, texts.protocol)
    });
    sizes.is_some()
}

/// Most states of a model that stateright explores here, which takes it much longer.
const SMALL: usize = 3_000;

/// Late routing, partial order and symmetry together, as `check` uses them, against stateright on the whole model.
#[test]
fn stateright_decides_random_models_as_all_reductions_together() {
    let (mut models, mut states, mut fewer) = (0, 0, 0);
    for seed in random::seeds("320..440") {
        for texts in [random::texts(seed), random::symmetric(seed)] {
            let Ok(model) = models::of_texts(&texts.scenario, &texts.design, &texts.protocol) else { continue };
            if !Simulation::reduced(model.clone(), 0).routes_late() {
                continue;
            }
            let whole = Simulation::new(model.clone());
            let small = Limits { states: Some(SMALL), ..Limits::default() };
            if explore(&whole, small, &mut |_| false).stop.is_some() {
                continue;
            }
            let theirs = second::explore(&Arc::new(whole), None, &mut |_| false);
            let witnessed = if seed.is_multiple_of(2) { theirs.witnessed } else { 0 };
            let limits = Limits { reduce: true, symmetry: true, subsume: true, witnessed, ..Limits::default() };
            let mut ours = explore(&Simulation::reduced(model, witnessed), limits, &mut |_| false);
            ours.witnessed |= witnessed;
            let violated = (0..64).filter(|property| !ours.violations[*property].is_empty());
            let violated = violated.fold(0_u64, |all, property| all | 1 << property);
            let shown = || format!("seed {seed}\n{}\n{}", texts.scenario, texts.design);
            assert_eq!((violated, ours.witnessed), (theirs.violated, theirs.witnessed), "{}", shown());
            (models, states, fewer) = (models + 1, states + theirs.states, fewer + ours.states());
        }
    }
    assert!(models > 15 && fewer * 3 < states, "{models} models, {states} states became {fewer}");
}

/// The reductions as `check` combines them, but for conditions of partial order that are forgotten: what is a counter, what is
/// observed in a state, and what is read for a witness.
struct Careless {
    system: Simulation,
    forgets: bool,
}

impl System for Careless {
    models::delegate!();

    fn future(&self, source: usize, access: &Access<'_, Component>) -> Footprint {
        self.system.future(source, access)
    }

    fn ghost(&self, kind: usize) -> u64 {
        if self.forgets { 0 } else { self.system.ghost(kind) }
    }

    fn counters(&self) -> SlotSet {
        if self.forgets { SlotSet::ALL } else { self.system.counters() }
    }

    fn observed(&self) -> SlotSet {
        if self.forgets { SlotSet::NONE } else { self.system.observed() }
    }

    fn symmetries(&self) -> usize {
        self.system.symmetries()
    }

    fn moves_sources(&self, symmetry: usize) -> bool {
        self.system.moves_sources(symmetry)
    }

    fn moved_slot(&self, symmetry: usize, slot: usize) -> usize {
        self.system.moved_slot(symmetry, slot)
    }

    fn renamed(&self, symmetry: usize, component: &Component) -> Component {
        self.system.renamed(symmetry, component)
    }
}

#[test]
fn an_unsound_reduction_is_noticed_among_all_of_them() {
    let (mut models, mut noticed) = (0, 0);
    for (pair, model) in models::expected() {
        let (whole, late) = (Simulation::new(model.clone()), Simulation::reduced(model.clone(), 0));
        if !late.routes_late() {
            continue;
        }
        let limits = Limits { states: Some(LARGEST), ..Limits::default() };
        let all = explore(&whole, limits, &mut |_| false);
        if all.stop.is_some() {
            continue;
        }
        let right = found(&late, &all);
        let differs = |forgets: bool| {
            let careless = Careless { system: Simulation::reduced(model.clone(), 0), forgets };
            let some =
                explore(&careless, Limits { reduce: true, symmetry: true, subsume: true, ..limits }, &mut |_| false);
            found(&late, &some) != right
        };
        assert!(!differs(false), "{pair:?}: with every condition they keep everything");
        models += 1;
        noticed += usize::from(differs(true));
    }
    assert!(models > 30 && noticed > 0, "{noticed} of {models} models notice");
}

/// How a call came about is forgotten before the witness for which it is kept was reached.
#[test]
fn what_is_forgotten_too_early_is_noticed() {
    let (mut models, mut noticed) = (0, 0);
    for (pair, model) in models::expected() {
        let limits = Limits { states: Some(LARGEST), ..Limits::default() };
        let witnessed = |claimed: u64| {
            let late = Simulation::reduced(model.clone(), claimed);
            let found = explore(&late, limits, &mut |_| false);
            (late.routes_late() && found.stop.is_none()).then_some(found.witnessed)
        };
        let Some(right) = witnessed(0) else { continue };
        let told_too_much = witnessed(u64::MAX);
        models += 1;
        noticed += usize::from(told_too_much != Some(right));
        assert!(told_too_much.is_none_or(|some| some & !right == 0), "{pair:?}: what is forgotten is not made up");
    }
    assert!(models > 100 && noticed > 30, "{noticed} of {models} models notice");
}

const SCENARIO: &str = r#"title = "A mint and a write"
nodes = 1
[resources.one]
handle = "h-one"
owner = "user-42"
version = 1
fields = { number = 1 }
[agents.A]
principal = "user-42"
work = [{ set = "one", number = 2 }]
[faults]
restart-node = 1
"#;

const DESIGN: &str = r#"title = "Told"
[server.read]
transactions = [["resolve", "read"]]
[server.write]
transactions = [["resolve", "apply"]]
[client]
payload = "change"
blind = true
[client.on]
broken-stream = { tell = "failure" }
"#;

/// Which models can't be routed late, and why not.
#[test]
fn late_routing_is_off_where_it_would_lose_something() {
    let protocol = models::PROTOCOL;
    let late = |scenario: &str, design: &str, protocol: &str| {
        let model = models::of_texts(scenario, design, protocol).expect("it is written so that it can be read");
        Simulation::reduced(model, 0).routes_late()
    };
    assert!(late(SCENARIO, DESIGN, protocol));
    let server = |setting: &str| DESIGN.replace("[server.read]", &format!("[server]\n{setting}\n[server.read]"));
    for setting in [
        "state = \"node\"",
        "balancer = \"sticky\"",
        "balancer = \"by-handle\"",
        "queue = \"per-handle\"",
        "identity = \"node-memory\"",
        "calls = \"redelivered\"",
        "replies = \"by-task-id\"",
        "reads-from = \"node-cache\"",
    ] {
        assert!(!late(SCENARIO, &server(setting), protocol), "{setting}");
    }
    let keys =
        "[server.write]\ntransactions = [[\"find-key\", \"apply\", \"record-key\"]]\n[server.keys]\nplace = \"node\"\n";
    let in_memory = DESIGN.replace("[server.write]\ntransactions = [[\"resolve\", \"apply\"]]\n", keys);
    let in_memory = in_memory.replace("blind = true", "blind = true\nkey = \"per-intent\"");
    assert!(!late(SCENARIO, &in_memory, protocol), "keys in the memory of nodes");
    assert!(late(SCENARIO, &in_memory.replace("place = \"node\"", "place = \"store\""), protocol));
    let cached = server("cache-place = \"node\"").replace("\"apply\"", "\"apply\", \"drop-cached\"");
    assert!(!late(SCENARIO, &cached, protocol), "a cache in the memory of nodes");
    let twice = SCENARIO.replace("restart-node = 1", "restart-node = 2");
    assert!(late(&twice, DESIGN, protocol), "with one node, every restart is decided late");
    let two_nodes = twice.replace("nodes = 1", "nodes = 2");
    assert!(!late(&two_nodes, DESIGN, protocol), "what survives the first restart was at another node");
    let resumed = protocol.replace("\"never\"", "\"after-delivery\"");
    let dropped = SCENARIO.replace("[faults]", "[faults]\ndrop-stream = 1");
    assert!(late(SCENARIO, DESIGN, &resumed), "no stream breaks that could be resumed");
    assert!(!late(&dropped, DESIGN, &resumed), "whether it can be resumed tells whether the request has arrived");
}

/// Late routing without the calls that may have arrived, as it would be wrong: the agent that is told of a failure before
/// its change could run is never told so.
#[test]
fn a_restart_that_spares_calls_on_their_way_is_noticed() {
    let in_vain = "[sometimes]\nin-vain = 'told.A == [\"failure\"] && one.number == 1'\n[faults]";
    is_needed(&SCENARIO.replace("[faults]", in_vain), |struck| {
        struck.iter().any(|call| call.position == Position::InTransit)
    });
}

/// One restart breaks the calls of two agents, and both may have been at that node.
#[test]
fn a_restart_that_strikes_one_call_at_a_time_is_noticed() {
    let both = "[agents.B]\nprincipal = \"user-42\"\nwork = [{ set = \"one\", number = 3 }]
[sometimes]\nboth-in-vain = 'told.A == [\"failure\"] && told.B == [\"failure\"]'\n[faults]";
    for nodes in ["nodes = 1", "nodes = 2"] {
        let scenario = SCENARIO.replace("[faults]", both).replace("nodes = 1", nodes);
        is_needed(&scenario, |struck| struck.len() > 1);
    }
}

/// Restarts that strike calls of this kind are needed: with them all searches agree, and without them a witness is not reached.
fn is_needed(scenario: &str, spares: fn(&[&Call]) -> bool) {
    let model = models::of_texts(scenario, DESIGN, models::PROTOCOL).expect("it is written so that it can be read");
    for (reduce, symmetry) in [(false, false), (true, true)] {
        let sizes = compare(&model, reduce, symmetry).unwrap_or_else(|differ| panic!("{differ}"));
        assert!(sizes.is_some(), "its calls can be routed late");
    }
    let witnessed = |spares: fn(&[&Call]) -> bool| {
        let late = Sparing { system: Simulation::reduced(model.clone(), 0), spares };
        explore(&late, Limits::default(), &mut |_| false).witnessed
    };
    let whole = explore(&Simulation::new(model.clone()), Limits::default(), &mut |_| false).witnessed;
    assert_eq!(whole, witnessed(|_| false));
    assert_ne!(whole, witnessed(spares));
}

/// A simulation in which a restart strikes no calls of some kind.
struct Sparing {
    system: Simulation,
    spares: fn(&[&Call]) -> bool,
}

impl System for Sparing {
    models::delegate!(but actions);

    fn actions(&self, source: usize, access: &Access<'_, Component>) -> Vec<Action> {
        let setting = self.system.setting();
        let spared = |action: &Action| match action {
            Action::Fault { target: Target::Calls { open, .. }, .. } => {
                let struck = (0..setting.agents()).filter(|agent| open & (1 << agent) != 0);
                let calls: Vec<_> =
                    struck.filter_map(|agent| access.get(setting.call_slot(agent)).call().as_ref()).collect();
                (self.spares)(&calls)
            }
            _ => false,
        };
        self.system.actions(source, access).into_iter().filter(|action| !spared(action)).collect()
    }
}
