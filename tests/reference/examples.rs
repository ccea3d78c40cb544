//! Small models for the tests, in the language of the inputs.

use handlecheck::input::{Look, Source, compose, read_design, read_protocol, read_scenario};
use handlecheck::model::{Model, Verdict};

use super::judge;
use super::search::{Assertions, Report, check};

/// Revision 2026-07-28.
pub const NEW_PROTOCOL: &str = r#"
title = "No sessions, no resumption"
resumable = "never"
sessions = false
closed-stream = "cancels"
task-ids = "server"
reissue = "new-request-id"
"#;

/// Revision 2025-11-25.
pub const OLD_PROTOCOL: &str = r#"
title = "Sessions, resumption"
resumable = "always"
sessions = true
closed-stream = "continues"
task-ids = "client"
reissue = "new-request-id"
"#;

/// Two agents of one principal on one resource, each setting a field of its own from its own view.
pub fn two_agents(faults: &str) -> String {
    format!(
        r#"
title = "Two agents configure one laptop"
nodes = 2
[resources.basket]
handle = "bsk_42"
owner = "user-42"
version = 7
fields = {{ memory = 16, storage = 512 }}
[agents.A]
principal = "user-42"
work = [{{ read = "basket" }}, {{ set = "basket", memory = 32 }}]
[agents.B]
principal = "user-42"
work = [{{ read = "basket" }}, {{ set = "basket", storage = 1024 }}]
[faults]
{faults}
"#
    )
}

/// One agent that reads a resource and sets one field.
pub fn one_agent(faults: &str) -> String {
    format!(
        r#"
title = "One agent configures one laptop"
nodes = 2
[resources.basket]
handle = "bsk_42"
owner = "user-42"
version = 7
fields = {{ memory = 16, storage = 512 }}
[agents.A]
principal = "user-42"
work = [{{ read = "basket" }}, {{ set = "basket", memory = 32 }}]
[faults]
{faults}
"#
    )
}

/// An owner at work, and an agent of another principal to whom the handle may leak; one node.
pub fn owner_and_stranger(faults: &str) -> String {
    format!(
        r#"
title = "A handle leaks"
nodes = 1
[resources.basket]
handle = "bsk_42"
owner = "user-42"
version = 7
fields = {{ memory = 16, storage = 512 }}
[agents.A]
principal = "user-42"
work = [{{ read = "basket" }}, {{ set = "basket", memory = 32 }}]
[agents.mallory]
principal = "user-7"
work = [{{ read = "basket" }}, {{ set = "basket", storage = 1 }}]
[agents.mallory.client]
blind = true
after-failure = "next"
[faults]
leak-handle = 1
{faults}
"#
    )
}

/// Two principals with a resource each; one node.
pub fn two_principals() -> String {
    r#"
title = "Two principals, a basket each"
nodes = 1
[resources.one]
handle = "bsk_1"
owner = "user-42"
version = 7
fields = { memory = 16 }
[resources.two]
handle = "bsk_2"
owner = "user-7"
version = 7
fields = { memory = 16 }
[agents.A]
principal = "user-42"
work = [{ read = "one" }, { set = "one", memory = 32 }]
[agents.B]
principal = "user-7"
work = [{ read = "two" }, { set = "two", memory = 32 }]
"#
    .to_owned()
}

/// A design with these handlers of `read` and of `write`, these further lines under `[server]`, and these under
/// `[client]`.
pub fn design(read: &str, write: &str, server: &str, client: &str) -> String {
    format!(
        r#"
title = "A design"
[server]
{server}
[server.read]
transactions = {read}
[server.write]
transactions = {write}
[client]
{client}
"#
    )
}

/// The usual handler of `read`.
pub const READ: &str = r#"[["resolve", "authorize", "check-live", "read"]]"#;

/// A client that sends what it viewed, with its version and a key per intent, and replans when refused as stale.
pub const CAREFUL_CLIENT: &str = r#"
precondition = "viewed-version"
key = "per-intent"
[client.on]
stale-view = { send = "replan" }
"#;

/// No owner check, no key, no version.
pub fn naive() -> String {
    design(r#"[["resolve", "read"]]"#, r#"[["resolve", "apply"]]"#, "", "")
}

/// Owner check and key in one transaction with the change; no version.
pub fn dedup_only() -> String {
    let write = r#"[["resolve", "authorize", "find-key", "check-live", "apply", "record-key"]]"#;
    design(READ, write, "", r#"key = "per-intent""#)
}

/// Owner check, key, version, change and record in one transaction.
pub fn versioned() -> String {
    let write = r#"[["resolve", "authorize", "find-key", "check-live", "check-version", "apply", "record-key"]]"#;
    design(READ, write, "", CAREFUL_CLIENT)
}

/// The check in one transaction, the change in the next.
pub fn check_then_write() -> String {
    let write = r#"[["resolve", "authorize", "find-key", "check-live", "check-version"], ["apply", "record-key"]]"#;
    design(READ, write, "", CAREFUL_CLIENT)
}

/// Key, change and record in three transactions.
pub fn key_apply_record() -> String {
    let write = r#"[["resolve", "authorize", "find-key"], ["check-live", "check-version", "apply"], ["record-key"]]"#;
    design(READ, write, "", CAREFUL_CLIENT)
}

/// Reads and composes three texts.
pub fn model(scenario: &str, design: &str, protocol: &str) -> Model {
    let source = |name: &str, text: &str| Source::new(name, format!("{name}.toml"), text.to_owned());
    let shown = |error: handlecheck::input::InputError| error.render(Look::Plain);
    let scenario = read_scenario(&source("scenario", scenario), judge::ALL).map_err(shown);
    let design = read_design(&source("design", design)).map_err(shown);
    let protocol = read_protocol(&source("protocol", protocol)).map_err(shown);
    match (scenario, design, protocol) {
        (Ok(scenario), Ok(design), Ok(protocol)) => match compose(&scenario, &design, &protocol, judge::ALL) {
            Ok((model, _)) => model,
            Err(error) => panic!("{}", shown(error)),
        },
        (Err(error), ..) | (_, Err(error), _) | (.., Err(error)) => panic!("{error}"),
    }
}

/// Explores all of a model.
pub fn explore(scenario: &str, design: &str) -> Report {
    explore_under(scenario, design, NEW_PROTOCOL)
}

/// Explores all of a model under this protocol.
pub fn explore_under(scenario: &str, design: &str, protocol: &str) -> Report {
    let report = check(&model(scenario, design, protocol), 1_000_000, &Assertions::default());
    assert!(report.complete, "the model is larger than a test should explore");
    report
}

/// The front of breaks of one invariant.
pub fn breaks(report: &Report, invariant: &str) -> Vec<(u32, u32)> {
    report.findings[invariant].front.clone()
}

/// The verdict on one invariant.
pub fn verdict(report: &Report, invariant: &str) -> Verdict {
    report.findings[invariant].verdict
}
