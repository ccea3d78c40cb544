//! A real server for a design: the same file that is checked, executed as SQLite transactions behind MCP.
//!
//! A process is a node; several processes on one store are a deployment. `program` runs a handler's list of
//! transactions, `steps` are the steps as SQL, [`places`] says where things are kept, `node` is the life of a call, `mcp`
//! and `http` speak to the outside, with `sessions` and what was said on their `streams`; `replies` says where answers go,
//! `journal` keeps calls that outlive a process, [`signed`] handles carry state; [`gate`] and `hook` let a driver force the
//! order of transactions. It shares names with the model, and no code that decides anything: that both do the
//! same is tested from outside.

pub mod answer;
pub mod caller;
mod changing;
pub mod gate;
mod handling;
mod hook;
mod http;
mod journal;
mod mcp;
mod node;
pub mod places;
mod program;
mod progress;
mod reading;
mod replies;
pub mod request;
mod seed;
mod sessions;
pub mod signed;
mod steps;
mod streams;
mod supported;

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use rmcp::ServiceExt;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

pub use self::caller::{Caller, Tokens};
pub use self::handling::Scope;
pub use self::http::{Bounds, Door, PATH};
pub use self::mcp::{ADDRESS, CALL_NAME, REDELIVERED};
pub use self::node::Node;
pub use self::progress::Order;
pub use self::seed::{CREDENTIALS, at_start, json, tokens_of};
pub use self::supported::{new_fields, refusals};
use crate::model::{Design, Scenario};

/// Why the server does not start or stops.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The store can't be used.
    #[error("the store can't be used: {0}")]
    Store(#[from] rusqlite::Error),
    /// An address can't be used.
    #[error("can't listen on {0}: {1}")]
    Listen(SocketAddr, std::io::Error),
    /// Standard input and output are no channel to a client.
    #[error("the client said nothing that this server understands: {0}")]
    Stdio(String),
}

/// Opens the store, and puts into it what a scenario has at the start if nobody has done so. `deployed`: what the node
/// changes over to when its hook is told so.
///
/// # Errors
///
/// When the store can't be used.
pub fn node(
    (design, deployed): (Design, Option<Design>),
    name: String,
    store: &Path,
    scenario: Option<&Scenario>,
    gates: bool,
) -> Result<Arc<Node>, ServeError> {
    let places = places::Places::open(store)?;
    if let Some(scenario) = scenario
        && seed::seed(&places, &design, scenario)?
    {
        tracing::info!(scenario = scenario.name, "the store is new, and holds what the scenario has at the start");
    }
    let new_fields = scenario.map(new_fields).unwrap_or_default();
    Ok(Arc::new(Node::new((design, deployed), name, places, new_fields, gates)?))
}

/// A bound listener, and where it listens.
///
/// # Errors
///
/// When the address can't be used.
pub async fn listen(at: SocketAddr) -> Result<(TcpListener, SocketAddr), ServeError> {
    let listener = TcpListener::bind(at).await.map_err(|error| ServeError::Listen(at, error))?;
    let bound = listener.local_addr().map_err(|error| ServeError::Listen(at, error))?;
    Ok((listener, bound))
}

/// Serves MCP over HTTP, and the hook where there is one, until it is told to stop.
pub async fn over_http(
    node: Arc<Node>,
    listener: TcpListener,
    door: Door,
    hook: Option<TcpListener>,
    stop: CancellationToken,
) {
    go_on(&node);
    let serving = http::serve(listener, node.clone(), door, stop.clone());
    match hook {
        Some(hook) => {
            tokio::join!(serving, hook::serve(hook, node, stop));
        }
        None => serving.await,
    }
}

/// Goes on with what an earlier process of the same name has left in the journal.
fn go_on(node: &Arc<Node>) {
    if let Err(error) = node.take_up() {
        tracing::error!(%error, "the journal could not be read");
    }
}

/// Serves MCP on standard input and output for one caller, until the client closes them.
///
/// # Errors
///
/// When the client does not speak MCP.
pub async fn over_stdio(node: Arc<Node>, caller: Caller, stop: CancellationToken) -> Result<(), ServeError> {
    go_on(&node);
    let service = mcp::Service::of(node, caller);
    let transport = rmcp::transport::io::stdio_pipes();
    let running = service.serve_with_ct(transport, stop).await.map_err(|error| ServeError::Stdio(error.to_string()))?;
    running.waiting().await.map_err(|error| ServeError::Stdio(error.to_string()))?;
    Ok(())
}
