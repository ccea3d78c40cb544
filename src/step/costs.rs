//! What runs cost, as sums over their steps: for the engine, which looks for the least and the greatest.

use super::{Simulation, tags};
use crate::engine::extremes::{Amounts, End};
use crate::engine::{Access, Observations};
use crate::invariants::first_open;
use crate::model::vocabulary::named;
use crate::model::{Outcome, Told, Tool};
use crate::world::{Component, Position};

named! {
    /// What is measured of a run, for each finished intent.
    Measure {
        /// Requests that are sent, reads and repeats included.
        Calls = "calls",
        /// Answers that are received.
        RoundTrips = "round-trips",
        /// Calls that are refused.
        Conflicts = "conflicts",
        /// Calls that are sent again.
        Repeats = "repeats",
        /// Calls that are sent for a new plan.
        Replans = "replans",
        /// Intents that end in a question to the person.
        Questions = "questions",
        /// Records of keys that are left behind.
        Records = "records",
    }
}

/// The place behind the measures: requests that still carry a key to the server when everything is told.
const LATE_KEYS: usize = 7;

impl Measure {
    /// Its place among the sums.
    #[must_use]
    pub const fn place(self) -> usize {
        self as usize
    }

    /// The place of the requests that still carry a key to the server when everything is told.
    #[must_use]
    pub const fn late_keys() -> usize {
        LATE_KEYS
    }
}

impl Simulation {
    /// What a step costs, by what it shows.
    #[must_use]
    pub fn weigh(observations: &Observations) -> Amounts {
        let mut amounts = Amounts::default();
        for &tag in &observations.tags {
            let mut add = |measure: Measure| amounts[measure.place()] += 1;
            match tag {
                tags::SENT_FIRST => add(Measure::Calls),
                tags::SENT_AGAIN => {
                    add(Measure::Calls);
                    add(Measure::Repeats);
                }
                tags::SENT_ANEW => {
                    add(Measure::Calls);
                    add(Measure::Replans);
                }
                tags::RECEIVED => add(Measure::RoundTrips),
                tag if tag == tags::told(Told::Conflict) => add(Measure::Questions),
                tag if Outcome::ALL.iter().any(|end| *end != Outcome::Ok && tags::outcome(*end) == tag) => {
                    add(Measure::Conflicts);
                }
                _ => {}
            }
        }
        amounts
    }

    /// Whether a run may end in a quiescent state: every intent ended that can. It counts for as many intents as were told.
    #[must_use]
    pub fn end(&self, access: &Access<'_, Component>) -> Option<End> {
        let setting = self.setting();
        if first_open(setting, access).is_some() {
            return None;
        }
        let mut end = End::default();
        for agent in 0..setting.agents() {
            let ledger = access.get(setting.ledger_slot(agent)).ledger();
            let told = ledger.entries.iter().filter(|entry| entry.told.is_some()).count();
            end.shares += u32::try_from(told).expect("a work list is short");
            let orphans = access.get(setting.orphans_slot(agent)).orphans();
            let late = orphans.iter().filter(|call| {
                let arrives = matches!(call.position, Position::InTransit | Position::Interrupted { .. });
                call.request.tool != Tool::Read && call.request.key.is_some() && arrives
            });
            end.holds[LATE_KEYS] += u32::try_from(late.count()).expect("there are few orphans");
        }
        for (slot, _) in setting.all_keys_slots() {
            let records = access.get(slot).keys().records.len();
            end.holds[Measure::Records.place()] += u32::try_from(records).expect("a key table is small");
        }
        (end.shares > 0).then_some(end)
    }
}
