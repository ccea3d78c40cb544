//! A run that was cut short and gone on with ends with the same bytes as one that was not.

use std::collections::BTreeMap;
use std::fs;

use handlecheck::engine::{Checkpoint, Exploration, Limits, Stop, explore, resume};
use handlecheck::input::{self, Kind};
use handlecheck::run::{self, Checkpoint as File, Options, Report, Run};
use handlecheck::step::Simulation;
use handlecheck::world::Component;

use crate::common::handlecheck;
use crate::{models, random, written};

/// Everything that a search says, with the path to each break that is cheapest.
pub(super) fn everything(system: &Simulation, found: &Exploration<Simulation>) -> String {
    let mut paths: Vec<Vec<Vec<Component>>> = Vec::new();
    for property in 0..64 {
        for place in found.front(property) {
            paths.push(found.path(system, place));
            paths.extend(found.round(system, place));
        }
    }
    let counted = (found.states(), found.transitions, found.depth, found.witnessed, &found.kinds, &found.tags);
    format!("{:?} {counted:?} {:?} {paths:?}", found.stop, found.violations)
}

/// Cuts a search short after so many states or looks, again and again, each time as if in another process, and answers
/// what it ends with and how often it was cut.
fn in_pieces(system: &Simulation, limits: Limits, piece: usize) -> (Exploration<Simulation>, usize) {
    let mut begun: Option<Checkpoint> = None;
    for cut in 0.. {
        let mut looks = 0;
        let limits = match limits.states {
            // Further in each round, so that it comes to an end.
            Some(_) => Limits { states: Some(piece * (cut + 1)), ..limits },
            None => limits,
        };
        let mut watch = |_| {
            looks += 1;
            limits.states.is_none() && looks > piece
        };
        let found = match &begun {
            None => explore(system, limits, &mut watch),
            Some(begun) => resume(system, limits, begun, &mut watch).expect("it is the same model"),
        };
        if !matches!(found.stop, Some(Stop::States | Stop::Caller)) {
            return (found, cut);
        }
        let kept = found.checkpoint().expect("it was cut short");
        let bytes = postcard::to_stdvec(&kept).expect("it can be written");
        assert!(bytes.len() < 8 * found.states() + 20_000, "a state takes few bytes: {}", bytes.len());
        begun = Some(postcard::from_bytes(&bytes).expect("it can be read"));
    }
    unreachable!("it comes to an end")
}

#[test]
fn a_search_in_pieces_ends_as_one_in_one_piece() {
    let (mut cuts, mut compared) = (0, 0);
    let random = random::seeds("0..12").map(random::symmetric);
    let random = random.filter_map(|texts| models::of_texts(&texts.scenario, &texts.design, &texts.protocol).ok());
    let shipped = models::expected().into_iter().filter(|((scenario, design), _)| {
        scenario == "two-agents-drop" || scenario == "two-agents-expire-claim" && design != "naive"
    });
    for model in shipped.map(|(_, model)| model).chain(random) {
        let system = Simulation::new(model);
        let whole = Limits { states: Some(6_000), liveness: true, threads: 2, ..Limits::default() };
        let reduced = Limits { reduce: true, symmetry: true, subsume: true, ..whole };
        for limits in [whole, reduced] {
            let once = explore(&system, limits, &mut |_| false);
            if once.stop.is_some() {
                continue;
            }
            let wanted = everything(&system, &once);
            for (limits, piece) in [(limits, once.states() / 3 + 1), (Limits { states: None, threads: 1, ..limits }, 9)]
            {
                let (found, cut) = in_pieces(&system, limits, piece);
                assert_eq!(everything(&system, &found), wanted);
                cuts += cut;
            }
            compared += 1;
        }
    }
    assert!(compared > 15 && cuts > 2 * compared, "{compared} searches, cut {cuts} times");
}

#[test]
fn a_search_is_not_gone_on_with_on_another_model() {
    let all: Vec<Simulation> = models::expected()
        .into_iter()
        .filter(|((scenario, _), _)| scenario == "two-agents-drop")
        .map(|(_, model)| Simulation::new(model))
        .collect();
    let begun =
        |system| explore(system, Limits { states: Some(500), ..Limits::default() }, &mut |_| false).checkpoint();
    let checkpoints: Vec<Checkpoint> = all.iter().map(|system| begun(system).expect("it was cut short")).collect();
    for (made_of, checkpoint) in checkpoints.iter().enumerate() {
        for (model, system) in all.iter().enumerate() {
            let found = resume(system, Limits::default(), checkpoint, &mut |_| false);
            assert_eq!(found.is_ok(), made_of == model || *checkpoint == checkpoints[model]);
        }
    }
    assert!(all.len() > 2 && checkpoints[0] != checkpoints[1]);
}

/// Larger than what is explored whole, and small when it is reduced.
fn basket() -> String {
    crate::common::root().join("benches/models/basket-4-agents.toml").display().to_string()
}

const NO_FAULTS: &str = "drop-stream=0,restart-node=0";

#[test]
fn a_run_that_is_gone_on_with_writes_the_same_bytes() {
    let scenario = basket();
    let asked = ["check", &*scenario, "--design", "dedup-only", "--format", "json", "--faults", NO_FAULTS];
    let run = |more: &[&str]| {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let said = handlecheck(folder.path(), &[&asked[..], more].concat());
        (said.out, said.code, folder)
    };
    let left = |folder: &tempfile::TempDir| {
        folder.path().join("traces/basket-4-agents.dedup-only.checkpoint").display().to_string()
    };
    let (out, code, folder) = run(&["--threads", "1"]);
    let wanted = (out, code, written(&folder.path().join("traces")));
    assert!(wanted.0.contains("partial order") && wanted.0.contains(r#""complete": true"#), "{}", wanted.0);
    let (out, code, first) = run(&["--max-states", "5000"]);
    assert!(code == 3 && out.contains(r#""checkpoint": "traces/basket-4-agents.dedup-only.checkpoint""#), "{out}");
    let (_, _, second) = run(&["--max-states", "9000", "--resume", &left(&first)]);
    let (out, code, third) = run(&["--threads", "2", "--resume", &left(&second)]);
    assert!((out, code, written(&third.path().join("traces"))) == wanted, "it ends as if it had not been cut short");
}

#[test]
fn every_search_of_a_run_is_gone_on_with() {
    let invariants = run::invariant_names();
    let scenario = input::resolve(Kind::Scenario, &basket(), None).expect("it is there");
    let scenario = input::read_scenario(&scenario, &invariants).expect("it is readable");
    let design = input::resolve(Kind::Design, "naive", None).expect("it is shipped");
    let design = input::read_design(&design).expect("it is readable");
    let protocol = input::protocol_of(&scenario, None).expect("it is readable");
    let faults = BTreeMap::from([("drop-stream", 0), ("restart-node", 0)]);
    let run = Run::new(scenario, design, protocol, &faults).expect("they fit");
    let said = |report: &Report| {
        let traces: Vec<_> = report.invariants.iter().flat_map(|property| &property.breaks).collect();
        let traces: Vec<_> = traces.iter().filter_map(|found| Some(found.recorded.as_ref()?.to_json())).collect();
        (serde_json::to_string(report).expect("a report is JSON"), traces)
    };
    let options = Options { keep: true, ..Options::default() };
    let once = run.explore(&options, &mut |_| false).expect("it can be recorded");
    assert!(once.begun.is_none());
    let (mut cuts, mut unproved) = (Vec::new(), 0);
    let mut begun: Option<File> = None;
    let last = loop {
        let mut looks = 0;
        let mut watch = |_| {
            looks += 1;
            looks > 12
        };
        let report = match &begun {
            None => run.explore(&options, &mut watch).expect("it can be recorded"),
            Some(begun) => run.resume(begun, &options, &mut watch).expect("it fits"),
        };
        let Some(left) = report.begun.as_ref() else { break report };
        cuts.push((report.complete, report.reductions.is_empty()));
        if !report.complete && !report.reductions.is_empty() {
            assert!(report.reductions.iter().any(|name| name == "dead values"));
            for found in report.invariants.iter().flat_map(|property| &property.breaks) {
                let trace = found.recorded.as_ref().expect("a break has a trace");
                assert!(!found.shortest && trace.steps.len() == found.steps as usize, "it is real, and not proved");
                unproved += 1;
            }
        }
        begun = Some(File::read(&left.to_bytes()).expect("it is whole"));
    };
    assert!(said(&last) == said(&once));
    assert!(unproved > 0, "what a search has found that was cut short is shown");
    // In the whole model, in the reduced one, and where nothing but a shortest break was open.
    for search in [(false, true), (false, false), (true, false)] {
        assert!(cuts.contains(&search), "{cuts:?}");
    }
}

#[test]
fn a_checkpoint_that_does_not_fit_is_refused_with_the_reason() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let path = folder.path();
    let scenario = fs::read_to_string(crate::common::root().join("models/scenarios/two-agents-drop.toml"));
    let scenario = scenario.expect("it is there");
    fs::write(path.join("mine.toml"), &scenario).expect("a file can be written");
    let check = |more: &[&str]| {
        let asked = ["check", "-q", "mine.toml", "--design", "naive", "--invariant", "no-lost-update"];
        let said = handlecheck(path, &[&asked[..], more].concat());
        (said.code, said.err)
    };
    assert_eq!(check(&["--max-states", "300"]).0, 3);
    let file = "traces/mine.naive.checkpoint";
    let bytes = fs::read(path.join(file)).expect("a checkpoint was written");
    let refused = |said: (i32, String), why: &str| {
        assert_eq!(said.0, 2, "{}", said.1);
        assert!(said.1.contains(why), "{} says {why}", said.1);
    };
    refused(
        check(&["--resume", file, "--faults", "drop-stream=2"]),
        "it was made with drop-stream=1, and this run has drop-stream=2",
    );
    refused(check(&["--resume", file, "--invariant", "no-orphan"]), "--invariant no-lost-update");
    refused(check(&["--resume", file, "--no-reduction"]), "it was made without --no-reduction");
    refused(check(&["--resume", file, "--engine", "stateright"]), "stateright can't go on");
    refused(check(&["--resume", "mine.toml"]), "it is no checkpoint");
    refused(check(&["--resume", "nowhere"]), "No such file");
    let other = handlecheck(path, &["check", "-q", "two-agents-drop", "--design", "naive", "--resume", file]);
    refused((other.code, other.err), "it belongs to mine x naive x mcp-2026-07-28");
    for at in [30, bytes.len() / 2, bytes.len() - 1] {
        let mut damaged = bytes.clone();
        damaged[at] ^= 4;
        fs::write(path.join("damaged"), &damaged).expect("a file can be written");
        refused(check(&["--resume", "damaged"]), "it is damaged");
        assert!(File::read(&bytes[..at]).is_err());
    }
    fs::write(path.join("mine.toml"), format!("{scenario}\n# Another text.\n")).expect("a file can be written");
    refused(check(&["--resume", file]), "the scenario mine has changed since it was made");
    fs::write(path.join("mine.toml"), &scenario).expect("a file can be written");
    assert_eq!(check(&["--resume", file]).0, 1);
}
