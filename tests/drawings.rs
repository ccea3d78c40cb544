//! The pictures and stories of traces made by hand, and of traces that nobody should have made.

mod common;
mod hand_made;

use hand_made::random::{HOSTILE, random};
use handlecheck::diagrams::{FORMATS, words};
use handlecheck::explain::explain;
use handlecheck::trace::Trace;

/// Every rendering of a trace, with the ending of its file name.
fn renderings(trace: &Trace) -> Vec<(String, String)> {
    let drawn = FORMATS.iter().filter_map(|format| Some((format.extension.to_owned(), format.text(trace)?)));
    drawn.chain([("story.txt".to_owned(), explain(trace))]).collect()
}

/// Compares with the files in `tests/golden-diagrams`.
#[track_caller]
fn compare(name: &str, trace: &Trace) {
    for (ending, drawn) in renderings(trace) {
        common::same(&format!("tests/golden-diagrams/{name}.{ending}"), &drawn);
    }
}

#[test]
fn a_lost_update_looks_as_before() {
    compare("lost-update", &hand_made::lost_update());
}

#[test]
fn a_double_write_looks_as_before() {
    compare("double-write", &hand_made::double_write());
}

#[test]
fn everything_else_looks_as_before() {
    compare("everything", &hand_made::everything());
}

#[test]
fn a_trace_drawn_after_a_round_trip_through_its_file_is_the_same() {
    let trace = hand_made::everything();
    let read = Trace::from_json(&trace.to_json()).expect("we wrote it");
    assert_eq!(renderings(&trace), renderings(&read));
}

/// Three agents, two nodes and a store fit into a hundred columns; so does any drawing with few lanes.
#[test]
fn drawings_of_few_lanes_keep_to_a_hundred_columns() {
    for trace in [hand_made::lost_update(), hand_made::double_write(), hand_made::everything()] {
        for (ending, drawn) in renderings(&trace).into_iter().filter(|(ending, _)| ending.ends_with("txt")) {
            let command = words::replay(&trace);
            for line in drawn.lines().filter(|line| *line != command) {
                assert!(words::width(line) <= 100, "{ending}: {line}");
            }
        }
    }
}

/// Nothing in a trace makes a drawing panic, differ from one time to the next, or send a control character to a terminal.
#[test]
fn no_trace_is_too_strange() {
    for seed in 0..500 {
        let few = if seed % 2 == 0 { &HOSTILE[..4] } else { HOSTILE };
        let trace = random(seed, few);
        let drawn = renderings(&trace);
        assert_eq!(drawn, renderings(&trace), "seed {seed}");
        for (ending, text) in drawn {
            assert!(text.ends_with('\n'), "seed {seed}, {ending}");
            assert!(
                text.chars().all(|letter| letter == '\n' || !letter.is_control()),
                "seed {seed}, {ending}:\n{text}"
            );
            if ending == "mmd" {
                assert_well_formed(&text, seed);
            }
        }
    }
}

/// What can be said of a Mermaid diagram without Mermaid: blocks are closed, and nothing of a user's ends a statement.
fn assert_well_formed(text: &str, seed: u64) {
    let count = |word: &str| text.lines().filter(|line| line.trim().starts_with(word)).count();
    assert_eq!(
        count("box ") + count("rect "),
        text.lines().filter(|line| line.trim() == "end").count(),
        "seed {seed}:\n{text}"
    );
    for line in text.lines().filter(|line| !line.trim().starts_with("%%")) {
        let mut rest = line;
        while let Some(at) = rest.find(['#', ';']) {
            let entity = rest[at..].strip_prefix('#').and_then(|after| after.split_once(';'));
            let Some((digits, after)) = entity else { panic!("seed {seed}: {line}") };
            assert!(!digits.is_empty() && digits.chars().all(|digit| digit.is_ascii_digit()), "seed {seed}: {line}");
            rest = after;
        }
        assert!(!line.replace("<br/>", "").contains(['<', '"', '&', '%', '$']), "seed {seed}: {line}");
    }
}

#[test]
fn a_trace_without_steps_is_drawn_too() {
    let mut trace = hand_made::lost_update();
    trace.steps.clear();
    for (ending, drawn) in renderings(&trace) {
        assert!(drawn.contains("no-lost-update"), "{ending}: {drawn}");
    }
}

#[test]
fn a_repeated_request_names_the_step_that_it_repeats() {
    let drawn = renderings(&hand_made::double_write());
    for (ending, drawn) in drawn {
        // The causal order and the states have no room for it.
        if ["dot", "itf.json"].contains(&&*ending) {
            continue;
        }
        let joined = drawn.replace("<br/>", " ").replace("\\n", " ");
        assert!(joined.contains("the same call as step 5, in a new request"), "{ending}: {drawn}");
    }
}

#[test]
fn formats_have_names_and_pages() {
    let names: Vec<&str> = FORMATS.iter().map(|format| format.name).collect();
    assert_eq!(names, ["text", "mermaid", "plantuml", "svg", "png", "html", "dot", "itf"]);
    assert!(FORMATS.iter().all(|format| !format.summary().is_empty()));
}
