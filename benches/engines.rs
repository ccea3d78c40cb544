//! Both engines on the same model, in one run, in states a second.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use handlecheck::engine::{self, Limits, second};
use handlecheck::input::{self, Kind};
use handlecheck::run::{Run, invariant_names};
use handlecheck::step::Simulation;

/// What is explored: scenario, design, and budgets that replace those of the scenario.
type Subject = (&'static str, &'static str, &'static [(&'static str, u8)]);

const SUBJECTS: &[Subject] = &[
    ("laptop-basket", "naive", &[]),
    ("laptop-basket", "dedup-only", &[]),
    ("laptop-basket", "versioned", &[]),
    ("two-agents-two-drops", "versioned", &[]),
    ("two-agents-two-drops", "versioned", &[("drop-stream", 3), ("restart-node", 2)]),
];

fn simulation((scenario, design, faults): Subject) -> Arc<Simulation> {
    let scenario = input::resolve(Kind::Scenario, scenario, None).expect("it is shipped");
    let scenario = input::read_scenario(&scenario, &invariant_names()).expect("it is readable");
    let design = input::resolve(Kind::Design, design, None).expect("it is shipped");
    let design = input::read_design(&design).expect("it is readable");
    let protocol = input::protocol_of(&scenario, None).expect("it is readable");
    let faults: BTreeMap<&'static str, u8> = faults.iter().copied().collect();
    let run = Run::new(scenario, design, protocol, &faults).expect("they fit");
    Arc::new(Simulation::new(run.model().clone()))
}

fn name((scenario, design, faults): Subject) -> String {
    let budgets = faults.iter().map(|(fault, budget)| format!("{fault}={budget}"));
    [format!("{scenario} x {design}")].into_iter().chain(budgets).collect::<Vec<_>>().join(" ")
}

fn engines(criterion: &mut Criterion) {
    for &subject in SUBJECTS {
        let simulation = simulation(subject);
        let states = engine::explore(&*simulation, Limits::default(), &mut |_| false).states();
        let mut group = criterion.benchmark_group(name(subject));
        group.throughput(Throughput::Elements(states as u64));
        group.sample_size(10).warm_up_time(Duration::from_secs(1)).measurement_time(Duration::from_secs(5));
        group.bench_function(BenchmarkId::new("handlecheck", states), |bencher| {
            bencher.iter(|| black_box(engine::explore(&*simulation, Limits::default(), &mut |_| false)).states());
        });
        group.bench_function(BenchmarkId::new("stateright", states), |bencher| {
            bencher.iter(|| {
                let report = second::explore(&simulation, None, &mut |_| false);
                assert_eq!(report.states, states, "both engines find the same states");
            });
        });
        group.finish();
    }
}

criterion_group!(benches, engines);
criterion_main!(benches);
