//! What a harness did with an event, as one word.

use crate::model::vocabulary::named;
use crate::model::{Reaction, Told};

named! {
    /// What a harness did with an event. A conditional reaction is counted as what it came to.
    Response {
        /// It sends the same call again.
        Same = "same",
        /// It sends the old payload under the current version number.
        SameWithNewVersion = "same-with-new-version",
        /// It reads again and applies its intent to what is there.
        Replan = "replan",
        /// It verifies by reading.
        Read = "read",
        /// It goes back to the entry that minted.
        Mint = "mint",
        /// It tells `ok`.
        TellOk = "tell-ok",
        /// It tells `failure`.
        TellFailure = "tell-failure",
        /// It tells `conflict`.
        TellConflict = "tell-conflict",
        /// It tells `unknown`.
        TellUnknown = "tell-unknown",
        /// Its `attempts` are spent: it tells `unknown` or `failure` instead.
        GiveUp = "give-up",
    }
}

impl Response {
    /// The word for a reaction; a replan's condition is no part of it.
    #[must_use]
    pub const fn of(reaction: &Reaction) -> Self {
        match reaction {
            Reaction::Same { .. } => Self::Same,
            Reaction::SameWithNewVersion { .. } => Self::SameWithNewVersion,
            Reaction::Replan { .. } => Self::Replan,
            Reaction::Read => Self::Read,
            Reaction::Mint { .. } => Self::Mint,
            Reaction::Tell(Told::Ok) => Self::TellOk,
            Reaction::Tell(Told::Failure) => Self::TellFailure,
            Reaction::Tell(Told::Conflict) => Self::TellConflict,
            Reaction::Tell(Told::Unknown) => Self::TellUnknown,
        }
    }
}
