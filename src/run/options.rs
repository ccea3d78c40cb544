//! How to explore.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Cache;
use crate::model::vocabulary::named;
use crate::situation::Situation;

named! {
    /// Which engine explores.
    Engine {
        /// The engine of handlecheck.
        Handlecheck = "handlecheck",
        /// The breadth-first search of stateright, as a second witness: slower by far, and it counts no coverage.
        Stateright = "stateright",
    }
}

/// How to explore.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own")]
pub struct Options {
    /// With which engine.
    pub engine: Engine,
    /// At most so many states; `None` is unbounded.
    pub max_states: Option<usize>,
    /// Threads to explore with. What comes out does not depend on it.
    pub threads: usize,
    /// Explore every interleaving of every action, however large the model is.
    pub no_reduction: bool,
    /// Know states that were explored by 64 bits of their hashes alone. `resolves` is not decided then, which needs the whole
    /// graph; nor can the run be gone on with.
    pub hash_compact: bool,
    /// Stop as soon as every property is violated.
    pub stop_early: bool,
    /// Check these invariants and assertions only; empty: all.
    pub only: Vec<String>,
    /// Budgets that replace those of the scenario.
    pub faults: BTreeMap<&'static str, u8>,
    /// Look for the shortest run that reaches each of these; no invariant is checked then but those named in `only`. At
    /// most as many as [`super::Run::room`].
    pub shows: Vec<Situation>,
    /// Show the shortest break for each cause of a violation: for each pair that races.
    pub all_causes: bool,
    /// Keep what it takes to go on, where the run is cut short ([`super::Report::checkpoint`]).
    pub keep: bool,
    /// Where verdicts are remembered beyond this run. What comes out does not depend on it.
    pub cache: Option<Arc<dyn Cache>>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            engine: Engine::Handlecheck,
            max_states: None,
            threads: 1,
            no_reduction: false,
            hash_compact: false,
            stop_early: false,
            only: Vec::new(),
            faults: BTreeMap::new(),
            shows: Vec::new(),
            all_causes: false,
            keep: false,
            cache: None,
        }
    }
}
