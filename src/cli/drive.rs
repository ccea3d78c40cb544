//! `drive`: real servers along a trace, or through a scenario at random.

#[cfg(feature = "live")]
mod live;

use std::path::PathBuf;

use super::deploying::Deploying;

#[cfg(feature = "live")]
pub(super) use self::live::run;

#[derive(clap::Args)]
#[command(after_help = "\
Without --node and --stdio it starts servers of ours (`serve`), one for each node, and forces the order of their \
transactions: every answer, and what is stored at the end, is compared with the model.

With --node or --stdio the servers go their own way: calls are really concurrent, streams are really cut, agents decide by \
the real answers. Along a trace the order inside of servers can't be forced, so it is tried up to --tries times. A run is \
judged by the scenario's assertions over what is stored at its end, and by `audit` of its log; the first in which something \
is found is the last.

Exits with 0 when the servers did what the model did, or nothing was found; with 1 when they differ, or something was found; \
with 3 when nothing was done that could be judged.

It stands behind the feature `live`: a build without it says how to install one that has it.")]
pub(super) struct Arguments {
    /// A trace (a JSON file), or a scenario: a path, or the name of a shipped one
    #[arg(value_name = "TRACE|SCENARIO", required_unless_present = "all")]
    subject: Option<String>,
    /// With a scenario: the design whose servers and clients are driven
    #[arg(long, value_name = "DESIGN")]
    design: Option<String>,
    #[command(flatten)]
    deploying: Deploying,
    /// The URL of a server that runs; one for each node
    #[arg(long = "node", value_name = "URL", conflicts_with = "stdio")]
    nodes: Vec<String>,
    /// A command of the shell that starts a server on standard input and output; one for each node. The number of the node is
    /// in `HANDLECHECK_NODE`, and that of the run, for a file of its own, in `HANDLECHECK_RUN`
    #[arg(long, value_name = "COMMAND")]
    stdio: Vec<String>,
    /// Which tool and argument of somebody's server plays which part: a TOML file
    #[arg(long, value_name = "FILE")]
    mapping: Option<PathBuf>,
    /// With --node: the tokens of the agents, the tokens file of `serve`
    #[arg(long, value_name = "FILE")]
    tokens: Option<PathBuf>,
    /// With --node: a command of the shell that is run before each run, and puts the servers back to their beginning. The
    /// number of the run is in `HANDLECHECK_RUN`
    #[arg(long, value_name = "COMMAND", requires = "nodes")]
    prepare: Option<String>,
    /// With --node: a command of the shell that restarts the node whose number is in `HANDLECHECK_NODE`
    #[arg(long, value_name = "COMMAND", requires = "nodes")]
    restart: Option<String>,
    /// From which all random choices come; further runs take the next ones
    #[arg(long, value_name = "S", default_value_t = 0)]
    seed: u64,
    /// How many random runs
    #[arg(long, value_name = "N", default_value_t = 1)]
    runs: u64,
    /// How often a run is tried whose order can't be forced
    #[arg(long, value_name = "N", default_value_t = 50)]
    tries: u64,
    /// Write the log of the calls here; of several runs, that of the last: with --node or --stdio the one in which something was
    /// found, if anything was
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// Every shipped scenario with every design of which it expects something: along every violation that needs no fault or
    /// one broken stream, and through --runs random runs
    #[arg(long, conflicts_with_all = ["subject", "nodes", "stdio"])]
    all: bool,
}
