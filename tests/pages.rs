//! `docs/reference/` and the tables in `docs/limits.md` are made from the product's own tables, and are never out of date.

mod common;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use common::{files, handlecheck, read, region, same};
use handlecheck::action::ACTIONS;
use handlecheck::audit::CHECKS;
use handlecheck::diagrams::FORMATS;
use handlecheck::engine::{self, Limits};
use handlecheck::faults::FAULTS;
use handlecheck::handler::STEPS;
use handlecheck::input::vocabulary::{self, Word};
use handlecheck::input::{Kind, Source, library, protocol_of, read_design, read_protocol, read_scenario};
use handlecheck::invariants::INVARIANTS;
use handlecheck::model::{Outcome, limits};
use handlecheck::outcomes;
use handlecheck::run::{Run, invariant_names};
use handlecheck::step::Simulation;
use handlecheck::table::Row;

/// Says at the top of each page where it comes from.
const MADE: &str = "<!-- Made from the product by tests/pages.rs. `SNAPSHOTS=overwrite cargo test` renews it. -->";

/// A page: a title, what it is about, a table of what is in it, and each thing in turn.
struct Page {
    text: String,
}

/// One thing on a page.
struct Thing {
    name: String,
    line: String,
    body: String,
}

impl Page {
    fn new(title: &str, about: &str) -> Self {
        Self { text: format!("{MADE}\n\n# {title}\n\n{about}\n") }
    }

    fn list(mut self, things: &[Thing]) -> String {
        self.text.push_str("\n| name | |\n| --- | --- |\n");
        for Thing { name, line, .. } in things {
            writeln!(self.text, "| [`{name}`](#{name}) | {} |", line.replace('|', "\\|")).expect("a string");
        }
        for Thing { name, body, .. } in things {
            write!(self.text, "\n## `{name}`\n\n{}\n", body.trim()).expect("a string");
        }
        self.text
    }
}

fn thing<T>(row: &Row<T>, more: &str) -> Thing {
    Thing { name: row.name.to_owned(), line: row.summary(), body: format!("{}\n\n{more}", row.page().trim()) }
}

fn names<'n>(names: impl IntoIterator<Item = &'n str>) -> String {
    names.into_iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

#[test]
fn steps() {
    let things: Vec<Thing> = STEPS
        .iter()
        .map(|row| {
            let outcomes = names(row.outcomes.iter().map(|outcome| outcome.name()));
            let more = if outcomes.is_empty() { String::new() } else { format!("May end a call with {outcomes}.") };
            thing(row, &more)
        })
        .collect();
    let about = "What the transactions of a handler are made of. Everything in one transaction happens atomically; \
between two transactions\nanything may happen. A step that ends the call rolls back what its own transaction did in the \
store.";
    same("docs/reference/steps.md", &Page::new("Steps", about).list(&things));
}

#[test]
fn faults() {
    let things: Vec<Thing> = FAULTS.iter().map(|row| thing(row, "")).collect();
    let about = "What may go wrong. A scenario gives each fault a budget, `[faults]`: it happens at most so often in one \
run, at any point.\nDelay, reordering and pauses need no fault: they are interleavings.";
    same("docs/reference/faults.md", &Page::new("Faults", about).list(&things));
}

#[test]
fn invariants() {
    let things: Vec<Thing> = INVARIANTS
        .iter()
        .map(|row| {
            let anomaly = row.anomaly.as_ref();
            let more = anomaly.map(|anomaly| format!("Known as *{}*: {}.", anomaly.name, anomaly.reference));
            thing(row, &more.unwrap_or_default())
        })
        .collect();
    let about = "What must never happen, whatever the design. Each invariant has a *witness*, the situation that it is \
about: where no run\nreaches it, the verdict is `vacuous` rather than `holds`.";
    same("docs/reference/invariants.md", &Page::new("Invariants", about).list(&things));
}

#[test]
fn checks() {
    let things: Vec<Thing> = CHECKS
        .iter()
        .map(|row| {
            let same = INVARIANTS.iter().any(|other| other.name == row.name);
            let model = if same {
                format!("In the model it is [the invariant of that name](invariants.md#{}).", row.name)
            } else {
                "The model has no invariant of that name.".to_owned()
            };
            let known = row.anomaly.map(|anomaly| format!(" Known as {anomaly}.")).unwrap_or_default();
            thing(row, &format!("About: {}. {model}{known}", row.about))
        })
        .collect();
    let about = "What `handlecheck audit` looks for in a [log of calls](../audit.md). A check is *about* some of the calls, and \
judges\nthose of them on which the log tells enough; what it can't judge it counts, with the reason.";
    same("docs/reference/checks.md", &Page::new("Checks", about).list(&things));
}

#[test]
fn actions() {
    let mut text = Page::new("Actions", "What can happen that is no fault. One action is one step of a trace.").text;
    text.push_str("\n| name | |\n| --- | --- |\n");
    for (name, line) in ACTIONS {
        writeln!(text, "| `{name}` | {line} |").expect("a string");
    }
    text.push_str("\nEverything else that can happen is a [fault](faults.md).\n");
    same("docs/reference/actions.md", &text);
}

#[test]
fn outcomes_of_calls() {
    let thing = |outcome: &Outcome| Thing {
        name: outcome.name().to_owned(),
        line: outcomes::summary(*outcome).to_owned(),
        body: outcomes::page(*outcome),
    };
    let things: Vec<Thing> = Outcome::ALL.iter().map(thing).collect();
    let about = "How a call ends, and how that is put on the wire. All but `ok` are refusals: a step ended the call and its \
transaction was\nrolled back. In MCP a refusal by a tool is a *result* with `isError: true`, which clients give to the \
model; JSON-RPC errors are for\nrequests that reach no tool (MCP 2026-07-28, server/tools). Codes of a server's own lie outside \
of -32768 to -32000.";
    same("docs/reference/outcomes.md", &Page::new("Outcomes", about).list(&things));
}

/// The pages of the words that are no rows of a table.
#[test]
fn words_of_the_files() {
    for (kind, page, title) in [
        ("server-settings", "docs/reference/server-settings.md", "Server settings"),
        ("handler-keys", "docs/reference/handler-keys.md", "Handler keys"),
        ("key-settings", "docs/reference/key-settings.md", "Key settings"),
        ("client-settings", "docs/reference/client-settings.md", "Client settings"),
        ("reactions", "docs/reference/reactions.md", "Reactions"),
        ("deploy-settings", "docs/reference/deploy-settings.md", "Deploy settings"),
        ("protocol-rules", "docs/reference/protocol-rules.md", "Protocol rules"),
        ("tools", "docs/reference/tools.md", "Tools"),
        ("entries", "docs/reference/entries.md", "Entries"),
        ("resource-keys", "docs/reference/resource-keys.md", "Resource keys"),
        ("agent-keys", "docs/reference/agent-keys.md", "Agent keys"),
    ] {
        let kind = vocabulary::KINDS.iter().find(|other| other.name == kind).expect("there is such a kind");
        let thing = |word: Word| Thing { name: word.name.to_owned(), line: word.about, body: word.page };
        let things: Vec<Thing> = (kind.words)().into_iter().map(thing).collect();
        let about = format!("{}{}.", kind.about[..1].to_uppercase(), &kind.about[1..]);
        same(page, &Page::new(title, &about).list(&things));
    }
    assert_eq!(vocabulary::KINDS.len(), 11, "every kind has its page here");
}

#[test]
fn situations() {
    let about =
        "What a run can be asked for: `handlecheck check SCENARIO --show SITUATION` finds the shortest run to it.";
    let mut text = Page::new("Situations", about).text;
    text.push_str("\n| name | reached when |\n| --- | --- |\n");
    for (name, line) in handlecheck::situation::listed() {
        writeln!(text, "| `{name}` | {} |", line.replace('|', "\\|")).expect("a string");
    }
    same("docs/reference/situations.md", &text);
}

#[test]
fn formats() {
    let things: Vec<Thing> =
        FORMATS.iter().map(|row| thing(row, &format!("`handlecheck diagram TRACE --format {}`", row.name))).collect();
    same("docs/reference/formats.md", &Page::new("Formats", "What a trace can be drawn as.").list(&things));
}

#[test]
fn reports() {
    let option = |name: &str| format!("`--format {name}`, or to a file: `--report {name}=FILE`");
    let things: Vec<Thing> = handlecheck::reports::FORMATS.iter().map(|row| thing(row, &option(row.name))).collect();
    let about = "How `check`, `test` and `compare` can report.";
    same("docs/reference/reports.md", &Page::new("Reports", about).list(&things));
}

fn shipped(kind: Kind, title_and_about: impl Fn(&Source) -> (String, String)) -> Vec<Thing> {
    let name = |name: &'static str| {
        let source = library::find(kind, name).expect("it is listed");
        let (title, about) = title_and_about(&source);
        let file = source.origin.replace("built-in/", "models/");
        let body = format!("*{title}.* {}\n\nFile: [`{file}`](../../{file})", about.trim());
        Thing { name: name.to_owned(), line: title, body }
    };
    library::names(kind).into_iter().map(name).collect()
}

#[test]
fn designs() {
    let things = shipped(Kind::Design, |source| {
        let value = read_design(source).expect("it is readable").value;
        (value.title, value.about)
    });
    let about = "How a server handles calls, and how its clients behave. These are built into the command and found by \
name.";
    same("docs/reference/designs.md", &Page::new("Designs", about).list(&things));
}

#[test]
fn scenarios() {
    let things = shipped(Kind::Scenario, |source| {
        let value = read_scenario(source, &invariant_names()).expect("it is readable").value;
        (value.title, value.about)
    });
    let about = "Who is there, what they want, what may go wrong, what must hold. These are built into the command and \
found by name.";
    same("docs/reference/scenarios.md", &Page::new("Scenarios", about).list(&things));
}

#[test]
fn protocols() {
    let things = shipped(Kind::Protocol, |source| {
        let value = read_protocol(source).expect("it is readable").value;
        (value.title, value.about)
    });
    let about = "What the transport and the protocol revision do to calls, streams and ids. These are built into the \
command and found by\nname.";
    same("docs/reference/protocols.md", &Page::new("Protocols", about).list(&things));
}

#[test]
fn commands() {
    let help = |arguments: &[&str]| {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let said = handlecheck(folder.path(), arguments);
        assert_eq!((said.code, &*said.err), (0, ""));
        said.out
    };
    let main = help(&["--help"]);
    let about = "What every command says of itself. All of them have help: `handlecheck COMMAND --help`.";
    let mut text = Page::new("Commands", about).text;
    write!(text, "\n```text\n{main}```\n").expect("a string");
    let commands: Vec<&str> = commands_in(&main);
    assert!(commands.len() > 5, "{main}");
    for command in commands {
        let help = help(&[command, "--help"]);
        write!(text, "\n## `handlecheck {command}`\n\n```text\n{help}```\n").expect("a string");
    }
    same("docs/reference/commands.md", &text);
}

/// The commands that the help lists, without `help` itself.
fn commands_in(help: &str) -> Vec<&str> {
    let lines = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    lines.filter_map(|line| line.split_whitespace().next()).filter(|command| *command != "help").collect()
}

#[test]
fn limits() {
    let values: &[(&str, i128)] = &[
        ("AGENTS", limits::AGENTS as i128),
        ("NODES", limits::NODES as i128),
        ("RESOURCES", limits::RESOURCES as i128),
        ("FIELDS", limits::FIELDS as i128),
        ("INTENTS", limits::INTENTS as i128),
        ("STEPS", limits::STEPS as i128),
        ("ASSERTIONS", limits::ASSERTIONS as i128),
        ("BUDGET", limits::BUDGET.into()),
        ("ATTEMPTS", limits::ATTEMPTS.into()),
        ("NUMBER", limits::NUMBER.into()),
        ("VERSION", limits::VERSION.into()),
        ("FILE_BYTES", limits::FILE_BYTES.into()),
    ];
    let source = read("src/model/mod.rs");
    let declared = constants(&source);
    let known: Vec<&str> = values.iter().map(|(name, _)| *name).collect();
    let found: Vec<&str> = declared.iter().map(|(name, _)| *name).collect();
    assert_eq!(found, known, "this test lists every constant of `model::limits`");
    let mut table = "| limit | of |\n| ---: | --- |\n".to_owned();
    for ((_, doc), (_, value)) in declared.iter().zip(values) {
        writeln!(table, "| {} | {} |", grouped(*value), lower_first(doc.trim_end_matches('.'))).expect("a string");
    }
    region("docs/limits.md", "limits", &table);
}

/// The constants of the module `limits`, with their documentation as one line.
fn constants(source: &str) -> Vec<(&str, String)> {
    let module = source.split_once("pub mod limits {").expect("the module is there").1;
    let module = module.split_once("\n}").expect("it ends").0;
    let mut doc: Vec<&str> = Vec::new();
    let mut constants = Vec::new();
    for line in module.lines().map(str::trim) {
        if let Some(line) = line.strip_prefix("///") {
            doc.push(line.trim());
        } else if let Some(rest) = line.strip_prefix("pub const ") {
            let name = rest.split(':').next().expect("a constant has a type");
            constants.push((name, std::mem::take(&mut doc).join(" ")));
        }
    }
    constants
}

fn lower_first(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map_or_else(String::new, |first| first.to_lowercase().chain(characters).collect())
}

/// A number in groups of three digits.
fn grouped(number: i128) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// The counts of states in the decision about them.
#[test]
fn counts() {
    let budgets: [(u8, u8); 3] = [(0, 0), (1, 0), (1, 1)];
    let mut table = "| design | (0, 0) | (1, 0) | (1, 1) |\n| --- | ---: | ---: | ---: |\n".to_owned();
    for design in ["naive", "dedup-only", "versioned", "check-then-write", "three-transactions"] {
        let counts = budgets.map(|(drops, restarts)| grouped(states("two-agents", design, drops, restarts) as i128));
        writeln!(table, "| `{design}` | {} |", counts.join(" | ")).expect("a string");
    }
    region("docs/decisions/0005-reference-counts.md", "counts", &table);
}

fn states(scenario: &str, design: &str, drops: u8, restarts: u8) -> usize {
    let source = library::find(Kind::Scenario, scenario).expect("it is shipped");
    let scenario = read_scenario(&source, &invariant_names()).expect("it is readable");
    let source = library::find(Kind::Design, design).expect("it is shipped");
    let design = read_design(&source).expect("it is readable");
    let protocol = protocol_of(&scenario, None).expect("it is readable");
    let faults = BTreeMap::from([("drop-stream", drops), ("restart-node", restarts)]);
    let run = Run::new(scenario, design, protocol, &faults).expect("they fit");
    engine::explore(&Simulation::new(run.model().clone()), Limits::default(), &mut |_| false).states()
}

/// Nothing else is in the folder, so nothing in it can go stale.
#[test]
fn every_page_of_the_reference_is_made_here() {
    let made = read("tests/pages.rs");
    for page in files("docs/reference", "") {
        assert!(made.contains(&format!("\"{page}\"")), "{page} is made by no test");
        assert!(read(&page).starts_with(MADE), "{page} says where it comes from");
    }
}

/// Every word that an input can hold is told of in `docs/inputs.md`.
#[test]
fn every_word_of_the_inputs_is_explained() {
    let page = read("docs/inputs.md");
    let mut missing = Vec::new();
    for path in files("src/model", ".rs") {
        let text = read(&path);
        let mut kind = "";
        for line in text.lines() {
            if let Some(name) = line.strip_prefix("    ").and_then(|line| line.strip_suffix(" {")) {
                kind = name;
            }
            let word = line.trim().split_once(" = \"").and_then(|(_, rest)| rest.strip_suffix("\","));
            if let Some(word) = word.filter(|_| line.starts_with("        ")) {
                let mentioned = ["`", "\"", "= "].iter().any(|before| page.contains(&format!("{before}{word}")));
                if !mentioned && kind != "Verdict" {
                    missing.push(format!("{kind}: {word}"));
                }
            }
        }
    }
    assert!(missing.is_empty(), "docs/inputs.md does not tell of {}", missing.join(", "));
    // The settings themselves, as their readers name them.
    for file in ["src/input/design.rs", "src/input/client.rs", "src/input/protocol.rs"] {
        let text = read(file);
        for key in text.split("table.").skip(1).filter(|call| is_a_get(call)).filter_map(|call| call.split('"').nth(1))
        {
            let told = [format!("`{key}`"), format!("`[{key}"), format!("{key} = "), format!("`[client.{key}]`")];
            assert!(told.iter().any(|told| page.contains(told)) || key == "else", "docs/inputs.md tells of {key}");
        }
    }
}

/// Whether this is a call that reads one key.
fn is_a_get(call: &str) -> bool {
    ["word(\"", "words(\"", "get(\""].iter().any(|start| call.starts_with(start))
}
