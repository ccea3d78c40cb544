//! JUnit XML, for the test pages of CI servers.
//!
//! Each run is a test suite, each invariant and assertion in it a test case. A case fails when it is violated (`check`)
//! or not as expected (`test`, `compare`); what is inconclusive is an error, and what is vacuous or was not checked is
//! skipped. A situation that was asked for (`check --show`) is a test case too, and fails when it is not reached. There
//! are no times in it: the same models give the same bytes. For `diff`, each change is a test case, which fails if it is
//! one for the worse.

use quick_junit::{NonSuccessKind, Property, TestCase, TestCaseStatus, TestSuite};

use super::changes::{clause, name};
use super::{Asked, AtTheEnd, Changes, Format, People, Reporter, Standing, words};
use crate::lock::Change;
use crate::run::{PropertyReport, Report, Run};
use crate::trace::Trace;

pub static FORMAT: Format = Format { begin, changes };

fn begin<'r>(asked: Asked, _: &'r [Run], _: People) -> Box<dyn Reporter<'r> + 'r> {
    AtTheEnd::begin(asked, junit)
}

fn junit(asked: Asked, runs: &[(&Run, Report)]) -> String {
    let mut document = quick_junit::Report::new("handlecheck");
    for (_, report) in runs {
        let name = words::name(report);
        let mut suite = TestSuite::new(name.clone());
        suite.add_property(Property::new("explored", words::extent_in_full(report)));
        for property in &report.invariants {
            let mut case = TestCase::new(property.name.clone(), status(asked, report, property));
            case.set_classname(name.clone());
            suite.add_test_case(case);
        }
        for show in &report.shows {
            let mut status = match show.is_reached(report) {
                Some(true) => TestCaseStatus::success(),
                Some(false) => TestCaseStatus::non_success(NonSuccessKind::Failure),
                None => TestCaseStatus::non_success(NonSuccessKind::Error),
            };
            if !show.reached {
                let why = show.hint.clone().unwrap_or_else(|| words::extent_in_full(report));
                status.set_type(show.words(report)).set_message(why);
            }
            let mut case = TestCase::new(show.situation.clone(), status);
            case.set_classname(name.clone());
            suite.add_test_case(case);
        }
        let known = |name: &str| report.invariants.iter().any(|property| property.name == name);
        for unchecked in report.unchecked.iter().filter(|unchecked| !known(&unchecked.name)) {
            let mut status = TestCaseStatus::skipped();
            status.set_message(format!("not checked, since {}", unchecked.why));
            let mut case = TestCase::new(unchecked.name.clone(), status);
            case.set_classname(name.clone());
            suite.add_test_case(case);
        }
        document.add_test_suite(suite);
    }
    written(&document)
}

fn written(document: &quick_junit::Report) -> String {
    let mut text = document.to_string().expect("what is written to a string is well-formed");
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

/// A case for each change, which fails if it is one for the worse, and one for everything that is the same.
fn changes(changes: &Changes<'_>, _: bool) -> String {
    let difference = &changes.difference;
    let mut suite = TestSuite::new(format!("{} -> {}", changes.old, changes.new));
    suite.add_test_case(TestCase::new(super::changes::summary(changes), TestCaseStatus::success()));
    for change in &difference.changes {
        let status = if change.kind.is_worse() { worse(changes, change) } else { TestCaseStatus::success() };
        let property = change.property.as_ref().map_or_else(String::new, |name| format!("{name}: "));
        let mut case = TestCase::new(format!("{property}{}", change.kind.words()), status);
        case.set_classname(name(change));
        suite.add_test_case(case);
    }
    let mut document = quick_junit::Report::new("handlecheck");
    document.add_test_suite(suite);
    written(&document)
}

fn worse(changes: &Changes<'_>, change: &Change) -> TestCaseStatus {
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
    status.set_type(change.kind.name()).set_message(clause(change));
    if let Some((_, trace)) = changes.counterexample(change) {
        let mut text = format!("{}.\n{}\n", trace.sentence, changes.command(change).unwrap_or_default());
        text.push_str(&steps(trace));
        status.set_description(text);
    }
    status
}

fn status(asked: Asked, report: &Report, property: &PropertyReport) -> TestCaseStatus {
    let standing = asked.standing(report, property);
    let mut status = match standing {
        Standing::Passed => return TestCaseStatus::success(),
        Standing::Vacuous => TestCaseStatus::skipped(),
        Standing::Inconclusive => TestCaseStatus::non_success(NonSuccessKind::Error),
        Standing::Failed => TestCaseStatus::non_success(NonSuccessKind::Failure),
    };
    match standing {
        Standing::Vacuous => {
            status.set_message("no run reaches the situation that it is about, so it can't be violated");
        }
        Standing::Inconclusive => {
            status.set_type("inconclusive").set_message(words::extent_in_full(report));
        }
        Standing::Passed | Standing::Failed => {
            let kind = if property.expected.is_some() { "unexpected" } else { property.verdict.name() };
            status.set_type(kind).set_message(words::message(asked, property)).set_description(details(property));
        }
    }
    status
}

/// What happened, and how to see it.
fn details(property: &PropertyReport) -> String {
    let mut text = String::new();
    for found in &property.breaks {
        let shown = found.trace.as_ref().map_or_else(String::new, |trace| format!(": handlecheck explain {trace}"));
        text.push_str(&format!("{}{shown}\n", words::cost(found)));
    }
    if let Some(trace) = property.breaks.first().and_then(|found| found.recorded.as_deref()) {
        text.push_str(&steps(trace));
    }
    text
}

fn steps(trace: &Trace) -> String {
    let steps = (1..).zip(&trace.steps).map(|(number, step)| format!("{number:>3}  {}\n", step.sentence));
    steps.collect()
}
