//! The commands: one file each. They read arguments and files, and hand everything else on.

mod ablate;
mod audit;
mod cache;
mod check;
mod compare;
mod completions;
mod demo;
mod deploying;
mod diagram;
mod diff;
mod docs;
mod drive;
mod explain;
mod exploring;
mod graph;
mod kinds;
mod list;
mod lock;
mod memory;
mod models;
mod new;
mod plan;
mod progress;
mod repair;
mod replay;
mod reporting;
mod resuming;
mod schema;
mod serve;
mod simulate;
mod test;
mod values;
mod writing;

use std::io::{IsTerminal, Write};
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue};
use clap::{CommandFactory as _, Parser, Subcommand};

use crate::input::{InputError, Look};
use crate::suggest::nearest;
use crate::trace::{RecordError, ReplayError};

/// Exit codes, a contract with scripts.
pub mod exit {
    /// Everything asked for holds, or is as expected.
    pub const HOLDS: u8 = 0;
    /// Something is violated, or not as expected.
    pub const VIOLATED: u8 = 1;
    /// A bad file, or bad usage.
    pub const USAGE: u8 = 2;
    /// A limit was hit before the search was complete.
    pub const INCONCLUSIVE: u8 = 3;
    /// Something was vacuous, with `--deny-vacuous`.
    pub const VACUOUS: u8 = 4;
    /// A bug in handlecheck.
    pub const BUG: u8 = 70;
}

/// A model checker for stateful tool servers: which design breaks, how cheaply, and the shortest trace that shows it.
#[derive(Parser)]
#[command(name = "handlecheck", version, max_term_width = 100, after_help = EXIT_CODES)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
    /// When to use colour
    #[arg(long, global = true, display_order = 900, value_enum, default_value_t = Colour::Auto, hide_possible_values = true, value_name = "auto|always|never")]
    color: Colour,
    /// Print the result only: no warnings, no progress, no durations
    #[arg(short, long, global = true, display_order = 901)]
    quiet: bool,
}

const EXIT_CODES: &str = "\
Exit codes: 0 everything asked for holds, or is as expected; 1 violated, or not as expected; 2 bad file or usage; \
3 inconclusive; 4 vacuous (with --deny-vacuous); 70 a bug in handlecheck.

Start with `handlecheck demo`, then `handlecheck compare`.";

#[derive(Clone, Copy, clap::ValueEnum)]
enum Colour {
    Auto,
    Always,
    Never,
}

#[derive(Subcommand)]
enum Command {
    /// Show the point in a second: the shortest way in which the naive design loses an update
    Demo(demo::Arguments),
    /// Explore all interleavings of a scenario and print a verdict for each invariant
    Check(check::Arguments),
    /// Print the matrix of designs and invariants, each cell with its cheapest break
    Compare(compare::Arguments),
    /// Make seeded random runs, and say how often each invariant breaks
    Simulate(simulate::Arguments),
    /// Take away one step of a design at a time, and say what breaks without it
    Ablate(ablate::Arguments),
    /// Search the smallest changes of a design that make everything hold
    Repair(repair::Arguments),
    /// Check every scenario and design against what they expect
    Test(test::Arguments),
    /// Write down what every run of a folder comes to, in one file that can be reviewed
    Lock(lock::Arguments),
    /// Say what changed: newly broken, cheaper to break, no longer covered, fixed
    Diff(diff::Arguments),
    /// Tell a trace as prose
    Explain(explain::Arguments),
    /// Judge a log of calls to real servers by what it shows
    Audit(audit::Arguments),
    /// Draw a trace
    Diagram(diagram::Arguments),
    /// Draw the state graph of a small model, or the roads that a trace did not take
    Graph(graph::Arguments),
    /// Check or renew the verdicts, traces and pictures in Markdown documents
    Docs(docs::Arguments),
    /// Execute traces step by step on today's model
    Replay(replay::Arguments),
    /// Say what there is: steps, faults, invariants, designs, scenarios, protocols, formats, ..
    List(list::Arguments),
    /// Write a commented file to start from
    New(new::Arguments),
    /// Print the JSON Schema of a kind of file, for editors
    Schema(schema::Arguments),
    /// Run a real MCP server for a design, on SQLite
    Serve(serve::Arguments),
    /// Drive real servers along a trace, or through a scenario at random, and write down what they answer
    Drive(drive::Arguments),
    /// Print completions for a shell
    Completions(completions::Arguments),
}

/// What went wrong with a command.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error("{0}")]
    Input(#[from] InputError),
    #[error("{0}")]
    Usage(String),
    #[error("{0}")]
    Bug(#[from] RecordError),
    #[error("the trace {name} does not replay: {error}")]
    Unreplayable { name: String, error: Box<ReplayError> },
    #[error("can't write: {0}")]
    Write(#[from] std::io::Error),
}

/// How to talk to whoever called.
#[derive(Clone, Copy)]
struct Terminal {
    /// Colour on standard output.
    colour: bool,
    /// Colour and liveliness on standard error.
    live: bool,
    look: Look,
    quiet: bool,
}

/// Parses the arguments, runs the command, and answers with its exit code.
#[must_use]
pub fn main() -> ExitCode {
    std::panic::set_hook(Box::new(|panic| {
        let _ = writeln!(
            std::io::stderr(),
            "handlecheck has a bug: {panic}\nPlease report it, with the command and the files that it read."
        );
    }));
    let code = std::panic::catch_unwind(run).unwrap_or(exit::BUG);
    ExitCode::from(code)
}

fn run() -> u8 {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            let error = suggesting(error);
            let _ = error.print();
            return if error.use_stderr() { exit::USAGE } else { exit::HOLDS };
        }
    };
    #[expect(clippy::disallowed_methods, reason = "https://no-color.org, and only a command looks")]
    let no_color = std::env::var_os("NO_COLOR").is_some();
    let wants = |terminal: bool| match arguments.color {
        Colour::Auto => terminal && !no_color,
        Colour::Always => true,
        Colour::Never => false,
    };
    let live = std::io::stderr().is_terminal();
    let terminal = Terminal {
        colour: wants(std::io::stdout().is_terminal()),
        live: live && !arguments.quiet,
        look: if wants(live) { Look::Colour } else { Look::Plain },
        quiet: arguments.quiet,
    };
    let mut out = String::new();
    let result = match arguments.command {
        Command::Demo(arguments) => demo::run(&arguments, terminal, &mut out),
        Command::Check(arguments) => check::run(&arguments, terminal, &mut out),
        Command::Compare(arguments) => compare::run(&arguments, terminal, &mut out),
        Command::Simulate(arguments) => simulate::run(&arguments, terminal, &mut out),
        Command::Ablate(arguments) => ablate::run(&arguments, terminal, &mut out),
        Command::Repair(arguments) => repair::run(&arguments, terminal, &mut out),
        Command::Test(arguments) => test::run(&arguments, terminal, &mut out),
        Command::Lock(arguments) => lock::run(&arguments, terminal, &mut out),
        Command::Diff(arguments) => diff::run(&arguments, terminal, &mut out),
        Command::Explain(arguments) => explain::run(&arguments, terminal, &mut out),
        Command::Audit(arguments) => audit::run(&arguments, terminal, &mut out),
        Command::Diagram(arguments) => diagram::run(&arguments, terminal, &mut out),
        Command::Graph(arguments) => graph::run(&arguments, terminal, &mut out),
        Command::Docs(arguments) => docs::run(&arguments, terminal, &mut out),
        Command::Replay(arguments) => replay::run(&arguments, terminal, &mut out),
        Command::List(arguments) => list::run(&arguments, terminal, &mut out),
        Command::New(arguments) => new::run(&arguments, terminal, &mut out),
        Command::Schema(arguments) => schema::run(&arguments, terminal, &mut out),
        #[cfg(feature = "live")]
        Command::Serve(arguments) => serve::run(&arguments, terminal, &mut out),
        #[cfg(feature = "live")]
        Command::Drive(arguments) => drive::run(&arguments, terminal, &mut out),
        #[cfg(not(feature = "live"))]
        Command::Serve(_) => Err(not_built("serve")),
        #[cfg(not(feature = "live"))]
        Command::Drive(_) => Err(not_built("drive")),
        Command::Completions(arguments) => completions::run(&arguments, terminal, &mut out),
    };
    let printed = print(&out);
    match (result, printed) {
        (Ok(code), Ok(())) => code,
        // Whoever reads our output has seen enough.
        (Ok(code), Err(error)) if error.kind() == std::io::ErrorKind::BrokenPipe => code,
        (Ok(_), Err(error)) => report(&Failure::Write(error), terminal),
        (Err(failure), _) => report(&failure, terminal),
    }
}

/// The same error, which offers the nearest command where one was misspelt.
fn suggesting(mut error: clap::Error) -> clap::Error {
    let misspelt = match error.get(ContextKind::InvalidSubcommand) {
        Some(ContextValue::String(name)) => name.clone(),
        _ => return error,
    };
    let arguments = Arguments::command();
    if let Some(meant) = nearest(&misspelt, arguments.get_subcommands().map(clap::Command::get_name)) {
        error.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(vec![meant.to_owned()]));
    }
    error
}

/// What a build without the feature `live` says of a command that needs it.
#[cfg(not(feature = "live"))]
fn not_built(name: &str) -> Failure {
    Failure::Usage(format!(
        "`{name}` talks to real servers, and this build can't: `cargo install --path . --features live` installs one that can"
    ))
}

fn print(text: &str) -> std::io::Result<()> {
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()
}

fn report(failure: &Failure, terminal: Terminal) -> u8 {
    let text = match failure {
        Failure::Input(error) => error.render(terminal.look),
        other => format!("error: {other}\n"),
    };
    let _ = std::io::stderr().write_all(text.as_bytes());
    match failure {
        Failure::Input(_) | Failure::Usage(_) | Failure::Write(_) => exit::USAGE,
        Failure::Bug(_) | Failure::Unreplayable { .. } => exit::BUG,
    }
}
