//! What is run in turn: ours, stateright and SPIN, one thread and two, states and hashes.

use std::time::Duration;

use crate::checkers::{Spin, Tlc};
use crate::measure::{Measured, Mode, apart};
use crate::promela::Size;
use crate::scale;
use crate::targets::Reached;

/// Where everything fits.
const UNBOUNDED: usize = 200_000_000;

/// A program that takes longer is stopped.
const PATIENCE: Duration = Duration::from_secs(60);

/// The one in the middle, by time.
fn median(mut all: Vec<Measured>) -> Measured {
    all.sort_by(|one, other| one.seconds.total_cmp(&other.seconds));
    all[all.len() / 2]
}

/// Runs each in turn, again and again, and answers the medians: whatever else the machine does meets all alike.
fn interleaved<const N: usize>(rounds: usize, runs: [&dyn Fn() -> Measured; N]) -> [Measured; N] {
    let mut all: [Vec<Measured>; N] = std::array::from_fn(|_| Vec::new());
    for _ in 0..rounds {
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
    let bytes = if measured.bytes == 0 { String::new() } else { measured.bytes_a_state().to_string() };
    let (states, seconds, rate) = (measured.states, measured.seconds, rate(measured) / 1e3);
    format!("| {what} | {states} | {seconds:.2} | {rate:.0} | {bytes} | {times:.2} |\n")
}

const HEAD: &str = "| what | states | seconds | thousand states a second | bytes a state | ours is so many times as fast |\n\
                    | --- | ---: | ---: | ---: | ---: | ---: |\n";

/// The tables, and the ratios that are to be reached.
pub fn others(rounds: usize) -> (String, Reached) {
    let mut reached = Reached::default();
    let mut tables = String::new();
    let mut show = |table: String| {
        println!("{table}");
        tables += &table;
    };
    show(stateright(rounds, &mut reached));
    show(spin(rounds, &mut reached));
    show(tlc(rounds, &mut reached));
    show(large(rounds, &mut reached));
    show(far());
    (tables, reached)
}

/// Against stateright, on the same model with the same states.
fn stateright(rounds: usize, reached: &mut Reached) -> String {
    let size = Size { agents: 3, nodes: 2, drops: 1, restarts: 0 };
    let [one, two, theirs] = interleaved(
        rounds,
        [&|| apart(Mode::Whole(1), size, UNBOUNDED), &|| apart(Mode::Whole(2), size, UNBOUNDED), &|| {
            apart(Mode::Stateright, size, UNBOUNDED)
        }],
    );
    assert_eq!((one.states, two.states), (theirs.states, theirs.states), "it is the same graph");
    reached.stateright = theirs.seconds / one.seconds;
    let mut table = format!("**The same model, the same states** ({})\n\n{HEAD}", scale::words(size));
    table += &row("handlecheck, every interleaving, 1 thread", &one, 1.0);
    table += &row("handlecheck, every interleaving, 2 threads", &two, one.seconds / two.seconds);
    table += &row("stateright 0.31, breadth-first, the same rules", &theirs, reached.stateright);
    table + "\n"
}

/// Against SPIN, on models of the same work.
fn spin(rounds: usize, reached: &mut Reached) -> String {
    let ours = Size { agents: 3, nodes: 2, drops: 1, restarts: 1 };
    let theirs = Size { agents: 3, nodes: 2, drops: 2, restarts: 1 };
    let largest = Size { agents: 3, nodes: 2, drops: 3, restarts: 1 };
    let (Some(whole), Some(same), Some(larger), Some(too_large)) = (
        Spin::compile(theirs, false),
        Spin::compile(ours, true),
        Spin::compile(theirs, true),
        Spin::compile(largest, true),
    ) else {
        return "SPIN or a C compiler is not installed here: nothing is measured against it.\n\n".to_owned();
    };
    let [mine, its, mine_reduced, its_reduced, mine_larger, its_larger] = interleaved(
        rounds,
        [
            &|| apart(Mode::Whole(1), ours, UNBOUNDED),
            &|| whole.run(),
            &|| apart(Mode::Reduced(1), ours, UNBOUNDED),
            &|| same.run(),
            &|| apart(Mode::Reduced(1), theirs, UNBOUNDED),
            &|| larger.run(),
        ],
    );
    let mut table = format!("**SPIN, on its own model of the same work**\n\n{HEAD}");
    table += &row(&format!("handlecheck, every interleaving, {}", scale::words(ours)), &mine, 1.0);
    let rates = rate(&mine) / rate(&its);
    table += &row(&format!("SPIN, `-DNOREDUCE`, {} (by states a second)", scale::words(theirs)), &its, rates);
    let mut times = [0.0; 2];
    for (at, (size, mine, its)) in
        [(ours, mine_reduced, its_reduced), (theirs, mine_larger, its_larger)].into_iter().enumerate()
    {
        times[at] = its.seconds / mine.seconds;
        table += &row(&format!("handlecheck, reduced, {}", scale::words(size)), &mine, 1.0);
        table += &row(&format!("SPIN, its partial-order reduction, {} (by time)", scale::words(size)), &its, times[at]);
    }
    let [mine] = interleaved(rounds, [&|| apart(Mode::Reduced(1), largest, UNBOUNDED)]);
    table += &row(&format!("handlecheck, reduced, {}", scale::words(largest)), &mine, 1.0);
    if !too_large.ends_within(PATIENCE) {
        let (words, seconds) = (scale::words(largest), PATIENCE.as_secs());
        let times = PATIENCE.as_secs_f64() / mine.seconds;
        table += &format!(
            "| SPIN, its partial-order reduction, {words} (by time, once) | | more than {seconds} | | | more than {times:.0} |\n"
        );
        reached.spin_largest = Some(times);
    }
    (reached.spin, reached.spin_reduced) = (Some(rates), Some(times));
    table + "\n"
}

/// Against TLC, on a model with the same states as that for SPIN.
fn tlc(rounds: usize, reached: &mut Reached) -> String {
    let size = Size { agents: 3, nodes: 2, drops: 1, restarts: 1 };
    let Some(checker) = Tlc::prepare(size) else {
        return "TLC is not measured: there is no Java here, or `TLC_JAR` does not say where its jar is.\n\n"
            .to_owned();
    };
    let [one, two, theirs] = interleaved(
        rounds,
        [&|| apart(Mode::Whole(1), size, UNBOUNDED), &|| apart(Mode::Whole(2), size, UNBOUNDED), &|| checker.run(2)],
    );
    let mut table =
        format!("**TLC, on the same model as SPIN** ({}, by states a second)\n\n{HEAD}", scale::words(size));
    table += &row("handlecheck, every interleaving, 1 thread", &one, 1.0);
    table += &row("handlecheck, every interleaving, 2 threads", &two, rate(&two) / rate(&one));
    table += &row("TLC, two workers", &theirs, rate(&one) / rate(&theirs));
    reached.tlc = Some([rate(&one) / rate(&theirs), rate(&two) / rate(&theirs)]);
    table + "\n"
}

/// What a second thread brings, on more than five million states, and what a state takes there, with and without hashes alone.
fn large(rounds: usize, reached: &mut Reached) -> String {
    let size = Size { agents: 3, nodes: 2, drops: 2, restarts: 1 };
    let most = 6_000_000;
    let [one, two, compact] = interleaved(
        rounds,
        [&|| apart(Mode::Whole(1), size, most), &|| apart(Mode::Whole(2), size, most), &|| {
            apart(Mode::Compact(1), size, most)
        }],
    );
    assert_eq!((one.states, one.states), (two.states, compact.states), "nothing but time and memory is another");
    reached.second_thread = one.seconds / two.seconds;
    (reached.bytes, reached.compact_bytes) = (one.bytes_a_state().max(two.bytes_a_state()), compact.bytes_a_state());
    let mut table =
        format!("**A second thread, and hashes alone** ({}, the first 6 million states)\n\n{HEAD}", scale::words(size));
    table += &row("handlecheck, every interleaving, 1 thread", &one, 1.0);
    table += &row("handlecheck, every interleaving, 2 threads", &two, reached.second_thread);
    table +=
        &row("handlecheck, every interleaving, `--hash-compact`, 1 thread", &compact, one.seconds / compact.seconds);
    table + "\n"
}

/// As far as the patience of a bench goes, once.
fn far() -> String {
    let size = Size { agents: 4, nodes: 2, drops: 1, restarts: 1 };
    let found = apart(Mode::Compact(2), size, 200_000_000);
    let mut table = format!("**As far as that** ({}, at most 200 million states, once)\n\n{HEAD}", scale::words(size));
    table += &row("handlecheck, every interleaving, `--hash-compact`, 2 threads", &found, 1.0);
    table
}
