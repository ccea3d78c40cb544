//! Makes rows of steps.

use super::beliefs::{Stale, became, content_before, fate, new_ones, stale_after};
use super::calls::{Calls, Followed};
use super::{CommitMark, Lanes, Mind, Remark, Row, Shape, Shown};
use crate::diagrams::words;
use crate::trace::{AnswerNote, Change, Content, Reaches, Step, Trace, notes};

/// So many folded calls in a row become one row.
const MANY_FOLDS: usize = 4;

/// The rows of a trace.
pub fn rows(trace: &Trace, lanes: &Lanes, calls: &Calls<'_>) -> Vec<Row> {
    let maker = Maker { trace, lanes, calls, stale: stale_after(trace, calls) };
    merge_folds(maker.rows(), calls)
}

struct Maker<'m, 't> {
    trace: &'t Trace,
    lanes: &'m Lanes,
    calls: &'m Calls<'t>,
    stale: Vec<Vec<Stale>>,
}

impl<'t> Maker<'_, 't> {
    fn rows(&self) -> Vec<Row> {
        let mut rows = Vec::new();
        let mut index = 0;
        while let Some(step) = self.trace.steps.get(index) {
            let call = self.calls.call_of(index);
            let mut last = index;
            match call {
                Some(call) if call.folds => {
                    if call.steps.first() == Some(&index) {
                        rows.push(self.fold(call, index));
                    }
                }
                _ => {
                    let (row, until) = self.row(index, step, call);
                    last = until;
                    rows.push(row);
                    rows.extend(self.calls.all().iter().find_map(|call| self.under_way(call, index)));
                }
            }
            index = last + 1;
        }
        rows
    }

    /// A row of the steps from `first` to `last`, with what they did to belief and truth.
    fn make(&self, first: usize, last: usize, shape: Shape, label: String) -> Row {
        let steps = &self.trace.steps[first..=last];
        let told = steps
            .iter()
            .flat_map(|step| &step.told)
            .filter(|told| told.told != "ok" || last + 1 == self.trace.steps.len());
        let notes = steps.iter().flat_map(|step| &step.notes).map(|note| Remark::of_note(note));
        let told =
            told.map(|told| Remark::new("", format!("{} is told {} about {}", told.agent, told.told, told.about)));
        let stale = new_ones(&self.stale, first, last);
        let is_busy = |node: &String| {
            let calls = self.calls.all().iter();
            calls.filter(|call| call.node == Some(node)).any(|call| call.busy(last))
        };
        Row {
            steps: Some((first + 1, last + 1)),
            shape,
            label,
            gist: String::new(),
            sentence: steps.iter().map(|step| words::sentence(&step.sentence)).collect::<Vec<_>>().join(" "),
            call: self.calls.call_of(first).map(|call| call.request.clone()),
            repeats: None,
            remarks: notes.chain(told).collect(),
            commits: (first..=last).flat_map(|index| self.commits(index)).collect(),
            stale,
            fault: steps.iter().any(|step| step.does.fault),
            orphan: steps.iter().any(|step| step.does.orphan),
            shows: (last + 1 == self.trace.steps.len()).then(|| Shown::of(self.trace)),
            minds: self.lanes.agents.iter().map(|agent| self.mind(&agent.name, last)).collect(),
            learns: self.learns(first, last),
            busy_nodes: self.lanes.nodes.iter().map(is_busy).collect(),
            breaks: Vec::new(),
            lost: Vec::new(),
        }
    }

    /// How what an agent believes stands to the truth after a step.
    fn mind(&self, agent: &str, index: usize) -> Mind {
        if self.stale[index].iter().any(|stale| stale.agent == agent) {
            return Mind::Stale;
        }
        let mut heard = self.trace.steps.iter().take(index + 1).flat_map(|step| &step.changes);
        if !heard.any(|change| believer(change) == Some(agent)) {
            return Mind::Blank;
        }
        let changes = |call: &Followed<'_>| call.note.is_some_and(|note| !note.change.is_empty());
        if self.calls.awaited_by(agent, index).is_some_and(changes) { Mind::Waiting } else { Mind::Current }
    }

    /// The agents that believe something for the first time after these steps, and what.
    fn learns(&self, first: usize, last: usize) -> Vec<(usize, String)> {
        let new = |(index, agent): (usize, &super::AgentHead)| {
            let before = first.checked_sub(1).map_or(Mind::Blank, |before| self.mind(&agent.name, before));
            let now = self.mind(&agent.name, last) == Mind::Current && before == Mind::Blank;
            let changes = self.trace.steps[first..=last].iter().rev().flat_map(|step| &step.changes);
            let heard = changes.filter(|change| believer(change) == Some(&*agent.name)).map(|change| &change.after);
            // As an answer shows it, without the fields that are left out.
            let views = self.trace.steps[first..=last].iter().rev().filter(|step| step.does.action == "receive");
            let views = views.filter(|step| step.does.agent.as_ref() == Some(&agent.name));
            let view = views.filter_map(|step| step.answer.as_ref()?.view.as_ref()).map(words::brief).next();
            let own = self.calls.call_of(last).filter(|call| call.agent == agent.name).and_then(|call| call.committed);
            let view = view.or_else(|| own.map(|(_, commit)| words::brief(&commit.content)));
            view.or_else(|| heard.into_iter().next().cloned()).filter(|_| now).map(|words| (index, words))
        };
        self.lanes.agents.iter().enumerate().filter_map(new).collect()
    }

    fn commits(&self, index: usize) -> Vec<CommitMark> {
        let step = &self.trace.steps[index];
        let mark = |commit: &crate::trace::Commit| {
            let store = self.lanes.store(&commit.content.handle).or_else(|| self.lanes.store_of_step(step))?;
            let fields = &self.lanes.stores[store].fields;
            let before = content_before(self.trace, &commit.content.handle, index);
            let before = before.map_or_else(Vec::new, |before| before.values.clone());
            let erased = commit.erased.iter().map(|erased| {
                let value = fields.iter().position(|field| *field == erased.field).and_then(|field| before.get(field));
                let value = value.map_or_else(String::new, |value| format!(" {value}"));
                let of = if erased.of.is_empty() { String::new() } else { format!("{}'s ", words::list(&erased.of)) };
                format!("{of}{}{value}", erased.field)
            });
            Some(CommitMark {
                store,
                agent: commit.agent.clone(),
                shows: commit.shows.clone(),
                damages: fields.iter().map(|name| commit.erased.iter().any(|erased| erased.field == *name)).collect(),
                erased: erased.collect(),
                changed: fields.iter().map(|field| commit.changed.contains(field)).collect(),
                before,
                second: (commit.effects > 1).then(|| commit.intent.clone()),
                content: commit.content.clone(),
                named: *before_named(self.trace, self.lanes, index, store) != commit.content.handle,
                deleted: became(step, &commit.content.handle, "state", "deleted"),
            })
        };
        step.commits.iter().filter_map(mark).collect()
    }

    /// The row of a step, and the index of the last step in it.
    fn row(&self, index: usize, step: &'t Step, call: Option<&Followed<'t>>) -> (Row, usize) {
        let agent = self.lanes.agent(step.does.agent.as_deref());
        let node = self.lanes.node(step.does.node.as_deref().or_else(|| call.and_then(|call| call.node)));
        let row = match (step.does.action.as_str(), agent, node, call) {
            ("hand-off", Some(from), _, _) => {
                let to = step.does.to.iter().filter_map(|name| self.lanes.agent(Some(name))).collect();
                let what = step.does.handle.as_deref().unwrap_or("a handle");
                self.make(index, index, Shape::HandOff { from, to }, format!("hands off {what}"))
            }
            ("send", Some(agent), _, Some(call)) => return self.send(index, agent, call),
            ("deliver", _, Some(node), Some(call)) if call.delivered.is_some_and(|first| first < index) => {
                let label = format!("{}{}", self.request(call), orphaned(call, index));
                let mut row = self.make(index, index, Shape::TakeUp { node }, label);
                row.remarks.insert(0, Remark::pictured(format!("{} is taken up again", call.request)));
                row
            }
            ("deliver", Some(agent), Some(node), Some(call)) => {
                let label = format!("{}{}", self.request(call), orphaned(call, index));
                let mut row = self.make(index, index, Shape::Request { agent, node, late: true }, label);
                if let Some(sent) = call.sent {
                    row.remarks.insert(0, Remark::pictured(format!("sent in step {}", sent + 1)));
                }
                row
            }
            ("execute", _, Some(node), Some(call)) => self.transaction(index, step, node, call),
            ("receive", Some(agent), Some(node), Some(call)) => {
                let answer = step.answer.as_ref().or_else(|| call.hears.map(|hears| hears.1));
                let label = answer.map_or_else(|| "answer".to_owned(), |answer| answer_words(call, answer));
                self.make(index, index, Shape::Answer { node, agent, received: true }, label)
            }
            ("drop-stream", Some(agent), _, Some(call)) => self.broken(index, agent, call),
            _ => self.note(index, step, agent),
        };
        (row, index)
    }

    fn send(&self, index: usize, agent: usize, call: &Followed<'t>) -> (Row, usize) {
        let arrives = call.delivered == Some(index + 1);
        let node = self.lanes.node(call.node).filter(|_| arrives);
        let (shape, last) = match node {
            Some(node) => (Shape::Request { agent, node, late: false }, index + 1),
            None => (Shape::Send { agent }, index),
        };
        let mut row = self.make(index, last, shape, self.request(call));
        row.gist = call.note.map_or_else(String::new, |note| note.change.clone());
        if call.note.is_some_and(|note| note.attempt.as_deref() == Some("repeat")) {
            row.repeats = self.calls.earlier(call).and_then(|earlier| earlier.sent).map(|sent| sent + 1);
        }
        let wants = call.note.and_then(words::wants).map(|wants| Remark::new(&format!("{} ", call.agent), wants));
        row.remarks.splice(0..0, wants.into_iter().chain(self.cause(call, index)));
        if node.is_none() {
            let never = || "does not arrive in this trace".to_owned();
            let fate = call.delivered.map_or_else(never, |arrives| format!("arrives in step {}", arrives + 1));
            row.remarks.push(Remark::new("It ", fate));
        }
        (row, last)
    }

    fn request(&self, call: &Followed<'t>) -> String {
        let words = call.note.map_or_else(|| format!("request {}", call.request), words::request);
        match call.note.filter(|_| self.lanes.several) {
            Some(note) => format!("{}: {words}", note.handle.as_ref().unwrap_or(&note.resource)),
            None => words,
        }
    }

    /// How a request came about, where it did not simply follow from the work: it repeats another, or was planned anew,
    /// or rests on an old version.
    fn cause(&self, call: &Followed<'t>, index: usize) -> Option<Remark> {
        let note = call.note?;
        let handle = note.handle.as_deref()?;
        if note.attempt.as_deref() == Some("repeat") {
            let earlier = self.calls.earlier(call).and_then(|earlier| earlier.sent);
            let earlier = earlier.map_or_else(|| "an earlier one".to_owned(), |sent| format!("step {}", sent + 1));
            let key = if note.change.is_empty() || note.key.is_some() { "" } else { ", without a key" };
            let otherwise = self.calls.earlier(call).and_then(|it| it.note).map(|it| note.otherwise(it));
            let otherwise = otherwise.unwrap_or_default();
            let words = if otherwise.is_empty() {
                format!("the same call as {earlier}, in a new request{key}")
            } else {
                format!("the work of {earlier} once more; {earlier} {}", words::list(&otherwise))
            };
            return Some(Remark::new("It is ", words));
        }
        if note.change.is_empty() {
            return None;
        }
        let believed = self.trace.steps[index].beliefs.iter().find(|belief| {
            belief.agent == call.agent && belief.believes.handle == handle && belief.believes.version.is_some()
        });
        let truth = content_before(self.trace, handle, index).and_then(|content| content.version);
        let on = believed.map_or(truth, |belief| belief.believes.version).map(words::version);
        let truth = believed.and_then(|belief| match &belief.truth {
            Some(truth) => Some(format!("store is {}", words::version(truth.version?))),
            None => Some(format!("{handle} {}", fate(self.trace, handle, index))),
        });
        let replanned = note.attempt.as_deref() == Some("replan");
        let planned = if replanned { "planned again" } else { "planned" };
        match (on, truth) {
            (Some(on), Some(truth)) => Some(Remark::new("It was ", format!("{planned} on {on}; {truth}"))),
            (Some(on), None) if replanned => Some(Remark::new("It was ", format!("{planned} on {on}"))),
            (None, _) if replanned => Some(Remark::new("It was ", planned.to_owned())),
            _ => None,
        }
    }

    fn transaction(&self, index: usize, step: &'t Step, node: usize, call: &Followed<'t>) -> Row {
        let store = self.lanes.store_of_step(step);
        let store = store.or_else(|| call.note.and_then(|note| self.lanes.store_of_call(note)));
        let note = step.transaction.as_ref();
        let (all, brief) = note.map_or_else(Default::default, |note| words::transaction(note, step.answer.as_ref()));
        // What is called upstream or looked for in a cache is not in the store, and what is answered out of a cache does
        // not come from there.
        let outside = |note: &crate::trace::TransactionNote| {
            let elsewhere = |name: &String| name.starts_with("call-upstream") || name.contains("cache");
            !note.steps.is_empty() && note.steps.iter().all(elsewhere)
        };
        let cached = step.notes.iter().any(|note| note.starts_with(notes::CACHED));
        let store = store.filter(|_| !cached && !note.is_some_and(outside));
        let ended = note.is_some_and(|note| note.ended_by.is_some());
        let orphaned = orphaned(call, index);
        let elsewhere = match step.answer.as_ref().map(|answer| &answer.reaches) {
            Some(Reaches::StreamOf(taker)) => Some(format!("its answer goes to the stream of {taker}")),
            Some(Reaches::Nobody) => Some("its answer finds no stream: nobody receives it".to_owned()),
            Some(Reaches::Caller) | None => None,
        };
        let brief = format!("{brief}{orphaned}");
        let shape = Shape::Transaction { node, store, brief, ended, astray: elsewhere.is_some() };
        let mut row = self.make(index, index, shape, format!("{all}{orphaned}"));
        row.remarks.splice(0..0, elsewhere.map(Remark::pictured));
        row
    }

    fn broken(&self, index: usize, agent: usize, call: &Followed<'t>) -> Row {
        let arrived = call.delivered.is_some_and(|at| at < index);
        let node = self.lanes.node(call.node).filter(|_| arrived);
        let answer = call.hears.filter(|(at, _)| *at < index).map(|(_, answer)| answer_words(call, answer));
        let fate = match (call.broken == Some(index), &answer, arrived) {
            (false, ..) => "stream can be resumed".to_owned(),
            (true, Some(answer), _) => format!("call is orphaned: its answer ({answer}) reaches nobody"),
            (true, None, _) if call.answered.is_some_and(|(at, _)| at < index) => {
                "call was over: its answer did not come out of this stream".to_owned()
            }
            (true, None, true) => "call is orphaned: it may still run, and its answer reaches nobody".to_owned(),
            (true, None, false) => "call is orphaned: it may still arrive, and its answer reaches nobody".to_owned(),
        };
        let mut row = self.make(index, index, Shape::Break { agent, node, answer }, "fault: drop-stream".to_owned());
        row.remarks.insert(0, Remark::new("The ", fate));
        row
    }

    /// Anything without a shape of its own: its sentence says what happens.
    fn note(&self, index: usize, step: &'t Step, agent: Option<usize>) -> Row {
        let node = self.lanes.node(step.does.node.as_deref());
        // It is the node that stops a call, whoever sent it.
        let agent = agent.filter(|_| step.does.action != "cancel" || node.is_none());
        let shape = Shape::Note { agent, node, store: self.lanes.store_of_step(step) };
        let label = match &*step.does.action {
            action if step.does.fault => format!("fault: {action}"),
            action if step.does.restarts => format!("{action} (restart)"),
            "decide" => "decides".to_owned(),
            "skip" => "leaves out".to_owned(),
            action => action.to_owned(),
        };
        let mut row = self.make(index, index, shape, label);
        // What is decided is said without its agent and its label, which stand beside it.
        let decided = step.does.client.as_deref().filter(|_| step.does.action == "decide");
        let sentence = decided.unwrap_or(&step.sentence).trim().trim_end_matches('.');
        let said = (!sentence.is_empty()).then(|| Remark::pictured(sentence.to_owned()));
        let broken = self.calls.all().iter().filter(|call| call.broken == Some(index) && !step.does.orphan);
        let mut more = Vec::new();
        for call in broken {
            let lost = call.hears.filter(|(at, _)| *at < index).map_or_else(
                || "before there was an answer".to_owned(),
                |(_, answer)| format!("and its answer ({}) is lost", answer_words(call, answer)),
            );
            more.push(Remark::new("The ", format!("stream of {} breaks, {lost}", call.request)));
            row.breaks.extend(self.lanes.agent(Some(call.agent)));
        }
        for change in step.changes.iter().filter(|change| change.after == "lost with its node") {
            let handle = change.fact.trim_end_matches(" memory");
            more.push(Remark::new("", format!("{handle} was in that memory, and is lost")));
            row.lost.extend(self.lanes.store(handle));
        }
        row.remarks.splice(0..0, said.into_iter().chain(more));
        row
    }

    /// What comes out of the stream of a call from this step on, where that is never received though the stream is whole.
    fn under_way(&self, call: &Followed<'t>, index: usize) -> Option<Row> {
        let (at, answer) = call.hears?;
        let ends = at == index && index + 1 < self.trace.steps.len();
        let waited_for = call.received.is_none() && call.broken.is_none() && call.sent.is_some();
        let step = self.trace.steps.get(at)?;
        let node = self.lanes.node(step.does.node.as_deref().or(call.node))?;
        let agent = self.lanes.agent(Some(call.agent))?;
        (ends && waited_for).then(|| {
            let label = format!("{} (not yet received)", answer_words(call, answer));
            let mut row = self.make(index, index, Shape::Answer { node, agent, received: false }, label);
            row.call = Some(call.request.clone());
            (row.steps, row.fault) = (None, false);
            (row.commits, row.stale, row.remarks) = (Vec::new(), Vec::new(), Vec::new());
            row
        })
    }

    fn fold(&self, call: &Followed<'t>, first: usize) -> Row {
        let last = call.steps.last().copied().unwrap_or(first);
        let store = call.note.and_then(|note| self.lanes.store_of_call(note));
        let agents = self.lanes.agent(Some(call.agent)).into_iter().collect();
        let nodes = self.lanes.node(call.node).into_iter().collect();
        let saw = call.answered.map(|answered| answered.1).map_or_else(String::new, |answer| match &answer.view {
            Some(view) => {
                let other = answer.other_view.as_ref();
                let other = other.map_or_else(String::new, |other| format!(", and {} {}", other.handle, glance(other)));
                format!("sees {}{other}", glance(view))
            }
            None => words::answer(answer, call.note),
        });
        let asked = self.request(call);
        let label = format!("{asked}, {saw}");
        self.make(first, last, Shape::Fold { agents, nodes, store, asked, saw }, label)
    }
}

/// Whose belief a change is about.
fn believer(change: &Change) -> Option<&str> {
    change.fact.split_once(" believes of ").map(|(agent, _)| agent)
}

/// A view in as few words as there are: its version, if it has one.
fn glance(view: &Content) -> String {
    view.version.map_or_else(|| words::brief(view), words::version)
}

/// The handle under which the lane of a resource showed something last, before a step.
fn before_named<'t>(trace: &'t Trace, lanes: &'t Lanes, index: usize, store: usize) -> &'t String {
    let steps = trace.steps[..index].iter().rev();
    let lane = |step: &Step, handle: &str| lanes.store(handle).or_else(|| lanes.store_of_step(step));
    steps
        .flat_map(|step| step.commits.iter().rev().map(move |commit| (step, &commit.content.handle)))
        .find(|(step, handle)| lane(step, handle) == Some(store))
        .map_or(&lanes.stores[store].handle, |(_, handle)| handle)
}

/// What comes out of the stream of a call: `ok, v8`, with whose answer it is where that is another's.
fn answer_words(call: &Followed<'_>, answer: &AnswerNote) -> String {
    let words = words::answer(answer, call.note);
    call.hears_of.as_ref().map_or_else(|| words.clone(), |of| format!("answer of {of}: {words}"))
}

fn orphaned(call: &Followed<'_>, index: usize) -> &'static str {
    if call.orphaned(index) { " (orphaned call)" } else { "" }
}

/// Makes one row of many folded calls.
fn merge_folds(rows: Vec<Row>, calls: &Calls<'_>) -> Vec<Row> {
    let mut merged: Vec<Row> = Vec::new();
    let mut run: Vec<Row> = Vec::new();
    for row in rows {
        if matches!(row.shape, Shape::Fold { .. }) {
            run.push(row);
            continue;
        }
        merged.extend(merge(std::mem::take(&mut run), calls));
        merged.push(row);
    }
    merged.extend(merge(run, calls));
    merged
}

fn merge(run: Vec<Row>, calls: &Calls<'_>) -> Vec<Row> {
    if run.len() < MANY_FOLDS {
        return run;
    }
    let ranges = run.iter().filter_map(|row| row.steps);
    let range = ranges.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)));
    let Some((first, last)) = range else { return run };
    let inside = |call: &&Followed<'_>| {
        call.folds && call.steps.first().is_some_and(|step| (first..=last).contains(&(step + 1)))
    };
    let mut tools: Vec<&str> = Vec::new();
    let mut seen: Vec<String> = Vec::new();
    for call in calls.all().iter().filter(inside) {
        let tool = call.note.map_or("call", |note| note.tool.as_str());
        let view = call.answered.and_then(|answered| answered.1.view.as_ref()).map(glance);
        tools.extend((!tools.contains(&tool)).then_some(tool));
        seen.extend(view.filter(|view| !seen.contains(view)));
    }
    let tool = if let [tool] = tools[..] { tool } else { "call" };
    let saw = match &seen[..] {
        [] => "all ok".to_owned(),
        [view] => format!("all see {view}"),
        views => format!("see {}", words::list(views)),
    };
    let asked = format!("{} {tool}s", run.len());
    let label = format!("{asked}, {saw}");
    let (mut agents, mut nodes, mut stores) = (Vec::new(), Vec::new(), None);
    let (mut stale, mut learns, mut sentences) = (Vec::new(), Vec::new(), Vec::new());
    let mut whole: Option<Row> = None;
    for row in run {
        if let Shape::Fold { agents: more, nodes: at, store, .. } = &row.shape {
            agents.extend(more.iter().filter(|agent| !agents.contains(*agent)).copied().collect::<Vec<_>>());
            nodes.extend(at.iter().filter(|node| !nodes.contains(*node)).copied().collect::<Vec<_>>());
            stores = stores.or(*store);
        }
        stale.extend(row.stale.clone());
        learns.extend(row.learns.clone());
        sentences.push(row.sentence.clone());
        whole = Some(row);
    }
    agents.sort_unstable();
    nodes.sort_unstable();
    let shape = Shape::Fold { agents, nodes, store: stores, asked, saw };
    whole
        .map(|row| Row {
            steps: Some((first, last)),
            shape,
            label,
            stale,
            learns,
            sentence: sentences.join(" "),
            ..row
        })
        .into_iter()
        .collect()
}
