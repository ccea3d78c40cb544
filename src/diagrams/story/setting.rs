//! The setting, and what everybody wanted.

use crate::diagrams::sequence::{Sequence, StoreHead};
use crate::diagrams::words;
use crate::trace::Trace;

/// Which inputs, who is there, what may go wrong, and what is true at the start.
pub fn setting(trace: &Trace, sequence: &Sequence) -> Vec<String> {
    let title = |title: &str| if title.is_empty() { String::new() } else { format!(" ({title})") };
    let inputs = format!(
        "Scenario {}, design {}{}, protocol {}.",
        trace.scenario.name,
        trace.design.name,
        title(&trace.design.title),
        trace.protocol.name
    );
    let initial = |store: &StoreHead| {
        let initial = store.initial.as_ref()?;
        Some(format!("{} is {}", initial.handle, words::full(initial, Some(store))))
    };
    let start: Vec<String> = sequence.lanes.stores.iter().filter_map(initial).collect();
    let start = (!start.is_empty()).then(|| {
        let start = format!("At the start, {}. {}", start.join("; "), sequence.left_out);
        start.trim_end().to_owned()
    });
    [Some(inputs), Some(cast(trace)), start].into_iter().flatten().collect()
}

/// Who acts for whom, how many nodes serve them, and what may go wrong.
fn cast(trace: &Trace) -> String {
    let mut principals: Vec<(&str, Vec<String>)> = Vec::new();
    for agent in &trace.agents {
        match principals.iter_mut().find(|(principal, _)| *principal == agent.principal) {
            Some((_, agents)) => agents.push(agent.name.clone()),
            None => principals.push((&agent.principal, vec![agent.name.clone()])),
        }
    }
    let groups: Vec<String> = principals
        .iter()
        .map(|(principal, agents)| {
            let act = if agents.len() == 1 { "acts" } else { "act" };
            format!("{} {act} for {principal}", words::list(agents))
        })
        .collect();
    let nodes = match &trace.nodes[..] {
        [] => "no node serves them".to_owned(),
        [one] => format!("one node, {one}, serves every call"),
        many => format!("any of {} nodes may serve a call", many.len()),
    };
    let bounds: Vec<String> = trace.bounds.iter().map(|(fault, budget)| format!("{budget} {fault}")).collect();
    let faults = match &bounds[..] {
        [] => "Nothing goes wrong but the timing.".to_owned(),
        some => format!("At most this goes wrong: {}.", words::list(some)),
    };
    let deploys = [&trace.design, &trace.protocol].into_iter().filter_map(|input| input.deployed.as_ref());
    let deploys: Vec<String> = deploys.map(|deployed| deployed.name.clone()).collect();
    let deploys = match &deploys[..] {
        [] => String::new(),
        some => format!(" Each node may change over to {}, at any point.", words::list(some)),
    };
    format!("{}; {nodes}.{deploys} {faults}", groups.join("; "))
}

/// What each agent wanted, as its work list says it.
pub fn wants(trace: &Trace) -> Vec<String> {
    let scenario: toml::Table = toml::from_str(&trace.scenario.text).unwrap_or_default();
    let work = |name: &str| scenario.get("agents")?.get(name)?.get("work")?.as_array();
    let wants = |agent: &crate::trace::AgentLane| {
        let listed: Vec<String> = work(&agent.name).into_iter().flatten().filter_map(entry).collect();
        let listed = if listed.is_empty() { changes(trace, &agent.name) } else { listed };
        (!listed.is_empty()).then(|| format!("{} wants to {}.", agent.name, listed.join(", then to ")))
    };
    trace.agents.iter().filter_map(wants).collect()
}

/// An entry of a work list in words; none where it is no entry.
fn entry(entry: &toml::Value) -> Option<String> {
    let table = entry.as_table()?;
    let verbs = ["read", "set", "append", "increment", "mint", "close", "execute", "delete", "approve", "hand-off"];
    let (verb, resource) = verbs.iter().find_map(|verb| Some((*verb, table.get(*verb)?.as_str()?)))?;
    let plain = |value: &toml::Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let others = ["given", "also", "if", "intent", "to", "carries"];
    let fields = || table.iter().filter(|(key, _)| *key != verb && !others.contains(&key.as_str()));
    let each = |between: &str| -> String {
        words::list(&fields().map(|(field, value)| format!("{field}{between}{}", plain(value))).collect::<Vec<_>>())
    };
    let added =
        || words::list(&fields().map(|(field, value)| format!("{} to {field}", plain(value))).collect::<Vec<_>>());
    let names = |key: &str| -> Vec<String> {
        table.get(key).and_then(toml::Value::as_array).into_iter().flatten().map(plain).collect()
    };
    let given = names("given");
    let given = if given.is_empty() { String::new() } else { format!(", given {} as it saw it", words::list(&given)) };
    let words = match verb {
        "set" => format!("set {} in {resource}", each(" to ")),
        "append" => format!("append {} in {resource}", added()),
        "increment" => format!("add {} in {resource}", added()),
        "mint" if fields().next().is_none() => format!("create {resource}"),
        "mint" => format!("create {resource} with {}", each(" ")),
        "hand-off" => format!("hand {resource} to {}", words::list(&names("to"))),
        other => format!("{other} {resource}"),
    };
    let also = table.get("also").and_then(self::entry);
    let also = also.map_or_else(String::new, |also| format!(" and to {also}"));
    let condition = table.get("if").and_then(toml::Value::as_str);
    let condition = condition.map_or_else(String::new, |condition| format!(", if {condition}"));
    let intent = table.get("intent").and_then(toml::Value::as_str);
    let intent = intent.map_or_else(String::new, |name| format!(" (its part in {name})"));
    Some(format!("{words}{also}{given}{condition}{intent}"))
}

/// The changes that an agent asked for in the trace.
fn changes(trace: &Trace, agent: &str) -> Vec<String> {
    let mut changes: Vec<String> = Vec::new();
    for step in trace.steps.iter().filter(|step| step.does.agent.as_deref() == Some(agent)) {
        let call = step.call.as_ref().filter(|call| !call.change.is_empty());
        let words = call.map(|call| format!("have {} in {}", call.change, call.resource));
        changes.extend(words.filter(|words| !changes.contains(words)));
    }
    changes
}
