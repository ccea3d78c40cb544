//! Small models, each of a question on which the engine was once wrong, found by comparing it with the reference interpreter
//! on random models. The witnesses agree on each, and what they find is written down.

mod agreement;
mod models;
mod reference;

use agreement::Finding;
use handlecheck::model::Verdict;

const PROTOCOL: &str = "title = \"P\"\nresumable = \"never\"\nsessions = false\nclosed-stream = \"continues\"\n\
                        task-ids = \"server\"\nreissue = \"new-request-id\"\n";

/// A resource `row`, and these agents and faults.
fn scenario(rest: &str) -> String {
    format!(
        "title = \"S\"\nnodes = 1\n[resources.row]\nhandle = \"row_1\"\nowner = \"user-42\"\nversion = 1\n\
         fields = {{ number = 1, rows = [] }}\n{rest}"
    )
}

/// What the witnesses agree on for one invariant.
#[track_caller]
fn finding(scenario: &str, design: &str, invariant: &str) -> Finding {
    let model = models::of_texts(scenario, &format!("title = \"D\"\n{design}"), PROTOCOL).expect("the model composes");
    let findings = agreement::compare(&model, 10_000).unwrap_or_else(|differ| panic!("{differ}"));
    findings.expect("the model is small")[invariant].clone()
}

fn violated(steps: u32, faults: u32) -> Finding {
    (Verdict::Violated, vec![(steps, faults)])
}

const HOLDS: Finding = (Verdict::Holds, Vec::new());

/// A handler that looked before a deletion writes all the same.
#[test]
fn what_was_deleted_can_still_be_written() {
    let agents = "[agents.A]\nprincipal = \"user-42\"\nwork = [{ delete = \"row\" }]\n\
                  [agents.B]\nprincipal = \"user-42\"\nwork = [{ set = \"row\", number = 2 }]\n";
    let design =
        "[server.read]\ntransactions = [[\"resolve\", \"read\"]]\n[client]\npayload = \"change\"\n[server.write]\n";
    let apart = format!("{design}transactions = [[\"resolve\"], [\"apply\"]]\n");
    assert_eq!(finding(&scenario(agents), &apart, "respects-terminal-state"), violated(8, 0));
    let together = format!("{design}transactions = [[\"resolve\", \"apply\"]]\n");
    assert_eq!(finding(&scenario(agents), &together, "respects-terminal-state"), HOLDS);
}

/// A delete that is repeated ends nothing anew; but an expired resource is over, whoever closed it.
#[test]
fn who_ended_it_may_repeat_that_until_it_expires() {
    let agent = "[agents.A]\nprincipal = \"user-42\"\nwork = [{ delete = \"row\" }]\n[faults]\ndrop-stream = 1\n";
    let design = "[server.write]\ntransactions = [[\"apply\"]]\n";
    assert_eq!(finding(&scenario(agent), design, "respects-terminal-state").0, Verdict::Vacuous);
    let agent = "[agents.A]\nprincipal = \"user-42\"\nwork = [{ close = \"row\" }]\n\
                 [faults]\ndrop-stream = 1\nexpire-handle = 1\n";
    let found = finding(&scenario(agent), design, "respects-terminal-state");
    assert_eq!(found.0, Verdict::Violated);
}

/// A refusal commits nothing: a store error can't strike it.
#[test]
fn a_store_error_follows_a_commit() {
    let agent = "[agents.A]\nprincipal = \"user-42\"\nwork = [{ close = \"row\" }]\n[faults]\nambiguous-commit = 1\n";
    let refused = "[server.write]\ntransactions = [[\"check-approval\", \"apply\"]]\n";
    assert_eq!(finding(&scenario(agent), refused, "no-double-write").0, Verdict::Vacuous);
    // One that is run again meets what it did.
    let again = "[server]\non-store-error = [\"retry\", \"keep-claim\"]\n\
                 [server.write]\ntransactions = [[\"check-open\", \"apply\"]]\n";
    assert_eq!(finding(&scenario(agent), again, "truthful-outcome"), violated(5, 1));
    // A change that is run again happens twice; and the witnesses agree on what is left of it when nobody waits.
    let orphan = "[agents.A]\nprincipal = \"user-42\"\nwork = [{ append = \"row\", rows = \"x\" }]\n\
                  [faults]\nambiguous-commit = 1\ndrop-stream = 1\n";
    let told = "[server]\non-store-error = [\"retry\", \"keep-claim\"]\n\
                [server.write]\ntransactions = [[\"apply\"]]\n[client]\npayload = \"change\"\n\
                [client.on]\nbroken-stream = { tell = \"unknown\" }\n";
    let found = finding(&scenario(orphan), told, "no-double-write");
    assert_eq!(found, violated(4, 1));
}

/// A handle that carries the state carries its version: two changes of one copy both pass, whatever came in between.
#[test]
fn a_signed_handle_carries_its_version() {
    let agents = "[agents.A]\nprincipal = \"user-42\"\nwork = [{ set = \"row\", number = 2 }]\n\
                  [agents.B]\nprincipal = \"user-42\"\nwork = [{ append = \"row\", rows = \"x\" }]\n";
    let design = "[server]\nstate = \"handle\"\n[server.read]\ntransactions = [[\"read\"]]\n\
                  [server.write]\ntransactions = [[\"check-version\", \"apply\"]]\n\
                  [client]\npayload = \"change\"\nprecondition = \"viewed-version\"\n";
    assert_eq!(finding(&scenario(agents), design, "no-lost-update").0, Verdict::Violated);
}

/// Under `identity = "node-memory"` a read that nobody waits for still changes whom the node takes for the caller.
#[test]
fn an_abandoned_read_arrives() {
    let agents = "[agents.A]\nprincipal = \"user-42\"\nwork = [{ read = \"row\" }]\n\
                  [agents.B]\nprincipal = \"user-7\"\nwork = [{ close = \"row\" }]\n\
                  [faults]\nleak-handle = 1\ndrop-stream = 1\n";
    let design = "[server]\nidentity = \"node-memory\"\n[server.read]\ntransactions = [[\"resolve\", \"authorize\", \"read\"]]\n\
                  [server.write]\ntransactions = [[\"resolve\", \"authorize\", \"apply\"]]\n";
    assert_eq!(finding(&scenario(agents), design, "no-cross-principal").0, Verdict::Violated);
}

/// A credential belongs to one principal.
#[test]
fn a_scope_of_credentials_keeps_principals_apart() {
    let agents = "[resources.other]\nhandle = \"row_2\"\nowner = \"user-7\"\nversion = 1\nfields = { number = 1 }\n\
                  [agents.A]\nprincipal = \"user-42\"\nwork = [{ close = \"row\" }]\n\
                  [agents.B]\nprincipal = \"user-7\"\nwork = [{ close = \"other\" }]\n";
    let design = "[server.write]\ntransactions = [[\"resolve\", \"authorize\", \"find-key\", \"apply\", \"record-key\"]]\n\
                  [server.keys]\nscope = [\"credential\"]\n[client]\nkey = \"reused\"\n";
    assert_eq!(finding(&scenario(agents), design, "no-cross-principal"), HOLDS);
}

/// A plan that rests on something has seen it.
#[test]
fn what_a_plan_is_given_is_read_first() {
    let agents = "[resources.budget]\nhandle = \"b_1\"\nowner = \"user-42\"\nversion = 1\nfields = { left = 5 }\n\
                  [agents.A]\nprincipal = \"user-42\"\nwork = [{ close = \"row\", given = [\"budget\"] }]\n\
                  [agents.B]\nprincipal = \"user-42\"\nwork = [{ set = \"budget\", left = 4 }]\n";
    let design = "[server.read]\ntransactions = [[\"read\"]]\n[server.write]\ntransactions = [[\"apply\"]]\n\
                  [client]\npayload = \"change\"\n";
    assert_eq!(finding(&scenario(agents), design, "basis-holds").0, Verdict::Violated);
}

/// An agent that loses the handle while it waits for a read reacts to that when the answer comes.
#[test]
fn a_handle_lost_while_waiting_is_missed_afterwards() {
    let agent = "[agents.A]\nprincipal = \"user-42\"\nwork = [{ set = \"row\", number = 2 }]\n[faults]\ncompact = 1\n";
    let design = "[server.read]\ntransactions = [[\"read\"]]\n[server.write]\ntransactions = [[\"apply\"]]\n\
                  [client]\nkeeps = []\n";
    assert_eq!(finding(&scenario(agent), design, "resolves"), HOLDS);
}

/// Where nobody was given a fence number, a call without one is as new as any.
#[test]
fn no_number_is_newer_than_none() {
    let agent = "[agents.A]\nprincipal = \"user-42\"\nwork = [{ close = \"row\" }]\n";
    let design =
        "[server.read]\ntransactions = [[\"read\"]]\n[server.write]\ntransactions = [[\"check-fence\", \"apply\"]]\n";
    assert_eq!(finding(&scenario(agent), design, "resolves"), HOLDS);
}

/// Sends are bounded, and looking is no send.
#[test]
fn an_agent_without_attempts_may_look() {
    let agent =
        "[agents.A]\nprincipal = \"user-42\"\nwork = [{ set = \"row\", number = 2 }]\n[faults]\ndrop-stream = 1\n";
    let design = "[server.read]\ntransactions = [[\"read\"]]\n[server.write]\ntransactions = [[\"apply\"]]\n\
                  [client]\nattempts = 1\n[client.on]\nbroken-stream = { send = \"read\" }\n";
    let found =
        finding(&format!("{}[sometimes]\nseen = \"told.A == ['ok']\"\n", scenario(agent)), design, "truthful-outcome");
    assert_eq!(found, HOLDS);
}

/// The contents of what is made are arguments of the call that makes it; the name that a client chooses for it is none.
#[test]
fn what_a_mint_makes_is_among_its_arguments() {
    let making = |[x, y]: [&str; 2]| {
        let work = format!("[{{ mint = \"x\", {x} }}, {{ mint = \"y\", {y} }}]");
        scenario(&format!("[agents.A]\nprincipal = \"user-42\"\nwork = {work}\n"))
    };
    let keyed = |client: &str, keys: &str| {
        format!(
            "title = \"D\"\n[server.mint]\ntransactions = [[\"find-key\", \"mint\", \"record-key\"]]\n\
             [server.keys]\n{keys}\n[client]\nkey = \"{client}\"\n"
        )
    };
    let found = |scenario: &str, design: &str, task_ids: &str| {
        let protocol = PROTOCOL.replace("task-ids = \"server\"", &format!("task-ids = \"{task_ids}\""));
        let model = models::of_texts(scenario, design, &protocol).expect("the model composes");
        let findings = agreement::compare(&model, 10_000).unwrap_or_else(|differ| panic!("{differ}"));
        findings.expect("the model is small")["truthful-outcome"].0
    };
    let (apart, alike) = (making(["mail = 'ann'", "mail = 'bob'"]), making(["mail = 'ann'", "mail = 'ann'"]));
    let named = making(["mail = 'ann', handle = 'a'", "mail = 'ann', handle = 'b'"]);
    let other_field = making(["mail = 'ann'", "name = 'ann'"]);
    let (hash, reused) = (keyed("hash-of-arguments", ""), keyed("reused", ""));
    let replayed = keyed("reused", "other-payload = \"replay\"");
    for (scenario, design, task_ids, verdict) in [
        (&apart, &hash, "server", Verdict::Vacuous),
        (&other_field, &hash, "server", Verdict::Vacuous),
        (&alike, &hash, "server", Verdict::Violated),
        (&alike, &hash, "client", Verdict::Violated),
        (&named, &hash, "client", Verdict::Violated),
        (&named, &hash, "server", Verdict::Violated),
        // One key for both: the second has other arguments, and is refused.
        (&apart, &reused, "server", Verdict::Holds),
        (&other_field, &reused, "server", Verdict::Holds),
        (&alike, &reused, "server", Verdict::Violated),
        (&named, &reused, "client", Verdict::Violated),
        (&apart, &replayed, "server", Verdict::Violated),
    ] {
        assert_eq!(found(scenario, design, task_ids), verdict, "{scenario}\n{design}\n{task_ids}");
    }
}

/// What was not made has no fields: nothing is true of it, and no opposite either.
#[test]
fn nothing_is_true_of_what_was_not_minted() {
    let assertions = "[finally]\nmade = \"draft.mail == 'ann'\"\nother = \"draft.mail != 'ann'\"\n\
                      [at-rest]\nnone = \"!has(draft.version)\"\nif-any = \"!has(draft.version) || draft.mail == 'ann'\"\n\
                      [sometimes]\nat-first = \"draft.mail == 'ann'\"\nbefore = \"!has(draft.mail)\"\n";
    let work = |limit: u8| {
        let mint = format!("{{ mint = \"draft\", mail = 'ann', given = [\"row\"], if = \"row.number > {limit}\" }}");
        scenario(&format!("[agents.A]\nprincipal = \"user-42\"\nwork = [{mint}]\n{assertions}"))
    };
    let design = "[server.read]\ntransactions = [[\"read\"]]\n[server.mint]\ntransactions = [[\"mint\"]]\n";
    let verdicts = |limit: u8| {
        ["made", "other", "none", "if-any", "at-first", "before"].map(|name| finding(&work(limit), design, name).0)
    };
    let (holds, violated) = (Verdict::Holds, Verdict::Violated);
    assert_eq!(verdicts(0), [holds, violated, violated, holds, holds, holds], "it is made");
    assert_eq!(verdicts(1), [violated, violated, holds, holds, violated, holds], "it is left out");
}

/// A read has no effect, so that a revocation while one is open says nothing.
#[test]
fn reads_are_no_effects_after_a_revocation() {
    let agent =
        |work: &str| scenario(&format!("[agents.A]\nprincipal = \"user-42\"\nwork = [{work}]\n[faults]\nrevoke = 1\n"));
    let design = "[server.read]\ntransactions = [[\"resolve\"], [\"read\"]]\n[client]\npayload = \"change\"\n\
                  [server.write]\ntransactions = [[\"check-permission\", \"apply\"]]\n";
    let found = |work: &str| finding(&agent(work), design, "no-effect-after-revocation");
    assert_eq!(found("{ read = \"row\" }").0, Verdict::Vacuous);
    assert_eq!(found("{ read = \"row\" }, { set = \"row\", number = 2 }"), HOLDS);
}
