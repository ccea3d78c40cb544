//! Faults: what may go wrong, each within its budget.
//!
//! Each is one file of this folder; its page is the comment at the file's top. Spending the budget is done for all of
//! them in one place, by the step function.

use crate::action::Target;
use crate::engine::Access;
use crate::handler::{Executed, Programs};
use crate::model::Tool;
use crate::table::table;
use crate::world::{Call, Component, Fact, Position, Setting};

/// One fault.
#[derive(Debug)]
pub struct Fault {
    /// What it strikes: each is a source of its own.
    pub strikes: Strikes,
    /// What it can strike now, of the source with this number.
    pub targets: fn(&Setting, &Programs, &Access<'_, Component>, usize) -> Vec<Target>,
    /// Into how many parts it falls; nearly always 1.
    pub parts: fn(&Setting) -> usize,
    /// Strikes: executes one part.
    pub strike: fn(&mut Strike<'_, '_>, Target, usize) -> Vec<Fact>,
}

/// What a fault strikes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strikes {
    /// Agents, or their open calls.
    Agents,
    /// Nodes.
    Nodes,
    /// Resources.
    Resources,
    /// Key tables.
    Keys,
    /// Leases on a resource.
    Leases,
    /// Principals.
    Principals,
    /// What the balancer remembers: clients, or resources.
    Routes,
}

/// A fault while it strikes.
pub struct Strike<'f, 'a> {
    /// The static part of the run.
    pub setting: &'f Setting,
    /// The handlers.
    pub programs: &'f Programs,
    /// The state.
    pub access: &'f mut Access<'a, Component>,
    /// What came of a transaction, where the fault is that one is executed with bad luck.
    pub executed: Option<Executed>,
}

table! {
    /// Every fault, in the order of the documentation.
    FAULTS: Fault in FAULT {
        drop_stream,
        restart_node,
        expire_handle,
        expire_key,
        expire_claim,
        expire_lease,
        leak_handle,
        revoke,
        rotate_credential,
        compact,
        ambiguous_commit,
        stale_read,
        recreate,
        duplicate_call,
        stop_agent,
        reroute,
    }
}

/// A fault that happens in one piece.
const fn one_part(_: &Setting) -> usize {
    1
}

pub use drop_stream::break_for_good;
pub use restart_node::{ORPHANS, loses_only_calls, set_of, sources as sources_of_restarts};

/// The fault by whose name a node restarts: what is deployed may come with a restart too.
pub const RESTART_NODE: &Fault = &restart_node::FAULT;

/// Whether some agent acts for a principal.
fn acts(setting: &Setting, principal: u8) -> bool {
    (0..setting.agents()).any(|agent| setting.principal(agent) == principal)
}

/// That the answer of a mint is lost, if this call is one that minted.
fn lost_mint(call: &Call) -> Option<Fact> {
    let minted = call.request.tool == Tool::Mint && !matches!(call.position, Position::InTransit);
    minted.then_some(Fact::MintLost)
}
