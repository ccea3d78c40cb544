//! What a design costs besides being safe or not: for each finished intent, the fewest and the most of each thing over all
//! runs within the bounds, exactly; and, where somebody made random runs, what is to be expected.

use serde::{Serialize, Serializer};

use super::{Options, Run};
use crate::engine::extremes::{Most, Scales, Share, extremes};
use crate::engine::{Limits, Progress};
use crate::model::Client;
use crate::model::vocabulary::named;
use crate::model::{Design, Tool};
use crate::step::{Measure, Simulation};

/// Up to so many states the fewest and the most are looked for.
const LARGEST: usize = 200_000;

named! {
    /// For how long the record of a key must be kept.
    KeyKept {
        /// There are no keys.
        Never = "never",
        /// Until the intent is told: nothing asks for it later.
        UntilTold = "until-told",
        /// For as long as a request may be under way: one may arrive after its intent was told.
        WhileUnderWay = "while-under-way",
    }
}

named! {
    /// For how long a lease must be kept.
    LeaseKept {
        /// There are no leases.
        Never = "never",
        /// For one transaction.
        OneTransaction = "one-transaction",
        /// For the transactions of one call.
        OneCall = "one-call",
        /// From the read to the write: while the agent thinks, too.
        FromReadToWrite = "from-read-to-write",
    }
}

/// What a finished intent costs. An intent is finished when its agent was told what became of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Costs {
    /// Every run within the bounds was looked at, so that the fewest and the most are exact. Otherwise they are left out.
    pub exact: bool,
    /// How many random runs the expected values are estimated from; 0: none.
    pub runs: u64,
    /// One for each thing.
    pub measures: Vec<Cost>,
    /// For how long the record of a key must be kept; left out where that was not looked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key_kept: Option<KeyKept>,
    /// For how long a lease must be kept.
    pub lease_kept: LeaseKept,
}

/// What a finished intent takes of one thing.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cost {
    /// What.
    pub name: Measure,
    /// The fewest, over all runs that end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fewest: Option<f64>,
    /// The most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub most: Option<Greatest>,
    /// What is to be expected, by random runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<Expected>,
}

/// The most that a finished intent takes of something.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Greatest {
    /// So much.
    Amount(f64),
    /// There is no most: some run takes more than any other.
    Unbounded,
}

impl Serialize for Greatest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Amount(amount) => serializer.serialize_f64(*amount),
            Self::Unbounded => serializer.serialize_str("unbounded"),
        }
    }
}

/// An estimated value: in 95 of 100 cases the true one lies between `low` and `high`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Expected {
    /// The estimate.
    pub mean: f64,
    /// Not below this.
    pub low: f64,
    /// Not above this.
    pub high: f64,
}

impl Serialize for Measure {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl Serialize for KeyKept {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl Serialize for LeaseKept {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl Run {
    /// What a finished intent costs, exactly, where the model is small enough; otherwise only what the design says by itself.
    /// `watch` stops it by answering `true`.
    pub fn costs(&self, options: &Options, watch: &mut dyn FnMut(Progress) -> bool) -> Costs {
        let simulation = Simulation::new(self.model.clone());
        let states = Some(options.max_states.unwrap_or(LARGEST).min(LARGEST));
        let limits = Limits { states, threads: options.threads, ..Limits::default() };
        let scales = Scales { weigh: &Simulation::weigh, end: &|access| simulation.end(access) };
        let found = extremes(&simulation, limits, &scales, watch);
        let cost = |name: Measure| {
            let found = found.as_ref().map(|found| found[name.place()]);
            let most = found.map(|found| match found.most {
                Most::Share(share) => Greatest::Amount(ratio(share)),
                Most::Unbounded => Greatest::Unbounded,
            });
            Cost { name, fewest: found.map(|found| ratio(found.fewest)), most, expected: None }
        };
        let has_keys = self.model.clients.iter().flatten().any(Client::may_present_keys)
            && (simulation.setting().has_step("find-key") || simulation.setting().has_step("claim-key"));
        let late = found.as_ref().map(|found| found[Measure::late_keys()].most);
        let key_kept = match (has_keys, late) {
            (false, _) => Some(KeyKept::Never),
            (true, None) => None,
            (true, Some(Most::Share(Share { sum: 0, .. }))) => Some(KeyKept::UntilTold),
            (true, Some(_)) => Some(KeyKept::WhileUnderWay),
        };
        Costs {
            exact: found.is_some(),
            runs: 0,
            measures: Measure::ALL.iter().map(|measure| cost(*measure)).collect(),
            key_kept,
            lease_kept: lease_kept(&self.model.design),
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "a share has no 53 significant bits")]
fn ratio(share: Share) -> f64 {
    share.sum as f64 / f64::from(share.shares)
}

/// For how long a lease must be kept, by where it is taken.
fn lease_kept(design: &Design) -> LeaseKept {
    let takes = |steps: &[&str]| steps.contains(&"acquire-lease");
    let ends = |steps: &[&str]| steps.iter().any(|step| matches!(*step, "apply" | "save" | "write-content"));
    let mut kept = LeaseKept::Never;
    for (tool, handler) in &design.server.tools {
        for steps in handler.transactions.iter().filter(|steps| takes(steps)) {
            let longer = match tool {
                Tool::Read => LeaseKept::FromReadToWrite,
                _ if ends(steps) => LeaseKept::OneTransaction,
                _ => LeaseKept::OneCall,
            };
            kept = kept.max(longer);
        }
    }
    kept
}
