//! The server as the protocol sees it: its tools, by the official SDK.

use std::borrow::Cow;
use std::sync::Arc;

use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ErrorData, Implementation, ListToolsResult,
    PaginatedRequestParams, ProtocolVersion, ServerCapabilities, ServerConfig, Tool, ToolAnnotations,
};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::{Value, json};

use super::caller::Caller;
use super::gate::CALL_NAME;
use super::node::{Arrived, Ended, Node};
use super::request::{self, Operation, Request};
use crate::model::{Outcome, Tool as Handled};

/// The revisions that it speaks.
const REVISIONS: &[ProtocolVersion] = &[ProtocolVersion::V_2025_11_25, ProtocolVersion::V_2026_07_28];

/// The server, once for each connection or request: all state is in its node.
#[derive(Clone, Debug)]
pub struct Service {
    node: Arc<Node>,
    /// Who calls, where that is settled for the whole connection; else it comes with each request.
    caller: Option<Caller>,
}

impl Service {
    /// A service whose callers come with their requests.
    #[must_use]
    pub const fn new(node: Arc<Node>) -> Self {
        Self { node, caller: None }
    }

    /// A service for one caller: that of a process on standard input and output.
    #[must_use]
    pub const fn of(node: Arc<Node>, caller: Caller) -> Self {
        Self { node, caller: Some(caller) }
    }

    /// Who calls. Requests over HTTP carry what their token stands for.
    fn caller(&self, context: &RequestContext<RoleServer>) -> Option<Caller> {
        let parts = context.extensions.get::<http::request::Parts>();
        self.caller.clone().or_else(|| parts?.extensions.get::<Caller>().cloned())
    }
}

impl ServerHandler for Service {
    fn get_info(&self) -> ServerConfig {
        let design = self.node.design();
        let about = format!(
            "A reference server for the design `{}` ({}). Every call names a handle; what is refused says why in \
             `outcome`. It is for reading and for trials, not for production.",
            design.name, design.title
        );
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("handlecheck", env!("CARGO_PKG_VERSION")))
            .with_instructions(about)
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(REVISIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(request::served(&self.node.design().server).map(tool).collect()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        request::served(&self.node.design().server).find(|operation| operation.name == name).map(tool)
    }

    async fn call_tool(
        &self,
        params: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(caller) = self.caller(&context) else {
            return Err(ErrorData::internal_error("nobody said who calls", None));
        };
        let design = self.node.design().clone();
        let operation = request::served(&design.server).find(|operation| operation.name == params.name);
        let Some(operation) = operation else {
            return Err(ErrorData::invalid_params(format!("there is no tool `{}`", params.name), None));
        };
        let arguments = Value::Object(params.arguments.unwrap_or_default());
        let request = Request::parse(operation, arguments).map_err(|why| ErrorData::invalid_params(why, None))?;
        let meta = context.meta.0.get(CALL_NAME).or_else(|| params.meta.as_ref()?.0.get(CALL_NAME)).cloned();
        let driven = meta.and_then(|name| name.as_str().map(str::to_owned)).filter(|_| self.node.gates.is_some());
        let (tool, handle, id) = (operation.name, request.handle.clone(), context.id.to_string());
        let arrived = Arrived { design, request: Arc::new(request), caller: Arc::new(caller.clone()) };
        let ended = self.node.clone().handle(arrived, driven, context.ct.clone()).await;
        let how = match &ended {
            Ended::Answered(answer) => answer.outcome.name(),
            Ended::Invalid(_) => "invalid",
            Ended::Cancelled => "cancelled",
            Ended::Failed { .. } => "failed",
        };
        tracing::info!(id, tool, handle, subject = caller.subject, agent = caller.agent, how, "call");
        match ended {
            Ended::Answered(answer) => {
                let structured = serde_json::to_value(&answer).expect("an answer has string keys");
                let ok = answer.outcome == Outcome::Ok;
                let result = if ok {
                    CallToolResult::structured(structured)
                } else {
                    CallToolResult::structured_error(structured)
                };
                Ok(result.into())
            }
            Ended::Invalid(why) => Err(ErrorData::invalid_params(why, None)),
            // Whoever asked is gone.
            Ended::Cancelled => Err(ErrorData::internal_error("the call was cancelled", None)),
            Ended::Failed { error, begun } => {
                tracing::error!(error, begun, "a call failed");
                let what = if begun {
                    "the store failed, and what became of the call is unknown"
                } else {
                    "the store failed before anything happened"
                };
                Err(ErrorData::internal_error(what, None))
            }
        }
    }
}

/// An operation as `tools/list` shows it.
fn tool(operation: &'static Operation) -> Tool {
    let text = || json!({ "type": "string", "minLength": 1, "maxLength": request::NAME_BYTES });
    let fields = |about: &str| json!({ "type": "object", "maxProperties": request::FIELDS, "description": about });
    let mut properties = serde_json::Map::new();
    let mut required = Vec::new();
    if operation.tool == Handled::Mint {
        properties.insert("name".to_owned(), text());
    } else {
        properties.insert("handle".to_owned(), text());
        required.push("handle");
    }
    if operation.tool == Handled::Write {
        properties.insert("change".to_owned(), fields("the change alone"));
    }
    if matches!(operation.tool, Handled::Write | Handled::Mint | Handled::Approve) {
        properties.insert("content".to_owned(), fields("the whole content"));
    }
    if operation.tool != Handled::Read {
        properties.insert("key".to_owned(), text());
    }
    if !matches!(operation.tool, Handled::Read | Handled::Mint) {
        properties.insert("fence".to_owned(), json!({ "type": "integer", "minimum": 0 }));
        let stamp = json!({
            "type": "object", "additionalProperties": false, "required": ["handle", "version"],
            "properties": { "handle": text(), "version": { "type": "integer", "minimum": 0 } }
        });
        properties
            .insert("expected".to_owned(), json!({ "type": "array", "maxItems": request::EXPECTED, "items": stamp }));
    }
    let schema = json!({
        "type": "object", "additionalProperties": false, "required": required, "properties": properties
    });
    let Value::Object(schema) = schema else { unreachable!("it was just written as an object") };
    let annotations = ToolAnnotations::new().read_only(operation.tool == Handled::Read).open_world(false);
    Tool::new(operation.name, operation.about, schema).with_annotations(annotations)
}
