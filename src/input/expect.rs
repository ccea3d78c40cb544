//! `[expect]`: the verdicts that a run must come to.

use std::collections::BTreeMap;

use crate::model::scenario::Expectations;
use crate::model::{Expectation, Verdict};

use super::reader::{Item, Table};
use super::report::Spot;

/// More steps than any break has that a search could find.
const STEPS: i64 = 1_000_000;

/// The verdicts that can be expected. A run that was cut short fulfils no expectation, so `inconclusive` is none.
pub const VERDICTS: [Verdict; 3] = [Verdict::Holds, Verdict::Violated, Verdict::Vacuous];

/// Reads `[expect]`, where it is there. Its keys name the `other` kind of input; `known` are the names of invariants and
/// assertions, if they can be known yet.
pub(super) fn expectations(table: &Table<'_>, other: &str, known: Option<&[&str]>) -> Expectations {
    let mut all = Expectations::new();
    let Some(expect) = table.table("expect") else { return all };
    for (key, item) in expect.entries() {
        if key.text().trim().is_empty() {
            key.complain_in_place("this is empty", format!("expected the name of a {other}"), None);
        }
        let Some(verdicts) = item.table() else { continue };
        let mut of_one = BTreeMap::new();
        for (name, item) in verdicts.entries() {
            if let Some(known) = known.filter(|known| !known.contains(&name.text())) {
                let _: Option<()> = name.unknown("invariant or assertion", name.text(), known);
            }
            if let Some(expectation) = expectation(item) {
                of_one.insert(name.text().to_owned(), expectation);
            }
        }
        all.insert(key.text().to_owned(), of_one);
    }
    all
}

fn expectation(item: Item<'_>) -> Option<Expectation> {
    if let Some(word) = item.value().as_str() {
        if let Some(verdict) = VERDICTS.into_iter().find(|verdict| verdict.name() == word) {
            return Some(Expectation::Verdict(verdict));
        }
        if word == Verdict::Inconclusive.name() {
            let help = "it says that a limit was hit: raise the limit or lower a budget";
            return item.refuse_in_place("`inconclusive` can't be expected", one_verdict(), Some(help.to_owned()));
        }
        return item.unknown_word("verdict", word, &VERDICTS.map(Verdict::name));
    }
    if !item.value().is_table() {
        return item.wrong_kind(&one_verdict());
    }
    let table = item.table()?;
    let steps = table.require("steps");
    let faults = table.require("faults");
    table.finish();
    let steps: Option<u32> = steps.and_then(|steps| steps.number(1..=STEPS));
    let most = steps.map_or(STEPS, i64::from);
    let faults = faults.and_then(|faults| faults.number(0..=most));
    Some(Expectation::Break { steps: steps?, faults: faults? })
}

fn one_verdict() -> String {
    format!("{} or {{ steps, faults }}", VERDICTS.map(|verdict| format!("`{verdict}`")).join(", "))
}
