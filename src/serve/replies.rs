//! Where answers go: each on the stream of its own request; or, as a design has it, by a table in the memory of the process.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

use super::node::Ended;
use crate::model::Design;
use crate::model::design::{LostReply, Replies as By};

/// The tables of a process.
#[derive(Debug, Default)]
pub(super) struct Replies {
    /// The stream of the request that came last with an id.
    streams: Mutex<BTreeMap<String, oneshot::Sender<Ended>>>,
    /// The calls of which this process knows who asked.
    asked: Mutex<BTreeSet<String>>,
}

/// To whoever waits for the answer of a call, as long as it was not said.
#[derive(Debug)]
pub(super) enum Voice {
    /// The one who sent it.
    Own(Option<oneshot::Sender<Ended>>),
    /// Whoever the table has under its request id by then.
    ById(Arc<Replies>, Option<String>),
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Replies {
    /// A request arrives: the way that its answer will take, and where what comes on its own stream is heard.
    pub fn enter(self: &Arc<Self>, design: &Design, id: &str) -> (Voice, oneshot::Receiver<Ended>) {
        let (say, heard) = oneshot::channel();
        if design.server.replies != By::ByRequestId {
            return (Voice::Own(Some(say)), heard);
        }
        let mut streams = lock(&self.streams);
        // What is closed leads nowhere, there or not.
        streams.retain(|_, stream| !stream.is_closed());
        streams.insert(id.to_owned(), say);
        (Voice::ById(self.clone(), Some(id.to_owned())), heard)
    }

    /// Where the answer of a call goes that a queue has delivered again, when this process does not know who asked; `None`: it
    /// does, or whoever asked is a part of the call.
    pub fn address(&self, design: &Design, name: &str, redelivered: bool) -> Option<LostReply> {
        let server = &design.server;
        if server.replies == By::PerRequest {
            return None;
        }
        let mut asked = lock(&self.asked);
        if !redelivered {
            asked.insert(name.to_owned());
        }
        (!asked.contains(name)).then_some(server.lost_reply)
    }

    /// A call is over.
    pub fn forget(&self, name: &str) {
        lock(&self.asked).remove(name);
    }
}

impl Voice {
    /// Says how a call ended, once.
    pub fn say(&mut self, ended: Ended) {
        let say = match self {
            Self::Own(say) => say.take(),
            Self::ById(replies, id) => id.take().and_then(|id| lock(&replies.streams).remove(&id)),
        };
        if let Some(say) = say {
            // Nobody may be there to hear it.
            let _ = say.send(ended);
        }
    }
}
