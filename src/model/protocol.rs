//! Protocol rules: what the transport and the protocol revision do to calls, streams and ids.

use super::vocabulary::named;

/// The protocol of a run for which nobody names another.
pub const DEFAULT_PROTOCOL: &str = "mcp-2026-07-28";

/// The five rules of a protocol file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Protocol {
    /// The name by which it was asked for: a shipped name, or the file's stem.
    pub name: String,
    /// One line.
    pub title: String,
    /// A few sentences, or empty.
    pub about: String,
    /// When may a broken response stream be resumed?
    pub resumable: Resumable,
    /// May state be keyed by a session that dies with its node?
    pub sessions: bool,
    /// What a closed stream does to its call.
    pub closed_stream: ClosedStream,
    /// Who names what is minted.
    pub task_ids: TaskIds,
    /// The request id of a call that is issued again.
    pub reissue: Reissue,
}

named! {
    /// When a broken response stream may be resumed. A restart of the call's node ends it in any case.
    Resumable {
        /// A broken stream stays broken.
        Never = "never",
        /// Once the request has reached a node.
        AfterDelivery = "after-delivery",
        /// At any time.
        Always = "always",
    }
}

named! {
    /// What a closed stream does to its call.
    ClosedStream {
        /// The server may stop the call between two transactions; it need not.
        Cancels = "cancels",
        /// The call keeps executing.
        Continues = "continues",
    }
}

named! {
    /// Who names what is minted.
    TaskIds {
        /// The server makes a fresh handle.
        Server = "server",
        /// The client names it, so two may choose one name.
        Client = "client",
    }
}

named! {
    /// The request id of a call that is issued again.
    Reissue {
        /// A fresh one.
        NewRequestId = "new-request-id",
        /// The one of the first issue.
        SameRequestId = "same-request-id",
    }
}
