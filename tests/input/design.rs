//! Bad designs and protocols.

use snapbox::str;

use crate::{DESIGN, PROTOCOL, altered, design, design_and, design_with, protocol, reads};

#[test]
fn the_good_ones_are_readable() {
    assert_eq!(design(DESIGN), "readable\n");
    assert_eq!(protocol(PROTOCOL), "readable\n");
}

#[test]
fn a_server_has_handlers() {
    reads(
        design("title = 'Nothing'"),
        str![[r#"
  error: `server` is missing
   ,-[small.toml:1:1]
 1 | title = 'Nothing'
   : |
   : `-- expected `server` in this file
   `----

"#]],
    );
    reads(
        design("[server]\nstate = 'store'"),
        str![[r#"
  error: this server has no handler
   ,-[small.toml:1:1]
 1 | [server]
   : ^^^^|^^^
   :     `-- expected a table for `mint`, `read`, `write`, `close`, `approve`, `execute` or `delete`
   `----
  help: a handler is a table `[server.TOOL]` with `transactions`

"#]],
    );
    reads(
        design_with("[server.read]", "[server.raed]"),
        str![[r#"
  error: unknown key `raed`
   ,-[small.toml:3:9]
 3 | [server.raed]
   :         ^^^^
   `----
  help: did you mean `read`? expected one of keys, state, balancer, queue, calls, handles, owner-is,
        foreign, identity, replies, lost-reply, taken-name, name-scope, versions, version-required,
        reads-from, cache-scope, lease-place, fence-seen, lease-names, on-cancel, new-fields,
        on-store-error, mint, read, write, close, approve, execute, delete

"#]],
    );
}

#[test]
fn an_unknown_setting() {
    reads(
        design_with(
            "[server.read]",
            r#"[server]
balancers = "any"
state = "stor"
version-required = "yes"
owner-is = []

[server.read]"#,
        ),
        str![[r#"
  error: unknown key `balancers`
   ,-[small.toml:4:1]
 4 | balancers = "any"
   : ^^^^^^^^^
   `----
  help: did you mean `balancer`? expected one of keys, state, balancer, queue, calls, handles, owner-is,
        foreign, identity, replies, lost-reply, taken-name, name-scope, versions, version-required,
        reads-from, cache-scope, lease-place, fence-seen, lease-names, on-cancel, new-fields,
        on-store-error, mint, read, write, close, approve, execute, delete

  error: `state` can't be `stor`
   ,-[small.toml:5:9]
 5 | state = "stor"
   :         ^^^|^^
   :            `-- expected `store`, `node`, `session` or `handle`
   `----
  help: did you mean `store`?

  error: this is a string
   ,-[small.toml:6:20]
 6 | version-required = "yes"
   :                    ^^|^^
   :                      `-- expected `true` or `false`
   `----

  error: this list is empty
   ,-[small.toml:7:12]
 7 | owner-is = []
   :            ^|
   :             `-- expected at least one part of a principal
   `----

"#]],
    );
}

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
        check-condition, check-approval, acquire-lease, release-lease, check-lease, check-fence, read, load,
        write-content, advance-version, save, apply, apply-next, call-upstream, call-upstream-with-key,
        mint, other, undo, answer

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
        check-condition, check-approval, acquire-lease, release-lease, check-lease, check-fence, read, load,
        write-content, advance-version, save, apply, apply-next, call-upstream, call-upstream-with-key,
        mint, other, undo, answer

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
fn keys_that_are_wrong() {
    reads(
        design_and(
            r#"[server.keys]
scope = ["principal", "hndle", "principal"]
fingerprint = "operation"
claims-expire = 1"#,
        ),
        str![[r#"
  error: `scope` can't have `hndle`
    ,-[small.toml:12:23]
 12 | scope = ["principal", "hndle", "principal"]
    :                       ^^^|^^^
    :                          `-- expected `principal`, `subject`, `client`, `tenant`, `credential`, `handle` or `tool`
    `----
  help: did you mean `handle`?

  error: `principal` is listed twice
    ,-[small.toml:12:32]
 12 | scope = ["principal", "hndle", "principal"]
    :                                ^^^^^|^^^^^
    :                                     `-- again
    `----

  error: this is a string
    ,-[small.toml:13:15]
 13 | fingerprint = "operation"
    :               ^^^^^|^^^^^
    :                    `-- expected a list
    `----

  error: this is a whole number
    ,-[small.toml:14:17]
 14 | claims-expire = 1
    :                 |
    :                 `-- expected `true` or `false`
    `----

"#]],
    );
}

#[test]
fn a_store_error_is_answered_in_one_way() {
    reads(
        design_with(
            "[server.read]",
            r#"[server]
on-store-error = ["retry", "answer-unknown"]

[server.read]"#,
        ),
        str![[r#"
  error: one of two that exclude each other
   ,-[small.toml:4:28]
 4 | on-store-error = ["retry", "answer-unknown"]
   :                            ^^^^^^^^|^^^^^^^
   :                                    `-- the list already says this otherwise
   `----

"#]],
    );
    reads(
        design_with(
            "[server.read]",
            r#"[server]
on-store-error = ["retry", "drop-claim"]

[server.read]"#,
        ),
        str![[r#"
  error: `on-store-error` can't have `drop-claim`
   ,-[small.toml:4:28]
 4 | on-store-error = ["retry", "drop-claim"]
   :                            ^^^^^^|^^^^^
   :                                  `-- expected `answer-unknown`, `retry`, `release-claim` or `keep-claim`
   `----
  help: did you mean `keep-claim`?

"#]],
    );
    reads(
        design_with(
            "[server.read]",
            "[server]
on-store-error = true

[server.read]",
        ),
        str![[r#"
  error: this is a truth value
   ,-[small.toml:4:18]
 4 | on-store-error = true
   :                  ^^|^
   :                    `-- expected a word, or a list of two
   `----

"#]],
    );
}

#[test]
fn a_design_expects_of_scenarios() {
    reads(
        design_and(
            "[expect.two-agents]
no-lost-update = { steps = 0, faults = 0 }
resolves = { step = 3 }",
        ),
        str![[r#"
  error: this number is out of range
    ,-[small.toml:12:28]
 12 | no-lost-update = { steps = 0, faults = 0 }
    :                            |
    :                            `-- expected a whole number from 1 to 1000000
    `----

  error: `faults` is missing
    ,-[small.toml:13:12]
 13 | resolves = { step = 3 }
    :            ^^^^^^|^^^^^
    :                  `-- expected `faults` in here
    `----

  error: unknown key `step`
    ,-[small.toml:13:14]
 13 | resolves = { step = 3 }
    :              ^^|^
    :                `-- expected `steps` or `faults`
    `----
  help: did you mean `steps`?

"#]],
    );
}

#[test]
fn a_protocol_has_five_rules() {
    reads(
        protocol(&altered(PROTOCOL, "resumable = \"never\"\n", "")),
        str![[r#"
  error: `resumable` is missing
   ,-[rules.toml:1:1]
 1 | title = "Rules"
   : |
   : `-- expected `resumable` in this file
   `----

"#]],
    );
    reads(
        protocol(&altered(PROTOCOL, "\"cancels\"", "\"cancel\"")),
        str![[r#"
  error: `closed-stream` can't be `cancel`
   ,-[rules.toml:4:17]
 4 | closed-stream = "cancel"
   :                 ^^^^|^^^
   :                     `-- expected `cancels` or `continues`
   `----
  help: did you mean `cancels`?

"#]],
    );
    reads(
        protocol(&altered(PROTOCOL, "sessions = false", "sessions = \"no\"\nsession = true")),
        str![[r#"
  error: this is a string
   ,-[rules.toml:3:12]
 3 | sessions = "no"
   :            ^^|^
   :              `-- expected `true` or `false`
   `----

  error: unknown key `session`
   ,-[rules.toml:4:1]
 4 | session = true
   : ^^^|^^^
   :    `-- expected `title`, `about`, `resumable`, `sessions`, `closed-stream`, `task-ids` or `reissue`
   `----
  help: did you mean `sessions`?

"#]],
    );
}

#[test]
fn a_title_is_one_line() {
    reads(
        design(&altered(DESIGN, "\"Small\"", "\"\"\"Small\nand more\"\"\"")),
        str![[r#"
  error: a title is one line
   ,-[small.toml:1:9]
 1 | title = """Small
   :         ^^^^|^^^
   :             `-- this has several
   `----
  help: `about` may have more

"#]],
    );
    reads(
        design(&altered(DESIGN, "\"Small\"", "\"\"")),
        str![[r#"
  error: this is empty
   ,-[small.toml:1:9]
 1 | title = ""
   :         ^|
   :          `-- expected a string that says something
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
    ] {
        let said = design_and(&format!("[server.close]\n{handler}"));
        assert!(said.contains(wrong), "{handler}: {said}");
    }
    let both = r#"transactions = [["resolve", "load", "other", "load", "save"], ["save", "other", "save"]]
at-end = [["other", "undo"], ["undo"]]"#;
    assert_eq!(design_and(&format!("[server.close]\n{both}")), "readable\n");
}
