//! `[resources]`, and the resources that agents mint.

use crate::model::scenario::Resource;
use crate::model::{Principal, Value, limits};

use toml::de::DeValue;

use super::agents::{Draft, is_for_the_same};
use super::work::{ENTRY_KEYS, VERBS};
use crate::input::reader::{Item, Key, Table};
use crate::input::report::Spot;

/// A resource, and whether some of its fields are unknown because the file has them wrong: then nothing is said about
/// entries that use them.
pub(super) struct Known {
    pub(super) resource: Resource,
    pub(super) doubtful: bool,
}

/// Reads `[resources]`, which has at most so many.
pub(super) fn declared(table: &Table<'_>, most: usize) -> Vec<Known> {
    let mut all: Vec<Known> = Vec::new();
    let Some(resources) = table.table("resources") else { return all };
    for (key, item) in resources.entries().take(enough(most)) {
        let Some(table) = item.table() else { continue };
        let known = resource(key, &table);
        table.finish();
        let handle_of =
            |other: &&Known| known.resource.handle.is_some() && other.resource.handle == known.resource.handle;
        if let Some(twin) = all.iter().find(handle_of) {
            let message = format!("`{}` has this handle too", twin.resource.name);
            let item = table.get("handle").map_or(item, |handle| handle);
            item.complain(message, "a handle names one resource", None);
        }
        check_name(&key, &known, &all, most);
        all.push(known);
    }
    all
}

/// Of absurdly many resources only so many are looked at; that there are too many is said in any case.
const fn enough(most: usize) -> usize {
    4 * most
}

fn resource(key: Key<'_>, table: &Table<'_>) -> Known {
    let handle = table.require("handle").and_then(Item::nonempty);
    let owner = table.require("owner").and_then(principal);
    let version = table.get("version").map_or(Some(1), |item| item.number(0..=i64::from(limits::VERSION)));
    let shared_with = table.get("shared-with").map_or(Some(Vec::new()), |item| {
        item.each(|element, before| {
            let sharer = principal(element)?;
            if before.contains(&sharer) {
                return element.refuse_in_place("this principal is listed twice", "again", None);
            }
            Some(sharer)
        })
    });
    let expires = table.get("expires").map_or(Some(false), Item::boolean);
    let (fields, doubtful) = match table.get("fields") {
        None => (Vec::new(), false),
        Some(item) => match item.table() {
            None => (Vec::new(), true),
            Some(fields_table) => fields(fields_table.entries()),
        },
    };
    let new_fields = table.get("new-fields").map_or(Some(Vec::new()), |item| new_fields(item, &fields, doubtful));
    // What is wrong has been reported, so these stand-ins are never seen.
    Known {
        resource: Resource {
            name: key.text().to_owned(),
            handle: handle.map(str::to_owned),
            owner,
            version: version.unwrap_or(1),
            fields,
            new_fields: new_fields.unwrap_or_default(),
            shared_with: shared_with.unwrap_or_default(),
            expires: expires.unwrap_or_default(),
            chosen: None,
        },
        doubtful,
    }
}

/// Reads which fields came with a later schema.
fn new_fields(item: Item<'_>, fields: &[(String, Value)], doubtful: bool) -> Option<Vec<usize>> {
    let names: Vec<&str> = fields.iter().map(|(name, _)| name.as_str()).collect();
    item.each(|element, before| {
        let name = element.nonempty()?;
        let found = names.iter().position(|field| *field == name);
        if found.is_none() && !doubtful {
            return element.unknown("field", name, &names);
        }
        let field = found?;
        if before.contains(&field) {
            return element.refuse_in_place("this field is listed twice", "again", None);
        }
        Some(field)
    })
}

/// The resources that the agents' work mints, behind those that are there.
pub(super) fn minted(agents: &[Draft<'_>], all: &mut Vec<Known>, most: usize) {
    let mut minters: Vec<(&str, usize)> = Vec::new();
    for (agent, item) in
        agents.iter().enumerate().flat_map(|(index, agent)| agent.work.iter().map(move |item| (index, item)))
    {
        // An entry that is no table is reported where work is read.
        let Some(table) = item.value().is_table().then(|| item.table()).flatten() else { continue };
        let Some((_, target)) = table.entries().find(|(key, _)| key.text() == "mint") else { continue };
        let is_field =
            |key: &Key<'_>| !VERBS.contains(&key.text()) && !ENTRY_KEYS.contains(&key.text()) && key.text() != "handle";
        let contents = table.entries().filter(|(key, _)| is_field(key));
        let chosen = table.get("handle").and_then(Item::nonempty).map(str::to_owned);
        // So is one that mints nothing.
        let Some(name) = target.value().as_str().filter(|name| !name.trim().is_empty()) else { continue };

        if let Some(known) = all.iter().find(|known| known.resource.name == name) {
            let (message, label) = if known.resource.handle.is_some() || known.resource.owner.is_some() {
                (format!("`{name}` is not to be minted"), "it has a table in `[resources]`: it is there from the start")
            } else if minters.contains(&(name, agent)) {
                (format!("`{name}` is minted twice"), "another entry of this agent makes it")
            } else if minters.iter().any(|(other, minter)| *other == name && !is_for_the_same(agents, *minter, agent)) {
                (format!("`{name}` is minted for two principals"), "an agent of another principal makes it")
            } else if !known.doubtful && fields(contents).0 != known.resource.fields {
                (format!("`{name}` is minted with other contents"), "another agent makes it, of other contents")
            } else {
                // Two agents happen to choose one name. Whether that is a clash is for the protocol to say.
                minters.push((name, agent));
                continue;
            };
            target.complain(message, label, None);
            continue;
        }
        if all.len() >= enough(most) {
            return;
        }
        let (fields, doubtful) = fields(contents);
        let resource = Resource {
            name: name.to_owned(),
            handle: None,
            owner: None,
            version: 1,
            fields,
            new_fields: Vec::new(),
            shared_with: Vec::new(),
            expires: false,
            chosen,
        };
        minters.push((name, agent));
        let same_name = |other: &&Known| resource.chosen.is_some() && other.resource.chosen == resource.chosen;
        let kinds = |fields: &[(String, Value)]| -> Vec<(String, std::mem::Discriminant<Value>)> {
            fields.iter().map(|(name, value)| (name.clone(), std::mem::discriminant(value))).collect()
        };
        if let Some(twin) = all.iter().find(same_name)
            && kinds(&twin.resource.fields) != kinds(&resource.fields)
            && !(doubtful || twin.doubtful)
        {
            let message = format!("`{}` has this name too, and other fields", twin.resource.name);
            let label = "what may turn out to be the other has the same fields";
            table.get("handle").unwrap_or(target).complain(message, label, None);
        }
        let known = Known { resource, doubtful };
        check_name(&target, &known, all, most);
        all.push(known);
    }
}

/// Reports a name that can't stand beside those of the resources before it, and one resource too many.
fn check_name(spot: &impl Spot, known: &Known, before: &[Known], most: usize) {
    let name = known.resource.name.as_str();
    spot.is_name(name, "a resource");
    if name == "told" {
        let help = "in assertions `told.A` is what agent A was told".to_owned();
        spot.complain_in_place("`told` can't be the name of a resource", "it is taken", Some(help));
    }
    if let Some(other) = before.iter().find(|other| same_in_assertions(&other.resource.name, name)) {
        confused(spot, name, &other.resource.name);
    }
    if before.len() == most {
        let label = format!("a scenario has at most {most}");
        spot.complain("too many resources", label, None);
    }
}

/// Reads the contents of a resource. The second answer says that some of it is wrong.
fn fields<'a>(entries: impl Iterator<Item = (Key<'a>, Item<'a>)>) -> (Vec<(String, Value)>, bool) {
    let mut fields: Vec<(String, Value)> = Vec::new();
    let mut doubtful = false;
    for (key, item) in entries {
        let named = key.is_name(key.text(), "a field");
        let reserved = VERBS.contains(&key.text()) || ENTRY_KEYS.contains(&key.text()) || key.text() == "version";
        if reserved {
            let help = "in a work entry or an assertion this word means something else".to_owned();
            let message = format!("`{}` can't be the name of a field", key.text());
            key.complain_in_place(message, "it is taken", Some(help));
        }
        if let Some((other, _)) = fields.iter().find(|(other, _)| same_in_assertions(other, key.text())) {
            confused(&key, key.text(), other);
        }
        if fields.len() == limits::FIELDS {
            let label = format!("a resource has at most {}", limits::FIELDS);
            key.complain("too many fields", label, None);
        }
        match value(item) {
            Some(value) if named && !reserved && fields.len() < limits::FIELDS => {
                fields.push((key.text().to_owned(), value));
            }
            _ => doubtful = true,
        }
    }
    (fields, doubtful)
}

/// In assertions a `-` is written `_`, so two names that differ in nothing else are one name there.
pub(super) fn same_in_assertions(one: &str, other: &str) -> bool {
    one.replace('-', "_") == other.replace('-', "_")
}

pub(super) fn confused(spot: &impl Spot, name: &str, other: &str) {
    let help = "in assertions a `-` is written `_`".to_owned();
    let message = format!("`{name}` and `{other}` are one name in assertions");
    spot.complain(message, "one of them needs another name", Some(help));
}

/// Reads the value of a field.
pub(super) fn value(item: Item<'_>) -> Option<Value> {
    match item.value() {
        DeValue::Integer(_) => item.number(-limits::NUMBER..=limits::NUMBER).map(Value::Number),
        DeValue::String(text) => Some(Value::Text(text.to_string())),
        DeValue::Array(_) => item.each(|element, _| value(element)).map(Value::List),
        _ => item.wrong_kind("a whole number, a string or a list"),
    }
}

/// Reads a principal: a subject, or a table of its parts.
pub(super) fn principal(item: Item<'_>) -> Option<Principal> {
    match item.value() {
        DeValue::String(_) => {
            item.nonempty().map(|subject| Principal { subject: subject.to_owned(), client: None, tenant: None })
        }
        DeValue::Table(_) => {
            let table = item.table()?;
            let subject = table.require("subject").and_then(Item::nonempty);
            let parts = [table.get("client"), table.get("tenant")];
            table.finish();
            let [client, tenant] = parts.map(|part| part.map(Item::nonempty));
            if matches!(client, Some(None)) || matches!(tenant, Some(None)) {
                return None;
            }
            let text = |part: Option<Option<&str>>| part.flatten().map(str::to_owned);
            Some(Principal { subject: subject?.to_owned(), client: text(client), tenant: text(tenant) })
        }
        _ => item.wrong_kind("a subject, or a table { subject, client, tenant }"),
    }
}
