//! What was said on the streams of sessions, so that a client that has lost a stream can have it again.
//!
//! The SDK remembers what it says on a stream until its answer is on its way, and no longer: a stream that breaks behind
//! its answer could not be resumed, though nobody heard it. So whatever it says is written down here first, and clients are
//! told from what is written: from its beginning, or behind the event that `Last-Event-ID` names. A stream is resumed
//! in its own session only, which belongs to one principal.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use futures::{Stream, StreamExt, stream};
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_server::session::local::{LocalSessionManager, LocalSessionManagerError};
use rmcp::transport::streamable_http_server::session::{RestoreOutcome, ServerSseMessage, SessionId, SessionManager};
use tokio::sync::watch;

/// What was said on one stream so far.
#[derive(Debug, Default)]
struct Said {
    events: Vec<ServerSseMessage>,
    /// Nothing more will be said.
    over: bool,
}

/// A stream of a session.
#[derive(Debug)]
struct Kept {
    session: SessionId,
    said: watch::Receiver<Said>,
}

/// The SDK's sessions, with what was said on their streams.
#[derive(Debug)]
pub(super) struct Streams {
    /// The most streams that are kept once all was said on them; the oldest are forgotten first.
    most: usize,
    /// The SDK's.
    pub sessions: LocalSessionManager,
    /// From the oldest on.
    kept: Mutex<VecDeque<Kept>>,
}

impl Streams {
    /// No sessions yet, and room for so many streams whose answer was said.
    pub fn at_most(most: usize) -> Self {
        Self { most, sessions: LocalSessionManager::default(), kept: Mutex::default() }
    }

    fn kept(&self) -> MutexGuard<'_, VecDeque<Kept>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps a stream that begins. On those that are not over a call still runs, so that there are not too many of them.
    fn keep(&self, session: &SessionId, said: watch::Receiver<Said>) {
        let mut kept = self.kept();
        while kept.iter().filter(|stream| stream.said.borrow().over).count() > self.most {
            let oldest = kept.iter().position(|stream| stream.said.borrow().over).expect("some are over");
            kept.remove(oldest);
        }
        kept.push_back(Kept { session: session.clone(), said });
    }

    /// The stream of a session on which this event was said, and which comes next.
    fn behind(&self, session: &SessionId, event: &str) -> Option<(watch::Receiver<Said>, usize)> {
        let is_it = |said: &ServerSseMessage| said.event_id.as_deref() == Some(event);
        self.kept().iter().filter(|stream| stream.session == *session).find_map(|stream| {
            let at = stream.said.borrow().events.iter().position(is_it)?;
            Some((stream.said.clone(), at + 1))
        })
    }
}

/// What is said on a stream from an event on, as soon as it is said.
fn from(said: watch::Receiver<Said>, next: usize) -> impl Stream<Item = ServerSseMessage> + Send + Sync + 'static {
    stream::unfold((said, next), |(mut said, next)| async move {
        let event = {
            let said = said.wait_for(|said| said.events.len() > next || said.over).await.ok()?;
            said.events.get(next).cloned()?
        };
        Some((event, (said, next + 1)))
    })
}

impl SessionManager for Streams {
    type Error = LocalSessionManagerError;
    type Transport = <LocalSessionManager as SessionManager>::Transport;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), Self::Error> {
        self.sessions.create_session().await
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, Self::Error> {
        self.sessions.initialize_session(id, message).await
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, Self::Error> {
        self.sessions.has_session(id).await
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), Self::Error> {
        self.kept().retain(|stream| stream.session != *id);
        self.sessions.close_session(id).await
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        let mut says = Box::pin(self.sessions.create_stream(id, message).await?);
        let (write, said) = watch::channel(Said::default());
        self.keep(id, said.clone());
        tokio::spawn(async move {
            while let Some(event) = says.next().await {
                write.send_modify(|said| said.events.push(event));
            }
            write.send_modify(|said| said.over = true);
        });
        Ok(from(said, 0))
    }

    async fn accept_message(&self, id: &SessionId, message: ClientJsonRpcMessage) -> Result<(), Self::Error> {
        self.sessions.accept_message(id, message).await
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        self.sessions.create_standalone_stream(id).await
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        match self.behind(id, &last_event_id) {
            Some((said, next)) => Ok(from(said, next).left_stream()),
            // The stream that belongs to no request, or one that nobody knows any more.
            None => Ok(self.sessions.resume(id, last_event_id).await?.right_stream()),
        }
    }

    async fn restore_session(&self, id: SessionId) -> Result<RestoreOutcome<Self::Transport>, Self::Error> {
        self.sessions.restore_session(id).await
    }
}
