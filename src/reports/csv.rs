//! Comma-separated values (RFC 4180), for spreadsheets and scripts.
//!
//! One line for each invariant of each run, and for `compare` one for each thing that a finished intent takes: the
//! fewest and the most are exact, what is to be expected, the `mean`, lies between `low` and `high` in 95 of 100 cases.
//! For `check --show`, one line for each situation: `reached`, `not-reached` or `inconclusive`. What does not apply is
//! empty. For `diff`, one line for each change.

use super::{Asked, AtTheEnd, Changes, Format, People, Reporter};
use crate::run::{Break, Greatest, Report, Run};

pub static FORMAT: Format = Format { begin, changes };

fn begin<'r>(asked: Asked, _: &'r [Run], _: People) -> Box<dyn Reporter<'r> + 'r> {
    AtTheEnd::begin(asked, lines)
}

fn lines(_: Asked, runs: &[(&Run, Report)]) -> String {
    let mut text =
        "scenario,design,protocol,kind,name,verdict,expectation,steps,faults,fewest,most,mean,low,high\n".to_owned();
    let number = |number: Option<f64>| number.map_or_else(String::new, |number| number.to_string());
    for (_, report) in runs {
        let run = [report.scenario.clone(), report.design.clone(), report.protocol.clone()];
        for found in &report.invariants {
            let count = |count: Option<u32>| count.map_or_else(String::new, |count| count.to_string());
            let (name, verdict) = (found.name.clone(), found.verdict.name().to_owned());
            let expected = found.expected.clone().unwrap_or_default();
            let cells = ["invariant".to_owned(), name, verdict, expected, count(found.steps), count(found.faults)];
            push(&mut text, run.iter().cloned().chain(cells).chain(std::array::from_fn::<_, 5, _>(|_| String::new())));
        }
        let known = |name: &str| report.invariants.iter().any(|found| found.name == name);
        for unchecked in report.unchecked.iter().filter(|unchecked| !known(&unchecked.name)) {
            let cells = ["invariant", &*unchecked.name, "not-checked"].map(str::to_owned);
            push(&mut text, run.iter().cloned().chain(cells).chain(std::array::from_fn::<_, 8, _>(|_| String::new())));
        }
        for show in &report.shows {
            let count =
                |count: fn(&Break) -> u32| show.runs.first().map_or_else(String::new, |run| count(run).to_string());
            let cells =
                ["situation".to_owned(), show.situation.clone(), show.words(report).replace(' ', "-"), String::new()];
            let cells = cells.into_iter().chain([count(|run| run.steps), count(|run| run.faults)]);
            push(&mut text, run.iter().cloned().chain(cells).chain(std::array::from_fn::<_, 5, _>(|_| String::new())));
        }
        for cost in report.costs.iter().flat_map(|costs| &costs.measures) {
            let most = match cost.most {
                None => String::new(),
                Some(Greatest::Amount(amount)) => amount.to_string(),
                Some(Greatest::Unbounded) => "unbounded".to_owned(),
            };
            let expected = cost.expected;
            let cells = [
                "cost".to_owned(),
                cost.name.name().to_owned(),
                String::new(),
                String::new(),
                String::new(),
                String::new(),
                number(cost.fewest),
                most,
                number(expected.map(|expected| expected.mean)),
                number(expected.map(|expected| expected.low)),
                number(expected.map(|expected| expected.high)),
            ];
            push(&mut text, run.iter().cloned().chain(cells));
        }
    }
    text
}

fn changes(changes: &Changes<'_>, _: bool) -> String {
    let mut text = "kind,worse,scenario,design,protocol,name,before,after\n".to_owned();
    for change in &changes.difference.changes {
        let subject = change.subject();
        let cells = [
            change.kind.name(),
            if change.kind.is_worse() { "true" } else { "false" },
            &*subject.scenario,
            &*subject.design,
            &*subject.protocol,
            change.property.as_deref().unwrap_or_default(),
            &*change.before,
            &*change.after,
        ];
        push(&mut text, cells.map(str::to_owned));
    }
    text
}

/// One line. A cell is quoted where it needs to be.
fn push(text: &mut String, cells: impl IntoIterator<Item = String>) {
    let cells = cells.into_iter().map(|cell| {
        if cell.contains([',', '"', '\n', '\r']) { format!("\"{}\"", cell.replace('"', "\"\"")) } else { cell }
    });
    text.push_str(&cells.collect::<Vec<_>>().join(","));
    text.push('\n');
}
