//! The journal of calls, for designs that have them resumed: what each asks for and how far it is, in the store.
//!
//! How far a call is is written in the transaction that brings it there, so that whoever takes it up begins behind the last one
//! that was committed. Two that go on with one call can't both: each writes over the number that it has read, and whoever finds
//! another one stops.

use rusqlite::{Connection, OptionalExtension, params};
use serde::{Deserialize, Serialize};

use super::answer::Answer;
use super::caller::Caller;
use super::places::{from_json, json, stored};
use super::progress::Progress;
use super::request::Request;

/// What the journal has of a call.
#[derive(Debug, Serialize, Deserialize)]
pub struct Entry {
    /// What it asks for.
    pub request: Request,
    /// Who sent it.
    pub caller: Caller,
    /// The name of the design as which it began.
    pub design: String,
    /// How far it is.
    pub progress: Progress,
    /// How it was answered, when it is over.
    pub ended: Option<Answer>,
}

/// The table of it.
pub const TABLE: &str = "
    CREATE TABLE IF NOT EXISTS calls (
        number INTEGER PRIMARY KEY, owner TEXT NOT NULL, name TEXT NOT NULL, node TEXT NOT NULL, executed INTEGER NOT NULL,
        ended INTEGER NOT NULL, entry TEXT NOT NULL, UNIQUE (owner, name)
    ) STRICT;
";

/// How many calls are remembered when they are over.
const MOST_ENDED: i64 = 10_000;

/// Among whose calls a name is: those of one principal.
fn owner(caller: &Caller) -> String {
    json(&stored(&caller.principal()))
}

/// What is there of a call of this name.
///
/// # Errors
///
/// When the store fails.
pub fn find(store: &Connection, caller: &Caller, name: &str) -> rusqlite::Result<Option<Entry>> {
    let mut found = store.prepare_cached("SELECT entry FROM calls WHERE owner = ? AND name = ?")?;
    let entry: Option<String> = found.query_row(params![owner(caller), name], |row| row.get(0)).optional()?;
    entry.as_deref().map(from_json).transpose()
}

/// Whether a call has run so many transactions, by what is there of it; none where nothing is.
///
/// # Errors
///
/// When the store fails.
pub fn is_at(store: &Connection, caller: &Caller, name: &str, executed: i64) -> rusqlite::Result<bool> {
    let mut found = store.prepare_cached("SELECT executed, ended FROM calls WHERE owner = ? AND name = ?")?;
    let there = found.query_row(params![owner(caller), name], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
    Ok(there.unwrap_or((0, false)) == (executed, false))
}

/// The names of the calls that a node of this name has left unfinished, and what is there of each.
///
/// # Errors
///
/// When the store fails.
pub fn left_by(store: &Connection, node: &str) -> rusqlite::Result<Vec<(String, Entry)>> {
    let mut found =
        store.prepare_cached("SELECT name, entry FROM calls WHERE node = ? AND NOT ended ORDER BY number")?;
    let rows = found.query_map(params![node], |row| Ok((row.get(0)?, from_json(&row.get::<_, String>(1)?)?)))?;
    rows.collect()
}

/// Writes how far a call is, whose transactions until then were one fewer. Answers whether it was so: nobody else has gone on
/// with it.
///
/// # Errors
///
/// When the store fails.
pub fn write(store: &Connection, name: &str, node: &str, entry: &Entry) -> rusqlite::Result<bool> {
    let (owner, executed, text) = (owner(&entry.caller), entry.progress.executed, json(entry));
    if executed == 1 {
        let mut forget = store.prepare_cached(
            "DELETE FROM calls WHERE ended AND number <= (SELECT max(number) FROM calls WHERE ended) - ?",
        )?;
        forget.execute(params![MOST_ENDED])?;
        let mut begin = store.prepare_cached(
            "INSERT OR IGNORE INTO calls (owner, name, node, executed, ended, entry) VALUES (?, ?, ?, ?, ?, ?)",
        )?;
        return Ok(begin.execute(params![owner, name, node, executed, entry.ended.is_some(), text])? == 1);
    }
    let mut go_on = store.prepare_cached(
        "UPDATE calls SET node = ?, executed = ?, ended = ?, entry = ? WHERE owner = ? AND name = ? AND executed = ?",
    )?;
    let before = executed - 1;
    Ok(go_on.execute(params![node, executed, entry.ended.is_some(), text, owner, name, before])? == 1)
}

/// Writes how far a call is, whatever is there of it: its process takes its last transaction for failed.
///
/// # Errors
///
/// When the store fails.
pub fn set_back(store: &Connection, name: &str, node: &str, entry: &Entry) -> rusqlite::Result<()> {
    if entry.progress.executed == 0 && entry.ended.is_none() {
        return forget(store, &entry.caller, name);
    }
    let (executed, ended) = (entry.progress.executed, entry.ended.is_some());
    store
        .prepare_cached(
            "INSERT OR REPLACE INTO calls (owner, name, node, executed, ended, entry) VALUES (?, ?, ?, ?, ?, ?)",
        )?
        .execute(params![owner(&entry.caller), name, node, executed, ended, json(entry)])
        .map(drop)
}

/// Forgets a call: it was stopped, or never happened.
///
/// # Errors
///
/// When the store fails.
pub fn forget(store: &Connection, caller: &Caller, name: &str) -> rusqlite::Result<()> {
    store
        .prepare_cached("DELETE FROM calls WHERE owner = ? AND name = ?")?
        .execute(params![owner(caller), name])
        .map(drop)
}
