//! A principal loses its permission on a resource.
//!
//! It may happen at any point. Nodes notice only when a step checks (`check-permission`).

use super::{Fault, Strike, Strikes, acts, one_part};
use crate::action::Target;
use crate::engine::Access;
use crate::handler::Programs;
use crate::model::Tool;
use crate::world::{Component, Fact, Handle, Setting};

pub static FAULT: Fault = Fault { strikes: Strikes::Resources, targets, parts: one_part, strike };

fn targets(setting: &Setting, _: &Programs, access: &Access<'_, Component>, resource: usize) -> Vec<Target> {
    let stored = access.get(setting.resource_slot(resource)).resource();
    let principals = 0..u8::try_from(setting.principals.len()).expect("there are few principals");
    let mut targets = Vec::new();
    for principal in principals.filter(|principal| acts(setting, *principal) && setting.entitled(*principal, resource))
    {
        for (number, instance) in (0..).zip(&stored.instances) {
            if !instance.revoked.contains(&principal) {
                let handle = Handle { resource: stored.id, instance: number };
                targets.push(Target::PrincipalAndHandle(principal, handle));
            }
        }
    }
    targets
}

fn strike(strike: &mut Strike<'_, '_>, target: Target, _: usize) -> Vec<Fact> {
    let Target::PrincipalAndHandle(principal, handle) = target else { unreachable!("a principal loses a permission") };
    let slot = strike.setting.resource_slot(usize::from(handle.resource));
    let mut resource = strike.access.get(slot).resource().clone();
    let revoked = &mut resource.instances[usize::from(handle.instance)].revoked;
    revoked.push(principal);
    revoked.sort_unstable();
    strike.access.set(slot, resource.into());
    let open = (0..strike.setting.agents()).any(|agent| {
        let call = strike.access.get(strike.setting.call_slot(agent)).call();
        let on_it = call.as_ref().is_some_and(|call| {
            let other = call.request.other.as_ref().is_some_and(|other| other.handle == handle);
            call.request.tool != Tool::Read && (other || call.request.handle == Some(handle))
        });
        on_it && strike.setting.principal(agent) == principal
    });
    vec![Fact::Revoked { open }]
}
