//! A principal's next calls use another credential.
//!
//! It is the same principal: only what is keyed by the credential (`keys.scope`, `cache-scope`) takes it for another.

use super::{Fault, Strike, Strikes, acts, one_part};
use crate::action::Target;
use crate::engine::Access;
use crate::handler::Programs;
use crate::world::{Component, Fact, Setting};

pub static FAULT: Fault = Fault { strikes: Strikes::Principals, targets, parts: one_part, strike };

fn targets(setting: &Setting, _: &Programs, _: &Access<'_, Component>, principal: usize) -> Vec<Target> {
    let principal = u8::try_from(principal).expect("there are few principals");
    acts(setting, principal).then_some(Target::Principal(principal)).into_iter().collect()
}

fn strike(strike: &mut Strike<'_, '_>, target: Target, _: usize) -> Vec<Fact> {
    let Target::Principal(principal) = target else { unreachable!("principals rotate credentials") };
    let slot = strike.setting.credentials_slot().expect("there is a budget for it");
    let mut credentials = strike.access.get(slot).credentials().clone();
    credentials[usize::from(principal)] += 1;
    strike.access.set(slot, Component::Credentials(credentials));
    Vec::new()
}
