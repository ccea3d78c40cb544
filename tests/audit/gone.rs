//! A field that a program leaves out of what it writes.

use handlecheck::model::Verdict;
use serde_json::{Value, json};

use super::by_hand::{counted, end, finish, read, red, set, stands, start};

/// A sets the colour, B reads that and writes the title.
fn lines(shown: &Value, written: &Value, last: &Value) -> Vec<Value> {
    let first = start(1, &json!({ "title": "draft", "colour": "none" }));
    let colour = set("A-1", (10, 20), &json!({ "colour": "red" }), 2);
    let seen = read("B-1", (30, 40), 2, shown);
    vec![counted(), first, colour, seen, set("B-2", (50, 60), written, 3), finish(3, last), end()]
}

#[test]
fn a_field_that_is_left_out_is_a_lost_update() {
    let (both, title) = (json!({ "title": "draft", "colour": "red" }), json!({ "title": "final" }));
    let says = "which has no colour, and no accepted call sets colour in between";
    red("no-lost-update", &lines(&both, &title, &title), says);
    // It is there; or it is taken away by somebody who had seen it.
    let there = json!({ "title": "final", "colour": "red" });
    stands("no-lost-update", Verdict::Vacuous, &lines(&both, &title, &there));
    let taken_away = json!({ "title": "final", "colour": null });
    stands("no-lost-update", Verdict::Holds, &lines(&both, &taken_away, &title));
}

#[test]
fn nothing_is_claimed_of_a_field_that_nobody_saw() {
    let (draft, title) = (json!({ "title": "draft" }), json!({ "title": "final" }));
    // It may never have been stored, or B's program does not show what it does not know.
    let unseen = lines(&draft, &title, &title);
    stands("no-lost-update", Verdict::Inconclusive, &unseen);
    stands("truthful-outcome", Verdict::Inconclusive, &unseen);
    // An observer who never found one misses none.
    let mut nobody = unseen;
    nobody[1] = start(1, &draft);
    stands("no-lost-update", Verdict::Vacuous, &nobody);
}
