//! How fast it is, against others on the same machine at the same time; and how far it goes. Writes `docs/benchmarks.md`.
//!
//! `cargo bench --bench comparison` measures and prints; `cargo bench --bench comparison -- write` also puts the tables and the
//! plot into the page. What is not installed is left out, and the table says so.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "it is a table that is printed")]

mod measure;
mod plot;
mod promela;
mod scale;

use measure::{Measured, Mode, Spin, apart};
use promela::Size;

/// Rounds of interleaved runs, of which medians are taken.
const ROUNDS: usize = 5;

/// Where everything fits.
const UNBOUNDED: usize = 200_000_000;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    match arguments.first().map(String::as_str) {
        Some("measure") => return measure::here(&arguments[1..]),
        Some("write") | None => {}
        Some(other) => return eprintln!("expected nothing or `write`, not {other}"),
    }
    let others = [others(Size { agents: 3, nodes: 2, drops: 1, restarts: 0 }), spin(), threads()].concat();
    let (grows, picture) = scale::grows();
    let tables = [("others", &*others), ("scale", &*grows)];
    for (_, table) in tables {
        println!("{table}");
    }
    if arguments.first().is_some_and(|argument| argument == "write") {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
        let page = root.join("docs/benchmarks.md");
        let mut text = std::fs::read_to_string(&page).expect("the page is there");
        for (name, table) in tables {
            let (start, end) = (format!("<!-- {name} -->\n"), format!("<!-- end of {name} -->"));
            let (before, rest) = text.split_once(&start).expect("the page has a place for it");
            let (_, after) = rest.split_once(&end).expect("the page has a place for it");
            text = format!("{before}{start}\n{table}\n{end}{after}");
        }
        std::fs::write(&page, text).expect("the page can be written");
        std::fs::write(root.join("docs/benchmarks.svg"), picture).expect("the picture can be written");
    }
}

/// The one in the middle, by time.
fn median(mut all: Vec<Measured>) -> Measured {
    all.sort_by(|one, other| one.seconds.total_cmp(&other.seconds));
    all[all.len() / 2]
}

/// Runs each in turn, again and again, and answers the medians: whatever else the machine does meets all alike.
fn interleaved<const N: usize>(runs: [&dyn Fn() -> Measured; N]) -> [Measured; N] {
    let mut all: [Vec<Measured>; N] = std::array::from_fn(|_| Vec::new());
    for _ in 0..ROUNDS {
        for (run, measured) in runs.iter().zip(&mut all) {
            measured.push(run());
        }
    }
    all.map(median)
}

#[expect(clippy::cast_precision_loss, reason = "a rate is shown in thousands")]
fn rate(measured: &Measured) -> f64 {
    measured.states as f64 / measured.seconds
}

fn row(what: &str, measured: &Measured, times: f64) -> String {
    format!(
        "| {what} | {} | {:.2} | {:.0} | {} | {times:.2} |\n",
        measured.states,
        measured.seconds,
        rate(measured) / 1e3,
        measured.bytes_a_state()
    )
}

const HEAD: &str = "| what | states | seconds | thousand states a second | bytes a state | ours is so many times as fast |\n\
                    | --- | ---: | ---: | ---: | ---: | ---: |\n";

/// Against stateright, on the same model with the same states.
fn others(size: Size) -> String {
    let [one, two, theirs] =
        interleaved([&|| apart(Mode::Whole(1), size, UNBOUNDED), &|| apart(Mode::Whole(2), size, UNBOUNDED), &|| {
            apart(Mode::Stateright, size, UNBOUNDED)
        }]);
    assert_eq!((one.states, two.states), (theirs.states, theirs.states), "it is the same graph");
    let mut table = format!("**The same model, the same states** ({})\n\n{HEAD}", scale::words(size));
    table += &row("handlecheck, every interleaving, 1 thread", &one, 1.0);
    table += &row("handlecheck, every interleaving, 2 threads", &two, one.seconds / two.seconds);
    table += &row("stateright 0.31, breadth-first, the same rules", &theirs, theirs.seconds / one.seconds);
    table + "\n"
}

/// Against SPIN, on models of the same work.
fn spin() -> String {
    let ours = Size { agents: 3, nodes: 2, drops: 1, restarts: 1 };
    let theirs = Size { agents: 3, nodes: 2, drops: 2, restarts: 1 };
    let (Some(whole), Some(same)) = (Spin::compile(theirs, false), Spin::compile(ours, true)) else {
        return "SPIN or a C compiler is not installed here: nothing is measured against it.\n\n".to_owned();
    };
    let [mine, its, mine_reduced, its_reduced] = interleaved([
        &|| apart(Mode::Whole(1), ours, UNBOUNDED),
        &|| whole.run(),
        &|| apart(Mode::Reduced(1), ours, UNBOUNDED),
        &|| same.run(),
    ]);
    let mut table = format!("**SPIN, on its own model of the same work**\n\n{HEAD}");
    table += &row(&format!("handlecheck, every interleaving, {}", scale::words(ours)), &mine, 1.0);
    let rates = rate(&mine) / rate(&its);
    table += &row(&format!("SPIN, `-DNOREDUCE`, {} (by states a second)", scale::words(theirs)), &its, rates);
    table += &row(&format!("handlecheck, reduced, {}", scale::words(ours)), &mine_reduced, 1.0);
    let times = its_reduced.seconds / mine_reduced.seconds;
    table += &row(&format!("SPIN, its partial-order reduction, {} (by time)", scale::words(ours)), &its_reduced, times);
    table + "\n"
}

/// What a second thread brings, on more than five million states, and what a state takes there.
fn threads() -> String {
    let size = Size { agents: 3, nodes: 2, drops: 2, restarts: 1 };
    let [one, two] =
        interleaved([&|| apart(Mode::Whole(1), size, 6_000_000), &|| apart(Mode::Whole(2), size, 6_000_000)]);
    assert_eq!(one.states, two.states, "nothing but the time depends on the threads");
    let mut table = format!("**A second thread** ({}, the first 6 million states)\n\n{HEAD}", scale::words(size));
    table += &row("handlecheck, every interleaving, 1 thread", &one, 1.0);
    table += &row("handlecheck, every interleaving, 2 threads", &two, one.seconds / two.seconds);
    table
}
