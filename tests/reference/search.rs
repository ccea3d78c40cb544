//! Breadth-first search over all reachable states, and the verdicts of section 9.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use handlecheck::model::{Model, Verdict};

use super::actions::{self, Action};
use super::harness;
use super::judge;
use super::liveness::{self, Edge};
use super::rename;
use super::state::State;
use super::world::{Dice, Facts, World};

/// An assertion: its name and whether it holds in a state.
pub type Assertion<'a> = (&'a str, &'a dyn Fn(&State) -> bool);

/// The assertions of a scenario. Their expressions are evaluated elsewhere.
#[derive(Default)]
pub struct Assertions<'a> {
    /// Judged in every quiescent state in which every intent was told as `ok`.
    pub finally: Vec<Assertion<'a>>,
    /// Judged in every quiescent state.
    pub at_rest: Vec<Assertion<'a>>,
    /// Each must hold in some reachable state: `holds` if it does, else `violated`, without a trace.
    pub sometimes: Vec<Assertion<'a>>,
}

/// What was found of one invariant or assertion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    pub verdict: Verdict,
    /// The situation was reached that it is about, other than by breaking it.
    pub witnessed: bool,
    /// The Pareto front of breaks: (steps, faults), fewest steps first.
    pub front: Vec<(u32, u32)>,
    /// One shortest path to the break with the fewest steps.
    pub path: Vec<String>,
}

/// What was found of one model.
#[derive(Clone, Debug)]
pub struct Report {
    pub states: usize,
    pub transitions: usize,
    pub complete: bool,
    pub findings: BTreeMap<String, Finding>,
}

/// How a state was first reached.
struct Reached {
    depth: u32,
    parent: usize,
    /// `None` for the initial state.
    action: Option<Action>,
}

/// A break: its steps, the state that it ends in or starts its last action from, and that action.
type Break = (u32, usize, Option<Action>);

/// The search in progress.
struct Search<'m> {
    model: &'m Model,
    /// Every state, with its number in the order of discovery.
    known: HashMap<Rc<State>, usize>,
    states: Vec<Rc<State>>,
    reached: Vec<Reached>,
    edges: Vec<Vec<Edge>>,
    /// Per invariant, the cheapest break for each number of faults.
    breaks: BTreeMap<String, BTreeMap<u32, Break>>,
    witnessed: BTreeSet<String>,
}

/// Explores a model, up to this many states, and judges every invariant and these assertions.
pub fn check(model: &Model, most_states: usize, assertions: &Assertions<'_>) -> Report {
    let mut search = Search {
        model,
        known: HashMap::new(),
        states: Vec::new(),
        reached: Vec::new(),
        edges: Vec::new(),
        breaks: BTreeMap::new(),
        witnessed: BTreeSet::new(),
    };
    let mut world = World::new(model, State::initial(model), Dice::default());
    (0..model.scenario.agents.len()).for_each(|agent| harness::begin_entry(&mut world, agent));
    search.add(rename::canonical(model, world.state), Reached { depth: 0, parent: 0, action: None });
    let mut complete = true;
    let mut number = 0;
    while number < search.states.len() {
        complete &= search.expand(number, most_states);
        search.judge_state(number, assertions);
        number += 1;
    }
    if complete {
        search.judge_liveness();
    }
    let names = judge::ALL.iter().map(|name| (*name).to_owned());
    let names = names.chain(assertions.finally.iter().chain(&assertions.at_rest).map(|(name, _)| (*name).to_owned()));
    let mut findings: BTreeMap<_, _> = names.map(|name| (name.clone(), search.finding(&name, complete))).collect();
    for (name, _) in &assertions.sometimes {
        let verdict = match (search.witnessed.contains(*name), complete) {
            (true, _) => Verdict::Holds,
            (false, true) => Verdict::Violated,
            (false, false) => Verdict::Inconclusive,
        };
        let witnessed = verdict == Verdict::Holds;
        findings.insert((*name).to_owned(), Finding { verdict, witnessed, front: Vec::new(), path: Vec::new() });
    }
    let transitions = search.edges.iter().map(Vec::len).sum();
    Report { states: search.states.len(), transitions, complete, findings }
}

/// How many faults were spent on the way to a state.
fn faults_spent(model: &Model, state: &State) -> u32 {
    let budgets = model.scenario.faults.values().map(|budget| u32::from(*budget)).sum::<u32>();
    budgets - state.budget.values().map(|left| u32::from(*left)).sum::<u32>()
}

impl Search<'_> {
    /// Gives a new state its number.
    fn add(&mut self, state: State, reached: Reached) -> usize {
        let number = self.states.len();
        let state = Rc::new(state);
        self.known.insert(Rc::clone(&state), number);
        self.states.push(state);
        self.reached.push(reached);
        self.edges.push(Vec::new());
        number
    }

    /// Performs every action that is possible in a state. False if a new state was left out.
    fn expand(&mut self, number: usize, most_states: usize) -> bool {
        let mut complete = true;
        for successor in actions::successors(self.model, &Rc::clone(&self.states[number])) {
            self.note(&successor.facts, number, successor.action, &successor.state);
            let depth = self.reached[number].depth + 1;
            let next = match self.known.get(&successor.state) {
                Some(next) => *next,
                None if self.states.len() >= most_states => {
                    complete = false;
                    continue;
                }
                None => self.add(successor.state, Reached { depth, parent: number, action: Some(successor.action) }),
            };
            self.edges[number].push((next, liveness::mover(successor.action)));
        }
        complete
    }

    /// Notes what an action showed.
    fn note(&mut self, facts: &Facts, from: usize, action: Action, to: &State) {
        let steps = self.reached[from].depth + 1;
        let faults = faults_spent(self.model, to);
        for invariant in &facts.broken {
            self.note_break(invariant, faults, (steps, from, Some(action)));
        }
        self.witnessed.extend(facts.witnessed.iter().map(|name| (*name).to_owned()));
    }

    /// Keeps a break if it is the cheapest with so many faults.
    fn note_break(&mut self, name: &str, faults: u32, found: Break) {
        let kept = self.breaks.entry(name.to_owned()).or_default().entry(faults).or_insert(found);
        if found.0 < kept.0 {
            *kept = found;
        }
    }

    /// Judges what is judged in states: `[sometimes]` assertions and, if quiescent, no-orphan and `[finally]` ones.
    fn judge_state(&mut self, number: usize, assertions: &Assertions<'_>) {
        let state = &*Rc::clone(&self.states[number]);
        for (name, holds) in &assertions.sometimes {
            if holds(state) {
                self.witnessed.insert((*name).to_owned());
            }
        }
        if !actions::is_quiescent(self.model, state) {
            return;
        }
        let steps = self.reached[number].depth;
        let faults = faults_spent(self.model, state);
        let mut world = World::new(self.model, state.clone(), Dice::default());
        world.judge_quiescent();
        for invariant in &world.facts.broken {
            self.note_break(invariant, faults, (steps, number, None));
        }
        for (name, holds) in &assertions.at_rest {
            self.witnessed.insert((*name).to_owned());
            if !holds(state) {
                self.note_break(name, faults, (steps, number, None));
            }
        }
        let budget = self.model.scenario.faults.get("recreate").copied().unwrap_or(0);
        let recreated = state.left("recreate") < budget;
        if recreated || !judge::all_told_ok(self.model, state) {
            return;
        }
        for (name, holds) in &assertions.finally {
            self.witnessed.insert((*name).to_owned());
            if !holds(state) {
                self.note_break(name, faults, (steps, number, None));
            }
        }
    }

    /// Judges `resolves`: a break is a state in which a fair run can stay for ever while some intent stays open.
    fn judge_liveness(&mut self) {
        let states: Vec<&State> = self.states.iter().map(Rc::as_ref).collect();
        for number in liveness::unresolved(self.model, &states, &self.edges) {
            let faults = faults_spent(self.model, &self.states[number]);
            self.note_break(judge::RESOLVES, faults, (self.reached[number].depth, number, None));
        }
    }

    /// The verdict on one invariant or assertion.
    fn finding(&self, name: &str, complete: bool) -> Finding {
        let mut front = Vec::new();
        let mut path = Vec::new();
        if let Some(breaks) = self.breaks.get(name) {
            let mut fewest_steps = u32::MAX;
            for (faults, (steps, from, action)) in breaks {
                if *steps < fewest_steps {
                    fewest_steps = *steps;
                    front.push((*steps, *faults));
                    path = self.path(*from, *action);
                }
            }
            front.reverse();
        }
        let verdict = match (front.is_empty(), complete, self.witnessed.contains(name)) {
            (false, _, _) => Verdict::Violated,
            (true, false, _) => Verdict::Inconclusive,
            (true, true, true) => Verdict::Holds,
            (true, true, false) => Verdict::Vacuous,
        };
        Finding { verdict, witnessed: self.witnessed.contains(name), front, path }
    }

    /// The actions of a shortest path to a state, and the last one.
    fn path(&self, to: usize, last: Option<Action>) -> Vec<String> {
        let describe = |action: &Action, from: usize| action.describe(self.model, &self.states[from]);
        let mut path: Vec<String> = last.iter().map(|action| describe(action, to)).collect();
        let mut at = to;
        while let Reached { parent, action: Some(action), .. } = &self.reached[at] {
            path.push(describe(action, *parent));
            at = *parent;
        }
        path.reverse();
        path
    }
}
