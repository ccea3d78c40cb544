//! What no fact of a step says by itself, a clause each: where an answer came from, what took effect outside, who got a
//! lease, what a hand-off carries, which name is chosen.

use super::Names;
use crate::action::Action;
use crate::model::design::{Place, ReadsFrom, TakenName};
use crate::model::protocol::TaskIds;
use crate::model::scenario::Carried;
use crate::model::{Entry, Outcome, Tool};
use crate::trace::{Change, Step};
use crate::world::{Call, Component, Fact};

/// What the note of an external effect begins with.
pub const EXTERNAL: &str = "the external effect of ";

/// What stands between the agent and the handle in the note of a lease that it gets.
pub const LEASED: &str = " holds the lease on ";

/// The same where it gives the lease back.
pub const RETURNED: &str = " gives the lease on ";

/// What the note of a read begins with that is answered from a cache.
pub const CACHED: &str = "what it reads stood in the cache";

/// The notes of a step, which is written down but for them.
pub(super) fn notes(
    names: &Names<'_>,
    (step, action, call): (&Step, &Action, Option<&Call>),
    (before, after): (&[Component], &[Component]),
    facts: &[Fact],
) -> Vec<String> {
    let mut notes: Vec<String> = facts.iter().filter_map(|fact| upstream(names, fact)).collect();
    notes.extend(call.and_then(|call| from_cache(names, step, call, (before, after))));
    notes.extend(call.and_then(|call| name(names, step, action, call)));
    notes.extend(carried(names, action, before));
    notes.extend(skipped(names, action, before));
    notes.extend(goes_on(step, action, after, names));
    if step.transaction.is_some() {
        notes.extend(step.changes.iter().filter_map(lease));
        notes.extend(step.changes.iter().filter_map(|change| ended(step, change)));
    }
    notes
}

fn upstream(names: &Names<'_>, fact: &Fact) -> Option<String> {
    let Fact::CalledUpstream { request, effects, .. } = fact else { return None };
    let about = names.0.entry_words(usize::from(request.agent), usize::from(request.entry));
    let twice = if *effects > 1 { ", for the second time" } else { "" };
    Some(format!("{EXTERNAL}{about} takes place{twice}"))
}

/// A read that is answered from a cache: of its node, or of all.
fn from_cache(
    names: &Names<'_>,
    step: &Step,
    call: &Call,
    (before, after): (&[Component], &[Component]),
) -> Option<String> {
    let note = step.transaction.as_ref()?;
    let (node, server) = (call.node()?, &names.0.of(call.deployed).model.design.server);
    let found = if server.reads_from == ReadsFrom::NodeCache {
        let place = |name: &str| note.steps.iter().position(|step| step == name);
        let (read, ended) = (place("read")?, note.ended_by.as_deref().and_then(place));
        let slot = names.0.cache_slot(node)?;
        let copies = |state: &[Component]| state[slot].cache().copies.len();
        // It leaves the cache as it was.
        ended.is_none_or(|ended| ended > read) && copies(before) > 0 && copies(before) == copies(after)
    } else {
        note.ended_by.as_deref() == Some("find-cached")
    };
    let whose = match server.cache_place {
        Place::Store => String::new(),
        Place::Node => format!(" of {}", names.0.node_name(node)),
    };
    found.then(|| format!("{CACHED}{whose}"))
}

/// The name that a client chooses for what is minted, and whether it was taken.
fn name(names: &Names<'_>, step: &Step, action: &Action, call: &Call) -> Option<String> {
    let setting = names.0.of(call.deployed);
    if call.request.tool != Tool::Mint || setting.model.protocol.task_ids != TaskIds::Client {
        return None;
    }
    let chosen = setting.resource(usize::from(call.request.resource)).chosen.as_ref()?;
    if matches!(action, Action::Send { .. }) {
        return Some(format!("it chooses the name {chosen}"));
    }
    let note = step.transaction.as_ref().filter(|note| note.steps.iter().any(|name| name == "mint"))?;
    let taken = match &note.ended_by {
        Some(by) => by == "mint" && step.answer.as_ref()?.outcome == Outcome::NameTaken.name(),
        None => setting.model.design.server.taken_name == TakenName::Answer && step.commits.is_empty(),
    };
    let answered = step.answer.as_ref().and_then(|answer| answer.handle.as_ref()).filter(|_| note.ended_by.is_none());
    let answers = answered.map_or_else(String::new, |handle| format!(": {handle}, which has it, is answered"));
    taken.then(|| format!("the name {chosen} is taken{answers}"))
}

/// A handler answers, and goes on.
fn goes_on(step: &Step, action: &Action, after: &[Component], names: &Names<'_>) -> Option<String> {
    let Action::Execute { call, answered: false, .. } = action else { return None };
    let note = step.transaction.as_ref().filter(|note| note.steps.iter().any(|name| name == "answer"))?;
    let request = step.does.request.as_ref()?;
    let rest = |rest: &Call| rest.has_answered() && names.request(call.agent, rest.request.id) == *request;
    let orphans = after[names.0.orphans_slot(usize::from(call.agent))].orphans();
    (note.ended_by.is_none() && orphans.iter().any(rest))
        .then(|| "the answer leaves, and the handler goes on".to_owned())
}

/// The entry that an agent leaves out, and why.
fn skipped(names: &Names<'_>, action: &Action, before: &[Component]) -> Option<String> {
    let Action::Skip { agent } = action else { return None };
    let (agent, at) = (usize::from(*agent), before[names.0.agent_slot(usize::from(*agent))].agent());
    let condition = names.0.condition(agent, usize::from(at.entry))?;
    let words = names.0.entry_words(agent, usize::from(at.entry));
    Some(format!("Of what it sees {} is not true: {words} is not asked for", condition.text))
}

/// What a hand-off carries besides the handle.
fn carried(names: &Names<'_>, action: &Action, before: &[Component]) -> Option<String> {
    let Action::HandOff { agent } = action else { return None };
    let at = before[names.0.agent_slot(usize::from(*agent))].agent();
    let work = &names.0.model.scenario.agents[usize::from(*agent)].work;
    let Entry::HandOff { resource, carries, .. } = work.get(usize::from(at.entry))? else { return None };
    let view = at.known[*resource].view.as_ref()?;
    let version = view.version.filter(|_| carries.contains(&Carried::Version)).map(|version| format!("v{version}"));
    let content = view.content.as_ref().filter(|_| carries.contains(&Carried::Content));
    let content =
        content.map(|content| content.iter().map(|field| field.value.to_string()).collect::<Vec<_>>().join(" / "));
    match (version, content) {
        (None, None) => None,
        (Some(version), None) => Some(format!("it carries the version, {version}")),
        (None, Some(content)) => Some(format!("it carries the content, {content}, and no version")),
        (Some(version), Some(content)) => Some(format!("it carries the version and the content: {version} {content}")),
    }
}

/// Who holds a lease from now on.
fn lease(change: &Change) -> Option<String> {
    let handle = change.fact.strip_suffix(" lease")?;
    let holder = |text: &str| text.split(" (fence").next().unwrap_or_default().to_owned();
    let (old, new) = (holder(&change.before), holder(&change.after));
    match (&*old, &*new) {
        (_, "free") => Some(format!("{old}{RETURNED}{handle} back")),
        (old, new) if old == new => None,
        _ => Some(format!("{new}{LEASED}{handle} from now on")),
    }
}

/// What came to its end. Of what was deleted pictures tell that by themselves.
fn ended(step: &Step, change: &Change) -> Option<String> {
    let handle = change.fact.strip_suffix(" state")?;
    let about = step.commits.iter().any(|commit| commit.content.handle == handle);
    (about && change.before == "open" && matches!(&*change.after, "closed" | "executed"))
        .then(|| format!("{handle} is {} from now on", change.after))
}
