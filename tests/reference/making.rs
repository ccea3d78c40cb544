//! The steps that reach outside or make something: `call-upstream`, `call-upstream-with-key`, `mint` (section 5).

use handlecheck::model::Outcome;
use handlecheck::model::design::{State as StateIn, TakenName};
use handlecheck::model::protocol::TaskIds;

use super::judge;
use super::server;
use super::state::{Answer, Found, Handle, Life, Stored, Target};
use super::steps::{Passed, Step, caller};

impl Step<'_, '_> {
    /// `call-upstream`: causes the external effect. It is never rolled back.
    pub fn call_upstream(&mut self) -> Passed {
        if let Some(intent) = self.request.intent {
            self.world.count_effect(intent, Target::Upstream);
            self.world.keep_facts();
        }
        Ok(())
    }

    /// `call-upstream-with-key`: the same, once for each key of a principal.
    pub fn call_upstream_with_key(&mut self) -> Passed {
        let caller = caller(self.world, self.request, self.handling.node);
        match self.request.key.clone() {
            Some(key) if !self.world.state.upstream.insert((caller, key.clone())) => Ok(()),
            _ => self.call_upstream(),
        }
    }

    /// `mint`: creates a resource owned by the principal and answers its handle.
    pub fn mint(&mut self) -> Passed {
        let Some(intent) = self.request.intent else { return Ok(()) };
        let model = self.world.model;
        let node = self.handling.node;
        let instances = self.world.state.resources.keys().filter(|handle| handle.0 == self.request.resource).count();
        if model.protocol.task_ids == TaskIds::Client
            && let Some(taken) = self.of_that_name()
        {
            return self.name_is_taken(taken);
        }
        let handle = (self.request.resource, instances as u8);
        let content = super::client::minted_content(model, self.request.resource, intent);
        let owner = judge::principal(model, self.request.agent).clone();
        let filed_under = caller(self.world, self.request, node);
        let mut stored = Stored::new(model, owner, Some(node), 1, content.clone());
        stored.filed_under = Some(filed_under).filter(|of| *of != stored.owner);
        stored.session = (model.design.server.state == StateIn::Session).then_some(self.request.agent);
        self.handling.answer.minted = Some(handle);
        self.handling.answer.version = Some(1);
        self.handling.answer.token = server::token_of(model, &stored);
        let lasts = stored.node.is_some();
        if judge::basis_changed(model, &self.world.state, self.request, None) {
            self.world.broken(judge::BASIS_HOLDS);
        }
        self.world.state.resources.insert(handle, stored);
        self.note_found(Found::Nothing(handle));
        self.world.count_effect(intent, Target::Resource(handle, None));
        if lasts {
            self.world.keep_facts();
        }
        Ok(())
    }

    /// What is here under the name that a client chooses for what it mints: the same resource, or one for which the same
    /// name was chosen, in the names of this caller.
    fn of_that_name(&self) -> Option<Handle> {
        let model = self.world.model;
        let resources = &model.scenario.resources;
        let wanted = &resources[self.request.resource];
        let caller = caller(self.world, self.request, self.handling.node);
        let mut there = self.world.state.resources.iter().filter(|(handle, stored)| {
            let named = handle.0 == self.request.resource
                || wanted.chosen.is_some() && resources[handle.0].chosen == wanted.chosen;
            let by = stored.filed_under.as_ref().unwrap_or(&stored.owner);
            let mut parts = model.design.server.name_scope.iter();
            named
                && self.stored_as(**handle).is_some()
                && stored.life != Life::Deleted
                && !stored.expired
                && parts.all(|part| judge::part(by, *part) == judge::part(&caller, *part))
        });
        there.next().map(|(handle, _)| *handle)
    }

    /// A mint meets its name: it is refused, or answered with what is there.
    fn name_is_taken(&mut self, taken: Handle) -> Passed {
        let model = self.world.model;
        let stored = self.world.state.resources[&taken].clone();
        let mut answer = match model.design.server.taken_name {
            TakenName::Refuse => Answer::refusal(Outcome::NameTaken, self.request.handle),
            TakenName::Answer => self.handling.answer.clone(),
        };
        self.note_interference(&mut answer, &stored.owner);
        if model.design.server.taken_name == TakenName::Refuse {
            return self.refuse_with(answer);
        }
        answer.minted = Some(taken);
        answer.version = Some(stored.version);
        answer.token = server::token_of(model, &stored);
        self.handling.answer = answer;
        Ok(())
    }
}
