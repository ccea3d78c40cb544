//! What every picture shows, whatever its format: lanes from left to right, rows from top to bottom.
//!
//! A row is a step, or several steps that belong together: a request that is sent and arrives at once is one arrow, and a
//! read that nothing interrupts is one line. Rows carry what the steps did to belief and to truth, so that a format only
//! has to place them.

use crate::trace::{Content, Trace, notes};

mod beliefs;
mod calls;
mod dull;
mod fields;
mod lanes;
mod quiet;
mod rows;

pub use beliefs::Stale;
pub use calls::{Calls, Followed};
pub use fields::without_unchanging;
pub use lanes::{AgentHead, Lanes, StoreHead};

use super::words;

/// With more lanes than this, only what takes part has one.
const MANY_LANES: usize = 7;

/// The picture of a trace, before it has a format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sequence {
    /// What went wrong, as a title: `Lost update`.
    pub title: String,
    /// The title of the scenario.
    pub scenario: String,
    /// A sentence about the fields that never change and are left out; empty where there are none.
    pub left_out: String,
    /// Who has a lane.
    pub lanes: Lanes,
    /// What happens, from top to bottom.
    pub rows: Vec<Row>,
    /// For a run that goes round for ever: the first row of the loop.
    pub loops_from: Option<usize>,
    /// What is violated, and where this comes from.
    pub band: Band,
}

/// One row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The first and the last of its steps, from 1; none for an answer that is still under way at the end.
    pub steps: Option<(usize, usize)>,
    /// What is drawn.
    pub shape: Shape,
    /// What stands at it.
    pub label: String,
    /// The part of the label that matters most: the change that a request is about. Empty where there is none.
    pub gist: String,
    /// What happens, in sentences.
    pub sentence: String,
    /// The call that it is about: `A-2`.
    pub call: Option<String>,
    /// The step, from 1, in which the request was first sent that this row sends again.
    pub repeats: Option<usize>,
    /// What is added below, a line each.
    pub remarks: Vec<Remark>,
    /// The changes that it makes true.
    pub commits: Vec<CommitMark>,
    /// The beliefs that it makes stale.
    pub stale: Vec<Stale>,
    /// It is a fault.
    pub fault: bool,
    /// It belongs to a call that nobody waits for.
    pub orphan: bool,
    /// What it shows, where it is the step that the trace is about.
    pub shows: Option<Shown>,
    /// For each agent, how what it believes stands to the truth after the row.
    pub minds: Vec<Mind>,
    /// The agents that hear for the first time what a resource is, and what they then believe: `v7 16 / 512`.
    pub learns: Vec<(usize, String)>,
    /// For each node, whether it is handling a call after the row.
    pub busy_nodes: Vec<bool>,
    /// The agents whose streams a node breaks that restarts.
    pub breaks: Vec<usize>,
    /// The resources that a node loses that restarts.
    pub lost: Vec<usize>,
}

/// What no single step says of itself, added at a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    /// In a picture: `planned on v7; store is v8`.
    pub words: String,
    /// In a story, where the sentence of the step does not say it already: `It was planned on v7; store is v8.`
    pub sentence: Option<String>,
    /// What it has a sign of its own for.
    pub sign: Option<Sign>,
}

/// What has a sign of its own in a picture, beside the words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// Something takes effect outside: no transaction holds it, and nothing takes it back.
    Outside,
    /// Somebody gets a lease.
    Leased,
    /// Somebody gives a lease back.
    Returned,
}

impl Sign {
    /// Of a note of a trace.
    fn of(note: &str) -> Option<Self> {
        if note.starts_with(notes::EXTERNAL) {
            Some(Self::Outside)
        } else if note.contains(notes::LEASED) {
            Some(Self::Leased)
        } else {
            note.contains(notes::RETURNED).then_some(Self::Returned)
        }
    }

    /// As one character, where there is nothing but type.
    const fn character(self) -> char {
        match self {
            Self::Outside => '↗',
            Self::Leased => '◆',
            Self::Returned => '◇',
        }
    }
}

impl Remark {
    /// A remark for pictures and stories; a story puts something before its words.
    #[must_use]
    pub fn new(before: &str, words: String) -> Self {
        Self { sentence: Some(words::sentence(&format!("{before}{words}"))), words, sign: None }
    }

    /// A remark for pictures only.
    #[must_use]
    pub const fn pictured(words: String) -> Self {
        Self { words, sentence: None, sign: None }
    }

    /// A note of a trace, for pictures only: its step's sentence says it.
    #[must_use]
    pub fn of_note(note: &str) -> Self {
        Self { sign: Sign::of(note), ..Self::pictured(note.to_owned()) }
    }

    /// The words behind their sign, where they have one.
    #[must_use]
    pub fn signed(&self) -> String {
        self.sign.map_or_else(|| self.words.clone(), |sign| format!("{} {}", sign.character(), self.words))
    }
}

/// What a row draws. Numbers are places in the lists of [`Lanes`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shape {
    /// An agent hands something to others.
    HandOff {
        /// The agent.
        from: usize,
        /// The receivers.
        to: Vec<usize>,
    },
    /// Whole calls that changed nothing, there and back.
    Fold {
        /// Whose.
        agents: Vec<usize>,
        /// The nodes that served them.
        nodes: Vec<usize>,
        /// The store that they asked.
        store: Option<usize>,
        /// The first half of the label: what was asked.
        asked: String,
        /// The second half: what was seen.
        saw: String,
    },
    /// A request, from its agent to the node where it arrives.
    Request {
        /// The agent.
        agent: usize,
        /// The node.
        node: usize,
        /// It was sent in an earlier row.
        late: bool,
    },
    /// A request leaves its agent, and does not arrive in this row.
    Send {
        /// The agent.
        agent: usize,
    },
    /// A node takes up a call again that outlived the node where it was.
    TakeUp {
        /// The node.
        node: usize,
    },
    /// A transaction, from its node to the store.
    Transaction {
        /// The node.
        node: usize,
        /// The store; none where the trace does not say which.
        store: Option<usize>,
        /// The label where there is little room: the deciding step.
        brief: String,
        /// The call ended here before its transaction was over.
        ended: bool,
        /// The call ended here, and its answer does not come out of its own stream.
        astray: bool,
    },
    /// An answer, from its node to its agent.
    Answer {
        /// The node.
        node: usize,
        /// The agent.
        agent: usize,
        /// It has arrived; otherwise it is under way when the trace ends.
        received: bool,
    },
    /// A stream breaks.
    Break {
        /// The agent that was waiting.
        agent: usize,
        /// The node where the call is, if it has arrived at one.
        node: Option<usize>,
        /// The answer that is lost, if there was one already.
        answer: Option<String>,
    },
    /// Anything else: a note at these lanes.
    Note {
        /// The agent.
        agent: Option<usize>,
        /// The node.
        node: Option<usize>,
        /// The store.
        store: Option<usize>,
    },
}

/// How what an agent believes stands to the truth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mind {
    /// It believes nothing of any resource.
    Blank,
    /// All that it believes is true.
    Current,
    /// It waits for the answer to a change of its own, which may make what it believes outdated.
    Waiting,
    /// Something that it believes is no longer true.
    Stale,
}

/// A change that was accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitMark {
    /// The lane of the resource.
    pub store: usize,
    /// Whose change it is.
    pub agent: String,
    /// For each value, the agents whose changes it shows.
    pub shows: Vec<Vec<String>>,
    /// For each value, whether a change of somebody else was erased in it.
    pub damages: Vec<bool>,
    /// What is true now.
    pub content: Content,
    /// For each value, whether it changed here.
    pub changed: Vec<bool>,
    /// For each value, what it was before; empty where the trace does not say.
    pub before: Vec<String>,
    /// What it erased: `A's memory 32`.
    pub erased: Vec<String>,
    /// What took effect for the second time.
    pub second: Option<String>,
    /// It is about another handle than the lane showed last.
    pub named: bool,
    /// It deleted what the handle names.
    pub deleted: bool,
}

/// What a trace is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// Something is violated.
    Violation,
    /// A situation that was asked for is reached, and nothing need be violated.
    Situation,
}

impl Shown {
    /// What a trace is about.
    #[must_use]
    pub const fn of(trace: &Trace) -> Self {
        if trace.shows.is_some() { Self::Situation } else { Self::Violation }
    }
}

/// The end of a picture: what is violated, and where the trace comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Band {
    /// The headline: `no-lost-update violated at step 15`.
    pub verdict: String,
    /// What the trace is about.
    pub shows: Shown,
    /// One plain sentence; and another for each resource that it is about and that nothing happens to, which has no lane.
    pub sentence: String,
    /// What the run was made of, each with its name: scenario, design, protocol, faults, steps.
    pub facts: Vec<(&'static str, String)>,
    /// The command that replays the trace.
    pub command: String,
}

impl Sequence {
    /// The picture of a trace.
    #[must_use]
    pub fn of(trace: &Trace) -> Self {
        let (shown, left_out) = without_unchanging(trace);
        let mut lanes = Lanes::of(&shown);
        let calls = Calls::of(&shown);
        let mut rows = rows::rows(&shown, &lanes, &calls);
        if rows.len() > dull::MANY_ROWS {
            rows = dull::fold(&shown, &calls, rows, lanes.several);
        }
        if lanes.count() > MANY_LANES {
            quiet::drop(&mut lanes, &mut rows);
        }
        let in_loop = |row: &Row| row.steps.is_some_and(|(_, last)| trace.loops_from.is_some_and(|stem| last > stem));
        let loops_from = rows.iter().position(in_loop);
        if let Some(row) = loops_from.and_then(|row| rows.get_mut(row)) {
            let words = "the loop begins here".to_owned();
            row.remarks
                .insert(0, Remark { sentence: Some("The loop begins here.".to_owned()), ..Remark::pictured(words) });
        }
        let band = Band::of(trace, &lanes);
        let left_out = left_out.iter().filter(|(name, _)| lanes.stores.iter().any(|store| store.name == *name));
        let left_out: Vec<String> = left_out.flat_map(|(_, fields)| fields.clone()).collect();
        Self {
            left_out: match left_out.len() {
                0 => String::new(),
                1 => format!("Left out of contents, since it never changes: {}.", left_out[0]),
                _ => format!("Left out of contents, since they never change: {}.", words::list(&left_out)),
            },
            title: words::title(trace),
            scenario: trace.scenario.title.clone(),
            lanes,
            rows,
            loops_from,
            band,
        }
    }

    /// Whether anything in the picture is about more than one resource, so that notes must name theirs.
    #[must_use]
    pub const fn names_stores(&self) -> bool {
        self.lanes.several
    }
}

impl Band {
    fn of(trace: &Trace, lanes: &Lanes) -> Self {
        let kind = trace.kind.as_ref().map_or_else(String::new, |kind| format!(" ({kind})"));
        let steps = trace.steps.len();
        let at = if steps == 0 { "at the start".to_owned() } else { format!("at step {steps}") };
        let (verdict, length) = match (&trace.shows, trace.loops_from) {
            (Some(situation), _) => (format!("{situation} reached {at}"), steps.to_string()),
            (None, Some(stem)) => {
                let round = words::steps(stem.saturating_add(1), steps);
                let verdict = format!("{}{kind} violated: steps {round} repeat", trace.invariant);
                (verdict, format!("{stem}, then {round} again and again"))
            }
            (None, None) => (format!("{}{kind} violated {at}", trace.invariant), steps.to_string()),
        };
        // What was found in a log holds no inputs, and is found again in the log.
        let logged = trace.scenario.text.is_empty() && trace.design.name.is_empty();
        let facts = if logged {
            vec![("log", trace.scenario.name.clone())]
        } else {
            vec![
                ("scenario", trace.scenario.name.clone()),
                ("design", trace.design.name.clone()),
                ("protocol", trace.protocol.name.clone()),
                ("faults", words::faults(trace)),
                ("steps", length),
            ]
        };
        Self {
            verdict,
            shows: Shown::of(trace),
            sentence: [words::sentence(&trace.sentence)]
                .into_iter()
                .chain(unchanged(trace, lanes))
                .collect::<Vec<_>>()
                .join(" "),
            facts,
            command: if logged { format!("handlecheck audit {}", trace.scenario.name) } else { words::replay(trace) },
        }
    }
}

/// What the resources are that the violation is about and that have no lane, since no step is about them.
fn unchanged(trace: &Trace, lanes: &Lanes) -> impl Iterator<Item = String> {
    let about = format!("{} {}", trace.sentence, words::assertion(trace).unwrap_or_default());
    let bare = trace.resources.iter().filter(|resource| !lanes.stores.iter().any(|store| store.name == resource.name));
    bare.filter_map(move |resource| {
        let content = resource.initial.as_ref()?;
        let store = StoreHead {
            name: resource.name.clone(),
            handle: content.handle.clone(),
            fields: resource.fields.clone(),
            initial: None,
        };
        let named = words::names(&about, &store.name) || words::names(&about, &store.handle);
        named.then(|| format!("Nothing changes {}, which stays {}.", store.handle, words::full(content, Some(&store))))
    })
}

impl Row {
    /// Whether some belief of an agent is stale after the row.
    #[must_use]
    pub fn is_stale(&self, agent: usize) -> bool {
        self.minds.get(agent) == Some(&Mind::Stale)
    }

    /// The numbers of its steps, as a picture shows them.
    #[must_use]
    pub fn numbers(&self) -> String {
        self.steps.map_or_else(String::new, |(first, last)| words::steps(first, last))
    }
}
