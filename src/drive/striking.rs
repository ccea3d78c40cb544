//! What happens to servers and streams while they are driven: faults, and nodes that change over.

use serde_json::json;

use super::forced::Forced;
use super::note;
use super::wire::{self, Handles};
use crate::action::{Action, Target};
use crate::engine::Access;
use crate::faults::FAULTS;
use crate::handler::call_at;
use crate::model::protocol::Resumable;
use crate::world::{CallRef, Component, Position};

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
        let owner = |handle: crate::world::Handle| {
            let stored = was.get(setting.resource_slot(usize::from(handle.resource))).resource();
            usize::from(stored.instances.get(usize::from(handle.instance)).map_or(0, |instance| instance.node))
        };
        self.journal.event(note::event(setting, name, target));
        match (name, target) {
            ("drop-stream", Target::Agent(agent)) => {
                let call = call_at(setting, &was, CallRef::open(agent)).clone();
                let id = self.label(&call);
                if self.position(after, &id).is_some_and(|call| call.broken) {
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
                self.fleet.restart(usize::from(node))?;
                self.cut_all(usize::from(node));
                Ok(())
            }
            ("ambiguous-commit", Target::Transaction { call, clock_stands }) => {
                let call = call_at(setting, &was, call).clone();
                self.execute(&call, after, json!({ "clock-ticks": !clock_stands, "error": true })).await
            }
            ("expire-handle", Target::Handle(handle)) => {
                self.hear_of(handle).await?;
                let ask = json!({ "do": name, "handle": real(&self.handles, handle)? });
                self.fleet.ask(owner(handle), &ask).await.map(drop)
            }
            ("expire-lease", Target::Lease { slot, instance }) => {
                let place = setting.all_lease_slots().find(|(other, ..)| *other == usize::from(slot));
                let (_, resource, node) = place.ok_or("there is no such lease")?;
                let handle = crate::world::Handle { resource, instance };
                let ask = json!({ "do": name, "handle": real(&self.handles, handle)? });
                self.fleet.ask(node.map_or(0, usize::from), &ask).await.map(drop)
            }
            ("expire-key" | "expire-claim", Target::Record { slot, record }) => {
                let (record, _) = &was.get(usize::from(slot)).keys().records[usize::from(record)];
                let place = setting.all_keys_slots().find(|(other, _)| *other == usize::from(slot));
                let node = place.and_then(|(_, node)| node);
                let ask = json!({
                    "do": "expire-key", "key": wire::key(setting, &record.key), "in_memory": node.is_some(),
                });
                self.fleet.ask(node.map_or(0, usize::from), &ask).await.map(drop)
            }
            ("revoke", Target::PrincipalAndHandle(principal, handle)) => {
                self.hear_of(handle).await?;
                let of = &setting.principals[usize::from(principal)];
                let ask = json!({
                    "do": name, "handle": real(&self.handles, handle)?,
                    "subject": of.subject, "client": of.client, "tenant": of.tenant,
                });
                self.fleet.ask(owner(handle), &ask).await.map(drop)
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
                self.fleet.ask(owner(handle), &ask).await.map(drop)
            }
            ("leak-handle", Target::AgentAndHandle(_, handle)) => self.hear_of(handle).await,
            ("duplicate-call" | "stop-agent" | "compact" | "rotate-credential", _) => Ok(()),
            _ => Err(format!("a driver can't cause `{name}`")),
        }
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
        self.fleet.change_over(node, restart).await?;
        if restart {
            self.cut_all(node);
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

    /// The stream of a call breaks, and is resumed at once: the SDK forgets a stream with its answer, so that the model's client,
    /// which resumes it later, would come too late.
    pub(super) async fn hang_up(&mut self, id: &str) -> Result<(), String> {
        let Some(sent) = self.sent.get_mut(id) else { return Ok(()) };
        if let Some(answer) = sent.answer.take() {
            sent.endpoint.can_resume(id).await?;
            answer.abort();
            sent.answer = Some(tokio::spawn(sent.endpoint.clone().resume(id.to_owned())));
            sent.endpoint.can_resume(id).await?;
        }
        Ok(())
    }

    /// Why no driver can do what the model does next, if none can.
    #[must_use]
    pub fn undrivable(&self, action: &Action) -> Option<&'static str> {
        let Action::Fault { fault, target: Target::Agent(agent) } = action else { return None };
        let (setting, access) = (self.simulation.setting(), Access::new(&self.state));
        let drops = FAULTS[usize::from(*fault)].name == "drop-stream";
        let call = access.get(setting.call_slot(usize::from(*agent))).call().as_ref().filter(|_| drops)?;
        let resumes = setting.of(call.deployed).model.protocol.resumable != Resumable::Never;
        let late = resumes && matches!(call.position, Position::Answered { .. });
        late.then_some("a stream breaks behind its answer, and the SDK has forgotten it when it should be resumed")
    }

    /// Whatever was in a node is gone with it, and the streams of its calls are broken.
    fn cut_all(&mut self, node: usize) {
        self.clients.retain(|(_, _, there), _| *there != node);
        let journal = &mut self.journal;
        self.sent.retain(|id, sent| {
            let stays = sent.node != node;
            if !stays {
                journal.cut(id);
            }
            stays
        });
    }

    /// Finds out the real handle of what was minted, if nobody has heard the answer yet: it is the only one that is unheard.
    pub(super) async fn hear_of(&mut self, handle: crate::world::Handle) -> Result<(), String> {
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
