//! Symmetry: exploring states up to renaming finds what exploring all of them finds, and what it shows is real.

mod models;
mod random;

use std::collections::BTreeSet;

use handlecheck::action::Action;
use handlecheck::engine::symmetry::image;
use handlecheck::engine::{Access, Class, Exploration, Limits, Observations, System, explore, plain};
use handlecheck::model::Model;
use handlecheck::step::Simulation;
use handlecheck::world::Component;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};
use random::Texts;

/// The largest model that is compared, in unreduced states.
const LARGEST: usize = 12_000;

/// What a search found, apart from counts.
#[derive(Debug, PartialEq, Eq)]
struct Found {
    /// Each property's front: steps and faults.
    fronts: Vec<Vec<(u32, u32)>>,
    witnessed: u64,
    /// How calls ended.
    tags: BTreeSet<u16>,
    /// What happened.
    names: BTreeSet<&'static str>,
}

fn found<S: System<Action = Action>>(exploration: &Exploration<S>) -> Found {
    let front = |property| exploration.front(property).iter().map(|found| (found.steps, found.faults)).collect();
    Found {
        fronts: (0..64).map(front).collect(),
        witnessed: exploration.witnessed,
        tags: exploration.tags.iter().map(|(tag, _)| *tag).collect(),
        names: exploration.kinds.iter().flat_map(|(kind, _)| Action::names_of_kind(*kind)).collect(),
    }
}

/// Explores a system with and without its symmetries, and answers how many states there are in either; `None`: too many.
/// What differs is the error.
fn compare<S: System<Action = Action>>(system: &S, liveness: bool) -> Result<Option<(usize, usize)>, String> {
    let limits = Limits { states: Some(LARGEST), liveness, ..Limits::default() };
    let whole = explore(system, limits, &mut |_| false);
    if whole.stop.is_some() {
        return Ok(None);
    }
    let quotient = explore(system, Limits { symmetry: true, ..limits }, &mut |_| false);
    let (all, reduced) = (found(&whole), found(&quotient));
    if all != reduced {
        return Err(format!("all states: {all:?}\nup to symmetry: {reduced:?}"));
    }
    if quotient.states() > whole.states() {
        return Err("there are more orbits than states".to_owned());
    }
    for property in 0..64 {
        for place in quotient.front(property) {
            let path = quotient.path(system, place);
            if path.len() != place.steps as usize + 1 {
                return Err(format!("a path of {} states has {} steps", path.len(), place.steps));
            }
            is_real(system, &path)?;
            let Some(round) = quotient.round(system, place) else { continue };
            if round.last() != path.last() {
                return Err("a loop does not come back".to_owned());
            }
            is_real(system, &[&path[path.len() - 1..], &round].concat())?;
        }
    }
    Ok(Some((whole.states(), quotient.states())))
}

/// Whether each state is a successor of the one before.
fn is_real<S: System>(system: &S, path: &[Vec<S::Component>]) -> Result<(), String> {
    for pair in path.windows(2) {
        if !plain::successors(system, &pair[0]).iter().any(|next| next.state == pair[1]) {
            return Err(format!("no step leads from {:?} to {:?}", pair[0], pair[1]));
        }
    }
    Ok(())
}

/// What a step shows, in whichever order its parts do.
fn showing(observations: &Observations) -> (u64, u64, Vec<u16>) {
    let Observations { violated, witnessed, tags, .. } = observations;
    let mut tags = tags.clone();
    tags.sort_unstable();
    (*violated, *witnessed, tags)
}

/// What is observed in a state, were it quiescent or not, and whether something is pending in it.
fn observed<S: System>(system: &S, state: &[S::Component]) -> (Vec<(u64, u64)>, bool) {
    let observe = |quiescent| {
        let Observations { violated, witnessed, .. } = system.observe(quiescent, &Access::new(state));
        (violated, witnessed)
    };
    ([false, true].map(observe).to_vec(), system.is_pending(&Access::new(state)))
}

/// Walks at random, and holds each symmetry in each state to what it promises: renaming commutes with taking a step.
fn commutes<S: System>(system: &S, steps: usize, seed: u64) -> Result<(), String> {
    let mut dice = ChaCha8Rng::seed_from_u64(seed);
    let mut state = system.initial();
    plain::normalise(system, &mut state);
    for step in 0..steps {
        let successors = plain::successors(system, &state);
        for symmetry in 0..system.symmetries() {
            let renamed = image(system, symmetry, &state);
            if step == 0 && renamed != state {
                return Err(format!("symmetry {symmetry} moves the initial state"));
            }
            if observed(system, &renamed) != observed(system, &state) {
                return Err(format!("symmetry {symmetry} changes what is observed in {state:?}"));
            }
            let mut there = plain::successors(system, &renamed);
            for here in &successors {
                let expected = image(system, symmetry, &here.state);
                let at = there.iter().position(|there| {
                    let seen = showing(&here.observations) == showing(&there.observations);
                    seen && system.class(&here.action) == system.class(&there.action) && there.state == expected
                });
                let Some(at) = at else {
                    return Err(format!("symmetry {symmetry} does not map {:?} in {state:?}", here.action));
                };
                there.swap_remove(at);
            }
            if let Some(more) = there.first() {
                return Err(format!("symmetry {symmetry}: {:?} comes from nowhere, after {state:?}", more.action));
            }
        }
        let Some(next) =
            successors.get(usize::try_from(dice.next_u32()).expect("32 bits fit") % successors.len().max(1))
        else {
            break;
        };
        state = next.state.clone();
    }
    Ok(())
}

fn model(texts: &Texts) -> Option<Model> {
    models::of_texts(&texts.scenario, &texts.design, &texts.protocol).ok()
}

#[test]
fn shipped_models_are_the_same_up_to_symmetry() {
    let (mut states, mut orbits) = (0, 0);
    for (number, (pair, model)) in (0..).zip(models::expected()) {
        let simulation = Simulation::new(model);
        commutes(&simulation, 12, number).unwrap_or_else(|flaw| panic!("{pair:?}: {flaw}"));
        for liveness in [false, true] {
            let sizes = compare(&simulation, liveness).unwrap_or_else(|differ| panic!("{pair:?}: {differ}"));
            let (all, some) = sizes.unwrap_or_default();
            (states, orbits) = (states + all, orbits + some);
        }
    }
    assert!(orbits * 3 < states * 2, "most have two nodes to exchange: {orbits} of {states}");
}

#[test]
fn random_models_are_the_same_up_to_symmetry() {
    let (mut symmetric, mut agents) = (0, 0);
    for seed in random::seeds("0..100") {
        let shared = [random::sharing::sharing(seed), random::sharing::alike(seed)];
        for texts in [random::texts(seed), random::symmetric(seed), random::choosing(seed)].into_iter().chain(shared) {
            let (sizes, exchanges) = agrees(seed, &texts);
            symmetric += sizes;
            agents += usize::from(exchanges);
        }
    }
    assert!(symmetric > 70 && agents > 30, "enough of them have symmetries: {symmetric}, {agents}");
}

#[test]
fn random_deploys_are_the_same_up_to_symmetry() {
    let mut compared = 0;
    for seed in random::seeds("0..60") {
        let (scenario, designs, protocols) = random::deploys(seed);
        let Ok(model) = models::of_deploy(&scenario, &designs, &protocols) else { continue };
        let simulation = Simulation::new(model);
        let shown = |flaw: String| -> ! { panic!("seed {seed}: {flaw}\n{scenario}\n{designs:?}") };
        if simulation.symmetries() > 0 {
            commutes(&simulation, 25, seed).unwrap_or_else(|flaw| shown(flaw));
            compared += usize::from(compare(&simulation, true).unwrap_or_else(|flaw| shown(flaw)).is_some());
        }
    }
    assert!(compared > 10, "enough of them have symmetries: {compared}");
}

/// How often the searches could be compared, and whether agents may be exchanged.
fn agrees(seed: u64, texts: &Texts) -> (usize, bool) {
    let mut compared = 0;
    let mut exchanges = false;
    let Some(model) = model(texts) else { return (compared, exchanges) };
    for simulation in [Simulation::new(model.clone()), Simulation::reduced(model, 0)] {
        if simulation.symmetries() == 0 {
            continue;
        }
        let shown = |flaw: String| -> ! {
            panic!("seed {seed}: {flaw}\n{}\n{}\n{}", texts.scenario, texts.design, texts.protocol)
        };
        commutes(&simulation, 25, seed).unwrap_or_else(|flaw| shown(flaw));
        for liveness in [false, true] {
            let sizes = compare(&simulation, liveness).unwrap_or_else(|flaw| shown(flaw));
            compared += usize::from(sizes.is_some());
        }
        exchanges |= simulation.exchangeable().contains(&"agents");
    }
    (compared, exchanges)
}

/// A system with the symmetries of another: what a forgotten condition would amount to.
struct Borrowed {
    system: Simulation,
    lender: Simulation,
}

impl System for Borrowed {
    models::delegate!();

    fn symmetries(&self) -> usize {
        self.lender.symmetries()
    }

    fn moves_sources(&self, symmetry: usize) -> bool {
        self.lender.moves_sources(symmetry)
    }

    fn moved_slot(&self, symmetry: usize, slot: usize) -> usize {
        self.lender.moved_slot(symmetry, slot)
    }

    fn renamed(&self, symmetry: usize, component: &Component) -> Component {
        self.lender.renamed(symmetry, component)
    }
}

const SCENARIO: &str = r#"title = "Two alike"
nodes = 2
[resources.one]
handle = "h-one"
owner = "user-42"
version = 1
fields = { number = 1, other = 1 }
[agents.A]
principal = "user-42"
work = [{ set = "one", number = 2 }]
[agents.B]
principal = "user-42"
work = [{ set = "one", number = 2 }]
[faults]
drop-stream = 1
restart-node = 1
"#;

const DESIGN: &str = r#"title = "Naive"
[server]
state = "store"
[server.read]
transactions = [["resolve", "read"]]
[server.write]
transactions = [["resolve", "apply"]]
[client]
payload = "snapshot"
"#;

fn simulation(scenario: &str, design: &str) -> Simulation {
    Simulation::new(models::of_texts(scenario, design, models::PROTOCOL).expect("it is written so that it can be read"))
}

/// Each condition of a symmetry, left out on purpose, is noticed by the walk; some by what the two searches find.
#[test]
fn a_wrong_symmetry_is_caught() {
    let nodes_in_memory = DESIGN.replace("state = \"store\"", "state = \"node\"");
    let other_work = SCENARIO.replacen("number = 2", "other = 2, number = 3", 1);
    let named = format!("{SCENARIO}[sometimes]\nalone = 'told.A == [\"ok\"] && told.B == []'\n");
    let client = SCENARIO.replace("[agents.B]", "[agents.A.client]\npayload = \"change\"\n[agents.B]");
    let other_value = SCENARIO.replacen("number = 2", "number = 3", 1);
    let cases = [
        ("the first node is another one", SCENARIO, nodes_in_memory.as_str()),
        ("work differs", other_work.as_str(), DESIGN),
        ("an agent is named", named.as_str(), DESIGN),
        ("a client has settings of its own", client.as_str(), DESIGN),
        ("values differ, and are not renamed", other_value.as_str(), DESIGN),
    ];
    let mut by_search = 0;
    let lender = || simulation(SCENARIO, DESIGN);
    assert_eq!(lender().exchangeable(), ["nodes", "agents"]);
    for (case, scenario, design) in cases {
        let borrowed = Borrowed { system: simulation(scenario, design), lender: lender() };
        let walk = (0..20).try_for_each(|seed| commutes(&borrowed, 25, seed));
        assert!(walk.is_err(), "{case}: the walk did not notice");
        // A path that can't be lifted is noticed too, by an assertion of the search.
        let searched = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| compare(&borrowed, false)));
        by_search += usize::from(!matches!(searched, Ok(Ok(_))));
    }
    assert!(by_search > 0, "a wrong symmetry changes what a search finds");
}

#[test]
fn symmetries_are_found_where_they_are() {
    let exchangeable = |scenario: &str, design: &str| simulation(scenario, design).exchangeable();
    assert_eq!(exchangeable(SCENARIO, DESIGN), ["nodes", "agents"]);
    let other_value = SCENARIO.replacen("number = 2", "number = 3", 1);
    assert_eq!(exchangeable(&other_value, DESIGN), ["nodes", "agents"], "2 and 3 correspond");
    let other_field = SCENARIO.replacen("number = 2", "other = 3", 1);
    assert_eq!(exchangeable(&other_field, DESIGN), ["nodes", "agents"], "so do the fields");
    let as_at_start = SCENARIO.replacen("number = 2", "number = 1", 1);
    assert_eq!(exchangeable(&as_at_start, DESIGN), ["nodes"], "what is there at the start is no other value");
    let nodes_in_memory = DESIGN.replace("state = \"store\"", "state = \"node\"");
    assert_eq!(exchangeable(SCENARIO, &nodes_in_memory), ["agents"], "the first of two nodes is not the second");
    let three = SCENARIO.replace("nodes = 2", "nodes = 3");
    assert_eq!(exchangeable(&three, &nodes_in_memory), ["nodes", "agents"], "but the second of three is as the third");
    let named = format!("{SCENARIO}[sometimes]\nok = 'told.A == [\"ok\"]'\n");
    assert_eq!(exchangeable(&named, DESIGN), ["nodes"]);
    let field = format!("{other_value}[sometimes]\nlast = 'one.number == 3'\n");
    assert_eq!(exchangeable(&field, DESIGN), ["nodes"], "an assertion tells the values apart");
    let both = format!("{other_field}[finally]\nboth = 'one.other == 3 && one.number == 2'\n");
    assert_eq!(exchangeable(&both, DESIGN), ["nodes", "agents"], "the assertion becomes itself");
    let uneven = both.replace("one.other == 3", "one.other == 4");
    assert_eq!(exchangeable(&uneven, DESIGN), ["nodes"]);
    let otherwise = both.replace("&&", "||");
    assert_eq!(exchangeable(&otherwise, DESIGN), ["nodes"], "nothing is known of other forms");
    let told = format!("{SCENARIO}[finally]\nboth = 'told.B == [\"ok\"] && told.A == [\"ok\"]'\n");
    assert_eq!(exchangeable(&told, DESIGN), ["nodes", "agents"]);
    let counted = SCENARIO.replace("set = \"one\", number = 2", "increment = \"one\", number = 1");
    assert_eq!(exchangeable(&counted, DESIGN), ["nodes", "agents"]);
    let counted_otherwise = counted.replacen("number = 1 }", "number = 3 }", 1);
    assert_eq!(exchangeable(&counted_otherwise, DESIGN), ["nodes"]);
}
