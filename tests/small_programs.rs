//! Partial-order reduction on small concurrent programs at random, which have nothing to do with tool servers: each condition
//! of a closed set matters in many of them.

mod random;

use std::collections::BTreeSet;
use std::sync::Arc;

use handlecheck::engine::{
    Access, Class, Exploration, Footprint, Limits, Observations, SlotSet, System, explore, second,
};
use random::Dice;

/// The shared variables are the first slots; then come the places of the processes, and what is left of the budget.
const VARIABLES: usize = 5;
const PROCESSES: usize = 4;
const BUDGET: usize = VARIABLES + PROCESSES;
/// Values that a variable takes.
const VALUES: usize = 3;
/// Places of a process. At the last one it has ended.
const PLACES: usize = 4;
/// The properties of steps are the first ones; then comes the one whose witness peeks.
const PEEKING: usize = 8;
/// The property of quiescent states.
const AT_REST: usize = 9;
/// The first process ends.
const ENDS: usize = 10;
/// The first of the properties of single states.
const STATES: usize = 11;

/// A variable, and a value of it.
type Test = (usize, u8);

/// What a process may do at a place.
struct Command {
    number: u16,
    guard: Option<Test>,
    /// The variable that it writes, and the one whose value it counts on from; `None`: it writes 0.
    write: Option<(usize, Option<usize>)>,
    next: u8,
    /// It may never come.
    idle: bool,
    /// A property that it violates where that is so.
    alarm: Option<(usize, Test)>,
    /// What it looks at for a witness.
    peek: Option<Test>,
}

/// A condition that is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Careless {
    /// A source is taken to do what it can do next, and nothing afterwards.
    FutureIsNow,
    /// Nobody is taken to look at single states.
    NobodyLooks,
    /// Every slot is taken for one that only counts down.
    AllCountDown,
    /// A witness is taken to be of no interest.
    NoWitness,
    /// A process that waits for a variable is taken to wait for what nobody gives back.
    BlockedForEver,
}

struct Program {
    /// For each process and place, what it may do there.
    commands: Vec<Vec<Vec<Command>>>,
    /// For each process and place, where a fault brings it.
    jumps: Vec<Vec<Option<u8>>>,
    budget: u8,
    /// For each property of single states, what is so where it is violated.
    alarms: [[Test; 2]; 8],
    at_rest: Test,
    careless: Option<Careless>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Act {
    Run { process: usize, at: usize, command: usize },
    Fault { process: usize },
}

fn random_test(dice: &mut Dice, variable: impl Fn(&mut Dice) -> usize) -> Test {
    (variable(dice), small(dice.below(VALUES)))
}

fn small(number: usize) -> u8 {
    u8::try_from(number).expect("everything here is small")
}

fn program(seed: u64, careless: Option<Careless>) -> Program {
    let dice = &mut Dice::new(seed);
    let mut number = 0;
    let mut command = |process: usize, place: usize, dice: &mut Dice| {
        number += 1;
        // Neighbours share variables.
        let variable = |dice: &mut Dice| process + dice.below(VARIABLES + 1 - PROCESSES);
        let onwards = place + 1 + dice.below(PLACES - 1 - place);
        Command {
            number,
            guard: dice.chance(40).then(|| random_test(dice, variable)),
            write: dice.chance(50).then(|| (variable(dice), dice.chance(70).then(|| variable(dice)))),
            next: small(if dice.chance(85) { onwards } else { dice.below(PLACES) }),
            idle: dice.chance(10),
            alarm: dice.chance(40).then(|| (dice.below(PEEKING), random_test(dice, variable))),
            peek: dice.chance(25).then(|| random_test(dice, |dice| dice.below(VARIABLES))),
        }
    };
    let mut places = |process: usize, dice: &mut Dice| -> Vec<Vec<Command>> {
        let many = |place: usize, dice: &mut Dice| if place + 1 == PLACES { 0 } else { 1 + dice.below(2) };
        (0..PLACES).map(|place| (0..many(place, dice)).map(|_| command(process, place, dice)).collect()).collect()
    };
    let commands = (0..PROCESSES).map(|process| places(process, dice)).collect();
    let jump =
        |place: usize, dice: &mut Dice| (place + 1 < PLACES && dice.chance(20)).then(|| small(dice.below(PLACES)));
    let jumps = (0..PROCESSES).map(|_| (0..PLACES).map(|place| jump(place, dice)).collect()).collect();
    let anywhere = |dice: &mut Dice| random_test(dice, |dice| dice.below(VARIABLES));
    Program {
        commands,
        jumps,
        budget: small(dice.below(3)),
        alarms: std::array::from_fn(|_| [anywhere(dice), anywhere(dice)]),
        at_rest: anywhere(dice),
        careless,
    }
}

impl Program {
    fn place(&self, process: usize, access: &Access<'_, u8>) -> usize {
        debug_assert!(process < self.commands.len(), "it is one of them");
        usize::from(*access.get(VARIABLES + process))
    }

    /// Everything that a process may still come to, from a place on.
    fn reachable(&self, process: usize, from: usize) -> BTreeSet<usize> {
        let (mut reached, mut open) = (BTreeSet::from([from]), vec![from]);
        while let Some(place) = open.pop() {
            let next = self.commands[process][place].iter().map(|command| command.next);
            for place in next.chain(self.jumps[process][place]).map(usize::from) {
                if self.careless != Some(Careless::FutureIsNow) && reached.insert(place) {
                    open.push(place);
                }
            }
        }
        reached
    }
}

impl System for Program {
    type Component = u8;
    type Action = Act;

    fn initial(&self) -> Vec<u8> {
        let mut state = vec![0; BUDGET + 1];
        state[BUDGET] = self.budget;
        state
    }

    /// Each process, and the faults that strike it.
    fn sources(&self) -> usize {
        2 * PROCESSES
    }

    fn actions(&self, source: usize, access: &Access<'_, u8>) -> Vec<Act> {
        let Some(process) = source.checked_sub(PROCESSES) else {
            let at = self.place(source, access);
            let commands = self.commands[source][at].iter().enumerate();
            let enabled =
                commands.filter(|(_, command)| command.guard.is_none_or(|(slot, value)| *access.get(slot) == value));
            let acts: Vec<Act> = enabled.map(|(command, _)| Act::Run { process: source, at, command }).collect();
            if self.commands[source][at].is_empty() {
                access.blocked_by(VARIABLES + source);
            } else if self.careless == Some(Careless::BlockedForEver) {
                access.blocked_by(BUDGET);
            }
            return acts;
        };
        if *access.get(BUDGET) == 0 {
            access.blocked_by(BUDGET);
            return Vec::new();
        }
        let jumps = self.jumps[process][self.place(process, access)].is_some();
        if !jumps && self.reachable(process, 0).iter().all(|place| self.jumps[process][*place].is_none()) {
            access.blocked_by(VARIABLES + process);
        }
        jumps.then_some(Act::Fault { process }).into_iter().collect()
    }

    fn parts(&self, _: &Act) -> usize {
        1
    }

    fn step(&self, action: &Act, _: usize, access: &mut Access<'_, u8>) -> Observations {
        let mut seen = Observations::default();
        match *action {
            Act::Run { process, at, command } => {
                let command = &self.commands[process][at][command];
                seen.tags.push(command.number);
                if let Some((property, (slot, value))) = command.alarm
                    && *access.get(slot) == value
                {
                    seen.violated |= 1 << property;
                    seen.tags.push(1000 + command.number);
                }
                if let Some((slot, value)) = command.peek
                    && *access.peek(slot, 0) == value
                {
                    seen.witnessed |= 1 << PEEKING;
                }
                if let Some((slot, from)) = command.write {
                    let value = from.map_or(0, |from| (*access.get(from) + 1) % small(VALUES));
                    access.set(slot, value);
                }
                access.set(VARIABLES + process, command.next);
            }
            Act::Fault { process } => {
                let left = *access.get(BUDGET) - 1;
                let jump = self.jumps[process][self.place(process, access)].expect("it is enabled");
                access.set(BUDGET, left);
                access.set(VARIABLES + process, jump);
            }
        }
        seen
    }

    fn is_fair(&self, action: &Act) -> bool {
        self.class(action) == Class::Progress
    }

    fn liveness(&self) -> Option<usize> {
        Some(ENDS)
    }

    fn is_pending(&self, access: &Access<'_, u8>) -> bool {
        self.place(0, access) + 1 < PLACES
    }

    fn class(&self, action: &Act) -> Class {
        match *action {
            Act::Fault { .. } => Class::Fault,
            Act::Run { process, at, command } if self.commands[process][at][command].idle => Class::Idle,
            Act::Run { .. } => Class::Progress,
        }
    }

    fn future(&self, source: usize, access: &Access<'_, u8>) -> Footprint {
        let mut future = Footprint::NONE;
        let mut own = |slot: usize| {
            future.reads.insert(slot);
            future.writes.insert(slot);
        };
        if let Some(process) = source.checked_sub(PROCESSES) {
            if *access.get(BUDGET) > 0 {
                [BUDGET, VARIABLES + process].into_iter().for_each(&mut own);
            }
            return future;
        }
        let at = self.place(source, access);
        if at + 1 == PLACES {
            return future;
        }
        own(VARIABLES + source);
        for command in self.reachable(source, at).iter().flat_map(|place| &self.commands[source][*place]) {
            let guard = command.guard.map(|(slot, _)| slot);
            let alarm = command.alarm.map(|(_, (slot, _))| slot);
            let from = command.write.and_then(|(_, from)| from);
            guard.into_iter().chain(alarm).chain(from).for_each(|slot| future.reads.insert(slot));
            command.write.into_iter().for_each(|(slot, _)| future.writes.insert(slot));
            command.peek.into_iter().for_each(|(slot, _)| future.peeks[0].insert(slot));
        }
        future
    }

    fn ghost(&self, kind: usize) -> u64 {
        if kind == 0 && self.careless != Some(Careless::NoWitness) { 1 << PEEKING } else { 0 }
    }

    fn counters(&self) -> SlotSet {
        if self.careless == Some(Careless::AllCountDown) { SlotSet::ALL } else { [BUDGET].into_iter().collect() }
    }

    fn observed(&self) -> SlotSet {
        let looks = self.careless != Some(Careless::NobodyLooks);
        self.alarms.iter().flatten().map(|(slot, _)| *slot).filter(|_| looks).collect()
    }

    fn observe(&self, quiescent: bool, access: &Access<'_, u8>) -> Observations {
        let is = |(slot, value): Test| *access.get(slot) == value;
        let at_rest = u64::from(quiescent && is(self.at_rest)) << AT_REST;
        let alarms = self.alarms.iter().enumerate();
        let violated = alarms
            .fold(at_rest, |all, (number, [one, other])| all | u64::from(is(*one) && is(*other)) << (STATES + number));
        Observations { violated, ..Observations::default() }
    }

    fn numbers(&self, _: &u8, _: &mut dyn FnMut(u16, u16)) {}

    fn renumber(&self, _: &mut u8, _: u16, _: &dyn Fn(u16) -> u16) {}
}

/// What a reduction must keep.
#[derive(Debug, PartialEq, Eq)]
struct Kept {
    fewest_faults: Vec<Option<u32>>,
    witnessed: u64,
    tags: BTreeSet<u16>,
}

fn kept(found: &Exploration<Program>) -> Kept {
    Kept {
        fewest_faults: found.violations.iter().map(|found| Some(found.first()?.faults)).collect(),
        witnessed: found.witnessed,
        tags: found.tags.iter().map(|(tag, _)| *tag).collect(),
    }
}

fn both(seed: u64, careless: Option<Careless>) -> (Exploration<Program>, Exploration<Program>) {
    let limits = Limits { liveness: true, ..Limits::default() };
    let program = program(seed, careless);
    let whole = explore(&program, limits, &mut |_| false);
    (whole, explore(&program, Limits { reduce: true, ..limits }, &mut |_| false))
}

const SEEDS: &str = "0..1500";

#[test]
fn small_programs_are_decided_alike() {
    let (mut all, mut some) = (0, 0);
    for seed in random::seeds(SEEDS) {
        let (whole, reduced) = both(seed, None);
        assert_eq!(kept(&whole), kept(&reduced), "seed {seed}");
        (all, some) = (all + whole.states(), some + reduced.states());
        if seed.is_multiple_of(10) {
            let theirs = second::explore(&Arc::new(program(seed, None)), None, &mut |_| false);
            let violated = (0..64).filter(|property| *property != ENDS && !whole.violations[*property].is_empty());
            let violated = violated.fold(0_u64, |all, property| all | 1 << property);
            assert_eq!((whole.states(), violated, whole.witnessed), (theirs.states, theirs.violated, theirs.witnessed));
        }
    }
    assert!(some * 4 < all * 3, "{all} states became {some}");
}

#[test]
fn each_condition_of_a_closed_set_is_needed() {
    use Careless::{AllCountDown, BlockedForEver, FutureIsNow, NoWitness, NobodyLooks};
    for careless in [FutureIsNow, NobodyLooks, AllCountDown, NoWitness, BlockedForEver] {
        let differs = |seed: &u64| {
            let (whole, reduced) = both(*seed, Some(careless));
            kept(&whole) != kept(&reduced)
        };
        let noticed = (0..1000).filter(differs).count();
        assert!(noticed >= 10, "{careless:?}: {noticed} of 1000 programs notice");
    }
}
