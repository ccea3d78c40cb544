//! What differs between two locks: newly broken, cheaper to break, no longer covered, other bounds, and what got better.

use std::collections::{BTreeMap, BTreeSet};

use super::{Cost, Found, Lock, Outcome, Subject};
use crate::model::vocabulary::named;

named! {
    /// How something changed. What is worse stands first.
    Kind {
        /// It is violated, and was not.
        NewlyBroken = "newly-broken",
        /// It was violated before; now a break needs fewer steps or fewer faults.
        CheaperToBreak = "cheaper-to-break",
        /// It was decided, and now it is not asked, not reached or not decided.
        NoLongerCovered = "no-longer-covered",
        /// It was explored with fewer faults or up to fewer states than before.
        NarrowerBounds = "narrower-bounds",
        /// It was explored with other bounds, and none of them is narrower.
        OtherBounds = "other-bounds",
        /// It was violated, and holds.
        Fixed = "fixed",
        /// It is still violated, and each break needs more steps or more faults.
        DearerToBreak = "dearer-to-break",
        /// It was not asked, not reached or not decided, and now it is.
        NewlyCovered = "newly-covered",
    }
}

impl Kind {
    /// The name as words of a sentence.
    #[must_use]
    pub fn words(self) -> String {
        self.name().replace('-', " ")
    }

    /// Whether it is a change for the worse: the exit code of `diff` says whether there is one.
    #[must_use]
    pub const fn is_worse(self) -> bool {
        matches!(self, Self::NewlyBroken | Self::CheaperToBreak | Self::NoLongerCovered | Self::NarrowerBounds)
    }
}

impl Change {
    /// The run as it is now, or else as it was.
    #[must_use]
    pub fn subject(&self) -> &Subject {
        self.new.as_ref().or(self.old.as_ref()).expect("a change is of a run")
    }

    /// Whether a break of the new side costs less than each old one, in steps or in faults.
    #[must_use]
    pub fn is_news(&self, steps: u32, faults: u32) -> bool {
        match &self.was {
            Some(Found::Violated(front)) => is_news(Cost { steps, faults }, front),
            _ => true,
        }
    }
}

/// In what two sides differ on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axis {
    /// In nothing: the same names mean the same.
    Same,
    /// In the design: runs of one scenario and protocol are compared.
    Design,
    /// In the protocol: runs of one scenario and design are compared.
    Protocol,
}

impl Axis {
    /// Whether two runs, one of each side, are compared with each other.
    #[must_use]
    pub fn is_pair(self, old: &Subject, new: &Subject) -> bool {
        key(old, self) == key(new, self)
    }
}

/// One change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// How it changed.
    pub kind: Kind,
    /// The old run; none where there was none.
    pub old: Option<Subject>,
    /// The new run; none where there is none.
    pub new: Option<Subject>,
    /// The invariant or assertion; none where the run as a whole changed.
    pub property: Option<String>,
    /// What was found before, where the change is one of a property that was there.
    pub was: Option<Found>,
    /// What is found now.
    pub is: Option<Found>,
    /// What was, in words.
    pub before: String,
    /// What is, in words.
    pub after: String,
}

/// A run whose verdicts are the same and whose state space is not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Space {
    /// Which run.
    pub subject: Subject,
    /// States before.
    pub before: usize,
    /// States now.
    pub after: usize,
}

/// Everything that differs between two locks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Difference {
    /// The changes: the worst first, those of a kind in the order of runs and properties.
    pub changes: Vec<Change>,
    /// The inputs whose texts differ: `design naive`.
    pub inputs: Vec<String>,
    /// Runs with the same verdicts and another state space; only where the sides differ in nothing on purpose.
    pub spaces: Vec<Space>,
    /// How many runs were compared: those that are on both sides.
    pub compared: usize,
    /// How many of them have the same verdicts in the same bounds.
    pub same: usize,
    /// How many of them differ in nothing that is known, and left something open on both sides, so that they may differ.
    pub open: usize,
}

impl Difference {
    /// Compares two locks.
    #[must_use]
    pub fn between(old: &Lock, new: &Lock, axis: Axis) -> Self {
        let mut difference = Self::default();
        let (before, after) = (by_key(old, axis), by_key(new, axis));
        for (key, (subject, outcome)) in &before {
            if let Some((other, now)) = after.get(key) {
                difference.compare((subject, outcome), (other, now), axis);
            } else {
                let because = misfit(new, key, axis);
                let before = summary(outcome);
                difference.whole(Kind::NoLongerCovered, Some(subject), None, before, because);
            }
        }
        for (key, (subject, outcome)) in &after {
            if !before.contains_key(key) {
                let because = misfit(old, key, axis);
                difference.whole(Kind::NewlyCovered, None, Some(subject), because, summary(outcome));
            }
        }
        if axis == Axis::Same {
            for (kind, before, after) in [
                ("scenario", &old.scenarios, &new.scenarios),
                ("design", &old.designs, &new.designs),
                ("protocol", &old.protocols, &new.protocols),
            ] {
                let changed = after.iter().filter(|(name, digest)| before.get(*name).is_some_and(|old| old != *digest));
                difference.inputs.extend(changed.map(|(name, _)| format!("{kind} {name}")));
            }
        }
        difference.changes.sort_by_key(|change| change.kind);
        difference
    }

    /// Whether something changed for the worse.
    #[must_use]
    pub fn is_worse(&self) -> bool {
        self.changes.iter().any(|change| change.kind.is_worse())
    }

    fn whole(&mut self, kind: Kind, old: Option<&Subject>, new: Option<&Subject>, before: String, after: String) {
        let (old, new) = (old.cloned(), new.cloned());
        self.changes.push(Change { kind, old, new, property: None, was: None, is: None, before, after });
    }

    fn compare(&mut self, old: (&Subject, &Outcome), new: (&Subject, &Outcome), axis: Axis) {
        let changes = self.changes.len();
        let ((old, before), (new, after)) = (old, new);
        if let Some(kind) = bounds(before, after) {
            self.whole(kind, Some(old), Some(new), extent(before), extent(after));
        }
        let names: BTreeSet<&String> = before.found.keys().chain(after.found.keys()).collect();
        for name in names {
            let (was, is) = (before.found.get(name), after.found.get(name));
            let kind = match (was, is) {
                (Some(was), Some(is)) => change(was, is, axis),
                (Some(_), None) => Some(Kind::NoLongerCovered),
                (None, _) => Some(Kind::NewlyCovered),
            };
            let Some(kind) = kind else { continue };
            let words = |found: Option<&Found>| found.map_or_else(|| "not checked".to_owned(), words);
            let (old, new, property) = (Some(old.clone()), Some(new.clone()), Some(name.clone()));
            let (before, after) = (words(was), words(is));
            let (was, is) = (was.cloned(), is.cloned());
            self.changes.push(Change { kind, old, new, property, was, is, before, after });
        }
        self.compared += 1;
        if self.changes.len() > changes {
            return;
        }
        let open = |found: &Found| *found == Found::Inconclusive;
        if after.found.values().any(open) {
            self.open += 1;
        } else {
            self.same += 1;
        }
        let space = |outcome: &Outcome| (outcome.states, outcome.transitions, outcome.depth);
        if axis == Axis::Same && space(before) != space(after) {
            let subject = new.clone();
            self.spaces.push(Space { subject, before: before.states, after: after.states });
        }
    }
}

/// A run's name without what the sides differ in.
type Key = (String, String);

fn key(subject: &Subject, axis: Axis) -> Key {
    let Subject { scenario, design, protocol } = subject;
    let rest = match axis {
        Axis::Same => format!("{design}\n{protocol}"),
        Axis::Design => protocol.clone(),
        Axis::Protocol => design.clone(),
    };
    (scenario.clone(), rest)
}

fn by_key(lock: &Lock, axis: Axis) -> BTreeMap<Key, (&Subject, &Outcome)> {
    lock.runs.iter().map(|(subject, outcome)| (key(subject, axis), (subject, outcome))).collect()
}

/// Why a run is not there, where that is known.
fn misfit(lock: &Lock, wanted: &Key, axis: Axis) -> String {
    let found = lock.misfits.iter().find(|(subject, _)| key(subject, axis) == *wanted);
    found.map_or_else(|| "not there".to_owned(), |(_, because)| format!("does not fit: {because}"))
}

/// How a verdict changed; `None`: it did not. Where the sides differ on purpose, one of them may well not reach what the
/// other does: then vacuous is as good as holding.
fn change(was: &Found, is: &Found, axis: Axis) -> Option<Kind> {
    let unlike = axis != Axis::Same;
    let held = |found: &Found| match found {
        Found::Vacuous if unlike => Found::Holds,
        other => other.clone(),
    };
    let (was, is) = (&held(was), &held(is));
    let decided = |found: &Found| matches!(found, Found::Holds | Found::Violated(_));
    match (was, is) {
        (Found::Violated(before), Found::Violated(after)) => {
            let news = |of: &[Cost], than: &[Cost]| of.iter().any(|new| is_news(*new, than));
            if news(after, before) {
                Some(Kind::CheaperToBreak)
            } else if news(before, after) {
                Some(Kind::DearerToBreak)
            } else {
                None
            }
        }
        (was, is) if was == is => None,
        (_, Found::Violated(_)) => Some(Kind::NewlyBroken),
        (Found::Violated(_), Found::Holds) => Some(Kind::Fixed),
        (_, is) if decided(is) => Some(Kind::NewlyCovered),
        (Found::Inconclusive, _) => Some(Kind::NewlyCovered),
        _ => Some(Kind::NoLongerCovered),
    }
}

/// A break is no news if an old one costs no more in either way.
fn is_news(new: Cost, old: &[Cost]) -> bool {
    !old.iter().any(|old| old.steps <= new.steps && old.faults <= new.faults)
}

/// How the bounds changed; `None`: they did not.
fn bounds(before: &Outcome, after: &Outcome) -> Option<Kind> {
    let narrower = before.bounds.iter().any(|(fault, budget)| after.bounds.get(fault).unwrap_or(&0) < budget);
    let cut = after.stopped.is_some() && (before.stopped.is_none() || after.states < before.states);
    if narrower || cut {
        Some(Kind::NarrowerBounds)
    } else if before.bounds != after.bounds || before.stopped != after.stopped {
        Some(Kind::OtherBounds)
    } else {
        None
    }
}

/// In which bounds a run was explored, in words.
fn extent(outcome: &Outcome) -> String {
    let bounds: Vec<String> = outcome.bounds.iter().map(|(fault, budget)| format!("{fault} {budget}")).collect();
    let bounds = if bounds.is_empty() { "no faults".to_owned() } else { format!("at most {}", bounds.join(", ")) };
    match &outcome.stopped {
        None => bounds,
        Some(reason) => format!("{bounds}; cut short, since {reason}"),
    }
}

/// What was found, in words.
fn words(found: &Found) -> String {
    match found {
        Found::Violated(front) if !front.is_empty() => {
            let count = |count: u32, word: &str| match count {
                0 => format!("no {word}s"),
                1 => format!("1 {word}"),
                more => format!("{more} {word}s"),
            };
            let cost = |cost: &Cost| format!("{}, {}", count(cost.steps, "step"), count(cost.faults, "fault"));
            format!("violated ({})", front.iter().map(cost).collect::<Vec<_>>().join("; or "))
        }
        other => other.verdict().name().to_owned(),
    }
}

/// A whole run in words: what is violated in it.
fn summary(outcome: &Outcome) -> String {
    let violated = outcome.found.iter().filter(|(_, found)| matches!(found, Found::Violated(_)));
    let violated: Vec<String> = violated.map(|(name, found)| format!("{name} {}", words(found))).collect();
    if violated.is_empty() { "nothing violated".to_owned() } else { violated.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn violated(front: &[(u32, u32)]) -> Found {
        Found::Violated(front.iter().map(|(steps, faults)| Cost { steps: *steps, faults: *faults }).collect())
    }

    #[test]
    fn every_change_of_a_verdict_has_its_kind() {
        let broken = violated(&[(15, 1)]);
        let all = [Found::Holds, Found::Vacuous, Found::Inconclusive, broken.clone()];
        let kinds: Vec<Vec<Option<Kind>>> =
            all.iter().map(|was| all.iter().map(|is| change(was, is, Axis::Same)).collect()).collect();
        let (lost, covered) = (Some(Kind::NoLongerCovered), Some(Kind::NewlyCovered));
        let new = Some(Kind::NewlyBroken);
        assert_eq!(
            kinds,
            [
                // From holds, vacuous, inconclusive and violated; to each of them.
                [None, lost, lost, new],
                [covered, None, lost, new],
                [covered, covered, None, new],
                [Some(Kind::Fixed), lost, lost, None],
            ]
        );
        let across = |was: &Found, is: &Found| change(was, is, Axis::Design);
        assert_eq!(across(&Found::Holds, &Found::Vacuous), None);
        assert_eq!(across(&broken, &Found::Vacuous), Some(Kind::Fixed));
        assert_eq!(across(&Found::Vacuous, &broken), new);
    }

    #[test]
    fn a_break_is_cheaper_if_no_old_one_costs_as_little() {
        let from = violated(&[(15, 1), (17, 0)]);
        let kind = |to: &[(u32, u32)]| change(&from, &violated(to), Axis::Same);
        assert_eq!(kind(&[(15, 1), (17, 0)]), None);
        assert_eq!(kind(&[(14, 1), (17, 0)]), Some(Kind::CheaperToBreak), "fewer steps");
        assert_eq!(kind(&[(15, 0)]), Some(Kind::CheaperToBreak), "fewer faults");
        assert_eq!(kind(&[(12, 2), (15, 1), (17, 0)]), Some(Kind::CheaperToBreak), "fewer steps for more faults");
        assert_eq!(kind(&[(15, 1)]), Some(Kind::DearerToBreak), "it takes a fault");
        assert_eq!(kind(&[(16, 1), (17, 0)]), Some(Kind::DearerToBreak), "more steps");
        assert_eq!(kind(&[(14, 1), (18, 0)]), Some(Kind::CheaperToBreak), "both: the worse counts");
    }

    #[test]
    fn bounds_are_narrower_if_one_of_them_is() {
        let outcome = |bounds: &[(&str, u8)], states: usize, stopped: Option<&str>| Outcome {
            bounds: bounds.iter().map(|(name, budget)| ((*name).to_owned(), *budget)).collect(),
            states,
            stopped: stopped.map(str::to_owned),
            ..Outcome::default()
        };
        let one = outcome(&[("a", 1), ("b", 1)], 9, None);
        assert_eq!(bounds(&one, &one), None);
        assert_eq!(bounds(&one, &outcome(&[("a", 1)], 9, None)), Some(Kind::NarrowerBounds));
        assert_eq!(bounds(&one, &outcome(&[("a", 3), ("b", 0)], 9, None)), Some(Kind::NarrowerBounds));
        assert_eq!(bounds(&one, &outcome(&[("a", 1), ("b", 2)], 9, None)), Some(Kind::OtherBounds));
        let cut = outcome(&[("a", 1), ("b", 1)], 5, Some("x"));
        assert_eq!(bounds(&one, &cut), Some(Kind::NarrowerBounds));
        assert_eq!(bounds(&cut, &one), Some(Kind::OtherBounds));
        assert_eq!(bounds(&cut, &outcome(&[("a", 1), ("b", 1)], 4, Some("y"))), Some(Kind::NarrowerBounds));
    }
}
