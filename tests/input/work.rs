//! Bad scenarios: agents and their work.

use snapbox::str;

use crate::{SCENARIO, altered, entry, reads, scenario, scenario_with};

#[test]
fn a_misspelt_principal_is_said_once() {
    reads(
        scenario_with(r#"parent = "A""#, r#"princpal = "user-42""#),
        str![[r#"
  error: unknown key `princpal`
    ,-[two-agents.toml:15:1]
 15 | princpal = "user-42"
    : ^^^^|^^^
    :     `-- expected `parent`, `work`, `client` or `principal`
    `----
  help: did you mean `principal`?

"#]],
    );
}

#[test]
fn an_agent_acts_for_one_principal() {
    reads(
        scenario_with(r#"parent = "A""#, ""),
        str![[r#"
  error: whom does this agent act for?
    ,-[two-agents.toml:14:1]
 14 | [agents.B]
    : ^^^^^|^^^^
    :      `-- expected `principal`, or for a subagent `parent`
    `----

"#]],
    );
    reads(
        scenario_with(
            r#"parent = "A""#,
            r#"parent = "A"
principal = "user-42""#,
        ),
        str![[r#"
  error: a subagent acts for its parent's principal
    ,-[two-agents.toml:15:10]
 15 | parent = "A"
    :          ^|^
    :           `-- and a `principal` besides
    `----
  help: leave one of them out

"#]],
    );
    reads(
        scenario_with(r#"parent = "A""#, r#"principal = { client = "app" }"#),
        str![[r#"
  error: `subject` is missing
    ,-[two-agents.toml:15:13]
 15 | principal = { client = "app" }
    :             ^^^^^^^^^|^^^^^^^^
    :                      `-- expected `subject` in here
    `----

"#]],
    );
}

#[test]
fn parents_are_other_agents() {
    reads(
        scenario_with(r#"parent = "A""#, r#"parent = "a""#),
        str![[r#"
  error: unknown agent `a`
    ,-[two-agents.toml:15:10]
 15 | parent = "a"
    :          ^|^
    :           `-- expected `A` or `B`
    `----
  help: did you mean `A`?

"#]],
    );
    reads(
        scenario_with(r#"parent = "A""#, r#"parent = "B""#),
        str![[r#"
  error: no principal is at the end of these parents
    ,-[two-agents.toml:15:10]
 15 | parent = "B"
    :          ^|^
    :           `-- the parents go round: B, B
    `----

"#]],
    );
    reads(
        scenario_with(
            r#"parent = "A""#,
            r#"parent = "C"

[agents.C]
parent = "B""#,
        ),
        str![[r#"
  error: no principal is at the end of these parents
    ,-[two-agents.toml:15:10]
 15 | parent = "C"
    :          ^|^
    :           `-- the parents go round: B, C, B
    `----

"#]],
    );
}

#[test]
fn an_entry_has_one_verb() {
    reads(
        entry(r#"{ raed = "basket" }"#),
        str![[r#"
  error: unknown verb `raed`
    ,-[two-agents.toml:13:7]
 13 |     { raed = "basket" },
    :       ^^^^
    `----
  help: did you mean `read`? expected one of read, set, append, increment, mint, close, approve, execute,
        delete, hand-off

"#]],
    );
    reads(
        entry("{ memory = 3 }"),
        str![[r#"
  error: this entry does nothing
    ,-[two-agents.toml:13:5]
 13 |     { memory = 3 },
    :     ^^^^^^^^^^^^^^
    `----
  help: expected one of read, set, append, increment, mint, close, approve, execute, delete, hand-off

"#]],
    );
    reads(
        entry(r#"{ close = "basket", delete = "basket" }"#),
        str![[r#"
  error: an entry does one thing
    ,-[two-agents.toml:13:25]
 13 |     { close = "basket", delete = "basket" },
    :                         ^^^|^^
    :                            `-- and `close` besides
    `----

"#]],
    );
    reads(
        entry(r#""read""#),
        str![[r#"
  error: this is a string
    ,-[two-agents.toml:13:5]
 13 |     "read",
    :     ^^^|^^
    :        `-- expected a table
    `----

"#]],
    );
}

#[test]
fn an_entry_names_what_there_is() {
    reads(
        entry(r#"{ read = "baskt" }"#),
        str![[r#"
  error: unknown resource `baskt`
    ,-[two-agents.toml:13:14]
 13 |     { read = "baskt" },
    :              ^^^|^^^
    :                 `-- expected `basket`
    `----
  help: did you mean `basket`?

"#]],
    );
    reads(
        entry(r#"{ set = "basket", memry = 1 }"#),
        str![[r#"
  error: unknown field of `basket` `memry`
    ,-[two-agents.toml:13:23]
 13 |     { set = "basket", memry = 1 },
    :                       ^^|^^
    :                         `-- expected `memory` or `rows`
    `----
  help: did you mean `memory`?

"#]],
    );
    reads(
        entry(r#"{ close = "basket", memory = 1 }"#),
        str![[r#"
  error: unknown key `memory`
    ,-[two-agents.toml:13:25]
 13 |     { close = "basket", memory = 1 },
    :                         ^^^|^^
    :                            `-- expected `close`, `given`, `also`, `if` or `intent`
    `----

"#]],
    );
    reads(
        entry(r#"{ set = "basket" }"#),
        str![[r#"
  error: this entry has nothing to set
    ,-[two-agents.toml:13:7]
 13 |     { set = "basket" },
    :       ^|^
    :        `-- expected a field and a value behind the resource
    `----

"#]],
    );
}

#[test]
fn an_entry_fits_its_field() {
    reads(
        entry(r#"{ set = "basket", memory = "much" }"#),
        str![[r#"
  error: `memory` is a number, this is a string
    ,-[two-agents.toml:13:32]
 13 |     { set = "basket", memory = "much" },
    :                                ^^^|^^
    :                                   `-- expected a number
    `----

"#]],
    );
    reads(
        entry(r#"{ set = "basket", rows = "a" }"#),
        str![[r#"
  error: `rows` is a list, this is a string
    ,-[two-agents.toml:13:30]
 13 |     { set = "basket", rows = "a" },
    :                              ^|^
    :                               `-- expected a list
    `----
  help: `append` adds an element to a list

"#]],
    );
    reads(
        entry(r#"{ append = "basket", memory = 1 }"#),
        str![[r#"
  error: `memory` is a number
    ,-[two-agents.toml:13:35]
 13 |     { append = "basket", memory = 1 },
    :                                   |
    :                                   `-- only a list can be appended to
    `----
  help: `set` gives a field another value

"#]],
    );
    reads(
        entry(r#"{ increment = "basket", rows = 1 }"#),
        str![[r#"
  error: `rows` is a list
    ,-[two-agents.toml:13:36]
 13 |     { increment = "basket", rows = 1 },
    :                                    |
    :                                    `-- only a number can be incremented
    `----

"#]],
    );
    reads(
        entry(r#"{ increment = "basket", memory = "1" }"#),
        str![[r#"
  error: this is a string
    ,-[two-agents.toml:13:38]
 13 |     { increment = "basket", memory = "1" },
    :                                      ^|^
    :                                       `-- expected a whole number from -9007199254740991 to 9007199254740991
    `----

"#]],
    );
}

#[test]
fn a_resource_is_made_once() {
    reads(
        entry(r#"{ mint = "basket", memory = 1 }"#),
        str![[r#"
  error: `basket` is not to be minted
    ,-[two-agents.toml:13:14]
 13 |     { mint = "basket", memory = 1 },
    :              ^^^^|^^^
    :                  `-- it has a table in `[resources]`: it is there from the start
    `----

"#]],
    );
    reads(
        entry(
            r#"{ mint = "draft", title = "x" },
    { mint = "draft", title = "y" }"#,
        ),
        str![[r#"
  error: `draft` is minted twice
    ,-[two-agents.toml:14:14]
 14 |     { mint = "draft", title = "y" },
    :              ^^^|^^^
    :                 `-- another entry of this agent makes it
    `----

"#]],
    );
}

#[test]
fn two_agents_may_choose_one_name() {
    let minted_too = |acts_for: &str, mint: &str| {
        let text = altered(SCENARIO, "parent = \"A\"", &format!("{acts_for}\nwork = [{mint}]"));
        scenario(&altered(&text, "memory = 32 }]", r#"memory = 32 }, { mint = "draft", title = "x" }]"#))
    };
    reads(
        minted_too(r#"parent = "A""#, r#"{ mint = "draft", title = "x" }"#),
        str![[r#"
readable

"#]],
    );
    reads(
        minted_too(r#"principal = "user-7""#, r#"{ mint = "draft", title = "x" }"#),
        str![[r#"
  error: `draft` is minted for two principals
    ,-[two-agents.toml:16:18]
 16 | work = [{ mint = "draft", title = "x" }]
    :                  ^^^|^^^
    :                     `-- an agent of another principal makes it
    `----

"#]],
    );
    reads(
        minted_too(r#"parent = "A""#, r#"{ mint = "draft", title = "y" }"#),
        str![[r#"
  error: `draft` is minted with other contents
    ,-[two-agents.toml:16:18]
 16 | work = [{ mint = "draft", title = "y" }]
    :                  ^^^|^^^
    :                     `-- another agent makes it, of other contents
    `----

"#]],
    );
}

#[test]
fn a_hand_off_has_other_agents_to_go_to() {
    reads(
        entry(r#"{ hand-off = "basket" }"#),
        str![[r#"
  error: `to` is missing
    ,-[two-agents.toml:13:5]
 13 |     { hand-off = "basket" },
    :     ^^^^^^^^^^^|^^^^^^^^^^^
    :                `-- expected `to` in here
    `----

"#]],
    );
    reads(
        entry(r#"{ hand-off = "basket", to = ["A", "C", "B", "B"], carries = ["versions"] }"#),
        str![[r#"
  error: an agent hands nothing to itself
    ,-[two-agents.toml:13:34]
 13 |     { hand-off = "basket", to = ["A", "C", "B", "B"], carries = ["versions"] },
    :                                  ^|^
    :                                   `-- this is the agent itself
    `----

  error: unknown agent `C`
    ,-[two-agents.toml:13:39]
 13 |     { hand-off = "basket", to = ["A", "C", "B", "B"], carries = ["versions"] },
    :                                       ^|^
    :                                        `-- expected `A` or `B`
    `----

  error: this agent is listed twice
    ,-[two-agents.toml:13:49]
 13 |     { hand-off = "basket", to = ["A", "C", "B", "B"], carries = ["versions"] },
    :                                                 ^|^
    :                                                  `-- again
    `----

  error: `carries` can't have `versions`
    ,-[two-agents.toml:13:66]
 13 |     { hand-off = "basket", to = ["A", "C", "B", "B"], carries = ["versions"] },
    :                                                                  ^^^^^|^^^^
    :                                                                       `-- expected `handle`, `version` or `content`
    `----
  help: did you mean `version`?

"#]],
    );
    reads(
        entry(r#"{ hand-off = "basket", to = [] }"#),
        str![[r#"
  error: this list is empty
    ,-[two-agents.toml:13:33]
 13 |     { hand-off = "basket", to = [] },
    :                                 ^|
    :                                  `-- expected at least one agent
    `----

"#]],
    );
}

#[test]
fn a_plan_rests_on_resources_and_on_nothing_that_it_makes() {
    reads(
        entry(r#"{ set = "basket", memory = 1, given = ["basket", "budget"] }"#),
        str![[r#"
  error: unknown resource `budget`
    ,-[two-agents.toml:13:54]
 13 |     { set = "basket", memory = 1, given = ["basket", "budget"] },
    :                                                      ^^^^|^^^
    :                                                          `-- expected `basket`
    `----

"#]],
    );
    reads(
        entry(r#"{ mint = "other", memory = 1, given = ["other"] }"#),
        str![[r#"
  error: this is the resource that the entry makes
    ,-[two-agents.toml:13:44]
 13 |     { mint = "other", memory = 1, given = ["other"] },
    :                                            ^^^|^^^
    :                                               `-- nothing can rest on it before it is there
    `----

"#]],
    );
}

#[test]
fn new_fields_are_fields_each_named_once() {
    let with = |list: &str| altered(SCENARIO, "version = 7\n", &format!("version = 7\nnew-fields = {list}\n"));
    reads(
        scenario(&with(r#"["memori", "rows", "rows"]"#)),
        str![[r#"
  error: unknown field `memori`
   ,-[two-agents.toml:8:15]
 8 | new-fields = ["memori", "rows", "rows"]
   :               ^^^^|^^^
   :                   `-- expected `memory` or `rows`
   `----
  help: did you mean `memory`?

  error: this field is listed twice
   ,-[two-agents.toml:8:33]
 8 | new-fields = ["memori", "rows", "rows"]
   :                                 ^^^|^^
   :                                    `-- again
   `----

"#]],
    );
}

#[test]
fn what_a_call_changes_besides_is_one_change_of_another_resource() {
    for (also, wrong) in [
        (r#"{ set = "basket", memory = 1 }"#, "this is the resource that the entry changes"),
        (r#"{ close = "budget" }"#, "`close` can't be done besides"),
        (r#"{ incremnt = "budget", amount = 1 }"#, "did you mean `increment`?"),
        (r#"{ set = "budget" }"#, "this entry has nothing to set"),
        (r#"{ set = "budget", amont = 1 }"#, "did you mean `amount`?"),
        (r#"{ set = "budget", append = "budget" }"#, "`also` does one thing"),
        (r#""budget""#, "this is a string"),
    ] {
        let budget = "[resources.budget]\nhandle = \"bdg\"\nowner = \"user-42\"\nfields = { amount = 1 }\n\n[agents.A]";
        let text = altered(SCENARIO, "[agents.A]", budget);
        let said = scenario(&altered(&text, "memory = 32 }", &format!("memory = 32, also = {also} }}")));
        assert!(said.contains(wrong), "{also}: {said}");
    }
}
