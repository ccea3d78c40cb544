//! One process of the server: a node. What becomes of a call from its arrival to its answer.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::params;
use tokio_util::sync::CancellationToken;

use super::answer::Answer;
use super::caller::Caller;
use super::gate::{Command, Gates, Whereabouts};
use super::handling::{self, Handling, Order, Progress};
use super::places::Places;
use super::program::{self, Ran};
use super::request::Request;
use crate::model::Design;
use crate::model::design::Queue;

/// One process of the server.
#[derive(Debug)]
pub struct Node {
    design: Arc<Design>,
    /// What it changes over to when it is told so.
    deployed: Option<Arc<Design>>,
    has_changed_over: AtomicBool,
    /// Its name among the processes of one store.
    pub name: String,
    /// Its gates, where a driver may close them.
    pub gates: Option<Gates>,
    places: Mutex<Places>,
}

/// A call that has arrived.
#[derive(Clone, Debug)]
pub struct Arrived {
    /// How it is handled: as it began, whatever its node changes over to.
    pub design: Arc<Design>,
    /// What it asks for.
    pub request: Arc<Request>,
    /// Who sent it.
    pub caller: Arc<Caller>,
}

/// How a call ended.
#[derive(Debug)]
pub enum Ended {
    /// With this answer.
    Answered(Answer),
    /// Its arguments don't fit what is stored.
    Invalid(String),
    /// Its stream was closed, and it was stopped between two transactions.
    Cancelled,
    /// The store failed. What earlier transactions of the call did stays.
    Failed {
        /// How.
        error: String,
        /// Some transaction of the call had begun.
        begun: bool,
    },
}

/// How often a call looks whether it is its turn.
const TURN: Duration = Duration::from_millis(2);
/// How often a transaction is tried that the store answers with errors, before the node gives up.
const TRIES: usize = 8;

impl Node {
    /// A node of this name on these databases. What an earlier process of this name left in queues is gone with it.
    ///
    /// # Errors
    ///
    /// When the store fails.
    pub fn new(
        (design, deployed): (Design, Option<Design>),
        name: String,
        places: Places,
        gates: bool,
    ) -> rusqlite::Result<Self> {
        places.store.execute("DELETE FROM queue WHERE node = ?", params![name])?;
        Ok(Self {
            design: Arc::new(design),
            deployed: deployed.map(Arc::new),
            has_changed_over: AtomicBool::new(false),
            name,
            gates: gates.then(Gates::default),
            places: Mutex::new(places),
        })
    }

    /// How calls that arrive now are handled.
    pub fn design(&self) -> &Arc<Design> {
        let deployed = self.deployed.as_ref().filter(|_| self.has_changed_over.load(Ordering::SeqCst));
        deployed.unwrap_or(&self.design)
    }

    /// Changes over to what is deployed, and keeps its memory and the calls that it handles. Answers whether something is.
    pub fn change_over(&self) -> bool {
        self.has_changed_over.store(true, Ordering::SeqCst);
        self.deployed.is_some()
    }

    /// The databases. A panic of another call leaves no transaction open: each ends its own.
    pub fn places(&self) -> MutexGuard<'_, Places> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Handles a call. `driven`: the name that a driver gave it. `closed` tells when its stream is closed.
    pub async fn handle(self: Arc<Self>, arrived: Arrived, driven: Option<String>, closed: CancellationToken) -> Ended {
        let gates = self.gates.as_ref().zip(driven.as_deref());
        let ended = match self.arrive(&arrived) {
            Ok((attempt, ticket)) => {
                let ended = self.clone().run(arrived, gates, &closed, attempt, ticket).await;
                if let Some(ticket) = ticket
                    && let Err(error) = self.leave_queue(ticket)
                {
                    tracing::error!(%error, ticket, "a place in a queue could not be freed");
                }
                ended
            }
            Err(error) => Ended::Failed { error: error.to_string(), begun: false },
        };
        if let Some((gates, name)) = gates {
            let cancelled = matches!(ended, Ended::Cancelled);
            gates.put(name, if cancelled { Whereabouts::Cancelled } else { Whereabouts::Answered });
        }
        ended
    }

    /// A name for the call, and its place in the queue of its handle.
    fn arrive(&self, Arrived { design, request, caller }: &Arrived) -> rusqlite::Result<(String, Option<i64>)> {
        let places = self.places();
        handling::arrive(design, &places, caller)?;
        let attempt = places.memory.query_row("SELECT lower(hex(randomblob(16)))", [], |row| row.get(0))?;
        let queue = (design.server.queue == Queue::PerHandle).then_some(request.handle.as_ref()).flatten();
        let ticket = queue.map(|handle| {
            let mut insert = places.store.prepare_cached("INSERT INTO queue (handle, node) VALUES (?, ?)")?;
            insert.insert(params![handle, self.name])
        });
        Ok((attempt, ticket.transpose()?))
    }

    fn leave_queue(&self, ticket: i64) -> rusqlite::Result<()> {
        self.places().store.execute("DELETE FROM queue WHERE ticket = ?", params![ticket]).map(drop)
    }

    /// Whether a call is the first in the queue of its handle.
    fn is_first(&self, ticket: i64) -> rusqlite::Result<bool> {
        let sql = "SELECT NOT EXISTS (SELECT 1 FROM queue AS other JOIN queue AS own USING (handle) \
                   WHERE own.ticket = ? AND other.ticket < own.ticket)";
        self.places().store.prepare_cached(sql)?.query_row(params![ticket], |row| row.get(0))
    }

    async fn run(
        self: Arc<Self>,
        arrived: Arrived,
        gates: Option<(&Gates, &str)>,
        closed: &CancellationToken,
        attempt: String,
        ticket: Option<i64>,
    ) -> Ended {
        let mut progress = Progress::start(arrived.request.handle.clone());
        let mut tries = 0;
        let mut started = false;
        loop {
            let order = match gates {
                Some((gates, name)) => match gates.wait(name).await {
                    Command::Run(order) => order,
                    Command::Cancel => return Ended::Cancelled,
                },
                // Before the first transaction too: nothing has happened yet.
                None if closed.is_cancelled() => return Ended::Cancelled,
                None => Order::default(),
            };
            while let Some(ticket) = ticket.filter(|_| !started) {
                match self.is_first(ticket) {
                    Ok(true) => break,
                    Ok(false) if closed.is_cancelled() && gates.is_none() => return Ended::Cancelled,
                    Ok(false) => tokio::time::sleep(TURN).await,
                    Err(error) => return Ended::Failed { error: error.to_string(), begun: false },
                }
            }
            started = true;
            let (node, call, name) = (self.clone(), arrived.clone(), attempt.clone());
            let before = progress.clone();
            let ran = tokio::task::spawn_blocking(move || {
                let handler = call.design.server.handler(call.request.operation.tool);
                let handler = handler.expect("only what is served is offered");
                let places = node.places();
                let handling = Handling {
                    design: &call.design,
                    places: &places,
                    request: &call.request,
                    own: &call.caller,
                    attempt: &name,
                    progress: before,
                    order,
                };
                program::execute(handler, handling)
            });
            match ran.await {
                Ok(Ran::Goes(next)) => {
                    tries = if next.next == progress.next && next.ending == progress.ending { tries + 1 } else { 0 };
                    if tries > TRIES {
                        return Ended::Failed { error: "the store answers with errors".to_owned(), begun: true };
                    }
                    progress = *next;
                }
                Ok(Ran::Answered(answer)) => return Ended::Answered(*answer),
                Ok(Ran::Invalid(why)) => return Ended::Invalid(why),
                Err(error) => return Ended::Failed { error: error.to_string(), begun: true },
            }
        }
    }
}
