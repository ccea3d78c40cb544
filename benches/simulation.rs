//! Random runs, in runs a second: a small scenario, and a crowd.
//!
//! `cargo bench --bench simulation -- write` measures runs a minute and puts them into `docs/benchmarks.md`; with `rates` it only
//! prints them. Anything else is criterion's.

#![allow(clippy::print_stdout, reason = "it is a table that is printed")]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group};
use handlecheck::input::{self, Kind};
use handlecheck::model::Extent;
use handlecheck::policies::crowd::crowd;
use handlecheck::policies::simulate::{self, SimulationOptions, SimulationReport};
use handlecheck::run::{Run, invariant_names};

/// What is simulated: scenario, design, agents, nodes, runs.
const SUBJECTS: &[(&str, &str, usize, usize, u64)] = &[
    ("laptop-basket", "naive", 3, 2, 100_000),
    ("laptop-basket", "versioned", 3, 2, 100_000),
    ("foreign-handle", "versioned", 2, 2, 100_000),
    ("laptop-basket", "versioned", 30, 8, 1_000),
    ("laptop-basket", "versioned", 200, 20, 50),
];

/// The page, and what its part lies between.
const PAGE: &str = "docs/benchmarks.md";
const MARKS: (&str, &str) = ("<!-- simulated -->\n", "<!-- end of simulated -->");

/// Rounds of runs in turn, of which medians are taken.
const ROUNDS: usize = 5;

/// What is measured takes at least so long.
const LEAST: Duration = Duration::from_secs(1);

fn main() {
    match std::env::args().skip(1).filter(|argument| argument != "--bench").collect::<Vec<_>>().as_slice() {
        [word] if word == "rates" => println!("{}", rates()),
        [word] if word == "write" => {
            let page = Path::new(env!("CARGO_MANIFEST_DIR")).join(PAGE);
            let text = std::fs::read_to_string(&page).expect("the page is there");
            // Whatever is wrong with the page is noticed before anything is measured.
            let (before, rest) = text.split_once(MARKS.0).expect("the page has a place for it");
            let (_, after) = rest.split_once(MARKS.1).expect("the page has a place for it");
            let table = rates();
            println!("{table}");
            let text = format!("{before}{}\n{table}\n{}{after}", MARKS.0, MARKS.1);
            std::fs::write(&page, text).expect("it can be written");
        }
        _ => {
            benches();
            Criterion::default().configure_from_args().final_summary();
        }
    }
}

fn composed(scenario: &str, design: &str, agents: usize, nodes: usize) -> Run {
    let source = input::resolve(Kind::Scenario, scenario, None).expect("it is shipped");
    let source = crowd(&source, Some(agents), Some(nodes)).expect("it can grow");
    let scenario = input::read_scenario_within(&source, &invariant_names(), Extent::SIMULATED).expect("it is readable");
    let design = input::resolve(Kind::Design, design, None).expect("it is shipped");
    let design = input::read_design(&design).expect("it is readable");
    let protocol = input::protocol_of(&scenario, None).expect("it is readable");
    Run::new(scenario, design, protocol, &BTreeMap::new()).expect("they fit")
}

fn simulated(run: &Run, runs: u64, threads: usize) -> SimulationReport {
    let options = SimulationOptions { runs, threads, ..SimulationOptions::default() };
    simulate::simulate(run, &options, &|_| false)
}

/// One measurement: seconds on the clock, and seconds of processors.
#[derive(Clone, Copy)]
struct Taken {
    seconds: f64,
    processor: f64,
}

/// What this process has had of the processors so far, where the system tells.
fn processor() -> f64 {
    // In hundredths of a second, whatever the machine (USER_HZ).
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = text.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |at: usize| fields.get(at).and_then(|field| field.parse::<f64>().ok()).unwrap_or_default();
    (ticks(11) + ticks(12)) / 100.0
}

fn measured(run: &Run, runs: u64, threads: usize) -> Taken {
    let (start, before) = (now(), processor());
    black_box(simulated(run, runs, threads).runs);
    Taken { seconds: start.elapsed().as_secs_f64(), processor: processor() - before }
}

#[expect(clippy::disallowed_methods, reason = "time is what is measured")]
fn now() -> Instant {
    Instant::now()
}

fn median(mut all: Vec<f64>) -> f64 {
    all.sort_by(f64::total_cmp);
    all[all.len() / 2]
}

/// A number in thousands, or in millions where it has as many.
fn short(number: f64) -> String {
    if number >= 1e6 {
        format!("{:.1} million", number / 1e6)
    } else {
        format!("{:.0}", (number / 100.0).round() * 100.0)
    }
}

/// The table of runs a minute.
#[expect(clippy::cast_precision_loss, reason = "runs are few enough to be counted exactly")]
fn rates() -> String {
    let mut table = "| what | agents | nodes | steps a run | runs a minute, 1 thread | 2 threads | of two cores it had | runs a minute that \
                     two whole cores make |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n"
        .to_owned();
    for &(scenario, design, agents, nodes, least) in SUBJECTS {
        let run = composed(scenario, design, agents, nodes);
        let mut runs = least;
        while measured(&run, runs, 2).seconds < LEAST.as_secs_f64() {
            runs *= 2;
        }
        let mut taken: [Vec<Taken>; 2] = [Vec::new(), Vec::new()];
        for _ in 0..ROUNDS {
            for threads in [1, 2] {
                taken[threads - 1].push(measured(&run, runs, threads));
            }
        }
        let minute = |seconds: f64| short(runs as f64 / seconds * 60.0);
        let middle = |of: &[Taken], what: fn(&Taken) -> f64| median(of.iter().map(what).collect());
        let two = &taken[1];
        let share = 100.0 * middle(two, |taken| taken.processor / taken.seconds / 2.0);
        let steps = simulated(&run, least, 2).steps.mean;
        let _ = writeln!(
            table,
            "| {scenario} x {design} | {agents} | {nodes} | {steps:.0} | {} | {} | {share:.0} % | {} |",
            minute(middle(&taken[0], |taken| taken.seconds)),
            minute(middle(two, |taken| taken.seconds)),
            minute(middle(two, |taken| taken.processor / 2.0)),
        );
    }
    table
}

fn simulation(criterion: &mut Criterion) {
    for &(scenario, design, agents, nodes, runs) in SUBJECTS {
        let run = composed(scenario, design, agents, nodes);
        let mut group = criterion.benchmark_group(format!("{scenario} x {design}, {agents} agents, {nodes} nodes"));
        group.throughput(Throughput::Elements(runs));
        group.sample_size(10).warm_up_time(Duration::from_secs(1)).measurement_time(Duration::from_secs(5));
        for threads in [1, 2] {
            group.bench_function(BenchmarkId::new("threads", threads), |bencher| {
                bencher.iter(|| black_box(simulated(&run, runs, threads)).runs);
            });
        }
        group.finish();
    }
}

criterion_group!(benches, simulation);
