//! Invariants: what must never happen, whatever the design.
//!
//! Each is one file of this folder; its page is the comment at the file's top. An invariant judges [`Fact`]s, which
//! steps emit; it knows nothing of how states are explored.

use crate::engine::Access;
use crate::table::table;
use crate::world::{Component, Fact, Setting};

/// One invariant.
#[derive(Debug)]
pub struct Invariant {
    /// What must hold, in one sentence.
    pub sentence: &'static str,
    /// The standard name of the anomaly that a violation is, with a reference, where there is one.
    pub anomaly: Option<Anomaly>,
    /// The situation that it is about: if no run reaches it, the verdict is `vacuous`.
    pub witness: &'static str,
    /// Judges one fact.
    pub judge: fn(&Setting, &Fact) -> Judgement,
    /// Judges a quiescent state, where the invariant is about such states.
    pub at_rest: Option<AtRest>,
}

/// Judges a quiescent state.
pub type AtRest = fn(&Setting, &Access<'_, Component>) -> Option<Violation>;

/// The standard name of an anomaly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Anomaly {
    /// The name.
    pub name: &'static str,
    /// Where it is defined.
    pub reference: &'static str,
}

/// What a fact means to an invariant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// Nothing.
    Irrelevant,
    /// It is the situation that the invariant is about.
    Witness,
    /// It violates the invariant.
    Violation(Violation),
}

/// How an invariant is violated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The kind, where the invariant has several.
    pub kind: Option<&'static str>,
    /// One plain sentence, with the names of the scenario.
    pub sentence: String,
    /// What the violating step meets, where the sentence says more than that: violations by the same step against the same
    /// have one cause.
    pub against: Option<String>,
}

table! {
    /// Every invariant, in the order of the documentation.
    INVARIANTS: Invariant in INVARIANT {
        no_lost_update,
        no_double_write,
        no_cross_principal,
        truthful_outcome,
        respects_terminal_state,
        approval_covers_execution,
        basis_holds,
        handle_resolvable,
        no_orphan,
        single_lease_holder,
        no_effect_after_revocation,
        version_names_one_content,
        fresh_read,
        resolves,
    }
}

pub use resolves::first_open;

/// A violation that has no kind.
const fn violation(sentence: String) -> Judgement {
    Judgement::Violation(Violation { kind: None, sentence, against: None })
}

/// A witness if the condition holds.
const fn witness_if(condition: bool) -> Judgement {
    if condition { Judgement::Witness } else { Judgement::Irrelevant }
}
