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
