//! What earlier steps of a run leave to say about a later one.

use crate::trace::{CallNote, Reaches, Step};

/// What was sent, and which answers went astray.
#[derive(Debug, Default)]
pub struct Past {
    /// Each request that was sent, by its agent.
    sent: Vec<(String, CallNote)>,
    /// The request out of whose stream an answer came, and the request that it answers.
    astray: Vec<(String, String)>,
}

impl Past {
    /// Takes down a step.
    pub(super) fn note(&mut self, step: &Step) {
        let (Some(agent), Some(call)) = (&step.does.agent, &step.call) else { return };
        if step.does.action == "send" {
            self.sent.push((agent.clone(), call.clone()));
        }
        let reaches = step.answer.as_ref().map(|answer| &answer.reaches);
        if let (Some(Reaches::StreamOf(taker)), Some(request)) = (reaches, &step.does.request) {
            self.astray.push((taker.clone(), request.clone()));
        }
    }

    /// The last request of an agent before this one for the same work.
    pub(super) fn earlier(&self, agent: &str, call: &CallNote) -> Option<&CallNote> {
        let same = |(other, earlier): &&(String, CallNote)| {
            other == agent && earlier.entry == call.entry && earlier.tool == call.tool
        };
        self.sent.iter().rev().find(same).map(|(_, earlier)| earlier)
    }

    /// The request whose answer came out of the stream of this one, where that is another.
    pub(super) fn astray(&self, request: &str) -> Option<&str> {
        let to = |(taker, _): &&(String, String)| taker == request;
        self.astray.iter().rev().find(to).map(|(_, of)| of.as_str())
    }
}
