//! Who calls: what a bearer token stands for. Nothing that a client says of itself counts.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::model::Principal;

/// Who calls, as the server knows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Caller {
    /// The person or service.
    pub subject: String,
    /// The client application.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// The tenant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// Who of the principal's agents: it holds leases.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub agent: String,
    /// The name of the credential, which is not secret.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub credential: String,
    /// The session in which it calls, where there is one.
    #[serde(skip)]
    pub session: Option<String>,
}

impl Caller {
    /// For whom it acts.
    #[must_use]
    pub fn principal(&self) -> Principal {
        Principal { subject: self.subject.clone(), client: self.client.clone(), tenant: self.tenant.clone() }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    tokens: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    token: String,
    subject: String,
    client: Option<String>,
    tenant: Option<String>,
    #[serde(default)]
    agent: String,
    #[serde(default)]
    credential: String,
}

/// What each token stands for.
#[derive(Clone, Debug, Default)]
pub struct Tokens {
    callers: BTreeMap<String, Caller>,
}

/// The fewest bytes of a token.
const TOKEN_BYTES: usize = 16;

impl Tokens {
    /// Reads a tokens file: `[[tokens]]` tables with `token` and `subject`, and perhaps `client`, `tenant`, `agent` and
    /// `credential`.
    ///
    /// # Errors
    ///
    /// What is wrong with it. No message shows a token.
    pub fn read(path: &Path) -> Result<Self, String> {
        let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
        Self::parse(&text)
    }

    /// Reads the text of a tokens file.
    ///
    /// # Errors
    ///
    /// What is wrong with it. No message shows a token.
    pub fn parse(text: &str) -> Result<Self, String> {
        let file: File = toml::from_str(text).map_err(|error| {
            let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
            format!("line {}: {}", before.matches('\n').count() + 1, error.message())
        })?;
        let mut callers = BTreeMap::new();
        for (number, entry) in (1..).zip(file.tokens) {
            let Entry { token, subject, client, tenant, agent, credential } = entry;
            let printable = token.bytes().all(|byte| byte.is_ascii_graphic());
            if token.len() < TOKEN_BYTES || !printable {
                let why = format!("token {number} is no {TOKEN_BYTES} or more printable characters without a space");
                return Err(why);
            }
            let credential = if credential.is_empty() { number.to_string() } else { credential };
            if callers.insert(token, Caller { subject, client, tenant, agent, credential, session: None }).is_some() {
                return Err(format!("token {number} is there twice"));
            }
        }
        if callers.is_empty() {
            return Err("there are no tokens in it".to_owned());
        }
        Ok(Self { callers })
    }

    /// Whom a token stands for.
    #[must_use]
    pub fn caller(&self, token: &str) -> Option<&Caller> {
        self.callers.get(token)
    }
}
