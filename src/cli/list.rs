//! `list`: what there is, and its page.

use std::fmt::Write;

use super::{Failure, Terminal, exit};
use crate::action::ACTIONS;
use crate::input::vocabulary::{self, Word};
use crate::input::{self, Kind, library};
use crate::model::Outcome;
use crate::outcomes;
use crate::run::invariant_names;
use crate::situation;
use crate::suggest::{did_you_mean, nearest};
use crate::table::Row;

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// What to list, `steps` say: without it, the kinds of things that there are; or a word, whose page is shown
    #[arg(value_name = "KIND")]
    kind: Option<String>,
    /// Show the page of this one
    name: Option<String>,
}

/// One thing that can be listed.
struct Item {
    name: String,
    line: String,
    page: String,
}

/// The kinds of things that there are, and what each is.
const KINDS: &[(&str, &str)] = &[
    ("steps", "what a handler's transactions are made of"),
    ("faults", "what may go wrong, within a budget"),
    ("invariants", "what must never happen"),
    ("actions", "what can happen that is no fault"),
    ("outcomes", "how a call ends, and how that is put on the wire"),
    ("designs", "shipped designs: how a server handles calls, and how its clients behave"),
    ("scenarios", "shipped scenarios: who is there, what they want, what may go wrong"),
    ("protocols", "shipped protocols: what happens to calls, streams and ids"),
    ("checks", "what `audit` looks for in a log of calls"),
    ("formats", "what a trace can be drawn as"),
    ("reports", "how `check`, `test` and `compare` can report"),
    ("situations", "what `check --show` can be asked for"),
];

/// The kinds, those of the words of files among them.
fn kinds() -> impl Iterator<Item = (&'static str, &'static str)> {
    KINDS.iter().copied().chain(vocabulary::KINDS.iter().map(|kind| (kind.name, kind.about)))
}

pub(super) fn run(arguments: &Arguments, _: Terminal, out: &mut String) -> Result<u8, Failure> {
    let Some(kind) = arguments.kind.as_deref() else {
        for (kind, about) in kinds() {
            writeln!(out, "{kind:<16} {about}").expect("writing to a string doesn't fail");
        }
        return Ok(exit::HOLDS);
    };
    if arguments.name.is_none() && kinds().all(|(name, _)| name != kind) {
        return word(kind, out);
    }
    let items = items(kind)?;
    let Some(name) = &arguments.name else {
        let width = items.iter().map(|item| item.name.len()).max().unwrap_or(0);
        for item in &items {
            writeln!(out, "{:<width$}  {}", item.name, item.line).expect("writing to a string doesn't fail");
        }
        return Ok(exit::HOLDS);
    };
    let item = items.iter().find(|item| item.name == *name).ok_or_else(|| {
        let names = items.iter().map(|item| &*item.name);
        let help = did_you_mean(name, names).map_or_else(String::new, |help| format!("; {help}"));
        Failure::Usage(format!("there is no `{name}` among the {kind}{help}"))
    })?;
    *out = format!("{}\n\n{}\n", item.name, item.page.trim_end());
    Ok(exit::HOLDS)
}

/// Shows the page of a word that was asked for without its kind, or its pages, where it is of several kinds.
fn word(name: &str, out: &mut String) -> Result<u8, Failure> {
    let mut found = Vec::new();
    let mut all = Vec::new();
    for (kind, _) in kinds() {
        for item in items(kind)? {
            if item.name == name {
                found.push((kind, item));
            } else {
                all.push((kind, item.name));
            }
        }
    }
    // A situation is named by a word of another kind, whose page says more.
    if found.len() > 1 {
        found.retain(|(kind, _)| *kind != "situations");
    }
    if !found.is_empty() {
        let page =
            |(kind, item): &(&str, Item)| format!("{} (one of the {kind})\n\n{}\n", item.name, item.page.trim_end());
        *out = found.iter().map(page).collect::<Vec<_>>().join("\n");
        return Ok(exit::HOLDS);
    }
    let names = kinds().map(|(kind, _)| kind).chain(all.iter().map(|(_, name)| &**name));
    let help = match nearest(name, names) {
        None => "`handlecheck list` says which kinds of things there are".to_owned(),
        Some(near) => match all.iter().find(|(_, name)| name == near) {
            Some((kind, _)) => format!("did you mean `handlecheck list {kind} {near}`?"),
            None => format!("did you mean `{near}`?"),
        },
    };
    Err(Failure::Usage(format!("there is no kind and no word `{name}`; {help}")))
}

fn items(kind: &str) -> Result<Vec<Item>, Failure> {
    Ok(match kind {
        "steps" => rows(crate::handler::STEPS),
        "faults" => rows(crate::faults::FAULTS),
        "invariants" => rows(crate::invariants::INVARIANTS),
        "checks" => rows(crate::audit::CHECKS),
        "formats" => rows(crate::diagrams::FORMATS),
        "reports" => rows(crate::reports::FORMATS),
        "actions" => {
            let item = |(name, line): &(&str, &str)| Item {
                name: (*name).to_owned(),
                line: (*line).to_owned(),
                page: format!("Action: {line}."),
            };
            ACTIONS.iter().map(item).collect()
        }
        "outcomes" => {
            let item = |outcome: &Outcome| Item {
                name: outcome.name().to_owned(),
                line: outcomes::summary(*outcome).to_owned(),
                page: outcomes::page(*outcome),
            };
            Outcome::ALL.iter().map(item).collect()
        }
        "designs" => shipped(Kind::Design)?,
        "scenarios" => shipped(Kind::Scenario)?,
        "protocols" => shipped(Kind::Protocol)?,
        "situations" => situation::listed()
            .into_iter()
            .map(|(name, line)| Item { page: format!("Reached when {line}.\n\n`check --show {name}`"), name, line })
            .collect(),
        other => {
            if let Some(kind) = vocabulary::KINDS.iter().find(|kind| kind.name == other) {
                let item = |word: Word| Item { name: word.name.to_owned(), line: word.about, page: word.page };
                return Ok((kind.words)().into_iter().map(item).collect());
            }
            let help =
                did_you_mean(other, kinds().map(|(kind, _)| kind)).map_or_else(String::new, |help| format!("; {help}"));
            return Err(Failure::Usage(format!("there are no `{other}`{help}")));
        }
    })
}

fn rows<T>(rows: &'static [Row<T>]) -> Vec<Item> {
    let item = |row: &Row<T>| Item { name: row.name.to_owned(), line: row.summary(), page: row.page() };
    rows.iter().map(item).collect()
}

/// The page of a shipped model is its file.
fn shipped(kind: Kind) -> Result<Vec<Item>, Failure> {
    let mut items = Vec::new();
    for name in library::names(kind) {
        let source = library::find(kind, name).expect("a listed name is there");
        let line = match kind {
            Kind::Scenario => input::read_scenario(&source, &invariant_names())?.value.title,
            Kind::Design => input::read_design(&source)?.value.title,
            Kind::Protocol => input::read_protocol(&source)?.value.title,
        };
        items.push(Item { name: name.to_owned(), line, page: source.text.to_string() });
    }
    Ok(items)
}
