//! Checks the three inputs of a run against each other.

use std::collections::BTreeSet;

use crate::model::client::Client;
use crate::model::design::{Calls, Handles, LostReply, NewFields, ReadsFrom, Replies, State};
use crate::model::scenario::{Entry, Operation, Principal};
use crate::model::{
    Agent, AgentId, Design, Expectation, Handler, Model, Protocol, ResourceId, Scenario, Tool, scenario::Resource,
};

use super::diagnostic::{Diagnostic, InputError, Place, Severity};
use super::looking::may_look;
use super::report::expected as advice;
use super::{Input, Source, deploys};

/// Composes a run's three inputs, with what its author should know. `invariants` are the names that the design's
/// `[expect]` may use, besides those of the scenario's assertions.
///
/// # Errors
///
/// What each input allows and the three together don't: work that the design has no handler for, two expectations that
/// contradict each other, an expectation of something that is not judged, state kept in sessions under a protocol that
/// has none.
pub fn compose(
    scenario: &Input<Scenario>,
    design: &Input<Design>,
    protocol: &Input<Protocol>,
    invariants: &[&str],
) -> Result<(Model, Vec<Diagnostic>), InputError> {
    let mut model = Model::compose(scenario.value.clone(), design.value.clone(), protocol.value.clone());
    if design.deployed.is_some() || protocol.deployed.is_some() {
        let design = design.deployed.as_deref().unwrap_or(design);
        let protocol = protocol.deployed.as_deref().unwrap_or(protocol);
        model = model.deploying(design.value.clone(), protocol.value.clone());
    }
    let mut check = Check { model: &model, scenario: &scenario.source, design: &design.source, found: Vec::new() };
    check.handlers();
    check.snapshots();
    check.new_fields();
    check.besides();
    check.sessions();
    check.expectations(invariants);
    check.handles();
    check.budgets();
    check.idle_steps();
    check.idle_settings();
    check.idle_client_settings();
    check.endless_choices();
    if let Some(deployed) = &model.deployed {
        let source = design.deployed.as_ref().map_or(&design.source, |deployed| &deployed.source);
        check.found.extend(deploys::differences(&model, &deployed.model, source));
        let (model, scenario, found) = (&deployed.model, check.scenario, check.found);
        check = Check { model, scenario, design: source, found };
        check.handlers();
        check.snapshots();
        check.besides();
        check.sessions();
        check.idle_steps();
        // What is right or wrong with both, and what is the same text, is said once.
        let mut said = Vec::new();
        check.found.retain(|found| {
            !said.contains(found) && {
                said.push(found.clone());
                true
            }
        });
    }
    let mut diagnostics = check.found;
    if diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error) {
        diagnostics.sort_by_key(|diagnostic| diagnostic.severity);
        return Err(InputError { diagnostics });
    }
    Ok((model, diagnostics))
}

struct Check<'a> {
    model: &'a Model,
    scenario: &'a Source,
    design: &'a Source,
    found: Vec<Diagnostic>,
}

impl Check<'_> {
    fn push(&mut self, severity: Severity, place: Place, message: String, label: &str, help: Option<String>) {
        let label = label.to_owned();
        self.found.push(Diagnostic { severity, message, label, help, place: Some(place) });
    }

    fn place_of_entry(&self, agent: &Agent, entry: usize) -> Place {
        self.scenario.place_of(&["agents", &agent.name, "work", &entry.to_string()])
    }

    /// Every tool that the work uses has a handler that can serve it. Each tool is reported once.
    fn handlers(&mut self) {
        let mut reported = BTreeSet::new();
        for (agent_id, agent) in self.model.scenario.agents.iter().enumerate() {
            for (index, entry) in agent.work.iter().enumerate() {
                let missing = self.missing_tool(agent_id, entry).filter(|(tool, _)| reported.insert(*tool));
                let Some((tool, why)) = missing else { continue };
                let place = self.place_of_entry(agent, index);
                let message = format!("design `{}` has no handler of the tool `{tool}`", self.model.design.name);
                let help = if tool == Tool::Mint {
                    "`[server.mint]` needs a transaction with the step `mint`".to_owned()
                } else {
                    format!("the design needs a table `[server.{tool}]`")
                };
                self.push(Severity::Error, place, message, why, Some(help));
            }
        }
    }

    /// The tool that an entry needs and the design has no handler of, and for what.
    fn missing_tool(&self, agent: AgentId, entry: &Entry) -> Option<(Tool, &'static str)> {
        let server = &self.model.design.server;
        let looks = |tool: Tool, handler: Option<&Handler>| {
            server.handler(Tool::Read).is_none() && may_look(self.model.client(agent, tool), entry, handler)
        };
        let first = "for this entry the agent may read first or again";
        match entry {
            Entry::Read { .. } => looks(Tool::Read, None).then_some((Tool::Read, "this entry calls it")),
            Entry::HandOff { .. } => looks(Tool::Read, None).then_some((Tool::Read, first)),
            Entry::Mutate { operation, .. } => {
                let tool = operation.tool();
                match server.handler(tool).filter(|handler| tool != Tool::Mint || mints(handler)) {
                    None => Some((tool, "this entry calls it")),
                    handler => looks(tool, handler).then_some((Tool::Read, first)),
                }
            }
        }
    }

    /// What is sent as a whole can't be written in parts.
    fn snapshots(&mut self) {
        let Model { scenario, design, .. } = self.model;
        let in_parts = |tool: Tool| {
            let handler = design.server.handler(tool);
            handler.is_some_and(|handler| handler.transactions.iter().flatten().any(|step| *step == "apply-next"))
        };
        for (agent_id, agent) in scenario.agents.iter().enumerate() {
            for (index, entry) in agent.work.iter().enumerate() {
                let Entry::Mutate { operation, .. } = entry else { continue };
                let tool = operation.tool();
                let client = self.model.client(agent_id, tool);
                if operation.changes_fields() && client.may_send_snapshots() && in_parts(tool) {
                    let place = self.place_of_entry(agent, index);
                    let message = format!("design `{}` writes in parts what is sent as a whole", design.name);
                    let help =
                        "`apply-next` needs `payload = \"change\"` in `[client]`, and no `payload` in `any`".to_owned();
                    let label = "for this entry a snapshot is sent";
                    return self.push(Severity::Error, place, message, label, Some(help));
                }
            }
        }
    }

    /// Nobody can change what it does not know.
    fn new_fields(&mut self) {
        let scenario = &self.model.scenario;
        for (agent_id, agent) in scenario.agents.iter().enumerate() {
            for (index, entry) in agent.work.iter().enumerate() {
                let Entry::Mutate { resource, operation, also, .. } = entry else { continue };
                let changed = std::iter::once((*resource, operation));
                let changed = changed.chain(also.iter().map(|also| (also.resource, &also.operation)));
                let new = changed.flat_map(|(resource, operation)| {
                    let Resource { fields, new_fields, .. } = &scenario.resources[resource];
                    let new = operation.fields().into_iter().filter(|field| new_fields.contains(field));
                    new.map(move |field| &fields[field].0)
                });
                let new = new.into_iter().next();
                let dropped = self.model.client(agent_id, operation.tool()).new_fields == NewFields::Dropped;
                if let Some(field) = new.filter(|_| dropped) {
                    let place = self.place_of_entry(agent, index);
                    let message = format!("agent `{}` changes `{field}`, which its client does not know", agent.name);
                    let label = "a client that drops new fields can't name one";
                    let help = "give the agent a `[client]` of its own, with `new-fields = \"kept\"`".to_owned();
                    self.push(Severity::Error, place, message, label, Some(help));
                }
            }
        }
    }

    /// A call carries the state of one handle, and so can't change two.
    fn besides(&mut self) {
        let Model { scenario, design, .. } = self.model;
        if design.server.state != State::Handle {
            return;
        }
        let mut handlers = design.server.tools.values();
        if handlers.any(|handler| handler.at_end.iter().flatten().any(|step| *step == "undo")) {
            let place = self.design.place_of(&["server", "state"]);
            let help = "choose another `state` in `[server]`".to_owned();
            let label = "what is in a handle that was sent can't be taken back";
            self.push(Severity::Error, place, "`undo` finds nothing to take back".to_owned(), label, Some(help));
        }
        let besides = |entry: &Entry| matches!(entry, Entry::Mutate { also: Some(_), .. });
        for agent in &scenario.agents {
            if let Some(index) = agent.work.iter().position(besides) {
                let place = self.place_of_entry(agent, index);
                let message = format!("design `{}` keeps state in handles, one in each call", design.name);
                let help = "choose another `state` in `[server]`".to_owned();
                return self.push(Severity::Error, place, message, "this entry changes two resources", Some(help));
            }
        }
    }

    /// Agents that choose whether they ever come to an end say nothing of the server.
    fn endless_choices(&mut self) {
        if self.model.may_choose_not_to_end() {
            let place = self.design.place_of(&["client", "any"]);
            let message = "`resolves` is not judged where clients choose what they do".to_owned();
            let help = "`--invariant resolves` judges it all the same".to_owned();
            self.push(Severity::Warning, place, message, "they may choose never to come to an end", Some(help));
        }
    }

    fn sessions(&mut self) {
        if self.model.design.server.state == State::Session && !self.model.protocol.sessions {
            let place = self.design.place_of(&["server", "state"]);
            let message = format!("protocol `{}` has no sessions to keep state in", self.model.protocol.name);
            let help = "choose another place for the state, or a protocol with `sessions = true`".to_owned();
            self.push(Severity::Error, place, message, "state is found by session", Some(help));
        }
    }

    fn expectations(&mut self, invariants: &[&str]) {
        let Model { scenario, design, .. } = self.model;
        let Some(of_design) = design.expect.get(&scenario.name) else { return };
        let assertions = scenario.assertions().map(|assertion| assertion.name.as_str());
        let known: Vec<&str> = invariants.iter().copied().chain(assertions).collect();
        let of_scenario = scenario.expect.get(&design.name);
        for (name, expected) in of_design {
            let place = || self.design.place_of(&["expect", &scenario.name, name]);
            if !known.contains(&name.as_str()) {
                let message = format!("unknown invariant or assertion `{name}`");
                let (label, help) = advice(name, &known);
                self.push(Severity::Error, place(), message, &label, help);
            }
            if let Some(other) = of_scenario.and_then(|all| all.get(name)).filter(|other| *other != expected) {
                let message = format!("two expectations of `{name}` contradict each other");
                let line = self.scenario.place_of(&["expect", &design.name, name]).line();
                let origin = &self.scenario.origin;
                let label = format!("line {line} of {origin} expects {}", written(other));
                self.push(Severity::Error, place(), message, &label, None);
            }
        }
    }

    /// An agent that can never get a handle that it uses leaves its work undone, and proves nothing.
    fn handles(&mut self) {
        let scenario = &self.model.scenario;
        let known = known_handles(self.model);
        for (agent_id, agent) in scenario.agents.iter().enumerate() {
            let mut reported = BTreeSet::new();
            for (index, entry) in agent.work.iter().enumerate() {
                for resource in entry.rests_on() {
                    if known.contains(&(agent_id, resource)) || !reported.insert(resource) {
                        continue;
                    }
                    let place = self.place_of_entry(agent, index);
                    let name = &scenario.resources[resource].name;
                    let message = format!("agent `{}` never gets the handle of `{name}`", agent.name);
                    let (label, help) = if foreign(scenario, agent, resource) {
                        let help = "raise the budget of `leak-handle`, or let the server's handles be sequential";
                        ("the agent's principal has no right on it", help)
                    } else if agent.parent.is_some() {
                        ("a subagent knows what it was handed", "let another agent hand it off to this one")
                    } else {
                        ("it is minted by another agent", "let that agent hand it off to this one")
                    };
                    self.push(Severity::Warning, place, message, label, Some(help.to_owned()));
                }
            }
        }
    }

    /// Steps that look for what no client sends. (One client that sends it is reason enough for the step.)
    fn idle_steps(&mut self) {
        let Model { design, scenario, .. } = self.model;
        for &tool in Tool::ALL {
            let Some(handler) = design.server.handler(tool) else { continue };
            let calls =
                scenario.agents.iter().enumerate().filter(|(_, agent)| {
                    agent.work.iter().any(|entry| entry.tool() == Some(tool) && tool != Tool::Read)
                });
            let clients: Vec<&Client> = calls.map(|(agent, _)| self.model.client(agent, tool)).collect();
            if clients.is_empty() {
                continue;
            }
            let has = |names: &[&str]| handler.transactions.iter().flatten().find(|step| names.contains(step)).copied();
            let keyless = !clients.iter().any(|client| client.may_present_keys());
            let versionless = !clients.iter().any(|client| client.may_expect_versions());
            let key = has(&["find-key", "claim-key", "record-key"]).filter(|_| keyless);
            let version = has(&["check-version"]).filter(|_| versionless && !design.server.version_required);
            for (step, sent, setting) in
                [(key, "a key", "key = \"per-intent\""), (version, "a version", "precondition = \"viewed-version\"")]
            {
                let Some(step) = step else { continue };
                let table = if design.server.tools.contains_key(&tool) { tool } else { Tool::Write };
                let place = self.design.place_of(&["server", table.name(), "transactions"]);
                let message = format!("`{step}` always passes in a call of `{tool}`");
                let help = self.why_not_sent(step, tool, setting);
                let label = format!("no client sends {sent}");
                self.push(Severity::Warning, place, message, &label, Some(help));
            }
        }
    }

    /// Why no client sends what a step looks for: its own design does not say so, or in a deploy another one's clients do.
    fn why_not_sent(&self, step: &str, tool: Tool, setting: &str) -> String {
        let own = Model::compose(self.model.scenario.clone(), self.model.design.clone(), self.model.protocol.clone());
        let mut clients = (0..own.scenario.agents.len()).map(|agent| own.client(agent, tool));
        let would = match step {
            "check-version" => clients.any(Client::may_expect_versions),
            _ => clients.any(Client::may_present_keys),
        };
        if would {
            let by = self.model.scenario.deploy.clients.name();
            let which = if by == "old" { "that is replaced" } else { "that is deployed" };
            return format!(
                "the clients are those of the design {which} (`[deploy] clients = \"{by}\"`), and have no `{setting}`"
            );
        }
        let key = setting.split(' ').next().unwrap_or(setting);
        let said = self.design.find_place(&["client", key]).map(|place| place.source.text[place.span].to_owned());
        if said.is_some_and(|said| !said.ends_with("\"none\"")) {
            return "`[client]` has it, but what is said for the tool or for the agents themselves counts more"
                .to_owned();
        }
        format!("`[client]` has no `{setting}`")
    }

    /// Budgets of faults that find nothing to strike.
    fn budgets(&mut self) {
        let Model { design, scenario, .. } = self.model;
        let either = |says: &dyn Fn(&Design) -> bool| self.model.sides().any(|(design, _)| says(design));
        let acquires = |design: &Design| {
            let handlers = design.server.tools.values();
            let mut steps = handlers.flat_map(|handler| handler.transactions.iter().chain(&handler.at_end)).flatten();
            steps.any(|step| *step == "acquire-lease")
        };
        let stranger = scenario.agents.iter().any(|agent| {
            let mut resources = 0..scenario.resources.len();
            resources.any(|resource| foreign(scenario, agent, resource))
        });
        let lags = |design: &Design| design.server.reads_from == ReadsFrom::Replica;
        for (fault, can_strike, why) in [
            ("expire-key", either(&|design| design.keys.expire), "`[server.keys]` has no `expire = true`"),
            (
                "expire-claim",
                either(&|design| design.keys.claims_expire),
                "`[server.keys]` has no `claims-expire = true`",
            ),
            ("expire-lease", either(&acquires), "no handler has the step `acquire-lease`"),
            ("stale-read", either(&lags), "`[server]` has no `reads-from = \"replica\"`"),
            ("leak-handle", stranger, "no agent is without a right on some resource"),
        ] {
            if scenario.faults.contains_key(fault) && !can_strike {
                let place = self.scenario.place_of(&["faults", fault]);
                let message = format!("the fault `{fault}` never strikes design `{}`", design.name);
                self.push(Severity::Warning, place, message, "this budget can't matter", Some(why.to_owned()));
            }
        }
    }

    /// What a client sends with a change, said of the tool that changes nothing.
    fn idle_client_settings(&mut self) {
        let agents = self.model.scenario.agents.iter().map(|agent| agent.name.clone()).collect::<Vec<_>>();
        let own = agents.iter().map(|agent| (self.scenario, vec!["agents", agent.as_str(), "client", "read"]));
        let tables = std::iter::once((self.design, vec!["client", "read"])).chain(own).collect::<Vec<_>>();
        for (source, table) in tables {
            for key in ["payload", "key"] {
                let path = [&*table, &[key]].concat();
                let Some(place) = source.find_place(&path) else { continue };
                let message = format!("`{key}` can't matter here");
                let help = "say it in `[client]`, or of a tool that changes something".to_owned();
                self.push(Severity::Warning, place, message, "a read sends neither a payload nor a key", Some(help));
            }
        }
    }

    /// Answers lose their addresses only where calls outlive their nodes.
    fn idle_settings(&mut self) {
        let server = &self.model.design.server;
        let kept = server.calls != Calls::Memory;
        let table = server.replies != Replies::PerRequest;
        let idle = [
            ("replies", server.replies == Replies::ByTaskId && !kept, "calls that outlive their node have one"),
            ("lost-reply", server.lost_reply == LostReply::FirstAgent && !(kept && table), "no answer is without one"),
        ];
        for (key, _, label) in idle.into_iter().filter(|(_, idle, _)| *idle) {
            let place = self.design.place_of(&["server", key]);
            let message = format!("`{key}` can't matter here");
            let help = "an address is lost with a node whose calls are kept, and which kept addresses in its memory";
            self.push(Severity::Warning, place, message, label, Some(help.to_owned()));
        }
    }
}

/// An expectation as a file writes it.
fn written(expectation: &Expectation) -> String {
    match expectation {
        Expectation::Verdict(verdict) => format!("\"{verdict}\""),
        Expectation::Break { steps, faults } => format!("{{ steps = {steps}, faults = {faults} }}"),
    }
}

fn mints(handler: &Handler) -> bool {
    handler.transactions.iter().flatten().any(|step| *step == "mint")
}

/// Every handle that each agent may come to know in some run.
fn known_handles(model: &Model) -> BTreeSet<(AgentId, ResourceId)> {
    let Model { scenario, design, .. } = model;
    let found_out = scenario.faults.contains_key("leak-handle") || design.server.handles == Handles::Sequential;
    let mut known = BTreeSet::new();
    for (agent_id, agent) in scenario.agents.iter().enumerate() {
        for (resource_id, resource) in scenario.resources.iter().enumerate() {
            let foreign = foreign(scenario, agent, resource_id);
            let from_the_start = resource.owner.is_some() && agent.parent.is_none() && !foreign;
            let mints = agent.work.iter().any(|entry| {
                matches!(entry, Entry::Mutate { operation: Operation::Mint, resource, .. } if *resource == resource_id)
            });
            if from_the_start || mints || (foreign && found_out) {
                known.insert((agent_id, resource_id));
            }
        }
    }
    // Hand-offs, until nobody learns anything more.
    loop {
        let before = known.len();
        for (agent_id, agent) in scenario.agents.iter().enumerate() {
            for entry in &agent.work {
                if let Entry::HandOff { resource, to, .. } = entry
                    && known.contains(&(agent_id, *resource))
                {
                    known.extend(to.iter().map(|receiver| (*receiver, *resource)));
                }
            }
        }
        if known.len() == before {
            return known;
        }
    }
}

/// Whether an agent's principal neither owns a resource nor shares it.
fn foreign(scenario: &Scenario, agent: &Agent, resource: ResourceId) -> bool {
    let minter = || {
        scenario.agents.iter().find(|agent| {
            agent.work.iter().any(|entry| {
                matches!(entry, Entry::Mutate { operation: Operation::Mint, resource: minted, .. } if *minted == resource)
            })
        })
    };
    let resource = &scenario.resources[resource];
    let owner = resource.owner.as_ref().or_else(|| minter().map(|agent| &agent.principal));
    !owner.into_iter().chain(&resource.shared_with).any(|entitled| covers(entitled, &agent.principal))
}

/// Whether a principal is the entitled one, as far as that one says who it is.
fn covers(entitled: &Principal, principal: &Principal) -> bool {
    let Principal { subject, client, tenant } = entitled;
    let same = |wanted: &Option<String>, is: &Option<String>| wanted.is_none() || wanted == is;
    *subject == principal.subject && same(client, &principal.client) && same(tenant, &principal.tenant)
}
