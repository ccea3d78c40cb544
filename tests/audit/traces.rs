//! The model's own runs as logs: what the model finds violated the audit finds too, or says that it can't judge; and where
//! the model proves that nothing is violated, the audit finds nothing in any random run.

use handlecheck::audit::CHECKS;
use handlecheck::audit::of_trace::log;
use handlecheck::input::{self, Kind, library};
use handlecheck::model::Verdict;
use handlecheck::policies::simulate::{SimulationOptions, simulate, trace, whole_run};
use handlecheck::run::{Run, invariant_names};
use handlecheck::trace::Trace;

use super::{audited_lines, check};

/// The pairs that the lock holds, with the verdicts of each.
fn pairs() -> Vec<(Run, toml::Table, Vec<String>)> {
    let lock: toml::Table = super::common::read("models/handlecheck.lock").parse().expect("it is TOML");
    let runs = lock["runs"].as_array().expect("it has runs");
    runs.iter()
        .filter_map(|run| {
            let name = |key: &str| run[key].as_str().expect("a name");
            let source = library::find(Kind::Scenario, name("scenario"))?;
            let scenario = input::read_scenario(&source, &invariant_names()).expect("it is readable");
            let design = library::find(Kind::Design, name("design"))?;
            let design = input::read_design(&design).expect("it is readable");
            let protocol = input::protocol_of(&scenario, Some(name("protocol"))).expect("it is readable");
            let run_of = Run::new(scenario, design, protocol, &std::collections::BTreeMap::new()).expect("they fit");
            let verdicts = run.get("verdicts").and_then(|all| all.as_table()).cloned().unwrap_or_default();
            let vacuous = run.get("vacuous").and_then(|all| all.as_array()).cloned().unwrap_or_default();
            let vacuous = vacuous.iter().filter_map(|name| name.as_str()).map(str::to_owned).collect();
            Some((run_of, verdicts, vacuous))
        })
        .collect()
}

/// What happens outside of resources is in no log, nor that calls of two agents are one piece of work; a handle that holds the state itself is another resource after each
/// change, which traces don't tell apart; and a field that is left out looks like one that was emptied.
fn no_log_tells(trace: &Trace) -> bool {
    let words = ["call-upstream", "state = \"handle\"", "new-fields = \"dropped\"", "intent = \""];
    words.iter().any(|word| [&trace.design.text, &trace.scenario.text].iter().any(|text| text.contains(word)))
}

/// Violations inside of a call: the model sees when a transaction ran, a log only between which times.
const SEEN_INSIDE: &[&str] = &["fresh-read"];

fn told(trace: &Trace) -> String {
    let lines: Vec<String> = log(trace).iter().map(handlecheck::log::Line::to_json).collect();
    format!("{}.{}: {}\n{}", trace.scenario.name, trace.design.name, trace.sentence, lines.join("\n"))
}

#[test]
fn what_the_model_finds_violated_is_found_or_not_claimed_to_hold() {
    let mut found = std::collections::BTreeMap::new();
    let mut wrong = Vec::new();
    for (run, verdicts, _) in pairs() {
        for (name, verdict) in verdicts.iter().filter(|(name, _)| CHECKS.iter().any(|check| check.name == **name)) {
            if !verdict.is_array() {
                continue;
            }
            let options = SimulationOptions { runs: 200, only: vec![name.clone()], ..SimulationOptions::default() };
            let report = simulate(&run, &options, &|_| false);
            let Some(number) = report.invariants.iter().find(|row| row.name == *name).and_then(|row| row.run) else {
                continue;
            };
            let trace = trace(&run, &options, name, number).expect("it can be recorded");
            if no_log_tells(&trace) {
                continue;
            }
            let report = audited_lines(&log(&trace));
            assert_eq!(report.malformed, 0, "{:?}\n{}", report.mistakes, told(&trace));
            let verdict = check(&report, name).verdict;
            *found.entry((name.clone(), verdict.name())).or_insert(0_u32) += 1;
            let inside = SEEN_INSIDE.contains(&&**name) && verdict != Verdict::Violated;
            if !matches!(verdict, Verdict::Violated | Verdict::Inconclusive) && !inside {
                wrong.push(format!("{verdict} for {name}, {}", told(&trace)));
            }
        }
    }
    // It is found far more often than not.
    let count =
        |verdict: &str| found.iter().filter(|((_, other), _)| *other == verdict).map(|(_, count)| count).sum::<u32>();
    assert!(count("violated") > 60 && count("violated") > 4 * count("inconclusive"), "{found:#?}");
    assert!(wrong.is_empty(), "{}\n{}", wrong.len(), wrong.join("\n\n"));
}

#[test]
fn in_runs_of_a_model_in_which_it_holds_nothing_is_found() {
    let mut judged = std::collections::BTreeMap::new();
    let mut wrong = Vec::new();
    for (run, verdicts, vacuous) in pairs() {
        let holds = |name: &str| {
            vacuous.iter().any(|other| other == name) || verdicts.get(name).is_some_and(toml::Value::is_str)
        };
        for number in 0..2 {
            let options = SimulationOptions { seed: 7, ..SimulationOptions::default() };
            let trace = whole_run(&run, &options, number).expect("it can be recorded");
            let report = audited_lines(&log(&trace));
            assert_eq!(report.malformed, 0, "{:?}\n{}", report.mistakes, told(&trace));
            if no_log_tells(&trace) {
                continue;
            }
            for check in report.checks.iter().filter(|check| holds(check.name)) {
                *judged.entry((check.name, check.verdict.name())).or_insert(0_u32) += 1;
                if check.verdict == Verdict::Violated {
                    let sentences: Vec<&str> = check.findings.iter().map(|found| &*found.sentence).collect();
                    wrong.push(format!("{}: {sentences:?}\n{}", check.name, told(&trace)));
                }
            }
        }
    }
    let held = judged.iter().filter(|((_, verdict), _)| *verdict == "holds").map(|(_, count)| count).sum::<u32>();
    assert!(held > 300, "{judged:#?}");
    assert!(wrong.is_empty(), "{}\n{}", wrong.len(), wrong.join("\n\n"));
}
