//! The observer of a free run: it looks at every resource before the first call and after the last one, and puts what it
//! sees into the model's state, by which the scenario's assertions are judged.

use serde_json::Value;

use super::free::Free;
use super::{translate, wire};
use crate::engine::Access;
use crate::log::{Ended, State};
use crate::model::{Outcome, ResourceId};
use crate::world::{Field, Handle, Instance, Intents, Request};

impl Free<'_> {
    /// Looks at everything that has a handle: what the scenario has at the start, and later also what was minted. Answers how
    /// what is there differs from what the model has.
    pub(super) async fn look(&mut self, first: bool) -> Result<Vec<String>, String> {
        let mut other = Vec::new();
        for resource in 0..self.simulation.setting().resources() {
            let id = u8::try_from(resource).expect("there are few resources");
            for handle in self.handles.of_resource(id) {
                other.extend(self.look_at(resource, handle, first).await?);
            }
        }
        Ok(other)
    }

    async fn look_at(&mut self, resource: ResourceId, handle: Handle, first: bool) -> Result<Option<String>, String> {
        let setting = self.simulation.setting();
        let declared = setting.resource(resource);
        let mut stored = Access::new(&self.state).get(setting.resource_slot(resource)).resource().clone();
        let number = usize::from(handle.instance);
        let field = |(_, value): &(String, _)| Field { value: Clone::clone(value), shows: Intents::NONE };
        let initial = || declared.fields.iter().map(field).collect();
        let before = stored.instances.get(number).cloned();
        let mut instance = before.unwrap_or_else(|| Instance::new(initial(), setting.first_version(resource), 0));
        let request = Request::read(self.observer(resource), handle.resource, Some(handle));
        let sent = self.servers.prepare(setting, &self.handles, &request, 0)?;
        let reply = sent.send().await.map_err(|error| format!("an observer can't look: {error}"))?;
        if let Some(why) = self.servers.blind(&reply) {
            return Err(format!("an observer sees {why}"));
        }
        let said = self.servers.read(setting, &request, &reply);
        let answer = translate::answer(setting, &mut self.handles, &request, &said, &reply);
        let (was, name) = (instance.content.clone(), self.handles.get(handle).unwrap_or_default().to_owned());
        if let Some(view) = answer.view {
            instance.content = view.content.unwrap_or(instance.content);
            instance.version = view.version.unwrap_or(instance.version);
        }
        let shown = |content| Value::Object(wire::content(setting, resource, content));
        let (is, was) = (shown(&instance.content), shown(&was));
        let differs = (first && is != was).then(|| format!("{name} is {is}, and the scenario has {was}"));
        instance.lost = matches!(said.outcome, Ended::As(Outcome::NotFound));
        if said.outcome.is_ok() {
            self.journal.state(State {
                at: 0,
                handle: name,
                owner: declared.owner.as_ref().filter(|_| first).map(ToString::to_string),
                shared_with: declared.shared_with.iter().filter(|_| first).map(ToString::to_string).collect(),
                version: said.version,
                fields: said.fields,
                lifecycle: None,
            });
        }
        match stored.instances.get_mut(number) {
            Some(there) => *there = instance,
            None => stored.instances.push(instance),
        }
        self.state[setting.resource_slot(resource)] = stored.into();
        Ok(differs)
    }

    /// The observer reads as the first agent of the resource's owner; where nobody acts for the owner, as the first agent.
    fn observer(&self, resource: ResourceId) -> u8 {
        let setting = self.simulation.setting();
        let owner = setting.owner(resource);
        let agent = (0..setting.agents()).find(|agent| setting.principal(*agent) == owner).unwrap_or(0);
        u8::try_from(agent).expect("there are few agents")
    }
}
