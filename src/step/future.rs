//! What each source may still read and write: what partial-order reduction rests on.
//!
//! The engine asserts of every action that it stays within what is declared here for its source.

use super::{Simulation, Source};
use crate::engine::{Access, Footprint, GHOSTS, SlotSet};
use crate::faults::{FAULTS, set_of};
use crate::handler::Aspect;
use crate::invariants::INVARIANTS;
use crate::model::design::{Handles, Replies};
use crate::model::protocol::TaskIds;
use crate::model::{Entry, ResourceId};
use crate::world::{Component, Setting, ghost};

/// The invariants for whose witness alone slots are read that are of no other use, by kind.
pub(super) fn ghost_invariants(kind: usize) -> u64 {
    let names: &[&str] = match kind {
        ghost::LEASES => &["single-lease-holder"],
        ghost::KEYS => &["no-cross-principal"],
        ghost::RESTARTS => &["handle-resolvable"],
        // A new claim must be another than all that are held; which one it is makes no difference.
        ghost::CLAIMS => &[],
        _ => unreachable!("there are {GHOSTS} kinds"),
    };
    let named = INVARIANTS.iter().enumerate().filter(|(_, row)| names.contains(&row.name));
    named.fold(0, |all, (index, _)| all | 1 << index)
}

impl Simulation {
    pub(super) fn future_of(&self, source: usize, access: &Access<'_, Component>) -> Footprint {
        match self.sources[source] {
            Source::Agent(agent) if self.is_done(agent, access) => Footprint::NONE,
            Source::Agent(agent) => self.agent_future(agent, access),
            Source::Orphans(agent) if self.has_no_orphans_for_ever(agent, access) => Footprint::NONE,
            Source::Orphans(agent) => self.orphans_future(agent),
            Source::Fault(fault, struck) => {
                if !self.has(Aspect::MayStrike(fault), access) {
                    return Footprint::NONE;
                }
                self.fault_future(FAULTS[fault].name, struck, access)
            }
            Source::Node(node) if self.deploys(node, access).is_empty() => Footprint::NONE,
            Source::Node(_) => Footprint::ALL,
        }
    }

    /// The slots that `[sometimes]` looks at.
    pub(super) fn slots_of_assertions(&self) -> SlotSet {
        if self.sometimes.is_empty() {
            return SlotSet::NONE;
        }
        let setting = &self.setting;
        let ledgers = (0..setting.agents()).map(|agent| setting.ledger_slot(agent));
        ledgers.chain((0..setting.resources()).map(|resource| setting.resource_slot(resource))).collect()
    }

    /// Whether an agent never moves again, nor anything on its behalf but its orphans.
    fn is_done(&self, agent: usize, access: &Access<'_, Component>) -> bool {
        !self.has(Aspect::Waits(agent), access) && self.has(Aspect::Ended(agent), access)
    }

    fn has_no_orphans_for_ever(&self, agent: usize, access: &Access<'_, Component>) -> bool {
        if self.has(Aspect::HasOrphans(agent), access) || self.answers_are_mixed_up() {
            return false;
        }
        let left = |name: &str| {
            let fault = self.setting.fault_index(name);
            fault.is_some_and(|fault| self.has(Aspect::MayStrike(fault), access))
        };
        let made = left("drop-stream") || left("duplicate-call") || self.setting.goes_on_unheard();
        !made || self.is_done(agent, access)
    }

    /// Whether an answer may come out of another call's stream.
    fn answers_are_mixed_up(&self) -> bool {
        self.setting.model.design.server.replies != Replies::PerRequest
    }

    fn agent_future(&self, agent: usize, access: &Access<'_, Component>) -> Footprint {
        let setting = &self.setting;
        let mut future = self.handling(agent, Some(access));
        own(&mut future, [setting.agent_slot(agent), setting.call_slot(agent)]);
        own(&mut future, self.ledgers_of(agent));
        if setting.goes_on_unheard() {
            own(&mut future, [setting.orphans_slot(agent)]);
        }
        for entry in &setting.model.scenario.agents[agent].work {
            if let Entry::HandOff { to, .. } = entry {
                own(&mut future, to.iter().map(|receiver| setting.agent_slot(*receiver)));
            }
        }
        future
    }

    fn orphans_future(&self, agent: usize) -> Footprint {
        let setting = &self.setting;
        let mut future = self.handling(agent, None);
        own(&mut future, [setting.orphans_slot(agent)]);
        own(&mut future, self.ledgers_of(agent));
        future
    }

    /// The ledgers in which stands what becomes of the work of an agent: its own, and where it shares an intent those of the
    /// others; and where a handler may be at work that has answered, what is left of theirs.
    fn ledgers_of(&self, agent: usize) -> Vec<usize> {
        let setting = &self.setting;
        let others = || setting.sharing_agents(agent).filter(move |other| *other != agent);
        let ledgers = others().map(|other| setting.ledger_slot(other));
        let orphans = others().filter(|_| setting.goes_on_unheard()).map(|other| setting.orphans_slot(other));
        ledgers.chain(orphans).chain([setting.ledger_slot(agent)]).collect()
    }

    /// What the calls of an agent may read and write on the server, from where its work is on.
    fn handling(&self, agent: usize, access: Option<&Access<'_, Component>>) -> Footprint {
        let setting = &self.setting;
        let server = &setting.model.design.server;
        let mut future = Footprint::NONE;
        let whole = self.answers_are_mixed_up() || server.handles == Handles::Sequential;
        if whole {
            return Footprint::ALL;
        }
        let resources = self.resources_of(agent, access);
        let about = |resource: usize| resources.contains(&resource);
        own(&mut future, resources.iter().map(|resource| setting.resource_slot(*resource)));
        own(&mut future, resources.iter().filter_map(|resource| setting.queue_slot(*resource)));
        let leases = setting.all_lease_slots().filter(|(_, resource, _)| about(usize::from(*resource)));
        own(&mut future, leases.map(|(slot, ..)| slot));
        let keys = setting
            .all_keys_slots()
            .filter(|(slot, _)| setting.keys_resource(*slot).is_none_or(|resource| about(usize::from(resource))));
        own(&mut future, keys.map(|(slot, _)| slot));
        // Routes, the memory of nodes and the keys that the upstream saw are shared by all.
        own(&mut future, setting.slots_shared_by_all());
        future.reads.extend(&setting.credentials_slot().into_iter().chain(setting.deployed_slot()).collect());
        let calls = (0..setting.agents()).flat_map(|other| [setting.call_slot(other), setting.orphans_slot(other)]);
        let calls: SlotSet = calls.collect();
        future.peeks[ghost::CLAIMS] = calls;
        if setting.all_lease_slots().next().is_some() {
            future.peeks[ghost::LEASES] = calls;
        }
        let strangers = (0..setting.agents()).filter(|other| setting.principal(*other) != setting.principal(agent));
        let strangers = strangers.flat_map(|other| [setting.agent_slot(other), setting.call_slot(other)]);
        future.peeks[ghost::KEYS] = strangers.collect();
        if setting.model.scenario.nodes == 1 {
            future.peeks[ghost::RESTARTS].insert(setting.budgets_slot());
        }
        future
    }

    /// The resources that an agent's work is about. All, where a handle may turn out to be another resource's.
    fn resources_of(&self, agent: usize, access: Option<&Access<'_, Component>>) -> Vec<ResourceId> {
        let setting = &self.setting;
        let by_handle = setting.sides().all(Setting::keys_by_handle);
        let named = setting.sides().any(|side| side.model.protocol.task_ids == TaskIds::Client);
        let minted = (0..setting.resources()).filter(|resource| setting.resource(*resource).owner.is_none()).count();
        // Two mints name no handle, and so may meet in one key table.
        let mixes = !by_handle || minted > 1;
        if mixes || named {
            return (0..setting.resources()).collect();
        }
        let again = setting.mints_again(agent);
        let from = access
            .filter(|_| !again)
            .map_or(0, |access| usize::from(access.get(setting.agent_slot(agent)).agent().entry));
        let mut resources = Vec::new();
        for entry in setting.model.scenario.agents[agent].work.iter().skip(from) {
            resources.push(entry.resource());
            if let Entry::Mutate { given, also, .. } = entry {
                resources.extend(given.iter().copied().chain(also.as_ref().map(|also| also.resource)));
            }
        }
        resources
    }

    fn fault_future(&self, fault: &str, struck: usize, access: &Access<'_, Component>) -> Footprint {
        let setting = &self.setting;
        let mut future = Footprint::NONE;
        own(&mut future, [setting.budgets_slot()]);
        if let Some(set) = set_of(setting, struck).filter(|_| fault == "restart-node") {
            if set.clone().any(|agent| self.is_done(agent, access)) {
                return Footprint::NONE;
            }
            let of =
                |agent| [self.ledgers_of(agent), vec![setting.agent_slot(agent), setting.call_slot(agent)]].concat();
            own(&mut future, set.flat_map(of));
            return future;
        }
        let [agent, call, orphans] = [
            setting.agent_slot(struck.min(setting.agents() - 1)),
            setting.call_slot(struck.min(setting.agents() - 1)),
            setting.orphans_slot(struck.min(setting.agents() - 1)),
        ];
        let ledgers = || self.ledgers_of(struck.min(setting.agents() - 1));
        let strikes_agents = matches!(fault, "drop-stream" | "compact" | "stop-agent" | "duplicate-call");
        if strikes_agents && self.is_done(struck, access) {
            return Footprint::NONE;
        }
        match fault {
            "drop-stream" | "duplicate-call" if self.answers_are_mixed_up() => return Footprint::ALL,
            "drop-stream" => {
                own(&mut future, ledgers().into_iter().chain([agent, call, orphans]));
                future.reads.extend(&setting.deployed_slot().into_iter().collect());
                own(&mut future, (0..setting.resources()).filter_map(|resource| setting.queue_slot(resource)));
            }
            "compact" => {
                own(&mut future, ledgers().into_iter().chain([agent, call]));
                // What it is told then may be what a handler that has answered is still at work on.
                own(&mut future, Some(orphans).filter(|_| setting.goes_on_unheard()));
            }
            "stop-agent" => own(&mut future, [agent]),
            "duplicate-call" => own(&mut future, [call, orphans]),
            "expire-handle" => own(&mut future, [setting.resource_slot(struck)]),
            "expire-lease" => own(&mut future, setting.all_lease_slots().nth(struck).map(|(slot, ..)| slot)),
            "expire-key" | "expire-claim" => {
                own(&mut future, setting.all_keys_slots().nth(struck).map(|(slot, _)| slot));
            }
            _ => return Footprint::ALL,
        }
        future
    }
}

/// Adds slots that are both read and written.
fn own(footprint: &mut Footprint, slots: impl IntoIterator<Item = usize>) {
    let slots: SlotSet = slots.into_iter().collect();
    footprint.reads.extend(&slots);
    footprint.writes.extend(&slots);
}
