//! Driving real servers along a trace, or through a scenario at random, and writing down what they answer.

pub mod agreement;
pub mod audited;
pub mod fleet;
pub mod forced;
pub mod free;
mod http;
pub mod journal;
pub mod mapping;
pub mod note;
mod observer;
mod queue;
pub mod run;
pub mod servers;
mod stdio;
mod striking;
pub mod tally;
mod translate;
pub mod wire;

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use crate::serve::ADDRESS;

pub use self::fleet::tokens_by_agent;
pub use self::http::{Endpoint, Revision, ask_hook};

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// What a server answered to a tool call.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    /// The tool's own result is an error.
    pub is_error: bool,
    /// Its structured content; where there is none, its text, read as JSON if it is JSON.
    pub content: Value,
    /// Where it goes, when a server of ours does not know any more who asked.
    pub to: Option<String>,
}

/// What whoever sends a call says of it besides.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Label {
    /// What the driver calls it.
    pub name: Option<String>,
    /// The id of its request; else the next one of its client.
    pub id: Option<i64>,
    /// It was delivered before.
    pub redelivered: bool,
}

/// Why a call has no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// It never left: nothing happened.
    #[error("the server can't be reached: {0}")]
    Unreachable(String),
    /// Its stream broke: nobody knows what happened.
    #[error("the stream broke: {0}")]
    Broken(String),
    /// No answer came in time: nobody knows what happened.
    #[error("no answer within {} seconds", PATIENCE.as_secs())]
    Late,
    /// The server refused it as a request.
    #[error("{0}")]
    Protocol(String),
}

/// A client of one server.
pub trait Connection: Send + Sync + 'static {
    /// Calls a tool. Whoever drops the future cuts the stream.
    fn call(
        self: Arc<Self>,
        tool: String,
        arguments: Value,
        label: Label,
    ) -> impl Future<Output = Result<Reply, CallError>> + Send;
}

impl Reply {
    /// What a JSON-RPC message says.
    ///
    /// # Errors
    ///
    /// When it holds an error of the protocol.
    pub fn of(message: Value) -> Result<Self, CallError> {
        if let Some(error) = message.get("error") {
            let text = error["message"].as_str().unwrap_or("an error without a message");
            return Err(CallError::Protocol(format!("{text} ({})", error["code"])));
        }
        let result = &message["result"];
        let content = result.get("structuredContent").cloned().unwrap_or_else(|| {
            let texts = result["content"].as_array().into_iter().flatten().filter_map(|block| block["text"].as_str());
            let text = texts.collect::<Vec<_>>().join("\n");
            serde_json::from_str(&text).unwrap_or(Value::String(text))
        });
        let to = result["_meta"][ADDRESS].as_str().map(str::to_owned);
        Ok(Self { is_error: result["isError"] == Value::Bool(true), content, to })
    }
}
