//! What reports and stories say of what happened: the reason where it belongs, and no cause that is none.

use std::path::Path;

use crate::common::handlecheck;
use crate::{folder, words, write};

const READ: &str = "[server.read]\ntransactions = [[\"resolve\", \"read\"]]\n";
const WRITE: &str = "[server.write]\ntransactions = [[\"resolve\", \"apply\"]]\n";

const CLAIM_FOR_EVER: &str = include_str!("../../models/designs/claim-for-ever.toml");

/// Checks a scenario under a design, and tells what breaks an invariant.
#[track_caller]
fn story(folder: &Path, scenario: &str, design: &str, invariant: &str) -> String {
    write(folder, "s.toml", scenario);
    write(folder, "d.toml", design);
    let checked =
        handlecheck(folder, &words(&format!("check -q s.toml --design d.toml --invariant {invariant} --traces t")));
    assert_eq!(checked.code, 1, "{}{}", checked.out, checked.err);
    let traces = std::fs::read_dir(folder.join("t")).expect("a trace is written");
    let names = traces.map(|trace| trace.expect("it can be read").file_name().to_string_lossy().into_owned());
    let name = names.into_iter().find(|name| name.contains(invariant)).expect("there is a trace of it");
    let told = handlecheck(folder, &["explain", "-q", "--no-search", &format!("t/{name}")]);
    assert_eq!(told.code, 0, "{}", told.err);
    told.out.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Nothing changes behind the approval: it was of something else from the start.
#[test]
fn an_approval_of_a_stale_view_is_the_cause() {
    let scenario = r#"
title = "x"
nodes = 1
[resources.p]
handle = "p1"
owner = "u"
fields = { amount = 10, note = 0 }
[agents.clerk]
principal = "u"
work = [{ set = "p", amount = 1000 }, { hand-off = "p", to = ["boss"] }]
[agents.boss]
parent = "clerk"
work = [{ read = "p" }, { approve = "p" }, { hand-off = "p", to = ["bot"] }]
[agents.bot]
parent = "boss"
work = [{ execute = "p" }]
[faults]
stale-read = 1
"#;
    let design =
        format!("title = \"x\"\n[server]\nreads-from = \"replica\"\n{READ}{WRITE}[client]\npayload = \"change\"\n");
    let told = story(folder().path(), scenario, &design, "approval-covers-execution");
    assert!(!told.contains("what was approved changes"), "{told}");
    assert!(told.contains("boss approves amount 10, note 0, which its view showed, while p1 is 1000"), "{told}");
    // A read that is served late ends as any other.
    assert!(told.contains("The answer shows v1 10. The copy lags behind."), "{told}");
    assert!(!told.contains("goes on with the next transaction"), "{told}");
    // What never changes stands in no content.
    assert!(told.contains("Left out of contents, since it never changes: note 0."), "{told}");
    assert!(told.contains("p1 is now v2 1000.") && !told.contains("1000 / 0"), "{told}");
}

/// The reason for a repeat is the reason for that, and not for the name.
#[test]
fn a_name_that_a_client_chose_is_told() {
    let scenario = r#"
title = "x"
nodes = 1
protocol = "mcp-2025-11-25-never-resumed"
[agents.A]
principal = "u"
work = [{ mint = "a", handle = "out", x = 1 }, { set = "a", x = 2 }]
[faults]
drop-stream = 1
"#;
    let design = format!(
        "title = \"x\"\n[server]\ntaken-name = \"refuse\"\n[server.mint]\ntransactions = [[\"mint\"]]\n{READ}{WRITE}\
         [client.on]\nname-taken = {{ tell = \"ok\" }}\n"
    );
    let told = story(folder().path(), scenario, &design, "no-orphan");
    assert!(told.contains("a-1, under the name out, is live, and nobody who may use it was told its handle"), "{told}");
    assert!(told.contains("again (request A-2), because the stream of A-1 broke"), "{told}");
    assert!(told.contains("A can't know that its change took effect in step 3. It chooses the name out."), "{told}");
    assert!(told.contains("A is told ok about the mint of a."), "{told}");
    assert!(told.contains("It let pass A-1 in step 3: the name out was free."), "{told}");
}

/// One's own change is not somebody's.
#[test]
fn an_agent_that_erases_its_own_change() {
    let scenario = r#"
title = "x"
nodes = 1
[resources.a]
handle = "a1"
owner = { subject = "1", tenant = "acme" }
fields = { status = "trialing" }
[agents.sender]
principal = { subject = "1", tenant = "acme" }
work = [{ set = "a", status = "active" }, { set = "a", status = "canceled" }]
[faults]
drop-stream = 1
"#;
    let design = format!(
        "title = \"x\"\n{READ}{WRITE}[client]\npayload = \"change\"\nafter-failure = \"next\"\n[client.on]\n\
         broken-stream = {{ tell = \"unknown\" }}\n"
    );
    let told = story(folder().path(), scenario, &design, "no-lost-update");
    assert!(told.contains("erased its own change to canceled, which it had not seen"), "{told}");
    assert!(told.contains("sender acts for 1 of tenant acme"), "{told}");
}

/// What the second engine can't decide is said, is refused where it is named, and fails where it is expected.
#[test]
fn what_an_engine_cannot_decide_never_passes_for_checked() {
    let why = "stateright looks at one path at a time, and misses runs that go on for ever";
    let run = |line: &str| handlecheck(folder().path(), &words(line));
    let line = "one-agent-restart --design claim-for-ever --engine stateright";
    let named = run(&format!("check -q {line} --invariant resolves"));
    assert_eq!(named.code, 2, "{}", named.out);
    assert!(named.err.contains(&format!("--engine stateright can't decide `resolves`: {why}")), "{}", named.err);
    // The design expects `resolves` to be broken here, which is not known now.
    let expected = run(&format!("check -q {line}"));
    assert_eq!(expected.code, 3, "{}", expected.out);
    assert!(expected.out.contains("  inconclusive resolves"), "{}", expected.out);
    assert!(expected.out.contains(&format!("\n  not checked: resolves, since {why}\n")), "{}", expected.out);
    let compared = run(&format!("compare -q {line}"));
    assert_eq!(compared.code, 3, "{}", compared.out);
    let junit = run(&format!("check -q {line} --format junit"));
    assert!(junit.out.contains("type=\"inconclusive\"") && junit.out.contains(why), "{}", junit.out);
    // Where nothing is expected of it, it is skipped, and not left out.
    let line = "two-agents-no-faults --design versioned --engine stateright";
    let skipped = run(&format!("check -q {line} --format junit"));
    assert_eq!(skipped.code, 0, "{}", skipped.out);
    let case = format!("<skipped message=\"not checked, since {why}\"/>");
    assert!(skipped.out.contains(&case), "{}", skipped.out);
    let compared = run(&format!("compare -q {line}"));
    assert!(
        compared.out.replace('\n', " ").contains(&format!("In 1 run, not checked: resolves, since {why}.")),
        "{}",
        compared.out
    );
    let repaired = run("repair -q two-agents-drop --design naive --engine stateright");
    assert_eq!(repaired.code, 2, "{}", repaired.out);
    let folder = folder();
    let (design, _) = CLAIM_FOR_EVER.split_once("[expect.").expect("it expects something");
    write(folder.path(), "mine.toml", format!("{design}[expect.one-agent-restart]\nresolves = \"holds\"\n"));
    let tested = handlecheck(folder.path(), &words("test -q mine.toml --engine stateright"));
    assert_eq!(tested.code, 3, "{}", tested.out);
    assert!(tested.out.contains("FAIL  one-agent-restart x mine"), "{}", tested.out);
    assert!(tested.out.contains("resolves: expected holds, found inconclusive"), "{}", tested.out);
    assert!(tested.out.contains(&format!("in 1 run, not checked: resolves, since {why}\n")), "{}", tested.out);
}

/// A trace of which a step was cut out, or cut off, or added, never happened: it is neither told nor drawn.
#[test]
fn what_does_not_replay_is_neither_told_nor_drawn() {
    let folder = folder();
    let golden = crate::common::read("traces/laptop-basket.naive.no-lost-update.json");
    let whole: serde_json::Value = serde_json::from_str(&golden).expect("a trace is JSON");
    let steps = whole["steps"].as_array().expect("it has steps").clone();
    let last = steps.len() - 1;
    let without = |from: usize, to: usize| [&steps[..from], &steps[to..]].concat();
    let doubled = [&steps[..], &steps[last..]].concat();
    for (name, steps) in
        [("out", without(3, 4)), ("off", without(last, last + 1)), ("none", Vec::new()), ("doubled", doubled)]
    {
        let mut cut = whole.clone();
        cut["steps"] = steps.into();
        write(folder.path(), &format!("{name}.json"), cut.to_string());
        let replay = handlecheck(folder.path(), &words(&format!("replay {name}.json")));
        assert_eq!(replay.code, 1, "{}{}", replay.out, replay.err);
        for command in ["explain", "explain --no-search", "diagram", "diagram --format html", "diagram --format svg"] {
            let said = handlecheck(folder.path(), &words(&format!("{command} {name}.json")));
            assert_eq!((said.code, &said.out), (1, &replay.out), "{command} {name}: {}", said.err);
        }
    }
}

/// A limit is one for the second engine too: nothing that it left open passes for decided.
#[test]
fn the_second_engine_keeps_to_limits_and_says_so() {
    let run = |limit: &str| {
        let line = "check -q two-agents-drop --design naive --engine stateright --invariant truthful-outcome";
        handlecheck(folder().path(), &words(&format!("{line} {limit}")))
    };
    for most in [1, 100, 1500, 2025] {
        let said = run(&format!("--max-states {most}"));
        assert!(said.out.contains("  inconclusive truthful-outcome"), "{most}: {}", said.out);
        assert!(said.out.contains(&format!("cut short, since the limit of {most} states was reached")), "{}", said.out);
        assert_eq!(said.code, 3);
    }
    for whole in ["--max-states 2026", ""] {
        let said = run(whole);
        assert!(said.code == 0 && said.out.contains("  holds        truthful-outcome"), "{}", said.out);
    }
    let late = run("--timeout 1ms");
    assert!(late.code == 3 && late.out.contains("  inconclusive truthful-outcome"), "{}", late.out);
}

/// A folder that is not there is named.
#[test]
fn a_file_in_no_folder_is_refused_in_words() {
    let line = "simulate two-agents-no-faults --design versioned --runs 3 --sweep 2,3 --plot no/such/plot.svg";
    let plot = handlecheck(folder().path(), &words(line));
    assert!(
        plot.code == 2 && plot.err.contains("can't write no/such/plot.svg: there is no folder no/such"),
        "{}",
        plot.err
    );
}
