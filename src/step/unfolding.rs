//! Runs of a model that routes calls late, as runs of the model that routes each when it is delivered.
//!
//! A step in which a call arrives and runs is two steps there; and the node to which it comes depends on which calls a
//! restart strikes later. So every choice of nodes is followed, side by side, and those that don't lead where the run goes
//! end there. `docs/engine.md` says why one is always left.

use super::Simulation;
use crate::action::{Action, Target};
use crate::engine::plain;
use crate::world::{CallRef, Component, Position};

type State = Vec<Component>;

/// What a call that is struck was at, and what all others were at, can be told apart by two nodes.
const NODES: u8 = 2;

/// Rounds after which a loop must have come back to where it was: calls that it replaces come to the same nodes in each.
const ROUNDS: usize = 4;

/// States that were reached side by side, each with the one before it.
struct Reached {
    all: Vec<(State, usize)>,
    now: Vec<usize>,
}

impl Reached {
    fn at(state: State) -> Self {
        Self { all: vec![(state, 0)], now: vec![0] }
    }

    /// Goes on from every state that was reached last.
    fn step(&mut self, next: impl Fn(&State) -> Vec<State>) {
        let from = std::mem::take(&mut self.now);
        self.now = self.on(&from, next);
    }

    fn on(&mut self, from: &[usize], next: impl Fn(&State) -> Vec<State>) -> Vec<usize> {
        let mut reached: Vec<usize> = Vec::new();
        for &before in from {
            for state in next(&self.all[before].0) {
                if !reached.iter().any(|known| self.all[*known].0 == state) {
                    self.all.push((state, before));
                    reached.push(self.all.len() - 1);
                }
            }
        }
        reached
    }

    /// The states on the way to one that was reached, the first one included.
    fn way(&self, mut at: usize) -> Vec<State> {
        let mut way = vec![self.all[at].0.clone()];
        while at != 0 {
            at = self.all[at].1;
            way.push(self.all[at].0.clone());
        }
        way.reverse();
        way
    }
}

impl Simulation {
    /// A run of `real`, the same model without late routing, with the same facts in the same order as this run of the model
    /// with it, which violates `property` in its last step or state. `None`: there is none, which is a bug.
    #[must_use]
    pub fn unfolded(&self, real: &Self, path: &[State], property: usize) -> Option<Vec<State>> {
        let reached = self.follow(real, path.first()?.clone(), path, Some(property));
        reached.now.first().map(|end| reached.way(*end))
    }

    /// The rest of a run that goes round for ever, from a state of `real` on, of a loop of the model with late routing that
    /// begins and ends alike: the states behind the first one, and to which of them, counted from the first one as 0, the
    /// last one comes back.
    #[must_use]
    pub fn unfolded_round(&self, real: &Self, start: &State, lap: &[State]) -> Option<(Vec<State>, usize)> {
        let mut way = vec![start.clone()];
        let mut starts = vec![0];
        for _ in 0..ROUNDS {
            let from = way.last()?.clone();
            let reached = self.follow(real, from, lap, None);
            let known = |end: &&usize| starts.iter().any(|start| way[*start] == reached.all[**end].0);
            let end = *reached.now.iter().find(known).or_else(|| reached.now.first())?;
            way.extend(reached.way(end).into_iter().skip(1));
            if let Some(back) = starts.iter().find(|start| way.last() == Some(&way[**start])) {
                return Some((way.split_off(1), *back));
            }
            starts.push(way.len() - 1);
        }
        None
    }

    fn follow(&self, real: &Self, start: State, path: &[State], property: Option<usize>) -> Reached {
        let mut reached = Reached::at(start);
        for (number, pair) in path.windows(2).enumerate() {
            let mut steps = plain::successors(self, &pair[0]);
            steps.retain(|step| step.state == pair[1]);
            let violates = |violated: u64| property.is_some_and(|property| violated & (1 << property) != 0);
            // Of several steps to the last state, those that violate; none does where the state itself is the violation.
            let wanted = number + 2 == path.len() && steps.iter().any(|step| violates(step.observations.violated));
            steps.retain(|step| !wanted || violates(step.observations.violated));
            let from = std::mem::take(&mut reached.now);
            for step in steps {
                reached.now.clone_from(&from);
                for call in self.arrivals(&step.action, &pair[0]) {
                    reached.step(|state| real.delivered(state, call));
                }
                let shows = |violated| !wanted || violates(violated);
                reached.step(|state| {
                    let done = real.after(state, |action| action.name() == step.action.name(), shows);
                    done.into_iter().filter(|state| self.anywhere(state) == pair[1]).collect()
                });
                if !reached.now.is_empty() {
                    break;
                }
            }
        }
        reached
    }

    /// The calls that arrive in a step from a state, where calls are routed late: before the first transaction of one runs,
    /// and before a restart of the node to which it came.
    fn arrivals(&self, action: &Action, state: &[Component]) -> Vec<CallRef> {
        let calls = match action {
            Action::Execute { call, arrives: true, .. } => vec![*call],
            Action::Fault { target: Target::Calls { open, .. }, .. } => {
                let struck = (0..8).filter(|agent| open & (1 << agent) != 0);
                struck.map(CallRef::open).collect()
            }
            Action::Fault { target: Target::Agent(agent), .. } if action.name() == "stale-read" => {
                vec![CallRef::open(*agent)]
            }
            Action::Fault { target: Target::Transaction { call, .. }, .. } => vec![*call],
            _ => Vec::new(),
        };
        let on_its_way = |call: &CallRef| {
            let agent = usize::from(call.agent);
            let call = match call.orphan {
                None => state[self.setting.call_slot(agent)].call().as_ref(),
                Some(place) => state[self.setting.orphans_slot(agent)].orphans().get(usize::from(place)),
            };
            call.is_some_and(|call| call.position == Position::InTransit)
        };
        calls.into_iter().filter(on_its_way).collect()
    }

    /// The states after the arrival of a call, one for each node that makes a difference.
    fn delivered(&self, state: &State, arriving: CallRef) -> Vec<State> {
        let arrives = |action: &Action| matches!(action, Action::Deliver { call, node, .. } if *call == arriving && *node < NODES);
        self.after(state, arrives, |_| true)
    }

    /// The states after what can happen in a state, of such actions and if it shows that.
    fn after(&self, state: &State, is_it: impl Fn(&Action) -> bool, shows: impl Fn(u64) -> bool) -> Vec<State> {
        let actions = plain::enabled(self, state).into_iter().filter(|action| is_it(action));
        let next = actions.map(|action| plain::apply(self, state, &action));
        let next = next.filter(|(_, observations)| shows(observations.violated)).map(|(mut next, _)| {
            plain::normalise(self, &mut next);
            next
        });
        next.collect()
    }

    /// A state of the model without late routing as it is with it: it makes no difference at which node a call is, and what no
    /// longer counts is forgotten.
    fn anywhere(&self, state: &State) -> State {
        let mut state = state.clone();
        self.forget(&mut state);
        for component in &mut state {
            match component {
                Component::Call(Some(call)) => forget_node(&mut call.position),
                Component::Orphans(calls) => {
                    calls.iter_mut().for_each(|call| forget_node(&mut call.position));
                    calls.sort();
                }
                _ => {}
            }
        }
        plain::normalise(self, &mut state);
        state
    }
}

fn forget_node(position: &mut Position) {
    match position {
        Position::AtNode { node, .. } | Position::Answered { node, .. } | Position::Unanswered { node } => *node = 0,
        Position::InTransit | Position::Interrupted { .. } => {}
    }
}
