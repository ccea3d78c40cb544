//! Handles that carry the state of what they name, signed with a key that all processes of a store share.
//!
//! Whoever holds such a handle can read the state in it, and nobody can make another: the name of the resource, what it
//! carries as JSON, and an HMAC-SHA-256 over both, separated by dots, the last two in base64 for URLs.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use rusqlite::{Connection, params};
use serde::{Deserialize, Serialize};
use sha2::Sha256;

use super::places::json;
use super::request::Fields;

/// The state in a handle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Carried {
    /// Its version.
    pub version: i64,
    /// Its content.
    pub content: Fields,
}

/// Whoever can sign handles.
#[derive(Clone, Debug)]
pub struct Signer {
    key: String,
}

/// Under which name the store keeps the key.
const KEY: &str = "signing-key";

impl Signer {
    /// With the key of this store, which is made when there is none.
    ///
    /// # Errors
    ///
    /// When the store fails.
    pub fn of(store: &Connection) -> rusqlite::Result<Self> {
        store.execute("INSERT OR IGNORE INTO notes VALUES (?, lower(hex(randomblob(32))))", params![KEY])?;
        let key = store.query_row("SELECT value FROM notes WHERE name = ?", params![KEY], |row| row.get(0))?;
        Ok(Self { key })
    }

    fn mac(&self, signed: &str) -> Hmac<Sha256> {
        let mac = Hmac::<Sha256>::new_from_slice(self.key.as_bytes());
        mac.expect("a key may have any length").chain_update(signed.as_bytes())
    }

    /// The handle of this name that carries this state.
    #[must_use]
    pub fn sign(&self, name: &str, carried: &Carried) -> String {
        let signed = format!("{name}.{}", URL_SAFE_NO_PAD.encode(json(carried)));
        let mac = self.mac(&signed).finalize().into_bytes();
        format!("{signed}.{}", URL_SAFE_NO_PAD.encode(mac))
    }

    /// What a handle names and carries; `None`: nobody has signed it.
    #[must_use]
    pub fn open(&self, handle: &str) -> Option<(String, Carried)> {
        let (signed, mac) = handle.rsplit_once('.')?;
        let (name, carried) = signed.rsplit_once('.')?;
        let mac = URL_SAFE_NO_PAD.decode(mac).ok()?;
        self.mac(signed).verify_slice(&mac).ok()?;
        let carried = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(carried).ok()?).ok()?;
        Some((name.to_owned(), carried))
    }
}

/// What a handle says that it names and carries, whoever has signed it.
#[must_use]
pub fn look_into(handle: &str) -> Option<(&str, serde_json::Value)> {
    let (name, carried) = handle.rsplit_once('.')?.0.rsplit_once('.')?;
    Some((name, serde_json::from_slice(&URL_SAFE_NO_PAD.decode(carried).ok()?).ok()?))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_handle_is_opened_as_it_was_signed_and_not_otherwise() {
        let store = Connection::open_in_memory().expect("there is memory");
        store.execute_batch("CREATE TABLE notes (name TEXT PRIMARY KEY, value TEXT)").expect("it can be written");
        let signer = Signer::of(&store).expect("it can be read");
        let carried = Carried { version: 7, content: [("memory".to_owned(), json!(16))].into() };
        let handle = signer.sign("notes.md", &carried);
        assert_eq!(signer.open(&handle), Some(("notes.md".to_owned(), carried.clone())));
        assert_eq!(Signer::of(&store).expect("it can be read").open(&handle).expect("the key is kept").1, carried);
        assert_eq!(look_into(&handle).expect("it can be read").1["content"]["memory"], 16);
        let forged = signer.sign("notes.md", &Carried { version: 8, ..carried.clone() });
        let (signed, _) = forged.rsplit_once('.').expect("it has dots");
        let (_, mac) = handle.rsplit_once('.').expect("it has dots");
        for wrong in [
            format!("{signed}.{mac}"),
            "notes.md".to_owned(),
            format!("x{handle}"),
            format!("{handle}x"),
            String::new(),
        ] {
            assert_eq!(signer.open(&wrong), None, "{wrong}");
        }
    }
}
