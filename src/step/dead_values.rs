//! Dead values: parts of a state that nothing looks at any more, which a reduced search forgets.
//!
//! States that differ in nothing else have the same future with the same observations, so they are one.
//! `docs/engine.md` says of each part why.

use super::Simulation;
use crate::engine::Access;
use crate::invariants::INVARIANTS;
use crate::model::Tool;
use crate::world::{Agent, Attempt, Call, Component, Errand, Position, Purpose, Setting};

/// Which parts are dead that live in other models.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct DeadValues {
    /// How a call came about, once it was sent: from then on that decides about a witness alone, which was reached.
    attempts: bool,
    /// That an answer is from a record: that can only be somebody else's where there is somebody else.
    replays: bool,
}

impl DeadValues {
    /// Which are, in this model. `witnessed`: the properties whose witness need not be looked for, one bit each.
    pub fn of(setting: &Setting, witnessed: u64) -> Self {
        let told = INVARIANTS.iter().position(|row| row.name == "truthful-outcome").expect("it is in the table");
        Self { attempts: witnessed & (1 << told) != 0, replays: setting.principals.len() == 1 }
    }
}

impl Simulation {
    /// Forgets the dead values of what a step has written.
    pub(super) fn forget_in(&self, access: &mut Access<'_, Component>) {
        let Some(dead) = self.dead_values else { return };
        let open = open_changes(access.written().map(|component| &*component));
        access.written().for_each(|component| self.forget_of(component, dead, open));
    }

    /// Forgets the dead values of a whole state.
    pub(super) fn forget(&self, state: &mut [Component]) {
        let Some(dead) = self.dead_values else { return };
        let open = open_changes(state.iter());
        state.iter_mut().for_each(|component| self.forget_of(component, dead, open));
    }

    /// `open`: the agents of which it is known that a mutating call of theirs is open, one bit each.
    fn forget_of(&self, component: &mut Component, dead: DeadValues, open: u64) {
        match component {
            Component::Agent(agent) => {
                // Whatever becomes of the call says anew how the next one comes about.
                if dead.attempts && open & (1 << agent.id) != 0 {
                    agent.attempt = Attempt::First;
                }
                // Only a condition compares what was seen before with what is seen then.
                let compares = matches!(agent.errand, Errand::Reading { purpose: Purpose::Replan(Some(_)), .. });
                if !compares {
                    agent.old.clear();
                }
                if self.is_at_its_end(agent) {
                    agent.known.iter_mut().for_each(|known| known.view = None);
                }
            }
            Component::Call(Some(Call { position: Position::Answered { answer, .. }, .. })) if dead.replays => {
                answer.replayed = false;
            }
            _ => {}
        }
    }

    /// Whether an agent has come to the end of its work, and so never plans anything any more.
    fn is_at_its_end(&self, agent: &Agent) -> bool {
        usize::from(agent.entry) >= self.setting.model.scenario.agents[usize::from(agent.id)].work.len()
    }
}

/// The agents of which one of these is a mutating call that is open, one bit each.
fn open_changes<'c>(components: impl Iterator<Item = &'c Component>) -> u64 {
    components.fold(0, |open, component| match component {
        Component::Call(Some(Call { request, .. })) if request.tool != Tool::Read => open | 1 << request.agent,
        _ => open,
    })
}
