//! `if` of an entry: what a condition may name.

use crate::{entry, reads};
use snapbox::str;

#[test]
fn a_condition_names_fields_of_what_its_entry_rests_on() {
    reads(
        entry(r#"{ set = "basket", memory = 1, if = "basket.memry > 1 && basket.version == 7 && told.A == []" }"#),
        str![[r#"
  error: unknown field of `basket` `memry`
    ,-[two-agents.toml:13:48]
 13 |     { set = "basket", memory = 1, if = "basket.memry > 1 && basket.version == 7 && told.A == []" },
    :                                                ^^^^^
    `----
  help: did you mean `memory`?

  error: a condition is judged on fields, and a version is none
    ,-[two-agents.toml:13:68]
 13 |     { set = "basket", memory = 1, if = "basket.memry > 1 && basket.version == 7 && told.A == []" },
    :                                                                    ^^^^^^^
    `----
  help: `check-version` compares versions

  error: unknown name `told`
    ,-[two-agents.toml:13:84]
 13 |     { set = "basket", memory = 1, if = "basket.memry > 1 && basket.version == 7 && told.A == []" },
    :                                                                                    ^^^^
    `----
  help: a condition can name `basket`: what the entry changes, or is `given`

"#]],
    );
    reads(
        entry(
            r#"{ set = "basket", memory = 1, if = "basket.memory" }, { mint = "other", memory = 1, if = "other.memory == 1" }"#,
        ),
        str![[r#"
  error: a condition is true or false, and this is a number
    ,-[two-agents.toml:13:41]
 13 |     { set = "basket", memory = 1, if = "basket.memory" }, { mint = "other", memory = 1, if = "other.memory == 1" ...
    :                                         ^^^^^^^^^^^^^
    `----

  error: unknown name `other`
    ,-[two-agents.toml:13:95]
 13 | ...if = "basket.memory" }, { mint = "other", memory = 1, if = "other.memory == 1" },
    :                                                                ^^^^^
    `----
  help: a condition can name what the entry is `given`, and it is given nothing

"#]],
    );
    reads(
        entry(r#"{ read = "basket", if = "basket.memory == 1" }"#),
        str![[r#"
  error: unknown key `if`
    ,-[two-agents.toml:13:24]
 13 |     { read = "basket", if = "basket.memory == 1" },
    :                        ^|
    :                         `-- expected `read`
    `----

"#]],
    );
}

/// What is changed besides can be neither: each error says what to do, and none sends its reader to the other.
#[test]
fn an_entry_rests_on_nothing_that_it_changes_besides() {
    let entry = |rest: &str| {
        entry(&format!(
            r#"{{ mint = "note", text = "x" }}, {{ set = "note", text = "y", also = {{ set = "basket", memory = 1 }}, {rest} }}"#
        ))
    };
    reads(
        entry(r#"if = "basket.memory == 16""#),
        str![[r#"
  error: a condition can't be about `basket`, which the entry changes besides
    ,-[two-agents.toml:13:109]
 13 | ...", text = "y", also = { set = "basket", memory = 1 }, if = "basket.memory == 16" },
    :                                                                ^^^^^^
    `----
  help: it is about what the entry changes itself, and what it is `given`

"#]],
    );
    reads(
        entry(r#"given = ["basket"], if = "basket.memory == 16""#),
        str![[r#"
  error: this is what the entry is `given`
    ,-[two-agents.toml:13:79]
 13 | ...", text = "x" }, { set = "note", text = "y", also = { set = "basket", memory = 1 }, given = ["basket"], if = "basket.memory == 1...
    :                                                                ^^^^|^^^
    :                                                                    `-- a call that changes it expects its version by itself
    `----
  help: leave it out of `given`: an entry can't rest on what it changes besides, nor be under a condition on
        it

"#]],
    );
}
