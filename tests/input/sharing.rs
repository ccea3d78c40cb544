//! Bad scenarios: entries that share an intent.

use snapbox::str;

use crate::{entry, reads};

#[test]
fn who_shares_an_intent_makes_the_same_change() {
    reads(
        entry(r#"{ read = "basket", intent = "job" }"#),
        str![[r#"
  error: `read` changes nothing, so it is no part of an intent
    ,-[two-agents.toml:13:24]
 13 |     { read = "basket", intent = "job" },
    :                        ^^^^^^
    `----
  help: leave out `intent`

"#]],
    );
    reads(
        entry(r#"{ set = "basket", memory = 2, intent = "job" }"#),
        str![[r#"
  error: no other entry shares the intent `job`
    ,-[two-agents.toml:13:44]
 13 |     { set = "basket", memory = 2, intent = "job" },
    :                                            ^^^^^
    `----
  help: leave out `intent`: an entry that shares none is an intent of its own

"#]],
    );
    reads(
        entry(r#"{ set = "basket", memory = 2, intent = "job" }, { set = "basket", memory = 3, intent = "job" }"#),
        str![[r#"
  error: entries that share an intent make the same change, and these give fields different values
    ,-[two-agents.toml:13:92]
 13 |     { set = "basket", memory = 2, intent = "job" }, { set = "basket", memory = 3, intent = "job" },
    :                                                                                            ^^|^^
    :                                                                                              `-- shared with entry 3 of `A`
    `----
  help: give each change an intent of its own, and say in an assertion what must not happen twice

"#]],
    );
    reads(
        entry(r#"{ set = "basket", memory = 2, intent = "job" }, { close = "basket", intent = "job" }"#),
        str![[r#"
  error: entries that share an intent make the same change, and these do different things
    ,-[two-agents.toml:13:82]
 13 |     { set = "basket", memory = 2, intent = "job" }, { close = "basket", intent = "job" },
    :                                                                                  ^^|^^
    :                                                                                    `-- shared with entry 3 of `A`
    `----
  help: give each change an intent of its own, and say in an assertion what must not happen twice

"#]],
    );
}
