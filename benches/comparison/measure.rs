//! One measurement, in a process of its own, so that its memory is its own.

use std::collections::BTreeMap;
use std::process::Command;
use std::sync::Arc;

use handlecheck::engine::{Limits, explore, second};
use handlecheck::input::{self, Kind, Source};
use handlecheck::run::{Run, invariant_names};
use handlecheck::step::Simulation;

use crate::promela::Size;

/// What is measured.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Every interleaving, with so many threads.
    Whole(usize),
    /// With the reductions, with so many threads.
    Reduced(usize),
    /// Every interleaving, with hashes alone, with so many threads.
    Compact(usize),
    /// Every interleaving, by stateright.
    Stateright,
}

/// States that are explored whole before a search is reduced, to see what is witnessed. (`check` explores more of them, up to
/// 200,000, since where these are all, counts are those of the whole graph.)
const BEGIN: usize = 10_000;

/// What came out.
#[derive(Clone, Copy, Debug)]
pub struct Measured {
    pub states: usize,
    /// Everything was explored.
    pub complete: bool,
    pub seconds: f64,
    /// The most bytes that the process held, less what it held before it began.
    pub bytes: usize,
}

impl Measured {
    pub fn bytes_a_state(&self) -> usize {
        self.bytes / self.states.max(1)
    }
}

impl Mode {
    fn word(self) -> String {
        match self {
            Self::Whole(threads) => format!("whole-{threads}"),
            Self::Reduced(threads) => format!("reduced-{threads}"),
            Self::Compact(threads) => format!("compact-{threads}"),
            Self::Stateright => "stateright-1".to_owned(),
        }
    }

    fn of(word: &str) -> Self {
        let (mode, threads) = word.split_once('-').expect("a mode has threads");
        let threads = threads.parse().expect("threads are a number");
        match mode {
            "whole" => Self::Whole(threads),
            "reduced" => Self::Reduced(threads),
            "compact" => Self::Compact(threads),
            "stateright" => Self::Stateright,
            _ => panic!("there is no mode `{word}`: whole, reduced, compact, stateright"),
        }
    }
}

/// The basket as a scenario: agents that set one of its two fields each.
fn scenario(size: Size) -> String {
    let mut text = format!(
        "title = \"A basket\"\nnodes = {}\n[resources.basket]\nhandle = \"bsk_42\"\nowner = \"user-42\"\nversion = 7\n\
         fields = {{ memory = 16, storage = 512 }}\n",
        size.nodes
    );
    for agent in 0..size.agents {
        let sets = if agent.is_multiple_of(2) { "memory = 32" } else { "storage = 1024" };
        let name = char::from(b'A' + agent);
        text.push_str(&format!("[agents.{name}]\nprincipal = \"user-42\"\nwork = [{{ set = \"basket\", {sets} }}]\n"));
    }
    text.push_str(&format!("[faults]\ndrop-stream = {}\nrestart-node = {}\n", size.drops, size.restarts));
    text
}

fn simulation(size: Size) -> Simulation {
    let source = Source::new("basket", "basket.toml", scenario(size));
    let scenario = input::read_scenario(&source, &invariant_names()).expect("it is readable");
    let design = input::resolve(Kind::Design, "versioned", None).expect("it is shipped");
    let design = input::read_design(&design).expect("it is readable");
    let protocol = input::protocol_of(&scenario, None).expect("it is readable");
    let run = Run::new(scenario, design, protocol, &BTreeMap::new()).expect("they fit");
    Simulation::new(run.model().clone())
}

/// The most memory that this process has held, in bytes, as the kernel counts it.
fn peak() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
    line.trim().trim_end_matches(" kB").parse::<usize>().unwrap_or(0) * 1024
}

/// Measures in this process, and prints what came out. `arguments`: mode, the four numbers of the size, the most states.
pub fn here(arguments: &[String]) {
    let number = |at: usize| arguments[at].parse::<usize>().expect("sizes are numbers");
    let small = |at: usize| arguments[at].parse::<u8>().expect("sizes are small numbers");
    let size = Size { agents: small(1), nodes: small(2), drops: small(3), restarts: small(4) };
    let most = number(5);
    let system = simulation(size);
    let before = peak();
    #[expect(clippy::disallowed_methods, reason = "time is what is measured")]
    let start = std::time::Instant::now();
    let limits = Limits { states: Some(most), ..Limits::default() };
    let (states, complete) = match Mode::of(&arguments[0]) {
        Mode::Stateright => {
            let found = second::explore(&Arc::new(system), Some(most), &mut |_| false);
            (found.states, found.stop.is_none())
        }
        Mode::Whole(threads) => {
            let found = explore(&system, Limits { threads, ..limits }, &mut |_| false);
            (found.states(), found.stop.is_none())
        }
        Mode::Compact(threads) => {
            let found = explore(&system, Limits { threads, compact: Some(64), ..limits }, &mut |_| false);
            (found.states(), found.stop.is_none())
        }
        Mode::Reduced(threads) => {
            let limits = Limits { threads, reduce: true, symmetry: true, subsume: true, ..limits };
            let begin = Limits { states: Some(most.min(BEGIN)), ..Limits::default() };
            let begun = explore(&system, begin, &mut |_| false);
            if begun.stop.is_none() {
                (begun.states(), true)
            } else {
                let late = Simulation::reduced(system.setting().model.clone(), begun.witnessed);
                let found = explore(&late, Limits { witnessed: begun.witnessed, ..limits }, &mut |_| false);
                (found.states(), found.stop.is_none())
            }
        }
    };
    let seconds = start.elapsed().as_secs_f64();
    println!("{states} {complete} {seconds} {}", peak() - before);
}

/// Measures in a process of its own. `most`: at most so many states.
pub fn apart(mode: Mode, size: Size, most: usize) -> Measured {
    let itself = std::env::current_exe().expect("this program is somewhere");
    let numbers = [size.agents, size.nodes, size.drops, size.restarts].map(|number| number.to_string());
    let output = Command::new(itself)
        .args(["measure", &mode.word()])
        .args(numbers)
        .arg(most.to_string())
        .output()
        .expect("this program can be run again");
    let text = String::from_utf8_lossy(&output.stdout);
    let words: Vec<&str> = text.split_whitespace().collect();
    let &[states, complete, seconds, bytes] = words.as_slice() else {
        panic!("a measurement says four things, and this said {text}: {}", String::from_utf8_lossy(&output.stderr))
    };
    let number = |word: &str| word.parse().expect("a measurement is numbers");
    Measured {
        states: number(states),
        complete: complete == "true",
        seconds: seconds.parse().expect("seconds are a number"),
        bytes: number(bytes),
    }
}
