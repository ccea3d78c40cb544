//! Servers that go their own way: at URLs, or processes that are spoken to over their standard input and output.

use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;

use serde_json::Value;

use super::http::{Endpoint, Revision};
use super::mapping::{Carried, Mapping};
use super::stdio::Process;
use super::wire::{self, Handles};
use super::{CallError, Connection, Label, Reply, note, tokens_by_agent};
use crate::log::Answer;
use crate::world::{Request, Setting};

/// One server for each node.
#[derive(Debug)]
pub struct Servers {
    nodes: Vec<Node>,
    /// None: they speak as ours do.
    mapping: Option<Mapping>,
    /// Tokens by agent.
    tokens: Vec<(String, String)>,
    /// A command of the shell that restarts the node in `HANDLECHECK_NODE`.
    restart: Option<String>,
    /// The number of the run.
    run: u64,
}

/// Commands of the shell by which the user handles servers that run already.
#[derive(Clone, Debug, Default)]
pub struct Commands {
    /// Puts the servers back to their beginning; the number of the run is in `HANDLECHECK_RUN`.
    pub prepare: Option<String>,
    /// Restarts the node in `HANDLECHECK_NODE`.
    pub restart: Option<String>,
}

#[derive(Debug)]
enum Node {
    Url(String),
    Command(String, Arc<Process>),
}

/// A call that is ready to be sent.
#[derive(Debug)]
pub struct Ready {
    to: To,
    tool: String,
    arguments: Value,
}

#[derive(Debug)]
enum To {
    Url(Arc<Endpoint>),
    Process(Arc<Process>),
}

impl Ready {
    /// Sends it, and waits for the answer. Whoever drops the future cuts the stream.
    ///
    /// # Errors
    ///
    /// Why there is no answer.
    pub async fn send(self) -> Result<Reply, CallError> {
        match self.to {
            To::Url(endpoint) => endpoint.call(self.tool, self.arguments, Label::default()).await,
            To::Process(process) => process.call(self.tool, self.arguments, Label::default()).await,
        }
    }
}

impl Servers {
    /// Servers that run already, at these URLs, once the command that puts them back to their beginning has run.
    ///
    /// # Errors
    ///
    /// When a command or a call that prepares the run fails.
    pub async fn at(
        urls: &[String],
        mapping: Option<Mapping>,
        tokens: Option<&Path>,
        Commands { prepare, restart }: Commands,
        run: u64,
    ) -> Result<Self, String> {
        if let Some(command) = prepare {
            shell(&command, [("HANDLECHECK_RUN", run)]).await?;
        }
        // The command may have made it.
        let read = |path: &Path| tokens_by_agent(path).map_err(|why| format!("{}: {why}", path.display()));
        let tokens = tokens.map(read).transpose()?.unwrap_or_default();
        let nodes = urls.iter().cloned().map(Node::Url).collect();
        let servers = Self { nodes, mapping, tokens, restart, run };
        servers.begin().await?;
        Ok(servers)
    }

    /// Starts processes by commands of the shell.
    ///
    /// # Errors
    ///
    /// When one does not start.
    pub async fn start(commands: &[String], mapping: Option<Mapping>, run: u64) -> Result<Self, String> {
        let mut nodes = Vec::new();
        for (number, command) in (1..).zip(commands) {
            let process = Process::start(command, number, run).await?;
            nodes.push(Node::Command(command.clone(), Arc::new(process)));
        }
        let servers = Self { nodes, mapping, tokens: Vec::new(), restart: None, run };
        servers.begin().await?;
        Ok(servers)
    }

    /// The calls that the mapping has before a run.
    async fn begin(&self) -> Result<(), String> {
        let agent = self.tokens.first().map(|(agent, _)| &**agent);
        for call in self.mapping.iter().flat_map(|mapping| &mapping.prepare) {
            let arguments = Value::Object(call.arguments.clone());
            let ready = Ready { to: self.to(0, agent)?, tool: call.tool.clone(), arguments };
            ready.send().await.map_err(|error| format!("`{}`, before the run: {error}", call.tool))?;
        }
        Ok(())
    }

    /// How many there are.
    #[must_use]
    pub const fn count(&self) -> usize {
        self.nodes.len()
    }

    /// What a node is called in the log.
    #[must_use]
    pub fn name(&self, node: usize) -> String {
        match &self.nodes[node] {
            Node::Url(url) => url.clone(),
            Node::Command(..) => format!("node-{}", node + 1),
        }
    }

    fn to(&self, node: usize, agent: Option<&str>) -> Result<To, String> {
        match &self.nodes[node] {
            Node::Url(url) => {
                let own = self.tokens.iter().find(|(of, _)| Some(&**of) == agent);
                let token = own.map(|(_, token)| token.clone());
                let revision = self.mapping.as_ref().map_or(Revision::Stateless, |mapping| mapping.revision);
                Ok(To::Url(Arc::new(Endpoint::new(url, token, revision)?)))
            }
            Node::Command(_, process) => Ok(To::Process(process.clone())),
        }
    }

    /// A request of the model as a call to a node.
    ///
    /// # Errors
    ///
    /// When the mapping lacks a tool for it, or it names what nobody has heard of.
    pub fn prepare(
        &self,
        setting: &Setting,
        handles: &Handles,
        request: &Request,
        node: usize,
    ) -> Result<Ready, String> {
        let to = self.to(node, Some(setting.agent_name(usize::from(request.agent))))?;
        let operation = wire::operation(setting, request);
        let Some(mapping) = &self.mapping else {
            let arguments = wire::arguments(setting, handles, request)?;
            return Ok(Ready { to, tool: operation.to_owned(), arguments });
        };
        let tool = mapping.tool(operation)?;
        let besides = wire::besides(setting, request);
        if besides.is_some() && !tool.says_also() {
            return Err(format!(
                "the mapping of `{operation}` has no argument for what a call changes besides (`{{also.handle}}`, \
                 `{{also.fields.NAME}}`)"
            ));
        }
        let own = request.expected.iter().find(|stamp| Some(stamp.handle) == request.handle);
        let carried = Carried {
            handle: request.handle.and_then(|handle| handles.get(handle)).map(str::to_owned),
            key: request.key.as_ref().map(|key| wire::key(setting, key)),
            version: own.map(|stamp| u64::from(stamp.version)),
            fields: wire::fields(setting, request).0,
            also: besides.and_then(|(_, handle, fields)| Some((handles.get(handle)?.to_owned(), fields))),
        };
        Ok(Ready { to, tool: tool.tool.clone(), arguments: tool.fill(&carried) })
    }

    /// What a reply says, in the words of the log.
    #[must_use]
    pub fn read(&self, setting: &Setting, request: &Request, reply: &Reply) -> Answer {
        let tool = self.mapping.as_ref().and_then(|mapping| mapping.tool(wire::operation(setting, request)).ok());
        tool.map_or_else(|| note::answer(setting, &reply.content), |tool| tool.read(reply))
    }

    /// Why an observer sees nothing in a reply, if the mapping leads nowhere in it.
    #[must_use]
    pub fn blind(&self, reply: &Reply) -> Option<String> {
        let tool = self.mapping.as_ref()?.tool("read").ok()?;
        let said = tool.read(reply);
        let (field, pointer) = tool.fields.iter().find(|(field, _)| !said.fields.contains_key(*field))?;
        let shown: String = reply.content.to_string().chars().take(200).collect();
        said.outcome.is_ok().then(|| format!("no `{field}`, since nothing stands at `{pointer}` of {shown}"))
    }

    /// Restarts a node.
    ///
    /// # Errors
    ///
    /// When nobody said how, or it does not start again.
    pub async fn restart(&mut self, node: usize) -> Result<(), String> {
        if let Node::Command(command, process) = &mut self.nodes[node] {
            let anew = Process::start(command, node + 1, self.run).await?;
            *process = Arc::new(anew);
            return Ok(());
        }
        let command = self.restart.as_ref().ok_or("say with --restart how a node is restarted")?;
        shell(command, [("HANDLECHECK_NODE", node as u64 + 1), ("HANDLECHECK_RUN", self.run)]).await
    }
}

/// Runs a command of the shell, with these numbers in its environment.
async fn shell<const N: usize>(command: &str, numbers: [(&str, u64); N]) -> Result<(), String> {
    let mut shell = tokio::process::Command::new("sh");
    shell.arg("-c").arg(command).envs(numbers.map(|(name, number)| (name, number.to_string())));
    // What it prints is not ours to print; what it leaves running must not hold our standard output open.
    let status = shell.stdin(Stdio::null()).stdout(Stdio::null()).status();
    let status = status.await.map_err(|error| format!("`{command}`: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("`{command}` failed: {status}")) }
}
