//! Random runs: the same everywhere, never beyond what the checker explores, and with traces that replay.

mod common;

use std::collections::BTreeMap;
use std::path::Path;

use common::{Said, handlecheck};
use handlecheck::engine::simulate as engine;
use handlecheck::input::{self, Kind, library};
use handlecheck::model::Extent;
use handlecheck::policies::crowd::{CrowdError, crowd};
use handlecheck::policies::simulate::{self, Pace, SimulationOptions, SimulationReport};
use handlecheck::run::{Options, Run, invariant_names};
use handlecheck::trace;

fn composed(
    scenario: &str,
    design: &str,
    agents: Option<usize>,
    nodes: Option<usize>,
    faults: &[(&'static str, u8)],
) -> Run {
    let source = input::resolve(Kind::Scenario, scenario, None).expect("it is shipped");
    let source = if agents.or(nodes).is_some() { crowd(&source, agents, nodes).expect("it can grow") } else { source };
    let scenario = input::read_scenario_within(&source, &invariant_names(), Extent::SIMULATED).expect("it is readable");
    let design = input::design(design, None).expect("it is shipped");
    let protocol = input::protocol_of(&scenario, None).expect("it is readable");
    Run::new(scenario, design, protocol, &faults.iter().copied().collect()).expect("they fit")
}

fn simulated(run: &Run, options: &SimulationOptions) -> SimulationReport {
    simulate::simulate(run, options, &|_| false)
}

fn json(report: &SimulationReport) -> String {
    serde_json::to_string(report).expect("a report is JSON")
}

/// What was found: (violated, witness reached), by name.
fn found(report: &SimulationReport) -> BTreeMap<&str, (bool, bool)> {
    let row = |row: &'_ simulate::SimulatedProperty| (row.violations > 0, row.reached > 0);
    report.invariants.iter().map(|property| (&*property.name, row(property))).collect()
}

/// Every pair of shipped models that expects something: whatever random runs of any pace see, the checker sees too.
#[test]
fn what_the_checker_excludes_is_never_seen() {
    let mut pairs = 0;
    let mut seen = 0;
    for scenario in library::names(Kind::Scenario) {
        let source = input::resolve(Kind::Scenario, scenario, None).expect("it is shipped");
        let read = input::read_scenario(&source, &invariant_names()).expect("it is readable");
        let designs: Vec<String> = read.value.expect.keys().cloned().collect();
        for design in designs {
            let run = composed(scenario, &design, None, None, &[]);
            let options = Options { max_states: Some(6_000), ..Options::default() };
            let checked = run.explore(&options, &mut |_| false).expect("its traces can be recorded");
            if !checked.complete {
                continue;
            }
            pairs += 1;
            for &pace in Pace::ALL {
                let options = SimulationOptions { runs: 150, pace, ..SimulationOptions::default() };
                for (name, (violated, _)) in found(&simulated(&run, &options)) {
                    let property =
                        checked.invariants.iter().find(|property| property.name == name).expect("both have it");
                    let can = !property.breaks.is_empty();
                    assert!(can || !violated, "{scenario} x {design}, {pace}: {name} can't be violated");
                    seen += usize::from(violated);
                }
            }
        }
    }
    assert!(pairs > 20 && seen > 60, "{pairs} pairs, {seen} violations: something was compared");
}

/// And what the checker finds in a small model, enough random runs see too.
#[test]
fn what_the_checker_finds_is_seen() {
    let run = composed("laptop-basket", "naive", None, None, &[]);
    let checked = run.explore(&Options::default(), &mut |_| false).expect("its traces can be recorded");
    let violated: Vec<&str> =
        checked.invariants.iter().filter(|row| !row.breaks.is_empty()).map(|row| &*row.name).collect();
    for &pace in Pace::ALL {
        let report = simulated(&run, &SimulationOptions { runs: 500, pace, ..SimulationOptions::default() });
        let seen: Vec<&str> = report.invariants.iter().filter(|row| row.violations > 0).map(|row| &*row.name).collect();
        assert_eq!(seen, violated, "{pace}");
    }
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let run = composed("foreign-handle", "naive", None, None, &[]);
    for &pace in Pace::ALL {
        let with =
            |threads| simulated(&run, &SimulationOptions { runs: 700, pace, threads, ..SimulationOptions::default() });
        let one = json(&with(1));
        assert!(one == json(&with(2)) && one == json(&with(5)), "{pace}");
    }
}

/// Golden numbers: what a seed means must not change from one version to the next.
#[test]
fn a_seed_means_the_same_for_ever() {
    let run = composed("laptop-basket", "naive", None, None, &[]);
    let counts = |pace| {
        let report = simulated(&run, &SimulationOptions { runs: 1000, seed: 42, pace, ..SimulationOptions::default() });
        let of = |name: &str| report.invariants.iter().find(|row| row.name == name).expect("it is judged").violations;
        [of("no-lost-update"), of("no-double-write"), of("both-upgrades")]
    };
    let all: Vec<(Pace, [u64; 3])> = Pace::ALL.iter().map(|pace| (*pace, counts(*pace))).collect();
    assert_eq!(
        all,
        [
            (Pace::Uniform, [744, 204, 744]),
            (Pace::SlowThinker, [568, 226, 568]),
            (Pace::Bursts, [225, 199, 225]),
            (Pace::Priorities, [339, 246, 338]),
        ]
    );
}

/// A trace of a random run is short, is found by its number alone, and replays.
#[test]
fn a_violating_run_is_shrunk_to_a_trace_that_replays() {
    let run = composed("laptop-basket", "naive", None, None, &[]);
    let options = SimulationOptions { runs: 200, seed: 5, ..SimulationOptions::default() };
    let report = simulated(&run, &options);
    for property in report.invariants.iter().filter(|property| property.violations > 0) {
        let number = property.run.expect("a violation has a run");
        let trace = simulate::trace(&run, &options, &property.name, number).expect("it can be recorded");
        trace::replay(&trace).expect("it replays");
        let shortest = run.explore(&Options::default(), &mut |_| false).expect("its traces can be recorded");
        let shortest = shortest.invariants.iter().find(|row| row.name == property.name).expect("it is judged");
        let steps = u32::try_from(trace.steps.len()).expect("it is short");
        assert!(shortest.steps.is_some_and(|least| least <= steps && steps <= least + 6), "{}: {steps}", property.name);
    }
}

/// Without a budget, and beyond the number of faults that a file may have.
#[test]
fn rates_strike_without_a_budget() {
    let rates = BTreeMap::from([("drop-stream", 0.4), ("restart-node", 0.0)]);
    let faults: Vec<(&'static str, u8)> = simulate::lifted(&rates).into_iter().collect();
    let run = composed("laptop-basket", "versioned", None, None, &faults);
    let options = SimulationOptions { runs: 300, rates, ..SimulationOptions::default() };
    let report = simulated(&run, &options);
    assert_eq!(report.bounds.faults.len(), 0);
    assert_eq!(report.invariants.iter().map(|row| row.violations).sum::<u64>(), 0);
    let repeats = report.costs.repeats.expect("something was finished").mean;
    assert!((0.5..20.0).contains(&repeats), "{repeats}");
    assert_eq!(report.cut, 0);
}

/// As many faults as can be counted are no budget that is spent: whoever would need more is cut short, and does not pass for
/// one that ended.
#[test]
fn a_run_that_would_need_more_faults_than_can_be_counted_is_cut_short() {
    let rates = BTreeMap::from([("drop-stream", 1.0)]);
    let faults: Vec<(&'static str, u8)> = simulate::lifted(&rates).into_iter().collect();
    let run = composed("laptop-basket", "versioned", None, None, &faults);
    let options = SimulationOptions { runs: 20, rates, ..SimulationOptions::default() };
    let report = simulated(&run, &options);
    assert_eq!((report.runs, report.cut), (20, 20));
    assert_eq!(report.costs.calls.map(|calls| calls.mean), None, "nothing was finished");
}

/// Two orphans of one request stand in another order where they have numbers: what is shrunk can be written down all the same.
#[test]
fn traces_of_runs_with_many_faults_can_be_written_down() {
    let rates = BTreeMap::from([("drop-stream", 0.9)]);
    let faults: Vec<(&'static str, u8)> = simulate::lifted(&rates).into_iter().collect();
    let run = composed("mint-and-set-elsewhere", "routed-by-handle", None, None, &faults);
    let options = SimulationOptions { runs: 3, rates, ..SimulationOptions::default() };
    let report = simulated(&run, &options);
    let violated = report.invariants.iter().find(|row| row.name == "no-double-write").and_then(|row| row.run);
    let number = violated.expect("a mint whose answer is lost is sent again");
    let trace = simulate::trace(&run, &options, "no-double-write", number).expect("it can be taken again");
    assert_eq!(trace.invariant, "no-double-write");
}

#[test]
fn a_crowd_does_what_its_few_do() {
    let report = |agents| {
        let run = composed("laptop-basket", "versioned", Some(agents), Some(12), &[]);
        simulated(&run, &SimulationOptions { runs: 20, threads: 2, ..SimulationOptions::default() })
    };
    let (few, many) = (report(5), report(120));
    assert_eq!((few.agents, many.agents, many.nodes), (5, 120, 12));
    for report in [&few, &many] {
        assert_eq!(report.invariants.iter().map(|row| row.violations).sum::<u64>(), 0);
        assert_eq!(report.cut, 0);
    }
    let conflicts = |report: &SimulationReport| report.costs.conflicts.expect("something was finished").mean;
    assert!(conflicts(&many) > 2.0 * conflicts(&few), "more agents, more conflicts");
}

#[test]
fn a_crowd_mints_under_names_of_its_own() {
    let source = input::resolve(Kind::Scenario, "mint-and-set", None).expect("it is shipped");
    let grown = crowd(&source, Some(3), None).expect("it can grow");
    let scenario = input::read_scenario_within(&grown, &invariant_names(), Extent::SIMULATED).expect("it is readable");
    let names: Vec<&str> = scenario.value.resources.iter().map(|resource| &*resource.name).collect();
    assert_eq!(names, ["draft", "draft-2", "draft-3"]);
    let agents: Vec<&str> = scenario.value.agents.iter().map(|agent| &*agent.name).collect();
    assert_eq!(agents, ["A", "A-2", "A-3"]);
    assert_eq!(crowd(&source, Some(0), None), Err(CrowdError::Fewer(1)));
}

/// The engine's own random numbers: two runs of one plan are different, and each is the same again.
#[test]
fn runs_differ_and_are_repeatable() {
    use handlecheck::step::Simulation;
    let run = composed("laptop-basket", "naive", None, None, &[]);
    let simulation = Simulation::new(run.model().clone());
    let plan = engine::Plan {
        seed: 1,
        runs: 10,
        schedule: engine::Schedule::Weighted,
        weigh: &|_| 1,
        faults: Vec::new(),
        most_steps: 1000,
    };
    let steps = |number| engine::steps(&simulation, &plan, number);
    assert_eq!(steps(3), steps(3));
    assert_ne!(steps(3), steps(4));
}

fn says(line: &str, folder: &Path) -> Said {
    handlecheck(folder, &line.split_whitespace().collect::<Vec<_>>())
}

#[test]
fn the_command_draws_a_sweep_and_exits_as_it_says() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let line = "simulate laptop-basket --design dedup-only --runs 200 --sweep 3,9,30 --plot sweep.svg -q";
    let said = says(line, folder.path());
    assert_eq!(said.code, 1, "{said:?}");
    assert!(said.out.contains("| 30     | 100.00 %"), "{}", said.out);
    let plot = std::fs::read_to_string(folder.path().join("sweep.svg")).expect("it was written");
    assert!(plot.starts_with("<svg") && plot.contains("dedup-only: no-lost-update"));
    let said = says("simulate laptop-basket --design versioned --runs 200 -q", folder.path());
    assert_eq!(said.code, 0);
    for (line, wrong) in [
        ("simulate laptop-basket --agents 2", "a crowd is no smaller"),
        ("simulate laptop-basket --agents 900", "at most 250"),
        ("simulate laptop-basket --rates drop-streem=0.1", "drop-stream"),
        ("simulate laptop-basket --rates drop-stream=1.5", "from 0 to 1"),
        ("simulate laptop-basket --rates drop-stream=0.9,restart-node=0.9", "above 1"),
        ("simulate laptop-basket --schedule fair", "uniform"),
        ("simulate laptop-basket --invariant nothing", "no such invariant"),
    ] {
        let said = says(line, folder.path());
        assert_eq!(said.code, 2, "{line}");
        assert!(said.err.contains(wrong), "{line}: {}", said.err);
    }
}
