//! Crowds: a scenario with more agents and nodes than its file has.
//!
//! Whoever works is copied, in the order of the file and round again, until there are as many agents as asked for. A copy
//! does the same work for the same principal; what its original mints, it mints under a name of its own; copies of one round share the intents that their originals share; and whatever is
//! handed to the original is handed to it too. The result is a scenario file, so everything that reads one can read it.

use std::collections::BTreeMap;

use toml::{Table, Value};

use crate::input::Source;

/// Why a scenario can't be made so large, or so small.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum CrowdError {
    /// It has more agents than that.
    #[error("it has {0} agents already, and a crowd is no smaller than its scenario")]
    Fewer(usize),
    /// Nobody in it works.
    #[error("no agent in it has work of its own that could be copied")]
    NoWork,
}

/// The scenario with so many agents and nodes; `None` leaves them as they are. What the file expects is left out, since it
/// was expected of the few. The text must be one that can be read as a scenario.
///
/// # Errors
///
/// See [`CrowdError`].
pub fn crowd(source: &Source, agents: Option<usize>, nodes: Option<usize>) -> Result<Source, CrowdError> {
    let mut root: Table = source.text.parse().expect("the text was read as a scenario, so it is TOML");
    root.remove("expect");
    if let Some(nodes) = nodes {
        root.insert("nodes".to_owned(), Value::Integer(i64::try_from(nodes).unwrap_or(i64::MAX)));
    }
    if let Some(agents) = agents {
        copy_agents(&mut root, agents)?;
    }
    let text = toml::to_string(&root).expect("what was parsed can be written");
    Ok(Source { text: text.into(), asked: None, ..source.clone() })
}

fn work(agent: &Value) -> &[Value] {
    agent.get("work").and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn works(agent: &Value) -> bool {
    work(agent).iter().any(|entry| entry.get("hand-off").is_none())
}

/// A name that is not taken, not even in assertions, where a `-` is written `_`.
fn fresh(name: &str, number: usize, taken: &mut Vec<String>) -> String {
    let mut suffix = number + 1;
    loop {
        let name = format!("{name}-{suffix}");
        let in_assertions = name.replace('-', "_");
        if !taken.contains(&in_assertions) {
            taken.push(in_assertions);
            return name;
        }
        suffix += 1;
    }
}

fn copy_agents(root: &mut Table, wanted: usize) -> Result<(), CrowdError> {
    let Some(Value::Table(agents)) = root.get_mut("agents") else { return Err(CrowdError::NoWork) };
    let originals: Vec<(String, Value)> =
        agents.iter().filter(|(_, agent)| works(agent)).map(|(name, agent)| (name.clone(), agent.clone())).collect();
    if originals.is_empty() {
        return Err(CrowdError::NoWork);
    }
    let missing = wanted.checked_sub(agents.len()).ok_or(CrowdError::Fewer(agents.len()))?;
    let mut taken: Vec<String> = agents.keys().map(|name| name.replace('-', "_")).collect();
    let minted: Vec<String> = originals
        .iter()
        .flat_map(|(_, agent)| work(agent))
        .filter_map(|entry| Some(entry.get("mint")?.as_str()?.to_owned()))
        .collect();
    let mut resources: Vec<String> = minted.iter().map(|name| name.replace('-', "_")).collect();
    if let Some(Value::Table(declared)) = root.get("resources") {
        resources.extend(declared.keys().map(|name| name.replace('-', "_")));
    }

    let mut intents: Vec<String> = Vec::new();
    // First the names of all copies, round by round; then what each of them says.
    let rounds = missing.div_ceil(originals.len());
    let mut names: Vec<BTreeMap<String, String>> = Vec::new();
    let mut made: Vec<BTreeMap<String, String>> = Vec::new();
    for round in 1..=rounds {
        let here = originals.iter().take(missing - (round - 1) * originals.len());
        names.push(here.map(|(name, _)| (name.clone(), fresh(name, round, &mut taken))).collect());
        made.push(minted.iter().map(|name| (name.clone(), fresh(name, round, &mut resources))).collect());
    }
    let Some(Value::Table(agents)) = root.get_mut("agents") else { return Err(CrowdError::NoWork) };
    for (names, made) in names.iter().zip(&made) {
        for (name, original) in &originals {
            if let Some(copied) = names.get(name) {
                let mut copy = original.clone();
                rename(&mut copy, names, made);
                agents.insert(copied.clone(), copy);
            }
        }
    }
    for copies in &names {
        share_among(agents, copies, &mut intents);
    }
    // What is handed to an original by somebody who is not copied is handed to all of its copies.
    let copied: Vec<String> = originals.iter().map(|(name, _)| name.clone()).collect();
    let handers = agents.iter_mut().filter(|(name, _)| !copied.contains(name)).map(|(_, agent)| agent);
    for agent in handers {
        for entry in entries(agent).filter(|entry| entry.contains_key("hand-off")) {
            if let Some(Value::Array(to)) = entry.get_mut("to") {
                let receivers: Vec<String> = to.iter().filter_map(|name| Some(name.as_str()?.to_owned())).collect();
                let copies = names.iter().flat_map(|names| receivers.iter().filter_map(|name| names.get(name)));
                to.extend(copies.map(|name| Value::String(name.clone())));
            }
        }
    }
    Ok(())
}

/// The copies of a round share intents among themselves: under names of their own, where at least two are left of those that
/// shared one.
fn share_among(agents: &mut Table, copies: &BTreeMap<String, String>, taken: &mut Vec<String>) {
    let of_copies = || copies.values().filter_map(|name| agents.get(name)).flat_map(work);
    let mut sharers: BTreeMap<String, usize> = BTreeMap::new();
    for name in of_copies().filter_map(|entry| entry.get("intent")?.as_str()) {
        *sharers.entry(name.to_owned()).or_default() += 1;
    }
    taken.extend(sharers.keys().filter(|name| !taken.contains(name)).cloned().collect::<Vec<_>>());
    let own: BTreeMap<String, String> = sharers.keys().map(|name| (name.clone(), fresh(name, 1, taken))).collect();
    for name in copies.values() {
        let Some(agent) = agents.get_mut(name) else { continue };
        for entry in entries(agent) {
            let Some(Value::String(shared)) = entry.get_mut("intent") else { continue };
            if sharers[shared.as_str()] > 1 {
                *shared = own[shared.as_str()].clone();
            } else {
                entry.remove("intent");
            }
        }
    }
}

fn entries(agent: &mut Value) -> impl Iterator<Item = &mut Table> {
    let work = agent.get_mut("work").and_then(Value::as_array_mut);
    work.into_iter().flatten().filter_map(Value::as_table_mut)
}

/// An expression with other names of resources in it, as such names are written there. What is quoted stays.
fn renamed_in(expression: &str, by: &BTreeMap<String, String>) -> String {
    let spelled: BTreeMap<String, String> =
        by.iter().map(|(old, new)| (old.replace('-', "_"), new.replace('-', "_"))).collect();
    let (mut text, mut word, mut quote, mut member) = (String::new(), String::new(), None, false);
    for character in expression.chars().chain(std::iter::once(' ')) {
        if quote.is_none() && (character.is_alphanumeric() || character == '_') {
            word.push(character);
            continue;
        }
        let named = spelled.get(&word).filter(|_| !member);
        text.push_str(named.unwrap_or(&word));
        word.clear();
        member = character == '.';
        match quote {
            Some(open) if open == character => quote = None,
            None if matches!(character, '"' | '\'') => quote = Some(character),
            _ => {}
        }
        text.push(character);
    }
    text.pop();
    text
}

/// Puts the names of a round of copies into one of them.
fn rename(agent: &mut Value, names: &BTreeMap<String, String>, made: &BTreeMap<String, String>) {
    let renamed = |value: &mut Value, by: &BTreeMap<String, String>| {
        if let Some(new) = value.as_str().and_then(|name| by.get(name)) {
            *value = Value::String(new.clone());
        }
    };
    if let Some(parent) = agent.get_mut("parent") {
        renamed(parent, names);
    }
    for entry in entries(agent) {
        let verbs = crate::input::settings::VERBS;
        for verb in verbs {
            if let Some(resource) = entry.get_mut(verb) {
                renamed(resource, made);
            }
            let also = entry.get_mut("also").and_then(Value::as_table_mut);
            if let Some(resource) = also.and_then(|also| also.get_mut(verb)) {
                renamed(resource, made);
            }
        }
        if let Some(Value::String(condition)) = entry.get_mut("if") {
            *condition = renamed_in(condition, made);
        }
        for (list, by) in [("given", made), ("to", names)] {
            for name in entry.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten() {
                renamed(name, by);
            }
        }
    }
}
