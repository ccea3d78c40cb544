//! What designs cost, in words: for the matrix.

use crate::model::Tool;
use crate::run::{Cost, Costs, Expected, Greatest, KeyKept, LeaseKept, Report, Run};
use crate::step::Measure;

/// What a design costs, from its runs.
pub(super) type Column = fn(&[&(&Run, Report)]) -> String;

/// What each design costs.
pub(super) const COSTS: [(&str, Column); 11] = [
    ("calls", |runs| measured(runs, Measure::Calls)),
    ("round trips", |runs| measured(runs, Measure::RoundTrips)),
    ("conflicts", |runs| measured(runs, Measure::Conflicts)),
    ("repeats", |runs| measured(runs, Measure::Repeats)),
    ("replans", |runs| measured(runs, Measure::Replans)),
    ("questions", |runs| measured(runs, Measure::Questions)),
    ("records", |runs| measured(runs, Measure::Records)),
    ("a key is kept", key_kept),
    ("a lease is kept", lease_kept),
    ("a write costs", write_cost),
    ("states explored", |runs| runs.iter().map(|(_, report)| report.states).sum::<usize>().to_string()),
];

/// What the numbers are.
pub(super) fn note(compared: &[(&Run, Report)]) -> Option<String> {
    let costs: Vec<&Costs> = compared.iter().filter_map(|(_, report)| report.costs.as_ref()).collect();
    let runs = costs.iter().map(|costs| costs.runs).max()?;
    let mut note =
        "Calls to records are for each finished intent: conflicts are calls that are refused, replans calls for a new plan, \
                    questions intents that end with one to the person, records those of keys that are left behind. Fewest \
                    to most is exact, over every run in the bounds of all scenarios"
            .to_owned();
    if costs.iter().any(|costs| !costs.exact) {
        note.push_str(" (where it is missing, some run had too many states)");
    }
    if runs > 0 {
        note.push_str(&format!(
            "; with ± is what to expect, by {runs} random runs of each scenario, in 95 of 100 cases"
        ));
    }
    Some(note + ".")
}

fn all<'r>(runs: &'r [&(&Run, Report)]) -> impl Iterator<Item = &'r Costs> {
    runs.iter().filter_map(|(_, report)| report.costs.as_ref())
}

/// The fewest and the most over the scenarios, and the mean of what is expected in each.
pub(super) fn over(runs: &[&(&Run, Report)], name: Measure) -> Option<Cost> {
    let costs: Vec<&Cost> =
        all(runs).filter_map(|costs| costs.measures.iter().find(|cost| cost.name == name)).collect();
    if costs.is_empty() {
        return None;
    }
    let fewest: Option<Vec<f64>> = costs.iter().map(|cost| cost.fewest).collect();
    let most: Option<Vec<Greatest>> = costs.iter().map(|cost| cost.most).collect();
    let most = most.map(|all| {
        all.into_iter().fold(Greatest::Amount(0.0), |most, other| match (most, other) {
            (Greatest::Amount(most), Greatest::Amount(other)) => Greatest::Amount(most.max(other)),
            _ => Greatest::Unbounded,
        })
    });
    let expected: Option<Vec<Expected>> = costs.iter().map(|cost| cost.expected).collect();
    #[expect(clippy::cast_precision_loss, reason = "there are few scenarios")]
    let expected = expected.map(|all| {
        let count = all.len() as f64;
        let mean = all.iter().map(|one| one.mean).sum::<f64>() / count;
        // The scenarios are estimated independently.
        let half = all.iter().map(|one| (one.high - one.mean).powi(2)).sum::<f64>().sqrt() / count;
        Expected { mean, low: (mean - half).max(0.0), high: mean + half }
    });
    Some(Cost { name, fewest: fewest.map(|all| all.into_iter().fold(f64::MAX, f64::min)), most, expected })
}

fn measured(runs: &[&(&Run, Report)], name: Measure) -> String {
    let Some(cost) = over(runs, name) else { return "-".to_owned() };
    let exact = cost.fewest.zip(cost.most).map(|(fewest, most)| match most {
        Greatest::Amount(most) if trimmed(most) == trimmed(fewest) => trimmed(fewest),
        Greatest::Amount(most) => format!("{} to {}", trimmed(fewest), trimmed(most)),
        Greatest::Unbounded => format!("{} to unbounded", trimmed(fewest)),
    });
    let expected = cost.expected.map(|Expected { mean, high, .. }| format!("{mean:.2} ± {:.2}", high - mean));
    let parts: Vec<String> = exact.into_iter().chain(expected).collect();
    if parts.is_empty() { "-".to_owned() } else { parts.join("; ") }
}

/// With as few decimals as it needs, two at most.
pub(super) fn trimmed(amount: f64) -> String {
    format!("{amount:.2}").trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn key_kept(runs: &[&(&Run, Report)]) -> String {
    let kept: Option<Vec<KeyKept>> = all(runs).map(|costs| costs.key_kept).collect();
    match kept.and_then(|kept| kept.into_iter().max()) {
        None => "-",
        Some(KeyKept::Never) => "never",
        Some(KeyKept::UntilTold) => "until the intent is told",
        Some(KeyKept::WhileUnderWay) => "while a request may be under way",
    }
    .to_owned()
}

fn lease_kept(runs: &[&(&Run, Report)]) -> String {
    match all(runs).map(|costs| costs.lease_kept).max() {
        None | Some(LeaseKept::Never) => "-",
        Some(LeaseKept::OneTransaction) => "for one transaction",
        Some(LeaseKept::OneCall) => "for one call",
        Some(LeaseKept::FromReadToWrite) => "from the read to the write",
    }
    .to_owned()
}

/// What a write costs the server: transactions and steps.
fn write_cost(runs: &[&(&Run, Report)]) -> String {
    let handler = runs.first().and_then(|(run, _)| run.model().design.server.handler(Tool::Write));
    let Some(handler) = handler else { return "-".to_owned() };
    let lists = handler.transactions.iter().chain(&handler.at_end);
    let steps: usize = lists.clone().map(Vec::len).sum();
    let transactions = lists.count();
    let plural = if transactions == 1 { "" } else { "s" };
    format!("{transactions} transaction{plural}, {steps} steps")
}
