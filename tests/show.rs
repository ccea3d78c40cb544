//! `check --show`: the shortest run to a situation is found, is written down, and replays; what can't be reached is said.

mod common;

use std::collections::BTreeMap;
use std::sync::Arc;

use common::handlecheck;
use handlecheck::diagrams::sequence::Shape;
use handlecheck::diagrams::{FORMATS, Sequence};
use handlecheck::engine::second;
use handlecheck::explain::explain;
use handlecheck::input::{Kind, Source, library, protocol_of, read_design, read_scenario};
use handlecheck::run::{Options, Report, Run, invariant_names};
use handlecheck::situation::{Situation, parse};
use handlecheck::step::Simulation;
use handlecheck::trace::{ReplayError, Trace, replay};

fn run(scenario: &str, design: &str) -> Run {
    let scenario = library::find(Kind::Scenario, scenario).expect("it is shipped");
    let scenario = read_scenario(&scenario, &invariant_names()).expect("it is readable");
    let design = read_design(&library::find(Kind::Design, design).expect("it is shipped")).expect("it is readable");
    let protocol = protocol_of(&scenario, None).expect("it is readable");
    Run::new(scenario, design, protocol, &BTreeMap::new()).expect("they fit")
}

fn situations(run: &Run, names: &[&str]) -> Vec<Situation> {
    let parsed = names.iter().map(|name| parse(name, &run.model().scenario).expect("it is a situation"));
    parsed.collect()
}

fn explore(run: &Run, names: &[&str]) -> Report {
    let options = Options { shows: situations(run, names), ..Options::default() };
    run.explore(&options, &mut |_| false).expect("it can be written down")
}

/// The trace of the shortest run to a situation.
fn shown(scenario: &str, design: &str, situation: &str) -> Trace {
    let found = explore(&run(scenario, design), &[situation]);
    let shortest = found.shows[0].runs.first().and_then(|found| found.recorded.as_deref());
    shortest.unwrap_or_else(|| panic!("{situation} is reached")).clone()
}

/// What a format draws, on one line.
fn drawn(trace: &Trace, format: &str) -> String {
    let format = FORMATS.iter().find(|row| row.name == format).expect("it is a format");
    let text = format.text(trace).expect("it is text");
    let words: String = text.chars().map(|letter| if "│┃".contains(letter) { ' ' } else { letter }).collect();
    let words = words.replace("<br/>", " ").replace("\\n", " ");
    // PlantUML takes every other letter by its number.
    let words = words.replace("&#8599;", "↗").replace("&#9670;", "◆").replace("&#9671;", "◇").replace("&#95;", "_");
    words.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What has no shape of its own has a sign before its words, and another one in each case.
#[test]
fn effects_outside_and_leases_have_signs() {
    let arrow = ("h-4v8h8v-4m-4 0l6-6m-5 0h5v5", '↗', "the external effect of margin + 100");
    let shut = ("0 0 1 5 0v2", '◆', "A holds the lease on file_1 from now on");
    let open = ("0 0 1 5 0M", '◇', "A gives the lease on file_1 back");
    let lease = ("lock-outlives-its-lease", "lock-outlives-its-lease-broken");
    let effect = ("one-tool-without-key", "one-tool-without-key-broken");
    for ((scenario, design), situation, signs, others) in [
        (effect, "told:ok", &[arrow][..], &[shut, open][..]),
        (lease, "ok", &[shut][..], &[arrow, open][..]),
        (lease, "told:ok", &[shut, open][..], &[arrow][..]),
    ] {
        let trace = shown(scenario, design, situation);
        for format in ["text", "mermaid", "plantuml"] {
            let drawn = drawn(&trace, format);
            for (_, sign, words) in signs {
                assert!(drawn.contains(&format!("{sign} {words}")), "{format}: {drawn}");
            }
            assert!(others.iter().all(|(_, sign, _)| !drawn.contains(*sign)), "{format}: {drawn}");
        }
        for format in ["svg", "html"] {
            let drawn = drawn(&trace, format);
            assert!(signs.iter().all(|(path, ..)| drawn.contains(path)), "{format}: {drawn}");
            assert!(others.iter().all(|(path, ..)| !drawn.contains(path)), "{format}: {drawn}");
        }
    }
}

/// Where nothing is violated, nothing looks as if something were: the step and the end are marked otherwise in every format.
#[test]
fn a_situation_is_not_drawn_as_a_violation() {
    let mut trace = shown("two-agents-drop", "versioned", "stale-view");
    let marks = [
        ("text", "✓ stale-view reached", "✗"),
        ("mermaid", "rgba(46, 160, 67, 0.18)", "rgba(214, 69, 61, 0.18)"),
        ("plantuml", "#E6F4EA", "#FDECEB"),
        ("svg", "class=\"h-metfill\"", "class=\"h-badfill\""),
        ("html", "class=\"verdict met\"", "class=\"verdict\""),
        ("dot", "#18722f", "#b3261e"),
    ];
    for (format, met, bad) in marks {
        let text = drawn(&trace, format);
        assert!(text.contains(met) && !text.contains(bad), "{format}: {text}");
    }
    // The same run, as if it showed a violation.
    trace.shows = None;
    for (format, met, bad) in marks {
        let text = drawn(&trace, format);
        assert!(text.contains(bad) && !text.contains(met), "{format}: {text}");
    }
}

/// What a node answers out of its cache does not come from the store, though the same transaction looks there too.
#[test]
fn a_read_that_is_answered_from_a_cache_stays_at_its_node() {
    let trace = shown("cache-without-caller", "cache-without-caller-broken", "witness:no-cross-principal");
    let of = |trace: &Trace| -> Vec<bool> {
        let shapes = Sequence::of(trace).rows.into_iter().filter_map(|row| match row.shape {
            Shape::Transaction { store, .. } => Some(store.is_some()),
            _ => None,
        });
        shapes.collect()
    };
    assert_eq!(of(&trace), [true, false], "{}", explain(&trace));
    let mut fresh = trace.clone();
    fresh.steps.iter_mut().for_each(|step| step.notes.clear());
    assert_eq!(of(&fresh), [true, true]);
}

#[test]
fn what_a_hand_off_carries_is_drawn_and_told() {
    let source = library::find(Kind::Scenario, "same-field-one-view").expect("it is shipped");
    let whole = "carries = [\"handle\", \"version\", \"content\"]";
    assert!(source.text.contains(whole));
    let design =
        read_design(&library::find(Kind::Design, "versioned").expect("it is shipped")).expect("it is readable");
    for (carries, said) in [
        (whole, Some("it carries the version and the content: v7 16 / 512")),
        ("carries = [\"handle\", \"version\"]", Some("it carries the version, v7")),
        ("carries = [\"handle\", \"content\"]", Some("it carries the content, 16 / 512, and no version")),
        ("carries = [\"handle\"]", None),
    ] {
        let source = Source { text: source.text.replace(whole, carries).into(), ..source.clone() };
        let scenario = read_scenario(&source, &invariant_names()).expect("it is readable");
        let protocol = protocol_of(&scenario, None).expect("it is readable");
        let run = Run::new(scenario, design.clone(), protocol, &BTreeMap::new()).expect("they fit");
        let found = explore(&run, &["hand-off"]);
        let trace = found.shows[0].runs[0].recorded.as_deref().expect("it has a trace");
        for format in ["text", "mermaid", "plantuml", "svg"] {
            // The picture breaks lines where it needs to.
            let plain = drawn(trace, format).replace("</tspan>", " ");
            let says = |words: &str| words.split_whitespace().all(|word| plain.contains(word));
            assert_eq!(plain.contains("it carries"), said.is_some(), "{format}: {plain}");
            assert!(said.is_none_or(says), "{format}: {plain}");
        }
        let story = explain(trace).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.map_or(!story.contains("carries the"), |said| story.contains(&said[3..])), "{story}");
    }
}

/// Situations of two agents that change one basket, one of whose streams may break, with the steps and faults of the
/// shortest run to each. A read takes four steps (send, deliver, execute, receive), a write as many.
const REACHED: &[(&str, u32, u32)] = &[
    ("send", 1, 0),
    ("deliver", 2, 0),
    ("execute", 3, 0),
    ("ok", 3, 0),
    ("receive", 4, 0),
    // One stream breaks as soon as something was sent.
    ("drop-stream", 2, 1),
    ("on:broken-stream", 2, 1),
    ("on:broken-stream:same", 2, 1),
    // Both have read; one writes; the other's write is executed.
    ("stale-view", 14, 0),
    ("check-version", 14, 0),
    ("check-version:stale-view", 14, 0),
    ("on:stale-view:replan", 15, 0),
    // A reads and writes, its write is executed, its stream breaks, and it sends again.
    ("replayed", 11, 1),
    ("find-key:replayed", 11, 1),
    ("witness:no-double-write", 11, 1),
    ("told:ok", 8, 0),
    ("basket.memory == 32", 7, 0),
    ("basket.memory == 32 && told.A == ['ok']", 8, 0),
    ("told.A == ['ok'] && told.B == ['ok']", 16, 0),
    ("quiescent", 16, 0),
    ("resolved", 16, 0),
    ("all-ok", 16, 0),
    // True at the start.
    ("basket.memory == 16", 0, 0),
];

#[test]
fn the_shortest_run_to_a_situation_is_found_written_down_and_replays() {
    let run = run("two-agents-drop", "versioned");
    let names: Vec<&str> = REACHED.iter().map(|(name, ..)| *name).collect();
    let report = explore(&run, &names);
    assert!(report.invariants.is_empty(), "nothing else is checked");
    let found: Vec<(&str, u32, u32)> = report
        .shows
        .iter()
        .map(|show| {
            let shortest = show.runs.first().unwrap_or_else(|| panic!("{} is not reached", show.situation));
            (&*show.situation, shortest.steps, shortest.faults)
        })
        .collect();
    assert_eq!(found, REACHED);
    for show in &report.shows {
        for found in &show.runs {
            let trace = found.recorded.as_deref().expect("a run is written down");
            let again = Trace::from_json(&trace.to_json()).expect("what is written can be read");
            assert_eq!((&again, again.shows.as_ref(), &*again.invariant), (trace, Some(&show.situation), ""));
            assert_eq!(replay(&again).expect("it replays").len(), found.steps as usize);
            assert!(explain(trace).contains(&show.situation));
            for format in FORMATS {
                assert!(!format.drawn(trace).is_empty(), "{}", format.name);
            }
        }
    }
}

/// Stateright's search, which shares nothing but the steps, finds runs of the same length.
#[test]
fn the_second_engine_finds_runs_as_short() {
    let run = run("two-agents-no-faults", "versioned");
    let names = ["check-version:stale-view", "on:stale-view:replan", "told:ok", "all-ok", "basket.storage == 1024"];
    let report = explore(&run, &names);
    let simulation = Arc::new(Simulation::new(run.model().clone()).showing(&situations(&run, &names)));
    let first = simulation.properties().len() - names.len();
    for (index, show) in report.shows.iter().enumerate() {
        let path = second::shortest(&simulation, first + index, &mut |_| false).expect("it is reached");
        assert_eq!(
            u32::try_from(path.len() - 1).ok(),
            show.runs.first().map(|found| found.steps),
            "{}",
            show.situation
        );
    }
}

#[test]
fn a_run_that_does_not_reach_its_situation_any_more_does_not_replay() {
    let run = run("two-agents-drop", "versioned");
    let report = explore(&run, &["told:ok"]);
    let trace = report.shows[0].runs[0].recorded.as_deref().expect("a run is written down");
    let other = |name: &str| Trace { shows: Some(name.to_owned()), ..trace.clone() };
    assert!(replay(&other("receive")).is_ok());
    assert!(matches!(replay(&other("stale-view")), Err(ReplayError::NotReached(_))));
    assert!(matches!(replay(&other("no-such-thing")), Err(ReplayError::Situation(..))));
    // The last step, which would reach it, is missing.
    let mut cut = trace.clone();
    cut.steps.pop();
    assert!(matches!(replay(&cut), Err(ReplayError::NotReached(_))));
}

/// An assertion can be asked for by its name; one with the name of a word by `assertion:` and its name.
#[test]
fn assertions_are_situations() {
    let run = run("laptop-basket", "versioned");
    let scenario = &run.model().scenario;
    let name = &scenario.finally[0].name;
    let parsed = parse(name, scenario).expect("it is one");
    assert_eq!(parsed, Situation::Assertion(name.clone()));
    assert_eq!(parse(&format!("assertion:{name}"), scenario).as_ref(), Ok(&parsed));
    assert_eq!(parse(&parsed.name(), scenario).as_ref(), Ok(&parsed));
}

#[test]
fn the_command_says_what_is_reached_and_what_is_not() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let show = |more: &[&str]| {
        let arguments = ["check", "two-agents-drop", "--design", "versioned", "-q", "--show"];
        handlecheck(folder.path(), &[&arguments, more].concat())
    };
    let said = show(&["on:stale-view:replan"]);
    assert_eq!(said.code, 0);
    let file = "traces/two-agents-drop.versioned.show-on-stale-view-replan.json";
    assert!(said.out.contains(&format!("15 steps, no faults: handlecheck diagram {file}")), "{}", said.out);
    assert!(said.out.contains("B receives the answer of B-2: stale-view"), "{}", said.out);
    let said = handlecheck(folder.path(), &["replay", file]);
    assert_eq!((said.code, &*said.out), (0, &*format!("{file}: 15 steps replayed, on:stale-view:replan is reached\n")));

    let said = show(&["expire-handle"]);
    assert_eq!(said.code, 1);
    assert!(said.out.contains("not reached  expire-handle\n    expire-handle has no budget here"), "{}", said.out);
    let said = show(&["all-ok", "--show", "on:locked"]);
    assert_eq!(said.code, 1);
    assert!(said.out.contains("no step of this design ends a call with locked"), "{}", said.out);
    let said = show(&["all-ok", "--max-states", "20"]);
    assert_eq!(said.code, 3, "{}", said.out);
    // An invariant is checked besides where it is named.
    let said = show(&["all-ok", "--invariant", "no-lost-update"]);
    assert!(said.out.contains("holds        no-lost-update") && !said.out.contains("no-double-write"), "{}", said.out);

    for (wrong, help) in [
        ("chek-version", "did you mean `check-version`?"),
        ("on:stale-view:replann", "did you mean `on:stale-view:replan`?"),
        ("apply", "`apply` never ends a call"),
        ("basket.memry == 32", "did you mean `memory`?"),
        ("basket.memory = 32", "`==` compares"),
        ("", "there is no situation"),
    ] {
        let said = show(&[wrong]);
        assert_eq!(said.code, 2, "{wrong}");
        assert!(said.err.contains(help) && said.err.contains("--show"), "{}", said.err);
    }
}

/// Reactions are counted, and those of the files that never happen are named.
#[test]
fn coverage_counts_reactions_and_says_what_never_happened() {
    let report = explore(&run("two-agents-no-faults", "versioned"), &[]);
    let reactions: Vec<(&str, Vec<&str>)> =
        report.reactions.iter().map(|(event, row)| (&**event, row.keys().map(String::as_str).collect())).collect();
    assert_eq!(reactions, [("stale-view", vec!["replan"])]);
    let (refused, reacted) = (report.steps["check-version"]["stale-view"], report.reactions["stale-view"]["replan"]);
    assert!(refused > 0 && reacted > 0);
    assert_eq!(report.outcomes["stale-view"], refused, "no other step refuses so");
    assert_eq!(report.steps["find-key"]["replayed"], 0, "no stream breaks");
    assert!(report.never_refused.contains(&"find-key".to_owned()) && report.never.is_empty(), "{:?}", report.never);

    let (scenario, design) = ("two-agents-no-faults", "naive");
    let report = explore(&run(scenario, design), &[]);
    assert!(report.reactions.is_empty(), "the naive server refuses nothing");
}

/// Every format that is asked for a situation tells of it, or refuses before anything is explored.
#[test]
fn each_format_tells_of_situations_or_has_no_place_for_them() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let say = |format: &str| {
        let line = "check -q two-agents-no-faults --design versioned --show stale-view --show told:failure --format";
        let words: Vec<&str> = line.split(' ').chain([format]).collect();
        common::handlecheck(folder.path(), &words)
    };
    for (format, reached, missed) in [
        ("human", "reached      stale-view", "not reached  told:failure"),
        ("json", "\"situation\": \"stale-view\",\n          \"reached\": true", "\"reached\": false"),
        ("markdown", "| `stale-view` | reached | 14 steps, no faults |", "| `told:failure` | not reached |  |"),
        ("csv", "situation,stale-view,reached,,14,0,", "situation,told:failure,not-reached,,,,"),
        ("junit", "tests=\"2\" skipped=\"0\" failures=\"1\"", "type=\"not reached\""),
    ] {
        let said = say(format);
        assert!(said.code == 1 && said.out.contains(reached) && said.out.contains(missed), "{format}: {}", said.out);
    }
    for format in ["sarif", "svg"] {
        let said = say(format);
        assert!(said.code == 2 && said.err.contains("has no place for situations"), "{format}: {}", said.err);
    }
}
