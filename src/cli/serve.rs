//! `serve`: a real MCP server for a design.

#[cfg(feature = "live")]
mod live;

use std::net::SocketAddr;
use std::path::PathBuf;

#[cfg(feature = "live")]
pub(super) use self::live::run;

#[derive(clap::Args)]
#[command(after_help = "\
Processes that share a store are the nodes of one deployment; what a design keeps in node memory is the memory of its \
process. Who calls is what the bearer token stands for, by the tokens file, and never what a client says of itself; over \
standard input and output it is the token in the environment variable HANDLECHECK_TOKEN.

One line of JSON on standard output says where it listens; logs are lines of JSON on standard error.

It is a reference to read beside your own server and a thing to try designs on, not a product database.

It stands behind the feature `live`: a build without it says how to install one that has it.")]
pub(super) struct Arguments {
    /// The design: a path, or the name of a shipped one
    #[arg(long, value_name = "DESIGN")]
    design: String,
    /// The design that it changes over to when its hook is told so: it keeps its memory, and calls that it handles end as they
    /// began
    #[arg(long, value_name = "NEW", requires = "hook")]
    deploy: Option<String>,
    /// The SQLite file that all processes share; made when it is not there
    #[arg(long, value_name = "FILE")]
    store: PathBuf,
    /// What the tokens of callers stand for: a TOML file. With `--scenario` it is made when it is not there, with a random
    /// token for each agent
    #[arg(long, value_name = "FILE")]
    tokens: PathBuf,
    /// Listen here; port 0 takes any
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:0", conflicts_with = "stdio")]
    listen: SocketAddr,
    /// Speak on standard input and output
    #[arg(long)]
    stdio: bool,
    /// Put what this scenario has at the start into a new store
    #[arg(long, value_name = "SCENARIO")]
    scenario: Option<String>,
    /// The name of this process among those that share the store
    #[arg(long, value_name = "NAME", default_value = "node-1")]
    node: String,
    /// A host that requests may name in `Host`; by default those of this machine to itself
    #[arg(long = "allow-host", value_name = "HOST")]
    hosts: Vec<String>,
    /// An origin from which a browser may ask; by default none may
    #[arg(long = "allow-origin", value_name = "ORIGIN")]
    origins: Vec<String>,
    /// Let a driver on this machine force the order of transactions, through a listener here. For trials only
    #[arg(long, value_name = "ADDRESS:PORT", conflicts_with = "stdio")]
    hook: Option<SocketAddr>,
    /// How much to log: `error`, `warn`, `info` or `debug`
    #[arg(long, value_enum, default_value_t = Level::Info, hide_possible_values = true, value_name = "LEVEL")]
    log: Level,
}

/// How much to log.
#[derive(Clone, Copy, clap::ValueEnum)]
enum Level {
    Error,
    Warn,
    Info,
    Debug,
}
