//! The gate before each transaction: closed only when a driver holds the order of things in its hands.
//!
//! A driver names each call in the `_meta` of its request. A call that has a name waits before each of its transactions
//! until the driver lets it run that one, or cancels it. This is for trials: it is off unless asked for, and listens on
//! loopback only.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::sync::watch;

use super::progress::Order;

/// How long a driver waits for a call to come to its gate, or to leave its transaction.
const PATIENCE: Duration = Duration::from_secs(20);

/// Where a call is, as far as a driver can see.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "is")]
pub enum Whereabouts {
    /// Before a transaction.
    Waiting,
    /// In it.
    Running,
    /// Answered.
    Answered,
    /// Stopped by the driver.
    Cancelled,
}

#[derive(Clone, Debug)]
struct Call {
    whereabouts: Whereabouts,
    order: Option<Command>,
}

/// What a driver has a call do.
#[derive(Clone, Copy, Debug)]
pub enum Command {
    /// Run the next transaction.
    Run(Order),
    /// Stop.
    Cancel,
}

/// All gates of a process.
#[derive(Debug)]
pub struct Gates {
    calls: watch::Sender<BTreeMap<String, Call>>,
}

/// The most calls that are remembered.
const MOST_CALLS: usize = 100_000;

impl Default for Gates {
    fn default() -> Self {
        Self { calls: watch::Sender::new(BTreeMap::new()) }
    }
}

impl Gates {
    /// A call is before a transaction: waits until it may run.
    pub async fn wait(&self, name: &str) -> Command {
        let mut order = None;
        self.put(name, Whereabouts::Waiting);
        let mut calls = self.calls.subscribe();
        let has_order = |calls: &BTreeMap<String, Call>| calls.get(name).is_none_or(|call| call.order.is_some());
        if calls.wait_for(has_order).await.is_err() {
            return Command::Cancel;
        }
        self.calls.send_modify(|calls| order = calls.get_mut(name).and_then(|call| call.order.take()));
        order.unwrap_or(Command::Cancel)
    }

    /// A call is answered, or was stopped.
    pub fn put(&self, name: &str, whereabouts: Whereabouts) {
        self.calls.send_modify(|calls| {
            if calls.len() < MOST_CALLS || calls.contains_key(name) {
                calls.insert(name.to_owned(), Call { whereabouts, order: None });
            }
        });
    }

    /// Waits until a call has come to its gate or is over, and says where it is.
    ///
    /// # Errors
    ///
    /// When it does not come.
    pub async fn settled(&self, name: &str) -> Result<Whereabouts, String> {
        let mut calls = self.calls.subscribe();
        let settled = |calls: &BTreeMap<String, Call>| {
            calls.get(name).is_some_and(|call| call.whereabouts != Whereabouts::Running && call.order.is_none())
        };
        let found = tokio::time::timeout(PATIENCE, calls.wait_for(settled)).await;
        let found = found.map_err(|_| format!("the call `{name}` did not come to its gate"))?;
        let calls = found.map_err(|_| "the server is going down".to_owned())?;
        Ok(calls[name].whereabouts.clone())
    }

    /// Has a waiting call do something, and says where it is afterwards.
    ///
    /// # Errors
    ///
    /// When it is not waiting, or does not come to an end.
    pub async fn command(&self, name: &str, command: Command) -> Result<Whereabouts, String> {
        let there = self.settled(name).await?;
        if there != Whereabouts::Waiting {
            return Err(format!("the call `{name}` is not waiting: {there:?}"));
        }
        self.calls.send_modify(|calls| {
            if let Some(call) = calls.get_mut(name) {
                call.order = Some(command);
                call.whereabouts = Whereabouts::Running;
            }
        });
        self.settled(name).await
    }
}
