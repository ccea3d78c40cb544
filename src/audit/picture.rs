//! A finding as a picture: the calls that show it, in an order that the log allows, as the trace that every format draws.
//!
//! A log does not tell when a call was carried out, only between which times; versions tell more. The picture puts each as
//! early as both allow. It shows the calls of the finding and no others.

use std::collections::BTreeMap;

use super::case::short;
use super::history::{History, NEVER, Name, Record};
use super::report::{Checked, Found, Report};
use crate::log::Operation;
use crate::trace::{
    AgentLane, AlsoNote, AnswerNote, CallNote, Commit, Content, Does, Expected, Input, Reaches, ResourceLane, SCHEMA,
    Step, Trace, TransactionNote,
};

/// What happens to a call, in the order in which it does.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Moment {
    Sent,
    Executed,
    Received,
    Cut,
}

/// The trace of a finding, for pictures. It holds no inputs, so it does not replay.
#[must_use]
pub fn picture(history: &History, report: &Report, check: &Checked, found: &Found) -> Trace {
    // A call that works on two resources is drawn once.
    let mut shown: Vec<u32> = found.finding.calls.iter().map(|call| history.own(*call)).collect();
    let mut known = std::collections::BTreeSet::new();
    shown.retain(|call| known.insert(*call));
    let calls: Vec<(u32, &Record)> = shown.iter().map(|call| (*call, &history.calls[*call as usize])).collect();
    let mut moments: Vec<(u64, Moment, u64, usize)> = Vec::new();
    let executed = executed(&calls);
    for (place, (_, call)) in calls.iter().enumerate() {
        moments.push((call.sent, Moment::Sent, 0, place));
        if let Some(at) = executed[place] {
            moments.push((at, Moment::Executed, call.version.number().unwrap_or(0), place));
        }
        if call.received != NEVER {
            moments.push((call.received, Moment::Received, 0, place));
        } else if call.cut {
            let last = calls.iter().map(|(_, other)| other.sent).filter(|sent| *sent > call.sent).min();
            moments.push((last.unwrap_or(NEVER).saturating_sub(1).max(call.sent), Moment::Cut, 0, place));
        }
    }
    moments.sort_unstable();
    let mut drawing = Drawing::new(history, &calls);
    let steps = moments.iter().flat_map(|(_, moment, _, place)| drawing.steps(*moment, *place)).collect();
    let input = |name: &str, title: String| Input {
        name: name.to_owned(),
        title,
        text: String::new(),
        file: None,
        deployed: None,
    };
    Trace {
        handlecheck: env!("CARGO_PKG_VERSION").to_owned(),
        schema: SCHEMA,
        scenario: input(&report.log, format!("Calls of {}", report.log)),
        design: input("", String::new()),
        protocol: input("", String::new()),
        bounds: BTreeMap::new(),
        invariant: check.name.to_owned(),
        shows: None,
        kind: found.anomaly.map(str::to_owned),
        sentence: found.sentence.clone(),
        loops_from: None,
        faults: 0,
        agents: drawing.agents,
        nodes: drawing.nodes,
        resources: drawing.resources,
        steps,
    }
}

/// When each call is shown as carried out: not before it was sent, nor before what has an earlier version.
fn executed(calls: &[(u32, &Record)]) -> Vec<Option<u64>> {
    let mut order: Vec<usize> = (0..calls.len()).filter(|place| calls[*place].1.ended.is_some()).collect();
    order.sort_by_key(|place| {
        let call = calls[*place].1;
        (call.handle, call.version.number(), call.tool == Operation::Read, call.sent)
    });
    let mut times = vec![None; calls.len()];
    let mut last: Option<(Option<Name>, u64)> = None;
    for place in order {
        let call = calls[place].1;
        let before = last.filter(|(handle, _)| *handle == call.handle && call.version.number().is_some());
        let at = before.map_or(call.sent, |(_, at)| at.max(call.sent)).min(call.received);
        times[place] = Some(at);
        last = Some((call.handle, at));
    }
    times
}

struct Drawing<'h> {
    history: &'h History,
    calls: Vec<&'h Record>,
    /// What each does besides.
    besides: Vec<Option<&'h Record>>,
    agents: Vec<AgentLane>,
    nodes: Vec<String>,
    resources: Vec<ResourceLane>,
    contents: BTreeMap<Name, BTreeMap<Name, String>>,
}

impl<'h> Drawing<'h> {
    fn new(history: &'h History, calls: &[(u32, &'h Record)]) -> Self {
        let besides = calls.iter().map(|(call, _)| history.besides(*call)).collect();
        let calls: Vec<&Record> = calls.iter().map(|(_, call)| *call).collect();
        let mut drawing = Self {
            history,
            calls,
            besides,
            agents: Vec::new(),
            nodes: Vec::new(),
            resources: Vec::new(),
            contents: BTreeMap::new(),
        };
        for call in drawing.calls.clone() {
            let name = history.text(call.agent).to_owned();
            if drawing.agents.iter().all(|agent| agent.name != name) {
                let principal = history.text(call.principal).to_owned();
                drawing.agents.push(AgentLane { name, principal, parent: None });
            }
            let node = drawing.node(call);
            if !drawing.nodes.contains(&node) {
                drawing.nodes.push(node);
            }
        }
        for call in drawing.calls.clone().into_iter().chain(drawing.besides.clone().into_iter().flatten()) {
            let Some(handle) = call.handle else { continue };
            let content = drawing.contents.entry(handle).or_default();
            for (field, _) in history.fields(call).iter().chain(history.shown(call)) {
                content.entry(*field).or_insert_with(|| "?".to_owned());
            }
        }
        for (handle, content) in &drawing.contents {
            let name = history.text(*handle).to_owned();
            let fields = content.keys().map(|field| history.text(*field).to_owned()).collect();
            let first = history.observed.iter().filter(|state| state.handle == *handle).min_by_key(|state| state.at);
            let initial = first.map(|state| Content {
                handle: name.clone(),
                version: small(state.version.number()),
                values: content
                    .keys()
                    .map(|field| super::history::of(history.content(state), *field))
                    .map(|value| value.map_or_else(|| "?".to_owned(), |value| short(&history.shown_value(value))))
                    .collect(),
            });
            let owner =
                first.and_then(|state| state.owner).map_or_else(String::new, |owner| history.text(owner).to_owned());
            drawing.resources.push(ResourceLane { name, owner, shared_with: Vec::new(), initial, fields });
        }
        drawing
    }

    fn node(&self, call: &Record) -> String {
        call.node.map_or_else(|| "server".to_owned(), |node| self.history.text(node).to_owned())
    }

    fn content(&self, handle: Name, version: Option<u64>) -> Content {
        let values = self.contents.get(&handle).into_iter().flat_map(BTreeMap::values).cloned().collect();
        Content { handle: self.history.text(handle).to_owned(), version: small(version), values }
    }

    fn steps(&mut self, moment: Moment, place: usize) -> Vec<Step> {
        let (call, besides) = (self.calls[place], self.besides[place]);
        let id = self.history.id(call);
        let agent = self.history.text(call.agent).to_owned();
        let does = |action: &str, node: Option<String>| Does {
            action: action.to_owned(),
            agent: Some(agent.clone()),
            request: Some(id.clone()),
            node,
            ..Does::default()
        };
        let node = self.node(call);
        let note = self.note(call, besides);
        let asked = format!("{} of {}", call.tool, self.handle(call));
        let step = |does: Does, sentence: String| Step {
            does,
            call: Some(note.clone()),
            transaction: None,
            answer: None,
            told: Vec::new(),
            changes: Vec::new(),
            commits: Vec::new(),
            beliefs: Vec::new(),
            notes: Vec::new(),
            sentence,
        };
        match moment {
            Moment::Sent => vec![step(does("send", None), format!("{agent} sends a {asked} (request {id})."))],
            Moment::Executed => {
                let mut execute = step(does("execute", Some(node.clone())), format!("{node} carries out {id}."));
                execute.transaction = Some(TransactionNote {
                    steps: vec![call.tool.name().to_owned()],
                    ended_by: None,
                    number: 1,
                    at_end: false,
                    writes: call.is_ok() && call.tool.changes(),
                });
                execute.commits =
                    self.commit(call).into_iter().chain(besides.and_then(|other| self.commit(other))).collect();
                execute.answer = self.answer(call, besides);
                vec![step(does("deliver", Some(node.clone())), format!("{id} arrives at {node}.")), execute]
            }
            Moment::Received => {
                let mut receive = step(does("receive", Some(node)), format!("{agent} receives the answer of {id}."));
                receive.answer = self.answer(call, besides);
                vec![receive]
            }
            Moment::Cut => {
                let mut cut = step(does("drop-stream", None), format!("The stream of {id} breaks."));
                cut.does.fault = true;
                vec![cut]
            }
        }
    }

    fn handle(&self, call: &Record) -> String {
        call.handle.map_or_else(|| "a new resource".to_owned(), |handle| self.history.text(handle).to_owned())
    }

    /// What a call carries, in words.
    fn words(&self, call: &Record) -> String {
        let fields = self.history.fields(call).iter();
        let plus = if matches!(call.tool, Operation::Append | Operation::Increment) { "+ " } else { "" };
        let fields = fields.map(|(field, value)| {
            format!("{} {plus}{}", self.history.text(*field), short(&self.history.shown_value(*value)))
        });
        fields.collect::<Vec<_>>().join(", ")
    }

    fn note(&self, call: &Record, besides: Option<&Record>) -> CallNote {
        let expects = self.history.expects(call).iter().filter_map(|(handle, version)| {
            Some(Expected { handle: self.history.text(*handle).to_owned(), version: small(version.number())? })
        });
        CallNote {
            tool: call.tool.name().to_owned(),
            resource: self.handle(call),
            handle: call.handle.map(|handle| self.history.text(handle).to_owned()),
            payload: self.words(call),
            also: besides.map(|other| AlsoNote {
                handle: self.handle(other),
                change: if other.tool == Operation::Read { other.tool.to_string() } else { self.words(other) },
            }),
            change: self.words(call),
            expects: expects.collect(),
            key: call.key.map(|key| self.history.text(key).to_owned()),
            attempt: None,
            entry: 1,
        }
    }

    /// What a read was shown of a resource.
    fn view(&self, call: &Record) -> Option<Content> {
        let handle = call.handle.filter(|_| call.tool == Operation::Read && call.is_ok())?;
        Some(Content {
            handle: self.history.text(handle).to_owned(),
            version: small(call.version.number()),
            values: self
                .contents
                .get(&handle)
                .into_iter()
                .flat_map(BTreeMap::keys)
                .filter_map(|field| super::history::of(self.history.shown(call), *field))
                .map(|value| short(&self.history.shown_value(value)))
                .collect(),
        })
    }

    fn answer(&self, call: &Record, besides: Option<&Record>) -> Option<AnswerNote> {
        let ended = call.ended?;
        Some(AnswerNote {
            outcome: ended.name().to_owned(),
            replayed: call.replayed,
            handle: call.about.or(call.handle).map(|handle| self.history.text(handle).to_owned()),
            version: small(call.version.number()),
            view: self.view(call),
            other_view: besides.and_then(|other| self.view(other)),
            reaches: Reaches::Caller,
        })
    }

    fn commit(&mut self, call: &Record) -> Option<Commit> {
        let handle = call.handle.filter(|_| call.is_ok() && call.tool.changes() && !call.replayed)?;
        let mut changed = Vec::new();
        for (field, value) in self.history.fields(call) {
            let value = short(&self.history.shown_value(*value));
            let there = self.contents.entry(handle).or_default().entry(*field).or_default();
            *there = match call.tool {
                Operation::Append | Operation::Increment => format!("{there} + {value}"),
                _ => value,
            };
            changed.push(self.history.text(*field).to_owned());
        }
        let content = self.content(handle, call.version.number());
        let shows = vec![Vec::new(); content.values.len()];
        let agent = self.history.text(call.agent).to_owned();
        Some(Commit {
            agent,
            intent: String::new(),
            content,
            shows,
            changed,
            erased: Vec::new(),
            effects: 1,
            taken_back: false,
        })
    }
}

/// A version, as far as pictures have room for it.
fn small(version: Option<u64>) -> Option<u16> {
    version.and_then(|version| u16::try_from(version).ok())
}
