//! Free: agents that behave as the design's clients do, against servers that go their own way.
//!
//! Nothing is compared with the model but what comes out. An agent decides by the real answers; calls are really
//! concurrent. Along a trace, requests leave, streams are cut and nodes are restarted where the trace says so; when a
//! transaction runs inside a server can't be forced from outside.

use std::collections::BTreeMap;
use std::time::Duration;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};
use tokio::sync::mpsc;
use tokio::task::AbortHandle;

use super::journal::Journal;
use super::servers::Servers;
use super::wire::Handles;
use super::{CallError, Reply, note, translate};
use crate::action::Action;
use crate::engine::{Access, System};
use crate::harness::{Harness, Move, next_move};
use crate::log::{Event, Line};
use crate::model::design::Balancer;
use crate::step::Simulation;
use crate::trace::Trace;
use crate::world::{Call, Component, Position};

/// How a call ended: its name, and its reply.
type Ended = (String, Result<Reply, CallError>);

/// A call that is under way.
struct Open {
    agent: usize,
    task: AbortHandle,
    /// Nobody waits for it.
    orphan: bool,
}

/// A run.
pub struct Free<'f> {
    pub(super) simulation: &'f Simulation,
    pub(super) state: Vec<Component>,
    pub(super) servers: &'f mut Servers,
    pub(super) handles: Handles,
    pub(super) journal: Journal,
    random: ChaCha8Rng,
    open: BTreeMap<String, Open>,
    results: mpsc::UnboundedReceiver<Ended>,
    sender: mpsc::UnboundedSender<Ended>,
    drops: u8,
    restarts: u8,
    refused: Vec<String>,
    /// How many calls had no answer in time.
    late: usize,
}

/// What a run came to.
#[derive(Debug)]
pub struct Came {
    /// The assertions of the scenario that were judged at the end, and whether each is true of what was observed.
    pub assertions: Vec<(String, bool)>,
    /// Where the run left the trace, if it did: what should have happened next.
    pub left: Option<String>,
    /// What was there at the start and is not what the scenario begins with.
    pub began: Vec<String>,
    /// The calls that a server did not take as requests, or that did not reach one, and why. What became of them is unknown.
    pub refused: Vec<String>,
    /// The agents that were still at work when they had sent as many calls as they may.
    pub gave_up: Vec<String>,
    /// What was seen from outside.
    pub log: Vec<Line>,
}

/// The longest pause before a random call leaves.
const PAUSE_MICROS: u32 = 3_000;
/// How long calls that nobody waits for may still take before the end is observed.
const SETTLING: Duration = Duration::from_millis(150);
/// How many calls of one run may have no answer in time.
const MOST_LATE: usize = 3;
/// How many calls an agent makes at most in one run.
const MOST_CALLS: u16 = 60;

impl<'f> Free<'f> {
    /// Before the first step. The simulation is a labelled one.
    #[must_use]
    pub fn new(simulation: &'f Simulation, servers: &'f mut Servers, journal: Journal, seed: u64) -> Self {
        let setting = simulation.setting();
        let (sender, results) = mpsc::unbounded_channel();
        Self {
            state: simulation.initial(),
            handles: Handles::of(setting),
            random: ChaCha8Rng::seed_from_u64(seed),
            open: BTreeMap::new(),
            drops: setting.budget("drop-stream"),
            restarts: setting.budget("restart-node"),
            simulation,
            servers,
            journal,
            results,
            sender,
            refused: Vec::new(),
            late: 0,
        }
    }

    /// Looks at what is there, runs along a trace if there is one, then freely until nobody has work left, and looks again.
    ///
    /// # Errors
    ///
    /// When a server can't be reached, or the mapping lacks something.
    pub async fn run(mut self, trace: Option<&Trace>) -> Result<Came, String> {
        let began = self.look(true).await?;
        let mut left = None;
        if let Some(trace) = trace {
            (self.drops, self.restarts) = (0, 0);
            left = self.along(trace).await?;
        }
        self.freely().await?;
        tokio::time::sleep(SETTLING).await;
        self.look(false).await?;
        let access = Access::new(&self.state);
        let properties = self.simulation.properties();
        let judged = self.simulation.at_rest(&access).into_iter();
        let assertions = judged.map(|(bit, holds)| (properties[bit].name.clone(), holds == Ok(true))).collect();
        drop(access);
        for open in self.open.values() {
            open.task.abort();
        }
        let at_work = (0..self.simulation.setting().agents()).filter(|agent| self.next(*agent) == Some(Move::Send));
        let gave_up = at_work.map(|agent| self.simulation.setting().agent_name(agent).to_owned()).collect();
        Ok(Came { assertions, left, began, refused: self.refused, gave_up, log: self.journal.close() })
    }

    /// Follows a trace as far as the servers do. Answers where they left it.
    async fn along(&mut self, trace: &Trace) -> Result<Option<String>, String> {
        for (number, step) in (1..).zip(&trace.steps) {
            let does = &step.does;
            let agent = does.agent.as_ref().and_then(|name| {
                (0..self.simulation.setting().agents())
                    .find(|agent| self.simulation.setting().agent_name(*agent) == name)
            });
            let node = does.node.as_ref().and_then(|name| name.strip_prefix("node-")?.parse::<usize>().ok());
            let node = node.map_or(0, |node| node - 1);
            let request = does.request.clone().unwrap_or_default();
            let leaves = |why: &str| Ok(Some(format!("step {number} (`{}`): {why}", does.action)));
            match (&*does.action, agent) {
                ("send", Some(agent)) => {
                    if self.next(agent) != Some(Move::Send) {
                        return leaves("the agent has something else to do");
                    }
                    if self.plan(agent) != request {
                        return leaves("another call is due");
                    }
                }
                ("hand-off", Some(agent)) => {
                    if self.next(agent) != Some(Move::HandOff) {
                        return leaves("the agent has something else to do");
                    }
                    self.hand_off(agent);
                }
                ("execute", Some(agent)) => {
                    let first = step.transaction.as_ref().is_some_and(|note| note.number == 1 && !note.at_end);
                    if first && !does.orphan {
                        match self.call(agent) {
                            Some(call) if self.label(&call) == request => self.launch(&call, node, 0, false)?,
                            _ => return leaves("the call is not there"),
                        }
                    }
                    if step.answer.is_some() && !does.orphan {
                        self.until_answered(&request).await?;
                    }
                }
                ("receive", Some(agent)) => {
                    self.until_answered(&request).await?;
                    self.receive(agent);
                }
                ("drop-stream", Some(agent)) => self.cut(agent),
                ("restart-node", _) => self.restart(node).await?,
                ("deliver" | "cancel", _) => {}
                _ => return leaves("that can't be caused from outside"),
            }
        }
        Ok(None)
    }

    /// Everybody goes on until nobody has work left.
    async fn freely(&mut self) -> Result<(), String> {
        let agents = self.simulation.setting().agents();
        loop {
            for agent in 0..agents {
                self.receive(agent);
                while self.next(agent) == Some(Move::HandOff) {
                    self.hand_off(agent);
                }
                if self.next(agent) == Some(Move::Send) && self.requests(agent) < MOST_CALLS {
                    let label = self.plan(agent);
                    let call = self.call(agent).ok_or_else(|| format!("{label} was not planned"))?;
                    let node = self.choose_node(agent);
                    let pause = self.random.next_u32() % PAUSE_MICROS;
                    self.launch(&call, node, pause, false)?;
                }
            }
            let waiting: Vec<usize> = self.open.values().filter(|open| !open.orphan).map(|open| open.agent).collect();
            let Some(first) = waiting.first().copied() else { return Ok(()) };
            let strikes = self.random.next_u32().is_multiple_of(6);
            if self.drops > 0 && strikes {
                self.drops -= 1;
                let after = self.random.next_u32() % PAUSE_MICROS;
                tokio::time::sleep(Duration::from_micros(u64::from(after))).await;
                self.cut(first);
            } else if self.restarts > 0 && strikes {
                self.restarts -= 1;
                let node = self.choose_node(first);
                self.restart(node).await?;
            } else {
                self.one_result().await?;
            }
        }
    }

    /// What an agent would do, if it does not wait for anything.
    fn next(&self, agent: usize) -> Option<Move> {
        let (setting, access) = (self.simulation.setting(), Access::new(&self.state));
        let waits = access.get(setting.call_slot(agent)).call().is_some();
        let known = access.get(setting.agent_slot(agent)).agent();
        next_move(setting, known).filter(|_| !waits)
    }

    fn requests(&self, agent: usize) -> u16 {
        let access = Access::new(&self.state);
        self.simulation.setting().requests_slot().map_or(0, |slot| access.get(slot).requests()[agent])
    }

    fn call(&self, agent: usize) -> Option<Call> {
        Access::new(&self.state).get(self.simulation.setting().call_slot(agent)).call().clone()
    }

    fn label(&self, call: &Call) -> String {
        let agent = self.simulation.setting().agent_name(usize::from(call.request.agent));
        format!("{agent}-{}", call.request.id)
    }

    /// Lets an agent act in the model's state, and notes what it was told.
    fn act(&mut self, act: impl FnOnce(&Simulation, &mut Access<'_, Component>)) {
        let before = self.state.clone();
        let mut access = Access::new(&before);
        act(self.simulation, &mut access);
        for (slot, component) in access.finish().1 {
            self.state[usize::from(slot)] = component;
        }
        for (agent, intent, told) in note::told(self.simulation.setting(), &before, &self.state) {
            self.journal.told(&agent, &intent, told);
        }
    }

    fn hand_off(&mut self, agent: usize) {
        let action = Action::HandOff { agent: u8::try_from(agent).expect("there are few agents") };
        self.act(|simulation, access| drop(simulation.perform(&action, 0, access)));
    }

    /// An agent plans its next call. Answers the call's name.
    fn plan(&mut self, agent: usize) -> String {
        let before = self.state.clone();
        self.act(|simulation, access| {
            let mut harness = Harness::new(simulation.setting(), access, agent);
            harness.send(None);
            let _ = harness.finish();
        });
        let call = self.call(agent).expect("it was just planned");
        let label = self.label(&call);
        let line = note::call(self.simulation.setting(), &self.handles, label.clone(), &call, &before);
        self.journal.sent(line);
        label
    }

    /// A request really leaves, after a pause.
    fn launch(&mut self, call: &Call, node: usize, pause: u32, orphan: bool) -> Result<(), String> {
        let (setting, label) = (self.simulation.setting(), self.label(call));
        let agent = usize::from(call.request.agent);
        let node = node % self.servers.count();
        let sent = self.servers.prepare(setting, &self.handles, &call.request, node)?;
        if let Some(line) = self.journal.open(&label) {
            line.node = Some(self.servers.name(node));
        }
        let (sender, name) = (self.sender.clone(), label.clone());
        let task = tokio::spawn(async move {
            tokio::time::sleep(Duration::from_micros(u64::from(pause))).await;
            let result = sent.send().await;
            let _ = sender.send((name, result));
        });
        self.open.insert(label, Open { agent, task: task.abort_handle(), orphan });
        Ok(())
    }

    fn choose_node(&mut self, agent: usize) -> usize {
        let nodes = self.servers.count();
        match self.simulation.setting().model.design.server.balancer {
            Balancer::Sticky => agent % nodes,
            Balancer::Any | Balancer::ByHandle => self.random.next_u32() as usize % nodes,
        }
    }

    /// Waits for one result, and puts it where its agent finds it.
    async fn one_result(&mut self) -> Result<(), String> {
        let Some((label, result)) = self.results.recv().await else { return Ok(()) };
        let Some(open) = self.open.remove(&label).filter(|open| !open.orphan) else { return Ok(()) };
        let Some(call) = self.call(open.agent).filter(|call| self.label(call) == label) else { return Ok(()) };
        let setting = self.simulation.setting();
        match result {
            Ok(reply) => {
                let said = self.servers.read(setting, &call.request, &reply);
                self.journal.received(&label, said.clone());
                let answer = translate::answer(setting, &mut self.handles, &call.request, &said, &reply);
                let call = Call { position: Position::Answered { node: 0, answer }, ..call };
                self.state[setting.call_slot(open.agent)] = Some(call).into();
            }
            Err(error) => {
                if error == CallError::Late {
                    self.late += 1;
                    if self.late >= MOST_LATE {
                        return Err(format!("the servers hang: {label} is the call number {MOST_LATE} with {error}"));
                    }
                } else if !matches!(error, CallError::Broken(_)) {
                    self.refused.push(format!("{label}: {error}"));
                }
                self.broken(&label, &call);
            }
        }
        Ok(())
    }

    async fn until_answered(&mut self, label: &str) -> Result<(), String> {
        while self.open.get(label).is_some_and(|open| !open.orphan) {
            self.one_result().await?;
        }
        Ok(())
    }

    /// An agent takes note of the answer that is there for it.
    fn receive(&mut self, agent: usize) {
        let answered = self.call(agent).is_some_and(|call| matches!(call.position, Position::Answered { .. }));
        if answered {
            self.act(|simulation, access| {
                let mut harness = Harness::new(simulation.setting(), access, agent);
                harness.receive();
                harness.decide_as_usual();
                let _ = harness.finish();
            });
        }
    }

    /// The stream of an agent's call is cut.
    fn cut(&mut self, agent: usize) {
        let Some(call) = self.call(agent) else { return };
        let label = self.label(&call);
        if let Some(open) = self.open.remove(&label) {
            open.task.abort();
        }
        self.journal.event(Event {
            at: 0,
            event: "drop-stream".to_owned(),
            node: None,
            agent: Some(self.simulation.setting().agent_name(agent).to_owned()),
            handle: None,
            about: None,
        });
        self.broken(&label, &call);
    }

    fn broken(&mut self, label: &str, call: &Call) {
        self.journal.cut(label);
        let (agent, request) = (usize::from(call.request.agent), call.request.clone());
        self.state[self.simulation.setting().call_slot(agent)] = Component::Call(None);
        self.act(|simulation, access| {
            let mut harness = Harness::new(simulation.setting(), access, agent);
            harness.stream_broke(&request);
            harness.decide_as_usual();
            let _ = harness.finish();
        });
    }

    async fn restart(&mut self, node: usize) -> Result<(), String> {
        let node = node % self.servers.count();
        let name = self.servers.name(node);
        self.journal.event(Event {
            at: 0,
            event: "restart-node".to_owned(),
            node: Some(name),
            agent: None,
            handle: None,
            about: None,
        });
        self.servers.restart(node).await
    }
}
