//! `graph`: the state graph, or the part of it around a trace.

use std::path::PathBuf;

use super::exploring::Exploring;
use super::{Failure, Terminal, exit, writing};
use crate::graph::{StateGraph, around, dot, svg, whole};

/// The forms of a graph.
const FORMATS: [&str; 2] = ["dot", "svg"];

/// States up to which a picture of all of them helps anybody.
const STATES: usize = 60;

/// Steps up to which a picture around a trace does.
const STEPS: usize = 60;

#[derive(clap::Args)]
#[command(after_help = "\
A graph of every state is drawn of small models only. With `--around`, the states along a trace are drawn, and at each what \
could have happened instead: the roads not taken. The trace holds its own inputs.")]
pub(super) struct Arguments {
    /// The scenario: a path, or the name of a shipped one
    #[arg(value_name = "SCENARIO", required_unless_present = "around")]
    scenario: Option<String>,
    /// The design: a path, or the name of a shipped one
    #[arg(long, value_name = "DESIGN", required_unless_present = "around")]
    design: Option<String>,
    /// Draw the part around this trace
    #[arg(long, value_name = "TRACE", conflicts_with_all = ["scenario", "design"])]
    around: Option<PathBuf>,
    #[command(flatten)]
    exploring: Exploring,
    /// The form: `dot` or `svg`
    #[arg(long, value_name = "FORMAT", default_value = "dot", value_parser = FORMATS)]
    format: String,
    /// Write to this file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(super) fn run(arguments: &Arguments, terminal: Terminal, out: &mut String) -> Result<u8, Failure> {
    let drawn = match (&arguments.around, &arguments.scenario, &arguments.design) {
        (Some(path), ..) => of_trace(path)?,
        (None, Some(scenario), Some(design)) => of_model(arguments, (scenario, design), terminal)?,
        _ => return Err(Failure::Usage("expected a scenario and a design, or a trace behind --around".to_owned())),
    };
    let text = if arguments.format == "svg" { svg(&drawn) } else { dot(&drawn) };
    match &arguments.output {
        Some(path) => writing::write_file(path, text)?,
        None => *out = text,
    }
    Ok(exit::HOLDS)
}

fn of_trace(path: &std::path::Path) -> Result<StateGraph, Failure> {
    let trace = writing::read_trace(path)?;
    let steps = trace.steps.len();
    if steps > STEPS {
        return Err(Failure::Usage(format!(
            "{}: it has {steps} steps, and a picture of the roads at more than {STEPS} helps nobody; `handlecheck diagram` \
             folds what is uninteresting",
            path.display()
        )));
    }
    around(&trace).map_err(|error| Failure::Usage(format!("{}: {error}", path.display())))
}

fn of_model(
    arguments: &Arguments,
    (scenario, design): (&str, &str),
    terminal: Terminal,
) -> Result<StateGraph, Failure> {
    let explorer = arguments.exploring.start(terminal)?;
    let input = explorer.scenario(scenario)?;
    let run = explorer.compose(&input, &explorer.design(design, &input)?)?;
    explorer.warn([&run]);
    let most = arguments.exploring.max_states().unwrap_or(STATES);
    whole(run.model(), most).map_err(|_| {
        Failure::Usage(format!(
            "{scenario} x {design} has more than {most} states, and a picture of so many helps nobody. Draw the part around a \
             trace: `handlecheck check {scenario} --design {design} --traces traces`, then `handlecheck graph --around \
             traces/NAME.json`. Or make the model smaller: fewer agents or nodes in the scenario, or fewer faults \
             (`--faults drop-stream=0`). For Graphviz, `--max-states N` allows more."
        ))
    })
}
