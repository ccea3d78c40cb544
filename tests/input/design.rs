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
        reads-from, cache-place, cache-scope, lease-place, fence-seen, lease-names, on-cancel, new-fields,
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
        reads-from, cache-place, cache-scope, lease-place, fence-seen, lease-names, on-cancel, new-fields,
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
