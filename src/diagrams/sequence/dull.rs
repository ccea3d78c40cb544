//! Shortens a long picture: runs of whole calls that the violation does not need become one row, with what is true after them.

use super::calls::{Calls, Followed};
use super::{CommitMark, Row, Shape};
use crate::diagrams::words;
use crate::trace::Trace;

/// With more rows than this, whole calls that the violation does not need share a row.
pub const MANY_ROWS: usize = 30;

/// Rows that are replaced by one are at least so many.
const LEAST: usize = 3;

/// Folds what the violation does not need.
#[must_use]
pub fn fold(trace: &Trace, calls: &Calls<'_>, rows: Vec<Row>, several: bool) -> Vec<Row> {
    let needed = needed(trace, calls);
    let is_needed = |name: &String| needed.iter().any(|call| call.request == *name);
    let whole = |name: &String| {
        let call = calls.all().iter().rfind(|call| call.request == *name);
        call.is_some_and(|call| call.sent.is_some() && call.received.is_some() && call.broken.is_none())
    };
    let mut dull: Vec<bool> = rows
        .iter()
        .map(|row| {
            let drawn = match row.shape {
                Shape::Fold { .. } => true,
                Shape::Request { .. } | Shape::Send { .. } | Shape::Transaction { .. } => {
                    row.call.as_ref().is_some_and(whole)
                }
                Shape::Answer { received, .. } => received && row.call.as_ref().is_some_and(whole),
                _ => false,
            };
            let plain = !row.fault && !row.orphan && row.shows.is_none() && row.stale.is_empty();
            drawn && plain && !row.call.as_ref().is_some_and(is_needed)
        })
        .collect();
    let stem = trace.loops_from.unwrap_or(usize::MAX);
    let in_loop = |row: &Row| row.steps.is_some_and(|(_, last)| last > stem);
    // All rows of a call are in one run, or none is in any.
    while let Some(at) = (0..rows.len()).find(|at| dull[*at] && !stays(&rows, &dull, *at, &in_loop)) {
        dull[at] = false;
    }
    let mut folded: Vec<Row> = Vec::new();
    let mut run: Vec<Row> = Vec::new();
    for (row, dull) in rows.into_iter().zip(dull) {
        let turns = run.last().is_some_and(|last| in_loop(last) != in_loop(&row));
        if !dull || turns {
            folded.extend(merge(std::mem::take(&mut run), calls, several));
        }
        if dull { run.push(row) } else { folded.push(row) }
    }
    folded.extend(merge(run, calls, several));
    folded
}

/// Whether every row of the call of this row is in the run of this row.
fn stays(rows: &[Row], dull: &[bool], at: usize, in_loop: &impl Fn(&Row) -> bool) -> bool {
    let Some(call) = &rows[at].call else { return true };
    rows.iter().enumerate().filter(|(_, row)| row.call.as_ref() == Some(call)).all(|(other, _)| {
        let between = at.min(other)..=at.max(other);
        between.clone().all(|index| dull[index]) && in_loop(&rows[*between.start()]) == in_loop(&rows[*between.end()])
    })
}

/// The calls without which the violation can't be told: the last one, those for the same work, the read that it rests on, and
/// those whose changes were erased or took effect twice.
fn needed<'c, 't>(trace: &Trace, calls: &'c Calls<'t>) -> Vec<&'c Followed<'t>> {
    let mut needed: Vec<&Followed<'t>> = Vec::new();
    let commits = || {
        trace.steps.iter().enumerate().flat_map(|(index, step)| step.commits.iter().map(move |commit| (index, commit)))
    };
    for (index, commit) in commits().filter(|(_, commit)| !commit.erased.is_empty() || commit.effects > 1) {
        needed.extend(calls.call_of(index));
        let erased = |other: &crate::trace::Commit| {
            commit.erased.iter().any(|erased| erased.of.contains(&other.agent) && other.changed.contains(&erased.field))
        };
        let twice = |other: &crate::trace::Commit| {
            commit.effects > 1 && other.agent == commit.agent && other.intent == commit.intent
        };
        let earlier = commits().filter(|(at, other)| *at < index && (erased(other) || twice(other)));
        needed.extend(earlier.filter_map(|(at, _)| calls.call_of(at)));
    }
    needed.extend(trace.steps.len().checked_sub(1).and_then(|last| calls.call_of(last)));
    for call in needed.clone() {
        let same = |other: &&Followed<'t>| {
            let entries = other.note.zip(call.note).is_some_and(|(one, other)| one.entry == other.entry);
            other.agent == call.agent && entries
        };
        needed.extend(calls.all().iter().filter(same));
        let rests_on = |read: &&Followed<'t>| {
            let views = read.hears.is_some_and(|(_, answer)| answer.view.is_some());
            read.agent == call.agent && views && read.received.zip(call.sent).is_some_and(|(at, sent)| at < sent)
        };
        needed.extend(calls.all().iter().rfind(rests_on));
    }
    needed
}

/// Makes one row of a run.
fn merge(run: Vec<Row>, calls: &Calls<'_>, several: bool) -> Vec<Row> {
    let (Some(first), Some(last)) = (run.first(), run.last()) else { return run };
    let (Some((from, _)), Some((_, to))) = (first.steps, last.steps) else { return run };
    if run.len() < LEAST {
        return run;
    }
    let inside = |call: &&Followed<'_>| call.steps.first().is_some_and(|step| (from..=to).contains(&(step + 1)));
    let made: Vec<&Followed<'_>> = calls.all().iter().filter(inside).collect();
    let mut tools: Vec<(&str, usize)> = Vec::new();
    for call in &made {
        let tool = call.note.map_or("call", |note| note.tool.as_str());
        match tools.iter_mut().find(|(name, _)| *name == tool) {
            Some((_, count)) => *count += 1,
            None => tools.push((tool, 1)),
        }
    }
    let tools: Vec<String> =
        tools.iter().map(|(tool, count)| format!("{count} {tool}{}", if *count == 1 { "" } else { "s" })).collect();
    let commits = last_commits(&run);
    let refused = made.iter().filter(|call| call.answered.is_some_and(|(_, answer)| answer.outcome != "ok")).count();
    let refused = (refused > 0).then(|| format!("{refused} refused"));
    let became = commits.iter().map(|commit| {
        let what = if several { &commit.content.handle } else { "store" };
        let version = commit.content.version.map_or_else(|| words::brief(&commit.content), words::version);
        format!("{what} is now {version}")
    });
    let saw: Vec<String> = refused.into_iter().chain(became).collect();
    let saw = if saw.is_empty() { "nothing changes".to_owned() } else { saw.join(", ") };
    let (mut agents, mut nodes, mut store) = (Vec::new(), Vec::new(), None);
    for row in &run {
        let (who, at, what) = lanes_of(&row.shape);
        agents.extend(who);
        nodes.extend(at);
        store = store.or(what);
    }
    for lanes in [&mut agents, &mut nodes] {
        lanes.sort_unstable();
        lanes.dedup();
    }
    let asked = words::list(&tools);
    let row = Row {
        steps: Some((from, to)),
        label: format!("{asked}, {saw}"),
        shape: Shape::Fold { agents, nodes, store, asked, saw },
        gist: String::new(),
        sentence: run.iter().map(|row| row.sentence.as_str()).collect::<Vec<_>>().join(" "),
        call: None,
        repeats: None,
        remarks: Vec::new(),
        // What was heard before a change is told no more.
        learns: if commits.is_empty() { run.iter().flat_map(|row| row.learns.clone()).collect() } else { Vec::new() },
        commits,
        ..last.clone()
    };
    vec![row]
}

/// The last change of each resource, with all that changed.
fn last_commits(run: &[Row]) -> Vec<CommitMark> {
    let mut commits: Vec<CommitMark> = Vec::new();
    for commit in run.iter().flat_map(|row| &row.commits) {
        match commits.iter_mut().find(|other| other.store == commit.store) {
            Some(other) => {
                let changed = other.changed.iter().zip(&commit.changed).map(|(one, other)| *one || *other).collect();
                let (before, named) = (other.before.clone(), other.named || commit.named);
                *other = CommitMark { changed, before, named, ..commit.clone() };
            }
            None => commits.push(commit.clone()),
        }
    }
    commits
}

/// The agents, the nodes and the store of a shape of a call.
fn lanes_of(shape: &Shape) -> (Vec<usize>, Vec<usize>, Option<usize>) {
    match shape {
        Shape::Fold { agents, nodes, store, .. } => (agents.clone(), nodes.clone(), *store),
        Shape::Request { agent, node, .. } | Shape::Answer { agent, node, .. } => (vec![*agent], vec![*node], None),
        Shape::Send { agent } => (vec![*agent], Vec::new(), None),
        Shape::Transaction { node, store, .. } => (Vec::new(), vec![*node], *store),
        _ => (Vec::new(), Vec::new(), None),
    }
}
