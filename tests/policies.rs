//! Variants of designs: what each step protects, what a verdict rests on, and what repairs a design.

use std::collections::BTreeMap;

use handlecheck::input::{self, Input, Kind, Source, deploy_design};
use handlecheck::model::{Design, Verdict};
use handlecheck::policies::ablate::{Ablation, Effect, ablate};
use handlecheck::policies::edit::{Edit, places};
use handlecheck::policies::repair::{Repairs, repair};
use handlecheck::policies::variant::{patch, variant};
use handlecheck::policies::{costs, world};
use handlecheck::run::{Costs, Greatest, KeyKept, LeaseKept, Options, Run, invariant_names};
use handlecheck::step::Measure;
use handlecheck::trace;

fn composed(scenario: &str, design: &str) -> Run {
    let design = input::resolve(Kind::Design, design, None).expect("it is shipped");
    run_with(scenario, input::read_design(&design).expect("it is readable"))
}

fn run_with(scenario: &str, design: Input<Design>) -> Run {
    let source = input::resolve(Kind::Scenario, scenario, None).expect("it is shipped");
    let scenario = input::read_scenario(&source, &invariant_names()).expect("it is readable");
    let protocol = input::protocol_of(&scenario, None).expect("it is readable");
    Run::new(scenario, design, protocol, &std::collections::BTreeMap::default()).expect("they fit")
}

fn broken<'a>(ablation: &'a Ablation, change: &str) -> Vec<&'a str> {
    let change = ablation.changes.iter().find(|row| row.change == change).unwrap_or_else(|| panic!("no {change}"));
    change.breaks.iter().map(|property| &*property.name).collect()
}

#[test]
fn each_step_protects_what_it_is_for() {
    let run = composed("two-agents-no-faults", "versioned");
    let found = ablate(&run, &Options::default(), 2, &|_| false).expect("its traces can be recorded");
    assert!(found.complete && found.violated.is_empty());
    assert_eq!(broken(&found, "write: without check-version"), ["no-lost-update", "both-upgrades"]);
    assert_eq!(broken(&found, "write: another transaction from apply on"), ["no-lost-update", "both-upgrades"]);
    assert_eq!(broken(&found, "write: without authorize"), [""; 0]);
    assert!(found.protect_nothing.contains(&"write: find-key".to_owned()), "no stream breaks");
    assert!(!found.protect_nothing.contains(&"write: check-version".to_owned()));
    for found in found.changes.iter().flat_map(|change| &change.breaks).flat_map(|property| &property.breaks) {
        let recorded = found.recorded.as_ref().expect("a break has a trace");
        trace::replay(recorded).expect("it replays on the variant that it holds");
    }
    let with_faults = composed("two-agents-drop", "versioned");
    let found = ablate(&with_faults, &Options::default(), 2, &|_| false).expect("its traces can be recorded");
    assert_eq!(broken(&found, "write: without find-key"), ["no-double-write"]);
}

#[test]
fn while_a_design_is_deployed_the_steps_of_both_are_changed() {
    let [old, new] = ["dedup-only", "versioned"].map(|name| {
        let source = input::resolve(Kind::Design, name, None).expect("it is shipped");
        input::read_design(&source).expect("it is readable")
    });
    let run = run_with("deploy-versions", deploy_design(old, new));
    let found = ablate(&run, &Options::default(), 2, &|_| false).expect("its traces can be recorded");
    assert!(found.complete);
    assert_eq!(broken(&found, "dedup-only: write: without record-key"), ["no-double-write"]);
    assert_eq!(
        broken(&found, "versioned: write: without record-key"),
        [""; 0],
        "its own writes are refused when they come again"
    );
    assert_eq!(broken(&found, "versioned: write: without apply"), ["truthful-outcome"]);
    assert_eq!(broken(&found, "versioned: write: without find-key"), ["no-double-write"], "an old node wrote it");
    // Updates are lost as it is, before every node has changed over; so the check protects nothing that was safe.
    assert!(found.violated.contains(&"no-lost-update".to_owned()));
    assert!(found.protect_nothing.contains(&"versioned: write: check-version".to_owned()));
    let mut traces = std::collections::BTreeSet::new();
    for found in found.changes.iter().flat_map(|change| &change.breaks).flat_map(|property| &property.breaks) {
        let recorded = found.recorded.as_ref().expect("a break has a trace");
        trace::replay(recorded).expect("it replays on the variant that it holds");
        assert!(traces.insert(recorded.file_name(0)), "each has a file of its own");
    }
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let run = composed("two-agents-no-faults", "versioned");
    let with = |threads| {
        let found = ablate(&run, &Options::default(), threads, &|_| false).expect("its traces can be recorded");
        serde_json::to_string(&found).expect("it is JSON")
    };
    assert!(with(1) == with(3));
}

#[test]
fn what_is_stopped_is_inconclusive() {
    let run = composed("two-agents-no-faults", "versioned");
    let found = ablate(&run, &Options::default(), 1, &|_| true).expect("its traces can be recorded");
    assert!(!found.complete);
    assert!(found.changes.iter().all(|change| change.result == Effect::Inconclusive));
}

#[test]
fn a_verdict_rests_on_clients_and_keys() {
    let run = composed("two-agents-drop", "versioned");
    let found = world::ablate(&run, &Options::default(), 2, &|_| false).expect("its traces can be recorded");
    assert_eq!(broken(&found, "[client] key = \"none\""), ["no-double-write"]);
    assert_eq!(broken(&found, "[client] precondition = \"none\""), ["no-lost-update", "both-upgrades"]);
    assert_eq!(broken(&found, "[client.on] broken-stream = { tell = \"failure\" }"), ["truthful-outcome"]);
    assert_eq!(broken(&found, "[client.on] broken-stream = { tell = \"unknown\" }"), [""; 0]);
    assert_eq!(broken(&found, "drop-stream = 2"), [""; 0]);
    assert!(found.changes.iter().any(|change| change.change == "protocol: closed-stream = \"continues\""));
    let expiring = found.changes.iter().find(|change| change.change.ends_with("expire-key = 1")).expect("it is tried");
    assert!(expiring.breaks.iter().any(|property| property.name == "no-double-write"));
}

fn repaired(scenario: &str, design: &str) -> (Run, Repairs) {
    let run = composed(scenario, design);
    let found = repair(&run, &Options::default(), 3, 2, &|_| false).expect("its traces can be recorded");
    (run, found)
}

#[test]
fn the_smallest_repair_is_found_and_proved() {
    let (run, found) = repaired("two-agents-no-faults", "check-then-write");
    assert!(found.complete && found.violated.contains(&"no-lost-update".to_owned()));
    let changes: Vec<&Vec<String>> = found.repairs.iter().map(|repair| &repair.changes).collect();
    assert!(
        changes.contains(&&vec!["write: the transaction that begins with apply joined to the one before".to_owned()]),
        "{changes:?}"
    );
    for repair in &found.repairs {
        assert_eq!(repair.changes.len(), 1);
        let source = Source::new("repaired", "repaired.toml", &*repair.text);
        let again = run.with_design(&source).expect("it is a design");
        let report = again.explore(&Options::default(), &mut |_| false).expect("its traces can be recorded");
        assert!(report.complete);
        let wrong = report.invariants.iter().find(|property| property.verdict == Verdict::Violated);
        assert!(wrong.is_none(), "{:?}", repair.changes);
        assert!(repair.patch.starts_with("--- ") && repair.patch.contains("\n+"), "{}", repair.patch);
    }
}

#[test]
fn what_holds_needs_no_repair() {
    let (_, found) = repaired("two-agents-no-faults", "versioned");
    assert!(found.complete && found.violated.is_empty() && found.repairs.is_empty());
}

/// Not charging would be the smallest change with which nobody is charged twice, and refusing all that with which no change is
/// lost. What repairs is a step in the place of another; and each of the first repairs is another idea.
#[test]
fn a_repair_does_what_the_design_was_for() {
    let (_, found) = repaired("one-tool-without-key", "one-tool-without-key-broken");
    let changes: Vec<String> = found.repairs.iter().map(|repair| repair.changes.join("; ")).collect();
    assert!(
        changes.iter().any(|change| change.contains("call-upstream-with-key in place of call-upstream")),
        "{changes:?}"
    );
    let (_, found) = repaired("two-agents-no-faults", "check-then-write");
    let changes: Vec<String> = found.repairs.iter().map(|repair| repair.changes.join("; ")).collect();
    assert!(
        !changes.iter().any(|change| change.contains("check-approval") || change.contains("without apply")),
        "{changes:?}"
    );
}

/// A field that one agent sets once, on one node.
const SMALL: &str = "title = \"x\"\nnodes = 1\n[resources.r]\nhandle = \"r_1\"\nowner = \"u\"\nfields = { n = 1 }\n\
                     [agents.A]\nprincipal = \"u\"\nwork = [{ set = \"r\", n = 2 }]\n[faults]\ndrop-stream = 1\n";

/// A design whose keys are in the memory of nodes, of this name.
fn keyed(name: &str) -> Input<Design> {
    let text = "title = \"x\"\n[server.write]\ntransactions = [[\"find-key\", \"apply\", \"record-key\"]]\n[server.keys]\n\
                place = \"node\"\n[client]\npayload = \"change\"\nblind = true\nkey = \"per-intent\"\n";
    input::read_design(&Source::new(name, format!("{name}.toml"), text)).expect("it is readable")
}

fn deployed() -> Run {
    let scenario = input::read_scenario(&Source::new("small", "small.toml", SMALL), &invariant_names());
    let scenario = scenario.expect("it is readable");
    let protocol = input::protocol_of(&scenario, None).expect("it is readable");
    Run::new(scenario, deploy_design(keyed("old"), keyed("new")), protocol, &BTreeMap::new()).expect("they fit")
}

/// While something is deployed, that is what is changed, or how it is deployed: what runs already can't be.
#[test]
fn a_change_of_a_deploy_is_one_of_what_is_deployed_or_of_how() {
    let run = deployed();
    let set = |table, key, value: &str| Edit::Set { table, key, value: value.to_owned() };
    let (place, restart) = (set("server.keys", "place", "\"store\""), set("deploy", "restart", "false"));
    let changed = variant(&run, &[place.clone(), restart.clone()]).expect("they change it").expect("it fits");
    let (was, is) = (run.sources(), changed.sources());
    assert_eq!((&was.design.text, &was.protocol.text), (&is.design.text, &is.protocol.text));
    assert!(is.deployed_design.is_some_and(|design| design.text.contains("place = \"store\"") && design.name == "new"));
    assert!(is.scenario.text.ends_with("[deploy]\nrestart = false\n"), "{}", is.scenario.text);
    assert!(changed.model().deployed.as_ref().is_some_and(|deployed| !deployed.restart));
    let patch = patch(&run, &changed, |source| source.origin.clone());
    let files: Vec<&str> = patch.lines().filter_map(|line| line.strip_prefix("+++ ")).collect();
    assert_eq!(files, ["new.toml", "small.toml"]);
    assert!(variant(&run, &[set("deploy", "restart", "7")]).is_some_and(|wrong| wrong.is_err()));
    assert!(variant(&run, &[place.clone(), place]).is_none(), "the second changes nothing");
}

/// Of an agent that is alone only the violation made two versions: without it nothing is said of them any more, which is told. What
/// was violated must go on to be tried, though.
#[test]
fn a_repair_tells_what_it_makes_vacuous() {
    let (_, found) = repaired("one-agent-drop", "naive");
    assert_eq!(found.violated, ["no-double-write"]);
    assert!(!found.repairs.is_empty());
    for repair in &found.repairs {
        assert!(repair.vacuous.contains(&"version-names-one-content".to_owned()), "{:?}", repair.vacuous);
        assert!(!repair.vacuous.contains(&"no-double-write".to_owned()));
        assert!(!repair.changes.iter().any(|change| change.contains("broken-stream")), "{:?}", repair.changes);
    }
}

/// Every edit of every shipped design leaves a text that is TOML, and says what it changes in words of its own.
#[test]
fn edits_keep_files_readable() {
    let mut readable = 0;
    for name in input::library::names(Kind::Design) {
        let source = input::resolve(Kind::Design, name, None).expect("it is shipped");
        let design = input::read_design(&source).expect("it is readable").value;
        let places = design.server.tools.iter().flat_map(|(tool, handler)| places(*tool, handler));
        let kinds: [fn(_) -> Edit; 4] = [Edit::Remove, Edit::Split, Edit::Join, Edit::Forward];
        for place in places {
            for kind in kinds {
                let edit = kind(place.clone());
                let Some(text) = edit.apply(&source.text) else { continue };
                text.parse::<toml::Table>().unwrap_or_else(|error| panic!("{name}, {}: {error}", edit.words()));
                readable += usize::from(input::read_design(&Source::new("x", "x.toml", text)).is_ok());
            }
        }
    }
    assert!(readable > 500, "{readable} of the variants are designs");
}

/// What is said to have stopped a run did: with each change, made by its patch and explored again by itself without any
/// reduction, nothing violates the property.
#[test]
fn what_would_have_stopped_a_run_does() {
    use handlecheck::policies::stopping::{Effort, stopping};
    use handlecheck::run::{Options, Run};
    use handlecheck::trace::{departure, inputs};
    for (scenario, design, property) in [
        ("laptop-basket", "naive", "no-lost-update"),
        ("import-rows", "naive", "no-double-write"),
        ("dead-id-used-for-ever", "dead-id-used-for-ever-broken", "resolves"),
    ] {
        let checked = handlecheck::testing::check(scenario, design).expect("it is shipped");
        let report = checked.report.invariants.iter().find(|it| it.name == property).expect("it is checked");
        let trace = report.breaks[0].recorded.as_deref().expect("it is recorded");
        let found = stopping(trace, 2, Effort::default(), &mut |_| false).expect("traces can be recorded");
        assert!(!found.stoppers.is_empty(), "{scenario} x {design}: {property}");
        for stopper in &found.stoppers {
            let source =
                input::Source::new(&*trace.design.name, "patched", patched(&trace.design.text, &stopper.patch));
            let (scenario, _, protocol) = inputs(trace).expect("they are right");
            let design = input::read_design(&source).expect("it is a design");
            let run = Run::new(scenario, design, protocol, &BTreeMap::new()).expect("they fit");
            let options = Options { only: vec![property.to_owned()], no_reduction: true, ..Options::default() };
            let report = run.explore(&options, &mut |_| false).expect("traces can be recorded");
            assert!(report.complete && report.invariants[0].breaks.is_empty(), "{}", stopper.patch);
            assert_eq!(departure(trace, run.model().clone()), Some(stopper.departure.clone()));
        }
        assert_eq!(departure(trace, inputs_model(trace)), None, "without a change it happens");
    }
}

fn inputs_model(trace: &handlecheck::trace::Trace) -> handlecheck::model::Model {
    let (scenario, design, protocol) = handlecheck::trace::inputs(trace).expect("they are right");
    let run = handlecheck::run::Run::new(scenario, design, protocol, &BTreeMap::new()).expect("they fit");
    run.model().clone()
}

/// Applies a patch, as its lines say.
fn patched(text: &str, patch: &str) -> String {
    let mut out: Vec<&str> = Vec::new();
    let lines: Vec<&str> = text.lines().collect();
    let mut at = 0;
    for line in patch.lines().skip(2) {
        if let Some(head) = line.strip_prefix("@@ -") {
            let start: usize = head.split([',', ' ']).next().and_then(|it| it.parse().ok()).expect("a hunk");
            out.extend(&lines[at..start - 1]);
            at = start - 1;
        } else if let Some(new) = line.strip_prefix('+') {
            out.push(new);
        } else if line.starts_with(['-', ' ']) {
            out.extend(line.starts_with(' ').then(|| lines[at]));
            at += 1;
        }
    }
    out.extend(&lines[at..]);
    out.join("\n") + "\n"
}

/// The costs of a finished intent, by hand: two agents who read and write once each, one after the other or not.
#[test]
fn what_an_intent_costs_is_exact() {
    let costs = |scenario: &str, design: &str| {
        let found = costs::costs(&composed(scenario, design), &Options::default(), 300, &|_| false);
        assert!(found.exact, "it is small enough");
        for cost in &found.measures {
            let (Some(fewest), Some(most), Some(expected)) = (cost.fewest, cost.most, cost.expected) else { continue };
            let below =
                matches!(most, Greatest::Unbounded) || matches!(most, Greatest::Amount(most) if expected.low <= most);
            assert!(fewest <= expected.high && below, "random runs are runs: {cost:?} of {design} in {scenario}");
        }
        found
    };
    let of = |costs: &Costs, name: Measure| {
        let cost = costs.measures.iter().find(|cost| cost.name == name).expect("everything is measured");
        (cost.fewest.expect("it is exact"), cost.most.expect("it is exact"))
    };
    let amount = Greatest::Amount;
    let naive = costs("two-agents-no-faults", "naive");
    assert_eq!(of(&naive, Measure::Calls), (2.0, amount(2.0)), "a read and a write");
    assert_eq!(of(&naive, Measure::Records), (0.0, amount(0.0)));
    assert_eq!((naive.key_kept, naive.lease_kept), (Some(KeyKept::Never), LeaseKept::Never));
    let versioned = costs("two-agents-no-faults", "versioned");
    // One of the two is refused at most, reads again and writes again: 2 more calls for 2 intents.
    assert_eq!(of(&versioned, Measure::Calls), (2.0, amount(3.0)));
    assert_eq!(of(&versioned, Measure::Conflicts), (0.0, amount(0.5)));
    assert_eq!(of(&versioned, Measure::Records), (1.0, amount(1.0)), "each leaves its record");
    assert_eq!(versioned.key_kept, Some(KeyKept::UntilTold), "no stream breaks");
    let dropped = costs("two-agents-drop", "versioned");
    assert_eq!(dropped.key_kept, Some(KeyKept::WhileUnderWay), "an orphan may arrive late");
    let leased = costs("two-agents-no-faults", "lease-around-write");
    assert_eq!(of(&leased, Measure::Calls).1, Greatest::Unbounded, "who finds it locked tries again");
    assert_eq!(leased.lease_kept, LeaseKept::OneCall);
    let asked = costs("two-agents-no-faults", "merge-or-ask");
    assert!(of(&asked, Measure::Questions).0.abs() < f64::EPSILON);
}

/// Two agents write to two resources in two transactions, or a payment is sent twice: neither of the two changes that together
/// repair it does by itself, or the one half stands there already.
#[test]
fn changes_are_found_of_which_each_by_itself_is_not_enough() {
    let twice = "title = \"x\"\nnodes = 2\n[resources.a]\nhandle = \"a1\"\nowner = \"u\"\nfields = { x = 0 }\n[agents.A]\n\
                 principal = \"u\"\nwork = [{ increment = \"a\", x = 10 }]\n[faults]\nduplicate-call = 1\n";
    let both = "title = \"x\"\nnodes = 1\n[resources.a]\nhandle = \"a1\"\nowner = \"u\"\nfields = { x = 0 }\n[resources.b]\n\
                handle = \"b1\"\nowner = \"u\"\nfields = { x = 0 }\n[agents.A]\nprincipal = \"u\"\n\
                work = [{ set = \"a\", x = 1, also = { set = \"b\", x = 1 } }]\n[agents.B]\nprincipal = \"u\"\n\
                work = [{ set = \"a\", x = 2, also = { set = \"b\", x = 2 } }]\n[finally]\nalike = \"a.x == b.x\"\n";
    let read =
        "title = \"x\"\n[server.read]\ntransactions = [[\"resolve\", \"read\"]]\n[server.write]\ntransactions = ";
    let keyed = "[[\"resolve\", \"apply\"]]\n[client]\npayload = \"change\"\nkey = \"per-intent\"\n";
    let halves = "[[\"resolve\", \"apply\"], [\"other\", \"resolve\", \"apply\"]]\n[client]\npayload = \"change\"\n\
                  precondition = \"every-viewed-version\"\n[client.on]\nstale-view = { send = \"replan\" }\n";
    for (scenario, design, changes) in [
        (twice, keyed, ["write: find-key behind resolve", "write: record-key behind apply"]),
        (
            both,
            halves,
            [
                "write: the transaction that begins with other joined to the one before",
                "write: check-version before the first resolve",
            ],
        ),
    ] {
        let scenario = input::read_scenario(&Source::new("s", "s.toml", scenario), &invariant_names());
        let scenario = scenario.expect("it is readable");
        let design =
            input::read_design(&Source::new("d", "d.toml", format!("{read}{design}"))).expect("it is readable");
        let protocol = input::protocol_of(&scenario, None).expect("it is readable");
        let run = Run::new(scenario, design, protocol, &BTreeMap::new()).expect("they fit");
        let found = repair(&run, &Options::default(), 3, 2, &|_| false).expect("its traces can be recorded");
        assert_eq!(found.repairs.first().map(|repair| &*repair.changes), Some(&changes.map(str::to_owned)[..]));
    }
}

/// A refusal that is new comes with what clients do then: the loser plans again, and is not told a failure.
#[test]
fn a_repair_keeps_the_reaction_with_which_clients_go_on() {
    let (_, found) = repaired("two-agents-drop", "naive");
    let first = &found.repairs.first().expect("there is a repair").changes;
    let has = |words: &str| first.iter().any(|change| change == words);
    assert!(has("write: check-version before apply"), "{first:?}");
    assert!(has("[client.on] stale-view = { send = \"replan\" }"), "{first:?}");
}

/// What can't happen is apart from what was tried and changed nothing.
#[test]
fn what_never_came_into_question_is_told_apart() {
    let run = composed("two-agents-drop", "versioned");
    let found = world::ablate(&run, &Options::default(), 2, &|_| false).expect("its traces can be recorded");
    let result = |words: &str| found.changes.iter().find(|row| row.change == words).map(|row| row.result);
    assert_eq!(result("leak-handle = 1"), Some(Effect::NeverArises), "there is one principal");
    assert_eq!(result("[client.on] not-found = { send = \"same\" }"), Some(Effect::NeverArises));
    assert_eq!(result("[client.on] broken-stream = { tell = \"unknown\" }"), Some(Effect::Nothing));
    assert_eq!(result("restart-node = 1"), Some(Effect::Nothing));
    assert_eq!(result("revoke = 1"), Some(Effect::Breaks));
}

/// A search that is ended says so, however little it found.
#[test]
fn a_search_that_is_ended_says_so() {
    use handlecheck::policies::stopping::{Effort, stopping};
    let checked = handlecheck::testing::check("laptop-basket", "naive").expect("it is shipped");
    let report = checked.report.invariants.iter().find(|it| it.name == "no-lost-update").expect("it is checked");
    let trace = report.breaks[0].recorded.as_deref().expect("it is recorded");
    let found = stopping(trace, 3, Effort::default(), &mut |searched| searched.tried > 0);
    let found = found.expect("traces can be recorded");
    assert!(found.cut && found.tried > 0 && found.tried < found.all && found.undecided == 0, "{found:?}");
    let found = stopping(trace, 1, Effort::default(), &mut |_| false).expect("traces can be recorded");
    assert!(!found.cut && found.stoppers.len() == 1);
}
