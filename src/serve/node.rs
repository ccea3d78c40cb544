//! One process of the server: a node. What becomes of a call from its arrival to its answer.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::params;
use tokio_util::sync::CancellationToken;

use super::answer::Answer;
use super::caller::Caller;
use super::gate::{Command, Gates, Whereabouts};
use super::handling::{self, Handling};
use super::journal::{self, Entry};
use super::places::Places;
use super::program::{self, Ran};
use super::progress::{Order, Progress};
use super::replies::{Replies, Voice};
use super::request::{Request, Stamp};
use super::signed::{Carried, Signer};
use crate::model::design::{LostReply, OnCancel, Place, Queue};
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
    replies: Arc<Replies>,
    signer: Signer,
    places: Mutex<Places>,
}

/// A call that has arrived.
#[derive(Clone, Debug)]
pub struct Arrived {
    /// The id of its request.
    pub id: String,
    /// What its caller calls it, where it does.
    pub name: Option<String>,
    /// A queue has delivered it again.
    pub redelivered: bool,
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
    /// Another call has had its name: nothing happened.
    Taken,
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
            replies: Arc::default(),
            signer: Signer::of(&places.store)?,
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

    /// A request whose handles carry state, as what they name and carry. What nobody has signed names nothing.
    #[must_use]
    pub fn open(&self, request: Request) -> Request {
        let opened = request.handle.as_deref().map(|handle| self.signer.open(handle).unzip());
        let (name, carried) = opened.unwrap_or_default();
        let name_of = |handle: &str| self.signer.open(handle).map(|(name, _)| name).unwrap_or_default();
        let expected = request.expected.iter().map(|stamp| Stamp { handle: name_of(&stamp.handle), ..stamp.clone() });
        let condition = request.condition.map(|mut condition| {
            condition.names.values_mut().for_each(|handle| *handle = name_of(handle));
            condition
        });
        Request {
            condition,
            handle: request.handle.as_ref().map(|_| name.unwrap_or_default()),
            carried,
            expected: expected.collect(),
            presented: request.handle,
            ..request
        }
    }

    /// An answer with a handle that carries the state: the new one after a change, else that of the request.
    #[must_use]
    pub fn seal(&self, mut answer: Answer, request: &Request) -> Answer {
        answer.handle = match (answer.carried.take(), answer.handle) {
            (Some(carried), Some(name)) => Some(self.signer.sign(&name, &carried)),
            (_, name) if name == request.handle => request.presented.clone(),
            (_, name) => name,
        };
        answer
    }

    /// The handle of this name that carries this state.
    #[must_use]
    pub fn sign(&self, name: &str, carried: &Carried) -> String {
        self.signer.sign(name, carried)
    }

    /// Handles a call, and waits for the answer on its stream, which may be that of another; the call may go on behind it. `closed`
    /// tells when the stream is closed.
    pub async fn handle(self: Arc<Self>, arrived: Arrived, closed: CancellationToken) -> (Ended, Option<LostReply>) {
        let (design, name) = (&arrived.design, arrived.name.as_deref());
        let (voice, heard) = self.replies.enter(design, &arrived.id);
        let address = name.and_then(|name| self.replies.address(design, name, arrived.redelivered));
        let by_id = matches!(voice, Voice::ById(..));
        // A task of its own: what a closed connection drops is the waiting for it, not the call.
        tokio::spawn(self.clone().live(arrived, closed.clone(), voice));
        let ended = match heard.await {
            Ok(ended) => ended,
            // Another request has taken its place: nobody will say anything here.
            Err(_) if by_id => {
                closed.cancelled().await;
                Ended::Cancelled
            }
            Err(_) => Ended::Failed { error: "a handler broke off".to_owned(), begun: true },
        };
        (ended, address)
    }

    async fn live(self: Arc<Self>, arrived: Arrived, closed: CancellationToken, mut voice: Voice) {
        let (Arrived { id, design, request, caller, name, .. }, gates) = (arrived.clone(), self.gates.as_ref());
        let gates = gates.zip(name.as_deref());
        let ended = match self.arrive(&arrived) {
            Ok((attempt, ticket)) => {
                let journal = name.as_deref().unwrap_or(&attempt).to_owned();
                let ended = self.clone().run(arrived, gates, &closed, (&attempt, &journal), ticket, &mut voice).await;
                self.leave(&ended, &caller, (&design, &journal), ticket);
                ended
            }
            Err(error) => Ended::Failed { error: error.to_string(), begun: false },
        };
        if let Some(name) = &name {
            self.replies.forget(name);
        }
        if let Some((gates, name)) = gates {
            let cancelled = matches!(ended, Ended::Cancelled);
            gates.put(name, if cancelled { Whereabouts::Cancelled } else { Whereabouts::Answered });
        }
        let how = match &ended {
            Ended::Answered(answer) => answer.outcome.name(),
            Ended::Invalid(_) => "invalid",
            Ended::Taken => "taken",
            Ended::Cancelled => "cancelled",
            Ended::Failed { .. } => "failed",
        };
        let (tool, handle) = (request.operation.name, &request.handle);
        tracing::info!(id, tool, handle, subject = caller.subject, agent = caller.agent, how, "call");
        if let Ended::Failed { error, begun } = &ended {
            tracing::error!(error, begun, "a call failed");
        }
        voice.say(ended);
    }

    /// Goes on with the calls that an earlier process of this name has left in the journal. Not where a driver says what happens.
    ///
    /// # Errors
    ///
    /// When the store fails.
    pub fn take_up(self: &Arc<Self>) -> rusqlite::Result<()> {
        let left = if self.gates.is_none() { journal::left_by(&self.places().store, &self.name)? } else { Vec::new() };
        for (name, entry) in left {
            let Some(design) = self.began_as(&entry.design).filter(|design| program::is_resumed(design)) else {
                continue;
            };
            let (request, caller) = (Arc::new(entry.request), Arc::new(entry.caller));
            let (id, name) = (name.clone(), Some(name));
            let arrived = Arrived { id, design: design.clone(), request, caller, name, redelivered: true };
            tokio::spawn(self.clone().live(arrived, CancellationToken::new(), Voice::Own(None)));
        }
        Ok(())
    }

    /// The design of this name, where this process knows it.
    fn began_as(&self, name: &str) -> Option<&Arc<Design>> {
        [Some(&self.design), self.deployed.as_ref()].into_iter().flatten().find(|design| design.name == name)
    }

    /// A name for the call, and its place in the queue of its handle.
    fn arrive(&self, Arrived { design, request, caller, .. }: &Arrived) -> rusqlite::Result<(String, Option<i64>)> {
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

    /// A call is over: its place in a queue is free, and what was stopped or never happened is not gone on with.
    fn leave(&self, ended: &Ended, caller: &Caller, (design, journal): (&Design, &str), ticket: Option<i64>) {
        if let Some(ticket) = ticket
            && let Err(error) = self.leave_queue(ticket)
        {
            tracing::error!(%error, ticket, "a place in a queue could not be freed");
        }
        if program::is_resumed(design)
            && matches!(ended, Ended::Cancelled | Ended::Invalid(_))
            && let Err(error) = journal::forget(&self.places().store, caller, journal)
        {
            tracing::error!(%error, "a call could not be taken out of the journal");
        }
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

    /// How far a call is by the journal, where it is in one; or how it ended, or can't begin.
    fn so_far(&self, arrived: &Arrived, journal: &str) -> Result<Option<Progress>, Box<Ended>> {
        if !program::is_resumed(&arrived.design) {
            return Ok(None);
        }
        match journal::find(&self.places().store, &arrived.caller, journal) {
            Ok(Some(entry)) if entry.request != *arrived.request => Err(Box::new(Ended::Taken)),
            Ok(Some(Entry { ended: Some(answer), .. })) => Err(Box::new(Ended::Answered(answer))),
            Ok(Some(entry)) => Ok(Some(resumed(&arrived.design, entry.progress))),
            Ok(None) => Ok(None),
            Err(error) => Err(Box::new(Ended::Failed { error: error.to_string(), begun: false })),
        }
    }

    async fn run(
        self: Arc<Self>,
        arrived: Arrived,
        gates: Option<(&Gates, &str)>,
        closed: &CancellationToken,
        (attempt, journal): (&str, &str),
        ticket: Option<i64>,
        voice: &mut Voice,
    ) -> Ended {
        let handler = arrived.design.server.handler(arrived.request.operation.tool);
        let handler = handler.expect("only what is served is offered");
        let mut progress = match self.so_far(&arrived, journal) {
            Ok(there) => there.unwrap_or_else(|| Progress::start(arrived.request.handle.clone())),
            Err(ended) => return *ended,
        };
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
            let (node, call) = (self.clone(), arrived.clone());
            let (attempt, name) = (attempt.to_owned(), journal.to_owned());
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
                    attempt: &attempt,
                    name: &name,
                    node: &node.name,
                    progress: before,
                    new_fields: &node.new_fields,
                    order,
                    at_other: false,
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
                // It goes on behind what the other has done.
                Ok(Ran::Elsewhere) if tries == TRIES => {
                    return Ended::Failed { error: "others go on with it".to_owned(), begun: true };
                }
                Ok(Ran::Elsewhere) => match self.so_far(&arrived, journal) {
                    Ok(Some(there)) => {
                        tries += 1;
                        progress = there;
                    }
                    Ok(None) => return Ended::Cancelled,
                    Err(ended) => return *ended,
                },
                Err(error) => return Ended::Failed { error: error.to_string(), begun: true },
            }
        }
    }
}

/// How far a call is that is taken up again. What the memory of another process had of it is gone.
fn resumed(design: &Design, mut progress: Progress) -> Progress {
    if design.keys.place == Place::Node {
        progress.claim = None;
    }
    progress
}

/// What is left to do of a call that is cancelled between two transactions, where its design cleans up then: its `at-end`
/// transactions, which nothing cancels.
fn cleaning_up(arrived: &Arrived, handler: &Handler, progress: &Progress) -> Option<Progress> {
    let cleans_up = arrived.design.server.on_cancel == OnCancel::AtEnd && !handler.at_end.is_empty();
    let between = progress.next > 0 || progress.ending;
    let about = progress.answer.handle.clone().or_else(|| arrived.request.handle.clone());
    (cleans_up && between && !progress.answered).then(|| {
        let mut rest = Progress {
            next: if progress.ending { progress.next } else { 0 },
            ending: true,
            answer: Answer { outcome: Outcome::Unknown, ..Answer::about(about) },
            answered: true,
            ..progress.clone()
        };
        rest.end_work();
        rest
    })
}
