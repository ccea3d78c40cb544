//! One process of the server: a node. What becomes of a call from its arrival to its answer.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::params;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use super::answer::Answer;
use super::caller::Caller;
use super::gate::{Command, Gates, Whereabouts};
use super::handling::{self, Handling, Order, Progress};
use super::places::Places;
use super::program::{self, Ran};
use super::request::Request;
use crate::model::design::{OnCancel, Queue};
use crate::model::{Design, Handler, Outcome};

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
    /// The fields that a program of an older schema does not know.
    new_fields: BTreeSet<String>,
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
        new_fields: BTreeSet<String>,
        gates: bool,
    ) -> rusqlite::Result<Self> {
        places.store.execute("DELETE FROM queue WHERE node = ?", params![name])?;
        Ok(Self {
            design: Arc::new(design),
            deployed: deployed.map(Arc::new),
            has_changed_over: AtomicBool::new(false),
            name,
            gates: gates.then(Gates::default),
            new_fields,
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

    /// Handles a call, and waits for its answer; the call may go on behind it. `driven`: the name that a driver gave it.
    /// `closed` tells when its stream is closed.
    pub async fn handle(self: Arc<Self>, arrived: Arrived, driven: Option<String>, closed: CancellationToken) -> Ended {
        let (say, heard) = oneshot::channel();
        // A task of its own: what a closed connection drops is the waiting for it, not the call.
        tokio::spawn(self.live(arrived, driven, closed, Voice(Some(say))));
        heard.await.unwrap_or_else(|_| Ended::Failed { error: "a handler broke off".to_owned(), begun: true })
    }

    async fn live(self: Arc<Self>, arrived: Arrived, driven: Option<String>, closed: CancellationToken, voice: Voice) {
        let mut voice = voice;
        let gates = self.gates.as_ref().zip(driven.as_deref());
        let ended = match self.arrive(&arrived) {
            Ok((attempt, ticket)) => {
                let ended = self.clone().run(arrived, gates, &closed, attempt, ticket, &mut voice).await;
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
        voice.say(ended);
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
        voice: &mut Voice,
    ) -> Ended {
        let handler = arrived.design.server.handler(arrived.request.operation.tool);
        let handler = handler.expect("only what is served is offered");
        let mut progress = Progress::start(arrived.request.handle.clone());
        let mut tries = 0;
        let mut started = false;
        loop {
            let order = match gates {
                Some((gates, name)) => match gates.wait(name).await {
                    Command::Run(order) => Some(order),
                    Command::Cancel => None,
                },
                // Before the first transaction too: nothing has happened yet.
                None if closed.is_cancelled() && !progress.answered => None,
                None => Some(Order::default()),
            };
            let Some(order) = order else {
                match cleaning_up(&arrived, handler, &progress) {
                    Some(rest) => progress = rest,
                    None => return Ended::Cancelled,
                }
                continue;
            };
            while let Some(ticket) = ticket.filter(|_| !started) {
                match self.is_first(ticket) {
                    Ok(true) => break,
                    Ok(false) if closed.is_cancelled() && gates.is_none() && !progress.answered => {
                        return Ended::Cancelled;
                    }
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
                    new_fields: &node.new_fields,
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
                    if next.answered && !progress.answered {
                        voice.say(Ended::Answered(next.answer.clone()));
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

/// To whoever waits for the answer of a call, as long as it was not said.
struct Voice(Option<oneshot::Sender<Ended>>);

impl Voice {
    fn say(&mut self, ended: Ended) {
        if let Some(say) = self.0.take() {
            // Nobody may be there to hear it.
            let _ = say.send(ended);
        }
    }
}

/// What is left to do of a call that is cancelled between two transactions, where its design cleans up then: its `at-end`
/// transactions, which nothing cancels.
fn cleaning_up(arrived: &Arrived, handler: &Handler, progress: &Progress) -> Option<Progress> {
    let cleans_up = arrived.design.server.on_cancel == OnCancel::AtEnd && !handler.at_end.is_empty();
    let between = progress.next > 0 || progress.ending;
    let about = progress.answer.handle.clone().or_else(|| arrived.request.handle.clone());
    (cleans_up && between && !progress.answered).then(|| Progress {
        next: if progress.ending { progress.next } else { 0 },
        ending: true,
        working: None,
        loaded: None,
        answer: Answer { outcome: Outcome::Unknown, ..Answer::about(about) },
        answered: true,
        ..progress.clone()
    })
}
