//! What may happen next: the actions of agents and of calls.

use super::{Simulation, small};
use crate::action::Action;
use crate::engine::Access;
use crate::handler::{self, Luck};
use crate::harness::{Move, next_move};
use crate::model::design::{Balancer, Handles, Versions};
use crate::model::protocol::ClosedStream;
use crate::world::{Call, CallRef, Component, Handle, Position, Progress};

impl Simulation {
    pub(super) fn agent_actions(&self, agent: usize, access: &Access<'_, Component>) -> Vec<Action> {
        let id = small(agent);
        let setting = &self.setting;
        let Some(call) = access.get(setting.call_slot(agent)).call() else {
            let known = access.get(setting.agent_slot(agent)).agent();
            let mut actions = match next_move(setting, known) {
                None => Vec::new(),
                Some(Move::HandOff) => vec![Action::HandOff { agent: id }],
                Some(Move::Send) => self.sends(known, access),
                Some(Move::Decide) => self.decisions(known, access),
                Some(Move::Skip) => vec![Action::Skip { agent: id }],
            };
            actions.extend(self.guesses(agent, access));
            return actions;
        };
        let mut actions = self.call_actions(CallRef::open(id), call, access);
        if access.get(setting.agent_slot(agent)).agent().stopped {
            return actions;
        }
        if call.broken {
            actions.push(Action::Resume { agent: id });
        } else if matches!(call.position, Position::Answered { .. }) {
            actions.push(Action::Receive { agent: id });
        }
        actions.extend(self.guesses(agent, access));
        actions
    }

    /// The handles of others that an agent with work on them can guess.
    fn guesses(&self, agent: usize, access: &Access<'_, Component>) -> Vec<Action> {
        let setting = &self.setting;
        if setting.model.design.server.handles != Handles::Sequential {
            return Vec::new();
        }
        let at = access.get(setting.agent_slot(agent)).agent();
        let foreign = |resource: &usize| !setting.entitled(setting.principal(agent), *resource);
        let unknown = |resource: &usize| at.known[*resource].handle.is_none() && !at.stopped;
        let mut guesses = Vec::new();
        for resource in (0..setting.resources()).filter(foreign).filter(unknown) {
            let stored = access.get(setting.resource_slot(resource)).resource();
            guesses.extend((0..).zip(&stored.instances).map(|(instance, _)| Action::Guess {
                agent: small(agent),
                handle: Handle { resource: stored.id, instance },
            }));
        }
        guesses
    }

    /// What can happen to a call on the server's side.
    pub(super) fn call_actions(&self, at: CallRef, call: &Call, access: &Access<'_, Component>) -> Vec<Action> {
        match call.position {
            Position::InTransit if self.setting.routes_late => {
                self.executions(at, call, access, &Progress::start(call.request.handle), true)
            }
            Position::InTransit | Position::Interrupted { .. } => {
                let route = self.setting.route(&call.request);
                let chosen = route.and_then(|(slot, place)| access.get(slot).route().get(place).copied().flatten());
                let chosen = chosen.or_else(|| self.home(call, access));
                let nodes = 0..small(self.setting.model.scenario.nodes);
                let open = nodes.filter(|node| chosen.is_none_or(|chosen| chosen == *node));
                open.flat_map(|node| {
                    let equal = handler::equal_ids(&self.setting, access, at, node).into_iter().map(Some);
                    let answered = call.has_answered();
                    let deliver = move |takes_from| Action::Deliver { call: at, node, takes_from, answered };
                    std::iter::once(None).chain(equal).map(deliver)
                })
                .collect()
            }
            Position::AtNode { ref progress, .. } if self.programs.may_run(&self.setting, access, call) => {
                self.executions(at, call, access, progress, false)
            }
            Position::AtNode { .. } | Position::Answered { .. } | Position::Unanswered { .. } => Vec::new(),
        }
    }

    /// The node to which a balancer that knows where each handle lives brings a call.
    fn home(&self, call: &Call, access: &Access<'_, Component>) -> Option<u8> {
        let by_handle = self.setting.model.design.server.balancer == Balancer::ByHandle;
        let handle = call.request.handle.filter(|_| by_handle && self.setting.is_state_in_nodes())?;
        let stored = access.get(self.setting.resource_slot(usize::from(handle.resource))).resource();
        stored.instances.get(usize::from(handle.instance)).map(|instance| instance.node)
    }

    /// How the next transaction of a call may be executed. `arrives`: the request arrives first.
    fn executions(
        &self,
        at: CallRef,
        call: &Call,
        access: &Access<'_, Component>,
        progress: &Progress,
        arrives: bool,
    ) -> Vec<Action> {
        let next = self.programs.of(call).next_steps(progress);
        let (deployed, answered) = (call.deployed, call.has_answered());
        let advances =
            next.iter().any(|step| matches!(*step, "apply" | "apply-next" | "save" | "advance-version" | "undo"));
        let server = &self.setting.of(deployed).model.design.server;
        let coarse = server.versions == Versions::CoarseClock;
        let tried = || self.programs.try_execute(&self.setting, access, at, Luck::PLAIN);
        let mut actions = vec![Action::Execute { call: at, clock_stands: false, arrives, deployed, answered }];
        if advances && coarse && tried().is_some_and(|tried| tried.asked_clock) {
            actions.push(Action::Execute { call: at, clock_stands: true, arrives, deployed, answered });
        }
        actions
    }

    pub(super) fn orphan_actions(&self, agent: usize, access: &Access<'_, Component>) -> Vec<Action> {
        let orphans = access.get(self.setting.orphans_slot(agent)).orphans();
        let cancels =
            |call: &Call| self.setting.of(call.deployed).model.protocol.closed_stream == ClosedStream::Cancels;
        let mut actions = Vec::new();
        for (index, call) in orphans.iter().enumerate() {
            // Equal orphans have equal futures: one of them stands for all.
            if index > 0 && orphans[index - 1] == *call {
                continue;
            }
            let at = CallRef { agent: small(agent), orphan: Some(small(index)) };
            actions.extend(self.call_actions(at, call, access));
            if let Position::AtNode { progress, .. } = &call.position {
                let between = self.programs.of(call).is_between(progress);
                if cancels(call)
                    && !progress.answered
                    && (between || !self.programs.may_run(&self.setting, access, call))
                {
                    actions.push(Action::Cancel { call: at });
                }
            }
        }
        actions
    }
}
