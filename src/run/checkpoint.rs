//! Runs that were cut short, and what it takes to go on with one: `--resume`.
//!
//! A checkpoint is a file of its own: what was explored of which inputs with which options, and a checksum. It is refused
//! where any of these is another one, since what it tells of would then be states of something else.

use std::collections::BTreeMap;

use rapidhash::v3::rapidhash_v3;
use serde::{Deserialize, Serialize};

use super::{Options, Run};
use crate::engine;
use crate::trace::RecordError;

/// What it takes to go on with a run that was cut short.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checkpoint {
    made: Made,
    pub(super) searches: Vec<(Stage, engine::Checkpoint)>,
}

/// Why a run can't be gone on with.
#[derive(Debug, thiserror::Error)]
pub enum ResumeError {
    /// Something is another than it was: what, in one sentence.
    #[error("{0}")]
    Unfit(String),
    /// A trace can't be recorded, which is a bug.
    #[error(transparent)]
    Record(#[from] RecordError),
}

impl From<engine::Changed> for ResumeError {
    fn from(changed: engine::Changed) -> Self {
        Self::Unfit(changed.to_string())
    }
}

/// Which of the searches of one run it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Stage {
    /// The model as a whole.
    Whole,
    /// The reduced model.
    Reduced,
    /// The shortest breaks of what was found in the reduced model.
    Shortest,
}

/// Of what it was made, and how.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Made {
    version: String,
    /// Name and digest of scenario, design and protocol.
    inputs: [(String, u64); 3],
    budgets: BTreeMap<String, u8>,
    invariants: Vec<String>,
    shows: Vec<String>,
    switches: Vec<(String, bool)>,
}

/// What every checkpoint begins with. The number is that of the format.
const MAGIC: &[u8] = b"handlecheck checkpoint 1\n";

/// Bytes of the checksum at the end.
const CHECKSUM: usize = 8;

impl Made {
    fn of(run: &Run, options: &Options) -> Self {
        let sources = run.sources();
        let [design, protocol] = sources.sides();
        let input = |name: &str, text: &str| (name.to_owned(), rapidhash_v3(text.replace("\r\n", "\n").as_bytes()));
        let model = run.model();
        let budgets = model.scenario.faults.iter().filter(|(_, budget)| **budget > 0);
        let mut invariants = options.only.clone();
        invariants.sort();
        Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            inputs: [
                input(&model.scenario.name, &sources.scenario.text),
                input(&model.design.name, &design),
                input(&model.protocol.name, &protocol),
            ],
            budgets: budgets.map(|(fault, budget)| ((*fault).to_owned(), *budget)).collect(),
            invariants,
            shows: options.shows.iter().map(crate::situation::Situation::name).collect(),
            switches: vec![
                ("--no-reduction".to_owned(), options.no_reduction),
                ("--hash-compact".to_owned(), options.hash_compact),
                ("--stop-early".to_owned(), options.stop_early),
                ("--all-causes".to_owned(), options.all_causes),
            ],
        }
    }
}

impl Checkpoint {
    pub(super) fn new(run: &Run, options: &Options, searches: Vec<(Stage, engine::Checkpoint)>) -> Self {
        Self { made: Made::of(run, options), searches }
    }

    /// The names of the scenario, the design and the protocol of the run that was cut short.
    #[must_use]
    pub fn subject(&self) -> [&str; 3] {
        self.made.inputs.each_ref().map(|(name, _)| &**name)
    }

    /// Whether it can be gone on with this run and these options.
    ///
    /// # Errors
    ///
    /// What is another than it was, in one sentence.
    pub fn fits(&self, run: &Run, options: &Options) -> Result<(), String> {
        let (was, is) = (&self.made, Made::of(run, options));
        if was.version != is.version {
            return Err(format!("it was made by version {}, and this is version {}", was.version, is.version));
        }
        for ((kind, was), is) in ["scenario", "design", "protocol"].into_iter().zip(&was.inputs).zip(&is.inputs) {
            if was.0 != is.0 {
                return Err(format!("it was made of the {kind} {}, and this is {}", was.0, is.0));
            }
            if was.1 != is.1 {
                return Err(format!("the {kind} {} has changed since it was made", was.0));
            }
        }
        if was.budgets != is.budgets {
            let words = |budgets: &BTreeMap<String, u8>| {
                let words: Vec<String> = budgets.iter().map(|(fault, budget)| format!("{fault}={budget}")).collect();
                if words.is_empty() { "no faults".to_owned() } else { words.join(",") }
            };
            return Err(format!("it was made with {}, and this run has {}", words(&was.budgets), words(&is.budgets)));
        }
        for (option, was, is) in [("--invariant", &was.invariants, &is.invariants), ("--show", &was.shows, &is.shows)] {
            if was != is {
                let words = |names: &[String]| match names {
                    [] => format!("without {option}"),
                    names => format!("with {option} {}", names.join(" ")),
                };
                return Err(format!("it was made {}, and this run is {}", words(was), words(is)));
            }
        }
        for ((switch, was), (_, is)) in was.switches.iter().zip(&is.switches) {
            if was != is {
                return Err(format!("it was made {} {switch}", if *was { "with" } else { "without" }));
            }
        }
        Ok(())
    }

    /// As the bytes of a file.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = postcard::to_extend(self, MAGIC.to_vec()).expect("a vector has room");
        let sum = rapidhash_v3(&bytes);
        bytes.extend(sum.to_le_bytes());
        bytes
    }

    /// From the bytes of a file.
    ///
    /// # Errors
    ///
    /// When it is no checkpoint, one in another format, or a damaged one: in one sentence.
    pub fn read(bytes: &[u8]) -> Result<Self, String> {
        let name = &MAGIC[..MAGIC.len() - 2];
        if !bytes.starts_with(name) {
            return Err("it is no checkpoint".to_owned());
        }
        if !bytes.starts_with(MAGIC) {
            return Err("it has the format of another version".to_owned());
        }
        let damaged = || "it is damaged: its checksum is another one".to_owned();
        let (body, sum) = bytes.split_last_chunk::<CHECKSUM>().ok_or_else(damaged)?;
        if body.len() < MAGIC.len() || rapidhash_v3(body) != u64::from_le_bytes(*sum) {
            return Err(damaged());
        }
        postcard::from_bytes(&body[MAGIC.len()..]).map_err(|_| "it has the format of another version".to_owned())
    }
}
