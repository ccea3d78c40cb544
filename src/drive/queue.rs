//! What stands in front of servers whose calls outlive them: a queue, which the driver plays.
//!
//! Clients speak to it, so their streams don't break with a node. What a restart cut off it delivers again, to whatever node the
//! model says, and says that it does; what a node has answered it holds for its client. An answer whose asker a node does not know
//! any more it brings where the node says. It also chooses request ids, which those of two clients may share.

use super::Reply;
use super::forced::{Forced, Sent};
use crate::engine::Access;
use crate::handler::call_at;
use crate::model::design::{LostReply, Replies};
use crate::world::{Call, CallRef, Component, Position};

/// Where request ids begin that a driver chooses.
const FIRST_ID: i64 = 1000;

impl Forced<'_> {
    /// The id of the request with which a call arrives, where it matters: that of the call whose place it takes in the table of a
    /// node, that of its earlier issue, or one that no other has.
    ///
    /// # Errors
    ///
    /// When it would have to be two at once.
    pub(super) fn request_id(&self, call: &Call, takes_from: Option<&Call>) -> Result<Option<i64>, String> {
        if !self.simulation.setting().replies_by_request_id() {
            return Ok(None);
        }
        let issued = call.request.issue.and_then(|issue| self.ids.get(&(call.request.agent, issue)).copied());
        let taken = takes_from.and_then(|taken| self.id_of.get(&self.label(taken)).copied());
        match (issued, taken) {
            (Some(issued), Some(taken)) if issued != taken => {
                Err(format!("the request id would have to be {issued} and {taken}"))
            }
            (issued, taken) => Ok(issued.or(taken).or(Some(FIRST_ID + i64::try_from(self.id_of.len()).unwrap_or(0)))),
        }
    }

    /// Notes with which id a call arrived.
    pub(super) fn note_id(&mut self, call: &Call, id: Option<i64>) {
        let Some(id) = id else { return };
        self.id_of.insert(self.label(call), id);
        if let Some(issue) = call.request.issue {
            self.ids.entry((call.request.agent, issue)).or_insert(id);
        }
    }

    /// A node is about to restart, and calls outlive it: the answers that it has given are with the queue.
    pub(super) async fn hold_answers(&mut self, node: usize, after: &[Component]) -> Result<(), String> {
        let held: Vec<String> =
            self.sent.iter().filter(|(_, sent)| sent.node == node).map(|(id, _)| id.clone()).collect();
        for id in held {
            let answered = |call: &Call| matches!(call.position, Position::Answered { .. });
            if self.handed.contains_key(&id) || !self.all_of(after, &id).iter().any(answered) {
                continue;
            }
            if let Some(Sent { answer: Some(answer), .. }) = self.sent.get_mut(&id) {
                let reply = (&mut *answer).await.map_err(|error| error.to_string())?;
                *answer = tokio::spawn(async { reply });
            }
        }
        Ok(())
    }

    /// A call is answered by a node to which it was delivered again. If that does not know who asked, the answer goes where it
    /// says.
    pub(super) async fn address(&mut self, id: &str, before: &[Component]) -> Result<(), String> {
        let setting = self.simulation.setting();
        let by_table = setting.model.design.server.replies != Replies::PerRequest;
        let Some(sent) = self.sent.get_mut(id).filter(|sent| sent.redelivered && by_table) else { return Ok(()) };
        let Some(answer) = sent.answer.take() else { return Ok(()) };
        let reply = answer.await.map_err(|error| error.to_string())?;
        match reply {
            Ok(Reply { to: Some(to), .. }) if to == LostReply::Nobody.name() => {}
            Ok(Reply { to: Some(to), .. }) if to != LostReply::FirstAgent.name() => {
                return Err(format!("{id} is answered to `{to}`"));
            }
            Ok(reply @ Reply { to: Some(_), .. }) => {
                let access = Access::new(before);
                if access.get(setting.call_slot(0)).call().is_some() {
                    let waiting = call_at(setting, &access, CallRef::open(0)).clone();
                    let waits = !matches!(waiting.position, Position::Answered { .. });
                    waits.then(|| self.handed.insert(self.label(&waiting), reply));
                }
            }
            reply => sent.answer = Some(tokio::spawn(async { reply })),
        }
        Ok(())
    }
}
