//! What happens to servers and streams while they are driven: faults, and nodes that change over.

use serde_json::{Value, json};

use super::forced::Forced;
use super::note;
use super::wire::{self, Handles};
use crate::action::Target;
use crate::engine::Access;
use crate::handler::call_at;
use crate::serve::{CREDENTIALS, Scope};
use crate::world::{self, CallRef, Component, Handle, Named, Position, RecordKey};

impl Forced<'_> {
    pub(super) async fn fault(
        &mut self,
        name: &str,
        target: Target,
        before: &[Component],
        after: &[Component],
    ) -> Result<(), String> {
        let (setting, was) = (self.simulation.setting(), Access::new(before));
        let real = |handles: &Handles, handle| {
            handles.get(handle).map(str::to_owned).ok_or_else(|| "nobody heard that handle".to_owned())
        };
        let owner = |handle: Handle| {
            let stored = was.get(setting.resource_slot(usize::from(handle.resource))).resource();
            usize::from(stored.instances.get(usize::from(handle.instance)).map_or(0, |instance| instance.node))
        };
        self.journal.event(note::event(setting, name, target));
        match (name, target) {
            ("drop-stream", Target::Agent(agent)) => {
                let call = call_at(setting, &was, CallRef::open(agent)).clone();
                let id = self.label(&call);
                if self.all_of(after, &id).iter().any(|call| call.broken) {
                    return self.hang_up(&id).await;
                }
                self.journal.cut(&id);
                if let Some(sent) = self.sent.get_mut(&id)
                    && let Some(answer) = sent.answer.take()
                {
                    answer.abort();
                }
                Ok(())
            }
            ("restart-node", Target::Node(node)) => {
                let node = usize::from(node);
                self.hold_answers(node, after).await?;
                self.fleet.restart(node)?;
                self.cut_all(node, after);
                Ok(())
            }
            ("ambiguous-commit", Target::Transaction { call, clock_stands }) => {
                let call = call_at(setting, &was, call).clone();
                self.execute(&call, after, json!({ "clock-ticks": !clock_stands, "lags": false, "error": true })).await
            }
            ("stale-read", Target::Agent(agent)) => {
                let call = call_at(setting, &was, CallRef::open(agent)).clone();
                self.execute(&call, after, json!({ "lags": true })).await
            }
            ("expire-handle", Target::Handle(handle)) => {
                self.hear_of(handle).await?;
                let ask = json!({ "do": name, "handle": real(&self.handles, handle)? });
                self.strike(owner(handle), &ask).await
            }
            ("expire-lease", Target::Lease { slot, instance }) => {
                let place = setting.all_lease_slots().find(|(other, ..)| *other == usize::from(slot));
                let (_, resource, node) = place.ok_or("there is no such lease")?;
                let handle = Handle { resource, instance };
                let ask = json!({ "do": name, "handle": real(&self.handles, handle)? });
                self.strike(node.map_or(0, usize::from), &ask).await
            }
            ("expire-key" | "expire-claim", Target::Record { slot, record }) => {
                let slot = usize::from(slot);
                let (record, _) = &was.get(slot).keys().records[usize::from(record)];
                let node = setting.keys_place(slot);
                let scope = self.scope(setting.keys_scope(slot), record).await?;
                let key = wire::key(setting, &record.key);
                let ask = json!({ "do": "expire-key", "key": key, "scope": scope, "in_memory": node.is_some() });
                self.strike(node.map_or(0, usize::from), &ask).await
            }
            ("revoke", Target::PrincipalAndHandle(principal, handle)) => {
                self.hear_of(handle).await?;
                let of = &setting.principals[usize::from(principal)];
                let ask = json!({
                    "do": name, "handle": real(&self.handles, handle)?,
                    "subject": of.subject, "client": of.client, "tenant": of.tenant,
                });
                self.strike(owner(handle), &ask).await
            }
            ("recreate", Target::Handle(handle)) => {
                self.hear_of(handle).await?;
                let stored = Access::new(after);
                let stored = stored.get(setting.resource_slot(usize::from(handle.resource))).resource();
                let anew = &stored.instances[usize::from(handle.instance)];
                let content = wire::content(setting, usize::from(handle.resource), &anew.content);
                let ask = json!({
                    "do": name, "handle": real(&self.handles, handle)?, "content": content, "version": anew.version,
                });
                self.strike(owner(handle), &ask).await
            }
            ("leak-handle", Target::AgentAndHandle(_, handle)) => {
                self.hear_of(handle).await?;
                self.hear_of_state(handle, before).await
            }
            ("duplicate-call" | "stop-agent" | "compact" | "rotate-credential" | "reroute", _) => Ok(()),
            _ => Err(format!("a driver can't cause `{name}`")),
        }
    }

    /// Has the hook of a node strike the one thing that the model strikes.
    async fn strike(&self, node: usize, ask: &Value) -> Result<(), String> {
        let said = self.fleet.ask(node, ask).await?;
        if said["struck"] == 1 {
            Ok(())
        } else {
            Err(format!("the hook should strike one thing by {ask}, and said {said}"))
        }
    }

    /// The scope of a record as the server has it.
    async fn scope(&mut self, of: &world::Scope, record: &RecordKey) -> Result<Scope, String> {
        let named = match (of.handle, record.instance) {
            (Named::Of(resource), Some(instance)) => {
                Some(Handle { resource: u8::try_from(resource).expect("there are few resources"), instance })
            }
            _ => None,
        };
        if let Some(handle) = named {
            self.hear_of(handle).await?;
        }
        let credential = record.credential.and_then(|number| CREDENTIALS.get(usize::from(number)));
        Ok(Scope {
            subject: of.subject.clone(),
            client: of.client.clone(),
            tenant: of.tenant.clone(),
            credential: credential.map(|name| (*name).to_owned()),
            handle: named.and_then(|handle| self.handles.get(handle)).map(str::to_owned),
            tool: of.tool.map(|tool| tool.name().to_owned()),
        })
    }

    /// A node changes over to what is deployed.
    pub(super) async fn change_over(
        &mut self,
        node: u8,
        before: &[Component],
        after: &[Component],
    ) -> Result<(), String> {
        let setting = self.simulation.setting();
        self.journal.event(note::event(setting, "deploy", Target::Node(node)));
        let (node, restart) = (usize::from(node), setting.model.scenario.deploy.restart);
        if restart {
            self.hold_answers(node, after).await?;
        }
        self.fleet.change_over(node, restart).await?;
        if restart {
            self.cut_all(node, after);
        }
        // A stream that was broken, and can't be resumed any more.
        let (was, is) = (Access::new(before), Access::new(after));
        for slot in (0..setting.agents()).map(|agent| setting.call_slot(agent)) {
            if let Some(call) = was.get(slot).call().iter().find(|_| is.get(slot).call().is_none()) {
                self.journal.cut(&self.label(call));
            }
        }
        Ok(())
    }

    /// The stream of a call breaks, and can be resumed. Of what was on its way nothing was read.
    pub(super) async fn hang_up(&mut self, id: &str) -> Result<(), String> {
        let Some(sent) = self.sent.get_mut(id) else { return Ok(()) };
        if let Some(answer) = sent.answer.take() {
            sent.endpoint.can_resume(id).await?;
            answer.abort();
        }
        Ok(())
    }

    /// A client asks for the rest of a stream that broke. One whose request has not left yet begins with it.
    pub(super) fn resume(&mut self, id: &str) {
        if let Some(sent) = self.sent.get_mut(id) {
            sent.answer = Some(tokio::spawn(sent.endpoint.clone().resume(id.to_owned())));
        }
    }

    /// Whatever was in a node is gone with it, and the streams of its calls are broken; but those of calls that outlive it are
    /// kept by what stands in front.
    fn cut_all(&mut self, node: usize, after: &[Component]) {
        self.clients.retain(|(_, _, there), _| *there != node);
        let struck: Vec<String> =
            self.sent.iter().filter(|(_, sent)| sent.node == node).map(|(id, _)| id.clone()).collect();
        for id in struck {
            let left = self.all_of(after, &id);
            if left.is_empty() {
                self.journal.cut(&id);
            }
            let is_held = left.iter().any(|call| matches!(call.position, Position::Answered { .. }));
            match self.sent.get_mut(&id).filter(|_| is_held) {
                Some(sent) => sent.is_gone = true,
                None => drop(self.sent.remove(&id).and_then(|sent| sent.answer).map(|answer| answer.abort())),
            }
        }
    }

    /// Where handles carry the state, finds out the real one that carries what is there now.
    pub(super) async fn hear_of_state(&mut self, handle: Handle, state: &[Component]) -> Result<(), String> {
        let setting = self.simulation.setting();
        let stored = Access::new(state);
        let stored = stored.get(setting.resource_slot(usize::from(handle.resource))).resource();
        let Some(token) = setting.token_of(&stored.instances[usize::from(handle.instance)]) else { return Ok(()) };
        let held = self.fleet.state().await?;
        let signed = self.handles.get(handle).and_then(|name| held.get(name)?["signed"].as_str());
        let signed = signed.ok_or("no handle carries what is there")?.to_owned();
        self.handles.learn_signed(handle, &wire::carried(setting, handle, &token), &signed)
    }

    /// Finds out the real handle of what was minted, if nobody has heard the answer yet: it is the only one that is unheard.
    pub(super) async fn hear_of(&mut self, handle: Handle) -> Result<(), String> {
        if self.handles.get(handle).is_some() {
            return Ok(());
        }
        let held = self.fleet.state().await?;
        let mut unheard = held.keys().filter(|real| !self.handles.is_known(real));
        match (unheard.next(), unheard.next()) {
            (Some(real), None) => self.handles.learn(handle, real),
            _ => Err("nobody heard that handle, and several might be meant".to_owned()),
        }
    }
}
