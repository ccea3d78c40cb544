//! The command that looks for what would have stopped a run, as it can be typed.

use std::collections::BTreeMap;

use crate::diagrams::words;
use crate::input::{Kind, library};
use crate::model::protocol::DEFAULT_PROTOCOL;
use crate::trace::{Input, Trace};

/// `handlecheck repair SCENARIO --design DESIGN`, with the protocol and the budgets where they are not the usual ones.
pub(super) fn search(trace: &Trace) -> String {
    let scenario: toml::Table = toml::from_str(&trace.scenario.text).unwrap_or_default();
    let mut command = vec![
        "handlecheck repair".to_owned(),
        words::argument(&named(Kind::Scenario, &trace.scenario)),
        "--design".to_owned(),
        words::argument(&named(Kind::Design, &trace.design)),
    ];
    let usual = scenario.get("protocol").and_then(toml::Value::as_str).unwrap_or(DEFAULT_PROTOCOL);
    let protocol = named(Kind::Protocol, &trace.protocol);
    if usual != protocol && usual != trace.protocol.name {
        command.extend(["--protocol".to_owned(), words::argument(&protocol)]);
    }
    if let Some(faults) = faults(trace, &scenario) {
        command.extend(["--faults".to_owned(), words::argument(&faults)]);
    }
    command.join(" ")
}

/// How an input is named on a command line: by its file as it was asked for, by its name where it is shipped, and else by the
/// file that it would stand in.
fn named(kind: Kind, input: &Input) -> String {
    let one = |input: &Input, name: &str| match &input.file {
        Some(file) => file.clone(),
        None if library::find(kind, name).is_some() => name.to_owned(),
        None => format!("{name}.{}.toml", kind.name()),
    };
    let Some(deployed) = &input.deployed else { return one(input, &input.name) };
    let old = input.name.strip_suffix(&deployed.name).and_then(|name| name.strip_suffix(".."));
    format!("{}..{}", one(input, old.unwrap_or(&input.name)), one(deployed, &deployed.name))
}

/// The budgets of the run that are not those of its scenario.
fn faults(trace: &Trace, scenario: &toml::Table) -> Option<String> {
    // Without the text of its scenario nothing is known of its budgets.
    let own = scenario.get("agents").map(|_| scenario.get("faults").and_then(toml::Value::as_table))?;
    let own = own.into_iter().flatten().filter_map(|(fault, budget)| Some((fault.as_str(), budget.as_integer()?)));
    let mut other: BTreeMap<&str, i64> = own.collect();
    let run = trace.bounds.iter().map(|(fault, budget)| (fault.as_str(), i64::from(*budget)));
    let run: BTreeMap<&str, i64> = run.collect();
    for fault in run.keys() {
        other.entry(fault).or_insert(0);
    }
    let now = |fault: &str| run.get(fault).copied().unwrap_or(0);
    let differ = other.iter().filter(|(fault, budget)| now(fault) != **budget);
    let differ: Vec<String> = differ.map(|(fault, _)| format!("{fault}={}", now(fault))).collect();
    (!differ.is_empty()).then(|| differ.join(","))
}
