//! The hook: a second listener, on loopback only, through which a driver opens gates, strikes what the store keeps, and
//! looks at it. Off unless asked for.

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderValue, Method, Request, Response, StatusCode, header};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use rusqlite::{Connection, params};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::gate::Command;
use super::handling::{Scope, place_of_state};
use super::http::{Bounds, accept, text};
use super::node::Node;
use super::places::{self, from_json, json as to_json, stored};
use super::progress::Order;
use super::request::{BODY_BYTES, Fields};
use super::signed::Carried;
use crate::model::Principal;
use crate::model::design::{Place, State};

/// What a driver asks for.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", tag = "do")]
enum Ask {
    /// Waits until a call is at its gate, or over.
    Look { call: String },
    /// Has a call run its next transaction.
    Run {
        call: String,
        #[serde(default)]
        order: Order,
    },
    /// Stops a call at its gate.
    Cancel { call: String },
    /// The time of a handle is up.
    ExpireHandle { handle: String },
    /// The time of a lease is up.
    ExpireLease { handle: String },
    /// The time of the record or claim under a key of one scope is up.
    ExpireKey {
        key: String,
        scope: Box<Scope>,
        /// It is in the memory of this node.
        #[serde(default)]
        in_memory: bool,
    },
    /// The node changes over to what is deployed, and keeps its memory and its calls.
    Deploy,
    /// A principal loses its permission on a resource.
    Revoke { handle: String, subject: String, client: Option<String>, tenant: Option<String> },
    /// A resource is deleted and created anew under the same name.
    Recreate { handle: String, content: Fields, version: i64 },
    /// What is where.
    State,
}

/// Serves the hook on a listener, which is one on loopback, until it is told to stop.
pub async fn serve(listener: TcpListener, node: Arc<Node>, stop: CancellationToken) {
    accept(listener, Bounds::default(), stop, move |request| {
        let node = node.clone();
        async move {
            match answer(request, &node).await {
                Ok(value) => {
                    let mut reply = Response::new(Full::new(Bytes::from(value.to_string())).boxed());
                    reply.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
                    reply
                }
                Err(why) => text(StatusCode::BAD_REQUEST, &why),
            }
        }
    })
    .await;
}

async fn answer(request: Request<Incoming>, node: &Node) -> Result<Value, String> {
    // A page in a browser on this machine is no driver.
    if request.method() != Method::POST || request.headers().contains_key(header::ORIGIN) {
        return Err("the hook takes POST requests of a driver".to_owned());
    }
    let body = Limited::new(request.into_body(), BODY_BYTES).collect().await.map_err(|error| error.to_string())?;
    let ask: Ask = serde_json::from_slice(&body.to_bytes()).map_err(|error| error.to_string())?;
    let gates = node.gates.as_ref().ok_or("there are no gates")?;
    let whereabouts = match ask {
        Ask::Look { call } => gates.settled(&call).await?,
        Ask::Run { call, order } => gates.command(&call, Command::Run(order)).await?,
        Ask::Cancel { call } => gates.command(&call, Command::Cancel).await?,
        Ask::Deploy if node.change_over() => return Ok(json!({ "design": node.design().name })),
        Ask::Deploy => return Err("nothing is deployed".to_owned()),
        other => return strike(&other, node).map_err(|error| error.to_string()),
    };
    Ok(json!(whereabouts))
}

fn strike(ask: &Ask, node: &Node) -> rusqlite::Result<Value> {
    let places = node.places();
    let server = &node.design().server;
    let resources = places.at(place_of_state(node.design()));
    let leases = places.at(server.lease_place);
    let struck = match ask {
        Ask::ExpireHandle { handle } => {
            resources.execute("UPDATE resources SET expired = 1 WHERE handle = ?", params![handle])?
        }
        Ask::ExpireLease { handle } => {
            leases.execute("UPDATE leases SET holder = NULL WHERE handle = ?", params![handle])?
        }
        Ask::ExpireKey { key, scope, in_memory } => {
            let keys = places.at(if *in_memory { Place::Node } else { Place::Store });
            keys.execute("DELETE FROM keys WHERE scope = ? AND key = ?", params![to_json(scope), key])?
        }
        Ask::Revoke { handle, subject, client, tenant } => {
            let principal = Principal { subject: subject.clone(), client: client.clone(), tenant: tenant.clone() };
            match places::instance(resources, handle)? {
                None => 0,
                Some(mut instance) => {
                    instance.revoked.push(principal);
                    places::put_instance(resources, handle, &instance)?;
                    1
                }
            }
        }
        Ask::Recreate { handle, content, version } => match places::instance(resources, handle)? {
            None => 0,
            Some(old) => {
                let anew = places::Instance::new(old.owner, content.clone(), *version);
                places::put_instance(resources, handle, &places::Instance { shared_with: old.shared_with, ..anew })?;
                1
            }
        },
        Ask::State => {
            let signs = (server.state == State::Handle).then_some(node);
            return Ok(json!({ "store": state(&places.store, signs)?, "memory": state(&places.memory, None)? }));
        }
        Ask::Look { .. } | Ask::Run { .. } | Ask::Cancel { .. } | Ask::Deploy => 0,
    };
    Ok(json!({ "struck": struck }))
}

/// Everything that a database keeps of resources; `signs`: where handles carry the state, with the handle that carries it.
fn state(connection: &Connection, signs: Option<&Node>) -> rusqlite::Result<Value> {
    let mut handles = connection.prepare("SELECT handle FROM resources ORDER BY handle")?;
    let handles = handles.query_map([], |row| row.get::<_, String>(0))?;
    let mut state = serde_json::Map::new();
    for handle in handles {
        let handle = handle?;
        if let Some(instance) = places::instance(connection, &handle)? {
            let owner: Value = from_json(&to_json(&stored(&instance.owner)))?;
            let carried = Carried { version: instance.version, content: instance.content.clone() };
            let signed = signs.map(|node| node.sign(&handle, &carried));
            let mut there = json!({
                "owner": owner, "version": instance.version, "content": instance.content,
                "lifecycle": instance.lifecycle, "expired": instance.expired,
            });
            if let Some(signed) = signed {
                there["signed"] = Value::from(signed);
            }
            state.insert(handle, there);
        }
    }
    Ok(Value::Object(state))
}
