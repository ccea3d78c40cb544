//! What is in the store at the start: the resources of a scenario, once.

use serde_json::Value as Json;

use super::handling::place_of_state;
use super::places::{self, Instance, Places};
use super::request::Fields;
use super::signed::Carried;
use crate::model::{Design, Resource, Scenario, Value};

/// Under which name the store keeps that it was seeded.
const SEEDED: &str = "seeded";

/// Puts the resources that a scenario has at the start where they belong, if nobody has done so in this store. Answers
/// whether it did. Where state lives in the memory of a node, it is that of the first that asks.
///
/// # Errors
///
/// When the store fails.
pub fn seed(places: &Places, design: &Design, scenario: &Scenario) -> rusqlite::Result<bool> {
    places.store.execute_batch("BEGIN IMMEDIATE")?;
    if places::note(&places.store, SEEDED)?.is_some() {
        places.store.execute_batch("COMMIT")?;
        return Ok(false);
    }
    let connection = places.at(place_of_state(design));
    for resource in &scenario.resources {
        let (Some(handle), Some(owner)) = (&resource.handle, &resource.owner) else { continue };
        let Carried { version, content } = at_start(resource);
        let mut instance = Instance::new(owner.clone(), content, version);
        instance.shared_with.clone_from(&resource.shared_with);
        places::put_instance(connection, handle, &instance)?;
    }
    places::put_note(&places.store, SEEDED, &scenario.name)?;
    places.store.execute_batch("COMMIT")?;
    Ok(true)
}

/// What a resource is at the start.
#[must_use]
pub fn at_start(resource: &Resource) -> Carried {
    let content: Fields = resource.fields.iter().map(|(name, value)| (name.clone(), json(value))).collect();
    Carried { version: i64::from(resource.version), content }
}

/// A value of a scenario as the server keeps it.
#[must_use]
pub fn json(value: &Value) -> Json {
    match value {
        Value::Number(number) => Json::from(*number),
        Value::Text(text) => Json::from(text.clone()),
        Value::List(elements) => Json::Array(elements.iter().map(json).collect()),
    }
}

/// What the credentials of an agent are called in a tokens file that is made for a scenario.
pub const CREDENTIALS: [&str; 2] = ["first", "second"];

/// A tokens file for the agents of a scenario: a random token for each of two credentials of each. The agent at place `n`
/// has those at places `2 n` and `2 n + 1`; those of one principal count as the same credentials.
///
/// # Errors
///
/// When there is no randomness to be had.
pub fn tokens_of(scenario: &Scenario) -> rusqlite::Result<String> {
    let random = rusqlite::Connection::open_in_memory()?;
    let mut text = "# Tokens for trials. Whoever holds one is whom it stands for.\n".to_owned();
    for agent in &scenario.agents {
        for credential in CREDENTIALS {
            let token: String = random.query_row("SELECT lower(hex(randomblob(24)))", [], |row| row.get(0))?;
            let principal = &agent.principal;
            let mut entry = toml::Table::new();
            let mut put = |name: &str, value: &str| entry.insert(name.to_owned(), value.into());
            put("token", &token);
            put("subject", &principal.subject);
            principal.client.iter().for_each(|client| drop(put("client", client)));
            principal.tenant.iter().for_each(|tenant| drop(put("tenant", tenant)));
            put("agent", &agent.name);
            put("credential", credential);
            text.push_str(&format!("\n[[tokens]]\n{entry}"));
        }
    }
    Ok(text)
}
