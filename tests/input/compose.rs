//! What each of three inputs allows, and the three together don't.

use handlecheck::input::{Look, Source, compose, deploy_design, read_design, read_protocol, read_scenario, render};
use snapbox::str;

use crate::{DESIGN, INVARIANTS, PROTOCOL, SCENARIO, altered, reads};

/// The errors of composing these, or the warnings.
fn composed(scenario: &str, design: &str) -> String {
    let scenario = read_scenario(&Source::new("two-agents", "two-agents.toml", scenario), INVARIANTS);
    let design = read_design(&Source::new("small", "small.toml", design));
    let protocol = read_protocol(&Source::new("rules", "rules.toml", PROTOCOL));
    let inputs = (scenario.expect("readable"), design.expect("readable"), protocol.expect("readable"));
    match compose(&inputs.0, &inputs.1, &inputs.2, INVARIANTS) {
        Ok((_, warnings)) => format!("composed\n{}", render(&warnings, Look::Plain)),
        Err(error) => error.render(Look::Plain),
    }
}

fn with_entry(entry: &str) -> String {
    altered(SCENARIO, "memory = 32 }]", &format!("memory = 32 }},\n    {entry},\n]"))
}

#[test]
fn the_good_ones_fit() {
    assert_eq!(composed(SCENARIO, DESIGN), "composed\n");
}

#[test]
fn the_work_needs_handlers() {
    let no_read = altered(DESIGN, "[server.read]\ntransactions = [[\"resolve\", \"read\"]]\n", "");
    reads(
        composed(SCENARIO, &no_read),
        str![[r#"
  error: design `small` has no handler of the tool `read`
    ,-[two-agents.toml:12:9]
 12 | work = [{ read = "basket" }, { set = "basket", memory = 32 }]
    :         ^^^^^^^^^|^^^^^^^^^
    :                  `-- this entry calls it
    `----
  help: the design needs a table `[server.read]`

"#]],
    );
    let no_write = altered(DESIGN, "[server.write]\ntransactions = [[\"resolve\", \"apply\"]]\n", "");
    reads(
        composed(SCENARIO, &no_write),
        str![[r#"
  error: design `small` has no handler of the tool `write`
    ,-[two-agents.toml:12:30]
 12 | work = [{ read = "basket" }, { set = "basket", memory = 32 }]
    :                              ^^^^^^^^^^^^^^^|^^^^^^^^^^^^^^^
    :                                             `-- this entry calls it
    `----
  help: the design needs a table `[server.write]`

"#]],
    );
    reads(
        composed(&with_entry(r#"{ mint = "draft", title = "x" }"#), DESIGN),
        str![[r#"
  error: design `small` has no handler of the tool `mint`
    ,-[two-agents.toml:13:5]
 13 |     { mint = "draft", title = "x" },
    :     ^^^^^^^^^^^^^^^|^^^^^^^^^^^^^^^
    :                    `-- this entry calls it
    `----
  help: `[server.mint]` needs a transaction with the step `mint`

"#]],
    );
}

#[test]
fn an_agent_that_starts_from_a_view_needs_to_read() {
    let write_only = altered(SCENARIO, "{ read = \"basket\" }, ", "");
    let no_read = altered(DESIGN, "[server.read]\ntransactions = [[\"resolve\", \"read\"]]\n", "");
    assert_eq!(composed(&write_only, &no_read), "composed\n");
    reads(
        composed(&write_only, &altered(&no_read, "\"change\"", "\"snapshot\"")),
        str![[r#"
  error: design `small` has no handler of the tool `read`
    ,-[two-agents.toml:12:9]
 12 | work = [{ set = "basket", memory = 32 }]
    :         ^^^^^^^^^^^^^^^|^^^^^^^^^^^^^^^
    :                        `-- for this entry the agent may read first or again
    `----
  help: the design needs a table `[server.read]`

"#]],
    );
}

/// Whatever makes an agent read: what it is given, a condition, an approval, a version, a record that it hands on; and what may
/// come instead of a blind write.
#[test]
fn whatever_may_be_read_needs_a_handler() {
    let no_read = altered(DESIGN, "[server.read]\ntransactions = [[\"resolve\", \"read\"]]\n", "");
    let blind = altered(&no_read, "[client]\n", "[client]\nblind = true\n");
    let choosing = altered(&blind, "blind = true\n", "blind = true\nany = [\"blind\"]\n");
    let leased = altered(&no_read, "\"apply\"", "\"check-lease\", \"apply\"");
    let again = altered(&no_read, "[client]\n", "[client]\nbefore-write = \"read-again\"\n");
    let set = "{ set = \"basket\", memory = 32 }";
    let conditional = "{ set = \"basket\", memory = 32, if = \"basket.memory < 32\" }";
    let resting = "{ set = \"basket\", memory = 32, given = [\"basket\"] }";
    for (entry, design, reads) in [
        (set, &no_read, false),
        (conditional, &no_read, true),
        (conditional, &blind, false),
        (conditional, &choosing, true),
        (resting, &no_read, true),
        (resting, &blind, false),
        ("{ approve = \"basket\" }", &no_read, true),
        ("{ close = \"basket\", given = [\"basket\"] }", &no_read, true),
        ("{ hand-off = \"basket\", to = [\"B\"] }", &no_read, false),
        ("{ hand-off = \"basket\", to = [\"B\"], carries = [\"version\"] }", &no_read, true),
        (set, &leased, true),
        (set, &again, true),
    ] {
        let scenario = altered(SCENARIO, "{ read = \"basket\" }, { set = \"basket\", memory = 32 }", entry);
        let composed = composed(&scenario, design);
        let missing = composed.contains("has no handler of the tool `read`");
        assert_eq!(missing, reads, "{entry}\n{design}\n{composed}");
        assert_eq!(missing, !composed.starts_with("composed"), "{composed}");
    }
}

#[test]
fn nobody_changes_a_field_that_it_does_not_know() {
    let scenario = altered(SCENARIO, "version = 7\n", "version = 7\nnew-fields = [\"memory\"]\n");
    let dropped = altered(DESIGN, "[client]\n", "[client]\nnew-fields = \"dropped\"\n");
    assert_eq!(composed(&scenario, DESIGN), "composed\n");
    reads(
        composed(&scenario, &dropped),
        str![[r#"
  error: agent `A` changes `memory`, which its client does not know
    ,-[two-agents.toml:13:30]
 13 | work = [{ read = "basket" }, { set = "basket", memory = 32 }]
    :                              ^^^^^^^^^^^^^^^|^^^^^^^^^^^^^^^
    :                                             `-- a client that drops new fields can't name one
    `----
  help: give the agent a `[client]` of its own, with `new-fields = "kept"`

"#]],
    );
}

#[test]
fn expectations_agree_and_name_what_is_judged() {
    let scenario =
        format!("{SCENARIO}\n[expect.small]\nresolves = \"holds\"\nno-lost-update = {{ steps = 9, faults = 0 }}\n");
    let agreeing = format!("{DESIGN}\n[expect.two-agents]\nresolves = \"holds\"\n");
    assert_eq!(composed(&scenario, &agreeing), "composed\n");
    let design = format!(
        "{DESIGN}\n[expect.two-agents]\nresolves = \"holds\"\nno-lost-update = \"holds\"\nresolve = \"holds\"\n\
         [expect.another]\nwhatever = \"holds\"\n"
    );
    reads(
        composed(&scenario, &design),
        str![[r#"
  error: two expectations of `no-lost-update` contradict each other
    ,-[small.toml:14:1]
 14 | no-lost-update = "holds"
    : ^^^^^^^^^^^^|^^^^^^^^^^^
    :             `-- line 22 of two-agents.toml expects { steps = 9, faults = 0 }
    `----

  error: unknown invariant or assertion `resolve`
    ,-[small.toml:15:1]
 15 | resolve = "holds"
    : ^^^^^^^^|^^^^^^^^
    :         `-- expected `no-lost-update`, `no-double-write` or `resolves`
    `----
  help: did you mean `resolves`?

"#]],
    );
}

#[test]
fn state_in_sessions_needs_sessions() {
    let design = altered(DESIGN, "[server.read]", "[server]\nstate = \"session\"\n\n[server.read]");
    reads(
        composed(SCENARIO, &design),
        str![[r#"
  error: protocol `rules` has no sessions to keep state in
   ,-[small.toml:4:1]
 4 | state = "session"
   : ^^^^^^^^|^^^^^^^^
   :         `-- state is found by session
   `----
  help: choose another place for the state, or a protocol with `sessions = true`

"#]],
    );
}

#[test]
fn an_agent_that_never_gets_a_handle_is_warned_of() {
    let idle =
        altered(SCENARIO, "parent = \"A\"", "parent = \"A\"\nwork = [{ read = \"basket\" }, { close = \"basket\" }]");
    reads(
        composed(&idle, DESIGN),
        str![[r#"
composed
  warning: agent `B` never gets the handle of `basket`
    ,-[two-agents.toml:16:9]
 16 | work = [{ read = "basket" }, { close = "basket" }]
    :         ^^^^^^^^^|^^^^^^^^^
    :                  `-- a subagent knows what it was handed
    `----
  help: let another agent hand it off to this one

"#]],
    );
    let handed = altered(&idle, "memory = 32 }]", "memory = 32 }, { hand-off = \"basket\", to = [\"B\"] }]");
    assert_eq!(composed(&handed, DESIGN), "composed\n");

    let foreign = altered(&idle, "parent = \"A\"", "principal = \"user-7\"");
    reads(
        composed(&foreign, DESIGN),
        str![[r#"
composed
  warning: agent `B` never gets the handle of `basket`
    ,-[two-agents.toml:16:9]
 16 | work = [{ read = "basket" }, { close = "basket" }]
    :         ^^^^^^^^^|^^^^^^^^^
    :                  `-- the agent's principal has no right on it
    `----
  help: raise the budget of `leak-handle`, or let the server's handles be sequential

"#]],
    );
    assert_eq!(composed(&altered(&foreign, "drop-stream", "leak-handle"), DESIGN), "composed\n");
    let guessable = altered(DESIGN, "[server.read]", "[server]\nhandles = \"sequential\"\n\n[server.read]");
    assert_eq!(composed(&foreign, &guessable), "composed\n");
    let shared = altered(&foreign, "version = 7", "version = 7\nshared-with = [\"user-7\"]");
    assert_eq!(composed(&shared, DESIGN), "composed\n");
}

#[test]
fn a_handle_goes_from_hand_to_hand() {
    let chain = "title = \"Chain\"\nnodes = 1\n\
        [agents.A]\nprincipal = \"u\"\nwork = [{ mint = \"draft\", x = 1 }, { hand-off = \"draft\", to = [\"B\"] }]\n\
        [agents.B]\nparent = \"A\"\nwork = [{ hand-off = \"draft\", to = [\"C\"] }]\n\
        [agents.C]\nparent = \"A\"\nwork = [{ set = \"draft\", x = 2 }]\n\
        [agents.D]\nprincipal = \"u\"\nwork = [{ read = \"draft\" }]\n";
    let mints = format!("{DESIGN}\n[server.mint]\ntransactions = [[\"mint\"]]\n");
    reads(
        composed(chain, &mints),
        str![[r#"
composed
  warning: agent `D` never gets the handle of `draft`
    ,-[two-agents.toml:14:9]
 14 | work = [{ read = "draft" }]
    :         ^^^^^^^^^|^^^^^^^^
    :                  `-- it is minted by another agent
    `----
  help: let that agent hand it off to this one

"#]],
    );
}

#[test]
fn a_budget_that_is_never_spent_is_warned_of() {
    let scenario = altered(SCENARIO, "drop-stream = 1", "expire-key = 1\nexpire-claim = 1");
    reads(
        composed(&scenario, DESIGN),
        str![[r#"
composed
  warning: the fault `expire-key` never strikes design `small`
    ,-[two-agents.toml:18:1]
 18 | expire-key = 1
    : ^^^^^^^|^^^^^^
    :        `-- this budget can't matter
    `----
  help: `[server.keys]` has no `expire = true`

  warning: the fault `expire-claim` never strikes design `small`
    ,-[two-agents.toml:19:1]
 19 | expire-claim = 1
    : ^^^^^^^^|^^^^^^^
    :         `-- this budget can't matter
    `----
  help: `[server.keys]` has no `claims-expire = true`

"#]],
    );
    let expiring = format!("{DESIGN}\n[server.keys]\nexpire = true\nclaims-expire = true\n");
    assert_eq!(composed(&scenario, &expiring), "composed\n");
}

#[test]
fn what_can_never_matter_is_warned_of() {
    let steps = altered(DESIGN, r#""resolve", "apply""#, r#""resolve", "find-key", "check-version", "apply""#);
    let warnings = |design: &str| {
        let text = composed(&altered(SCENARIO, "drop-stream = 1", "expire-lease = 1\nstale-read = 1"), design);
        let lines = text.lines().filter(|line| line.contains("warning: ") || line.contains("help: "));
        lines.map(|line| line.trim().to_owned()).collect::<Vec<_>>()
    };
    let always = |step: &str| format!("warning: `{step}` always passes in a call of `write`");
    let found = warnings(&steps);
    for expected in [
        "warning: the fault `expire-lease` never strikes design `small`".to_owned(),
        "warning: the fault `stale-read` never strikes design `small`".to_owned(),
        always("find-key"),
        always("check-version"),
    ] {
        assert!(found.contains(&expected), "{expected}: {found:?}");
    }
    let says = "payload = \"change\"\nkey = \"per-intent\"\nprecondition = \"viewed-version\"";
    let sending = altered(&steps, "payload = \"change\"", says);
    assert!(!warnings(&sending).iter().any(|line| line.contains("always passes")));
}

/// Whose clients they are decides whether a step can matter, and the help names the setting that decides it.
#[test]
fn a_step_that_nobody_uses_during_a_deploy_names_whose_clients_there_are() {
    let looks = altered(DESIGN, r#""resolve", "apply""#, r#""resolve", "find-key", "apply", "record-key""#);
    let sends = altered(&looks, "payload = \"change\"", "payload = \"change\"\nkey = \"per-intent\"");
    let helps = |clients: &str, old: &str, new: &str| {
        let scenario = format!("{SCENARIO}\n[deploy]\nclients = \"{clients}\"\n");
        let scenario = read_scenario(&Source::new("two-agents", "two-agents.toml", scenario), INVARIANTS);
        let read = |name: &str, text: &str| read_design(&Source::new(name, "a.toml", text)).expect("it is readable");
        let protocol = read_protocol(&Source::new("rules", "rules.toml", PROTOCOL)).expect("it is readable");
        let design = deploy_design(read("old", old), read("new", new));
        let fits = compose(&scenario.expect("it is readable"), &design, &protocol, INVARIANTS);
        fits.expect("they fit").1.into_iter().filter_map(|warning| warning.help).collect::<Vec<_>>()
    };
    let of = |which: &str, by: &str| {
        format!(
            "the clients are those of the design that is {which} (`[deploy] clients = \"{by}\"`), and have no `key = \"per-intent\"`"
        )
    };
    assert_eq!(helps("old", DESIGN, &sends), [of("replaced", "old")]);
    assert_eq!(helps("new", DESIGN, &sends), [""; 0]);
    assert_eq!(helps("new", &sends, DESIGN), [of("deployed", "new")]);
    assert_eq!(helps("old", &sends, DESIGN), [""; 0]);
    assert_eq!(helps("old", DESIGN, &looks), ["`[client]` has no `key = \"per-intent\"`"], "neither has it");
}
