//! What the clients of a trace would have logged: the model's runs as logs, so that both can be held against each other.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::input::{self, Source};
use crate::invariants::INVARIANTS;
use crate::log::{
    Also, Answer, Call, Condition, End, Ended, Event, Heading, Lifecycle, Line, Operation, SCHEMA, State, ToldLine,
    Version,
};
use crate::model::scenario::Entry;
use crate::model::{Extent, Scenario, Told};
use crate::trace::{AlsoNote, AnswerNote, Content, ResourceLane, Step, Trace};

/// The log that the clients of a trace would have written, with an observer's views of the beginning and of the end.
///
/// Times are numbers of steps. What only the model knows is not in it. An answer that is under way when the trace
/// ends arrives after it, and a copy of a call that a fault made is in no client's log, so that the log is not whole.
#[must_use]
pub fn log(trace: &Trace) -> Vec<Line> {
    let source = Source::new(&trace.scenario.name, "the trace", &*trace.scenario.text);
    let names: Vec<&str> = INVARIANTS.iter().map(|row| row.name).collect();
    let scenario = input::read_scenario_within(&source, &names, Extent::SIMULATED).ok().map(|scenario| scenario.value);
    let counted = versions_count(trace);
    let mut lines = vec![Line::Log(Heading {
        schema: SCHEMA,
        handlecheck: Some(trace.handlecheck.clone()),
        scenario: Some(trace.scenario.name.clone()),
        design: Some(trace.design.name.clone()),
        protocol: Some(trace.protocol.name.clone()),
        seed: None,
        versions_count: counted,
        takes_back: trace.design.text.contains("\"undo\""),
        about: None,
    })];
    for resource in &trace.resources {
        let Some(initial) = &resource.initial else { continue };
        let shared = scenario.iter().flat_map(|scenario| &scenario.resources).find(|other| other.name == resource.name);
        let shared_with = shared.map(|shared| shared.shared_with.iter().map(ToString::to_string).collect());
        let owner = Some(resource.owner.clone());
        let shared_with = shared_with.unwrap_or_default();
        lines.push(Line::State(State { owner, shared_with, ..state(0, resource, initial, None) }));
    }
    let mut heard: Vec<(String, String, u64)> = Vec::new();
    let mut open: Vec<(String, Call)> = Vec::new();
    let mut under_way: Vec<(String, Answer)> = Vec::new();
    let mut last_entry: Vec<(String, usize)> = Vec::new();
    let mut unseen = false;
    // What was changed besides, by request: the version of it that was made last.
    let mut besides: Vec<(String, Version)> = Vec::new();
    for (at, step) in (1_u64..).zip(&trace.steps) {
        let request = step.does.request.clone().unwrap_or_default();
        let also = step.call.as_ref().and_then(|note| note.also.as_ref());
        let made = also.and_then(|also| step.commits.iter().rfind(|commit| commit.content.handle == also.handle));
        if let Some(made) = made.filter(|made| !made.taken_back).and_then(|made| version(made.content.version)) {
            besides.retain(|(other, _)| *other != request);
            besides.push((request.clone(), made));
        }
        let made = besides.iter().find(|(other, _)| *other == request).map(|(_, version)| version.clone());
        match step.does.action.as_str() {
            "send" => {
                if let (Some(mut call), Some(note)) = (sent(trace, at, step), &step.call) {
                    if let Some(scenario) = &scenario {
                        rests_on(scenario, &heard, &mut call, note.entry);
                    }
                    last_entry.retain(|(agent, _)| *agent != call.agent);
                    last_entry.push((call.agent.clone(), note.entry));
                    open.push((request, call));
                }
            }
            "deliver" => {
                if let Some((_, call)) = open.iter_mut().find(|(other, _)| *other == request) {
                    call.node.clone_from(&step.does.node);
                }
            }
            "receive" => {
                let place = open.iter().position(|(other, _)| *other == request);
                if let (Some(place), Some(note)) = (place, &step.answer) {
                    let (_, mut call) = open.remove(place);
                    if let Some((view, version)) = note.view.as_ref().and_then(|view| Some((view, view.version?))) {
                        heard.retain(|(agent, handle, _)| (agent, handle) != (&call.agent, &view.handle));
                        heard.push((call.agent.clone(), view.handle.clone(), version.into()));
                    }
                    // What an agent has changed it knows in the version that it was answered.
                    if let Some(version) = note.version.filter(|_| note.outcome == "ok" && note.handle == call.handle) {
                        let known = |(who, what, _): &&mut (String, String, u64)| {
                            *who == call.agent && Some(what) == call.handle.as_ref()
                        };
                        heard.iter_mut().find(known).into_iter().for_each(|(.., seen)| *seen = version.into());
                    }
                    call.received = Some(at);
                    call.answer = Some(answer(trace, step, note, made));
                    lines.push(Line::Call(Box::new(call)));
                }
            }
            "execute" => {
                if let (Some(note), Some(place)) = (&step.answer, open.iter().position(|(other, _)| *other == request))
                {
                    under_way.push((open[place].0.clone(), answer(trace, step, note, made)));
                }
            }
            action if step.does.fault => {
                unseen |= matches!(action, "duplicate-call" | "recreate");
                let (node, agent, handle) = (step.does.node.clone(), step.does.agent.clone(), step.does.handle.clone());
                let event =
                    Event { at, event: action.to_owned(), node, agent, handle, about: Some(step.sentence.clone()) };
                lines.push(Line::Event(event));
            }
            _ => {}
        }
        // A stream breaks when its client's call is gone without an answer.
        for change in &step.changes {
            let Some(agent) = change.fact.strip_prefix("call of ") else { continue };
            let answered = step.does.action == "receive";
            let over = (change.after == "none" || change.after.contains("broken")) && !answered;
            if let Some(place) = open.iter().position(|(_, call)| call.agent == agent && over) {
                let (_, mut call) = open.remove(place);
                call.cut = Some(at);
                lines.push(Line::Call(Box::new(call)));
            }
        }
        for told in &step.told {
            let entry = last_entry.iter().find(|(agent, _)| *agent == told.agent).map_or(0, |(_, entry)| *entry);
            let about = intent(&told.about, entry);
            let told_word = Told::named(&told.told).unwrap_or(Told::Unknown);
            lines.push(Line::Told(ToldLine { at, agent: told.agent.clone(), intent: about, told: told_word }));
        }
    }
    // Answers that are under way when the trace ends arrive after it.
    let mut end = trace.steps.len() as u64;
    for (request, mut call) in open {
        if let Some((_, answer)) = under_way.iter().rfind(|(other, _)| *other == request) {
            end += 1;
            call.received = Some(end);
            call.answer = Some(answer.clone());
        }
        lines.push(Line::Call(Box::new(call)));
    }
    end += 1;
    for (resource, content) in finally(trace) {
        let ended = lifecycle(trace, &content.handle);
        lines.push(Line::State(state(end, resource, &content, Some(ended))));
    }
    if !unseen {
        lines.push(Line::End(End { at: end + 1 }));
    }
    lines
}

/// What an entry of an agent's work says that it rests on: the handles of what it is given, the versions in which the agent
/// last heard of these, and its condition.
fn rests_on(scenario: &Scenario, heard: &[(String, String, u64)], call: &mut Call, entry: usize) {
    let agent = scenario.agents.iter().find(|other| other.name == call.agent);
    let entry = agent.and_then(|agent| agent.work.get(entry.checked_sub(1)?));
    let Some(entry @ Entry::Mutate { resource: own, given, condition, .. }) = entry else { return };
    let handle = |resource: usize| {
        let own = call.handle.clone().filter(|_| resource == *own);
        own.or_else(|| scenario.resources[resource].handle.clone())
    };
    let rests_on: Vec<String> = given.iter().filter_map(|resource| handle(*resource)).collect();
    call.saw.extend(rests_on.iter().filter_map(|handle| {
        let (_, _, version) = heard.iter().find(|(who, what, _)| (who, what) == (&call.agent, handle))?;
        Some((handle.clone(), Version::Number(*version)))
    }));
    call.condition = condition.as_ref().map(|expression| {
        let all = entry.judged_on().into_iter();
        let names = all.filter_map(|resource| Some((scenario.resources[resource].name.clone(), handle(resource)?)));
        Condition { expression: expression.clone(), names: names.collect() }
    });
    call.given = Some(rests_on).filter(|rests_on| !rests_on.is_empty());
}

/// Whether every commit of the trace adds one to the version before it.
fn versions_count(trace: &Trace) -> bool {
    let mut last: Vec<(&str, Option<u16>)> = Vec::new();
    for initial in trace.resources.iter().filter_map(|resource| resource.initial.as_ref()) {
        last.push((&initial.handle, initial.version));
    }
    trace.steps.iter().flat_map(|step| &step.commits).all(|commit| {
        let (handle, version) = (&*commit.content.handle, commit.content.version);
        match last.iter_mut().find(|(other, _)| *other == handle) {
            Some((_, before)) => {
                let next = before.is_some_and(|before| version == before.checked_add(1));
                *before = version;
                next
            }
            None => {
                last.push((handle, version));
                version.is_some()
            }
        }
    })
}

/// The last content of every handle, whoever wrote it: an agent may have been given the handle of another's resource for
/// its own.
fn finally(trace: &Trace) -> Vec<(&ResourceLane, Content)> {
    let initial = |lane: &ResourceLane| lane.initial.clone();
    let lanes = trace.resources.iter().filter_map(|lane| Some((lane, initial(lane)?)));
    let mut contents: Vec<(&ResourceLane, Content)> = lanes.collect();
    for step in &trace.steps {
        let about = step.call.as_ref().and_then(|call| trace.resources.iter().find(|lane| lane.name == call.resource));
        for commit in &step.commits {
            match contents.iter_mut().find(|(_, content)| content.handle == commit.content.handle) {
                Some((_, content)) => *content = commit.content.clone(),
                None => contents.extend(about.map(|lane| (lane, commit.content.clone()))),
            }
        }
        // A version may change without the content.
        for (_, content) in &mut contents {
            let fact = format!("{} version", content.handle);
            let change = step.changes.iter().find(|change| change.fact == fact);
            let version = change.and_then(|change| change.after.strip_prefix('v')?.parse().ok());
            content.version = version.or(content.version);
        }
    }
    contents
}

fn lifecycle(trace: &Trace, handle: &str) -> Lifecycle {
    let commits = trace.steps.iter().filter(|step| step.commits.iter().any(|commit| commit.content.handle == handle));
    let mut ends = commits.filter_map(|step| match step.call.as_ref()?.tool.as_str() {
        "close" => Some(Lifecycle::Closed),
        "execute" => Some(Lifecycle::Executed),
        "delete" => Some(Lifecycle::Deleted),
        _ => None,
    });
    ends.next_back().unwrap_or(Lifecycle::Open)
}

fn state(at: u64, resource: &ResourceLane, content: &Content, lifecycle: Option<Lifecycle>) -> State {
    State {
        at,
        handle: content.handle.clone(),
        owner: None,
        shared_with: Vec::new(),
        version: version(content.version),
        fields: fields(resource, content),
        lifecycle,
    }
}

fn version(version: Option<u16>) -> Option<Version> {
    version.map(|version| Version::Number(version.into()))
}

fn fields(resource: &ResourceLane, content: &Content) -> BTreeMap<String, Value> {
    resource.fields.iter().cloned().zip(content.values.iter().map(|text| value(text))).collect()
}

/// A value, from the words that a trace has for it.
fn value(text: &str) -> Value {
    if let Ok(number) = text.parse::<i64>() {
        return number.into();
    }
    match text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        Some("") => Value::Array(Vec::new()),
        Some(inside) => inside.split(", ").map(value).collect(),
        None if text == "\"\"" => "".into(),
        None => text.into(),
    }
}

fn sent(trace: &Trace, at: u64, step: &Step) -> Option<Call> {
    let note = step.call.as_ref()?;
    let agent = step.does.agent.clone()?;
    let lane = trace.agents.iter().find(|lane| lane.name == agent);
    let resource = trace.resources.iter().find(|resource| resource.name == note.resource);
    let payload = if note.payload.is_empty() || note.payload == note.tool { "" } else { &*note.payload };
    let mut tool = Operation::named(&note.tool).unwrap_or(Operation::Set);
    let mut carried = BTreeMap::new();
    for (field, adds, words) in resource.map(|resource| changes(resource, payload)).unwrap_or_default() {
        if note.tool == "write" && adds {
            let list = |content: &Content| fields_of(resource, content, &field).is_some_and(|value| value.is_array());
            let commits = trace.steps.iter().flat_map(|step| &step.commits).map(|commit| &commit.content);
            let initial = resource.and_then(|resource| resource.initial.as_ref());
            let listed = initial.into_iter().chain(commits).any(list);
            tool = if listed { Operation::Append } else { Operation::Increment };
        }
        carried.insert(field, value(&words));
    }
    let expects = note.expects.iter();
    let expects = expects.map(|expected| (expected.handle.clone(), Version::Number(expected.version.into())));
    let words = intent(&format!("{} on {}", note.change, note.resource), note.entry);
    Some(Call {
        id: step.does.request.clone(),
        sent: at,
        received: None,
        cut: None,
        principal: step.does.principal.clone().or_else(|| lane.map(|lane| lane.principal.clone())),
        agent,
        node: None,
        tool,
        called: None,
        handle: note.handle.clone(),
        fields: carried,
        expects: expects.collect(),
        saw: BTreeMap::new(),
        given: None,
        condition: None,
        also: note.also.as_ref().and_then(|also| besides(trace, also)),
        key: step.does.leaked_key.clone().or_else(|| note.key.clone()),
        request: None,
        intent: (note.tool != "read").then_some(words),
        repeats: None,
        answer: None,
    })
}

/// What a call changes besides.
fn besides(trace: &Trace, note: &AlsoNote) -> Option<Also> {
    let lane = trace
        .resources
        .iter()
        .find(|lane| lane.initial.as_ref().is_some_and(|initial| initial.handle == note.handle))?;
    let mut tool = Operation::Set;
    let mut carried = BTreeMap::new();
    for (field, adds, words) in changes(lane, &note.change) {
        if adds {
            let listed = lane.initial.as_ref().and_then(|initial| fields(lane, initial).remove(&field));
            tool = if listed.is_some_and(|value| value.is_array()) { Operation::Append } else { Operation::Increment };
        }
        carried.insert(field, value(&words));
    }
    Some(Also { tool, handle: note.handle.clone(), fields: carried })
}

/// What an intent is called: two of one agent may have the same words.
fn intent(words: &str, entry: usize) -> String {
    format!("{words}, entry {entry}")
}

fn fields_of(resource: Option<&ResourceLane>, content: &Content, field: &str) -> Option<Value> {
    fields(resource?, content).remove(field)
}

/// The changes in a payload: `memory 32, storage 512` or `rows + r1`, as the fields' names divide it.
fn changes(resource: &ResourceLane, payload: &str) -> Vec<(String, bool, String)> {
    let mut starts: Vec<(usize, &String)> = Vec::new();
    for field in &resource.fields {
        let lead = format!("{field} ");
        let found = payload.match_indices(&*lead).map(|(at, _)| at);
        starts.extend(found.filter(|at| *at == 0 || payload[..*at].ends_with(", ")).map(|at| (at, field)));
    }
    starts.sort_unstable();
    let ends = starts.iter().skip(1).map(|(at, _)| at - 2).chain([payload.len()]);
    let parts = starts.iter().zip(ends).map(|((at, field), end)| {
        let words = &payload[at + field.len() + 1..end];
        let (adds, words) = match (words.strip_prefix("+ "), words.strip_prefix("- ")) {
            (Some(words), _) => (true, words.to_owned()),
            (_, Some(words)) => (true, format!("-{words}")),
            _ => (false, words.to_owned()),
        };
        ((*field).clone(), adds, words)
    });
    parts.collect()
}

fn answer(trace: &Trace, step: &Step, note: &AnswerNote, besides: Option<Version>) -> Answer {
    let resource = step.call.as_ref().and_then(|call| trace.resources.iter().find(|lane| lane.name == call.resource));
    let shown = note.view.as_ref().zip(resource).map(|(view, resource)| fields(resource, view));
    Answer {
        outcome: Ended::named(&note.outcome).unwrap_or(Ended::Refused),
        replayed: note.replayed,
        handle: note.handle.clone(),
        version: version(note.version),
        also_version: besides.filter(|_| note.outcome == "ok" && !note.replayed),
        also_fields: BTreeMap::new(),
        fields: shown.unwrap_or_default(),
        error: None,
    }
}
