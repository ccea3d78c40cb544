//! MCP over the standard input and output of a process that the driver starts, by the SDK's client.
//!
//! Such a process has one stream for all calls: it breaks with the process. A call that its client gives up is cancelled by a
//! notification, and no more is heard of it.

use std::sync::Arc;

use rmcp::model::{CallToolRequestParams, JsonObject};
use rmcp::serve_client;
use rmcp::service::{RoleClient, RunningService, ServiceError};
use rmcp::transport::TokioChildProcess;
use serde_json::Value;

use super::{CallError, Connection, Label, PATIENCE, Reply};

/// A client of a process.
#[derive(Debug)]
pub struct Process {
    running: RunningService<RoleClient, ()>,
}

impl Process {
    /// Starts a process by a command of the shell, and introduces itself. The process is killed with this value.
    ///
    /// # Errors
    ///
    /// When it does not start, or does not speak MCP.
    pub async fn start(command: &str, node: usize, run: u64) -> Result<Self, String> {
        let mut shell = tokio::process::Command::new("sh");
        // The shell becomes the process, so that killing it kills that.
        shell
            .arg("-c")
            .arg(format!("exec {command}"))
            .env("HANDLECHECK_NODE", node.to_string())
            .env("HANDLECHECK_RUN", run.to_string())
            .kill_on_drop(true);
        let builder = TokioChildProcess::builder(shell).stderr(std::process::Stdio::null());
        let (transport, _) = builder.spawn().map_err(|error| format!("`{command}`: {error}"))?;
        let introduced = tokio::time::timeout(PATIENCE, serve_client((), transport)).await;
        let introduced = introduced.map_err(|_| format!("`{command}`: it does not answer `initialize`"))?;
        let running = introduced.map_err(|error| format!("`{command}`: {error}"))?;
        Ok(Self { running })
    }
}

impl Connection for Process {
    async fn call(self: Arc<Self>, tool: String, arguments: Value, _: Label) -> Result<Reply, CallError> {
        let arguments: JsonObject = arguments.as_object().cloned().unwrap_or_default();
        let params = CallToolRequestParams::new(tool).with_arguments(arguments);
        let result = tokio::time::timeout(PATIENCE, self.running.peer().call_tool(params)).await;
        let result = result.map_err(|_| CallError::Late)?;
        let result = result.map_err(|error| match error {
            ServiceError::McpError(error) => CallError::Protocol(error.to_string()),
            error => CallError::Broken(error.to_string()),
        })?;
        let result = serde_json::to_value(result).map_err(|error| CallError::Protocol(error.to_string()))?;
        Reply::of(serde_json::json!({ "result": result }))
    }
}
