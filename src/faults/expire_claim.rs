//! The time of a claim is up: its key is free again.
//!
//! It may happen at any point, where `[server.keys]` has `claims-expire = true`. The call that made the claim does not
//! notice.

use super::{Fault, Strikes, one_part};
use crate::action::Target;
use crate::engine::Access;
use crate::handler::Programs;
use crate::world::{Component, Record, Setting};

pub static FAULT: Fault = Fault { strikes: Strikes::Keys, targets, parts: one_part, strike: super::expire_key::strike };

fn targets(setting: &Setting, _: &Programs, access: &Access<'_, Component>, table: usize) -> Vec<Target> {
    if !setting.sides().any(|side| side.model.design.keys.claims_expire) {
        return Vec::new();
    }
    super::expire_key::records(setting, access, table, |record| matches!(record, Record::Claim { .. }))
}
