//! Processes of the server, which die with the test.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use handlecheck::drive::{CallError, Connection, Endpoint, Label, Reply, Revision};
use serde_json::Value;
use tempfile::TempDir;

/// A folder for the store and the tokens of one deployment.
pub struct Deployment {
    folder: TempDir,
    design: String,
    scenario: String,
}

/// One process.
pub struct Process {
    child: Option<Child>,
    /// Where it listens.
    pub url: String,
    /// Where its hook listens.
    pub hook: String,
}

impl Deployment {
    pub fn new(design: &str, scenario: &str) -> Self {
        let folder = tempfile::tempdir().expect("there is room for a folder");
        Self { folder, design: design.to_owned(), scenario: scenario.to_owned() }
    }

    fn tokens_file(&self) -> PathBuf {
        self.folder.path().join("tokens.toml")
    }

    pub fn store(&self) -> PathBuf {
        self.folder.path().join("store.db")
    }

    /// Starts a process with a hook, and waits until it listens.
    pub fn start(&self, node: &str) -> Process {
        self.start_with(node, &["--hook", "127.0.0.1:0"])
    }

    pub fn start_with(&self, node: &str, more: &[&str]) -> Process {
        let mut command = command(&self.design, &self.store(), &self.tokens_file());
        command.args(["--scenario", &self.scenario, "--node", node, "--log", "error"]).args(more);
        let mut child = command.stdout(Stdio::piped()).spawn().expect("the command is built");
        let mut line = String::new();
        let mut stdout = BufReader::new(child.stdout.take().expect("it is piped"));
        stdout.read_line(&mut line).expect("it says where it listens");
        let said: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{line:?}: {error}"));
        let text = |name: &str| said[name].as_str().unwrap_or_default().to_owned();
        assert!(said["url"].is_string(), "{said} says where it listens");
        Process { child: Some(child), url: text("url"), hook: text("hook") }
    }

    /// The token of an agent.
    pub fn token(&self, agent: &str) -> String {
        let text = std::fs::read_to_string(self.tokens_file()).expect("the first process made it");
        let file: toml::Table = text.parse().expect("it is TOML");
        let tokens = file["tokens"].as_array().expect("it has tokens");
        let own = tokens.iter().find(|token| token["agent"].as_str() == Some(agent)).expect("the agent has a token");
        own["token"].as_str().expect("it is a string").to_owned()
    }

    /// A client of a process, as this agent.
    pub fn client(&self, process: &Process, agent: &str, revision: Revision) -> Arc<Endpoint> {
        Arc::new(Endpoint::new(&process.url, Some(self.token(agent)), revision).expect("it is a URL"))
    }
}

pub fn command(design: &str, store: &Path, tokens: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_handlecheck"));
    command.args(["serve", "--design", design, "--store"]).arg(store).arg("--tokens").arg(tokens);
    command
}

impl Process {
    /// Something that listens at another address.
    pub fn raw(url: &str) -> Self {
        Self { child: None, url: url.to_owned(), hook: String::new() }
    }

    /// Kills it, as nothing can prepare for.
    pub fn kill(&mut self) {
        let mut child = self.child.take().expect("it runs");
        child.kill().expect("it can be killed");
        child.wait().expect("it is over");
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// A runtime for one test.
pub fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("there are threads")
}

pub async fn call(client: &Arc<Endpoint>, tool: &str, arguments: Value) -> Result<Reply, CallError> {
    client.clone().call(tool.to_owned(), arguments, Label::default()).await
}
