//! Calls that change two resources: each half is judged by itself, and what is told about both.

use handlecheck::audit::report::{Checked, Report};
use handlecheck::model::Verdict;
use serde_json::{Value, json};

use super::by_hand::{call, end, line};
use super::{audited, check};

fn report(lines: &[Value]) -> Report {
    let text: Vec<String> = lines.iter().map(Value::to_string).collect();
    audited(&text.join("\n"))
}

/// What is there of the account `x` and of the account `y`, at a time.
fn accounts(at: u64, versions: (u64, u64), balances: (i64, i64)) -> [Value; 2] {
    let account = |handle: &str, version: u64, balance: i64| {
        let fields = json!({ "balance": balance });
        json!({ "type": "state", "at": at, "handle": handle, "owner": "u", "version": version, "fields": fields })
    };
    [account("x", versions.0, balances.0), account("y", versions.1, balances.1)]
}

/// A transfer of 10 from `x` to `y`.
fn transfer(id: &str, times: (u64, u64), more: &Value) -> Value {
    let also = json!({ "tool": "increment", "handle": "y", "fields": { "balance": 10 } });
    let base = call(id, times, "increment", &json!({ "fields": { "balance": -10 }, "intent": "pay", "also": also }));
    line(base, more)
}

fn heading(takes_back: bool) -> Value {
    json!({ "type": "log", "schema": 1, "versions-count": true, "takes-back": takes_back })
}

fn told(word: &str) -> Value {
    json!({ "type": "told", "at": 800, "agent": "A", "intent": "pay", "told": word })
}

/// One transfer that ended so, what was told, and what is there at the end.
fn paid(heading: Value, answer: &Value, word: &str, versions: (u64, u64), balances: (i64, i64)) -> Report {
    let sent = transfer("A-1", (10, 20), &json!({ "answer": answer }));
    let mut lines = vec![heading];
    lines.extend(accounts(0, (1, 1), (100, 100)));
    lines.extend([sent, told(word)]);
    lines.extend(accounts(900, versions, balances));
    lines.push(end());
    report(&lines)
}

fn truthful(report: &Report) -> &Checked {
    check(report, "truthful-outcome")
}

#[test]
fn both_halves_are_changes_and_one_call() {
    let answer = json!({ "outcome": "ok", "version": 2, "also-version": 2 });
    let whole = paid(heading(false), &answer, "ok", (2, 2), (90, 110));
    assert_eq!((whole.calls, whole.resources, whole.malformed), (1, 2, 0));
    assert_eq!(truthful(&whole).verdict, Verdict::Holds);
    assert!(whole.checks.iter().all(|check| check.verdict != Verdict::Violated));
}

#[test]
fn a_refusal_behind_the_first_half_is_found() {
    let answer = json!({ "outcome": "closed" });
    let half = paid(heading(false), &answer, "failure", (2, 1), (90, 100));
    let sentence = "A told failure of pay (line 5), and a part of it took effect (A-1, line 4)";
    assert_eq!(truthful(&half).findings[0].sentence, sentence);
    // Neither was changed.
    let none = paid(heading(false), &answer, "failure", (1, 1), (100, 100));
    assert_eq!(truthful(&none).verdict, Verdict::Holds);
    // It was changed, and changed back: where servers do so, a version says nothing.
    let back = paid(heading(true), &answer, "failure", (3, 1), (100, 100));
    assert_eq!(truthful(&back).verdict, Verdict::Inconclusive);
}

#[test]
fn half_of_what_was_told_as_done_is_found() {
    let lines = |answered: Value| {
        let mut lines = vec![heading(false)];
        lines.extend(accounts(0, (1, 1), (100, 100)));
        let mut cut = transfer("A-1", (10, 20), &json!({}));
        let object = cut.as_object_mut().expect("an object");
        let at = object.remove("received").expect("it is there");
        object.insert("cut".to_owned(), at);
        lines.push(cut);
        lines.push(transfer("A-2", (30, 40), &json!({ "repeats": "A-1", "answer": answered })));
        lines.push(told("ok"));
        lines
    };
    // The record was made with the first half, and the second never came.
    let mut recorded = lines(json!({ "outcome": "ok", "replayed": true, "version": 2 }));
    recorded.extend(accounts(900, (2, 1), (90, 100)));
    recorded.push(end());
    let report_of = report(&recorded);
    let sentence = "A told that pay is done (line 6), and only a part of it took effect";
    assert_eq!(truthful(&report_of).findings[0].sentence, sentence);
    // The first half was done twice.
    let mut twice = lines(json!({ "outcome": "ok", "version": 3, "also-version": 2 }));
    twice.extend(accounts(900, (3, 2), (80, 110)));
    twice.push(end());
    let twice = report(&twice);
    let doubled = check(&twice, "no-double-write");
    let sentence = "A's increment of balance -10 on x took effect twice: as v2 by A-1, line 4, whose answer was lost, and as v3 by A-2, line 5";
    assert_eq!((doubled.violations, &*doubled.findings[0].sentence), (1, sentence));
}

#[test]
fn the_other_half_may_be_of_what_belongs_to_somebody_else() {
    let mut lines = vec![heading(false)];
    lines.extend(accounts(0, (1, 1), (100, 100)));
    lines[2]["owner"] = "v".into();
    let answer = json!({ "outcome": "ok", "version": 2, "also-version": 2 });
    lines.extend([transfer("A-1", (10, 20), &json!({ "answer": answer })), end()]);
    let report = report(&lines);
    let crossed = check(&report, "no-cross-principal");
    assert_eq!(
        crossed.findings[0].sentence,
        "u changed y, which is v's: increment of balance 10 was answered ok (A-1, line 4)"
    );
}

#[test]
fn what_can_not_be_done_besides_is_a_mistake_of_its_line() {
    let also = |tool: &str, handle: &str| json!({ "also": { "tool": tool, "handle": handle, "fields": {} } });
    let cases = [
        (also("delete", "y"), "`also`: what is changed besides is set, appended to or incremented"),
        (also("set", "x"), "`also` names another resource than the call's own"),
        (
            json!({ "answer": { "outcome": "ok", "also-version": 2 } }),
            "`also-version` is of what the call changes besides, and it has no `also`",
        ),
    ];
    for (more, what) in cases {
        let more = line(json!({ "answer": { "outcome": "ok" } }), &more);
        let report = report(&[call("A-1", (10, 20), "close", &more)]);
        assert_eq!(report.mistakes[0].what, what);
    }
}
