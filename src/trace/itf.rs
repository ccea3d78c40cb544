//! The Informal Trace Format: <https://apalache-mc.org/docs/adr/015adr-trace.html>.
//!
//! A state is a record of variables. Ours are the facts that the trace speaks of, as a map from what a fact is about to its
//! value; the action that led to the state, and its sentence. What the format has no place for stands in its metadata, so
//! that nothing is lost on the way.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{ReadError, Step, Trace};

/// The variables of a state.
const VARIABLES: [&str; 4] = ["action", "actor", "facts", "sentence"];

/// A file.
#[derive(Debug, Serialize, Deserialize)]
struct File {
    #[serde(rename = "#meta")]
    meta: Meta,
    vars: Vec<String>,
    /// For a run that goes round for ever: the state to which the last one comes back.
    #[serde(default, rename = "loop", skip_serializing_if = "Option::is_none")]
    loops_to: Option<usize>,
    states: Vec<State>,
}

/// What the file is, and the trace without its steps.
#[derive(Debug, Serialize, Deserialize)]
struct Meta {
    format: String,
    #[serde(rename = "format-description")]
    format_description: String,
    description: String,
    handlecheck: Trace,
}

#[derive(Debug, Serialize, Deserialize)]
struct State {
    #[serde(rename = "#meta")]
    meta: StateMeta,
    action: String,
    actor: String,
    facts: Map,
    sentence: String,
}

#[derive(Debug, Serialize, Deserialize)]
struct StateMeta {
    index: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    step: Option<Step>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Map {
    #[serde(rename = "#map")]
    pairs: Vec<(String, String)>,
}

impl Trace {
    /// Writes the trace in the Informal Trace Format, with a newline at its end.
    #[must_use]
    pub fn to_itf(&self) -> String {
        let mut facts: BTreeMap<&str, &str> = BTreeMap::new();
        for change in self.steps.iter().rev().flat_map(|step| step.changes.iter().rev()) {
            // The first change of a fact says what it was at the start.
            facts.insert(&change.fact, &change.before);
        }
        let map = |facts: &BTreeMap<&str, &str>| Map {
            pairs: facts.iter().map(|(fact, value)| ((*fact).to_owned(), (*value).to_owned())).collect(),
        };
        let mut states = vec![State {
            meta: StateMeta { index: 0, step: None },
            action: String::new(),
            actor: String::new(),
            facts: map(&facts),
            sentence: String::new(),
        }];
        for (index, step) in (1..).zip(&self.steps) {
            for change in &step.changes {
                facts.insert(&change.fact, &change.after);
            }
            let actor =
                step.does.node.as_ref().filter(|_| matches!(&*step.does.action, "execute" | "restart-node" | "deploy"));
            states.push(State {
                meta: StateMeta { index, step: Some(step.clone()) },
                action: step.does.action.clone(),
                actor: actor.or(step.does.agent.as_ref()).cloned().unwrap_or_default(),
                facts: map(&facts),
                sentence: step.sentence.clone(),
            });
        }
        let file = File {
            meta: Meta {
                format: "ITF".to_owned(),
                format_description: "https://apalache-mc.org/docs/adr/015adr-trace.html".to_owned(),
                description: self.sentence.clone(),
                handlecheck: Self { steps: Vec::new(), ..self.clone() },
            },
            vars: VARIABLES.map(str::to_owned).to_vec(),
            loops_to: self.loops_from,
            states,
        };
        let mut text = serde_json::to_string_pretty(&file).expect("a trace has string keys only");
        text.push('\n');
        text
    }

    /// Reads a trace, as we write it: as a trace, or in the Informal Trace Format.
    ///
    /// # Errors
    ///
    /// When the text is neither, or of another schema.
    pub fn read(text: &str) -> Result<Self, ReadError> {
        // Only what stands at the top tells the two formats apart.
        #[derive(Deserialize)]
        struct Top {
            states: Option<serde::de::IgnoredAny>,
            vars: Option<serde::de::IgnoredAny>,
        }
        match serde_json::from_str::<Top>(text) {
            Ok(Top { states: Some(_), vars: Some(_) }) => Self::from_itf(text),
            _ => Self::from_json(text),
        }
    }

    fn from_itf(text: &str) -> Result<Self, ReadError> {
        let mut deserializer = serde_json::Deserializer::from_str(text);
        let file: File = serde_path_to_error::deserialize(&mut deserializer)
            .map_err(|error| ReadError::Malformed { path: error.path().to_string(), source: error.into_inner() })?;
        if file.meta.handlecheck.schema != super::SCHEMA {
            return Err(ReadError::Schema { found: file.meta.handlecheck.schema });
        }
        let steps = file.states.into_iter().filter_map(|state| state.meta.step).collect();
        Ok(Self { steps, ..file.meta.handlecheck })
    }
}
