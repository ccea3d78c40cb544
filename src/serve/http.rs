//! The server over HTTP: one listener, bounded in every direction, with the SDK's service behind the door.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderValue, Method, Request, Response, StatusCode, header};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use rmcp::model::ClientJsonRpcMessage;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde::de::IgnoredAny;
use serde_json::json;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use super::caller::{Caller, Tokens};
use super::mcp::Service;
use super::node::Node;
use super::request::BODY_BYTES;
use super::sessions::{self, Sessions};

/// Where MCP is spoken.
pub const PATH: &str = "/mcp";
/// The most bytes of a request's head.
const HEAD_BYTES: usize = 16 * 1024;

pub(super) type Reply = Response<BoxBody<Bytes, Infallible>>;

/// How much a process takes at a time, and how long it waits for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// The most connections at a time; further ones wait to be accepted. By default 512.
    pub connections: usize,
    /// The most sessions at a time; one that is not used for five minutes the SDK closes. By default 1024.
    pub sessions: usize,
    /// The most streams that are remembered behind their answer, for a client that has lost it and resumes; the oldest are
    /// forgotten first. By default 1024.
    pub streams: usize,
    /// How long a client may take for the head of a request. By default ten seconds.
    pub head: Duration,
    /// How long it may take for the body. By default ten seconds.
    pub body: Duration,
}

impl Default for Bounds {
    fn default() -> Self {
        let patience = Duration::from_secs(10);
        Self { connections: 512, sessions: 1024, streams: 1024, head: patience, body: patience }
    }
}

/// Who may knock, and how much they may bring.
#[derive(Debug, Default)]
pub struct Door {
    /// What tokens stand for.
    pub tokens: Tokens,
    /// The hosts, with or without port, that a request may name in `Host`; empty: loopback.
    pub hosts: Vec<String>,
    /// The origins from which a browser may ask; by default none.
    pub origins: Vec<String>,
    /// How much is taken.
    pub bounds: Bounds,
}

/// Serves MCP on a listener until it is told to stop.
pub async fn serve(listener: TcpListener, node: Arc<Node>, door: Door, stop: CancellationToken) {
    let mut config = StreamableHttpServerConfig::default()
        .with_max_request_body_bytes(BODY_BYTES)
        .with_cancellation_token(stop.child_token())
        .with_allowed_origins(door.origins)
        .enforce_origin_validation();
    if !door.hosts.is_empty() {
        config = config.with_allowed_hosts(door.hosts);
    }
    let bounds = door.bounds;
    let sessions = Sessions::at_most(bounds.sessions, bounds.streams);
    let manager = sessions.manager.clone();
    let service = StreamableHttpService::new(move || Ok(Service::new(node.clone())), manager, config);
    let tokens = Arc::new(door.tokens);
    accept(listener, bounds, stop, move |request| {
        let (service, tokens, sessions) = (service.clone(), tokens.clone(), sessions.clone());
        async move {
            if request.uri().path() != PATH {
                return text(StatusCode::NOT_FOUND, "not found");
            }
            if let Some(why) = contradiction(&request) {
                return text(StatusCode::BAD_REQUEST, &why);
            }
            let Some(caller) = caller(&request, &tokens) else {
                let mut reply = text(StatusCode::UNAUTHORIZED, "a bearer token that this server knows is required");
                reply.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
                return reply;
            };
            if let Some(refused) = sessions.refuse(request.headers(), &caller).await {
                return refused;
            }
            let mut request = match whole(request, bounds.body).await {
                Ok(request) => request,
                Err(refused) => return refused,
            };
            let session = sessions::id(request.headers());
            request.extensions_mut().insert(Caller { session, ..caller.clone() });
            let reply = service.handle(request).await;
            sessions.note(reply.headers(), &caller);
            reply
        }
    })
    .await;
}

/// What says who asks whom for what: a request has each of these once.
const ONCE: &[&str] = &[
    "host",
    "origin",
    "authorization",
    "content-type",
    "mcp-session-id",
    "mcp-protocol-version",
    "mcp-method",
    "mcp-name",
    "last-event-id",
];

/// Why the head of a request says two things at once, if it does: what stands in front may have gone by the other one.
fn contradiction(request: &Request<Incoming>) -> Option<String> {
    let twice = ONCE.iter().find(|name| request.headers().get_all(**name).iter().nth(1).is_some());
    let host = request.headers().get(header::HOST).map(HeaderValue::as_bytes);
    let elsewhere = request.uri().authority().is_some_and(|asked| Some(asked.as_str().as_bytes()) != host);
    let of_twice = twice.map(|name| format!("a request has one `{name}`"));
    of_twice.or_else(|| elsewhere.then(|| "the request is for another host than `Host` says".to_owned()))
}

/// Whom the bearer token of a request stands for.
fn caller(request: &Request<Incoming>, tokens: &Tokens) -> Option<Caller> {
    let value = request.headers().get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then_some(())?;
    tokens.caller(token.trim()).cloned()
}

/// A request with all of its body, which is neither too long nor too slow.
async fn whole(request: Request<Incoming>, patience: Duration) -> Result<Request<Full<Bytes>>, Reply> {
    let (head, body) = request.into_parts();
    match tokio::time::timeout(patience, Limited::new(body, BODY_BYTES).collect()).await {
        Ok(Ok(body)) => {
            let body = body.to_bytes();
            match refused(&body).filter(|_| head.method == Method::POST) {
                Some((code, why)) => Err(no_message(code, &why)),
                None => Ok(Request::from_parts(head, Full::new(body))),
            }
        }
        Ok(Err(error)) if error.is::<LengthLimitError>() => {
            Err(text(StatusCode::PAYLOAD_TOO_LARGE, "the body is too long"))
        }
        Ok(Err(_)) => Err(text(StatusCode::BAD_REQUEST, "the body broke off")),
        Err(_) => Err(text(StatusCode::REQUEST_TIMEOUT, "the body took too long")),
    }
}

/// Accepts connections, each in a task of its own, until it is told to stop.
pub(super) async fn accept<F, A>(listener: TcpListener, bounds: Bounds, stop: CancellationToken, answer: F)
where
    F: Fn(Request<Incoming>) -> A + Clone + Send + Sync + 'static,
    A: Future<Output = Reply> + Send + 'static,
{
    let room = Arc::new(Semaphore::new(bounds.connections));
    loop {
        let Ok(place) = room.clone().acquire_owned().await else { return };
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = stop.cancelled() => return,
        };
        let (stream, from) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                tracing::warn!(%error, "a connection was not accepted");
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            }
        };
        let (answer, stop) = (answer.clone(), stop.clone());
        tokio::spawn(async move {
            connection(stream, from, bounds.head, stop, answer).await;
            drop(place);
        });
    }
}

async fn connection<F, A>(stream: TcpStream, from: SocketAddr, patience: Duration, stop: CancellationToken, answer: F)
where
    F: Fn(Request<Incoming>) -> A,
    A: Future<Output = Reply>,
{
    let _ = stream.set_nodelay(true);
    let service = service_fn(|request| {
        let reply = answer(request);
        async move { Ok::<_, Infallible>(reply.await) }
    });
    let connection = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(patience)
        .max_buf_size(HEAD_BYTES)
        .serve_connection(TokioIo::new(stream), service);
    tokio::select! {
        ended = connection => if let Err(error) = ended {
            tracing::debug!(%from, %error, "a connection broke");
        },
        () = stop.cancelled() => {}
    }
}

/// Why a body is no message, if it is none, with the code of JSON-RPC for that.
fn refused(body: &[u8]) -> Option<(i32, String)> {
    if let Err(error) = serde_json::from_slice::<IgnoredAny>(body) {
        return Some((-32700, format!("the body is no JSON: {error}")));
    }
    let error = serde_json::from_slice::<ClientJsonRpcMessage>(body).err()?;
    Some((-32600, format!("the body is no message of JSON-RPC: {error}")))
}

/// A body that is no message, as JSON-RPC has it.
fn no_message(code: i32, why: &str) -> Reply {
    let error = json!({ "code": code, "message": why });
    let message = json!({ "jsonrpc": "2.0", "id": null, "error": error });
    let mut reply = text(StatusCode::BAD_REQUEST, &message.to_string());
    reply.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    reply
}

/// A reply of one line.
pub(super) fn text(status: StatusCode, line: &str) -> Reply {
    let mut reply = Response::new(Full::new(Bytes::from(format!("{line}\n"))).boxed());
    *reply.status_mut() = status;
    reply.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    reply
}
