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
pub mod run;
pub mod servers;
mod stdio;
mod striking;
mod translate;
pub mod wire;

use std::sync::Arc;

use serde_json::Value;

pub use self::fleet::tokens_by_agent;
pub use self::http::{Endpoint, Revision, ask_hook};

/// What a server answered to a tool call.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    /// The tool's own result is an error.
    pub is_error: bool,
    /// Its structured content; where there is none, its text, read as JSON if it is JSON.
    pub content: Value,
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
    /// The server refused it as a request.
    #[error("{0}")]
    Protocol(String),
}

/// A client of one server.
pub trait Connection: Send + Sync + 'static {
    /// Calls a tool. Whoever drops the future cuts the stream. `name`: what the driver calls the call.
    fn call(
        self: Arc<Self>,
        tool: String,
        arguments: Value,
        name: Option<String>,
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
        Ok(Self { is_error: result["isError"] == Value::Bool(true), content })
    }
}
