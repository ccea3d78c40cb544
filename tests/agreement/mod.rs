//! The three witnesses of one model compared: the engine, stateright's search over the same steps, and the plain reference
//! interpreter.

#![allow(dead_code, reason = "each test file is a crate of its own and uses a part of this")]

use std::collections::BTreeMap;
use std::sync::Arc;

use handlecheck::engine::{Exploration, Limits, System, explore, second};
use handlecheck::invariants::INVARIANTS;
use handlecheck::model::{Model, Verdict};
use handlecheck::step::{Property, PropertyKind, Simulation};

use crate::reference::assertions::check_all;

/// What came out for one property: the verdict, and the front of breaks as (steps, faults).
pub type Finding = (Verdict, Vec<(u32, u32)>);

/// The invariants whose witness is not all that can violate them, with what else does.
const NARROWER: [(&str, &str); 7] = [
    ("no-double-write", "a handler that does by itself twice what it was asked once"),
    ("truthful-outcome", "a handler that says ok, and has not done it, to the first call of all"),
    ("basis-holds", "a handler that changes by itself what it goes on to rest on"),
    ("handle-resolvable", "a node that takes the caller for somebody else"),
    ("no-orphan", "an answer that came, and was about something else"),
    ("version-names-one-content", "one change whose clock stands"),
    ("resolves", "reads that never end"),
];

/// What the engine finds of every property, by name.
pub fn findings(simulation: &Simulation, found: &Exploration<Simulation>) -> BTreeMap<String, Finding> {
    let finding = |(index, property): (usize, Property)| {
        let front: Vec<_> = found.front(index).iter().map(|found| (found.steps, found.faults)).collect();
        let sometimes = property.kind == PropertyKind::Sometimes;
        let verdict = match (front.is_empty(), found.witnessed & (1 << index) != 0) {
            (true, false) if sometimes => Verdict::Violated,
            (false, _) => Verdict::Violated,
            (true, true) => Verdict::Holds,
            (true, false) => Verdict::Vacuous,
        };
        (property.name, (verdict, front))
    };
    simulation.properties().into_iter().enumerate().map(finding).collect()
}

/// Compares the three witnesses of a model. `None`: it has more states than `most`. The error says what
/// they disagree on.
pub fn compare(model: &Model, most: usize) -> Result<Option<BTreeMap<String, Finding>>, String> {
    let simulation = Arc::new(Simulation::new(model.clone()));
    let limits = Limits { states: Some(most), liveness: true, ..Limits::default() };
    let found = explore(&*simulation, limits, &mut |_| false);
    if found.stop.is_some() {
        return Ok(None);
    }
    let mut differ = Vec::new();
    let report = check_all(model, 20 * most);
    let (ours, theirs) = ((found.states(), found.transitions), (report.states, report.transitions as u64));
    if ours != theirs {
        differ.push(format!("states and transitions: engine {ours:?}, reference {theirs:?}"));
    }
    let findings = findings(&simulation, &found);
    for (name, ours) in &findings {
        let theirs = &report.findings[name];
        let path = &theirs.path;
        let theirs = (theirs.verdict, theirs.front.clone());
        // Or else a design that repairs it would have nothing to hold.
        let exact = INVARIANTS.iter().any(|row| row.name == *name) && NARROWER.iter().all(|(other, _)| other != name);
        if exact && ours.0 == Verdict::Violated && !report.findings[name].witnessed {
            differ.push(format!("{name} is violated, and what it is about never comes about: {path:?}"));
        }
        if *ours != theirs {
            differ.push(format!("{name}: engine {ours:?}, reference {theirs:?}: {path:?}"));
        }
    }
    let stateright = second::explore(&simulation, None, &mut |_| false);
    // Stateright decides liveness by paths alone.
    let liveness = simulation.liveness().map_or(0, |property| 1_u64 << property);
    let violated = (0..simulation.properties().len()).filter(|index| !found.front(*index).is_empty());
    let violated = violated.fold(0, |bits, index| bits | 1_u64 << index) & !liveness;
    let ours = second::Report { states: found.states(), violated, witnessed: found.witnessed, stop: None };
    if ours != stateright {
        differ.push(format!("engine {ours:?}, stateright {stateright:?}"));
    }
    if differ.is_empty() { Ok(Some(findings)) } else { Err(differ.join("\n")) }
}
