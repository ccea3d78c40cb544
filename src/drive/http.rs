//! MCP over HTTP as a driver speaks it: each call on a connection of its own, so that its stream can be cut.
//!
//! The SDK's client hides connections and chooses request ids. A driver needs both: to cut a stream it closes the
//! connection, and nothing else may travel on it.

use std::collections::BTreeMap;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use bytes::{Buf, Bytes};
use http::{HeaderValue, Method, Request, StatusCode, Uri, header};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::sync::{OnceCell, watch};

use super::{CallError, Connection, Label, PATIENCE, Reply};
use crate::serve::{CALL_NAME, REDELIVERED};

/// The most bytes of an answer.
const ANSWER_BYTES: usize = 4 * 1024 * 1024;

/// The revision of the protocol in which a server is spoken to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize)]
pub enum Revision {
    /// 2026-07-28: no sessions, every request says all.
    #[default]
    #[serde(rename = "2026-07-28")]
    Stateless,
    /// 2025-11-25: `initialize` first, and a session if the server makes one.
    #[serde(rename = "2025-11-25")]
    Session,
}

impl Revision {
    /// Its name on the wire.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Stateless => "2026-07-28",
            Self::Session => "2025-11-25",
        }
    }
}

/// A server at a URL, as one client of it.
#[derive(Debug)]
pub struct Endpoint {
    uri: Uri,
    token: Option<String>,
    revision: Revision,
    session: OnceCell<Option<HeaderValue>>,
    next_id: AtomicI64,
    /// How far the driver is with each call that has a name.
    named: watch::Sender<BTreeMap<String, Named>>,
}

/// How far a driver is with a call.
#[derive(Clone, Debug, Default)]
struct Named {
    /// Its request id, and the event by which its stream can be resumed: the first, and the only one that was read.
    heard: Option<(i64, String)>,
    /// What comes behind that event may be read.
    reads_on: bool,
}

/// A reply to a POST, before anyone has looked into it.
struct Raw {
    status: StatusCode,
    session: Option<HeaderValue>,
    message: Value,
}

impl Endpoint {
    /// A client of the server at this URL (`http://HOST:PORT/PATH`), with this bearer token.
    ///
    /// # Errors
    ///
    /// When it is no such URL.
    pub fn new(url: &str, token: Option<String>, revision: Revision) -> Result<Self, String> {
        let uri: Uri = url.parse().map_err(|error| format!("`{url}` is no URL: {error}"))?;
        if uri.scheme_str() != Some("http") || uri.host().is_none() {
            return Err(format!("`{url}` is not of the form http://HOST:PORT/PATH"));
        }
        Ok(Self {
            uri,
            token,
            revision,
            session: OnceCell::new(),
            next_id: AtomicI64::new(1),
            named: watch::Sender::default(),
        })
    }

    /// Sends one message on a connection of its own, and waits for the reply to it. `name`: of the call, where it has one.
    async fn post(&self, message: &Value, session: Option<&HeaderValue>, name: Option<&str>) -> Result<Raw, CallError> {
        let request = self.request(message, session)?;
        self.exchange(request, message["id"].as_i64(), name).await
    }

    /// Sends a request on a connection of its own, and waits for the message with this id.
    async fn exchange(
        &self,
        request: Request<Full<Bytes>>,
        id: Option<i64>,
        name: Option<&str>,
    ) -> Result<Raw, CallError> {
        let broken = |error: &dyn std::fmt::Display| CallError::Broken(error.to_string());
        let host = self.uri.host().unwrap_or_default();
        let authority = (host.trim_matches(['[', ']']), self.uri.port_u16().unwrap_or(80));
        let stream = TcpStream::connect(authority).await.map_err(|error| CallError::Unreachable(error.to_string()))?;
        let _ = stream.set_nodelay(true);
        let handshake = hyper::client::conn::http1::handshake::<_, Full<Bytes>>(TokioIo::new(stream)).await;
        let (mut sender, connection) = handshake.map_err(|error| broken(&error))?;
        let mut connection = pin!(connection);
        let exchange = async {
            let response = sender.send_request(request).await.map_err(|error| broken(&error))?;
            let (head, body) = response.into_parts();
            let session = head.headers.get("mcp-session-id").cloned();
            let sse = head
                .headers
                .get(header::CONTENT_TYPE)
                .is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"));
            let message = self.read(body, sse, id, name).await?;
            Ok(Raw { status: head.status, session, message })
        };
        let mut exchange = pin!(exchange);
        // The connection moves as long as the exchange needs it, and is closed with this future.
        tokio::select! {
            biased;
            raw = &mut exchange => raw,
            ended = &mut connection => match ended {
                // Everything has arrived that will.
                Ok(()) => exchange.await,
                Err(error) => Err(broken(&error)),
            },
            () = tokio::time::sleep(PATIENCE) => Err(CallError::Late),
        }
    }

    /// Reads the reply to the request with this id: a JSON document, or the event of a stream that holds it.
    async fn read(
        &self,
        mut body: Incoming,
        sse: bool,
        id: Option<i64>,
        name: Option<&str>,
    ) -> Result<Value, CallError> {
        let mut text = Vec::new();
        loop {
            if let Some(name) = name.filter(|_| sse) {
                self.may_read_on(name).await;
            }
            let Some(frame) = body.frame().await else { break };
            let frame = frame.map_err(|error| CallError::Broken(error.to_string()))?;
            let Ok(mut data) = frame.into_data() else { continue };
            while data.has_remaining() {
                let chunk = data.chunk();
                text.extend_from_slice(chunk);
                let length = chunk.len();
                data.advance(length);
            }
            if text.len() > ANSWER_BYTES {
                return Err(CallError::Protocol(format!("an answer of more than {ANSWER_BYTES} bytes")));
            }
            if !sse {
                continue;
            }
            if let (Some(name), Some(id), Some(first)) = (name, id, first_event(&text)) {
                self.named.send_modify(|all| {
                    all.entry(name.to_owned()).or_default().heard.get_or_insert((id, first));
                });
            }
            if let Some(message) = event(&text, id) {
                return Ok(message);
            }
        }
        if sse {
            return match (event(&text, id), id) {
                (Some(message), _) => Ok(message),
                (None, None) => Ok(Value::Null),
                (None, Some(_)) => Err(CallError::Broken("the stream ended without an answer".to_owned())),
            };
        }
        if text.iter().all(u8::is_ascii_whitespace) {
            return Ok(Value::Null);
        }
        // What is no JSON is somebody's page about an error: the status says enough.
        Ok(serde_json::from_slice(&text).unwrap_or(Value::Null))
    }

    fn request(&self, message: &Value, session: Option<&HeaderValue>) -> Result<Request<Full<Bytes>>, CallError> {
        let method = message["method"].as_str().unwrap_or_default();
        let path = self.uri.path_and_query().map_or("/", |path| path.as_str());
        let host = self.uri.authority().map_or("", |authority| authority.as_str());
        let mut request = Request::builder()
            .method(Method::POST)
            .uri(path)
            .header(header::HOST, host)
            .header(header::CONTENT_TYPE, "application/json")
            .header(header::ACCEPT, "application/json, text/event-stream");
        if method != "initialize" {
            request = request.header("mcp-protocol-version", self.revision.name());
        }
        if self.revision == Revision::Stateless {
            request = request.header("mcp-method", method);
            if let Some(name) = message["params"]["name"].as_str() {
                request = request.header("mcp-name", name);
            }
        }
        if let Some(token) = &self.token {
            request = request.header(header::AUTHORIZATION, format!("Bearer {token}"));
        }
        if let Some(session) = session {
            request = request.header("mcp-session-id", session);
        }
        request
            .body(Full::new(Bytes::from(message.to_string())))
            .map_err(|error| CallError::Unreachable(error.to_string()))
    }

    /// Waits until the stream of a call can be resumed: until it has had an event with an id.
    ///
    /// # Errors
    ///
    /// When it has none in time.
    pub async fn can_resume(&self, name: &str) -> Result<(), String> {
        let mut named = self.named.subscribe();
        let is_heard = |all: &BTreeMap<String, Named>| all.get(name).is_some_and(|call| call.heard.is_some());
        let found = tokio::time::timeout(PATIENCE, named.wait_for(is_heard)).await;
        found.map(|_| ()).map_err(|_| format!("the stream of {name} has no event by which it could be resumed"))
    }

    /// Lets the answer of a call be read. Until then nothing is read behind the event by which its stream can be resumed, so
    /// that whoever cuts it loses what was on its way.
    pub fn read_on(&self, name: &str) {
        self.named.send_modify(|all| all.entry(name.to_owned()).or_default().reads_on = true);
    }

    async fn may_read_on(&self, name: &str) {
        let mut named = self.named.subscribe();
        let may =
            |all: &BTreeMap<String, Named>| all.get(name).is_none_or(|call| call.reads_on || call.heard.is_none());
        // Whoever could say so is this endpoint itself.
        let _ = named.wait_for(may).await;
    }

    /// Resumes the stream of a call behind the event that was heard of it. The future waits for its answer.
    ///
    /// # Errors
    ///
    /// Why there is no answer.
    pub fn resume(self: Arc<Self>, name: String) -> impl Future<Output = Result<Reply, CallError>> + Send {
        let heard = self.named.borrow().get(&name).and_then(|call| call.heard.clone());
        async move {
            let (id, event) = heard.ok_or_else(|| CallError::Broken("nothing was heard of it".to_owned()))?;
            let session = self.session().await?;
            let path = self.uri.path_and_query().map_or("/", |path| path.as_str());
            let host = self.uri.authority().map_or("", |authority| authority.as_str());
            let mut request = Request::builder()
                .method(Method::GET)
                .uri(path)
                .header(header::HOST, host)
                .header(header::ACCEPT, "text/event-stream")
                .header("mcp-protocol-version", self.revision.name())
                .header("last-event-id", event);
            if let Some(token) = &self.token {
                request = request.header(header::AUTHORIZATION, format!("Bearer {token}"));
            }
            if let Some(session) = session {
                request = request.header("mcp-session-id", session);
            }
            let request = request.body(Full::default()).map_err(|error| CallError::Unreachable(error.to_string()))?;
            let raw = self.exchange(request, Some(id), Some(&name)).await?;
            if !raw.status.is_success() {
                return Err(CallError::Protocol(format!("HTTP status {}", raw.status)));
            }
            Reply::of(raw.message)
        }
    }

    /// Opens a session, where the revision has some and nobody has.
    async fn session(&self) -> Result<Option<&HeaderValue>, CallError> {
        if self.revision == Revision::Stateless {
            return Ok(None);
        }
        let open = async || {
            let initialize = json!({
                "jsonrpc": "2.0", "id": self.next_id.fetch_add(1, Ordering::Relaxed), "method": "initialize",
                "params": {
                    "protocolVersion": self.revision.name(), "capabilities": {},
                    "clientInfo": { "name": "handlecheck", "version": env!("CARGO_PKG_VERSION") }
                }
            });
            let raw = self.post(&initialize, None, None).await?;
            if raw.message.get("result").is_none() {
                return Err(CallError::Protocol(format!("`initialize` was answered with {}", raw.message)));
            }
            let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
            self.post(&initialized, raw.session.as_ref(), None).await?;
            Ok(raw.session)
        };
        Ok(self.session.get_or_try_init(open).await?.as_ref())
    }
}

impl Connection for Endpoint {
    async fn call(self: Arc<Self>, tool: String, arguments: Value, label: Label) -> Result<Reply, CallError> {
        let Label { name, id, redelivered } = label;
        let session = self.session().await?;
        let mut params = json!({ "name": tool, "arguments": arguments });
        if self.revision == Revision::Stateless {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": self.revision.name(),
                "io.modelcontextprotocol/clientCapabilities": {},
                "io.modelcontextprotocol/clientInfo": { "name": "handlecheck", "version": env!("CARGO_PKG_VERSION") },
            });
        }
        if let Some(name) = &name {
            params["_meta"][CALL_NAME] = Value::from(name.as_str());
        }
        if redelivered {
            params["_meta"][REDELIVERED] = Value::Bool(true);
        }
        let id = id.unwrap_or_else(|| self.next_id.fetch_add(1, Ordering::Relaxed));
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params });
        let raw = self.post(&message, session, name.as_deref()).await?;
        if !raw.status.is_success() && raw.message.get("error").is_none() {
            return Err(CallError::Protocol(format!("HTTP status {}", raw.status)));
        }
        Reply::of(raw.message)
    }
}

/// The message with this id among the complete events so far.
fn event(text: &[u8], id: Option<i64>) -> Option<Value> {
    let text = String::from_utf8_lossy(text).replace("\r\n", "\n");
    let complete = text.rfind("\n\n").map(|end| &text[..end])?;
    complete.split("\n\n").find_map(|event| {
        let data = event.lines().filter_map(|line| line.strip_prefix("data:"));
        let data = data.map(|data| data.strip_prefix(' ').unwrap_or(data)).collect::<Vec<_>>().join("\n");
        let message: Value = serde_json::from_str(&data).ok()?;
        (message["id"].as_i64() == id && message.get("method").is_none()).then_some(message)
    })
}

/// The id of the first complete event that has one.
fn first_event(text: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(text).replace("\r\n", "\n");
    let complete = text.rfind("\n\n").map(|end| &text[..end])?;
    complete.lines().find_map(|line| line.strip_prefix("id:")).map(|id| id.trim().to_owned())
}

/// Asks the hook of one of our servers.
///
/// # Errors
///
/// What the server says, or that it can't be reached.
pub async fn ask_hook(url: &str, ask: &Value) -> Result<Value, String> {
    let endpoint = Endpoint::new(url, None, Revision::Session)?;
    let raw = endpoint.post(ask, None, None).await.map_err(|error| error.to_string())?;
    if raw.status.is_success() { Ok(raw.message) } else { Err(format!("the hook refused {ask} ({})", raw.status)) }
}
