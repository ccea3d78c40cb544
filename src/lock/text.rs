//! How a lock is written: one line for each verdict, so that a review sees each that changed.

use std::collections::BTreeMap;

use toml::Value;

use super::{Asked, Cost, Found, Lock, Outcome, SCHEMA, Subject};

const HEADING: &str = "\
# What every run of this folder comes to: written by `handlecheck lock`, and never by hand.
# `handlecheck diff` says what has changed since.
";

impl Lock {
    /// The lock as TOML. The same lock gives the same bytes.
    #[must_use]
    pub fn to_toml(&self) -> String {
        let mut text = HEADING.to_owned();
        text.push_str(&format!("\nschema = {SCHEMA}\nhandlecheck = {}\n", string(&self.handlecheck)));
        asked(&mut text, &self.asked);
        for (kind, digests) in
            [("scenarios", &self.scenarios), ("designs", &self.designs), ("protocols", &self.protocols)]
        {
            text.push_str(&format!("\n[{kind}]\n"));
            for (name, digest) in digests {
                text.push_str(&format!("{} = {}\n", key(name), string(digest)));
            }
        }
        for (subject, outcome) in &self.runs {
            text.push_str("\n[[runs]]\n");
            run(&mut text, subject, outcome);
        }
        for (subject, because) in &self.misfits {
            text.push_str("\n[[misfits]]\n");
            who(&mut text, subject);
            text.push_str(&format!("because = {}\n", string(because)));
        }
        text
    }
}

fn asked(text: &mut String, asked: &Asked) {
    let Asked { expected, protocol, faults, invariants, max_states } = asked;
    if *asked == Asked::default() {
        return;
    }
    text.push_str("\n[asked]\n");
    if *expected {
        text.push_str("expected = true\n");
    }
    if let Some(protocol) = protocol {
        text.push_str(&format!("protocol = {}\n", string(protocol)));
    }
    if !faults.is_empty() {
        text.push_str(&format!("faults = {}\n", budgets(faults)));
    }
    if !invariants.is_empty() {
        text.push_str(&format!("invariants = {}\n", strings(invariants.iter())));
    }
    if let Some(most) = max_states {
        text.push_str(&format!("max-states = {most}\n"));
    }
}

fn run(text: &mut String, subject: &Subject, outcome: &Outcome) {
    let Outcome { bounds, states, transitions, depth, engine, reductions, stopped, found } = outcome;
    who(text, subject);
    text.push_str(&format!("bounds = {}\n", budgets(bounds)));
    text.push_str(&format!("states = {states}\ntransitions = {transitions}\ndepth = {depth}\n"));
    if let Some(engine) = engine {
        text.push_str(&format!("engine = {}\n", string(engine)));
    }
    if !reductions.is_empty() {
        text.push_str(&format!("reductions = {}\n", strings(reductions.iter())));
    }
    if let Some(reason) = stopped {
        text.push_str(&format!("stopped = {}\n", string(reason)));
    }
    let vacuous: Vec<&String> =
        found.iter().filter(|(_, found)| **found == Found::Vacuous).map(|(name, _)| name).collect();
    if !vacuous.is_empty() {
        text.push_str(&format!("vacuous = {}\n", strings(vacuous.into_iter())));
    }
    text.push_str("[runs.verdicts]\n");
    for (name, found) in found {
        let found = match found {
            Found::Vacuous => continue,
            Found::Violated(front) if !front.is_empty() => costs(front),
            other => string(other.verdict().name()),
        };
        text.push_str(&format!("{} = {found}\n", key(name)));
    }
}

fn who(text: &mut String, subject: &Subject) {
    let Subject { scenario, design, protocol } = subject;
    for (kind, name) in [("scenario", scenario), ("design", design), ("protocol", protocol)] {
        text.push_str(&format!("{kind} = {}\n", string(name)));
    }
}

fn string(text: &str) -> String {
    Value::from(text).to_string()
}

/// A key, in quotes where it needs them.
fn key(name: &str) -> String {
    let bare = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
    if bare { name.to_owned() } else { string(name) }
}

fn strings<'n>(names: impl Iterator<Item = &'n String>) -> String {
    format!("[{}]", names.map(|name| string(name)).collect::<Vec<_>>().join(", "))
}

fn budgets(budgets: &BTreeMap<String, u8>) -> String {
    let budgets: Vec<String> = budgets.iter().map(|(fault, budget)| format!("{} = {budget}", key(fault))).collect();
    if budgets.is_empty() { "{}".to_owned() } else { format!("{{ {} }}", budgets.join(", ")) }
}

fn costs(front: &[Cost]) -> String {
    let costs: Vec<String> =
        front.iter().map(|Cost { steps, faults }| format!("{{ steps = {steps}, faults = {faults} }}")).collect();
    format!("[{}]", costs.join(", "))
}
