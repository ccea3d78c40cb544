//! Whose sessions are: an id of a session is no credential, and there is room for so many.
//!
//! The SDK keeps sessions of the revision 2025-11-25 by their ids alone. Whoever presents the id of another principal's
//! session is answered as if there were none; and there are at most so many at a time.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use http::{HeaderMap, StatusCode};

use super::caller::Caller;
use super::http::{Reply, text};
use super::streams::Streams;
use crate::model::Principal;

const HEADER: &str = "mcp-session-id";

/// The sessions of one process.
#[derive(Clone, Debug)]
pub(super) struct Sessions {
    most: usize,
    /// The SDK's, with their streams.
    pub manager: Arc<Streams>,
    owners: Arc<Mutex<BTreeMap<String, Principal>>>,
}

/// The id of the session that a request presents.
pub(super) fn id(headers: &HeaderMap) -> Option<String> {
    Some(headers.get(HEADER)?.to_str().unwrap_or_default().to_owned())
}

impl Sessions {
    /// No sessions yet, and room for so many, and for so many streams that somebody may have lost.
    pub fn at_most(most: usize, streams: usize) -> Self {
        Self { most, manager: Arc::new(Streams::at_most(streams)), owners: Arc::default() }
    }

    /// Why a request is not let in, if it is not: it presents a session that is not its caller's, or might open one too
    /// many.
    pub async fn refuse(&self, headers: &HeaderMap, caller: &Caller) -> Option<Reply> {
        if let Some(id) = id(headers) {
            let owners = self.owners.lock().unwrap_or_else(PoisonError::into_inner);
            let own = owners.get(&id) == Some(&caller.principal());
            return (!own).then(|| text(StatusCode::NOT_FOUND, "there is no such session"));
        }
        // Requests of the newer revision name their method in a header, and open no session.
        if headers.contains_key("mcp-method") {
            return None;
        }
        let open = self.manager.sessions.sessions.read().await;
        let full = open.len() >= self.most;
        self.owners.lock().unwrap_or_else(PoisonError::into_inner).retain(|id, _| open.contains_key(id.as_str()));
        full.then(|| text(StatusCode::SERVICE_UNAVAILABLE, "there is no room for another session"))
    }

    /// Notes whose the session is that a reply has opened.
    pub fn note(&self, reply: &HeaderMap, caller: &Caller) {
        if let Some(id) = id(reply) {
            let mut owners = self.owners.lock().unwrap_or_else(PoisonError::into_inner);
            owners.entry(id).or_insert_with(|| caller.principal());
        }
    }
}
