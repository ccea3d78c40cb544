//! What the engine set out to reach, and whether it does.

/// The ratios that were measured.
#[derive(Default)]
pub struct Reached {
    /// Their time by ours.
    pub stateright: f64,
    /// Our states a second by those of SPIN.
    pub spin: Option<f64>,
    /// The time of SPIN with its reduction by ours with ours, on two sizes.
    pub spin_reduced: Option<[f64; 2]>,
    /// At least that, on a size on which SPIN was stopped.
    pub spin_largest: Option<f64>,
    /// Our states a second, with one thread and with two, by those of TLC with two workers.
    pub tlc: Option<[f64; 2]>,
    /// Bytes a state.
    pub bytes: usize,
    /// Bytes a state with hashes alone.
    pub compact_bytes: usize,
    /// The time of one thread by that of two.
    pub second_thread: f64,
}

fn word(reached: bool) -> &'static str {
    if reached { "yes" } else { "no" }
}

/// The table.
pub fn table(reached: &Reached) -> String {
    let mut table = "| against | at least | reached |\n| --- | --- | --- |\n".to_owned();
    let mut row =
        |against: &str, least: &str, reached: String| table += &format!("| {against} | {least} | {reached} |\n");
    let unmeasured = || "not measured".to_owned();
    row(
        "SPIN, depth-first, `-DNOREDUCE`",
        "5 times its states a second",
        reached.spin.map_or_else(unmeasured, |times| format!("{}: {times:.1} times", word(times >= 5.0))),
    );
    row(
        "SPIN with its partial-order reduction",
        "100 times less time, with our reductions",
        reached.spin_reduced.map_or_else(unmeasured, |[small, large]| {
            let both = small >= 100.0 && large >= 100.0;
            let largest =
                reached.spin_largest.map(|times| format!(", and more than {times:.0} times on one still larger"));
            let largest = largest.unwrap_or_default();
            format!("{}: {small:.1} times less, {large:.1} times on the larger one{largest}", word(both))
        }),
    );
    let times = reached.stateright;
    row("stateright, breadth-first, on our model", "5 times", format!("{}: {times:.0} times", word(times >= 5.0)));
    row(
        "TLC, two workers",
        "50 times",
        reached.tlc.map_or_else(unmeasured, |[one, two]| {
            format!("{}: {one:.0} times with one thread, {two:.0} times with two", word(one >= 50.0))
        }),
    );
    row(
        "bytes a state, 5 million states and more",
        "64, exact",
        format!("{}: {}", word(reached.bytes <= 64), reached.bytes),
    );
    row(
        "the same, with hashes alone (`--hash-compact`)",
        "32",
        format!("{}: {}", word(reached.compact_bytes <= 32), reached.compact_bytes),
    );
    let times = reached.second_thread;
    row("a second thread, 5 million states and more", "1.5 times", format!("{}: {times:.2} times", word(times >= 1.5)));
    table
}
