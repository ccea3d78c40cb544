//! What the model sends and expects, as it goes over the wire to a server of ours, and back.

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json, json};

use super::Reply;
use crate::log;
use crate::model::design::NewFields;
use crate::model::protocol::TaskIds;
use crate::model::{Operation, ResourceId, Tool, Value};
use crate::serve::signed;
use crate::world::{Answer, Content, Handle, Key, Other, Payload, Request, Setting, View};

/// Which real handle stands for which of the model's. Those that are minted are learned from the first answer that names
/// them; from then on each stands for the other.
#[derive(Debug, Default)]
pub struct Handles {
    real: BTreeMap<Handle, String>,
    /// Where handles carry the state: which real one carries what, as JSON.
    signed: BTreeMap<(Handle, String), String>,
}

impl Handles {
    /// The handles that resources have at the start.
    #[must_use]
    pub fn of(setting: &Setting) -> Self {
        let initial = (0..setting.resources()).filter_map(|resource| {
            let resource_id = u8::try_from(resource).expect("there are few resources");
            let handle = setting.resource(resource).handle.clone()?;
            Some((Handle { resource: resource_id, instance: 0 }, handle))
        });
        Self { real: initial.collect(), signed: BTreeMap::new() }
    }

    /// Learns a handle that carries the state of what it names.
    ///
    /// # Errors
    ///
    /// When it does not name what the model's does, or there is another one that carries the same.
    pub fn learn_signed(&mut self, handle: Handle, carried: &Json, real: &str) -> Result<(), String> {
        let (name, carries) = signed::look_into(real).ok_or_else(|| format!("`{real}` carries no state"))?;
        if carries != *carried {
            return Err(format!("the handle should carry {carried}, and carries {carries}"));
        }
        self.learn(handle, name)?;
        let known = self.signed.entry((handle, carried.to_string())).or_insert_with(|| real.to_owned());
        if known == real { Ok(()) } else { Err(format!("two handles carry {carried}: `{known}` and `{real}`")) }
    }

    /// The real handle that carries this state; of none that is known, any that names the same.
    #[must_use]
    fn signed(&self, handle: Handle, carried: &Json) -> Option<&str> {
        let exact = self.signed.get(&(handle, carried.to_string()));
        exact.map(String::as_str)
    }

    /// Some real handle of a resource, whatever it carries.
    fn any_signed(&self, handle: Handle) -> Option<&str> {
        self.signed.iter().find(|((known, _), _)| *known == handle).map(|(_, real)| &**real)
    }

    /// The real handle, if it is known; where handles carry the state, the name in it.
    #[must_use]
    pub fn get(&self, handle: Handle) -> Option<&str> {
        self.real.get(&handle).map(String::as_str)
    }

    /// The model's handle of which this is the name.
    #[must_use]
    pub fn of_name(&self, name: &str) -> Option<Handle> {
        self.real.iter().find(|(_, real)| *real == name).map(|(handle, _)| *handle)
    }

    /// The model's handle for a real one of a resource: a new one, if nobody has heard of it.
    pub fn named(&mut self, resource: u8, real: &str) -> Option<Handle> {
        if let Some((known, _)) = self.real.iter().find(|(known, name)| known.resource == resource && *name == real) {
            return Some(*known);
        }
        let instance = u8::try_from(self.real.keys().filter(|known| known.resource == resource).count()).ok()?;
        let handle = Handle { resource, instance };
        self.real.insert(handle, real.to_owned());
        Some(handle)
    }

    /// Everything of a resource that has a handle, in the order in which it was heard of.
    #[must_use]
    pub fn of_resource(&self, resource: u8) -> Vec<Handle> {
        self.real.keys().copied().filter(|handle| handle.resource == resource).collect()
    }

    /// Whether anybody has heard of a real handle.
    #[must_use]
    pub fn is_known(&self, real: &str) -> bool {
        self.real.values().any(|name| name == real)
    }

    /// Learns that a real handle stands for one of the model's.
    ///
    /// # Errors
    ///
    /// When either stands for another one.
    pub fn learn(&mut self, handle: Handle, real: &str) -> Result<(), String> {
        let same = |(known, name): (&Handle, &String)| *known == handle && name == real;
        let other = self.real.iter().find(|(known, name)| (**known == handle) != (*name == real));
        if let Some((_, name)) = other {
            return Err(format!("it names `{real}`, and should name `{name}`"));
        }
        if !self.real.iter().any(same) {
            self.real.insert(handle, real.to_owned());
        }
        Ok(())
    }
}

/// A value of the model as JSON.
#[must_use]
pub fn value(value: &Value) -> Json {
    match value {
        Value::Number(number) => Json::from(*number),
        Value::Text(text) => Json::from(text.clone()),
        Value::List(elements) => Json::Array(elements.iter().map(self::value).collect()),
    }
}

/// A content of the model as JSON.
#[must_use]
pub fn content(setting: &Setting, resource: usize, content: &Content) -> Map<String, Json> {
    let names = setting.resource(resource).fields.iter().map(|(name, _)| name.clone());
    names.zip(content.iter().map(|field| value(&field.value))).collect()
}

/// The state that a handle of the model carries, as JSON.
#[must_use]
pub fn carried(setting: &Setting, handle: Handle, view: &View) -> Json {
    let content = view.content.as_ref().map(|content| content_of(setting, handle, content));
    json!({ "version": view.version, "content": content })
}

fn content_of(setting: &Setting, handle: Handle, of: &Content) -> Map<String, Json> {
    content(setting, usize::from(handle.resource), of)
}

/// A content as a server shows it, with nothing where it has no word of a field that came with a later schema: a program that
/// does not know such a field leaves it out, and to the model it is empty.
#[must_use]
pub fn shown(setting: &Setting, resource: usize, content: &Json) -> Json {
    let mut content = content.clone();
    let declared = setting.resource(resource);
    if let Some(fields) = content.as_object_mut() {
        for (name, value) in declared.new_fields.iter().map(|field| &declared.fields[*field]) {
            fields.entry(name.clone()).or_insert_with(|| self::value(&value.empty()));
        }
    }
    content
}

/// The operation that a request asks for.
#[must_use]
pub fn operation(setting: &Setting, request: &Request) -> &'static str {
    match (&request.payload, request.tool) {
        (_, Tool::Read) => "read",
        (Payload::Change(operation), _) => operation.name(),
        _ => setting.intent_of(request).map_or("read", |intent| setting.intents[intent].operation.name()),
    }
}

/// What a request carries, by field; and whether it is the whole content.
#[must_use]
pub fn fields(setting: &Setting, request: &Request) -> (Map<String, Json>, bool) {
    let resource = usize::from(request.resource);
    let declared = &setting.resource(resource).fields;
    match &request.payload {
        Payload::Snapshot(whole) => {
            let mut sent = content(setting, resource, whole);
            let client = setting.model.client(usize::from(request.agent), request.tool);
            if client.new_fields == NewFields::Dropped && request.tool == Tool::Write {
                setting.resource(resource).new_fields.iter().for_each(|field| drop(sent.remove(&declared[*field].0)));
            }
            (sent, true)
        }
        Payload::Change(operation) => (changes(setting, resource, operation), false),
        Payload::Made(_) => (declared.iter().map(|(name, new)| (name.clone(), value(new))).collect(), true),
        Payload::Nothing => (Map::new(), false),
    }
}

/// What an operation on a resource carries, by field.
fn changes(setting: &Setting, resource: usize, operation: &Operation) -> Map<String, Json> {
    let declared = &setting.resource(resource).fields;
    let named = |field: &usize, new: Json| (declared[*field].0.clone(), new);
    match operation {
        Operation::Set(changes) | Operation::Append(changes) => {
            changes.iter().map(|(field, new)| named(field, value(new))).collect()
        }
        Operation::Increment(changes) => {
            changes.iter().map(|(field, amount)| named(field, Json::from(*amount))).collect()
        }
        Operation::Mint | Operation::Close | Operation::Approve | Operation::Execute | Operation::Delete => Map::new(),
    }
}

/// What a request changes besides: what is asked for, the other handle, and what is carried, by field.
#[must_use]
pub fn besides(setting: &Setting, request: &Request) -> Option<(&'static str, Handle, Map<String, Json>)> {
    let Other { handle, operation, .. } = request.other.as_deref()?;
    Some((operation.name(), *handle, changes(setting, usize::from(handle.resource), operation)))
}

/// A key as text: equal keys, equal texts.
#[must_use]
pub fn key(setting: &Setting, key: &Key) -> String {
    match key {
        Key::Plan { agent, entry, plan } => {
            format!("{}/{}.{}", setting.agent_name(usize::from(*agent)), entry + 1, plan + 1)
        }
        Key::Shared(intent) => format!("{}/", setting.shared_name(usize::from(*intent))),
        Key::Constant => "constant".to_owned(),
        Key::Arguments(arguments) => {
            let text = format!("{arguments:?}");
            format!("hash-{:016x}", rapidhash::v3::rapidhash_v3(text.as_bytes()))
        }
    }
}

/// What a client calls what it mints, where clients choose names: as the scenario says, or as nothing else is called.
fn name(setting: &Setting, resource: usize) -> String {
    let declared = setting.resource(resource);
    declared.chosen.clone().unwrap_or_else(|| format!("the resource {}", declared.name))
}

/// Under which condition a request is made, and the real handles of what that names, as far as they are known.
pub fn condition(
    setting: &Setting,
    request: &Request,
    real: impl Fn(Handle) -> Option<String>,
) -> Option<log::Condition> {
    let condition = setting.condition_of(request)?;
    let handle = |resource: ResourceId| {
        let own = request.handle.filter(|_| resource == usize::from(request.resource));
        let given = || request.basis.iter().map(|(handle, _)| *handle).find(|it| usize::from(it.resource) == resource);
        own.or_else(given)
    };
    let names = condition
        .resources()
        .iter()
        .filter_map(|resource| Some((setting.resource(*resource).name.clone(), real(handle(*resource)?)?)));
    Some(log::Condition { expression: condition.text.clone(), names: names.collect() })
}

/// The arguments of a request to a server of ours, as the nodes have it to which this setting belongs.
///
/// # Errors
///
/// When it names something whose real handle was never heard.
pub fn arguments(setting: &Setting, handles: &Handles, request: &Request) -> Result<Json, String> {
    let real = |handle: Handle| {
        let unheard = || format!("nobody heard which handle stands for {}", setting.handle_name(handle));
        let own = request.token.as_ref().filter(|_| request.handle == Some(handle));
        let found = match own {
            _ if !setting.is_state_in_handle() => handles.get(handle),
            Some(token) => handles.signed(handle, &carried(setting, handle, token)),
            None => handles.any_signed(handle),
        };
        found.map(str::to_owned).ok_or_else(unheard)
    };
    let mut arguments = Map::new();
    if let Some(handle) = request.handle {
        arguments.insert("handle".to_owned(), Json::from(real(handle)?));
    }
    let (fields, whole) = fields(setting, request);
    if whole || !fields.is_empty() {
        arguments.insert(if whole { "content" } else { "change" }.to_owned(), Json::Object(fields));
    }
    if !request.expected.is_empty() {
        let stamps: Result<Vec<Json>, String> = request
            .expected
            .iter()
            .map(|stamp| Ok(json!({ "handle": real(stamp.handle)?, "version": stamp.version })))
            .collect();
        arguments.insert("expected".to_owned(), Json::Array(stamps?));
    }
    if request.tool == Tool::Mint && setting.model.protocol.task_ids == TaskIds::Client {
        arguments.insert("name".to_owned(), Json::from(name(setting, usize::from(request.resource))));
    }
    if let Some(key) = &request.key {
        arguments.insert("key".to_owned(), Json::from(self::key(setting, key)));
    }
    if let Some((tool, handle, change)) = besides(setting, request) {
        let mut also = json!({ "tool": tool, "handle": real(handle)?, "change": change });
        if let Some(fence) = request.other.as_ref().and_then(|other| other.fence) {
            also["fence"] = fence.into();
        }
        arguments.insert("also".to_owned(), also);
    }
    if let Some(condition) = condition(setting, request, |handle| real(handle).ok()) {
        arguments.insert("if".to_owned(), serde_json::to_value(condition).expect("it has string keys"));
    }
    if let Some(fence) = request.fence.filter(|_| !matches!(request.tool, Tool::Read | Tool::Mint)) {
        arguments.insert("fence".to_owned(), Json::from(fence));
    }
    Ok(Json::Object(arguments))
}

/// The name in a real handle: all of it, or where it carries the state what comes before that.
#[must_use]
pub fn name_in<'n>(setting: &Setting, real: &'n str) -> &'n str {
    if setting.is_state_in_handle() { signed::look_into(real).map_or(real, |(name, _)| name) } else { real }
}

/// Compares what a server answered with what the model says that it answers. Learns the handles that it names.
///
/// # Errors
///
/// The first difference, in words.
pub fn compare(setting: &Setting, handles: &mut Handles, model: &Answer, real: &Reply) -> Result<(), String> {
    let same = |what: &str, model: &Json, real: &Json| {
        if model == real { Ok(()) } else { Err(format!("{what}: the model says {model}, the server {real}")) }
    };
    let said = |name: &str| real.content.get(name).cloned().unwrap_or(Json::Null);
    same("outcome", &Json::from(model.outcome.name()), &said("outcome"))?;
    if let (Some(handle), Some(name)) = (model.handle, said("handle").as_str()) {
        match &model.token {
            Some(token) => handles.learn_signed(handle, &carried(setting, handle, token), name)?,
            None => handles.learn(handle, name_in(setting, name))?,
        }
    }
    same("version", &model.version.map_or(Json::Null, Json::from), &said("version"))?;
    same("replayed", &Json::from(model.replayed), &said("replayed").as_bool().unwrap_or(false).into())?;
    let resource = model.handle.map_or(0, |handle| usize::from(handle.resource));
    let view = |view: &View| {
        let mut shown = Map::new();
        shown.extend(view.version.map(|version| ("version".to_owned(), Json::from(version))));
        let content = view.content.as_ref().map(|content| self::content(setting, resource, content));
        shown.extend(content.map(|content| ("content".to_owned(), Json::Object(content))));
        shown.extend(view.fence.map(|fence| ("fence".to_owned(), Json::from(fence))));
        Json::Object(shown)
    };
    let mut real_view = said("view");
    if let Some(content) = real_view.get_mut("content") {
        *content = shown(setting, resource, content);
    }
    same("view", &model.view.as_ref().map_or(Json::Null, view), &real_view)?;
    let current =
        model.current.iter().map(|stamp| json!({ "handle": handles.get(stamp.handle), "version": stamp.version }));
    let current: Vec<Json> = current.collect();
    let also = model.other.map(|stamp| json!({ "handle": handles.get(stamp.handle), "version": stamp.version }));
    same("also", &also.unwrap_or_default(), &said("also"))?;
    let real_current = said("current").as_array().cloned().unwrap_or_default();
    same("current", &Json::Array(current), &Json::Array(real_current))
}
