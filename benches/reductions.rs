//! What symmetry and late routing save, on baskets that two, three and four agents change: states, transitions, seconds.
//!
//! `cargo bench --bench reductions` prints a table for `docs/engine.md`. A model of which there are more than so many states
//! is left unfinished, and its row says so.

#![expect(clippy::print_stdout, reason = "it is a table that is printed")]

use std::collections::BTreeMap;

use handlecheck::engine::{Limits, explore};
use handlecheck::input::{self, Kind};
use handlecheck::run::{Run, invariant_names};
use handlecheck::step::Simulation;

/// Agents, and budgets of drops and restarts.
const SIZES: &[(u8, u8, u8)] = &[(2, 1, 1), (3, 1, 0), (3, 1, 1), (3, 2, 1), (4, 1, 0), (4, 1, 1)];

const DESIGNS: &[&str] = &["versioned", "check-then-write"];

/// The most states of one search.
const MOST: usize = 8_000_000;

fn run(agents: u8, drops: u8, restarts: u8, design: &str) -> Run {
    let scenario = format!("{}/benches/models/basket-{agents}-agents.toml", env!("CARGO_MANIFEST_DIR"));
    let scenario = input::resolve(Kind::Scenario, &scenario, None).expect("it is there");
    let scenario = input::read_scenario(&scenario, &invariant_names()).expect("it is readable");
    let design = input::resolve(Kind::Design, design, None).expect("it is shipped");
    let design = input::read_design(&design).expect("it is readable");
    let protocol = input::protocol_of(&scenario, None).expect("it is readable");
    let faults = BTreeMap::from([("drop-stream", drops), ("restart-node", restarts)]);
    Run::new(scenario, design, protocol, &faults).expect("they fit")
}

/// States and seconds, as a cell of the table.
fn cell(simulation: &Simulation, symmetry: bool) -> String {
    #[expect(clippy::disallowed_methods, reason = "time is what is measured")]
    let start = std::time::Instant::now();
    let limits = Limits { states: Some(MOST), symmetry, ..Limits::default() };
    let found = explore(simulation, limits, &mut |_| false);
    let more = if found.stop.is_some() { "more than " } else { "" };
    format!("{more}{} in {:.2} s", found.states(), start.elapsed().as_secs_f64())
}

fn main() {
    println!("| agents, drops, restarts | design | all states | up to symmetry | routed late | both |");
    println!("| --- | --- | --- | --- | --- | --- |");
    for design in DESIGNS {
        for &(agents, drops, restarts) in SIZES {
            let run = run(agents, drops, restarts, design);
            let (early, late) = (Simulation::new(run.model().clone()), Simulation::reduced(run.model().clone(), 0));
            let cells = [cell(&early, false), cell(&early, true), cell(&late, false), cell(&late, true)];
            println!("| {agents}, {drops}, {restarts} | `{design}` | {} |", cells.join(" | "));
        }
    }
}
