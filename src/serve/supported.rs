//! What the server can do: a design that asks for more is refused, with the step or setting that it can't do.

use super::steps;
use crate::model::Design;
use crate::model::design::{Calls, LostReply, NewFields, OnCancel, Replies, State};

/// Why a design can't be served: one sentence for each step or setting that the server does not have. Empty: it can.
#[must_use]
pub fn refusals(design: &Design) -> Vec<String> {
    let server = &design.server;
    let mut refusals = Vec::new();
    for (tool, handler) in &server.tools {
        for step in handler.transactions.iter().chain(&handler.at_end).flatten() {
            if steps::find(step).is_none() {
                refusals.push(format!(
                    "the handler of `{}` has the step `{step}`, which this server can't do",
                    tool.name()
                ));
            }
        }
    }
    refusals.dedup();
    let mut setting = |unserved: bool, name: &str, value: &str, why: &str| {
        if unserved {
            refusals.push(format!("`{name} = \"{value}\"`: {why}"));
        }
    };
    setting(
        matches!(server.state, State::Handle),
        "server.state",
        server.state.name(),
        "it keeps state in the store or in its memory, not in signed handles",
    );
    setting(
        server.calls != Calls::Memory,
        "server.calls",
        server.calls.name(),
        "a call lives and dies with the process that received it",
    );
    setting(
        server.replies != Replies::PerRequest,
        "server.replies",
        server.replies.name(),
        "the SDK answers each request on its own stream",
    );
    setting(
        server.lost_reply != LostReply::Nobody,
        "server.lost-reply",
        server.lost_reply.name(),
        "the SDK answers each request on its own stream",
    );
    setting(
        server.on_cancel == OnCancel::AtEnd,
        "server.on-cancel",
        server.on_cancel.name(),
        "a call that is cancelled stops where it is",
    );
    setting(
        server.new_fields == NewFields::Dropped,
        "server.new-fields",
        server.new_fields.name(),
        "it knows every field that it is sent",
    );
    refusals
}
