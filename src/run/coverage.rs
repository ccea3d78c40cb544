//! Coverage: how often everything happened that can, and what never did.

use std::collections::{BTreeMap, BTreeSet};

use super::{Report, Run};
use crate::action::{ACTIONS, Action};
use crate::engine::Exploration;
use crate::faults::FAULTS;
use crate::handler::STEPS;
use crate::model::design::{Handles, Taken};
use crate::model::protocol::{ClosedStream, Resumable};
use crate::model::{Entry, Event, Free, Outcome, Reaction, Tool};
use crate::situation::{How, Moment, Situation};
use crate::step::{Simulation, tags};
use crate::world::Response;

/// The faults that break streams.
const BREAK_STREAMS: [&str; 2] = ["drop-stream", "restart-node"];

impl Run {
    /// Writes into a report what was counted. `left_out`: what happens in some run all the same.
    pub(super) fn count(&self, report: &mut Report, found: &Exploration<Simulation>, left_out: Option<&str>) {
        for (kind, taken) in &found.kinds {
            for name in Action::names_of_kind(*kind) {
                *report.actions.entry(name.to_owned()).or_default() += taken;
            }
        }
        if let Some(name) = left_out {
            report.actions.entry(name.to_owned()).or_insert(1);
        }
        for step in self.ending_steps(&self.used_tools()) {
            let row = report.steps.entry(STEPS[step].name.to_owned()).or_default();
            row.extend(How::of_step(step).map(|how| (how.name().to_owned(), 0)));
        }
        let seen: BTreeSet<u16> = found.tags.iter().filter(|(_, seen)| *seen > 0).map(|(tag, _)| *tag).collect();
        report.done = Tool::ALL.iter().copied().filter(|tool| seen.contains(&tags::done(*tool))).collect();
        for (tag, seen) in &found.tags {
            // Other tags count what a run costs.
            let Some(moment) = Moment::of_tag(*tag) else { continue };
            match moment {
                Moment::Ended(outcome) => *report.outcomes.entry(outcome.name().to_owned()).or_default() += seen,
                Moment::Replayed => *report.outcomes.entry(How::Replayed.name().to_owned()).or_default() += seen,
                Moment::EndedBy(step, how) => {
                    let row = report.steps.entry(STEPS[step].name.to_owned()).or_default();
                    *row.entry(how.name().to_owned()).or_default() += seen;
                }
                Moment::Reacted(event, response) => {
                    let row = report.reactions.entry(event.name().to_owned()).or_default();
                    *row.entry(response.name().to_owned()).or_default() += seen;
                }
                // What agents are told is judged, and not counted.
                Moment::Told(_) => {}
            }
        }
        let ending = self.ending_steps(&self.used_tools()).into_iter().map(|step| STEPS[step].name);
        let never = ending.filter(|step| report.steps[*step].values().all(|seen| *seen == 0));
        report.never_refused = never.map(str::to_owned).collect();

        let budgeted = FAULTS.iter().map(|fault| fault.name).filter(|fault| report.bounds.faults.contains_key(fault));
        let plain = ACTIONS.iter().map(|(name, _)| *name).filter(|name| self.could_happen(name));
        let never = plain.chain(budgeted).filter(|name| !report.actions.contains_key(*name));
        report.never = never.map(str::to_owned).collect();
        for (event, response) in self.declared_reactions() {
            let seen = report.reactions.get(event.name()).is_some_and(|row| row.contains_key(response.name()));
            if !seen && self.could_meet(event) {
                report.never.push(Situation::Reacted(event, Some(response)).name());
            }
        }
    }

    /// Whether a step is there to end calls. One that reads does so only where what was resolved has gone since.
    fn guards(&self, step: usize) -> bool {
        match STEPS[step].name {
            "read" => false,
            "record-key" => self.model.sides().any(|(design, _)| design.keys.taken == Taken::Refuse),
            _ => How::of_step(step).next().is_some(),
        }
    }

    /// The tools that some agent may call: those of its work, and `read`, without which none is planned anew.
    fn used_tools(&self) -> BTreeSet<Tool> {
        let work = self.model.scenario.agents.iter().flat_map(|agent| &agent.work);
        work.filter_map(Entry::tool).chain([Tool::Read]).collect()
    }

    /// The steps of the design's handlers of these tools that can end a call, in the order in which they stand in it.
    fn ending_steps(&self, tools: &BTreeSet<Tool>) -> Vec<usize> {
        let handlers = self.model.sides().flat_map(|(design, _)| &design.server.tools);
        let handlers = handlers.filter(|(tool, _)| tools.contains(tool)).map(|(_, handler)| handler);
        let lists = handlers.flat_map(|handler| handler.transactions.iter().chain(&handler.at_end));
        let mut steps = Vec::new();
        for step in lists.flatten() {
            let step = STEPS.iter().position(|row| row.name == *step).expect("reading checked every step");
            if self.guards(step) && !steps.contains(&step) {
                steps.push(step);
            }
        }
        steps
    }

    /// The reactions that the files speak of, for the calls that their agents make.
    fn declared_reactions(&self) -> BTreeSet<(Event, Response)> {
        let mut declared = BTreeSet::new();
        for (index, agent) in self.model.scenario.agents.iter().enumerate() {
            let tools: BTreeSet<Tool> = agent.work.iter().filter_map(Entry::tool).collect();
            for tool in tools {
                for (event, reaction) in &self.model.client(index, tool).on {
                    let mut reaction = reaction;
                    while let Reaction::Replan { only_if: Some((_, otherwise)), .. } = reaction {
                        declared.insert((*event, Response::Replan));
                        reaction = otherwise;
                    }
                    declared.insert((*event, Response::of(reaction)));
                }
            }
        }
        declared
    }

    fn has_budget(&self, fault: &str) -> bool {
        self.model.scenario.faults.get(fault).is_some_and(|budget| *budget > 0)
    }

    /// Whether an event can come at all, within the budgets.
    fn could_meet(&self, event: Event) -> bool {
        match event {
            Event::BrokenStream => {
                let restarts = self.model.deployed.as_ref().is_some_and(|deployed| deployed.restart);
                restarts || BREAK_STREAMS.iter().any(|fault| self.has_budget(fault))
            }
            Event::Refused(Outcome::Unknown) => self.has_budget("ambiguous-commit"),
            Event::Refused(_) => true,
        }
    }

    /// Whether an action that is no fault belongs to this model at all.
    fn could_happen(&self, action: &str) -> bool {
        let drops = self.has_budget("drop-stream");
        match action {
            "hand-off" => {
                let mut work = self.model.scenario.agents.iter().flat_map(|agent| &agent.work);
                work.any(|entry| matches!(entry, Entry::HandOff { .. }))
            }
            "guess" => self.model.design.server.handles == Handles::Sequential,
            "cancel" => drops && self.model.sides().any(|(_, rules)| rules.closed_stream == ClosedStream::Cancels),
            "resume" => drops && self.model.sides().any(|(_, rules)| rules.resumable != Resumable::Never),
            "deploy" => self.model.deployed.is_some(),
            "skip" => {
                let mut work = self.model.scenario.agents.iter().flat_map(|agent| &agent.work);
                work.any(|entry| matches!(entry, Entry::Mutate { condition: Some(_), .. }))
            }
            "decide" => self.model.clients.iter().flatten().any(|client| client.is_free(Free::On)),
            _ => true,
        }
    }

    /// Why no run of these inputs can reach a situation, where that is plain to see.
    pub(super) fn why_never(&self, situation: &Situation) -> Option<String> {
        let without = |fault: &str| Some(format!("{fault} has no budget here: --faults {fault}=1 gives it one"));
        match situation {
            Situation::Happens(name) if FAULTS.iter().any(|fault| fault.name == *name) => {
                (!self.has_budget(name)).then(|| without(name)).flatten()
            }
            Situation::Happens("decide") if !self.could_happen("decide") => {
                Some("no client chooses what it does here: --any-client lets them".to_owned())
            }
            Situation::Happens("guess") if !self.could_happen("guess") => {
                Some("handles are unguessable in this design".to_owned())
            }
            Situation::Happens("hand-off") if !self.could_happen("hand-off") => {
                Some("no agent's work has a hand-off".to_owned())
            }
            Situation::Happens(name @ ("cancel" | "resume")) if !self.could_happen(name) => {
                if self.has_budget("drop-stream") {
                    Some(format!("the protocol {} has none", self.model.protocol.name))
                } else {
                    without("drop-stream")
                }
            }
            Situation::Happens("deploy") if !self.could_happen("deploy") => {
                Some("nothing is deployed in this run: --deploy NEW deploys something".to_owned())
            }
            Situation::EndedBy(step, _) if !self.ending_steps(&Tool::ALL.iter().copied().collect()).contains(step) => {
                Some(format!("no handler of this design has the step {}", STEPS[*step].name))
            }
            Situation::Reacted(event, _) if !self.could_meet(*event) => match event {
                Event::BrokenStream => without("drop-stream"),
                Event::Refused(_) => without("ambiguous-commit"),
            },
            Situation::Reacted(event, Some(response)) if !self.might_react(*event, *response) => {
                Some(format!("no client here reacts to {} so", event.name()))
            }
            Situation::Ended(outcome) | Situation::Reacted(Event::Refused(outcome), _)
                if *outcome != Outcome::Ok && *outcome != Outcome::Unknown && !self.might_end_with(*outcome) =>
            {
                Some(format!("no step of this design ends a call with {outcome}"))
            }
            Situation::Ended(Outcome::Unknown) if !self.has_budget("ambiguous-commit") => without("ambiguous-commit"),
            _ => None,
        }
    }

    fn might_end_with(&self, outcome: Outcome) -> bool {
        self.ending_steps(&Tool::ALL.iter().copied().collect()).into_iter().any(|step| STEPS[step].outcomes.contains(&outcome))
            // Replies that find their streams by request id, and nodes that forget, refuse on their own.
            || outcome == Outcome::NotFound
    }

    fn might_react(&self, event: Event, response: Response) -> bool {
        if response == Response::GiveUp || event == Event::BrokenStream && response == Response::Same {
            return true;
        }
        let agents = 0..self.model.scenario.agents.len();
        agents.into_iter().flat_map(|agent| Tool::ALL.iter().map(move |tool| (agent, *tool))).any(|(agent, tool)| {
            let client = self.model.client(agent, tool);
            if client.is_free(Free::On) {
                return true;
            }
            let mut reaction = client.reaction(event);
            loop {
                // What can't be minted again is told as failure.
                let mints = matches!(reaction, Reaction::Mint { .. }) && response == Response::TellFailure;
                if Response::of(&reaction) == response || mints {
                    return true;
                }
                let Reaction::Replan { only_if: Some((_, otherwise)), .. } = reaction else { return false };
                reaction = *otherwise;
            }
        })
    }
}

/// What never happened in any of a design's runs.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Uncovered {
    /// The actions and reactions that could have happened in some run, and did in none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub never: Vec<String>,
    /// The steps of its handlers that can end a call, and did in none.
    #[serde(rename = "never-refused", skip_serializing_if = "Vec::is_empty")]
    pub never_refused: Vec<String>,
}

/// What never happened in any run, for each design whose runs were all complete and counted.
#[must_use]
pub fn uncovered(reports: &[&Report]) -> BTreeMap<String, Uncovered> {
    let mut all: BTreeMap<String, Uncovered> = BTreeMap::new();
    let designs: BTreeSet<&str> = reports.iter().map(|report| &*report.design).collect();
    for design in designs {
        let runs: Vec<&Report> = reports.iter().copied().filter(|report| report.design == design).collect();
        if runs.iter().any(|run| !run.complete || run.actions.is_empty()) {
            continue;
        }
        let reacted = |run: &Report, name: &str| {
            let parts = name.strip_prefix("on:").and_then(|pair| pair.split_once(':'));
            parts
                .is_some_and(|(event, response)| run.reactions.get(event).is_some_and(|row| row.contains_key(response)))
        };
        let happened = |name: &str| runs.iter().any(|run| run.actions.contains_key(name) || reacted(run, name));
        let refused = |step: &str| {
            runs.iter().any(|run| run.steps.get(step).is_some_and(|row| row.values().any(|seen| *seen > 0)))
        };
        let mut found = Uncovered::default();
        for run in &runs {
            for name in run.never.iter().filter(|name| !happened(name)) {
                if !found.never.contains(name) {
                    found.never.push(name.clone());
                }
            }
            for step in run.never_refused.iter().filter(|step| !refused(step)) {
                if !found.never_refused.contains(step) {
                    found.never_refused.push(step.clone());
                }
            }
        }
        if found != Uncovered::default() {
            all.insert(design.to_owned(), found);
        }
    }
    all
}
