//! A step in one sentence.

use super::changes::{is_forgotten, short, superseded};
use super::past::Past;
use crate::model::Outcome;
use crate::trace::{AlsoNote, AnswerNote, CallNote, Commit, Does, Reaches, Step};

/// What happened, in one sentence, and in one more for each note. `taken_up`: it is about a call that outlived its node.
pub(super) fn sentence(step: &Step, taken_up: bool, past: &Past) -> String {
    let notes = step.notes.iter().map(|note| format!(" {}.", capitalised(note)));
    format!("{}{}", happened(step, taken_up, past), notes.collect::<String>())
}

/// A clause as the beginning of a sentence; what begins with a name keeps it.
fn capitalised(clause: &str) -> String {
    let ours = ["it ", "the ", "what "];
    let mut letters = clause.chars();
    match letters.next().filter(|_| ours.iter().any(|word| clause.starts_with(word))) {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => clause.to_owned(),
    }
}

fn happened(step: &Step, taken_up: bool, past: &Past) -> String {
    let Does {
        action,
        agent,
        request,
        node,
        to,
        handle,
        principal,
        leaked_key,
        key,
        same_id_as,
        client,
        to_run,
        restarts,
        clock_stands,
        fault: _,
        orphan,
    } = &step.does;
    let agent = agent.as_deref().unwrap_or("nobody");
    let request = request.as_deref().unwrap_or("a request");
    let node = node.as_deref().unwrap_or("no node");
    let handle = handle.as_deref().unwrap_or("nothing");
    let orphaned = if *orphan { " (nobody waits for its answer)" } else { "" };
    let call = step.call.as_ref();
    let what = call.map_or_else(|| "a call".to_owned(), call_words);
    match action.as_str() {
        "send" => {
            let otherwise = call.and_then(|call| Some(call.otherwise(past.earlier(agent, call)?))).unwrap_or_default();
            let again = match call.and_then(|call| call.attempt.as_deref()) {
                Some("repeat") if otherwise.is_empty() => " again".to_owned(),
                Some("repeat") => format!(" once more, though its last request for it {}", otherwise.join(" and ")),
                Some("replan") => ", planned anew".to_owned(),
                _ => String::new(),
            };
            let stolen = leaked_key.as_ref().map_or_else(String::new, |key| format!(" with the leaked key {key}"));
            let chosen = client.as_ref().map_or_else(String::new, |chosen| format!(", as with {chosen}"));
            format!("{agent} sends {what}{stolen}{again} (request {request}){chosen}.")
        }
        "deliver" => {
            let taken = same_id_as.as_ref().map_or_else(String::new, |other| {
                format!(" Its request id equals that of {other} there, whose place in the reply table it takes.")
            });
            let brings = if taken_up { "The queue of kept calls brings" } else { "The balancer brings" };
            let superseded = step.changes.iter().filter_map(superseded).find(|other| *other != request);
            let taken = superseded.filter(|_| taken.is_empty()).map_or(taken, |other| {
                format!(" It has the request id of {other} there, whose place in the reply table it takes.")
            });
            let forgotten = step.changes.iter().any(is_forgotten);
            let forgotten = if forgotten { " Nothing there knows where its answer goes." } else { "" };
            format!("{brings} {request}{orphaned} to {node}.{taken}{forgotten}")
        }
        "execute" => {
            let stands = if *clock_stands { " The clock did not tick." } else { "" };
            format!("{}{stands}{}", execution(step, node, request, orphaned), astray(step))
        }
        "ambiguous-commit" => {
            let steps = step.transaction.as_ref().map_or_else(String::new, |transaction| transaction.steps.join(", "));
            format!("{node} executes {request}: {steps}. It commits, and the store answers with an error.")
        }
        "stale-read" => format!("{} The copy lags behind.{}", execution(step, node, request, orphaned), astray(step)),
        "reroute" => {
            let whose = if handle == "nothing" { format!("of {agent}") } else { format!("on {handle}") };
            format!("The balancer forgets to which node it brought requests {whose}.")
        }
        "expire-lease" => format!("The lease on {handle} expires."),
        "rotate-credential" => {
            format!("{} uses another credential from now on.", principal.as_deref().unwrap_or("Somebody"))
        }
        "receive" => match past.astray(request) {
            Some(other) => {
                format!("{agent}, which waits for {request}, receives the answer of {other}: {}.", answer_words(step))
            }
            None => format!("{agent} receives the answer of {request}: {}.", answer_words(step)),
        },
        "hand-off" => format!("{agent} hands {handle} to {}.", to.join(" and ")),
        "guess" => format!("{agent} guesses the handle {handle}."),
        "cancel" => {
            let left = if is_over(step, request) { "" } else { " It still runs its at-end transactions." };
            format!("{node} stops {request}, whose stream is closed.{left}")
        }
        "resume" => format!("{agent} resumes the stream of {request}."),
        "deploy" => {
            let to_run = to_run.as_deref().unwrap_or("something else");
            let with = match (restarts, keeps_a_call(step)) {
                (false, _) => "it keeps its memory, and its calls end as they began",
                (true, true) => "it restarts, and loses its memory; its calls are kept, and will be taken up again",
                (true, false) => "it restarts, and loses its memory and its calls",
            };
            format!("{node} changes over to {to_run}: {with}.")
        }
        "drop-stream" => {
            format!("The response stream of {request} breaks: {agent} learns that, and no more.")
        }
        "restart-node" if keeps_a_call(step) => {
            format!("{node} restarts, and loses its memory; its calls are kept, and will be taken up again.")
        }
        "restart-node" => format!("{node} restarts, and loses its memory and its calls."),
        "expire-handle" => format!("The time of {handle} is up."),
        "leak-handle" => format!("{agent} learns the handle {handle}, which leaked."),
        "expire-key" => format!("The recorded outcome under key {} expires.", key.as_deref().unwrap_or("?")),
        "expire-claim" => format!("The claim on key {} expires.", key.as_deref().unwrap_or("?")),
        "compact" => {
            let chosen = client.as_ref().map_or_else(String::new, |chosen| format!(", as with {chosen}"));
            format!("The context of {agent} is compacted{chosen}.")
        }
        "decide" => format!("{agent} decides: {}.", client.as_deref().unwrap_or("nothing")),
        "skip" => format!("{agent} leaves out its next piece of work."),
        "recreate" => format!("{handle} is deleted and created anew, with another content."),
        "stop-agent" => format!("{agent} stops, and never moves again."),
        "revoke" => {
            format!("{} loses its permission on {handle}.", principal.as_deref().unwrap_or("Somebody"))
        }
        "duplicate-call" => format!("{request} is sent twice: a copy of it is on its way."),
        other => format!("{other} happens."),
    }
}

/// Whether a call outlives its node in this step.
pub(super) fn keeps_a_call(step: &Step) -> bool {
    step.changes.iter().any(|change| change.after.contains(" kept, to be taken up "))
}

/// Whether a call for which nobody waits comes to its end in this step.
fn is_over(step: &Step, request: &str) -> bool {
    let here = format!("{request} at ");
    let ends = |change: &crate::trace::Change| change.before.contains(&here) && !change.after.contains(&here);
    step.changes.iter().any(|change| change.fact.starts_with("orphans of ") && ends(change))
}

fn call_words(call: &CallNote) -> String {
    let handle = call.handle.as_deref().unwrap_or(&call.resource);
    let expects: Vec<String> = call.expects.iter().map(|expected| format!("v{}", expected.version)).collect();
    let expects = if expects.is_empty() { String::new() } else { format!(", expecting {}", expects.join(" and ")) };
    let key = call.key.as_ref().map_or_else(String::new, |key| format!(", under key {key}"));
    let besides = |also: &AlsoNote| format!(" and of {} with {}", also.handle, also.change);
    let besides = call.also.as_ref().map_or_else(String::new, besides);
    match (call.tool.as_str(), call.payload.is_empty()) {
        ("read", _) => format!("a read of {handle}"),
        (tool, true) => format!("{} {tool} of {handle}{besides}{expects}{key}", article(tool)),
        (tool, false) => format!("{} {tool} of {handle} with {}{besides}{expects}{key}", article(tool), call.payload),
    }
}

fn article(word: &str) -> &'static str {
    if word.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" }
}

fn execution(step: &Step, node: &str, request: &str, orphaned: &str) -> String {
    let transaction = step.transaction.as_ref();
    let steps = transaction.map_or_else(String::new, |transaction| transaction.steps.join(", "));
    let head = format!("{node} executes {request}{orphaned}: {steps}");
    let outcome = step.answer.as_ref();
    if let Some(commit) = step.commits.last() {
        let twice = if commit.effects > 1 { ", for the second time" } else { "" };
        let is_now = |commit: &Commit| {
            let handle = &commit.content.handle;
            let deleted = step
                .changes
                .iter()
                .any(|change| change.fact.strip_suffix(" state") == Some(handle.as_str()) && change.after == "deleted");
            let now = if deleted { "deleted".to_owned() } else { format!("now {}", short(&commit.content)) };
            format!("{handle} is {now}")
        };
        // Of each resource the last word.
        let mut now: Vec<(&str, String)> = Vec::new();
        for commit in &step.commits {
            now.retain(|(handle, _)| *handle != commit.content.handle);
            now.push((&commit.content.handle, is_now(commit)));
        }
        let now: Vec<String> = now.into_iter().map(|(_, words)| words).collect();
        let (agent, now) = (&commit.agent, now.join(", and "));
        return if commit.taken_back {
            format!("{head}. What {agent}'s call had changed is taken back: {now}.")
        } else {
            format!("{head}. {agent}'s change takes effect{twice}: {now}.")
        };
    }
    match (outcome, transaction.and_then(|transaction| transaction.ended_by.as_deref())) {
        (Some(answer), Some(by)) if answer.replayed => {
            format!("{head}. The step {by} finds the call done and replays {}.", answer.outcome)
        }
        (Some(AnswerNote { view: Some(view), .. }), Some(by)) => {
            format!("{head}. The step {by} finds a copy: {}.", short(view))
        }
        (Some(answer), Some(by)) => format!("{head}. The step {by} refuses it: {}.", answer.outcome),
        (Some(answer), None) => match &answer.view {
            Some(view) => format!("{head}. The answer shows {}.", short(view)),
            None => format!("{head}. The answer is {}.", answer.outcome),
        },
        (None, _) if is_over(step, request) => format!("{head}. With that it is over."),
        (None, _) => format!("{head}. It goes on with the next transaction."),
    }
}

/// Where an answer goes, where that is not to its caller.
fn astray(step: &Step) -> String {
    match step.answer.as_ref().map(|answer| &answer.reaches) {
        Some(Reaches::StreamOf(taker)) => format!(" The answer goes to the stream of {taker}."),
        Some(Reaches::Nobody) => " The answer finds no stream: nobody receives it.".to_owned(),
        Some(Reaches::Caller) | None => String::new(),
    }
}

fn answer_words(step: &Step) -> String {
    let Some(answer) = &step.answer else { return "nothing".to_owned() };
    let replayed = if answer.replayed { ", from the record" } else { "" };
    match (&answer.view, answer.version) {
        (Some(view), _) => short(view),
        (None, Some(version)) if answer.outcome == Outcome::StaleView.name() => {
            format!("{}, the version is v{version}", answer.outcome)
        }
        (None, Some(version)) => format!("{}, v{version}{replayed}", answer.outcome),
        (None, None) => format!("{}{replayed}", answer.outcome),
    }
}
