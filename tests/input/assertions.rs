//! Bad scenarios: assertions and expectations.

use snapbox::str;

use crate::{reads, scenario_with};

#[test]
fn an_assertion_that_is_wrong() {
    reads(
        scenario_with(
            "[faults]",
            r#"[finally]
upgraded = "basket.memory == 32 && baskt.rows == []"

[faults]"#,
        ),
        str![[r#"
  error: unknown name `baskt`
    ,-[two-agents.toml:18:36]
 18 | upgraded = "basket.memory == 32 && baskt.rows == []"
    :                                    ^^^^^
    `----
  help: did you mean `basket`?

"#]],
    );
    reads(
        scenario_with(
            "[faults]",
            r#"[finally]
resolves = "true"

[sometimes]
upgraded = """
basket.memory
== '32'"""
no = "basket.memory"

[faults]"#,
        ),
        str![[r#"
  error: an invariant has this name
    ,-[two-agents.toml:18:1]
 18 | resolves = "true"
    : ^^^^|^^^
    :     `-- expectations could not tell the two apart
    `----

  error: a number never equals a string
    ,-[two-agents.toml:23:1]
 23 | == '32'"""
    : ^^
    `----

  error: an assertion is true or false, and this is a number
    ,-[two-agents.toml:24:7]
 24 | no = "basket.memory"
    :       ^^^^^^^^^^^^^
    `----

"#]],
    );
    reads(
        scenario_with(
            "[faults]",
            r#"[finally]
one = "told.A == [\"okay\"]"

[sometimes]
one = "true"

[faults]"#,
        ),
        str![[r#"
  error: no agent is ever told `okay`
    ,-[two-agents.toml:18:19]
 18 | one = "told.A == [\"okay\"]"
    :                   ^^^^^^^^
    `----
  help: expected `ok`, `failure`, `conflict` or `unknown`

  error: another assertion has this name
    ,-[two-agents.toml:21:1]
 21 | one = "true"
    : ^|^
    :  `-- expectations could not tell the two apart
    `----

"#]],
    );
}

#[test]
fn an_expectation_that_is_wrong() {
    reads(
        scenario_with(
            "[faults]",
            r#"[expect]
naive = { no-lost-updates = "violated", resolves = "inconclusive" }
versioned = { resolves = "hold", no-double-write = { steps = 3, faults = 4 }, no-lost-update = 3 }

[faults]"#,
        ),
        str![[r#"
  error: unknown invariant or assertion `no-lost-updates`
    ,-[two-agents.toml:18:11]
 18 | naive = { no-lost-updates = "violated", resolves = "inconclusive" }
    :           ^^^^^^^|^^^^^^^
    :                  `-- expected `no-lost-update`, `no-double-write` or `resolves`
    `----
  help: did you mean `no-lost-update`?

  error: `inconclusive` can't be expected
    ,-[two-agents.toml:18:52]
 18 | naive = { no-lost-updates = "violated", resolves = "inconclusive" }
    :                                                    ^^^^^^^|^^^^^^
    :                                                           `-- `holds`, `violated`, `vacuous` or { steps, faults }
    `----
  help: it says that a limit was hit: raise the limit or lower a budget

  error: unknown verdict `hold`
    ,-[two-agents.toml:19:26]
 19 | versioned = { resolves = "hold", no-double-write = { steps = 3, faults = 4 }, no-lost-update = 3 }
    :                          ^^^|^^
    :                             `-- expected `holds`, `violated` or `vacuous`
    `----
  help: did you mean `holds`?

  error: this number is out of range
    ,-[two-agents.toml:19:74]
 19 | versioned = { resolves = "hold", no-double-write = { steps = 3, faults = 4 }, no-lost-update = 3 }
    :                                                                          |
    :                                                                          `-- expected a whole number from 0 to 3
    `----

  error: this is a whole number
    ,-[two-agents.toml:19:96]
 19 | versioned = { resolves = "hold", no-double-write = { steps = 3, faults = 4 }, no-lost-update = 3 }
    :                                                                                                |
    :                                                                                                `-- expected `holds`, `violated`, `vacuous` or { steps, faults }
    `----

"#]],
    );
}
