//! Whole outputs: what a person reads when something is wrong with a file. One bad file for each kind of mistake.

mod assertions;
mod compose;
mod conditions;
mod design;
mod files;
mod handlers;
mod hostile;
mod reactions;
mod scenario;
mod sharing;
mod work;

use snapbox::data::Inline;
use snapbox::{IntoData as _, assert_data_eq};

use handlecheck::input::{Look, Source, read_design, read_protocol, read_scenario};

/// Stand-ins for the names of the product's invariants, which reading takes as they are given.
const INVARIANTS: &[&str] = &["no-lost-update", "no-double-write", "resolves"];

const SCENARIO: &str = r#"title = "Two agents"
nodes = 2

[resources.basket]
handle = "bsk_42"
owner = "user-42"
version = 7
fields = { memory = 16, rows = [] }

[agents.A]
principal = "user-42"
work = [{ read = "basket" }, { set = "basket", memory = 32 }]

[agents.B]
parent = "A"

[faults]
drop-stream = 1
"#;

const DESIGN: &str = r#"title = "Small"

[server.read]
transactions = [["resolve", "read"]]

[server.write]
transactions = [["resolve", "apply"]]

[client]
payload = "change"
"#;

const PROTOCOL: &str = r#"title = "Rules"
resumable = "never"
sessions = false
closed-stream = "cancels"
task-ids = "server"
reissue = "new-request-id"
"#;

/// The text with one part of it replaced.
fn altered(text: &str, part: &str, by: &str) -> String {
    assert_eq!(text.matches(part).count(), 1, "`{part}` stands once in the text");
    text.replace(part, by)
}

/// What reading this scenario answers: its errors, or that there are none.
fn scenario(text: &str) -> String {
    match read_scenario(&Source::new("two-agents", "two-agents.toml", text), INVARIANTS) {
        Ok(_) => "readable\n".to_owned(),
        Err(error) => error.render(Look::Plain),
    }
}

/// As [`scenario`], for the good one with one part replaced.
fn scenario_with(part: &str, by: &str) -> String {
    scenario(&altered(SCENARIO, part, by))
}

/// As [`scenario`], for the good one with a work entry at the end of A's work.
fn entry(entry: &str) -> String {
    scenario_with("memory = 32 }]", &format!("memory = 32 }},\n    {entry},\n]"))
}

fn design(text: &str) -> String {
    match read_design(&Source::new("small", "small.toml", text)) {
        Ok(_) => "readable\n".to_owned(),
        Err(error) => error.render(Look::Plain),
    }
}

fn design_with(part: &str, by: &str) -> String {
    design(&altered(DESIGN, part, by))
}

/// As [`design`], for the good one with lines at its end.
fn design_and(lines: &str) -> String {
    design(&format!("{DESIGN}{lines}\n"))
}

fn protocol(text: &str) -> String {
    match read_protocol(&Source::new("rules", "rules.toml", text)) {
        Ok(_) => "readable\n".to_owned(),
        Err(error) => error.render(Look::Plain),
    }
}

/// Compares a whole output with the one that is written in the test. After a change of wording, read the difference,
/// then let `SNAPSHOTS=overwrite cargo test` write it down.
#[track_caller]
fn reads(output: String, expected: Inline) {
    assert_data_eq!(output, expected.raw());
}
