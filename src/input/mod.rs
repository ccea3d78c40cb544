//! Reads scenarios, designs and protocols: from TOML, as typed, to [`crate::model`], as meant.
//!
//! Everything that is wrong with a file is reported at once, each with its place. This module knows nothing of states
//! or steps. The way of an input is [`resolve`] (which text is meant by a name or a path), then [`read_scenario`],
//! [`read_design`] or [`read_protocol`], then [`compose`], which checks the three against each other.

mod client;
mod compose;
mod deploys;
mod design;
mod diagnostic;
mod expect;
pub mod foreign;
mod handler;
pub mod library;
mod looking;
mod protocol;
mod reader;
mod render;
mod report;
mod resolve;
mod scenario;
pub mod settings;
mod source;
pub mod vocabulary;
mod words;

pub use compose::compose;
pub use deploys::{deploy_design, deploy_protocol, design, halves, protocol};
pub use design::read_design;
pub use diagnostic::{Diagnostic, InputError, Place, Severity};
pub use protocol::read_protocol;
pub use render::{Look, render};
pub use resolve::{not_there, protocol_of, resolve};
pub use scenario::{read_scenario, read_scenario_within};
pub use source::{Kind, Source};

/// An input as it was read: what it means, and the text that says so.
#[derive(Clone, Debug)]
pub struct Input<T> {
    /// What it means. It may be altered (a design of which one step is removed, say) before it is composed: places in
    /// the text are looked up only when something is wrong.
    pub value: T,
    /// The text.
    pub source: Source,
    /// What the nodes change over to in the run: another input of the kind. The name of the value tells both.
    pub deployed: Option<Box<Self>>,
}

impl<T> Input<T> {
    /// Its text, and behind it that of what is deployed.
    #[must_use]
    pub fn texts(&self) -> String {
        let deployed = self.deployed.as_ref().map_or_else(String::new, |deployed| deployed.texts());
        [&self.source.text, deployed.as_str()].concat()
    }
}
