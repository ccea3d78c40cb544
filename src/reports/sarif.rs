//! SARIF 2.1.0, for code scanning: each finding at the line of the design that it is about.
//!
//! What is violated (`check`) or not as expected (`test`, `compare`) is an error, what is inconclusive a warning, what
//! is vacuous or was not checked a note; what holds is not in it. A finding stands at the transaction that commits the
//! harm, or at the reaction of the client that tells it; the trace is its code flow, step by step. Of what `diff`
//! finds, only what is worse is in it.

use serde_json::{Value, json};

use super::changes::clause;
use super::{Asked, AtTheEnd, Changes, Format, People, Reporter, Standing, places, words};
use crate::input::Place;
use crate::invariants::INVARIANTS;
use crate::lock::Kind;
use crate::model::Verdict;
use crate::run::{PropertyReport, Report, Run};
use crate::trace::{Sources, Trace};

pub static FORMAT: Format = Format { begin, changes };

fn begin<'r>(asked: Asked, _: &'r [Run], _: People) -> Box<dyn Reporter<'r> + 'r> {
    AtTheEnd::begin(asked, sarif)
}

fn sarif(asked: Asked, runs: &[(&Run, Report)]) -> String {
    let mut rules: Vec<&str> = Vec::new();
    let mut results: Vec<Value> = Vec::new();
    for (run, report) in runs {
        for property in &report.invariants {
            let level = match asked.standing(report, property) {
                Standing::Passed => continue,
                Standing::Failed => "error",
                Standing::Inconclusive => "warning",
                Standing::Vacuous => "note",
            };
            if !rules.contains(&&*property.name) {
                rules.push(&property.name);
            }
            results.push(finding(asked, level, run, report, property));
        }
        let known = |name: &str| report.invariants.iter().any(|property| property.name == name);
        for unchecked in report.unchecked.iter().filter(|unchecked| !known(&unchecked.name)) {
            if !rules.contains(&&*unchecked.name) {
                rules.push(&unchecked.name);
            }
            let mut result = json!({
                "ruleId": unchecked.name,
                "level": "note",
                "message": { "text": format!("{}: not checked, since {}", unchecked.name, unchecked.why) },
                "partialFingerprints": { "handlecheck/v1": format!("{} {}", words::name(report), unchecked.name) },
            });
            let sources = run.sources();
            locate(&mut result, None, &places::whole(sources.design), &sources);
            results.push(result);
        }
    }
    document(&rules, results)
}

fn changes(changes: &Changes<'_>, _: bool) -> String {
    let mut rules: Vec<&str> = Vec::new();
    let mut results: Vec<Value> = Vec::new();
    for change in changes.difference.changes.iter().filter(|change| change.kind.is_worse()) {
        let rule = change.property.as_deref().unwrap_or_else(|| change.kind.name());
        if !rules.contains(&rule) {
            rules.push(rule);
        }
        let fingerprint = format!("{} {rule}", change.subject());
        let mut result = json!({
            "ruleId": rule,
            "level": if change.is.as_ref().is_some_and(|is| is.verdict() == Verdict::Violated) { "error" } else { "warning" },
            "message": { "text": format!("{}: {}", change.kind.words(), clause(change)) },
            "partialFingerprints": { "handlecheck/v1": fingerprint },
        });
        // What is not there any more has no place.
        if let Some((run, _)) = change.new.as_ref().and_then(|subject| changes.run(subject)) {
            let sources = run.sources();
            let trace = changes.counterexample(change).map(|(_, trace)| trace);
            locate(&mut result, trace, &places::whole(sources.design), &sources);
        }
        results.push(result);
    }
    document(&rules, results)
}

/// Says where a result is: in a trace, or else at this place.
fn locate(result: &mut Value, trace: Option<&Trace>, otherwise: &Place, sources: &Sources<'_>) {
    let place = trace.map(|trace| places::of_violation(trace, sources));
    result["locations"] = json!([location(place.as_ref().unwrap_or(otherwise), None)]);
    result["relatedLocations"] = json!([location(&places::whole(sources.scenario), Some("the scenario"))]);
    if let Some(trace) = trace {
        let steps = trace.steps.iter().enumerate().map(|(index, step)| {
            let place = places::of_step(trace, index, sources);
            json!({ "location": location(&place, Some(&step.sentence)) })
        });
        result["codeFlows"] = json!([{ "threadFlows": [{ "locations": steps.collect::<Vec<_>>() }] }]);
    }
}

/// The whole document, from the names of what is found and the findings.
fn document(rules: &[&str], results: Vec<Value>) -> String {
    let document = json!({
        "$schema": "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "handlecheck",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": rules.iter().map(|name| rule(name)).collect::<Vec<_>>(),
            } },
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    });
    let mut text = serde_json::to_string_pretty(&document).expect("a document has string keys only");
    text.push('\n');
    text
}

fn rule(name: &str) -> Value {
    match INVARIANTS.iter().find(|row| row.name == name) {
        Some(row) => json!({
            "id": name,
            "shortDescription": { "text": row.sentence },
            "help": { "text": row.page(), "markdown": row.page() },
        }),
        None => {
            let text = match Kind::named(name) {
                Some(kind) => format!("the run as a whole: {}", kind.words()),
                None => format!("the assertion {name} of the scenario"),
            };
            json!({ "id": name, "shortDescription": { "text": text } })
        }
    }
}

fn finding(asked: Asked, level: &str, run: &Run, report: &Report, property: &PropertyReport) -> Value {
    let sources = run.sources();
    let trace = property.breaks.first().and_then(|shortest| shortest.recorded.as_deref());
    let otherwise = places::of_expectation(&sources, &property.name).unwrap_or_else(|| places::whole(sources.design));
    let text = match level {
        "note" => "no run reaches the situation that it is about, so it can't be violated".to_owned(),
        "warning" => words::extent_in_full(report),
        _ => words::message(asked, property),
    };
    let cost = property.breaks.first().map_or_else(String::new, |shortest| format!(" ({})", words::cost(shortest)));
    let mut result = json!({
        "ruleId": property.name,
        "level": level,
        "message": { "text": format!("{}: {text}{cost}", words::name(report)) },
        "partialFingerprints": { "handlecheck/v1": format!("{} {}", words::name(report), property.name) },
    });
    locate(&mut result, trace, &otherwise, &sources);
    result
}

/// A place as SARIF says it, with a message where it has one.
fn location(place: &Place, message: Option<&str>) -> Value {
    let text = &*place.source.text;
    let (start, end) = (position(text, place.span.start), position(text, place.span.end));
    let mut location = json!({
        "physicalLocation": {
            "artifactLocation": { "uri": uri(&place.source.origin) },
            "region": { "startLine": start.0, "startColumn": start.1, "endLine": end.0, "endColumn": end.1 },
        },
    });
    if let Some(message) = message {
        location["message"] = json!({ "text": message });
    }
    location
}

/// Line and column of an offset, counted from 1.
fn position(text: &str, offset: usize) -> (usize, usize) {
    let before = &text[..offset];
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
}

/// A path as a URI; a relative one stays relative, as code scanning wants it.
fn uri(origin: &str) -> String {
    let path = origin.replace('\\', "/");
    let path = path.strip_prefix("./").unwrap_or(&path);
    let mut uri = if path.starts_with('/') { "file://".to_owned() } else { String::new() };
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' | b'/' => uri.push(char::from(byte)),
            other => uri.push_str(&format!("%{other:02X}")),
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_a_uri() {
        assert_eq!(uri("./models/my design.toml"), "models/my%20design.toml");
        assert_eq!(uri("/models/é.toml"), "file:///models/%C3%A9.toml");
    }

    #[test]
    fn positions_count_characters_from_one() {
        assert_eq!(position("é = 1\nb = 2\n", 3), (1, 3));
        assert_eq!(position("é = 1\nb = 2\n", 7), (2, 1));
        assert_eq!(position("", 0), (1, 1));
    }
}
