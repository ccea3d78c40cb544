//! The pictures and stories of traces made by hand, and of traces that nobody should have made.

mod common;
mod hand_made;

use hand_made::random::{HOSTILE, random};
use handlecheck::diagrams::sequence::Shape;
use handlecheck::diagrams::{FORMATS, Sequence, words};
use handlecheck::explain::explain;
use handlecheck::trace::{AnswerNote, Commit, Reaches, Trace};

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
fn an_answer_is_drawn_to_whom_it_reaches() {
    let v7 = hand_made::content("bsk_42", 7, &["16", "512"]);
    let note = hand_made::call("basket", "bsk_42", "", "", 1);
    let answers = |trace: &Trace| {
        let sequence = Sequence::of(trace);
        let names = |agent: usize| sequence.lanes.agents[agent].name.clone();
        let shapes = sequence.rows.iter().map(|row| (&row.shape, &row.label));
        let answers = shapes.filter_map(|(shape, label)| match shape {
            Shape::Answer { agent, received, .. } => Some((names(*agent), *received, label.clone())),
            _ => None,
        });
        answers.collect::<Vec<_>>()
    };
    let mut trace = hand_made::lost_update();
    let strayed = AnswerNote { reaches: Reaches::StreamOf("B-1".to_owned()), ..hand_made::ok(7, Some(&v7)) };
    let [sends, delivers, executes] = [0, 1, 2];
    let of_a = hand_made::three("A", "A-1", "node-1", &note, &["read"], &strayed);
    let of_b = hand_made::three("B", "B-1", "node-1", &note, &["read"], &strayed);
    let receives = hand_made::receive("B", "B-1", &note, &hand_made::ok(7, Some(&v7)));
    trace.steps =
        [&of_a[sends], &of_a[delivers], &of_b[sends], &of_b[delivers], &of_a[executes], &receives, &of_a[sends]]
            .map(Clone::clone)
            .to_vec();
    assert_eq!(answers(&trace), [("B".to_owned(), true, "answer of A-1: ok, sees v7 16 / 512".to_owned())]);
    trace.steps.remove(5);
    let under_way = "answer of A-1: ok, sees v7 16 / 512 (not yet received)";
    assert_eq!(answers(&trace), [("B".to_owned(), false, under_way.to_owned())]);
    let Some(answer) = &mut trace.steps[executes + 2].answer else { panic!("it is answered") };
    answer.reaches = Reaches::Nobody;
    assert_eq!(answers(&trace), []);
    assert!(explain(&trace).contains("finds no stream at step 5: A waits for it in vain"), "{}", explain(&trace));
}

#[test]
fn a_long_run_shares_rows_where_the_violation_does_not_need_them() {
    let mut trace = hand_made::lost_update();
    let short = Sequence::of(&trace).rows.len();
    let mut before = Vec::new();
    for number in 0..12_u16 {
        let request = format!("C-{number}");
        let note = hand_made::call("basket", "bsk_42", "storage 512", "storage 512", 1);
        let answer = hand_made::ok(7, None);
        let mut call = hand_made::three("C", &request, "node-1", &note, &["resolve", "apply"], &answer);
        call[2].commits = vec![Commit {
            agent: "C".to_owned(),
            intent: format!("storage {number}"),
            content: hand_made::content("bsk_42", 7, &["16", "512"]),
            shows: vec![Vec::new(), Vec::new()],
            changed: vec!["storage".to_owned()],
            erased: Vec::new(),
            effects: 1,
            taken_back: false,
        }];
        call.push(hand_made::receive("C", &request, &note, &answer));
        before.extend(call);
    }
    trace.steps.splice(0..0, before);
    let sequence = Sequence::of(&trace);
    assert_eq!(sequence.rows.len(), short + 1, "one more row: {}", explain(&trace));
    assert_eq!((sequence.rows[0].steps, &*sequence.rows[0].label), (Some((1, 48)), "12 writes, store is now v7"));
    assert!(
        explain(&trace).contains("C makes 12 writes of bsk_42 through node-1: store is now v7."),
        "{}",
        explain(&trace)
    );
}

/// What a violation is about is told, though nothing in the trace is about it.
#[test]
fn a_resource_that_nothing_changes_is_told_where_the_violation_names_it() {
    let mut trace = hand_made::lost_update();
    let mut other = trace.resources[0].clone();
    other.name = "savings".to_owned();
    let content = other.initial.as_mut().expect("it is there from the start");
    content.handle = "acc_2".to_owned();
    trace.resources.push(other);
    let told = "Nothing changes acc_2, which stays v7: memory 16, storage 512.";
    assert!(!Sequence::of(&trace).band.sentence.contains("acc_2"));
    trace.sentence = format!("{}, and savings.memory is 16", trace.sentence.trim_end_matches('.'));
    let band = Sequence::of(&trace).band;
    assert!(band.sentence.ends_with(told), "{}", band.sentence);
    for name in ["text", "mermaid", "svg", "plantuml", "dot", "html"] {
        let format = FORMATS.iter().find(|row| row.name == name).unwrap_or_else(|| panic!("there is {name}"));
        let drawn = format.text(&trace).expect("it is a format of text");
        let drawn = drawn.replace("&#95;", "_").replace("~_", "_").replace("#95;", "_");
        assert!(drawn.contains("acc_2"), "{name}:\n{drawn}");
    }
}

#[test]
fn formats_have_names_and_pages() {
    let names: Vec<&str> = FORMATS.iter().map(|format| format.name).collect();
    assert_eq!(names, ["text", "mermaid", "plantuml", "svg", "png", "html", "dot", "itf"]);
    assert!(FORMATS.iter().all(|format| !format.summary().is_empty()));
}
