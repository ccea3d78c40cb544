//! The closed sets of words that all three inputs share: tools, outcomes, what an agent is told, verdicts.

/// Declares an enum whose variants have one name each, used everywhere: in files, traces, diagrams and help.
macro_rules! named {
    ($(#[$meta:meta])* $name:ident { $($(#[doc = $doc:literal])+ $variant:ident = $text:literal,)+ }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $($(#[doc = $doc])+ $variant,)+ }

        impl $name {
            /// Every value, in the order of the documentation.
            pub const ALL: &'static [$name] = &[$($name::$variant,)+];

            /// The one name of this value, as files, traces and diagrams spell it.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $($name::$variant => $text,)+ }
            }

            /// What this value means, in a sentence.
            #[must_use]
            pub const fn about(self) -> &'static str {
                match self { $($name::$variant => concat!($($doc),+).trim_ascii(),)+ }
            }

            /// The value of that name.
            #[must_use]
            pub fn named(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|value| value.name() == name)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result { f.pad(self.name()) }
        }
    };
}
pub(crate) use named;

named! {
    /// What a client can ask of a server.
    Tool {
        /// Creates a resource and answers its handle.
        Mint = "mint",
        /// Answers a view of a resource.
        Read = "read",
        /// Changes fields: set, append or increment.
        Write = "write",
        /// Ends a resource: closed.
        Close = "close",
        /// Stores what the approver's view showed as approved.
        Approve = "approve",
        /// Ends a resource: executed.
        Execute = "execute",
        /// Ends a resource: deleted.
        Delete = "delete",
    }
}

named! {
    /// How a call ends. All but `ok` are refusals.
    Outcome {
        /// Every transaction ran.
        Ok = "ok",
        /// No such handle here.
        NotFound = "not-found",
        /// The principal may not.
        Forbidden = "forbidden",
        /// The handle's time is up.
        Expired = "expired",
        /// The resource is closed or executed.
        Closed = "closed",
        /// The key was used with other arguments.
        KeyMismatch = "key-mismatch",
        /// Another call claimed the key and has not recorded an outcome.
        InProgress = "in-progress",
        /// An expected version is not the current one.
        StaleView = "stale-view",
        /// No expected version was sent, and the server requires one.
        PreconditionRequired = "precondition-required",
        /// Another agent holds the lease.
        Locked = "locked",
        /// This agent no longer holds the lease, or a newer fence number was seen.
        LeaseLost = "lease-lost",
        /// The content is not what was approved.
        StaleApproval = "stale-approval",
        /// The condition of what was asked is not met.
        ConditionNotMet = "condition-not-met",
        /// What was to be minted has a name that is taken.
        NameTaken = "name-taken",
        /// The store answered with an error and the node can't tell whether the transaction committed.
        Unknown = "unknown",
    }
}

named! {
    /// What an agent finally tells about an intent.
    Told {
        /// The intent took effect.
        Ok = "ok",
        /// The intent has no effect, before or later.
        Failure = "failure",
        /// As failure, with a question to the person.
        Conflict = "conflict",
        /// Nothing is claimed.
        Unknown = "unknown",
    }
}

named! {
    /// The result of checking one property of one run.
    Verdict {
        /// All interleavings in the bounds were explored, the witness was reached, nothing was violated.
        Holds = "holds",
        /// Some interleaving violates it.
        Violated = "violated",
        /// All interleavings were explored, and none reached the situation that the property is about.
        Vacuous = "vacuous",
        /// A limit was hit before the search was complete.
        Inconclusive = "inconclusive",
    }
}
