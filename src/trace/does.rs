//! How an action is named in a trace, and the action that a trace names.

use super::replay::ReplayError;
use super::words::Names;
use super::{Does, chosen};
use crate::action::{Action, Target};
use crate::engine::Access;
use crate::step::Simulation;
use crate::suggest::did_you_mean;
use crate::world::{Component, Handle};

impl std::fmt::Display for Does {
    /// The action and its operands, with spaces between.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { action, agent, request, node, to, handle, principal, leaked_key, key, same_id_as, client, .. } =
            self;
        formatter.write_str(action)?;
        // A request names its agent.
        let agent = agent.as_ref().filter(|_| request.is_none());
        let one = [agent, request.as_ref(), node.as_ref(), handle.as_ref(), principal.as_ref()];
        let more = [leaked_key.as_ref(), key.as_ref(), same_id_as.as_ref(), client.as_ref()];
        one.into_iter()
            .flatten()
            .chain(to)
            .chain(more.into_iter().flatten())
            .try_for_each(|operand| write!(formatter, " {operand}"))
    }
}

/// The one of these enabled actions with these operands.
///
/// # Errors
///
/// It is not among them: what may have been meant, or what is enabled.
pub fn among(
    simulation: &Simulation,
    access: &Access<'_, Component>,
    enabled: Vec<Action>,
    number: usize,
    wanted: &Does,
) -> Result<Action, ReplayError> {
    // So many are listed.
    const LISTED: usize = 6;
    let named: Vec<Does> = enabled.iter().map(|action| does(simulation, access, action)).collect();
    if let Some(found) = named.iter().position(|does| does == wanted) {
        return Ok(enabled.into_iter().nth(found).expect("as many names as actions"));
    }
    let (step, named) = (wanted.to_string(), named.iter().map(Does::to_string).collect::<Vec<_>>());
    let instead = did_you_mean(&step, named.iter().map(String::as_str)).unwrap_or_else(|| {
        let listed: Vec<String> = named.iter().take(LISTED).map(|does| format!("`{does}`")).collect();
        match named.len() {
            0 => "nothing is enabled there".to_owned(),
            1..=LISTED => format!("enabled there: {}", listed.join(", ")),
            all => format!("enabled there: {} and {} more", listed.join(", "), all - LISTED),
        }
    });
    Err(ReplayError::NotEnabled { number, step, instead })
}

/// An action's name and operands, in a labelled state in which it is enabled.
#[must_use]
pub fn does(simulation: &Simulation, access: &Access<'_, Component>, action: &Action) -> Does {
    let setting = simulation.setting();
    let names = Names(setting);
    let agent_name = |agent: u8| Some(setting.agent_name(usize::from(agent)).to_owned());
    let mut does = Does { action: action.name().to_owned(), ..Does::default() };
    match action {
        Action::Decide { agent, way } => {
            does.agent = agent_name(*agent);
            let at = access.get(setting.agent_slot(usize::from(*agent))).agent();
            let ways = simulation.ways_to_decide(at, access);
            let undecided = at.undecided.as_ref().expect("who decides has something to decide");
            let own = setting.model.client(usize::from(*agent), undecided.request.tool);
            does.client = Some(chosen::decision(own, undecided, &ways[usize::from(*way)]));
        }
        Action::Send { agent, leaked, way } => {
            does.agent = agent_name(*agent);
            let at = access.get(setting.agent_slot(usize::from(*agent))).agent();
            let ways = &setting.choices(usize::from(*agent), setting.tool_at(at)).sends;
            does.client = chosen::differs(&ways[0], &ways[usize::from(*way)]);
            let work = &setting.model.scenario.agents[usize::from(*agent)].work;
            let resource = work[usize::from(at.entry)].resource();
            does.leaked_key = leaked.map(|leaked| names.key(&at.known[resource].leaked[usize::from(leaked)]));
            let slot = setting.requests_slot().expect("only labelled states are written down");
            let sent = access.get(slot).requests()[usize::from(*agent)];
            does.request = Some(names.request(*agent, sent.saturating_add(1)));
        }
        Action::Deliver { call, .. } | Action::Execute { call, .. } | Action::Cancel { call } => {
            if let Action::Deliver { takes_from: Some(other), .. } = action {
                let other_id = simulation.call(access, *other).request.id;
                does.same_id_as = Some(names.request(other.agent, other_id));
            }
            does.clock_stands = matches!(action, Action::Execute { clock_stands: true, .. });
            does.agent = agent_name(call.agent);
            let there = simulation.call(access, *call);
            does.orphan = call.orphan.is_some() && !there.has_answered();
            does.request = Some(names.request(call.agent, there.request.id));
            let node = if let Action::Deliver { node, .. } = action { Some(*node) } else { there.node() };
            does.node = node.map(|node| setting.node_name(node));
        }
        Action::Receive { agent } | Action::Resume { agent } => {
            does.agent = agent_name(*agent);
            let call = access.get(setting.call_slot(usize::from(*agent))).call();
            does.request = call.as_ref().map(|call| names.request(*agent, call.request.id));
            does.node = call.as_ref().and_then(crate::world::Call::node).map(|node| setting.node_name(node));
        }
        Action::HandOff { agent } => {
            does.agent = agent_name(*agent);
            let (handle, to) = names.hand_off(access, *agent);
            does.handle = handle;
            does.to = to;
        }
        Action::Deploy { node } => {
            does.node = Some(setting.node_name(*node));
            does.to_run = Some(setting.side_name(true));
            does.restarts = setting.model.scenario.deploy.restart;
        }
        Action::Skip { agent } => does.agent = agent_name(*agent),
        Action::Guess { agent, handle } => {
            does.agent = agent_name(*agent);
            does.handle = Some(setting.handle_name(*handle));
        }
        Action::Fault { target, .. } => {
            does.fault = true;
            match target {
                Target::Agent(agent) => {
                    does.agent = agent_name(*agent);
                    let call = access.get(setting.call_slot(usize::from(*agent))).call();
                    does.request = call.as_ref().map(|call| names.request(*agent, call.request.id));
                    does.node = call.as_ref().and_then(crate::world::Call::node).map(|node| setting.node_name(node));
                }
                Target::Transaction { call, clock_stands } => {
                    does.clock_stands = *clock_stands;
                    does.agent = agent_name(call.agent);
                    let there = simulation.call(access, *call);
                    does.orphan = call.orphan.is_some() && !there.has_answered();
                    does.request = Some(names.request(call.agent, there.request.id));
                    does.node = there.node().map(|node| setting.node_name(node));
                }
                Target::Keeping(agent, way) => {
                    does.agent = agent_name(*agent);
                    let at = access.get(setting.agent_slot(usize::from(*agent))).agent();
                    let ways = &setting.choices(usize::from(*agent), setting.tool_at(at)).keeps;
                    does.client = chosen::differs(&ways[0], &ways[usize::from(*way)]);
                }
                Target::Node(node) => does.node = Some(setting.node_name(*node)),
                Target::Calls { .. } => unreachable!("in states that are shown, calls have nodes"),
                Target::Handle(handle) => does.handle = Some(setting.handle_name(*handle)),
                Target::Record { slot, record } => {
                    let (record, _) = &access.get(usize::from(*slot)).keys().records[usize::from(*record)];
                    does.key = Some(names.key(&record.key));
                    does.handle = names.record_handle(usize::from(*slot), record);
                    let place = setting.all_keys_slots().find(|(other, _)| *other == usize::from(*slot));
                    does.node = place.and_then(|(_, node)| node).map(|node| setting.node_name(node));
                }
                Target::Lease { slot, instance } => {
                    let place = setting.all_lease_slots().find(|(other, ..)| *other == usize::from(*slot));
                    let (_, resource, node) = place.expect("the fault names a slot of leases");
                    does.handle = Some(setting.handle_name(Handle { resource, instance: *instance }));
                    does.node = node.map(|node| setting.node_name(node));
                }
                Target::Principal(principal) => {
                    does.principal = Some(setting.principals[usize::from(*principal)].to_string());
                }
                Target::AgentAndHandle(agent, handle) => {
                    does.agent = agent_name(*agent);
                    does.handle = Some(setting.handle_name(*handle));
                }
                Target::PrincipalAndHandle(principal, handle) => {
                    does.principal = Some(setting.principals[usize::from(*principal)].to_string());
                    does.handle = Some(setting.handle_name(*handle));
                }
            }
        }
    }
    does
}
