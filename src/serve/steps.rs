//! The steps of handlers as SQL: each does on rows what its page says.
//!
//! The model's steps in `handler` and these share names and nothing else: that they do the same is what driving a server
//! along a trace tests.

use rusqlite::params;

use super::answer::Answer;
use super::changing;
use super::handling::Handling;
use super::places::{self, Instance, Superseded, json, stored};
use super::progress::{Passed, Stop, Wrote};
use super::reading::{drop_cached, fill_cache, fill_cache_if_newer, find_cached, lagging, read};
use super::request::{ELEMENTS, Fields, Payload, Stamp};
use crate::assertion;
use crate::model::design::{
    ClaimNames, FenceSeen, Foreign, Handles, LeaseNames, OtherPayload, PrincipalPart, ReadsFrom, State, Taken,
    TakenName,
};
use crate::model::{Outcome, Principal, Tool, Value};

/// What a step does.
pub type Step = fn(&mut Handling<'_>) -> Passed;

/// The step of that name, if this server can do it.
#[must_use]
pub fn find(name: &str) -> Option<Step> {
    let step: Step = match name {
        "resolve" => resolve,
        "authorize" => authorize,
        "check-permission" => check_permission,
        "check-live" => check_live,
        "check-open" => check_open,
        "find-key" => find_key,
        "claim-key" => claim_key,
        "record-key" => record_key,
        "release-key" => release_key,
        "check-version" => check_version,
        "check-condition" => check_condition,
        "check-unchanged" => check_unchanged,
        "check-approval" => check_approval,
        "acquire-lease" => acquire_lease,
        "release-lease" => release_lease,
        "check-lease" => check_lease,
        "check-fence" => check_fence,
        "find-cached" => find_cached,
        "read" => read,
        "fill-cache" => fill_cache,
        "fill-cache-if-newer" => fill_cache_if_newer,
        "drop-cached" => drop_cached,
        "load" => load,
        "write-content" => write_content,
        "advance-version" => |handling| handling.advance(),
        "save" => save,
        "apply" => apply,
        "apply-next" => apply_next,
        "call-upstream" => |handling| handling.call_upstream(),
        "call-upstream-with-key" => call_upstream_with_key,
        "mint" => mint,
        "other" => |handling| {
            handling.turn();
            Ok(())
        },
        "undo" => changing::undo,
        "answer" => |handling| {
            handling.progress.answered = true;
            Ok(())
        },
        _ => return None,
    };
    Some(step)
}

/// Whether a step may write into the store.
pub(super) fn writes(step: &str) -> bool {
    !matches!(
        step,
        "resolve"
            | "authorize"
            | "check-permission"
            | "check-live"
            | "check-open"
            | "find-key"
            | "check-version"
            | "check-condition"
            | "check-unchanged"
            | "check-approval"
            | "check-lease"
            | "find-cached"
            | "read"
            | "load"
            | "call-upstream"
            | "call-upstream-with-key"
            | "other"
            | "answer"
    )
}

/// Whether a step works on a resource, and so has nothing to work on where a call has no other one.
pub(super) fn works_on_resource(step: &str) -> bool {
    !matches!(
        step,
        "find-key"
            | "claim-key"
            | "record-key"
            | "release-key"
            | "check-condition"
            | "call-upstream"
            | "call-upstream-with-key"
            | "mint"
            | "other"
            | "answer"
    )
}

fn resolve(handling: &mut Handling<'_>) -> Passed {
    let instance = handling.existing()?;
    let reads = handling.request.operation.tool == Tool::Read;
    let missing = reads && lagging(handling, &instance)?.is_some_and(|old| old.content.is_none());
    if missing || instance.lifecycle == "deleted" { Err(handling.refuse(Outcome::NotFound)) } else { Ok(()) }
}

fn authorize(handling: &mut Handling<'_>) -> Passed {
    let instance = handling.existing()?;
    let caller = handling.caller()?.principal();
    let server = &handling.design.server;
    let parts = server.owner_is.as_deref().unwrap_or(PrincipalPart::ALL);
    let same = |other: &Principal| {
        parts.iter().all(|part| match part {
            PrincipalPart::Subject => caller.subject == other.subject,
            PrincipalPart::Client => caller.client == other.client,
            PrincipalPart::Tenant => caller.tenant == other.tenant,
        })
    };
    if same(&instance.owner) || instance.shared_with.iter().any(same) {
        return Ok(());
    }
    Err(handling.refuse(match server.foreign {
        Foreign::NotFound => Outcome::NotFound,
        Foreign::Forbidden => Outcome::Forbidden,
    }))
}

fn check_permission(handling: &mut Handling<'_>) -> Passed {
    let revoked = handling.existing()?.revoked.contains(&handling.caller()?.principal());
    if revoked { Err(handling.refuse(Outcome::Forbidden)) } else { Ok(()) }
}

fn check_live(handling: &mut Handling<'_>) -> Passed {
    if handling.existing()?.expired { Err(handling.refuse(Outcome::Expired)) } else { Ok(()) }
}

fn check_open(handling: &mut Handling<'_>) -> Passed {
    let ended = matches!(&*handling.existing()?.lifecycle, "closed" | "executed");
    if ended { Err(handling.refuse(Outcome::Closed)) } else { Ok(()) }
}

fn find_key(handling: &mut Handling<'_>) -> Passed {
    let Some((scope, key)) = handling.key()? else { return Ok(()) };
    let Some(record) = handling.record(&scope, key)? else { return Ok(()) };
    let Some(answer) = record.answer else {
        let own = handling.progress.claim.is_some() && handling.progress.claim == record.claim;
        return if own { Ok(()) } else { Err(handling.refuse(Outcome::InProgress)) };
    };
    let refuses = handling.design.keys.other_payload == OtherPayload::Refuse;
    if refuses && record.fingerprint != handling.fingerprint() {
        return Err(handling.refuse(Outcome::KeyMismatch));
    }
    Err(Stop::Answer(Box::new(Answer { replayed: true, ..answer })))
}

fn claim_key(handling: &mut Handling<'_>) -> Passed {
    find_key(handling)?;
    let Some((scope, key)) = handling.key()? else { return Ok(()) };
    if handling.record(&scope, key)?.is_some() {
        return Ok(());
    }
    let claim = handling.claim();
    handling.put_record(&scope, key, Some(&claim), None)?;
    handling.progress.claim = Some(claim);
    Ok(())
}

fn record_key(handling: &mut Handling<'_>) -> Passed {
    let Some((scope, key)) = handling.key()? else { return Ok(()) };
    if handling.design.keys.taken == Taken::Refuse
        && let Some(record) = handling.record(&scope, key)?
    {
        let own =
            record.answer.is_none() && handling.progress.claim.is_some() && handling.progress.claim == record.claim;
        if !own {
            return Err(handling.refuse(Outcome::InProgress));
        }
    }
    handling.put_record(&scope, key, None, Some(&handling.progress.answer))
}

pub(super) fn release_key(handling: &mut Handling<'_>) -> Passed {
    let Some((scope, key)) = handling.key()? else { return Ok(()) };
    if let Some(record) = handling.record(&scope, key)? {
        let any = handling.design.keys.claim_names == ClaimNames::Nothing;
        let own = handling.progress.claim.is_some() && handling.progress.claim == record.claim;
        if record.answer.is_none() && (any || own) {
            handling.remove_record(&scope, key)?;
        }
    }
    handling.progress.claim = None;
    Ok(())
}

fn check_version(handling: &mut Handling<'_>) -> Passed {
    let own = handling.existing()?.version;
    let request = handling.request;
    let other = handling.other().map(|other| &other.handle);
    let compared = |expected: &&Stamp| other.is_none_or(|other| expected.handle == *other);
    let all: Vec<Stamp> = request.expected.iter().filter(compared).cloned().collect();
    if all.is_empty() {
        let required = handling.design.server.version_required;
        return if required { Err(handling.refuse(Outcome::PreconditionRequired)) } else { Ok(()) };
    }
    let mut current = Vec::new();
    for expected in &all {
        let version = if Some(&expected.handle) == request.handle.as_ref() {
            own
        } else {
            match handling.instance_of(&expected.handle)? {
                Some(instance) => instance.version,
                None => return Err(handling.refuse(Outcome::NotFound)),
            }
        };
        current.push(Stamp { handle: expected.handle.clone(), version });
    }
    if current == all { Ok(()) } else { Err(stale(handling, current)) }
}

fn check_condition(handling: &mut Handling<'_>) -> Passed {
    let Some(condition) = &handling.request.condition else { return Ok(()) };
    let mut resources = Vec::new();
    for (name, handle) in &condition.names {
        let own = Some(&**handle) == handling.own_handle() && !handling.at_other;
        let found = if own { Some(handling.existing()?) } else { handling.instance_of(handle)? };
        let found = found.ok_or_else(|| handling.refuse(Outcome::NotFound))?;
        if found.content.values().any(|value| value.as_array().is_some_and(|list| list.len() > ELEMENTS)) {
            let why = format!("a condition is judged on lists of at most {ELEMENTS} elements");
            return Err(Stop::Invalid(why));
        }
        let fields = found.content.iter().filter_map(|(field, value)| Some((field.clone(), Value::of_json(value)?)));
        resources.push((name.clone(), fields.collect()));
    }
    match assertion::meets(&condition.expression, &resources) {
        Ok(true) => Ok(()),
        Ok(false) => Err(handling.refuse(Outcome::ConditionNotMet)),
        Err(why) => Err(Stop::Invalid(format!("the condition `{}`: {why}", condition.expression))),
    }
}

fn check_unchanged(handling: &mut Handling<'_>) -> Passed {
    let version = handling.existing()?.version;
    if handling.progress.loaded == Some(version) {
        return Ok(());
    }
    let handle = handling.other().map(|other| &other.handle).or(handling.request.handle.as_ref());
    let current = handle.into_iter().map(|handle| Stamp { handle: handle.clone(), version }).collect();
    Err(stale(handling, current))
}

fn stale(handling: &Handling<'_>, current: Vec<Stamp>) -> Stop {
    let about = Answer::about(handling.request.handle.clone());
    Stop::Answer(Box::new(Answer { outcome: Outcome::StaleView, current, ..about }))
}

fn check_approval(handling: &mut Handling<'_>) -> Passed {
    let instance = handling.existing()?;
    if instance.approved.as_ref() == Some(&instance.content) {
        Ok(())
    } else {
        Err(handling.refuse(Outcome::StaleApproval))
    }
}

/// Whether leases name their holders.
fn names_holder(handling: &Handling<'_>) -> bool {
    handling.design.server.lease_names == LeaseNames::Holder
}

fn acquire_lease(handling: &mut Handling<'_>) -> Passed {
    let mut lease = handling.lease()?;
    let agent = handling.caller()?.agent;
    if lease.holder.as_ref().is_some_and(|holder| *holder != agent || !names_holder(handling)) {
        return Err(handling.refuse(Outcome::Locked));
    }
    let fence = lease.given.map_or(0, |given| given + 1);
    lease.holder = Some(agent);
    lease.given = Some(fence);
    handling.put_lease(&lease)?;
    handling.progress.grant = Some(fence);
    if let Some(view) = handling.progress.answer.view.as_mut().filter(|_| !handling.at_other) {
        view.fence = Some(fence);
    }
    Ok(())
}

fn release_lease(handling: &mut Handling<'_>) -> Passed {
    let mut lease = handling.lease()?;
    if lease.holder.as_ref() == Some(&handling.caller()?.agent) || !names_holder(handling) {
        lease.holder = None;
        handling.put_lease(&lease)?;
    }
    Ok(())
}

fn check_lease(handling: &mut Handling<'_>) -> Passed {
    let holder = handling.lease()?.holder;
    let holds = if names_holder(handling) { holder == Some(handling.caller()?.agent) } else { holder.is_some() };
    if holds { Ok(()) } else { Err(handling.refuse(Outcome::LeaseLost)) }
}

fn check_fence(handling: &mut Handling<'_>) -> Passed {
    let mut lease = handling.lease()?;
    let at_check = handling.design.server.fence_seen == FenceSeen::AtCheck;
    let newest = if at_check { lease.presented } else { lease.given };
    let fence = handling.progress.grant.or(handling.other().map_or(handling.request.fence, |other| other.fence));
    if newest > fence {
        return Err(handling.refuse(Outcome::LeaseLost));
    }
    if at_check {
        lease.presented = fence;
        handling.put_lease(&lease)?;
    }
    Ok(())
}

fn load(handling: &mut Handling<'_>) -> Passed {
    let Instance { version, content, .. } = handling.existing()?;
    handling.progress.loaded = Some(version);
    handling.progress.working = Some(content);
    Ok(())
}

fn write_content(handling: &mut Handling<'_>) -> Passed {
    let working = handling.progress.working.clone();
    handling.write(working.expect("reading the design checked that a load comes first"))
}

fn save(handling: &mut Handling<'_>) -> Passed {
    write_content(handling)?;
    handling.advance()
}

fn apply(handling: &mut Handling<'_>) -> Passed {
    let stored = handling.existing()?.content;
    handling.write(stored)?;
    handling.advance()
}

fn apply_next(handling: &mut Handling<'_>) -> Passed {
    let stored = handling.existing()?.content;
    let parts = match &*handling.asked().1 {
        Payload::Change(change) => change.len().max(1),
        Payload::Content(_) | Payload::Nothing => 1,
    };
    let part = handling.progress.written;
    if part == parts {
        return Ok(());
    }
    handling.progress.written += 1;
    handling.write_part(stored, part)?;
    handling.advance()
}

fn call_upstream_with_key(handling: &mut Handling<'_>) -> Passed {
    if let Some(key) = &handling.request.key {
        let principal = json(&stored(&handling.caller()?.principal()));
        let upstream = &handling.places.upstream;
        if upstream.execute("INSERT OR IGNORE INTO seen VALUES (?, ?)", params![principal, key])? == 0 {
            return Ok(());
        }
    }
    handling.call_upstream()
}

fn mint(handling: &mut Handling<'_>) -> Passed {
    let content = match &handling.request.payload {
        Payload::Content(content) => content.clone(),
        Payload::Change(_) | Payload::Nothing => Fields::new(),
    };
    let owner = handling.caller()?.principal();
    let scope = name_scope(handling, &owner);
    let connection = handling.places.at(handling.state());
    if let Some(name) = &handling.request.name
        && let Some(handle) = places::named(connection, &scope, name)?
        && let Some(there) = handling.instance_of(&handle)?
        && there.lifecycle != "deleted"
        && !there.expired
    {
        if handling.design.server.taken_name == TakenName::Refuse {
            return Err(handling.refuse(Outcome::NameTaken));
        }
        handling.progress.answer.handle = Some(handle);
        handling.progress.answer.version = Some(there.version);
        handling.carry(&there);
        return Ok(());
    }
    let handle = new_handle(handling)?;
    if let Some(name) = &handling.request.name {
        places::put_name(connection, &scope, name, &handle)?;
    }
    handling.progress.answer.handle = Some(handle);
    handling.progress.answer.version = Some(FIRST_VERSION);
    let session = handling.own.session.clone().filter(|_| handling.design.server.state == State::Session);
    let copied = handling.design.server.reads_from == ReadsFrom::Replica;
    let superseded = if copied { Some(Superseded { version: 0, content: None, at: handling.now()? }) } else { None };
    let minted = Instance { session, superseded, ..Instance::new(owner, content, FIRST_VERSION) };
    handling.carry(&minted);
    if handling.may_take_back() {
        handling.progress.wrote = handling.own_handle().map(|made| Wrote::Anew(made.to_owned()));
    }
    handling.put(&minted)
}

/// Among whose names a principal's are.
fn name_scope(handling: &Handling<'_>, principal: &Principal) -> String {
    let part = |part: PrincipalPart| handling.design.server.name_scope.contains(&part);
    json(&(
        Some(&principal.subject).filter(|_| part(PrincipalPart::Subject)),
        principal.client.as_ref().filter(|_| part(PrincipalPart::Client)),
        principal.tenant.as_ref().filter(|_| part(PrincipalPart::Tenant)),
    ))
}

/// The version of what was just minted.
const FIRST_VERSION: i64 = 1;

/// A handle that names nothing yet: 128 random bits, or the next number.
fn new_handle(handling: &Handling<'_>) -> Result<String, Stop> {
    let connection = handling.places.at(handling.state());
    Ok(match handling.design.server.handles {
        Handles::Unguessable => {
            connection.query_row("SELECT 'res_' || lower(hex(randomblob(16)))", [], |row| row.get(0))?
        }
        Handles::Sequential => {
            let last = places::note(connection, "minted")?.and_then(|last| last.parse::<i64>().ok()).unwrap_or(0);
            places::put_note(connection, "minted", &(last + 1).to_string())?;
            format!("res_{}", last + 1)
        }
    })
}
