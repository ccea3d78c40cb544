//! Bad scenarios: keys, types, numbers, names, limits, syntax.

use snapbox::str;

use crate::{SCENARIO, altered, reads, scenario, scenario_with};

#[test]
fn the_good_one_is_readable() {
    assert_eq!(scenario(SCENARIO), "readable\n");
}

#[test]
fn an_unknown_key() {
    reads(
        scenario_with("nodes = 2", "nods = 2"),
        str![[r#"
  error: unknown key `nods`
   ,-[two-agents.toml:2:1]
 2 | nods = 2
   : ^^^^
   `----
  help: did you mean `nodes`? expected one of title, about, nodes, protocol, resources, agents, faults,
        deploy, finally, at-rest, sometimes, expect

"#]],
    );
    reads(
        scenario_with("owner =", "ownr ="),
        str![[r#"
  error: unknown key `ownr`
   ,-[two-agents.toml:6:1]
 6 | ownr = "user-42"
   : ^^|^
   :   `-- expected `handle`, `owner`, `version`, `shared-with`, `expires`, `fields` or `new-fields`
   `----
  help: did you mean `owner`?

"#]],
    );
    reads(
        scenario_with(
            r#"parent = "A""#,
            r#"parent = "A"
client = { blinds = true }"#,
        ),
        str![[r#"
  error: unknown key `blinds`
    ,-[two-agents.toml:16:12]
 16 | client = { blinds = true }
    :            ^^^^^^
    `----
  help: did you mean `blind`? expected one of payload, precondition, key, before-write, keeps,
        after-failure, attempts, blind, presents, new-fields, any, on, mint, read, write, close, approve,
        execute, delete

"#]],
    );
}

#[test]
fn a_missing_key() {
    reads(
        scenario_with(
            r#"handle = "bsk_42"
"#,
            "",
        ),
        str![[r#"
  error: `handle` is missing
   ,-[two-agents.toml:4:1]
 4 | [resources.basket]
   : ^^^^^^^^^|^^^^^^^^
   :          `-- expected `handle` in here
   `----

"#]],
    );
    reads(
        scenario(""),
        str![[r#"
  error: `nodes` is missing
   ,-[two-agents.toml:1:1]
 1 |
   : |
   : `-- expected `nodes` in this file
   `----

  error: `agents` is missing
   ,-[two-agents.toml:1:1]
 1 |
   : |
   : `-- expected `agents` in this file
   `----

"#]],
    );
}

#[test]
fn a_wrong_type() {
    reads(
        scenario_with("nodes = 2", r#"nodes = "2""#),
        str![[r#"
  error: this is a string
   ,-[two-agents.toml:2:9]
 2 | nodes = "2"
   :         ^|^
   :          `-- expected a whole number from 1 to 8
   `----

"#]],
    );
    reads(
        scenario_with("memory = 16", "memory = 1.5"),
        str![[r#"
  error: this is a number with a fraction
   ,-[two-agents.toml:8:21]
 8 | fields = { memory = 1.5, rows = [] }
   :                     ^|^
   :                      `-- expected a whole number, a string or a list
   `----

"#]],
    );
    reads(
        scenario_with(r#"[{ read = "basket" }, { set = "basket", memory = 32 }]"#, r#"{ read = "basket" }"#),
        str![[r#"
  error: this is a table
    ,-[two-agents.toml:12:8]
 12 | work = { read = "basket" }
    :        ^^^^^^^^^|^^^^^^^^^
    :                 `-- expected a list
    `----

"#]],
    );
}

#[test]
fn a_number_out_of_range() {
    reads(
        scenario_with("nodes = 2", "nodes = 0"),
        str![[r#"
  error: this number is out of range
   ,-[two-agents.toml:2:9]
 2 | nodes = 0
   :         |
   :         `-- expected a whole number from 1 to 8
   `----

"#]],
    );
    reads(
        scenario_with("version = 7", "version = -1"),
        str![[r#"
  error: this number is out of range
   ,-[two-agents.toml:7:11]
 7 | version = -1
   :           ^|
   :            `-- expected a whole number from 0 to 1000000000
   `----

"#]],
    );
    reads(
        scenario_with("drop-stream = 1", "drop-stream = 99999999999999999999"),
        str![[r#"
  error: this number is out of range
    ,-[two-agents.toml:18:15]
 18 | drop-stream = 99999999999999999999
    :               ^^^^^^^^^^|^^^^^^^^^
    :                         `-- expected a whole number from 0 to 15
    `----

"#]],
    );
    reads(
        scenario_with("memory = 16", "memory = 9007199254740992"),
        str![[r#"
  error: this number is out of range
   ,-[two-agents.toml:8:21]
 8 | fields = { memory = 9007199254740992, rows = [] }
   :                     ^^^^^^^^|^^^^^^^
   :                             `-- expected a whole number from -9007199254740991 to 9007199254740991
   `----

"#]],
    );
}

#[test]
fn two_resources_of_one_handle() {
    reads(
        scenario_with(
            "[agents.A]",
            r#"[resources.other]
handle = "bsk_42"
owner = "user-7"

[agents.A]"#,
        ),
        str![[r#"
  error: `basket` has this handle too
    ,-[two-agents.toml:11:10]
 11 | handle = "bsk_42"
    :          ^^^^|^^^
    :              `-- a handle names one resource
    `----

"#]],
    );
}

#[test]
fn names_that_can_not_be() {
    reads(
        scenario_with("[resources.basket]", r#"[resources."a basket"]"#),
        str![[r#"
  error: this can't be the name of a resource
   ,-[two-agents.toml:4:12]
 4 | [resources."a basket"]
   :            ^^^^^|^^^^
   :                 `-- expected a name
   `----
  help: a name is a letter, then letters, digits, `-` or `_`, and has at most 64 of them

  error: unknown resource `basket`
    ,-[two-agents.toml:12:18]
 12 | work = [{ read = "basket" }, { set = "basket", memory = 32 }]
    :                  ^^^^|^^^
    :                      `-- expected `a basket`
    `----
  help: did you mean `a basket`?

  error: unknown resource `basket`
    ,-[two-agents.toml:12:38]
 12 | work = [{ read = "basket" }, { set = "basket", memory = 32 }]
    :                                      ^^^^|^^^
    :                                          `-- expected `a basket`
    `----
  help: did you mean `a basket`?

"#]],
    );
    reads(
        scenario_with("rows = []", "given = 1, version = 2, rows = []"),
        str![[r#"
  error: `given` can't be the name of a field
   ,-[two-agents.toml:8:25]
 8 | fields = { memory = 16, given = 1, version = 2, rows = [] }
   :                         ^^|^^
   :                           `-- it is taken
   `----
  help: in a work entry or an assertion this word means something else

  error: `version` can't be the name of a field
   ,-[two-agents.toml:8:36]
 8 | fields = { memory = 16, given = 1, version = 2, rows = [] }
   :                                    ^^^|^^^
   :                                       `-- it is taken
   `----
  help: in a work entry or an assertion this word means something else

"#]],
    );
    reads(
        scenario_with("[agents.B]", r#"[agents.""]"#),
        str![[r#"
  error: this can't be the name of an agent
    ,-[two-agents.toml:14:9]
 14 | [agents.""]
    :         ^|
    :          `-- expected a name
    `----
  help: a name is a letter, then letters, digits, `-` or `_`, and has at most 64 of them

"#]],
    );
    reads(
        scenario_with(
            "[agents.A]",
            r#"[resources.told]
handle = "t"
owner = "user-42"

[agents.A]"#,
        ),
        str![[r#"
  error: `told` can't be the name of a resource
    ,-[two-agents.toml:10:12]
 10 | [resources.told]
    :            ^^|^
    :              `-- it is taken
    `----
  help: in assertions `told.A` is what agent A was told

"#]],
    );
}

#[test]
fn names_that_assertions_could_not_tell_apart() {
    reads(
        scenario_with("rows = []", "row-count = 1, row_count = 2, rows = []"),
        str![[r#"
  error: `row_count` and `row-count` are one name in assertions
   ,-[two-agents.toml:8:40]
 8 | fields = { memory = 16, row-count = 1, row_count = 2, rows = [] }
   :                                        ^^^^|^^^^
   :                                            `-- one of them needs another name
   `----
  help: in assertions a `-` is written `_`

"#]],
    );
}

#[test]
fn an_unknown_fault() {
    reads(
        scenario_with("drop-stream", "drop-streams"),
        str![[r#"
  error: unknown fault `drop-streams`
    ,-[two-agents.toml:18:1]
 18 | drop-streams = 1
    : ^^^^^^^^^^^^
    `----
  help: did you mean `drop-stream`? expected one of drop-stream, restart-node, expire-handle, expire-key,
        expire-claim, expire-lease, leak-handle, revoke, rotate-credential, compact, ambiguous-commit,
        stale-read, recreate, duplicate-call, stop-agent, reroute

"#]],
    );
    reads(
        scenario_with("drop-stream", "network-partition"),
        str![[r#"
  error: unknown fault `network-partition`
    ,-[two-agents.toml:18:1]
 18 | network-partition = 1
    : ^^^^^^^^^^^^^^^^^
    `----
  help: expected one of drop-stream, restart-node, expire-handle, expire-key, expire-claim, expire-lease,
        leak-handle, revoke, rotate-credential, compact, ambiguous-commit, stale-read, recreate,
        duplicate-call, stop-agent, reroute

"#]],
    );
}

#[test]
fn more_than_the_limits() {
    let many = |count: usize, one: &dyn Fn(usize) -> String| (0..count).map(one).collect::<String>();
    let agents = many(7, &|n| format!("[agents.C{n}]\nparent = \"A\"\n\n"));
    reads(
        scenario_with("[faults]", &format!("{agents}[faults]")),
        str![[r#"
  error: too many agents
    ,-[two-agents.toml:35:9]
 35 | [agents.C6]
    :         ^|
    :          `-- a scenario has at most 8
    `----

"#]],
    );
    let resources = many(8, &|n| format!("[resources.r{n}]\nhandle = \"h{n}\"\nowner = \"user-42\"\n\n"));
    reads(
        scenario_with("[agents.A]", &format!("{resources}[agents.A]")),
        str![[r#"
  error: too many resources
    ,-[two-agents.toml:38:12]
 38 | [resources.r7]
    :            ^|
    :             `-- a scenario has at most 8
    `----

"#]],
    );
    let fields = many(15, &|n| format!("f{n} = {n}, "));
    reads(
        scenario_with("rows = []", &format!("{fields}rows = []")),
        str![[r#"
  error: too many fields
   ,-[two-agents.toml:8:155]
 8 | ..., f9 = 9, f10 = 10, f11 = 11, f12 = 12, f13 = 13, f14 = 14, rows = [] }
   :                                                                ^^|^
   :                                                                  `-- a resource has at most 16
   `----

"#]],
    );
    let assertions = many(17, &|n| format!("a{n} = \"true\"\n"));
    reads(
        scenario_with("[faults]", &format!("[finally]\n{assertions}\n[faults]")),
        str![[r#"
  error: too many assertions
    ,-[two-agents.toml:34:1]
 34 | a16 = "true"
    : ^|^
    :  `-- `[finally]` has at most 16
    `----

"#]],
    );
    let entries = many(48, &|_| "\n    { close = \"basket\" },".to_owned());
    reads(
        scenario_with("memory = 32 }]", &format!("memory = 32 }},{entries}\n]")),
        str![[r#"
  error: too many intents
    ,-[two-agents.toml:60:5]
 60 |     { close = "basket" },
    :     ^^^^^^^^^^|^^^^^^^^^
    :               `-- the entries of all agents that change something are at most 48
    `----

"#]],
    );
}

#[test]
fn syntax_errors_come_all_at_once_and_with_what_is_sure() {
    let text = altered(SCENARIO, "nodes = 2", "nods = 2\nabout = \"unclosed");
    let text = altered(&text, "version = 7", "version = 7\nversion = 8");
    reads(
        scenario(&altered(&text, "drop-stream = 1", "drop-stream = yes")),
        str![[r#"
  error: unknown key `nods`
   ,-[two-agents.toml:2:1]
 2 | nods = 2
   : ^^^^
   `----
  help: did you mean `nodes`? expected one of title, about, nodes, protocol, resources, agents, faults,
        deploy, finally, at-rest, sometimes, expect

  error: invalid basic string
   ,-[two-agents.toml:3:18]
 3 | about = "unclosed
   :                  |
   :                  `-- expected `"`
   `----

  error: duplicate key
   ,-[two-agents.toml:9:1]
 9 | version = 8
   : ^^^^^^^
   `----

  error: string values must be quoted
    ,-[two-agents.toml:20:15]
 20 | drop-stream = yes
    :               ^|^
    :                `-- expected literal string
    `----

"#]],
    );
}

#[test]
fn of_very_many_errors_the_first_are_shown() {
    let lines = (0..120).fold(String::new(), |lines, n| lines + &format!("key-{n} = 1\n"));
    let output = scenario(&format!("{lines}{SCENARIO}"));
    assert_eq!(output.matches("error: unknown key").count(), 100);
    assert!(output.ends_with("error: 20 more errors in `two-agents.toml` are not shown\n"));
}

#[test]
fn a_long_line_is_shown_in_part() {
    let note = "very long ".repeat(20);
    reads(
        scenario_with("rows = []", &format!("note = \"{note}\", rows = true, other = \"{note}\"")),
        str![[r#"
  error: this is a truth value
   ,-[two-agents.toml:8:243]
 8 | ...very long very long very long very long very long ", rows = true, other = "very long very long very long very long very long...
   :                                                                ^^|^
   :                                                                  `-- expected a whole number, a string or a list
   `----

"#]],
    );
}

#[test]
fn what_a_file_says_reaches_no_terminal_as_it_is() {
    reads(
        scenario_with("\"bsk_42\"", "\"\u{1b}[31mbsk\""),
        str![[r#"
  error: invalid basic string
   ,-[two-agents.toml:5:11]
 5 | handle = "�[31mbsk"
   :           |
   :           `-- expected non-double-quote visible characters, `\`
   `----

"#]],
    );
}
