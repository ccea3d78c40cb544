//! `explain`: a trace as prose.

use std::path::PathBuf;
use std::sync::atomic::Ordering;

use super::{Failure, Terminal, exit, exploring, progress, replay, writing};
use crate::diagrams::story::{Remedy, Stopping, Story};
use crate::explain::{markdown, text};
use crate::policies::stopping::{Effort, Searched, Stopper, TRIED, stopping};
use crate::trace::{Departure, Trace};

/// The forms of a story.
const FORMATS: [&str; 2] = ["text", "markdown"];

#[derive(clap::Args)]
#[command(after_help = "\
What would have stopped the run is tried out: changes of the design, each explored in the bounds of the run, within a limit \
of states that does not depend on the machine. `handlecheck repair` looks for changes with which everything holds. Exits with 3 \
if the search was interrupted: what was found until then is told.")]
pub(super) struct Arguments {
    /// The trace
    trace: PathBuf,
    /// The form: `text` or `markdown`
    #[arg(long, value_name = "FORMAT", default_value = "text", value_parser = FORMATS)]
    format: String,
    /// Write to this file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Only tell the trace: don't look for what would have stopped it
    #[arg(long)]
    no_search: bool,
}

pub(super) fn run(arguments: &Arguments, terminal: Terminal, out: &mut String) -> Result<u8, Failure> {
    let trace = writing::read_trace(&arguments.trace)?;
    if let Err(why) = replay::replayed(&arguments.trace, &trace)? {
        *out = why;
        return Ok(exit::VIOLATED);
    }
    writing::mention_changes(&trace, terminal);
    let (story, code) = if arguments.no_search { (Story::of(&trace), exit::HOLDS) } else { story(&trace, terminal)? };
    let told = match arguments.format.as_str() {
        "markdown" => markdown(&story, 1),
        _ => text(&story),
    };
    match &arguments.output {
        Some(path) => writing::write_file(path, told)?,
        None => *out = told,
    }
    Ok(code)
}

/// How many changes are shown that would have stopped a run.
const MOST: usize = 3;

/// The story of a trace, with what would have stopped it, and the exit code: whether the search for that was interrupted.
pub(super) fn story(trace: &Trace, terminal: Terminal) -> Result<(Story, u8), Failure> {
    let story = Story::of(trace);
    if !story.violated {
        return Ok((story, exit::HOLDS));
    }
    let interrupted = exploring::interrupts();
    let bar = progress::spinner(terminal);
    let mut watch = |searched: Searched| {
        let Searched { tried, all, states } = searched;
        if let Some(bar) = &bar {
            bar.set_message(format!("what would have stopped it: {tried} of {all} changes tried, {states} states"));
            bar.tick();
        }
        interrupted.load(Ordering::Relaxed)
    };
    let found = stopping(trace, MOST, Effort::default(), &mut watch)?;
    if let Some(bar) = &bar {
        bar.finish_and_clear();
    }
    let undecided = match found.undecided {
        0 => "",
        _ => "; some could not be decided within the limit of states",
    };
    let note = match (found.hopeless, found.stoppers.is_empty()) {
        (true, _) => "What would have stopped it is not known: the run is too large to be explored.".to_owned(),
        _ if found.cut => {
            let (tried, all) = (found.tried, found.all);
            let more = if found.stoppers.is_empty() { "What would have stopped it" } else { "Whether there is more" };
            format!("{more} is not known: the search was interrupted after {tried} of {all} changes{undecided}.")
        }
        (_, true) => format!(
            "What would have stopped it was not found. Tried were: {TRIED}{undecided}. `{}` also looks for several changes at once.",
            story.search
        ),
        (_, false) if found.tried < found.all => format!("There may be more: the search ends with {MOST}{undecided}."),
        (_, false) if found.others > 0 => {
            let more = if found.others == 1 { "One more was found, which is" } else { "More were found, which are" };
            format!("{more} no better. Tried were: {TRIED}{undecided}.")
        }
        (_, false) => format!("No more were found. Tried were: {TRIED}{undecided}."),
    };
    let remedies = found.stoppers.iter().map(|stopper| remedy(trace, stopper)).collect();
    let code = if found.cut { exit::INCONCLUSIVE } else { exit::HOLDS };
    Ok((story.stopped_by(Stopping { remedies, note }), code))
}

fn remedy(trace: &Trace, stopper: &Stopper) -> Remedy {
    let stops = match &stopper.departure {
        Departure::Impossible { number } => format!("The run then goes another way before step {number}."),
        Departure::Ended { number, by, .. } if by == "find-cached" => {
            format!("In step {number}, {by} then answers the copy that it finds.")
        }
        Departure::Ended { number, by, outcome } if outcome == "ok" => {
            format!("In step {number}, {by} then answers what is recorded.")
        }
        Departure::Ended { number, by, outcome } => {
            format!("In step {number}, {by} then ends the call with {outcome}.")
        }
        Departure::Harmless => "The same steps then do no harm.".to_owned(),
    };
    let property = &trace.invariant;
    let besides = match &stopper.breaks {
        Some(breaks) if breaks.is_empty() => ", and nothing breaks that held".to_owned(),
        Some(breaks) => format!("; but {} no longer holds", breaks.join(", ")),
        None => String::new(),
    };
    let besides = match &*stopper.empties {
        [] => besides,
        empties => format!("{besides}; {} then says nothing, since nothing comes near it any more", empties.join(", ")),
    };
    let besides = if stopper.gives_up {
        format!("{besides}. But the work is left undone sooner: that hides what went wrong rather than mend it")
    } else {
        besides
    };
    Remedy {
        changes: stopper.changes.clone(),
        patch: stopper.patch.clone(),
        stops,
        proof: format!("{property} holds in all {} states within these bounds{besides}.", stopper.states),
    }
}
