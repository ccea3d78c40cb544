//! The handlers of a design: steps where they can stand.

use snapbox::str;

use crate::{design_and, design_with, reads};

#[test]
fn an_unknown_step() {
    reads(
        design_with(r#""resolve", "apply""#, r#""resolve", "check_version", "apply""#),
        str![[r#"
  error: unknown step `check_version`
   ,-[small.toml:7:29]
 7 | transactions = [["resolve", "check_version", "apply"]]
   :                             ^^^^^^^^^^^^^^^
   `----
  help: did you mean `check-version`? expected one of resolve, authorize, check-permission, check-live,
        check-open, find-key, claim-key, record-key, release-key, check-version, check-unchanged,
        check-condition, check-approval, acquire-lease, release-lease, check-lease, check-fence,
        find-cached, read, fill-cache, fill-cache-if-newer, drop-cached, load, write-content,
        advance-version, save, apply, apply-next, call-upstream, call-upstream-with-key, mint, other, undo,
        answer

"#]],
    );
    reads(
        design_with(r#""resolve", "apply""#, r#""resolve", "write", "apply""#),
        str![[r#"
  error: unknown step `write`
   ,-[small.toml:7:29]
 7 | transactions = [["resolve", "write", "apply"]]
   :                             ^^^^^^^
   `----
  help: did you mean `write-content`? expected one of resolve, authorize, check-permission, check-live,
        check-open, find-key, claim-key, record-key, release-key, check-version, check-unchanged,
        check-condition, check-approval, acquire-lease, release-lease, check-lease, check-fence,
        find-cached, read, fill-cache, fill-cache-if-newer, drop-cached, load, write-content,
        advance-version, save, apply, apply-next, call-upstream, call-upstream-with-key, mint, other, undo,
        answer

"#]],
    );
}

#[test]
fn transactions_are_lists_of_lists() {
    reads(
        design_with(r#"[["resolve", "apply"]]"#, r#"["resolve", "apply"]"#),
        str![[r#"
  error: this step stands in no transaction
   ,-[small.toml:7:17]
 7 | transactions = ["resolve", "apply"]
   :                 ^^^^|^^^^
   :                     `-- expected a list of steps
   `----
  help: write one transaction as a list in the list: `[["resolve", "read"]]`

"#]],
    );
    reads(
        design_with(r#"[["resolve", "apply"]]"#, "[]"),
        str![[r#"
  error: this list is empty
   ,-[small.toml:7:16]
 7 | transactions = []
   :                ^|
   :                 `-- expected at least one transaction, which is a list of steps
   `----

"#]],
    );
    reads(
        design_with(
            r#"[["resolve", "apply"]]"#,
            r#"[["resolve", "apply"], []]
at-end = []"#,
        ),
        str![[r#"
  error: this list is empty
   ,-[small.toml:7:39]
 7 | transactions = [["resolve", "apply"], []]
   :                                       ^|
   :                                        `-- expected at least one step
   `----

  error: this list is empty
   ,-[small.toml:8:10]
 8 | at-end = []
   :          ^|
   :           `-- expected at least one transaction, which is a list of steps
   `----

"#]],
    );
    reads(
        design_with(r#"[["resolve", "apply"]]"#, r#""apply""#),
        str![[r#"
  error: this is a string
   ,-[small.toml:7:16]
 7 | transactions = "apply"
   :                ^^^|^^^
   :                   `-- expected a list
   `----

"#]],
    );
    reads(
        design_with(r#"transactions = [["resolve", "apply"]]"#, r#"at-end = [["release-key"]]"#),
        str![[r#"
  error: `transactions` is missing
   ,-[small.toml:6:1]
 6 | [server.write]
   : ^^^^^^^|^^^^^^
   :        `-- expected `transactions` in here
   `----

"#]],
    );
}

#[test]
fn a_step_stands_where_it_can() {
    reads(
        design_with(r#""resolve", "apply""#, r#""resolve", "save""#),
        str![[r#"
  error: `save` can't stand here
   ,-[small.toml:7:29]
 7 | transactions = [["resolve", "save"]]
   :                             ^^^|^^
   :                                `-- there is no working copy yet
   `----
  help: `load` makes one; or use `apply`, which loads and saves

"#]],
    );
    reads(
        design_with(r#""resolve", "apply""#, r#""mint""#),
        str![[r#"
  error: `mint` can't stand here
   ,-[small.toml:7:18]
 7 | transactions = [["mint"]]
   :                  ^^^|^^
   :                     `-- it makes a resource
   `----
  help: only the handler of the tool `mint` makes one

"#]],
    );
    reads(
        design_with(r#"[["resolve", "read"]]"#, r#"[["resolve", "read", "answer"]]"#),
        str![[r#"
  error: `answer` can't stand here
   ,-[small.toml:4:37]
 4 | transactions = [["resolve", "read", "answer"]]
   :                                     ^^^^|^^^
   :                                         `-- what a read is answered is what it read
   `----
  help: an agent that reads waits for that

"#]],
    );
    reads(
        design_and(
            r#"[server.close]
transactions = [["resolve", "answer"], ["apply"]]
at-end = [["answer"]]"#,
        ),
        str![[r#"
  error: `answer` can't stand here
    ,-[small.toml:13:12]
 13 | at-end = [["answer"]]
    :            ^^^^|^^^
    :                `-- the answer is decided by now
    `----
  help: write it in `transactions`, where the answer is to leave

"#]],
    );
    reads(
        design_and(
            r#"[server.mint]
transactions = [["resolve", "find-key"], ["mint", "record-key"], ["mint"]]"#,
        ),
        str![[r#"
  error: `resolve` can't stand here
    ,-[small.toml:12:18]
 12 | transactions = [["resolve", "find-key"], ["mint", "record-key"], ["mint"]]
    :                  ^^^^|^^^^
    :                      `-- there is no resource yet
    `----
  help: in the handler of `mint` it can stand behind the step `mint` only

  error: `mint` can't stand here
    ,-[small.toml:12:67]
 12 | transactions = [["resolve", "find-key"], ["mint", "record-key"], ["mint"]]
    :                                                                   ^^^|^^
    :                                                                      `-- it makes a resource, and the call has one by now
    `----
  help: a handler mints once

"#]],
    );
    reads(
        design_and(
            r#"[server.mint]
transactions = [["check-version", "mint"]]"#,
        ),
        str![[r#"
  error: `check-version` can't stand here
    ,-[small.toml:12:18]
 12 | transactions = [["check-version", "mint"]]
    :                  ^^^^^^^|^^^^^^^
    :                         `-- what is made has no version yet
    `----
  help: put it behind the step `mint`: there it compares the versions of what the mint is `given`, and in
        the same transaction a refusal takes the mint back

"#]],
    );
    reads(
        design_and(
            r#"[server.mint]
transactions = [["find-key", "record-key"]]"#,
        ),
        str![[r#"
  error: this handler of `mint` makes nothing
    ,-[small.toml:11:1]
 11 | [server.mint]
    : ^^^^^^|^^^^^^
    :       `-- no transaction has the step `mint`
    `----

"#]],
    );
}

#[test]
fn a_handler_has_a_bounded_number_of_steps() {
    let steps = vec!["\"check-live\""; 63].join(",\n    ");
    reads(
        design_with(r#""resolve", "apply""#, &format!("\n    {steps},\n    \"apply\", \"apply\"\n")),
        str![[r#"
  error: too many steps
    ,-[small.toml:71:14]
 71 |     "apply", "apply"
    :              ^^^|^^^
    :                 `-- a handler has at most 64
    `----

"#]],
    );
}

#[test]
fn what_works_on_the_other_resource_stands_where_it_can() {
    for (handler, wrong) in [
        (r#"transactions = [["resolve", "load", "other", "save"]]"#, "there is no working copy yet"),
        (r#"transactions = [["resolve", "other", "read"]]"#, "the handler is at the other resource"),
        (r#"transactions = [["resolve", "apply", "undo"]]"#, "the outcome is not decided yet"),
        (
            r#"transactions = [["resolve", "apply-next"], ["apply-next"]]
at-end = [["undo"]]"#,
            "it does not know which parts were written",
        ),
        (r#"transactions = [["find-cached", "apply"]]"#, "it answers a view"),
        (r#"transactions = [["apply", "fill-cache"], ["read"]]"#, "nothing was read yet"),
        (r#"transactions = [["apply", "read", "other", "fill-cache"]]"#, "the handler is at the other resource"),
    ] {
        let said = design_and(&format!("[server.close]\n{handler}"));
        assert!(said.contains(wrong), "{handler}: {said}");
    }
    let both = r#"transactions = [["resolve", "load", "other", "load", "save"], ["save", "other", "save"]]
at-end = [["other", "undo"], ["undo"]]"#;
    assert_eq!(design_and(&format!("[server.close]\n{both}")), "readable\n");
}

#[test]
fn a_cache_is_told_in_one_way() {
    let with = |settings: &str, read: &str| {
        let settings = format!("[server]\n{settings}\n[server.read]\ntransactions = [[{read}]]");
        design_with("[server.read]\ntransactions = [[\"resolve\", \"read\"]]", &settings)
    };
    let by_steps = r#""find-cached", "resolve", "read", "fill-cache""#;
    for place in ["store", "node"] {
        assert_eq!(with(&format!("cache-place = \"{place}\""), by_steps), "readable\n");
    }
    let by_itself = "reads-from = \"node-cache\"";
    assert_eq!(with(&format!("{by_itself}\ncache-place = \"node\""), r#""resolve", "read""#), "readable\n");
    let said = with(&format!("{by_itself}\ncache-place = \"store\""), r#""resolve", "read""#);
    assert!(said.contains("the cache is in two places") && said.contains("put `find-cached` before `read`"), "{said}");
    let said = with(by_itself, by_steps);
    assert!(said.contains("a handler works with the cache, too"), "{said}");
}
