//! Choosing: what an agent whose harness is free does with what it has yet to react to.

use super::Harness;
use super::reacting::{Ground, minting};
use crate::engine::Access;
use crate::model::free::Occasion;
use crate::model::{Client, Event, Free, Reaction, Told, Tool};
use crate::world::{Agent, Answer, Component, Request, Setting, Undecided};

impl Harness<'_, '_> {
    /// Whether the harness chooses what to do with events.
    pub(super) fn is_free(&self, tool: Tool) -> bool {
        self.setting.model.client(self.id(), tool).is_free(Free::On)
    }

    /// The agent has yet to choose what it does.
    pub(super) fn put_off(&mut self, occasion: Occasion, request: &Request, answer: Option<&Answer>) {
        // An answer that came is not asked for again.
        let issue = request.issue.filter(|_| occasion == Occasion::Event(Event::BrokenStream));
        let request = Request { id: 0, issue, credential: 0, sent_at: None, superseded: false, ..request.clone() };
        let current = answer.map(|answer| answer.current.clone()).unwrap_or_default();
        self.agent.undecided = Some(Box::new(Undecided { occasion, request, current }));
    }

    /// What an agent that has yet to choose may choose from.
    #[must_use]
    pub fn ways_to_decide(setting: &Setting, access: &Access<'_, Component>, agent: &Agent) -> Vec<Client> {
        let Some(Undecided { occasion, request, .. }) = agent.undecided.as_deref() else { return Vec::new() };
        let client = setting.model.client(usize::from(agent.id), request.tool);
        let resource = usize::from(request.resource);
        let work = &setting.model.scenario.agents[usize::from(agent.id)].work;
        let mints = minting(work, resource).is_some() && {
            let minted = access.get(setting.resource_slot(resource)).resource().instances.len();
            client.attempts.is_none_or(|most| minted <= usize::from(most))
        };
        client.ways_to_react(*occasion, mints)
    }

    /// The agent does what it has chosen to do.
    pub fn decide(&mut self) {
        let undecided = self.agent.undecided.take().expect("an agent that decides has something to decide");
        let Undecided { occasion, request, current } = *undecided;
        match occasion.event() {
            Some(event) => {
                let reaction = self.client(request.tool).reaction(event);
                let answer = Answer { current, ..Answer::about(request.handle) };
                self.perform(reaction, event, &request, Some(&answer));
            }
            None => self.tell(Told::Unknown, Ground::View),
        }
        self.miss_handle();
    }

    /// The agent does what its settings say, where it may choose: for who has nothing to choose by.
    pub fn decide_as_usual(&mut self) {
        while let Some(Undecided { occasion, request, .. }) = self.agent.undecided.as_deref() {
            let usual = occasion.event().map(|event| self.client(request.tool).reaction(event));
            if *occasion == Occasion::Forgot && !matches!(usual, Some(Reaction::Mint { .. } | Reaction::Tell(_))) {
                self.agent.undecided = None;
                return;
            }
            self.decide();
        }
    }
}
