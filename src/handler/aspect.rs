//! Aspects of components: what decides whether a source can move at all, and looks at no more than that.

use crate::engine::Access;
use crate::handler::Programs;
use crate::model::design::Handles;
use crate::model::{AgentId, Entry, Tool};
use crate::world::{Call, Component, Position, Setting};

/// An aspect of a component, which it has or has not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aspect {
    /// An agent waits for a call.
    Waits(AgentId),
    /// It does, and if that call breaks, it is not as it was before it sent it, or something else is not.
    LeavesTrace(AgentId),
    /// An agent will never begin anything again.
    Ended(AgentId),
    /// An agent has orphans.
    HasOrphans(AgentId),
    /// A fault may still strike, by its place in the fault table.
    MayStrike(usize),
}

/// The aspects of an agent.
const PER_AGENT: usize = 4;

impl Aspect {
    /// All aspects, by their numbers.
    fn all(setting: &Setting) -> impl Iterator<Item = Self> {
        let agents = (0..setting.agents()).flat_map(|agent| {
            [Self::Waits(agent), Self::LeavesTrace(agent), Self::Ended(agent), Self::HasOrphans(agent)]
        });
        agents.chain((0..setting.faults().len()).map(Self::MayStrike))
    }

    const fn number(self, setting: &Setting) -> usize {
        match self {
            Self::Waits(agent) => agent * PER_AGENT,
            Self::LeavesTrace(agent) => agent * PER_AGENT + 1,
            Self::Ended(agent) => agent * PER_AGENT + 2,
            Self::HasOrphans(agent) => agent * PER_AGENT + 3,
            Self::MayStrike(fault) => setting.agents() * PER_AGENT + fault,
        }
    }

    fn slot(self, setting: &Setting) -> usize {
        match self {
            Self::Waits(agent) | Self::LeavesTrace(agent) => setting.call_slot(agent),
            Self::Ended(agent) => setting.agent_slot(agent),
            Self::HasOrphans(agent) => setting.orphans_slot(agent),
            Self::MayStrike(_) => setting.budgets_slot(),
        }
    }

    /// Whether the component has it.
    fn is_of(self, setting: &Setting, programs: &Programs, component: &Component) -> bool {
        match self {
            Self::Waits(_) => component.call().is_some(),
            Self::LeavesTrace(_) => component.call().as_ref().is_some_and(|call| leaves_trace(setting, programs, call)),
            Self::Ended(agent) => {
                let at = component.agent();
                let worked = usize::from(at.entry) >= setting.model.scenario.agents[agent].work.len();
                at.stopped || worked && setting.model.design.server.handles != Handles::Sequential
            }
            Self::HasOrphans(_) => !component.orphans().is_empty(),
            Self::MayStrike(fault) => component.budgets()[fault] > 0,
        }
    }

    /// Whether what stands in its slot has it.
    pub fn is_in(self, setting: &Setting, programs: &Programs, access: &Access<'_, Component>) -> bool {
        let of = |component: &Component| self.is_of(setting, programs, component);
        access.aspect(self.number(setting), self.slot(setting), of)
    }
}

/// The slots of all aspects, by their numbers.
#[must_use]
pub fn slots_of_aspects(setting: &Setting) -> Vec<usize> {
    Aspect::all(setting).map(|aspect| aspect.slot(setting)).collect()
}

/// Whether a component has the aspect of that number.
#[must_use]
pub fn has_aspect(setting: &Setting, programs: &Programs, aspect: usize, component: &Component) -> bool {
    let aspect = Aspect::all(setting).nth(aspect).expect("aspects are asked for by their numbers");
    aspect.is_of(setting, programs, component)
}

/// Whether an agent whose call is struck by a restart is not as it was before it sent it, or something else is not: otherwise the
/// call may as well not have been sent before the restart.
fn leaves_trace(setting: &Setting, programs: &Programs, call: &Call) -> bool {
    let mut entries = setting.model.scenario.agents.iter().flat_map(|agent| &agent.work);
    let hands_off = entries.any(|entry| matches!(entry, Entry::HandOff { .. }));
    let meanwhile = ["compact", "leak-handle", "stop-agent"].into_iter().any(|fault| setting.budget(fault) > 0);
    let changes = programs.can_change(setting, &Call { position: Position::InTransit, ..call.clone() });
    call.request.tool != Tool::Read || hands_off || meanwhile || changes
}
