//! The house rules that a machine can check: which part may know which, where things are, how long files are.

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

use common::{files, read, region, root};
use handlecheck::table::Row;

/// Which part of `src/` may know which others: (part, what it may know). What is not listed is forbidden.
///
/// `action` and `faults` know each other: an action may be a fault, and a fault strikes the target that its action names.
const MAY_KNOW: &[(&str, &[&str])] = &[
    ("engine", &[]),
    ("model", &[]),
    ("suggest", &[]),
    ("table", &[]),
    ("assertion", &["model", "suggest"]),
    ("world", &["assertion", "model"]),
    ("invariants", &["world", "engine", "model", "table"]),
    ("handler", &["world", "engine", "model", "table"]),
    ("harness", &["handler", "world", "engine", "model"]),
    ("action", &["faults", "world"]),
    ("faults", &["action", "harness", "handler", "world", "engine", "model", "table"]),
    // Of actions, faults, steps and invariants it knows the tables, for their names.
    ("situation", &["action", "faults", "handler", "invariants", "world", "assertion", "model", "suggest"]),
    (
        "step",
        &["situation", "action", "faults", "harness", "handler", "invariants", "world", "engine", "assertion", "model"],
    ),
    // Of the handler and the faults it knows the tables, for their names and for where a step can stand.
    ("input", &["assertion", "handler", "faults", "table", "model", "suggest"]),
    ("trace", &["step", "situation", "input", "action", "faults", "invariants", "world", "engine", "model", "suggest"]),
    // Of the handler it knows the table, to name the steps that never ended a call.
    (
        "run",
        &[
            "trace",
            "step",
            "situation",
            "input",
            "action",
            "faults",
            "invariants",
            "handler",
            "world",
            "engine",
            "model",
        ],
    ),
    // Of the tables it knows the names of faults and of anomalies.
    ("policies", &["run", "trace", "step", "input", "action", "faults", "invariants", "handler", "engine", "model"]),
    ("outcomes", &["input", "handler", "model"]),
    // Of the handler it knows the table: which steps can end a call, and what their pages say; of the inputs, which are
    // shipped, for a command that can be typed.
    ("diagrams", &["handler", "input", "model", "trace", "table"]),
    ("explain", &["diagrams", "trace"]),
    ("graph", &["diagrams", "trace", "step", "action", "world", "engine", "model"]),
    // Of the faults it knows their names.
    ("documents", &["diagrams", "explain", "run", "trace", "input", "faults", "model", "suggest"]),
    // Of the invariants it knows the table, for their pages.
    (
        "reports",
        &["audit", "lock", "policies", "run", "step", "diagrams", "trace", "input", "invariants", "table", "model"],
    ),
    ("lock", &["run", "input", "model", "suggest"]),
    ("log", &["input", "model", "suggest"]),
    // Of the invariants it knows the names; of assertions, that a condition is met.
    ("audit", &["assertion", "log", "trace", "input", "invariants", "model", "suggest", "table"]),
    ("schema", &["audit", "run", "step", "lock", "log", "input", "handler", "faults", "model"]),
    ("testing", &["explain", "run", "input", "trace", "model"]),
    // Of assertions it knows that a condition is met.
    ("serve", &["assertion", "model"]),
    // It runs the model beside real servers, and so knows all that a run consists of.
    (
        "drive",
        &[
            "audit", "serve", "log", "run", "trace", "step", "input", "action", "faults", "harness", "handler",
            "world", "engine", "model", "suggest",
        ],
    ),
    ("cli", EVERYTHING),
];

const EVERYTHING: &[&str] = &[
    "action",
    "assertion",
    "audit",
    "diagrams",
    "documents",
    "drive",
    "engine",
    "explain",
    "faults",
    "graph",
    "handler",
    "harness",
    "input",
    "invariants",
    "lock",
    "log",
    "model",
    "outcomes",
    "policies",
    "reports",
    "run",
    "schema",
    "serve",
    "situation",
    "step",
    "suggest",
    "table",
    "trace",
    "world",
];

/// The part of `src/` that a file belongs to.
fn part(path: &str) -> &str {
    let inside = path.strip_prefix("src/").expect("a source file is in src/");
    inside.split('/').next().unwrap_or(inside).trim_end_matches(".rs")
}

/// The parts that a file names: behind `crate::`, or behind as many `super::` as lead out of its own part.
fn knows(path: &str, text: &str) -> BTreeSet<String> {
    let inside = path.trim_start_matches("src/").trim_end_matches(".rs").trim_end_matches("/mod");
    let out = "super::".repeat(inside.split('/').count());
    let mut known = BTreeSet::new();
    for line in text.lines().filter(|line| !line.trim_start().starts_with("//")) {
        for start in ["crate::", &out] {
            for (at, _) in line.match_indices(start) {
                let before = line[..at].chars().next_back();
                if before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':') {
                    continue;
                }
                let rest = &line[at + start.len()..];
                let group = rest.strip_prefix('{').and_then(|rest| rest.split('}').next());
                for name in group.unwrap_or(rest).split(',').take(if group.is_some() { usize::MAX } else { 1 }) {
                    let name: String =
                        name.trim().chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
                    if name.chars().next().is_some_and(|c| c.is_ascii_lowercase()) {
                        known.insert(name);
                    }
                }
            }
        }
    }
    known
}

#[test]
fn every_part_knows_only_what_it_may() {
    let may: BTreeMap<&str, BTreeSet<&str>> =
        MAY_KNOW.iter().map(|(part, known)| (*part, known.iter().copied().collect())).collect();
    let mut wrong = Vec::new();
    let mut seen: BTreeSet<String> = BTreeSet::new();
    for path in files("src", ".rs") {
        let own = part(&path);
        if matches!(own, "lib" | "main") {
            continue;
        }
        seen.insert(own.to_owned());
        let Some(allowed) = may.get(own) else {
            wrong.push(format!("{path} belongs to a part that is not listed"));
            continue;
        };
        for known in knows(&path, &read(&path)) {
            if known != own && !allowed.contains(&*known) {
                wrong.push(format!("{path} knows {known}; {own} may know {allowed:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let listed: BTreeSet<String> = may.keys().map(|part| (*part).to_owned()).collect();
    assert_eq!(seen, listed, "every part is listed, and what is listed is there");
}

/// The canary: the reading of imports sees what it should.
#[test]
fn the_reading_of_imports_sees_them() {
    let known = |path: &str, text: &str| knows(path, text).into_iter().collect::<Vec<_>>();
    assert_eq!(known("src/engine/x.rs", "use crate::world::Agent;"), ["world"]);
    assert_eq!(known("src/engine/x.rs", "    let x = crate::{world::A, model};"), ["model", "world"]);
    assert_eq!(known("src/engine/x.rs", "use super::super::step::Y;"), ["step"]);
    assert_eq!(known("src/engine/mod.rs", "use super::step::Y;"), ["step"]);
    assert_eq!(known("src/table.rs", "use super::step::Y;"), ["step"]);
    assert_eq!(known("src/engine/x.rs", "use super::memo::Y; // crate"), [""; 0]);
    assert_eq!(known("src/engine/x.rs", "//! [`crate::world`]"), [""; 0]);
}

/// The graph in `docs/architecture.md` is what the list above says, without the arrows that follow from others.
#[test]
fn the_map_shows_who_knows_whom() {
    // The two that know each other are one node.
    let node = |part: &'static str| if part == "action" { "faults" } else { part };
    let mut edges: BTreeSet<(&str, &str)> = BTreeSet::new();
    for (part, known) in MAY_KNOW {
        edges.extend(known.iter().map(|known| (node(part), node(known))).filter(|(from, to)| from != to));
    }
    let reaches = |from: &str, to: &str, without: (&str, &str)| {
        let mut seen = BTreeSet::new();
        let mut next = vec![from];
        while let Some(at) = next.pop() {
            for edge in edges.iter().filter(|edge| edge.0 == at && **edge != without) {
                if edge.1 == to {
                    return true;
                }
                if seen.insert(edge.1) {
                    next.push(edge.1);
                }
            }
        }
        false
    };
    for (part, _) in MAY_KNOW {
        assert!(!reaches(node(part), node(part), ("", "")), "{part} knows itself by a detour");
    }
    let mut graph = "```mermaid\ngraph TD\n    faults[action, faults]\n".to_owned();
    for edge in edges.iter().filter(|edge| !reaches(edge.0, edge.1, **edge)) {
        graph.push_str(&format!("    {} --> {}\n", edge.0, edge.1));
    }
    graph.push_str("```\n");
    region("docs/architecture.md", "who knows whom", &graph);
}

/// Everything that may lie at the top.
const TOP: &[&str] = &[
    ".ci",
    ".gitignore",
    "CHANGELOG.md",
    "Cargo.lock",
    "Cargo.toml",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "README.md",
    "benches",
    "build.rs",
    "clippy.toml",
    "docs",
    "fuzz",
    "models",
    "rustfmt.toml",
    "src",
    "tests",
    "traces",
];

/// What git, cargo and editors put there.
const NOT_OURS: &[&str] = &[".git", ".github", ".idea", ".vscode", "target"];

#[test]
fn nothing_unlisted_lies_at_the_top() {
    let there = fs::read_dir(root())
        .expect("the folder can be read")
        .map(|entry| entry.expect("the folder can be read").file_name().into_string().expect("names are UTF-8"));
    let there: BTreeSet<String> = there.filter(|name| !NOT_OURS.contains(&&**name)).collect();
    let listed: BTreeSet<String> = TOP.iter().map(|name| (*name).to_owned()).collect();
    assert_eq!(there, listed, "a new thing at the top is listed in this test, with some thought");
}

/// Every file of a folder that is a table is a row of it, or is named here.
#[track_caller]
fn is_a_table<T>(folder: &str, rows: &[Row<T>], others: &[&str]) {
    let files = fs::read_dir(root().join(folder))
        .expect("the folder can be read")
        .map(|entry| entry.expect("the folder can be read").file_name().into_string().expect("names are UTF-8"));
    let files: BTreeSet<String> =
        files.filter(|name| Path::new(name).extension().is_some_and(|end| end == "rs")).collect();
    let rows = rows.iter().map(|row| format!("{}.rs", row.name.replace('-', "_")));
    let listed: BTreeSet<String> = rows.chain(others.iter().map(|name| (*name).to_owned())).collect();
    assert_eq!(files, listed, "{folder} holds its rows, and what this test names");
}

#[test]
fn a_folder_that_is_a_table_holds_its_rows() {
    use handlecheck::{diagrams, faults, handler, invariants, reports};
    is_a_table(
        "src/handler",
        handler::STEPS,
        &[
            "mod.rs",
            "aspect.rs",
            "basis.rs",
            "calls.rs",
            "handling.rs",
            "intents.rs",
            "program.rs",
            "promises.rs",
            "replies.rs",
        ],
    );
    is_a_table("src/faults", faults::FAULTS, &["mod.rs"]);
    is_a_table("src/invariants", invariants::INVARIANTS, &["mod.rs"]);
    let others = ["mod.rs", "canvas.rs", "causes.rs", "sequence.rs", "story.rs", "words.rs"];
    is_a_table("src/diagrams", diagrams::FORMATS, &others);
    let others = ["mod.rs", "changes.rs", "costs.rs", "matrix.rs", "coverage.rs", "places.rs", "words.rs"];
    is_a_table("src/reports", reports::FORMATS, &others);
}

/// A row's page is its documentation everywhere: it begins with one sentence of its own.
#[test]
fn every_row_has_a_page_that_begins_with_a_sentence() {
    fn check<T>(rows: &[Row<T>]) {
        for row in rows {
            let page = row.page();
            let first = page.split("\n\n").next().unwrap_or_default();
            assert!(first.ends_with(['.', ':']) && !first.starts_with('#'), "{}: {first:?}", row.name);
            assert!(page.lines().all(|line| line.chars().count() <= 120), "{}", row.name);
        }
    }
    use handlecheck::{diagrams, faults, handler, invariants, reports};
    check(handler::STEPS);
    check(faults::FAULTS);
    check(invariants::INVARIANTS);
    check(diagrams::FORMATS);
    check(reports::FORMATS);
}

/// An invariant says in which situation it can be violated, once for readers and once for the report.
#[test]
fn every_invariant_names_its_witness() {
    for row in handlecheck::invariants::INVARIANTS {
        assert!(row.page().contains("**Witness.**"), "{}", row.name);
        assert!(!row.witness.is_empty() && !row.sentence.ends_with('.'), "{}", row.name);
    }
}

/// The most lines of a source file.
const LINES: usize = 500;

/// Files that may be longer: (file, its own most, why).
const LONGER: &[(&str, usize, &str)] = &[
    ("tests/cli/main.rs", 600, "whole outputs, one for each thing that a command can say"),
    ("tests/reference/state.rs", 622, "the whole state of the reference interpreter, in one piece"),
];

#[test]
fn no_source_file_is_too_long() {
    let all = ["src", "tests", "benches", "fuzz/src", "fuzz/fuzz_targets"]
        .into_iter()
        .flat_map(|folder| files(folder, ".rs"));
    for path in all {
        let lines = read(&path).lines().count();
        let most = LONGER.iter().find(|(file, ..)| *file == path).map_or(LINES, |(_, most, _)| *most);
        assert!(lines <= most, "{path} has {lines} lines, and may have {most}: divide it, or say here why not");
    }
    for (path, ..) in LONGER {
        assert!(read(path).lines().count() > LINES, "{path} needs no exception any more");
    }
}

/// Every text file of ours.
fn texts() -> Vec<String> {
    let folders = ["src", "tests", "benches", "docs", "models", ".ci"];
    let inside = folders.into_iter().flat_map(|folder| files(folder, ""));
    let top = TOP.iter().filter(|name| root().join(name).is_file() && **name != "Cargo.lock");
    inside.chain(top.map(|name| (*name).to_owned())).collect()
}

/// What is not done is not in the code but in somebody's list.
#[test]
fn nothing_is_left_for_later() {
    let marks = ["TO".to_owned() + "DO", "FIX".to_owned() + "ME", "X".repeat(3)];
    for path in texts() {
        let text = read(&path);
        for mark in &marks {
            let words = text.split(|c: char| !c.is_ascii_alphanumeric());
            assert!(!words.into_iter().any(|word| word == mark), "{path}: {mark}");
        }
    }
}

#[test]
fn lines_end_as_they_should() {
    for path in texts() {
        let text = read(&path);
        assert!(text.is_empty() || text.ends_with('\n'), "{path} ends with a newline");
        assert!(!text.contains('\r') && !text.contains('\t'), "{path} has neither tabs nor carriage returns");
        // Drawings and outputs are padded as the product pads them.
        if !path.starts_with("tests/") && Path::new(&path).extension().is_none_or(|end| end != "md") {
            let padded = text.lines().find(|line| line.ends_with(' '));
            assert_eq!(padded, None, "{path} has no spaces at the end of a line");
        }
    }
}

/// Also of modules that `cargo fmt` does not see, because a macro declares them. Skipped where there is no rustfmt.
#[test]
fn every_file_is_formatted() {
    let folders = ["src", "tests", "benches"].into_iter().flat_map(|folder| files(folder, ".rs"));
    let paths: Vec<String> = folders.chain(["build.rs".to_owned()]).collect();
    let mut command = Command::new("rustfmt");
    let output = command.args(["--check", "-l", "--edition", "2024"]).args(&paths).current_dir(root()).output();
    if let Ok(output) = output {
        let unformatted = String::from_utf8_lossy(&output.stdout);
        let errors = String::from_utf8_lossy(&output.stderr);
        let missing = errors.contains("is not installed");
        assert!(missing || output.status.success(), "to be formatted:\n{unformatted}{errors}");
    }
}
