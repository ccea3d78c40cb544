//! What is asked of a search, and how far it has come.

/// When a search gives up, and how it goes about.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own")]
pub struct Limits {
    /// At most so many states; `None` is unbounded.
    pub states: Option<usize>,
    /// Stop as soon as all of these properties, one bit each, are violated. 0: explore everything.
    pub enough: u64,
    /// The properties that are asked for, one bit each; 0: all. Others may be missed by a reduction.
    pub wanted: u64,
    /// The properties whose witness is known to be reached, one bit each: a reduction need not look for it.
    pub witnessed: u64,
    /// Stop as soon as each property was violated with so few faults; [`u8::MAX`]: never mind. What can't add to a front any
    /// more is not expanded.
    pub fewest: Option<[u8; 64]>,
    /// Decide liveness too, once everything is explored.
    pub liveness: bool,
    /// Explore states up to the symmetries of the system.
    pub symmetry: bool,
    /// Keep the first violation of each property for each cause. Symmetries that exchange fair sources are not used then:
    /// they exchange causes too.
    pub causes: bool,
    /// Threads, at least one. What comes out does not depend on it.
    pub threads: usize,
    /// Take only as many of the actions of a state as are needed to decide every property (see `docs/engine.md`). Paths are
    /// then real, but not shortest.
    pub reduce: bool,
    /// Leave out a state where the same one was found before with more left to spend ([`super::System::budgets`]): that keeps
    /// every front, and the paths on it.
    pub subsume: bool,
    /// Know states by so many bits of their hashes alone, at least 6 and at most 64: a state with the hash of another one is left
    /// out ([`super::Exploration::omission`]). Paths are real all the same. Liveness can't be decided then, and is not; nor can
    /// anybody go on with such a search. `None`: states are compared as a whole.
    pub compact: Option<u32>,
}

/// Why a search ended before everything was explored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// [`Limits::states`] was reached.
    States,
    /// A state held more than 64 different numbers of one space.
    Numbers,
    /// [`Limits::enough`] was reached: everything asked for is decided.
    Enough,
    /// The caller asked for it.
    Caller,
}

/// How far a search has come.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Distinct states found.
    pub states: usize,
    /// States that were found and not yet expanded.
    pub queue: usize,
    /// Transitions taken.
    pub transitions: u64,
    /// Length of the shortest path to the state being expanded.
    pub depth: u32,
    /// Bytes that states, their table and what is known take.
    pub bytes: usize,
}
