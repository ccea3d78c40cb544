//! The closed sets of words that input files choose from.

use crate::model::Free;
use crate::model::client::{AfterFailure, BeforeWrite, KeyPolicy, Payload, Precondition, Presents};
use crate::model::design::{
    AfterStoreError, Balancer, Calls, ClaimAfterError, ClaimNames, FenceSeen, FingerprintPart, Foreign, Handles,
    Identity, LeaseNames, LostReply, NewFields, OnCancel, OtherPayload, Place, PrincipalPart, Queue, ReadsFrom, Record,
    Replies, ScopePart, State, Taken, TakenName, Versions,
};
use crate::model::protocol::{ClosedStream, Reissue, Resumable, TaskIds};
use crate::model::scenario::{Carried, Clients};
use crate::model::{Condition, Told, Tool};

/// A value that a file writes as one word of a closed set.
pub(super) trait Word: Copy + PartialEq + 'static {
    /// Every value, in the order of the documentation.
    const WORDS: &'static [Self];

    /// The word.
    fn word(self) -> &'static str;

    /// All the words.
    fn words() -> Vec<&'static str> {
        Self::WORDS.iter().map(|value| value.word()).collect()
    }
}

macro_rules! words {
    ($($name:ident,)+) => {
        $(impl Word for $name {
            const WORDS: &'static [Self] = $name::ALL;
            fn word(self) -> &'static str { self.name() }
        })+
    };
}

words! {
    AfterFailure, AfterStoreError, Balancer, BeforeWrite, Calls, Carried, ClaimAfterError, ClaimNames, Clients, ClosedStream, Free,
    Condition,
    FenceSeen, FingerprintPart, Foreign, Handles, Identity, KeyPolicy, LeaseNames, LostReply, NewFields, OnCancel, OtherPayload, Payload, Place, Precondition,
    Presents, PrincipalPart, Queue, ReadsFrom, Record, Reissue, Replies, Resumable, ScopePart, State, Taken, TakenName, TaskIds,
    Told, Tool, Versions,
}
