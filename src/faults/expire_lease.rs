//! The time of a lease is up.
//!
//! It may happen at any point. Its holder notices only when a step checks (`check-lease`, `check-fence`).

use super::{Fault, Strike, Strikes, one_part};
use crate::action::Target;
use crate::engine::Access;
use crate::handler::Programs;
use crate::world::{Component, Fact, Setting};

pub static FAULT: Fault = Fault { strikes: Strikes::Leases, targets, parts: one_part, strike };

fn targets(setting: &Setting, _: &Programs, access: &Access<'_, Component>, index: usize) -> Vec<Target> {
    let (slot, ..) = setting.all_lease_slots().nth(index).expect("leases for each source");
    let slot_number = u16::try_from(slot).expect("a state has few slots");
    let held = (0..).zip(&access.get(slot).leases().leases).filter(|(_, lease)| lease.holder.is_some());
    held.map(|(instance, _)| Target::Lease { slot: slot_number, instance }).collect()
}

fn strike(strike: &mut Strike<'_, '_>, target: Target, _: usize) -> Vec<Fact> {
    let Target::Lease { slot, instance } = target else { unreachable!("leases expire") };
    let slot = usize::from(slot);
    let mut leases = strike.access.get(slot).leases().clone();
    let mut lease = leases.of(instance);
    lease.holder = None;
    leases.set(instance, lease);
    strike.access.set(slot, leases.into());
    Vec::new()
}
