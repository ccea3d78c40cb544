//! Key tables: which calls were done already.

use super::call::{Answer, Key, Payload, Stamp};
use super::resource::Handle;
use crate::model::{Operation, Tool};

/// The table of one scope, sorted by instance and key.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct KeyTable {
    /// The slot in which this table is.
    pub slot: u16,
    /// What stands under each key, in the order of the keys.
    pub records: Vec<(RecordKey, Record)>,
}

/// A key, with what of the scope is only known when the call is made.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RecordKey {
    /// Where the scope holds the handle, the instance that the call named.
    pub instance: Option<u8>,
    /// Where the scope holds the credential, which one it was.
    pub credential: Option<u8>,
    /// The key.
    pub key: Key,
}

/// What stands under a key.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Record {
    /// A call is working on it.
    Claim {
        /// The claim's number: how the call knows its own.
        claim: u16,
        /// The principal whose call it is (ghost).
        by: u8,
        /// The handle that the call named (ghost).
        handle: Option<Handle>,
    },
    /// A call is done.
    Done {
        /// What "the same arguments" is compared by.
        fingerprint: Box<Fingerprint>,
        /// Its answer.
        answer: Answer,
        /// The principal whose call it was (ghost).
        by: u8,
        /// The handle that the call named (ghost).
        handle: Option<Handle>,
    },
}

/// What "the same arguments" is compared by; parts that the design leaves out are `None`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Fingerprint {
    /// Tool, fields and values.
    pub operation: Option<(Tool, Payload)>,
    /// The handle.
    pub handle: Option<Option<Handle>>,
    /// The expected versions.
    pub expected: Option<Vec<Stamp>>,
    /// What is changed besides, where the operation counts.
    pub other: Option<(Handle, Operation)>,
}

impl KeyTable {
    /// What stands under a key.
    #[must_use]
    pub fn find(&self, key: &RecordKey) -> Option<&Record> {
        self.records.binary_search_by(|(other, _)| other.cmp(key)).ok().map(|at| &self.records[at].1)
    }

    /// Writes over what stands under a key.
    pub fn insert(&mut self, key: RecordKey, record: Record) {
        match self.records.binary_search_by(|(other, _)| other.cmp(&key)) {
            Ok(at) => self.records[at].1 = record,
            Err(at) => self.records.insert(at, (key, record)),
        }
    }

    /// Removes what stands under a key.
    pub fn remove(&mut self, key: &RecordKey) {
        self.records.retain(|(other, _)| other != key);
    }
}
