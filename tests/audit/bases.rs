//! On what a plan rests, and under which condition it is done.

use handlecheck::audit::report::Checked;
use handlecheck::model::Verdict;
use serde_json::{Value, json};

use super::by_hand::{call, counted, end, finish, ok, start};
use super::{audited, check};

fn basis_holds(lines: &[Value]) -> Checked {
    let text: Vec<String> = lines.iter().map(Value::to_string).collect();
    check(&audited(&text.join("\n")), "basis-holds").clone()
}

/// Two that take the last units of a quota, one after the other, each only if there is one.
fn quota(limit: u64, heading: Value) -> Checked {
    let takes = |id: &str, times, version| {
        let expression = format!("quota.used < {limit}");
        let condition = json!({ "expression": expression, "names": { "quota": "x" } });
        call(id, times, "increment", &json!({ "fields": { "used": 1 }, "if": condition, "answer": ok(version) }))
    };
    let used = |used: u64| json!({ "used": used });
    let (first, last) = (start(9, &used(9)), finish(11, &used(11)));
    basis_holds(&[heading, first, takes("A-1", (10, 20), 10), takes("B-1", (11, 21), 11), last, end()])
}

#[test]
fn a_condition_is_judged_on_what_was_stored_when_the_change_took_effect() {
    let found = quota(10, counted());
    assert_eq!(found.verdict, Verdict::Violated);
    let sentence = "B's increment of used 1 on x took effect as v11 (B-1, line 4), though quota.used < 10 was not true of x at v10";
    assert_eq!(found.findings[0].sentence, sentence);
    let held = quota(11, counted());
    assert_eq!((held.verdict, held.judged), (Verdict::Holds, 2));
}

#[test]
fn where_versions_do_not_count_nothing_is_said_of_a_condition() {
    let unsaid = quota(10, json!({ "type": "log", "schema": 1 }));
    assert_eq!(unsaid.verdict, Verdict::Inconclusive);
    let because = "no view and no change tells what was stored of what its condition names";
    assert_eq!(unsaid.unjudged.get(because), Some(&2));
}

/// A delete that rests on what it deletes, as it was at this version.
fn deleted(seen: u64, given: Value) -> Checked {
    let delete = json!({ "saw": { "x": seen }, "given": given, "answer": ok(4) });
    let append = json!({ "fields": { "comments": "still broken" }, "answer": ok(3) });
    basis_holds(&[
        counted(),
        start(2, &json!({ "comments": [] })),
        call("B-1", (10, 20), "append", &append),
        call("A-1", (11, 30), "delete", &delete),
        end(),
    ])
}

#[test]
fn a_plan_can_rest_on_what_it_changes() {
    let found = deleted(2, json!(["x"]));
    assert_eq!(found.verdict, Verdict::Violated);
    let sentence = "A's delete on x rests on x as of v2, and took effect (A-1, line 4) after B's append of comments still broken had changed that (B-1, line 3)";
    assert_eq!(found.findings[0].sentence, sentence);
    assert_eq!(deleted(3, json!(["x"])).verdict, Verdict::Holds);
    assert_eq!(deleted(2, json!([])).verdict, Verdict::Vacuous);
}
