//! Where things are: the store that all processes share, the memory of this process, and the service upstream.
//!
//! All three are SQLite databases with the same tables, so that a step is the same statement wherever its design puts a
//! thing. The store is a file in WAL mode whose commits are on the disk before they are answered. The memory is a database
//! in memory, outside of every transaction: nothing rolls it back, and it dies with the process. The upstream stands for
//! somebody else's service: a file of its own, also outside of every transaction.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension, params};
use serde::de::DeserializeOwned;

use super::journal;
use super::request::Fields;
use crate::model::Principal;
use crate::model::design::Place;

/// The databases of one process.
#[derive(Debug)]
pub struct Places {
    /// The shared store.
    pub store: Connection,
    /// The memory of this process.
    pub memory: Connection,
    /// The service upstream.
    pub upstream: Connection,
}

const TABLES: &str = "
    CREATE TABLE IF NOT EXISTS resources (
        handle TEXT PRIMARY KEY, owner TEXT NOT NULL, shared_with TEXT NOT NULL, content TEXT NOT NULL,
        version INTEGER NOT NULL, lifecycle TEXT NOT NULL DEFAULT 'open', expired INTEGER NOT NULL DEFAULT 0,
        approved TEXT, revoked TEXT NOT NULL DEFAULT '[]', session TEXT, superseded TEXT
    ) STRICT;
    CREATE TABLE IF NOT EXISTS keys (
        scope TEXT NOT NULL, key TEXT NOT NULL, claim TEXT, fingerprint TEXT, answer TEXT, PRIMARY KEY (scope, key)
    ) STRICT;
    CREATE TABLE IF NOT EXISTS leases (
        handle TEXT PRIMARY KEY, holder TEXT, given INTEGER, presented INTEGER
    ) STRICT;
    CREATE TABLE IF NOT EXISTS names (
        scope TEXT NOT NULL, name TEXT NOT NULL, handle TEXT NOT NULL, PRIMARY KEY (scope, name)
    ) STRICT;
    CREATE TABLE IF NOT EXISTS queue (
        ticket INTEGER PRIMARY KEY AUTOINCREMENT, handle TEXT NOT NULL, node TEXT NOT NULL
    ) STRICT;
    CREATE TABLE IF NOT EXISTS cache (scope TEXT PRIMARY KEY, handle TEXT NOT NULL, view TEXT NOT NULL) STRICT;
    CREATE TABLE IF NOT EXISTS notes (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
";

const UPSTREAM: &str = "
    CREATE TABLE IF NOT EXISTS effects (
        number INTEGER PRIMARY KEY AUTOINCREMENT, principal TEXT NOT NULL, operation TEXT NOT NULL, handle TEXT,
        payload TEXT NOT NULL, key TEXT
    ) STRICT;
    CREATE TABLE IF NOT EXISTS seen (principal TEXT NOT NULL, key TEXT NOT NULL, PRIMARY KEY (principal, key)) STRICT;
";

/// What stands for no client or tenant in JSON is `null`.
pub type StoredPrincipal = (String, Option<String>, Option<String>);

/// How a principal is stored.
#[must_use]
pub fn stored(principal: &Principal) -> StoredPrincipal {
    (principal.subject.clone(), principal.client.clone(), principal.tenant.clone())
}

fn principal((subject, client, tenant): StoredPrincipal) -> Principal {
    Principal { subject, client, tenant }
}

/// What a handle names.
#[derive(Clone, Debug)]
pub struct Instance {
    /// Its owner.
    pub owner: Principal,
    /// Who else may use it.
    pub shared_with: Vec<Principal>,
    /// Its content.
    pub content: Fields,
    /// Its version.
    pub version: i64,
    /// `open`, `closed`, `executed` or `deleted`.
    pub lifecycle: String,
    /// Its handle's time is up.
    pub expired: bool,
    /// What was approved last.
    pub approved: Option<Fields>,
    /// Principals whose permission on it was revoked.
    pub revoked: Vec<Principal>,
    /// The session that made it, where state is found by the session.
    pub session: Option<String>,
    /// What a copy shows that lags behind, where there is one.
    pub superseded: Option<Superseded>,
}

/// What was there before the latest change.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Superseded {
    /// The version.
    pub version: i64,
    /// The content; `None` where the resource was made then, so that there was nothing before.
    pub content: Option<Fields>,
    /// When it was superseded, in seconds of the machine's clock.
    pub at: f64,
}

impl Instance {
    /// A live resource at this version.
    #[must_use]
    pub fn new(owner: Principal, content: Fields, version: i64) -> Self {
        Self {
            owner,
            shared_with: Vec::new(),
            content,
            version,
            lifecycle: "open".to_owned(),
            expired: false,
            approved: None,
            revoked: Vec::new(),
            session: None,
            superseded: None,
        }
    }
}

/// JSON of what always has some.
pub(super) fn json<T: serde::Serialize>(value: &T) -> String {
    serde_json::to_string(value).expect("what is stored has string keys and no failing serializer")
}

/// Reads back what [`json`] wrote.
pub(super) fn from_json<T: DeserializeOwned>(text: &str) -> rusqlite::Result<T> {
    serde_json::from_str(text)
        .map_err(|error| rusqlite::Error::FromSqlConversionFailure(0, rusqlite::types::Type::Text, Box::new(error)))
}

impl Places {
    /// Opens the store, and makes it when it is not there.
    ///
    /// # Errors
    ///
    /// When it is no database, or can't be written.
    pub fn open(store: &Path) -> rusqlite::Result<Self> {
        let beside = store.with_extension("upstream");
        let places = Self {
            store: file(store, &format!("{TABLES} {}", journal::TABLE))?,
            memory: Connection::open_in_memory()?,
            upstream: file(&beside, UPSTREAM)?,
        };
        places.memory.execute_batch(TABLES)?;
        Ok(places)
    }

    /// The database of a place.
    #[must_use]
    pub const fn at(&self, place: Place) -> &Connection {
        match place {
            Place::Store => &self.store,
            Place::Node => &self.memory,
        }
    }
}

fn file(path: &Path, tables: &str) -> rusqlite::Result<Connection> {
    let connection = Connection::open(path)?;
    connection.busy_timeout(Duration::from_secs(5))?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.execute_batch(&format!("BEGIN IMMEDIATE; {tables} COMMIT;"))?;
    Ok(connection)
}

/// What a handle names in a database.
///
/// # Errors
///
/// When the database fails.
pub fn instance(connection: &Connection, handle: &str) -> rusqlite::Result<Option<Instance>> {
    let mut statement = connection.prepare_cached(
        "SELECT owner, shared_with, content, version, lifecycle, expired, approved, revoked, session, superseded \
         FROM resources WHERE handle = ?",
    )?;
    let row = statement.query_row(params![handle], |row| {
        let text = |column: usize| row.get::<_, String>(column);
        let principals = |text: String| -> rusqlite::Result<Vec<Principal>> {
            Ok(from_json::<Vec<StoredPrincipal>>(&text)?.into_iter().map(principal).collect())
        };
        let approved: Option<String> = row.get(6)?;
        let superseded: Option<String> = row.get(9)?;
        Ok(Instance {
            owner: principal(from_json(&text(0)?)?),
            shared_with: principals(text(1)?)?,
            content: from_json(&text(2)?)?,
            version: row.get(3)?,
            lifecycle: text(4)?,
            expired: row.get(5)?,
            approved: approved.as_deref().map(from_json).transpose()?,
            revoked: principals(text(7)?)?,
            session: row.get(8)?,
            superseded: superseded.as_deref().map(from_json).transpose()?,
        })
    });
    row.optional()
}

/// Writes what a handle names.
///
/// # Errors
///
/// When the database fails.
pub fn put_instance(connection: &Connection, handle: &str, instance: &Instance) -> rusqlite::Result<()> {
    let Instance { owner, shared_with, content, version, lifecycle, expired, approved, revoked, session, superseded } =
        instance;
    let principals = |list: &[Principal]| json(&list.iter().map(stored).collect::<Vec<_>>());
    connection
        .prepare_cached("INSERT OR REPLACE INTO resources VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")?
        .execute(params![
            handle,
            json(&stored(owner)),
            principals(shared_with),
            json(content),
            version,
            lifecycle,
            expired,
            approved.as_ref().map(json),
            principals(revoked),
            session,
            superseded.as_ref().map(json),
        ])
        .map(drop)
}

/// The handle of what was minted last under a name that a caller chose.
///
/// # Errors
///
/// When the database fails.
pub fn named(connection: &Connection, scope: &str, name: &str) -> rusqlite::Result<Option<String>> {
    connection
        .prepare_cached("SELECT handle FROM names WHERE scope = ? AND name = ?")?
        .query_row(params![scope, name], |row| row.get(0))
        .optional()
}

/// Gives a name to a handle, whatever had it before.
///
/// # Errors
///
/// When the database fails.
pub fn put_name(connection: &Connection, scope: &str, name: &str, handle: &str) -> rusqlite::Result<()> {
    connection
        .prepare_cached("INSERT OR REPLACE INTO names VALUES (?, ?, ?)")?
        .execute(params![scope, name, handle])
        .map(drop)
}

/// A note under this name.
///
/// # Errors
///
/// When the database fails.
pub fn note(connection: &Connection, name: &str) -> rusqlite::Result<Option<String>> {
    connection
        .prepare_cached("SELECT value FROM notes WHERE name = ?")?
        .query_row(params![name], |row| row.get(0))
        .optional()
}

/// Writes a note over what stands under this name.
///
/// # Errors
///
/// When the database fails.
pub fn put_note(connection: &Connection, name: &str, value: &str) -> rusqlite::Result<()> {
    connection.prepare_cached("INSERT OR REPLACE INTO notes VALUES (?, ?)")?.execute(params![name, value]).map(drop)
}
