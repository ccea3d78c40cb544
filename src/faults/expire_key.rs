//! The time of a recorded outcome is up: its key is forgotten.
//!
//! It may happen at any point, where `[server.keys]` has `expire = true`. A repeat is then a new call to the server.

use super::{Fault, Strike, Strikes, one_part};
use crate::action::Target;
use crate::engine::Access;
use crate::handler::Programs;
use crate::world::{Component, Fact, Record, Setting};

pub static FAULT: Fault = Fault { strikes: Strikes::Keys, targets, parts: one_part, strike };

fn targets(setting: &Setting, _: &Programs, access: &Access<'_, Component>, table: usize) -> Vec<Target> {
    if !setting.sides().any(|side| side.model.design.keys.expire) {
        return Vec::new();
    }
    records(setting, access, table, |record| matches!(record, Record::Done { .. }))
}

/// The records of a key table for which a condition holds.
pub(super) fn records(
    setting: &Setting,
    access: &Access<'_, Component>,
    table: usize,
    wanted: impl Fn(&Record) -> bool,
) -> Vec<Target> {
    let slot = setting.all_keys_slots().nth(table).expect("a table for each source").0;
    let table = access.get(slot).keys();
    let wanted = (0..).zip(&table.records).filter(|(_, (_, record))| wanted(record));
    wanted.map(|(record, _)| Target::Record { slot: table.slot, record }).collect()
}

pub(super) fn strike(strike: &mut Strike<'_, '_>, target: Target, _: usize) -> Vec<Fact> {
    let Target::Record { slot, record } = target else { unreachable!("records expire") };
    let mut table = strike.access.get(usize::from(slot)).keys().clone();
    table.records.remove(usize::from(record));
    strike.access.set(usize::from(slot), table.into());
    Vec::new()
}
