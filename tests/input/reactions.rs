//! Bad clients, in designs and in scenarios.

use snapbox::str;

use crate::{design_and, reads, scenario_with};

#[test]
fn an_event_that_is_unknown() {
    reads(
        design_and(
            r#"[client.on]
stale-vew = { send = "replan" }
ok = { tell = "ok" }"#,
        ),
        str![[r#"
  error: unknown event `stale-vew`
    ,-[small.toml:12:1]
 12 | stale-vew = { send = "replan" }
    : ^^^^^^^^^
    `----
  help: did you mean `stale-view`? expected one of broken-stream, not-found, forbidden, expired, closed,
        key-mismatch, in-progress, stale-view, precondition-required, locked, lease-lost, stale-approval,
        condition-not-met, name-taken, unknown

  error: unknown event `ok`
    ,-[small.toml:13:1]
 13 | ok = { tell = "ok" }
    : ^^
    `----
  help: expected one of broken-stream, not-found, forbidden, expired, closed, key-mismatch, in-progress,
        stale-view, precondition-required, locked, lease-lost, stale-approval, condition-not-met,
        name-taken, unknown

"#]],
    );
}

#[test]
fn a_reaction_that_does_not_do_one_thing() {
    reads(
        design_and(
            r#"[client.on]
closed = { send = "same", tell = "ok" }
locked = {}
expired = { send = "again" }
forbidden = "tell""#,
        ),
        str![[r#"
  error: a reaction has one of `send` and `tell`
    ,-[small.toml:12:34]
 12 | closed = { send = "same", tell = "ok" }
    :                                  ^^|^
    :                                    `-- and `send` besides
    `----
  help: a reaction either goes on or ends the intent

  error: this reaction does nothing
    ,-[small.toml:13:10]
 13 | locked = {}
    :          ^|
    :           `-- expected `send` or `tell` in here
    `----

  error: `send` can't be `again`
    ,-[small.toml:14:20]
 14 | expired = { send = "again" }
    :                    ^^^|^^^
    :                       `-- expected `same`, `same-with-new-version`, `replan`, `read` or `mint`
    `----

  error: a reaction is a table
    ,-[small.toml:15:13]
 15 | forbidden = "tell"
    :             ^^^|^^
    :                `-- this is a string
    `----
  help: expected `{ send = .. }` or `{ tell = .. }`

"#]],
    );
}

#[test]
fn what_means_nothing_in_a_reaction() {
    reads(
        design_and(
            r#"[client.on]
closed = { tell = "ok", key = "new" }
locked = { send = "read", key = "same" }
expired = { send = "same", if = "disjoint", else = { tell = "ok" } }
unknown = { send = "mint", key = "old" }"#,
        ),
        str![[r#"
  error: `key` means nothing here
    ,-[small.toml:12:31]
 12 | closed = { tell = "ok", key = "new" }
    :                               ^^|^^
    :                                 `-- only a call that changes something has a key
    `----

  error: `key` means nothing here
    ,-[small.toml:13:33]
 13 | locked = { send = "read", key = "same" }
    :                                 ^^^|^^
    :                                    `-- only a call that changes something has a key
    `----

  error: `if` and `else` mean nothing here
    ,-[small.toml:14:33]
 14 | expired = { send = "same", if = "disjoint", else = { tell = "ok" } }
    :                                 ^^^^^|^^^^
    :                                      `-- only with `send = "replan"`
    `----

  error: `key` can't be `old`
    ,-[small.toml:15:34]
 15 | unknown = { send = "mint", key = "old" }
    :                                  ^^|^^
    :                                    `-- expected `same` or `new`
    `----

"#]],
    );
}

#[test]
fn a_condition_has_two_ways() {
    reads(
        design_and(
            r#"[client.on]
stale-view = { send = "replan", if = "disjoint" }
locked = { send = "replan", else = { tell = "ok" } }
closed = { send = "replan", if = "disjunct", else = { send = "replan", if = "unsatisfied" } }"#,
        ),
        str![[r#"
  error: `if` without `else`
    ,-[small.toml:12:38]
 12 | stale-view = { send = "replan", if = "disjoint" }
    :                                      ^^^^^|^^^^
    :                                           `-- and what happens otherwise?
    `----

  error: `else` without `if`
    ,-[small.toml:13:36]
 13 | locked = { send = "replan", else = { tell = "ok" } }
    :                                    ^^^^^^^|^^^^^^^
    :                                           `-- under which condition?
    `----

  error: `if` can't be `disjunct`
    ,-[small.toml:14:34]
 14 | closed = { send = "replan", if = "disjunct", else = { send = "replan", if = "unsatisfied" } }
    :                                  ^^^^^|^^^^
    :                                       `-- expected `disjoint` or `unsatisfied`
    `----

  error: `if` without `else`
    ,-[small.toml:14:77]
 14 | closed = { send = "replan", if = "disjunct", else = { send = "replan", if = "unsatisfied" } }
    :                                                                             ^^^^^^|^^^^^^
    :                                                                                   `-- and what happens otherwise?
    `----

"#]],
    );
}

#[test]
fn a_tool_that_is_wrong() {
    reads(
        design_and(
            "[client.exceute]
blind = true",
        ),
        str![[r#"
  error: unknown key `exceute`
    ,-[small.toml:11:9]
 11 | [client.exceute]
    :         ^^^^^^^
    `----
  help: did you mean `execute`? expected one of payload, precondition, key, before-write, keeps,
        after-failure, attempts, blind, presents, new-fields, any, on, mint, read, write, close, approve,
        execute, delete

"#]],
    );
}

#[test]
fn a_client_that_is_wrong() {
    reads(
        scenario_with(
            r#"parent = "A""#,
            r#"parent = "A"
client.payload = "snap"
client.attempts = "none"
client.wirte.key = "per-intent"
client.on.stale-views = { tell = "failure" }"#,
        ),
        str![[r#"
  error: `payload` can't be `snap`
    ,-[two-agents.toml:16:18]
 16 | client.payload = "snap"
    :                  ^^^|^^
    :                     `-- expected `snapshot` or `change`
    `----
  help: did you mean `snapshot`?

  error: `attempts` can't be `none`
    ,-[two-agents.toml:17:19]
 17 | client.attempts = "none"
    :                   ^^^|^^
    :                      `-- expected `unbounded` or a whole number from 1 to 15
    `----

  error: unknown key `wirte`
    ,-[two-agents.toml:18:8]
 18 | client.wirte.key = "per-intent"
    :        ^^^^^
    `----
  help: did you mean `write`? expected one of payload, precondition, key, before-write, keeps,
        after-failure, attempts, blind, presents, new-fields, any, on, mint, read, write, close, approve,
        execute, delete

  error: unknown event `stale-views`
    ,-[two-agents.toml:19:11]
 19 | client.on.stale-views = { tell = "failure" }
    :           ^^^^^^^^^^^
    `----
  help: did you mean `stale-view`? expected one of broken-stream, not-found, forbidden, expired, closed,
        key-mismatch, in-progress, stale-view, precondition-required, locked, lease-lost, stale-approval,
        condition-not-met, name-taken, unknown

"#]],
    );
}

#[test]
fn a_reaction_that_is_a_word() {
    reads(
        design_and("[client.on]\nexpired = \"failure\"\nlocked = \"same\"\nclosed = \"stop\""),
        str![[r#"
  error: a reaction is a table
    ,-[small.toml:12:11]
 12 | expired = "failure"
    :           ^^^^|^^^^
    :               `-- this is a string
    `----
  help: did you mean `{ tell = "failure" }`?

  error: a reaction is a table
    ,-[small.toml:13:10]
 13 | locked = "same"
    :          ^^^|^^
    :             `-- this is a string
    `----
  help: did you mean `{ send = "same" }`?

  error: a reaction is a table
    ,-[small.toml:14:10]
 14 | closed = "stop"
    :          ^^^|^^
    :             `-- this is a string
    `----
  help: expected `{ send = .. }` or `{ tell = .. }`

"#]],
    );
}
