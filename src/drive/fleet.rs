//! The servers that are driven: one for each node.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use super::http::ask_hook;

/// A server of ours for each node of a deployment, with its hook, started and killed by the driver.
#[derive(Debug)]
pub struct Fleet {
    program: PathBuf,
    design: PathBuf,
    /// What the nodes change over to.
    deployed: Option<PathBuf>,
    scenario: PathBuf,
    folder: PathBuf,
    nodes: Vec<Node>,
}

#[derive(Debug)]
struct Node {
    child: Child,
    url: String,
    hook: String,
    /// Where handles carry the state, those of what is there at the start.
    handles: serde_json::Map<String, Value>,
    has_changed_over: bool,
}

impl Fleet {
    /// Starts as many servers as there are nodes on one new store in this folder, from the texts of a design, of the one that
    /// is deployed where one is, and of a scenario. `program` is the command `handlecheck`.
    ///
    /// # Errors
    ///
    /// When a server does not start.
    pub fn start(
        program: &Path,
        folder: &Path,
        (design, deployed, scenario): (&str, Option<&str>, &str),
        nodes: usize,
    ) -> Result<Self, String> {
        let write = |name: &str, text: &str| -> Result<PathBuf, String> {
            let path = folder.join(name);
            std::fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
            Ok(path)
        };
        let mut fleet = Self {
            program: program.to_owned(),
            design: write("design.toml", design)?,
            deployed: deployed.map(|deployed| write("deployed.toml", deployed)).transpose()?,
            scenario: write("scenario.toml", scenario)?,
            folder: folder.to_owned(),
            nodes: Vec::new(),
        };
        for number in 0..nodes {
            let node = fleet.begin(number, false)?;
            fleet.nodes.push(node);
        }
        Ok(fleet)
    }

    fn begin(&self, number: usize, has_changed_over: bool) -> Result<Node, String> {
        let mut command = Command::new(&self.program);
        command.args(["serve", "--listen", "127.0.0.1:0", "--hook", "127.0.0.1:0", "--log", "error"]);
        match &self.deployed {
            Some(deployed) if has_changed_over => command.arg("--design").arg(deployed),
            Some(deployed) => command.arg("--design").arg(&self.design).arg("--deploy").arg(deployed),
            None => command.arg("--design").arg(&self.design),
        };
        command.arg("--scenario").arg(&self.scenario);
        command.arg("--store").arg(self.folder.join("store.db")).arg("--tokens").arg(self.tokens_file());
        command.arg("--node").arg(format!("node-{}", number + 1));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| format!("{}: {error}", self.program.display()))?;
        let mut line = String::new();
        if let Some(stdout) = child.stdout.take() {
            BufReader::new(stdout).read_line(&mut line).map_err(|error| error.to_string())?;
        }
        let said: Value = serde_json::from_str(&line).unwrap_or_default();
        let (Some(url), Some(hook)) = (said["url"].as_str(), said["hook"].as_str()) else {
            let _ = child.kill();
            let output = child.wait_with_output().map_err(|error| error.to_string())?;
            return Err(format!("a server did not start: {}", String::from_utf8_lossy(&output.stderr).trim()));
        };
        let handles = said["handles"].as_object().cloned().unwrap_or_default();
        Ok(Node { url: url.to_owned(), hook: hook.to_owned(), handles, child, has_changed_over })
    }

    fn tokens_file(&self) -> PathBuf {
        self.folder.join("tokens.toml")
    }

    /// The tokens of the agents, each with those of its credentials.
    ///
    /// # Errors
    ///
    /// When the tokens file can't be read.
    pub fn tokens(&self) -> Result<Vec<(String, String)>, String> {
        tokens_by_agent(&self.tokens_file())
    }

    /// Where a node listens.
    #[must_use]
    pub fn url(&self, node: usize) -> &str {
        &self.nodes[node].url
    }

    /// Where handles carry the state, those of what is there at the start, by name.
    #[must_use]
    pub fn handles(&self) -> serde_json::Map<String, Value> {
        self.nodes.first().map(|node| node.handles.clone()).unwrap_or_default()
    }

    /// Asks the hook of a node.
    ///
    /// # Errors
    ///
    /// What it refuses.
    pub async fn ask(&self, node: usize, ask: &Value) -> Result<Value, String> {
        ask_hook(&self.nodes[node].hook, ask).await
    }

    /// What the store and the memory of every node hold: handles, each with what it names.
    ///
    /// # Errors
    ///
    /// When a hook does not answer.
    pub async fn state(&self) -> Result<serde_json::Map<String, Value>, String> {
        let mut state = serde_json::Map::new();
        for node in 0..self.nodes.len() {
            let held = self.ask(node, &json!({ "do": "state" })).await?;
            for place in ["store", "memory"] {
                state.extend(held[place].as_object().cloned().unwrap_or_default());
            }
        }
        Ok(state)
    }

    /// Kills a node, as nothing can prepare for, and starts it again.
    ///
    /// # Errors
    ///
    /// When it does not start again.
    pub fn restart(&mut self, node: usize) -> Result<(), String> {
        let old = &mut self.nodes[node];
        old.child.kill().and_then(|()| old.child.wait()).map_err(|error| error.to_string())?;
        self.nodes[node] = self.begin(node, self.nodes[node].has_changed_over)?;
        Ok(())
    }

    /// A node changes over to what is deployed: with a restart, or as it is.
    ///
    /// # Errors
    ///
    /// When it does not.
    pub async fn change_over(&mut self, node: usize, restart: bool) -> Result<(), String> {
        self.nodes[node].has_changed_over = true;
        if restart {
            return self.restart(node);
        }
        // A node whose protocol alone is replaced goes on: which one is spoken to it is the driver's.
        match self.deployed {
            Some(_) => self.ask(node, &json!({ "do": "deploy" })).await.map(drop),
            None => Ok(()),
        }
    }
}

impl Drop for Fleet {
    fn drop(&mut self) {
        for node in &mut self.nodes {
            let _ = node.child.kill();
            let _ = node.child.wait();
        }
    }
}

/// The tokens of agents in a tokens file, in its order.
///
/// # Errors
///
/// When it can't be read.
pub fn tokens_by_agent(path: &Path) -> Result<Vec<(String, String)>, String> {
    let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    let table: toml::Table = text.parse().map_err(|error: toml::de::Error| error.message().to_owned())?;
    let tokens = table.get("tokens").and_then(toml::Value::as_array).cloned().unwrap_or_default();
    let text = |token: &toml::Value, name: &str| Some(token.get(name)?.as_str()?.to_owned());
    Ok(tokens.iter().filter_map(|token| Some((text(token, "agent")?, text(token, "token")?))).collect())
}
