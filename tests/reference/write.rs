//! The steps that write a content (section 5), and what of an intent takes effect by them.

use handlecheck::model::design::{NewFields, Versions};
use handlecheck::model::{Model, Operation, Outcome, Value};

use super::judge::Commit;
use super::server;
use super::sharing;
use super::state::{Change, Content, Field, Found, Intent, Life, values};
use super::steps::{Passed, Step};

/// What of an operation can take effect by itself: each field that it names, or all of it at once.
pub fn parts(operation: &Operation) -> Vec<Option<usize>> {
    let fields = operation.fields();
    if fields.is_empty() { vec![None] } else { fields.into_iter().map(Some).collect() }
}

/// The same of what is changed besides: its fields are counted behind all others.
pub fn besides(parts: Vec<Option<usize>>) -> Vec<Option<usize>> {
    parts.into_iter().map(|field| Some(1000 + field.unwrap_or(0))).collect()
}

/// A field without what an operation of an intent did to it.
fn take_back(field: &mut Field, before: &Field, index: usize, operation: &Operation, intent: Intent) {
    let value = match (operation, &field.value) {
        (Operation::Append(changes), Value::List(elements)) => {
            let element = changes.iter().find(|change| change.0 == index).map(|change| &change.1);
            let mut left = elements.clone();
            if let Some(last) = elements.iter().rposition(|there| Some(there) == element) {
                left.remove(last);
            }
            Value::List(left)
        }
        (Operation::Increment(changes), Value::Number(number)) => {
            let added: i64 = changes.iter().filter(|change| change.0 == index).map(|change| change.1).sum();
            Value::Number(number - added)
        }
        _ => {
            *field = before.clone();
            return;
        }
    };
    field.value = value;
    field.shows.remove(&Change::Of(intent, index));
}

/// The value of a field after an operation that names it.
pub fn new_value(old: &Value, field: usize, operation: &Operation) -> Value {
    match operation {
        Operation::Set(changes) => {
            changes.iter().find(|change| change.0 == field).map_or_else(|| old.clone(), |change| change.1.clone())
        }
        Operation::Append(changes) => match (old, changes.iter().find(|change| change.0 == field)) {
            (Value::List(elements), Some((_, element))) => {
                Value::List(elements.iter().cloned().chain([element.clone()]).collect())
            }
            _ => old.clone(),
        },
        Operation::Increment(changes) => match (old, changes.iter().find(|change| change.0 == field)) {
            (Value::Number(number), Some((_, amount))) => Value::Number(number + amount),
            _ => old.clone(),
        },
        _ => old.clone(),
    }
}

/// The lifecycle to which a commit of this operation leads, if it leads to another.
pub fn life_after(operation: &Operation) -> Option<Life> {
    match operation {
        Operation::Close => Some(Life::Closed),
        Operation::Execute => Some(Life::Executed),
        Operation::Delete => Some(Life::Deleted),
        _ => None,
    }
}

/// Fields of which a program knows nothing are empty in what it writes or shows, and nobody's change is in them.
pub fn forget(content: &mut Content, fields: &[usize]) {
    for field in fields {
        content[*field].shows.clear();
        content[*field].value = match content[*field].value {
            Value::Number(_) => Value::Number(0),
            Value::Text(_) => Value::Text(String::new()),
            Value::List(_) => Value::List(Vec::new()),
        };
    }
}

impl Step<'_, '_> {
    /// The fields of the resource at hand that the handler does not know.
    pub fn unknown_fields(&mut self) -> Vec<usize> {
        let drops = self.model().design.server.new_fields == NewFields::Dropped;
        let resource = self.stored().map(|(handle, _)| handle.0).filter(|_| drops);
        resource.map_or_else(Vec::new, |resource| self.model().scenario.resources[resource].new_fields.clone())
    }

    /// `apply`: `load` and `save`; nothing comes between, so a write that is applied rests on what stands there.
    pub fn apply(&mut self) -> Passed {
        self.load()?;
        self.write_content(false)?;
        self.advance_version()
    }

    /// `apply-next`: `apply` of the first field that this call has not written yet; nothing, when it has written all.
    pub fn apply_next(&mut self) -> Passed {
        let Some(whole) = self.request.operation.clone() else { return Ok(()) };
        let done = self.handling.bench.written;
        let Some(there) = self.content_here() else { return self.refuse(Outcome::NotFound) };
        if done == parts(&whole).len() {
            return Ok(());
        }
        self.handling.bench.written += 1;
        let one = match whole {
            Operation::Set(changes) => Operation::Set(vec![changes[done].clone()]),
            Operation::Append(changes) => Operation::Append(vec![changes[done].clone()]),
            Operation::Increment(changes) => Operation::Increment(vec![changes[done]]),
            other => other,
        };
        let working = self.handling.bench.working.replace(there);
        self.write_operation(&one, false)?;
        self.handling.bench.working = working;
        self.advance_version()
    }

    /// `write-content`: writes the working copy plus the operation back. `saved` is false for `apply`, whose copy is
    /// what stands there at that moment.
    pub fn write_content(&mut self, saved: bool) -> Passed {
        match self.request.operation.clone() {
            Some(operation) => self.write_operation(&operation, saved),
            None => Ok(()),
        }
    }

    /// The same, with this operation.
    fn write_operation(&mut self, operation: &Operation, saved: bool) -> Passed {
        let Some(intent) = self.request.intent else { return Ok(()) };
        let work = sharing::first(self.model(), intent);
        let copy = match self.handling.bench.working.clone() {
            Some(working) => working,
            None => self.content_here().unwrap_or_default(),
        };
        let can_lag = server::can_lag(self.world.whole);
        let comes_back = super::rename::versions_come_back(self.model());
        let carried = self.request.token.as_ref().map(|(_, version)| *version);
        let approves = self.request.approves.clone();
        let mut content = self.written(copy, operation, intent);
        let unknown = if operation.fields().is_empty() { Vec::new() } else { self.unknown_fields() };
        forget(&mut content, &unknown);
        let Some((handle, stored)) = self.stored() else { return self.refuse(Outcome::NotFound) };
        let before = stored.clone();
        stored.content.clone_from(&content);
        if let Some(version) = carried {
            stored.version = version;
        }
        if comes_back {
            stored.named.insert((before.version, values(&before.content)));
        }
        if can_lag {
            stored.previous = Some((before.content.clone(), before.version));
        }
        let found = Found::Something {
            content: before.content.clone(),
            life: before.life,
            ended_by: before.ended_by,
            approved: before.approved.clone(),
        };
        if let Some(life) = life_after(operation) {
            stored.life = life;
            stored.ended_by = before.ended_by.or(Some(work));
        }
        if *operation == Operation::Approve {
            stored.approved = approves;
        }
        let token = server::token_of(self.model(), &self.world.state.resources[&handle]);
        self.handling.answer.token = token.or(self.handling.answer.token.take());
        let lasts = before.node.is_some();
        let call = self.call.clone();
        self.note_found(found);
        let parts = self.counted(operation, &unknown);
        let saved_whole = saved || !unknown.is_empty();
        let first = self.handling.bench.written <= 1 && !self.handling.turned;
        let taken_back = false;
        let commit = Commit {
            call: &call,
            handle,
            before: &before,
            after: &content,
            parts,
            first,
            saved: saved_whole,
            taken_back,
        };
        self.world.judge_commit(&commit);
        if let Some(grant) = self.handling.bench.grant.or(self.request.fence) {
            self.world.judge_lease(self.request.agent, handle, self.handling.node, grant);
        }
        if lasts {
            self.world.keep_facts();
        }
        if !saved {
            self.handling.bench.working = None;
        }
        Ok(())
    }

    /// What of an operation takes effect, of the resource at hand.
    fn counted(&self, operation: &Operation, unknown: &[usize]) -> Vec<Option<usize>> {
        let mut parts = parts(operation);
        parts.retain(|part| part.is_none_or(|field| !unknown.contains(&field)));
        if self.handling.turned { besides(parts) } else { parts }
    }

    /// Remembers what was there before the first write, where some handler may take that back.
    pub fn note_found(&mut self, found: Found) {
        let takes_back = |model: &Model| {
            model.design.server.tools.values().flat_map(|tool| &tool.at_end).flatten().any(|step| *step == "undo")
        };
        if super::state::on_any_side(self.world.whole, &takes_back) && self.handling.bench.found.is_none() {
            self.handling.bench.found = Some(found);
        }
    }

    /// `undo`: takes back what the call wrote, when it has not ended with `ok`.
    pub fn undo(&mut self) -> Passed {
        let ended = self.handling.ended.as_ref().map(|answer| answer.outcome);
        if ended.is_none_or(|outcome| outcome == Outcome::Ok) {
            return Ok(());
        }
        let Some(found) = self.handling.bench.found.take() else { return Ok(()) };
        let handle = match &found {
            Found::Nothing(made) => Some(*made),
            Found::Something { .. } => self.request.handle.or(self.handling.answer.minted),
        };
        let (Some(handle), Some(intent), Some(operation)) =
            (handle, self.request.intent, self.request.operation.clone())
        else {
            return Ok(());
        };
        let Some(before) = self.stored_as(handle).cloned() else { return Ok(()) };
        let work = sharing::first(self.model(), intent);
        let drops = self.model().design.server.new_fields == NewFields::Dropped && !operation.fields().is_empty();
        let unknown = if drops { self.model().scenario.resources[handle.0].new_fields.clone() } else { Vec::new() };
        let mut after = before.clone();
        match found {
            Found::Nothing(_) => {
                after.life = Life::Deleted;
                after.ended_by = before.ended_by.or(Some(work));
            }
            Found::Something { content, life, ended_by, approved } => {
                if self.request.snapshot.is_some() {
                    after.content = content;
                } else {
                    for field in operation.fields() {
                        take_back(&mut after.content[field], &content[field], field, &operation, work);
                    }
                }
                if life_after(&operation).is_some() {
                    (after.life, after.ended_by) = (life, ended_by);
                }
                if operation == Operation::Approve {
                    after.approved = approved;
                }
            }
        }
        forget(&mut after.content, &unknown);
        let ticks = match self.model().design.server.versions {
            Versions::Counter | Versions::PerIncarnation => true,
            Versions::CoarseClock => self.world.clock_ticks(),
        };
        after.version += u32::from(ticks);
        if super::rename::versions_come_back(self.model()) {
            after.named.insert((before.version, values(&before.content)));
        }
        if server::can_lag(self.world.whole) {
            after.previous = Some((before.content.clone(), before.version));
        }
        self.world.state.resources.insert(handle, after.clone());
        let parts = self.counted(&operation, &unknown);
        let call = self.call.clone();
        let (saved, taken_back) = (false, true);
        let commit = Commit {
            call: &call,
            handle,
            before: &before,
            after: &after.content,
            parts,
            first: false,
            saved,
            taken_back,
        };
        self.world.judge_commit(&commit);
        if let Some(grant) = self.handling.bench.grant.or(self.request.fence) {
            self.world.judge_lease(self.request.agent, handle, self.handling.node, grant);
        }
        Ok(())
    }

    /// The content that a write leaves, given the copy that it starts from (section 8, lost update): a field that it
    /// does not name keeps what that copy shows; a field that it sets shows it and, of that copy's changes, those that
    /// the author had seen or made; an append or increment adds it.
    fn written(&self, copy: Content, operation: &Operation, intent: (usize, usize)) -> Content {
        if let Some(snapshot) = &self.request.snapshot {
            return snapshot.clone();
        }
        let mut content = copy;
        for index in operation.fields() {
            let field = &mut content[index];
            field.value = new_value(&field.value, index, operation);
            if matches!(operation, Operation::Set(_)) {
                let seen = &self.request.seen;
                let model = self.world.model;
                field.shows.retain(|change| sharing::is_earlier(model, change, intent) || seen.contains(change));
            }
            field.shows.insert(Change::Of(sharing::first(self.world.model, intent), index));
        }
        content
    }

    /// `advance-version`: a coarse clock need not tick.
    pub fn advance_version(&mut self) -> Passed {
        let ticks = match self.model().design.server.versions {
            Versions::Counter | Versions::PerIncarnation => true,
            Versions::CoarseClock => self.world.clock_ticks(),
        };
        let in_handle = self.state_in_handle();
        let carried = self.request.token.as_ref().map(|(_, version)| *version);
        let Some((handle, stored)) = self.stored() else { return self.refuse(Outcome::NotFound) };
        stored.version = carried.unwrap_or(stored.version) + u32::from(ticks);
        let version = stored.version;
        let token = in_handle.then(|| (stored.content.clone(), version));
        if self.handling.turned {
            self.handling.answer.other = Some((handle, version));
            return Ok(());
        }
        self.handling.answer.version = Some(version);
        self.handling.answer.token = token;
        Ok(())
    }
}
