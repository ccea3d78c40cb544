//! `--deploy NEW`: the nodes change over to another design, to another protocol, or to both.

use std::path::Path;

use super::Failure;
use super::models::kind_of;
use crate::input::{self, Input, Kind};
use crate::model::{Design, Protocol};

/// What is deployed, by the names on the command line.
#[derive(clap::Args, Clone, Debug, Default)]
pub(super) struct Deploying {
    /// While it runs, the nodes change over to this design or protocol, one by one, at any point: a path or a name. A design
    /// and a protocol together take it twice. How they change over is said in `[deploy]` of the scenario
    #[arg(long = "deploy", value_name = "NEW")]
    deploys: Vec<String>,
}

impl Deploying {
    /// Whether nothing is.
    pub(super) const fn is_empty(&self) -> bool {
        self.deploys.is_empty()
    }

    /// The one thing that is deployed.
    pub(super) fn only(self) -> Result<Option<String>, Failure> {
        let mut all = self.deploys.into_iter();
        match (all.next(), all.next()) {
            (only, None) => Ok(only),
            _ => Err(Failure::Usage("--deploy: one at a time is compared".to_owned())),
        }
    }

    /// A design while what is deployed replaces it, if that is one.
    pub(super) fn design(&self, old: Input<Design>, beside: Option<&Path>) -> Result<Input<Design>, Failure> {
        let mut all = self.deploys.iter().filter(|spec| is_a(Kind::Protocol, spec, beside).is_none());
        match (all.next(), all.next()) {
            (None, _) => Ok(old),
            (Some(_), Some(_)) => Err(Failure::Usage("--deploy: at most one design is deployed in a run".to_owned())),
            (Some(_), None) if old.deployed.is_some() => Err(twice(&old.value.name)),
            (Some(spec), None) => Ok(input::deploy_design(old, input::design(spec, beside)?)),
        }
    }

    /// A protocol while what is deployed replaces it, if that is one.
    pub(super) fn protocol(&self, old: Input<Protocol>, beside: Option<&Path>) -> Result<Input<Protocol>, Failure> {
        let mut all = self.deploys.iter().filter_map(|spec| is_a(Kind::Protocol, spec, beside));
        match (all.next(), all.next()) {
            (None, _) => Ok(old),
            (Some(_), Some(_)) => Err(Failure::Usage("--deploy: at most one protocol is deployed in a run".to_owned())),
            (Some(_), None) if old.deployed.is_some() => Err(twice(&old.value.name)),
            (Some(source), None) => Ok(input::deploy_protocol(old, input::read_protocol(&source)?)),
        }
    }
}

fn twice(name: &str) -> Failure {
    Failure::Usage(format!("--deploy: in {name} something is deployed already"))
}

/// The text that a name means, if it is of this kind and of no design.
fn is_a(kind: Kind, spec: &str, beside: Option<&Path>) -> Option<input::Source> {
    let path = Path::new(spec);
    if path.is_file() {
        return (kind_of(path) == Some(kind)).then(|| input::resolve(kind, spec, beside).ok()).flatten();
    }
    let of_a_design = input::resolve(Kind::Design, spec, beside).is_ok();
    input::resolve(kind, spec, beside).ok().filter(|_| !of_a_design)
}
