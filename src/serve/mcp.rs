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
use super::node::{Arrived, Ended, Node};
use super::request::{self, Operation, Request};
use crate::model::design::State;
use crate::model::{Outcome, Server, Tool as Handled};

/// The key in a request's `_meta` under which whoever sends it has a name for the call: a driver, or a queue in front.
pub const CALL_NAME: &str = "dev.handlecheck/call";
/// The key under which a queue says that it has delivered the call before.
pub const REDELIVERED: &str = "dev.handlecheck/redelivered";
/// The key in a result's `_meta` under which the server says to a queue where an answer goes whose asker it does not know.
pub const ADDRESS: &str = "dev.handlecheck/to";

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
        let server = &self.node.design().server;
        Ok(ListToolsResult::with_all_items(request::served(server).map(|operation| tool(operation, server)).collect()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        let server = &self.node.design().server;
        request::served(server).find(|operation| operation.name == name).map(|operation| tool(operation, server))
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
        let meta = |key: &str| context.meta.0.get(key).or_else(|| params.meta.as_ref()?.0.get(key)).cloned();
        let name = meta(CALL_NAME).and_then(|name| name.as_str().map(str::to_owned));
        let redelivered = meta(REDELIVERED) == Some(Value::Bool(true));
        if name.as_ref().is_some_and(|name| name.is_empty() || name.len() > request::NAME_BYTES) {
            let why = format!("a call's name has from 1 to {} bytes", request::NAME_BYTES);
            return Err(ErrorData::invalid_params(why, None));
        }
        let id = context.id.to_string();
        if id.len() > request::NAME_BYTES {
            let why = format!("the id of a request has at most {} bytes", request::NAME_BYTES);
            return Err(ErrorData::invalid_params(why, None));
        }
        let arguments = Value::Object(params.arguments.unwrap_or_default());
        let carries = design.server.state == State::Handle;
        let request =
            Request::parse(operation, arguments, carries).map_err(|why| ErrorData::invalid_params(why, None))?;
        if request.also.is_some() && !request::reaches_another(&design.server, operation) {
            let why = format!("`{}` changes one resource here: its handler has no step `other`", operation.name);
            return Err(ErrorData::invalid_params(why, None));
        }
        let request = if carries { self.node.open(request) } else { request };
        let asked = request.clone();
        let (request, caller) = (Arc::new(request), Arc::new(caller));
        let arrived = Arrived { id, name, redelivered, design, request, caller };
        let (ended, address) = self.node.clone().handle(arrived, context.ct.clone()).await;
        match ended {
            Ended::Answered(answer) => {
                let answer = if carries { self.node.seal(answer, &asked) } else { answer };
                let structured = serde_json::to_value(&answer).expect("an answer has string keys");
                let ok = answer.outcome == Outcome::Ok;
                let mut result = if ok {
                    CallToolResult::structured(structured)
                } else {
                    CallToolResult::structured_error(structured)
                };
                result.meta = address.and_then(|to| serde_json::from_value(json!({ ADDRESS: to.name() })).ok());
                Ok(result.into())
            }
            Ended::Invalid(why) => Err(ErrorData::invalid_params(why, None)),
            Ended::Taken => Err(ErrorData::invalid_params("another call has had this name", None)),
            // Whoever asked is gone.
            Ended::Cancelled => Err(ErrorData::internal_error("the call was cancelled", None)),
            Ended::Failed { begun, .. } => {
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
fn tool(operation: &'static Operation, server: &Server) -> Tool {
    let text = || json!({ "type": "string", "minLength": 1, "maxLength": request::NAME_BYTES });
    let bytes = request::handle_bytes(server.state == State::Handle);
    let handle = || json!({ "type": "string", "minLength": 1, "maxLength": bytes });
    let fields = |about: &str| json!({ "type": "object", "maxProperties": request::FIELDS, "description": about });
    let mut properties = serde_json::Map::new();
    let mut required = Vec::new();
    if operation.tool == Handled::Mint {
        properties.insert("name".to_owned(), text());
    } else {
        properties.insert("handle".to_owned(), handle());
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
    if operation.tool != Handled::Read {
        let names = json!({ "type": "object", "maxProperties": request::NAMES, "additionalProperties": handle() });
        let expression = json!({ "type": "string", "minLength": 1, "maxLength": request::EXPRESSION_BYTES });
        let condition = json!({
            "type": "object", "additionalProperties": false, "required": ["expression", "names"],
            "properties": { "expression": expression, "names": names }
        });
        properties.insert("if".to_owned(), condition);
    }
    if !matches!(operation.tool, Handled::Read | Handled::Mint) {
        properties.insert("fence".to_owned(), json!({ "type": "integer", "minimum": 0 }));
        let stamp = json!({
            "type": "object", "additionalProperties": false, "required": ["handle", "version"],
            "properties": { "handle": handle(), "version": { "type": "integer", "minimum": 0 } }
        });
        properties
            .insert("expected".to_owned(), json!({ "type": "array", "maxItems": request::EXPECTED, "items": stamp }));
    }
    if request::reaches_another(server, operation) {
        let also = json!({
            "type": "object", "additionalProperties": false, "required": ["tool", "handle", "change"],
            "properties": {
                "tool": { "enum": ["set", "append", "increment"] }, "handle": handle(),
                "change": fields("the change alone"), "fence": { "type": "integer", "minimum": 0 }
            }
        });
        properties.insert("also".to_owned(), also);
    }
    let schema = json!({
        "type": "object", "additionalProperties": false, "required": required, "properties": properties
    });
    let Value::Object(schema) = schema else { unreachable!("it was just written as an object") };
    let annotations = ToolAnnotations::new().read_only(operation.tool == Handled::Read).open_world(false);
    Tool::new(operation.name, operation.about, schema).with_annotations(annotations)
}
