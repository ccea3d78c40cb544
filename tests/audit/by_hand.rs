//! One small log for each anomaly, in which it is found by name, and its sibling, in which it is not there.

use handlecheck::audit::report::Report;
use handlecheck::model::Verdict;
use serde_json::{Value, json};

use super::{audited, check};

/// Merges what a line has besides.
pub fn line(mut base: Value, more: &Value) -> Value {
    let base_map = base.as_object_mut().expect("an object");
    for (key, value) in more.as_object().expect("an object") {
        base_map.insert(key.clone(), value.clone());
    }
    base
}

pub fn start(version: u64, fields: &Value) -> Value {
    json!({ "type": "state", "at": 0, "handle": "x", "owner": "u", "version": version, "fields": fields })
}

pub fn finish(version: u64, fields: &Value) -> Value {
    json!({ "type": "state", "at": 900, "handle": "x", "version": version, "fields": fields })
}

pub fn counted() -> Value {
    json!({ "type": "log", "schema": 1, "versions-count": true })
}

pub fn end() -> Value {
    json!({ "type": "end", "at": 999 })
}

/// A call on `x` for the principal `u`: times are (sent, received).
pub fn call(id: &str, times: (u64, u64), tool: &str, more: &Value) -> Value {
    let agent = id.split('-').next().expect("an agent");
    let base = json!({ "type": "call", "id": id, "agent": agent, "principal": "u", "tool": tool, "handle": "x",
        "sent": times.0, "received": times.1 });
    line(base, more)
}

pub fn ok(version: u64) -> Value {
    json!({ "outcome": "ok", "version": version })
}

pub fn read(id: &str, times: (u64, u64), version: u64, fields: &Value) -> Value {
    call(id, times, "read", &json!({ "answer": { "outcome": "ok", "version": version, "fields": fields } }))
}

pub fn set(id: &str, times: (u64, u64), fields: &Value, version: u64) -> Value {
    call(id, times, "set", &json!({ "fields": fields, "answer": ok(version) }))
}

fn append(id: &str, times: (u64, u64), element: &str) -> Value {
    call(id, times, "append", &json!({ "fields": { "rows": element }, "answer": { "outcome": "ok" } }))
}

fn rows(id: &str, times: (u64, u64), rows: &[&str]) -> Value {
    call(id, times, "read", &json!({ "answer": { "outcome": "ok", "fields": { "rows": rows } } }))
}

fn cut(id: &str, times: (u64, u64), tool: &str, more: &Value) -> Value {
    let mut call = call(id, times, tool, more);
    let object = call.as_object_mut().expect("an object");
    let at = object.remove("received").expect("it is there");
    object.insert("cut".to_owned(), at);
    call
}

fn of(lines: &[Value]) -> Report {
    let text: Vec<String> = lines.iter().map(Value::to_string).collect();
    let report = audited(&text.join("\n"));
    assert_eq!(report.malformed, 0, "{:?}", report.mistakes);
    report
}

/// The check is violated, and the first finding says this.
#[track_caller]
pub fn red(name: &str, lines: &[Value], says: &str) -> Report {
    let report = of(lines);
    let found = check(&report, name);
    let sentences: Vec<&str> = found.findings.iter().map(|found| &*found.sentence).collect();
    assert_eq!(found.verdict, Verdict::Violated, "{name}");
    assert!(sentences[0].contains(says), "{name}: {sentences:?}");
    assert!(!found.findings[0].lines.is_empty());
    report
}

/// The check has this verdict.
#[track_caller]
pub fn stands(name: &str, verdict: Verdict, lines: &[Value]) {
    let report = of(lines);
    let found = check(&report, name);
    assert_eq!(found.verdict, verdict, "{name}: {found:#?}");
}

#[test]
fn a_lost_update_by_versions() {
    let fields = json!({ "m": 16 });
    let reads = |b: u64| {
        [
            start(7, &fields),
            read("A-1", (1, 2), 7, &fields),
            read("B-1", (b, b + 1), if b > 12 { 8 } else { 7 }, &fields),
        ]
    };
    let writes = [set("A-2", (10, 12), &json!({ "m": 32 }), 8), set("B-2", (20, 22), &json!({ "m": 16 }), 9)];
    let says = "B set m of x to 16, having seen v7 (B-2, line 5), and erased A's set of m 32 (A-2, line 4)";
    let report = red("no-lost-update", &[&reads(3)[..], &writes].concat(), says);
    // The graph finds the same by a cycle.
    let cycle = &check(&report, "serializable").findings[0];
    assert_eq!(cycle.anomaly, Some("lost update (P4, G-single)"));
    assert_eq!(cycle.cycle.len(), 2, "{:?}", cycle.cycle);
    let fresh = [start(7, &fields), read("A-1", (1, 2), 7, &fields), read("B-1", (14, 15), 8, &json!({ "m": 32 }))];
    stands("no-lost-update", Verdict::Holds, &[&fresh[..], &writes].concat());
    stands("serializable", Verdict::Holds, &[&fresh[..], &writes].concat());
    // Another field is another matter.
    let other = [writes[0].clone(), set("B-2", (20, 22), &json!({ "s": 1 }), 9)];
    stands("no-lost-update", Verdict::Vacuous, &[&reads(3)[..], &other].concat());
}

#[test]
fn a_lost_update_by_time_alone() {
    let bare = |id: &str, times, tool: &str, fields: Value| {
        call(id, times, tool, &json!({ "fields": fields, "answer": { "outcome": "ok" } }))
    };
    let shown =
        |times, m: u64| call("B-1", times, "read", &json!({ "answer": { "outcome": "ok", "fields": { "m": m } } }));
    let seen = |times| shown(times, 16);
    let a = bare("A-2", (10, 12), "set", json!({ "m": 32 }));
    let b = |times| bare("B-2", times, "set", json!({ "m": 16 }));
    red("no-lost-update", &[seen((3, 4)), a.clone(), b((20, 22))], "having read in B-1, line 1 before that");
    stands("no-lost-update", Verdict::Holds, &[shown((13, 14), 32), a.clone(), b((20, 22))]);
    // Read late, and shown what was there before: nothing tells whether that was a stale read.
    stands("no-lost-update", Verdict::Inconclusive, &[seen((13, 14)), a.clone(), b((20, 22))]);
    // What overlaps is not claimed: neither way round.
    stands("no-lost-update", Verdict::Inconclusive, &[seen((3, 4)), a.clone(), b((11, 22))]);
    stands("no-lost-update", Verdict::Inconclusive, &[seen((9, 11)), a.clone(), b((20, 22))]);
    // Nor is what an author had seen that never read.
    stands("no-lost-update", Verdict::Inconclusive, &[a, b((20, 22))]);
}

#[test]
fn an_append_that_is_gone() {
    let both = [append("A-1", (10, 20), "a"), append("B-1", (12, 22), "b")];
    let gone = rows("C-1", (30, 31), &["b"]);
    let says = "A's append of rows a on x was acknowledged (A-1, line 1), and C-1, line 3 does not show it: rows lacks a; B's append";
    red("no-lost-update", &[&both[..], std::slice::from_ref(&gone)].concat(), says);
    stands("no-lost-update", Verdict::Holds, &[&both[..], &[rows("C-1", (30, 31), &["b", "a"])]].concat());
    stands("no-lost-update", Verdict::Inconclusive, &both);
    // There later: not lost, but the read was stale.
    let later = rows("C-2", (40, 41), &["b", "a"]);
    stands("no-lost-update", Verdict::Holds, &[&both[..], &[gone.clone(), later.clone()]].concat());
    red("fresh-read", &[&both[..], &[gone, later]].concat(), "does not show a in rows");
}

/// Half of a batch was never there; or it was, and somebody wrote over it.
#[test]
fn a_batch_that_is_there_in_part() {
    let batch = |id: &str, times: (u64, u64), fields: &Value| {
        call(id, times, "append", &json!({ "fields": fields, "answer": { "outcome": "ok" } }))
    };
    let both = json!({ "first": "r1", "second": "r2" });
    let half = read("B-1", (100, 110), 2, &json!({ "first": ["r1"], "second": [] }));
    let lines = [batch("A-1", (10, 20), &both), half];
    stands("no-lost-update", Verdict::Inconclusive, &lines);
    let other = batch("C-1", (30, 40), &json!({ "second": "r3" }));
    let over = read("B-1", (100, 110), 3, &json!({ "first": ["r1"], "second": ["r3"] }));
    let lines = [batch("A-1", (10, 20), &both), other, over];
    red("no-lost-update", &lines, "second lacks r2; C's append of second r3 is there");
}

#[test]
fn a_sum_that_is_too_small_or_too_great() {
    let amounts = |total: i64| {
        let add = |id: &str, times| {
            call(id, times, "increment", &json!({ "fields": { "n": 5 }, "answer": { "outcome": "ok" } }))
        };
        let start = json!({ "type": "state", "at": 0, "handle": "x", "fields": { "n": 1 } });
        let finish = json!({ "type": "state", "at": 90, "handle": "x", "fields": { "n": total } });
        [start, add("A-1", (1, 3)), add("B-1", (2, 4)), finish, end()]
    };
    red("no-lost-update", &amounts(6), "n lacks 6, where what was acknowledged comes to 11");
    red("no-double-write", &amounts(16), "16, where all that was asked for comes to 11");
    stands("no-lost-update", Verdict::Holds, &amounts(11));
}

#[test]
fn a_field_that_a_copy_brought_back() {
    let fields = json!({ "m": 16, "s": 1 });
    let lines = |m: u64| {
        vec![
            start(7, &fields),
            read("A-1", (1, 2), 7, &fields),
            set("A-2", (10, 12), &json!({ "m": 32 }), 8),
            read("B-1", (13, 14), 8, &json!({ "m": 32, "s": 1 })),
            set("B-2", (15, 16), &json!({ "s": 2 }), 9),
            finish(9, &json!({ "m": m, "s": 2 })),
        ]
    };
    red("no-lost-update", &lines(16), "A's set of m to 32");
    stands("no-lost-update", Verdict::Vacuous, &lines(32));
}

#[test]
fn a_double_write() {
    let work = json!({ "intent": "m 32", "fields": { "m": 32 } });
    let again = |version: u64, replayed: bool| {
        let answer = json!({ "outcome": "ok", "version": version, "replayed": replayed });
        call("A-2", (20, 22), "set", &line(work.clone(), &json!({ "repeats": "A-1", "answer": answer })))
    };
    let lost = cut("A-1", (1, 5), "set", &work);
    let fields = json!({ "m": 16 });
    let whole = |again: Value, version: u64| {
        vec![counted(), start(7, &fields), lost.clone(), again, finish(version, &json!({ "m": 32 })), end()]
    };
    // The version that no answer tells of can be nobody else's.
    red(
        "no-double-write",
        &whole(again(9, false), 9),
        "took effect twice: as v8 by A-1, line 3, whose answer was lost",
    );
    stands("no-double-write", Verdict::Holds, &whole(again(8, true), 8));
    stands("no-double-write", Verdict::Holds, &whole(again(8, false), 8));
    // Without the promises, the log can't tell.
    stands("no-double-write", Verdict::Inconclusive, &[lost.clone(), again(9, false)]);
    // Two answers at first hand with two versions.
    let first = call("A-1", (1, 5), "set", &line(work.clone(), &json!({ "answer": ok(8) })));
    red("no-double-write", &[first, again(9, false)], "as v8 by A-1, line 1, and as v9");
    // An element that is there twice.
    let element = json!({ "fields": { "rows": "a" }, "key": "k" });
    let calls = [
        cut("A-1", (1, 5), "append", &element),
        call("A-2", (6, 7), "append", &line(element, &json!({ "answer": { "outcome": "ok" } }))),
    ];
    red("no-double-write", &[&calls[..], &[rows("B-1", (9, 10), &["a", "a"])]].concat(), "shows rows with a twice");
    stands("no-double-write", Verdict::Holds, &[&calls[..], &[rows("B-1", (9, 10), &["a"]), end()]].concat());
}

#[test]
fn another_principals_resource() {
    let foreign = |tool: &str, answer: Value| call("M-1", (1, 2), tool, &json!({ "principal": "w", "answer": answer }));
    let fields = json!({ "m": 1 });
    red("no-cross-principal", &[start(7, &fields), foreign("read", ok(7))], "w read x, which is u's");
    red("no-cross-principal", &[start(7, &fields), foreign("set", ok(8))], "w changed x, which is u's");
    stands(
        "no-cross-principal",
        Verdict::Holds,
        &[start(7, &fields), foreign("read", json!({ "outcome": "not-found" }))],
    );
    let shared = line(start(7, &fields), &json!({ "shared-with": ["w"] }));
    stands("no-cross-principal", Verdict::Vacuous, &[shared, foreign("read", ok(7))]);
    let forbidden = foreign("read", json!({ "outcome": "forbidden" }));
    stands("no-cross-principal", Verdict::Inconclusive, &[start(7, &fields), forbidden.clone()]);
    let nowhere =
        call("M-2", (5, 6), "read", &json!({ "handle": "y", "principal": "w", "answer": { "outcome": "not-found" } }));
    red("no-cross-principal", &[start(7, &fields), forbidden, nowhere], "w can tell that x");
    let keyed = |id: &str, times, principal: &str, more: Value| {
        let base = json!({ "principal": principal, "key": "k", "handle": principal, "answer": more });
        call(id, times, "set", &base)
    };
    let own = keyed("A-1", (1, 2), "u", ok(2));
    red(
        "no-cross-principal",
        &[own.clone(), keyed("M-1", (3, 4), "w", json!({ "outcome": "key-mismatch" }))],
        "u had used it before",
    );
    let state = |who: &str| json!({ "type": "state", "at": 0, "handle": who, "owner": who });
    stands("no-cross-principal", Verdict::Holds, &[state("u"), state("w"), own, keyed("M-1", (3, 4), "w", ok(2))]);
    red(
        "no-cross-principal",
        &[
            start(7, &fields),
            state("w"),
            call(
                "M-1",
                (1, 2),
                "read",
                &json!({ "principal": "w", "handle": "w", "answer": { "outcome": "ok", "handle": "x" } }),
            ),
        ],
        "w asked about w and was answered about x",
    );
}

#[test]
fn what_is_told() {
    let told = |told: &str| json!({ "type": "told", "at": 50, "agent": "A", "intent": "i", "told": told });
    let work = |answer: Value| {
        call("A-1", (1, 2), "append", &json!({ "intent": "i", "fields": { "rows": "a" }, "answer": answer }))
    };
    let refused = work(json!({ "outcome": "stale-view" }));
    red("truthful-outcome", &[refused.clone(), told("ok")], "A told that i is done");
    stands("truthful-outcome", Verdict::Holds, &[refused.clone(), told("failure")]);
    red("truthful-outcome", &[work(ok(8)), told("conflict")], "A told conflict of i");
    stands("truthful-outcome", Verdict::Holds, &[work(ok(8)), told("ok")]);
    let lost = cut("A-1", (1, 2), "append", &json!({ "intent": "i", "fields": { "rows": "a" } }));
    stands("truthful-outcome", Verdict::Inconclusive, &[lost.clone(), told("failure")]);
    stands("truthful-outcome", Verdict::Holds, &[lost.clone(), told("unknown")]);
    // A later view decides what became of a call whose answer was lost.
    red("truthful-outcome", &[lost.clone(), told("failure"), rows("B-1", (60, 61), &["a"])], "A told failure of i");
    stands("truthful-outcome", Verdict::Holds, &[lost.clone(), told("failure"), rows("B-1", (60, 61), &[]), end()]);
    red("truthful-outcome", &[lost, told("ok"), rows("B-1", (60, 61), &[]), end()], "A told that i is done");
    // Refused, and there all the same.
    let report = red("truthful-outcome", &[refused, rows("B-1", (60, 61), &["a"])], "was refused with stale-view");
    assert_eq!(check(&report, "serializable").findings[0].anomaly, Some("aborted read (G1a)"));
    let elsewhere = call("A-2", (5, 6), "read", &json!({ "answer": { "outcome": "ok", "handle": "y" } }));
    let other = call("B-1", (1, 2), "read", &json!({ "handle": "y", "answer": { "outcome": "ok" } }));
    red("truthful-outcome", &[other, elsewhere], "asked about x and was answered about y");
}

#[test]
fn after_the_end() {
    let close = call("A-1", (1, 3), "close", &json!({ "answer": ok(8) }));
    let late = |times, version| set("B-1", times, &json!({ "m": 1 }), version);
    red(
        "respects-terminal-state",
        &[close.clone(), late((5, 6), 9)],
        "took effect (B-1, line 2) after it had ended: A's close",
    );
    // Overlapping in time, and after it by its version.
    red("respects-terminal-state", &[close.clone(), late((2, 6), 9)], "after it had ended");
    stands("respects-terminal-state", Verdict::Vacuous, &[close.clone(), late((2, 6), 7)]);
    let refused = call("B-1", (5, 6), "set", &json!({ "fields": { "m": 1 }, "answer": { "outcome": "closed" } }));
    stands("respects-terminal-state", Verdict::Holds, &[close, refused]);
    let bare = |id: &str, times, tool: &str| call(id, times, tool, &json!({ "answer": { "outcome": "ok" } }));
    stands(
        "respects-terminal-state",
        Verdict::Inconclusive,
        &[bare("A-1", (1, 5), "close"), bare("B-1", (2, 6), "set")],
    );
    let expired = json!({ "type": "event", "at": 4, "event": "expire-handle", "handle": "x" });
    red("respects-terminal-state", &[expired, late((5, 6), 9)], "line 1 says so");
}

#[test]
fn a_stale_commit() {
    let expecting = |id: &str, times, expected: Value, answer: Value| {
        call(id, times, "set", &json!({ "fields": { id: 1 }, "expects": { "x": expected }, "answer": answer }))
    };
    let first = set("A-1", (1, 2), &json!({ "m": 1 }), 8);
    red(
        "no-stale-commit",
        &[first.clone(), expecting("B-1", (3, 4), json!(7), ok(9))],
        "A had made v8 by then (A-1, line 1)",
    );
    stands("no-stale-commit", Verdict::Holds, &[first, expecting("B-1", (3, 4), json!(8), ok(9))]);
    red("no-stale-commit", &[counted(), expecting("B-1", (3, 4), json!(7), ok(9))], "it made v9");
    // Names instead of numbers, and time.
    let named = |version: &str| json!({ "outcome": "ok", "version": version });
    let chain = [expecting("A-1", (1, 2), json!("p"), named("q")), expecting("B-1", (3, 4), json!("q"), named("r"))];
    stands("no-stale-commit", Verdict::Inconclusive, &chain);
    red(
        "no-stale-commit",
        &[&chain[..], &[expecting("C-1", (5, 6), json!("q"), named("s"))]].concat(),
        "B had made version r",
    );
}

#[test]
fn what_a_change_rests_on() {
    let budget = |id: &str, times, version| {
        call(id, times, "set", &json!({ "handle": "y", "fields": { "left": 0 }, "answer": ok(version) }))
    };
    let resting = |times, seen: u64| {
        call("A-1", times, "set", &json!({ "fields": { "seats": 1 }, "saw": { "x": 7, "y": seen }, "answer": ok(8) }))
    };
    red("basis-holds", &[budget("B-1", (1, 2), 8), resting((5, 6), 7)], "rests on y as of v7");
    stands("basis-holds", Verdict::Holds, &[budget("B-1", (1, 2), 8), resting((5, 6), 8)]);
    stands("basis-holds", Verdict::Inconclusive, &[budget("B-1", (1, 5), 8), resting((3, 6), 7)]);
    // Both at the same time, each on what the other changes.
    let other = line(budget("B-1", (1, 5), 8), &json!({ "saw": { "x": 7, "y": 7 } }));
    let report = of(&[other, resting((3, 6), 7)]);
    assert_eq!(check(&report, "serializable").findings[0].anomaly, Some("write skew (A5B, G2-item)"));
}

#[test]
fn a_version_of_two_contents() {
    let (one, other) = (json!({ "m": 1 }), json!({ "m": 2 }));
    red(
        "version-names-one-content",
        &[read("A-1", (1, 2), 7, &one), read("B-1", (3, 4), 7, &other)],
        "v7 of x showed m as 1",
    );
    stands("version-names-one-content", Verdict::Holds, &[read("A-1", (1, 2), 7, &one), read("B-1", (3, 4), 7, &one)]);
    red(
        "version-names-one-content",
        &[set("A-1", (1, 3), &one, 8), set("B-1", (2, 4), &other, 8)],
        "were both answered with v8",
    );
    red(
        "version-names-one-content",
        &[read("A-1", (1, 2), 7, &one), set("B-1", (3, 4), &other, 7)],
        "was answered with that version",
    );
}

#[test]
fn a_stale_read() {
    let write = set("A-1", (1, 2), &json!({ "m": 1 }), 8);
    let report = red(
        "fresh-read",
        &[write.clone(), read("B-1", (3, 4), 7, &json!({}))],
        "B read v7 of x (B-1, line 2) after A's set of m 1 had made v8",
    );
    let strict = check(&report, "strictly-serializable");
    assert_eq!(strict.findings[0].anomaly, Some("stale read (G-single-realtime)"));
    assert_eq!(check(&report, "serializable").verdict, Verdict::Holds);
    stands("fresh-read", Verdict::Holds, &[write.clone(), read("B-1", (3, 4), 8, &json!({}))]);
    stands("strictly-serializable", Verdict::Holds, &[write, read("B-1", (2, 4), 7, &json!({}))]);
}

/// Each kind of cycle by itself, by its name.
#[test]
fn cycles_by_name() {
    let on = |handle: &str, id: &str, times, tool: &str, more: Value| {
        line(call(id, times, tool, &more), &json!({ "handle": handle }))
    };
    let both = |id: &str, handle: &str, saw: Value, version: u64| {
        on(handle, id, (1, 90), "set", json!({ "fields": { "m": id }, "saw": saw, "answer": ok(version) }))
    };
    let anomaly = |lines: &[Value]| {
        let report = of(lines);
        check(&report, "serializable").findings.first().and_then(|found| found.anomaly)
    };
    // Each saw what the other made, before it was made.
    assert_eq!(
        anomaly(&[both("A-1", "x", json!({ "y": 8 }), 8), both("B-1", "y", json!({ "x": 8 }), 8)]),
        Some("circular information flow (G1c)")
    );
    // Saw the one, and not the other that it rests on.
    let skew = [
        both("A-1", "x", json!({}), 8),
        on("y", "A-2", (1, 90), "set", json!({ "fields": { "m": 1 }, "saw": { "x": 8 }, "answer": ok(8) })),
        on("z", "B-1", (1, 90), "set", json!({ "fields": { "m": 1 }, "saw": { "x": 7, "y": 8 }, "answer": ok(8) })),
    ];
    assert_eq!(anomaly(&skew), Some("read skew (A5A, G-single)"));
    assert_eq!(anomaly(&[both("A-1", "x", json!({ "y": 7 }), 8), both("B-1", "y", json!({ "x": 8 }), 8)]), None);
    let time = [
        both("A-1", "x", json!({}), 9),
        on("x", "B-1", (95, 96), "set", json!({ "fields": { "m": 2 }, "answer": ok(8) })),
    ];
    let report = of(&time);
    assert_eq!(
        check(&report, "strictly-serializable").findings[0].anomaly,
        Some("dirty write in real time (G0-realtime)")
    );
    // A part of what one call appends.
    let two =
        call("A-1", (1, 90), "append", &json!({ "fields": { "rows": ["a", "b"] }, "answer": { "outcome": "ok" } }));
    assert_eq!(anomaly(&[two, rows("B-1", (3, 4), &["a"])]), Some("intermediate read (G1b)"));
}

/// Lists that are only appended to need no versions.
#[test]
fn lists_tell_an_order() {
    let appends = [append("A-1", (1, 90), "a"), append("B-1", (2, 90), "b")];
    let reads = |first: &[&str], second: &[&str]| [rows("C-1", (3, 4), first), rows("C-2", (5, 6), second)];
    stands("strictly-serializable", Verdict::Holds, &[&appends[..], &reads(&["a"], &["a", "b"])].concat());
    let report = of(&[&appends[..], &reads(&["a", "b"], &["a"])].concat());
    let strict = check(&report, "strictly-serializable");
    assert_eq!(strict.findings[0].anomaly, Some("stale read (G-single-realtime)"));
    // Views that disagree on the order tell none, and nothing is claimed.
    stands("serializable", Verdict::Inconclusive, &[&appends[..], &reads(&["a", "b"], &["b", "a"])].concat());
}

/// What was acknowledged before a view, and is in none, can't come before it; what is in none and was not over may.
#[test]
fn an_append_that_no_later_view_shows_is_out_of_order() {
    let two = |until: u64| [append("A-1", (1, until), "a"), append("B-1", (2, 10), "b"), rows("C-1", (50, 60), &["b"])];
    stands("strictly-serializable", Verdict::Violated, &two(10));
    stands("serializable", Verdict::Holds, &two(10));
    stands("strictly-serializable", Verdict::Holds, &two(90));
}

/// A clock that does not tick gives two contents one version: then times tell who had seen what.
#[test]
fn a_version_that_comes_back_tells_nothing() {
    let fields = json!({ "m": 1 });
    let write = |id: &str, times, version| {
        let seen = json!({ "fields": { "m": id }, "saw": { "x": 1 }, "answer": ok(version) });
        call(id, times, "set", &seen)
    };
    let reads = |b| [start(1, &fields), read("A-1", (1, 2), 1, &fields), read("B-1", b, 1, &fields)];
    let writes = [write("A-2", (10, 12), 1), write("B-2", (20, 22), 2)];
    red("no-lost-update", &[&reads((3, 4))[..], &writes].concat(), "and erased A's set of m A-2 (A-2, line 4)");
    stands("no-lost-update", Verdict::Inconclusive, &[&reads((11, 14))[..], &writes].concat());
}

/// An answer from a record of before the log is no change of this log.
#[test]
fn what_was_recorded_before_the_log_is_no_change_in_it() {
    let fields = json!({ "m": 1 });
    let answer = json!({ "outcome": "ok", "replayed": true, "version": 2 });
    let again = json!({ "fields": { "m": 5 }, "key": "k", "expects": { "x": 4 }, "answer": answer });
    let lines = [counted(), start(4, &fields), read("A-1", (1, 2), 4, &fields), call("A-2", (10, 12), "set", &again)];
    stands("no-stale-commit", Verdict::Vacuous, &lines);
}
