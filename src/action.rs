//! The action table: everything that can happen, by name and operands.

use crate::world::{CallRef, Handle};

/// One thing that can happen. One action is one arrow or one note in a diagram.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// An agent sends a call.
    Send {
        /// The agent.
        agent: u8,
        /// Which of the keys that leaked to it the agent presents.
        leaked: Option<u8>,
        /// Which of the ways in which its harness may send it sends; only where that is free.
        way: u8,
    },
    /// An agent decides what to do with an event; only where its harness is free to.
    Decide {
        /// The agent.
        agent: u8,
        /// Which of the ways in which it may react.
        way: u8,
    },
    /// An agent leaves out an entry whose condition is not met as it sees it.
    Skip {
        /// The agent.
        agent: u8,
    },
    /// The balancer brings a request to a node.
    Deliver {
        /// The call.
        call: CallRef,
        /// The node.
        node: u8,
        /// Its request id equals that of this call of another agent at the node, whose place in the reply table it takes.
        takes_from: Option<CallRef>,
        /// It is the rest of a handler that has answered.
        answered: bool,
    },
    /// A node executes the next transaction of a call.
    Execute {
        /// The call.
        call: CallRef,
        /// The clock that versions are taken from does not tick.
        clock_stands: bool,
        /// The request arrives at a node first; only where calls are routed late.
        arrives: bool,
        /// It is handled as what is deployed says.
        deployed: bool,
        /// It is the rest of a handler that has answered.
        answered: bool,
    },
    /// An answer reaches the agent that waits for it.
    Receive {
        /// The agent.
        agent: u8,
    },
    /// An agent hands a handle, and perhaps its view, to others.
    HandOff {
        /// The agent.
        agent: u8,
    },
    /// An agent guesses a handle; only where handles are sequential.
    Guess {
        /// The agent.
        agent: u8,
        /// The handle.
        handle: Handle,
    },
    /// The server stops a call whose stream is closed, between two transactions.
    Cancel {
        /// The call, an orphan.
        call: CallRef,
    },
    /// An agent resumes the broken stream of its call.
    Resume {
        /// The agent.
        agent: u8,
    },
    /// A node changes over to what is deployed.
    Deploy {
        /// The node.
        node: u8,
    },
    /// A fault.
    Fault {
        /// Its place in the fault table.
        fault: u8,
        /// What it strikes.
        target: Target,
    },
}

/// What a fault strikes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Target {
    /// An agent, or its open call.
    Agent(u8),
    /// The next transaction of a call.
    Transaction {
        /// The call.
        call: CallRef,
        /// The clock that versions are taken from does not tick.
        clock_stands: bool,
    },
    /// A node.
    Node(u8),
    /// The calls that are at a node; only where calls are routed late.
    Calls {
        /// The agents whose open calls are: one bit each.
        open: u8,
        /// The orphans that are: eight bits for each agent, one for each place.
        orphans: u64,
    },
    /// An agent that keeps something of its context: which of the ways in which its harness may keep it.
    Keeping(u8, u8),
    /// What a handle names.
    Handle(Handle),
    /// A principal, by its number.
    Principal(u8),
    /// A lease.
    Lease {
        /// The slot of the leases.
        slot: u16,
        /// The instance.
        instance: u8,
    },
    /// An agent, with something that a handle names.
    AgentAndHandle(u8, Handle),
    /// What stands in a key table.
    Record {
        /// The slot of the table.
        slot: u16,
        /// The place in it.
        record: u16,
    },
    /// A principal, by its number, with something that a handle names.
    PrincipalAndHandle(u8, Handle),
}

/// The actions that are no faults: their names, and what they mean.
pub const ACTIONS: &[(&str, &str)] = &[
    ("send", "an agent sends a call"),
    ("deliver", "the balancer brings a request to a node"),
    ("execute", "a node executes the next transaction of a call"),
    ("receive", "an answer reaches the agent that waits for it"),
    ("hand-off", "an agent hands a handle, and perhaps its view, to others"),
    ("guess", "an agent guesses a handle, where handles are sequential"),
    ("cancel", "the server stops a call whose stream is closed, between two transactions"),
    ("resume", "an agent resumes the broken stream of its call"),
    ("deploy", "a node changes over to what is deployed"),
    ("decide", "an agent decides what to do with an event, where its client may choose that (`any`)"),
    ("skip", "an agent leaves out an entry whose condition (`if`) is not met as it sees it"),
];

/// The kind of a call's arrival together with its first transaction, where calls are routed late.
const ARRIVAL: u16 = 0xFF;

impl Action {
    /// The name of the action in traces, diagrams and reports. A fault has the name of its row; where calls are routed late
    /// and two things happen at once, it is that of the last.
    #[must_use]
    pub fn name(&self) -> &'static str {
        let names = Self::names_of_kind(self.kind());
        names.last().copied().expect("a kind has a name")
    }

    /// What kind of action it is: its place in [`ACTIONS`], or behind them that of its fault in the fault table, or behind
    /// these `ARRIVAL`.
    #[must_use]
    pub fn kind(&self) -> u16 {
        match self {
            Self::Send { .. } => 0,
            Self::Deliver { .. } => 1,
            Self::Execute { arrives: true, .. } => ARRIVAL,
            Self::Execute { .. } => 2,
            Self::Receive { .. } => 3,
            Self::HandOff { .. } => 4,
            Self::Guess { .. } => 5,
            Self::Cancel { .. } => 6,
            Self::Resume { .. } => 7,
            Self::Deploy { .. } => 8,
            Self::Decide { .. } => 9,
            Self::Skip { .. } => 10,
            Self::Fault { fault, .. } => 11 + u16::from(*fault),
        }
    }

    /// What happens in an action of this kind, by name: one thing, or two that happen at once.
    #[must_use]
    pub fn names_of_kind(kind: u16) -> Vec<&'static str> {
        let place = usize::from(kind);
        match ACTIONS.get(place) {
            Some((name, _)) => vec![name],
            None if kind == ARRIVAL => vec![ACTIONS[1].0, ACTIONS[2].0],
            None => vec![crate::faults::FAULTS[place - ACTIONS.len()].name],
        }
    }
}
