//! Leaves out the fields that never matter in a trace: they have one value throughout, and nobody wants another.

use crate::trace::{Content, Step, Trace};

/// A trace without the fields that have one value throughout, where their resource has others; and what was left out, by
/// the name of the resource: `state new`.
#[must_use]
pub fn without_unchanging(trace: &Trace) -> (Trace, Vec<(String, Vec<String>)>) {
    let mut trace = trace.clone();
    let mut left_out = Vec::new();
    for lane in 0..trace.resources.len() {
        let resource = &trace.resources[lane];
        let count = resource.fields.len();
        let handles = handles(&trace, lane);
        let mut values: Vec<Vec<String>> = Vec::new();
        let mut gather = |content: &mut Content| {
            if handles.contains(&content.handle) && content.values.len() == count {
                values.push(content.values.clone());
            }
        };
        let mut copy = trace.clone();
        visit(&mut copy, &mut gather);
        let wanted = wanted(&trace, lane);
        let changes: Vec<bool> = (0..count)
            .map(|field| wanted[field] || values.windows(2).any(|pair| pair[0][field] != pair[1][field]))
            .collect();
        if !changes.contains(&true) || !changes.contains(&false) {
            continue;
        }
        let value = |field: usize| values.first().map_or("", |values| values[field].as_str());
        let words = (0..count).filter(|field| !changes[*field]);
        let words = words.map(|field| format!("{} {}", trace.resources[lane].fields[field], value(field)));
        left_out.push((trace.resources[lane].name.clone(), words.collect()));
        let mut shorter: Vec<(String, String)> = Vec::new();
        visit(&mut trace, &mut |content: &mut Content| {
            if handles.contains(&content.handle) && content.values.len() == count {
                let whole = format!(" {}", content.values.join(" / "));
                keep(&mut content.values, &changes);
                shorter.push((whole, format!(" {}", content.values.join(" / "))));
            }
        });
        for step in &mut trace.steps {
            retell(step, &shorter);
        }
        for commit in trace.steps.iter_mut().flat_map(|step| &mut step.commits) {
            if handles.contains(&commit.content.handle) && commit.shows.len() == count {
                keep(&mut commit.shows, &changes);
            }
        }
        keep(&mut trace.resources[lane].fields, &changes);
    }
    (trace, left_out)
}

/// Says of the contents in a step's sentence what is left of them. What a request carries is told as it was sent.
fn retell(step: &mut Step, shorter: &[(String, String)]) {
    if step.does.action == "send" {
        return;
    }
    if let Some((whole, kept)) = shorter.iter().find(|(whole, _)| step.sentence.contains(whole.as_str())) {
        step.sentence = step.sentence.replace(whole.as_str(), kept);
    }
}

/// Which fields of a resource some call wants changed, though it may not come to it.
fn wanted(trace: &Trace, lane: usize) -> Vec<bool> {
    let resource = &trace.resources[lane];
    let calls = trace.steps.iter().filter_map(|step| step.call.as_ref());
    let changes: Vec<&str> = calls
        .filter(|call| call.resource == resource.name)
        .flat_map(|call| call.change.split(", ").filter_map(|change| change.split(' ').next()))
        .collect();
    resource.fields.iter().map(|field| changes.contains(&field.as_str())).collect()
}

/// Every handle that a resource has in the trace.
fn handles(trace: &Trace, lane: usize) -> Vec<String> {
    let resource = &trace.resources[lane];
    let initial = resource.initial.iter().map(|content| content.handle.clone());
    let about = |step: &&Step| step.call.as_ref().is_some_and(|call| call.resource == resource.name);
    let commits = trace.steps.iter().filter(about).flat_map(|step| &step.commits);
    initial.chain(commits.map(|commit| commit.content.handle.clone())).collect()
}

/// Visits every content of a trace.
fn visit(trace: &mut Trace, visitor: &mut impl FnMut(&mut Content)) {
    trace.resources.iter_mut().filter_map(|resource| resource.initial.as_mut()).for_each(&mut *visitor);
    for step in &mut trace.steps {
        step.commits.iter_mut().for_each(|commit| visitor(&mut commit.content));
        let shown = step.answer.iter_mut().flat_map(|answer| answer.view.iter_mut().chain(&mut answer.other_view));
        shown.for_each(&mut *visitor);
        for belief in &mut step.beliefs {
            visitor(&mut belief.believes);
            belief.truth.iter_mut().for_each(&mut *visitor);
        }
    }
}

fn keep<T>(items: &mut Vec<T>, kept: &[bool]) {
    let mut kept = kept.iter();
    items.retain(|_| kept.next().copied().unwrap_or(true));
}
