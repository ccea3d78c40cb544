//! Random runs, in runs a second: a small scenario, and a crowd.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use handlecheck::input::{self, Kind};
use handlecheck::model::Extent;
use handlecheck::policies::crowd::crowd;
use handlecheck::policies::simulate::{self, SimulationOptions};
use handlecheck::run::{Run, invariant_names};

/// What is simulated: scenario, design, agents, nodes, runs.
const SUBJECTS: &[(&str, &str, usize, usize, u64)] = &[
    ("laptop-basket", "naive", 3, 2, 100_000),
    ("laptop-basket", "versioned", 3, 2, 100_000),
    ("foreign-handle", "versioned", 2, 2, 100_000),
    ("laptop-basket", "versioned", 30, 8, 1_000),
    ("laptop-basket", "versioned", 200, 20, 50),
];

fn simulation(criterion: &mut Criterion) {
    for &(scenario, design, agents, nodes, runs) in SUBJECTS {
        let source = input::resolve(Kind::Scenario, scenario, None).expect("it is shipped");
        let source = crowd(&source, Some(agents), Some(nodes)).expect("it can grow");
        let scenario_input =
            input::read_scenario_within(&source, &invariant_names(), Extent::SIMULATED).expect("it is readable");
        let design_input = input::resolve(Kind::Design, design, None).expect("it is shipped");
        let design_input = input::read_design(&design_input).expect("it is readable");
        let protocol = input::protocol_of(&scenario_input, None).expect("it is readable");
        let run = Run::new(scenario_input, design_input, protocol, &BTreeMap::new()).expect("they fit");
        let mut group = criterion.benchmark_group(format!("{scenario} x {design}, {agents} agents, {nodes} nodes"));
        group.throughput(Throughput::Elements(runs));
        group.sample_size(10).warm_up_time(Duration::from_secs(1)).measurement_time(Duration::from_secs(5));
        for threads in [1, 2] {
            let options = SimulationOptions { runs, threads, ..SimulationOptions::default() };
            group.bench_function(BenchmarkId::new("threads", threads), |bencher| {
                bencher.iter(|| black_box(simulate::simulate(&run, &options, &|_| false)).runs);
            });
        }
        group.finish();
    }
}

criterion_group!(benches, simulation);
criterion_main!(benches);
