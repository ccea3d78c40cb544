//! What looks like a violation, and is none that the log shows.

use handlecheck::model::Verdict;
use serde_json::{Value, json};

use super::by_hand::{call, counted, end, finish, line, ok, read, red, set, stands, start};
use super::{audited, check};

fn on(handle: &str, base: Value) -> Value {
    line(base, &json!({ "handle": handle }))
}

/// A call whose stream broke.
fn cut(id: &str, times: (u64, u64), tool: &str, more: &Value) -> Value {
    let mut call = call(id, times, tool, more);
    let object = call.as_object_mut().expect("an object");
    let at = object.remove("received").expect("it is there");
    object.insert("cut".to_owned(), at);
    call
}

fn bare(id: &str, times: (u64, u64), tool: &str, rows: &Value) -> Value {
    call(id, times, tool, &json!({ "fields": { "rows": rows }, "answer": { "outcome": "ok" } }))
}

fn rows(id: &str, times: (u64, u64), rows: &[&str]) -> Value {
    call(id, times, "read", &json!({ "answer": { "outcome": "ok", "fields": { "rows": rows } } }))
}

fn unversioned(shown: &[&str]) -> Value {
    json!({ "type": "state", "at": 0, "handle": "x", "owner": "u", "fields": { "rows": shown } })
}

/// It is answered with a version that an earlier call of the same work made, which was planned on less.
#[test]
fn what_was_sent_again_was_planned_on_something_else() {
    let work = json!({ "key": "k", "fields": { "m": 32 } });
    let first = cut("A-1", (1, 5), "set", &work);
    let again = json!({ "repeats": "A-1", "saw": { "x": 9 }, "answer": ok(8) });
    let other = set("B-1", (6, 7), &json!({ "m": 1 }), 9);
    stands("serializable", Verdict::Holds, &[first, other, call("A-2", (20, 22), "set", &line(work, &again))]);
}

/// What an agent has changed itself it knows, whatever it read before.
#[test]
fn an_agent_knows_what_it_has_changed() {
    let lines = |writer: &str| {
        let seen = read("A-1", (1, 2), 7, &json!({ "m": 1 }));
        let first = set(&format!("{writer}-2"), (3, 4), &json!({ "m": 2 }), 8);
        [start(7, &json!({ "m": 1 })), seen, first, set("A-3", (5, 6), &json!({ "m": 3 }), 9)]
    };
    stands("serializable", Verdict::Holds, &lines("A"));
    red("serializable", &lines("B"), "lost update");
    // So it does of what its plan rests on.
    let also = json!({ "tool": "set", "handle": "x", "fields": { "m": 1 } });
    let rests = |writer: &str| {
        let both = json!({ "fields": { "q": 1 }, "also": also, "answer": { "outcome": "ok", "version": 5, "also-version": 8 } });
        let first = on("y", call(&format!("{writer}-1"), (1, 2), "set", &both));
        let second = json!({ "fields": { "m": 2 }, "saw": { "y": 4, "x": 8 }, "answer": ok(9) });
        [first, call("A-2", (5, 6), "set", &second)]
    };
    stands("serializable", Verdict::Holds, &rests("A"));
    red("serializable", &rests("B"), "fractured read");
}

/// Two were answered with one version: who shows it may have seen either.
#[test]
fn of_two_changes_with_one_version_either_may_have_been_seen() {
    let also = json!({ "tool": "set", "handle": "y", "fields": { "q": 1 } });
    let both =
        json!({ "fields": { "m": 1 }, "also": also, "answer": { "outcome": "ok", "version": 8, "also-version": 5 } });
    let twin = set("C-1", (1, 9), &json!({ "m": 2 }), 8);
    let one = call("B-1", (1, 9), "set", &both);
    let shown = json!({ "outcome": "ok", "version": 8, "also-version": 4 });
    let half = call("D-1", (2, 8), "read", &json!({ "also": { "tool": "read", "handle": "y" }, "answer": shown }));
    red("serializable", &[one.clone(), half.clone()], "fractured read");
    stands("serializable", Verdict::Holds, &[one.clone(), twin.clone(), half]);
    let rests = json!({ "fields": { "t": 1 }, "saw": { "x": 8, "y": 4 }, "answer": ok(2) });
    let plan = on("z", call("D-1", (2, 8), "set", &rests));
    red("serializable", &[one.clone(), plan.clone()], "fractured read");
    stands("serializable", Verdict::Holds, &[one.clone(), twin.clone(), plan.clone()]);
    stands("serializable", Verdict::Holds, &[twin, one, plan]);
}

/// An element that two appended, or that a `set` brought, shows nobody's change.
#[test]
fn lists_whose_elements_have_no_one_author_tell_no_order() {
    let early = rows("C-1", (5, 6), &["a"]);
    let twice = [bare("A-1", (1, 2), "append", &json!("a")), bare("B-1", (50, 60), "append", &json!("a"))];
    stands("strictly-serializable", Verdict::Inconclusive, &[&twice[..], std::slice::from_ref(&early)].concat());
    let copied = [unversioned(&["a"]), early, bare("B-1", (50, 60), "set", &json!(["a"]))];
    stands("strictly-serializable", Verdict::Inconclusive, &copied);
    // Nor is a part of what one call appends missing when another appended that part, too.
    let torn = [bare("A-1", (1, 2), "append", &json!(["a", "b"])), bare("B-1", (3, 4), "append", &json!("b"))];
    stands("serializable", Verdict::Inconclusive, &[&torn[..], &[rows("C-1", (5, 6), &["a", "b", "b"])]].concat());
}

/// A part of one append is an intermediate read, and the cycle that a later view makes of it is no fractured one.
#[test]
fn a_part_of_one_append_is_no_fractured_read() {
    let append = bare("A-1", (1, 90), "append", &json!(["a", "b"]));
    let lines = [append, rows("B-1", (3, 4), &["a"]), rows("C-1", (5, 6), &["a", "b"])];
    let text: Vec<String> = lines.iter().map(Value::to_string).collect();
    let report = audited(&text.join("\n"));
    let found: Vec<_> = check(&report, "serializable").findings.iter().map(|found| found.anomaly).collect();
    assert_eq!(found, [Some("read skew (A5A, G-single)"), Some("intermediate read (G1b)")]);
}

#[test]
fn what_was_there_before_is_nobodys() {
    let told = json!({ "type": "told", "at": 50, "agent": "A", "intent": "i", "told": "failure" });
    let lost = cut("A-1", (10, 20), "append", &json!({ "intent": "i", "fields": { "rows": "a" } }));
    let last = rows("B-1", (60, 61), &["a"]);
    red("truthful-outcome", &[unversioned(&[]), lost.clone(), told.clone(), last.clone()], "A told failure");
    stands("truthful-outcome", Verdict::Inconclusive, &[unversioned(&["a"]), lost, told, last]);
    // What was deleted shows nothing.
    let gone = [
        bare("A-1", (1, 2), "append", &json!("a")),
        call("B-1", (3, 4), "delete", &json!({ "answer": { "outcome": "ok" } })),
        rows("C-1", (5, 6), &[]),
    ];
    stands("no-lost-update", Verdict::Inconclusive, &gone);
}

/// Where calls may be missing from the log, a sum may be theirs; where servers take back, a version may be of that.
#[test]
fn what_may_be_of_others_is_not_claimed() {
    let sum = |at: u64, n: u64| json!({ "type": "state", "at": at, "handle": "x", "fields": { "n": n } });
    let add = call("A-1", (1, 3), "increment", &json!({ "fields": { "n": 5 }, "answer": { "outcome": "ok" } }));
    let lines = [sum(0, 1), add, sum(90, 11), end()];
    red("no-double-write", &lines, "11, where all that was asked for comes to 6");
    let report = audited(&lines[..3].iter().map(Value::to_string).collect::<Vec<_>>().join("\n"));
    assert_ne!(check(&report, "no-double-write").verdict, Verdict::Violated);
    let told = json!({ "type": "told", "at": 50, "agent": "A", "intent": "i", "told": "failure" });
    let lost = cut("A-1", (10, 20), "set", &json!({ "intent": "i", "fields": { "m": 2 } }));
    let with =
        |heading: Value| [heading, start(1, &json!({})), lost.clone(), told.clone(), finish(2, &json!({})), end()];
    red("truthful-outcome", &with(counted()), "A told failure");
    stands("truthful-outcome", Verdict::Inconclusive, &with(line(counted(), &json!({ "takes-back": true }))));
    let again = json!({ "intent": "i", "fields": { "m": 2 }, "repeats": "A-1", "answer": ok(3) });
    let twice = |heading: Value| {
        let again = call("A-2", (30, 40), "set", &again);
        [heading, start(1, &json!({})), lost.clone(), again, finish(3, &json!({})), end()]
    };
    red("no-double-write", &twice(counted()), "took effect twice");
    stands("no-double-write", Verdict::Inconclusive, &twice(line(counted(), &json!({ "takes-back": true }))));
}

/// A change of one piece of work does not overtake another of the same.
#[test]
fn what_a_plan_rests_on_may_be_changed_by_its_own_work() {
    let work = |intent: &str, more: Value| line(json!({ "intent": intent, "fields": { "m": 1 } }), &more);
    let lines = |other: &str| {
        let first = on("y", call("A-1", (1, 2), "set", &work("i", json!({ "answer": ok(5) }))));
        [first, call("A-2", (5, 6), "set", &work(other, json!({ "saw": { "y": 4 }, "answer": ok(8) })))]
    };
    stands("basis-holds", Verdict::Holds, &lines("i"));
    red("basis-holds", &lines("j"), "rests on y as of v4");
    let own = |other: &str| {
        let rests = json!({ "saw": { "x": 7 }, "given": ["x"] });
        let first = call("A-1", (1, 2), "set", &work("i", line(rests.clone(), &json!({ "answer": ok(8) }))));
        [first, call("A-2", (5, 6), "set", &work(other, line(rests, &json!({ "answer": ok(9) }))))]
    };
    stands("basis-holds", Verdict::Holds, &own("i"));
    red("basis-holds", &own("j"), "rests on x as of v7");
}

/// Of what a condition names, only what is known to have been there counts.
#[test]
fn a_condition_is_judged_on_what_is_known_alone() {
    let quota = |at: u64, version: u64, used: u64| json!({ "type": "state", "at": at, "handle": "y", "owner": "u", "version": version, "fields": { "used": used } });
    let free = json!({ "expression": "quota.used < 10", "names": { "quota": "y" } });
    let taker = call("B-1", (10, 20), "set", &json!({ "fields": { "m": 1 }, "if": free, "answer": ok(8) }));
    let less = json!({ "fields": { "used": -5 } });
    let full = [counted(), quota(0, 9, 10)];
    let with = |other: &[Value]| [&full[..], std::slice::from_ref(&taker), other].concat();
    red("basis-holds", &with(&[]), "was not true of y at v9");
    // Somebody may have freed some before: a call whose answer was lost, or one that overlaps.
    stands("basis-holds", Verdict::Inconclusive, &with(&[on("y", cut("C-1", (1, 5), "increment", &less))]));
    let freed = line(less.clone(), &json!({ "answer": ok(10) }));
    stands("basis-holds", Verdict::Inconclusive, &with(&[on("y", call("C-1", (5, 15), "increment", &freed))]));
    stands("basis-holds", Verdict::Holds, &with(&[on("y", call("C-1", (5, 8), "increment", &freed))]));
    // A version in between that nobody tells of may be anything.
    let take = |id: &str, times, version: u64, more: Value| {
        call(id, times, "increment", &line(json!({ "fields": { "used": 1 }, "answer": ok(version) }), &more))
    };
    let own = json!({ "if": { "expression": "quota.used < 10", "names": { "quota": "x" } } });
    let chain = |first: u64| {
        [
            counted(),
            start(7, &json!({ "used": 9 })),
            take("A-1", (1, 2), first, json!({})),
            take("C-1", (5, 6), first + 1, own.clone()),
        ]
    };
    red("basis-holds", &chain(8), "was not true of x at v8");
    stands("basis-holds", Verdict::Inconclusive, &chain(9));
}

#[test]
fn a_call_with_two_halves_is_one_that_is_not_judged() {
    let also = json!({ "tool": "set", "handle": "y", "fields": { "m": 1 } });
    let both = json!({ "fields": { "m": 1 }, "also": also, "answer": { "outcome": "ok" } });
    let report = audited(&call("A-1", (1, 2), "set", &both).to_string());
    let found = check(&report, "serializable");
    assert_eq!((found.about, found.judged, found.unjudged.values().sum::<u64>()), (1, 0, 1));
}

/// A read that was sent before anything was acknowledged can't be stale, and the longest line is not too long.
#[test]
fn at_the_edges_nothing_is_found() {
    let write = set("A-1", (1, 10), &json!({ "m": 2 }), 8);
    stands("fresh-read", Verdict::Vacuous, &[write, read("B-1", (10, 11), 7, &json!({ "m": 1 }))]);
    let line = r#"{"type":"end","at":1}"#;
    let most = usize::try_from(handlecheck::log::lines::LINE_BYTES).expect("small");
    for (length, malformed) in [(most, 0), (most + 1, 1)] {
        let padded = format!("{line}{}\n{line}", " ".repeat(length - line.len()));
        let report = audited(&padded);
        assert_eq!((report.malformed, report.lines), (malformed, 2), "{length}");
    }
}
