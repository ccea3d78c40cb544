//! Calls that work on two resources: each half is judged by itself, what is told about both, and that both are seen at once.

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
            "`also-version` is of the other resource, and the call has no `also`",
        ),
        (
            json!({ "answer": { "outcome": "ok", "also-fields": { "balance": 1 } } }),
            "`also-fields` is of the other resource, and the call has no `also`",
        ),
        (also("read", "y"), "`also`: what is changed besides is set, appended to or incremented"),
        (line(also("set", "y"), &json!({ "tool": "read" })), "`also`: what a read does besides is `read`"),
    ];
    for (more, what) in cases {
        let more = line(json!({ "answer": { "outcome": "ok" } }), &more);
        let report = report(&[call("A-1", (10, 20), "close", &more)]);
        assert_eq!(report.mistakes[0].what, what);
    }
}

/// A read of both accounts, in these versions.
fn statement(id: &str, times: (u64, u64), versions: (u64, u64)) -> Value {
    let shows = |version: u64, before: i64, after: i64| json!({ "balance": if version > 1 { after } else { before } });
    let answer = json!({
        "outcome": "ok", "version": versions.0, "fields": shows(versions.0, 100, 90),
        "also-version": versions.1, "also-fields": shows(versions.1, 100, 110),
    });
    call(id, times, "read", &json!({ "also": { "tool": "read", "handle": "y" }, "answer": answer }))
}

/// A transfer that takes a long time, and others' calls meanwhile; both halves are acknowledged.
fn meanwhile(others: &[Value]) -> Report {
    let answer = json!({ "outcome": "ok", "version": 2, "also-version": 2 });
    let mut lines = vec![heading(false)];
    lines.extend(accounts(0, (1, 1), (100, 100)));
    lines.push(transfer("A-1", (10, 90), &json!({ "answer": answer })));
    lines.extend_from_slice(others);
    lines.push(end());
    let report = report(&lines);
    assert_eq!(report.malformed, 0, "{:?}", report.mistakes);
    report
}

#[track_caller]
fn stands(report: &Report, name: &str, verdict: Verdict) {
    assert_eq!(check(report, name).verdict, verdict, "{:#?}", check(report, name));
}

#[test]
fn a_read_that_sees_half_of_a_call_is_fractured() {
    let half = meanwhile(&[statement("B-1", (20, 30), (2, 1))]);
    let found = check(&half, "serializable");
    assert_eq!((found.verdict, found.violations, found.judged), (Verdict::Violated, 1, 4));
    assert!(found.anomaly.is_some_and(|anomaly| anomaly.contains("RAMP")));
    let finding = &found.findings[0];
    assert_eq!(finding.anomaly, Some("fractured read (A5A, G-single)"));
    let edges = [
        "B's read (B-1, line 5) had seen what A's increment (A-1, line 4) made of balance of x as v2 (write-read)",
        "B's read (B-1, line 5) had seen balance of y as it was before A's increment (A-1, line 4) changed it as v2 (read-write)",
    ];
    let mut told = finding.cycle.clone();
    told.sort_unstable_by_key(|edge| edge.contains("read-write"));
    assert_eq!(told, edges);
    assert_eq!((&*finding.calls, &*finding.lines), (&["A-1".to_owned(), "B-1".to_owned()][..], &[4, 5][..]));
    stands(&half, "strictly-serializable", Verdict::Violated);
    // The other half alone, both, and neither.
    stands(&meanwhile(&[statement("B-1", (20, 30), (1, 2))]), "serializable", Verdict::Violated);
    for versions in [(1, 1), (2, 2)] {
        let whole = meanwhile(&[statement("B-1", (20, 30), versions)]);
        stands(&whole, "serializable", Verdict::Holds);
        stands(&whole, "strictly-serializable", Verdict::Holds);
    }
}

#[test]
fn a_plan_that_rests_on_half_of_a_call_is_a_fractured_read() {
    let plan = |more: Value| {
        let set = json!({ "handle": "z", "fields": { "total": 190 }, "answer": { "outcome": "ok", "version": 5 } });
        check(&meanwhile(&[call("B-1", (20, 30), "set", &line(set, &more))]), "serializable").clone()
    };
    let half = plan(json!({ "saw": { "x": 2, "y": 1 } }));
    assert_eq!(half.findings[0].anomaly, Some("fractured read (A5A, G-single)"));
    assert_eq!(plan(json!({ "saw": { "x": 2, "y": 2 } })).verdict, Verdict::Holds);
    // What it had seen, and does not rest on, may have changed.
    assert_eq!(plan(json!({ "saw": { "x": 2, "y": 1 }, "given": ["x"] })).verdict, Verdict::Holds);
    // Nor is anything known of what it does not say.
    assert_eq!(plan(json!({})).verdict, Verdict::Holds);
    // What a call changes besides it may rest on, too.
    let also = json!({ "tool": "increment", "handle": "y", "fields": { "balance": 1 } });
    let answer = json!({ "outcome": "ok", "version": 5, "also-version": 3 });
    let rests =
        |y: u64| plan(json!({ "also": also, "answer": answer, "saw": { "x": 2, "y": y }, "given": ["x", "y"] }));
    assert_eq!(rests(1).findings[0].anomaly, Some("fractured read (A5A, G-single)"));
    assert_eq!(rests(2).verdict, Verdict::Holds);
}

/// Each of two calls may stand on its own side of what they see half of.
#[test]
fn two_calls_that_see_one_half_each_are_in_no_order_but_that_of_time() {
    let view = |id: &str, times, handle: &str, version: u64| {
        let answer = json!({ "outcome": "ok", "version": version });
        call(id, times, "read", &json!({ "handle": handle, "answer": answer }))
    };
    let apart = meanwhile(&[view("B-1", (20, 30), "y", 1), view("B-2", (40, 50), "x", 2)]);
    stands(&apart, "serializable", Verdict::Holds);
    stands(&apart, "strictly-serializable", Verdict::Holds);
    let back = meanwhile(&[view("B-1", (20, 30), "x", 2), view("B-2", (40, 50), "y", 1)]);
    stands(&back, "serializable", Verdict::Holds);
    let strict = check(&back, "strictly-serializable");
    assert_eq!(strict.findings[0].anomaly, Some("stale read (G-single-realtime)"));
    assert_eq!(strict.findings[0].calls, ["A-1", "B-1", "B-2"]);
}

/// Nothing says that the other half ever took effect: its call is cut, or refused behind the first.
#[test]
fn of_a_half_that_is_not_known_nothing_is_claimed() {
    for answer in [json!(null), json!({ "outcome": "closed" })] {
        let mut sent = transfer("A-1", (10, 90), &json!({ "answer": answer }));
        if answer.is_null() {
            let object = sent.as_object_mut().expect("an object");
            object.remove("answer");
            object.remove("received");
        }
        let mut lines = vec![heading(false)];
        lines.extend(accounts(0, (1, 1), (100, 100)));
        lines.extend([sent, statement("B-1", (20, 30), (2, 1)), end()]);
        let report = report(&lines);
        assert_eq!(report.malformed, 0, "{:?}", report.mistakes);
        assert_ne!(check(&report, "serializable").verdict, Verdict::Violated, "{answer}");
    }
}

#[test]
fn two_calls_whose_halves_are_in_opposite_orders_are_found() {
    let answer = |x: u64, y: u64| json!({ "answer": { "outcome": "ok", "version": x, "also-version": y } });
    let both = |first: (u64, u64), second: (u64, u64)| {
        let mut lines = vec![heading(false)];
        lines.extend(accounts(0, (1, 1), (100, 100)));
        lines.push(transfer("A-1", (10, 90), &answer(first.0, first.1)));
        lines.push(transfer("B-1", (11, 91), &answer(second.0, second.1)));
        check(&report(&lines), "serializable").clone()
    };
    let crossed = both((2, 3), (3, 2));
    assert_eq!(crossed.findings[0].anomaly, Some("dirty write (G0)"));
    assert_eq!(both((2, 2), (3, 3)).verdict, Verdict::Holds);
}

/// Lists that are only appended to show it without versions.
#[test]
fn a_read_of_lists_can_be_fractured() {
    let lists = |x: &[&str], y: &[&str]| {
        let also = json!({ "tool": "append", "handle": "y", "fields": { "rows": "b" } });
        let both = json!({ "fields": { "rows": "a" }, "also": also, "answer": { "outcome": "ok" } });
        let shown = json!({ "outcome": "ok", "fields": { "rows": x }, "also-fields": { "rows": y } });
        let read = json!({ "also": { "tool": "read", "handle": "y" }, "answer": shown });
        let lines = [call("A-1", (10, 90), "append", &both), call("B-1", (20, 30), "read", &read)];
        check(&report(&lines), "serializable").clone()
    };
    assert_eq!(lists(&["a"], &[]).findings[0].anomaly, Some("fractured read (A5A, G-single)"));
    assert_eq!(lists(&["a"], &["b"]).verdict, Verdict::Holds);
    assert_eq!(lists(&[], &[]).verdict, Verdict::Holds);
}
