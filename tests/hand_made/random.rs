//! Traces that no recorder would write: a trace file is a user's, so anything may stand in it.

use handlecheck::trace::{
    AgentLane, AnswerNote, Belief, CallNote, Change, Commit, Content, Does, Erased, Expected, Reaches, ResourceLane,
    Step, ToldNote, Trace, TransactionNote,
};

use super::{input, trace};

/// Names that break what is careless.
pub const HOSTILE: &[&str] = &[
    "A",
    "",
    " ",
    "end",
    "a;b#c\"d'e",
    "<script>alert(1)</script>",
    "line\nbreak\r\ttab",
    "\u{1b}[31mred\u{1b}[0m",
    "wrap: x",
    "%%{init: {}}%%",
    "$$x^2$$",
    "&lt;&amp;",
    "😀👩‍👩‍👧 family",
    "名前が長い名前が長い名前が長い名前が長い",
    "e\u{301}\u{301}\u{301}",
    "\u{202e}turned\u{2066}",
    "a-very-long-name-that-goes-on-and-on-for-sixty-characters-more",
    "node-1",
    "style: #abc;",
    "{\"a\": [1, 2]}",
    "a --> b",
    "loop",
    "\\n\\",
];

const ACTIONS: &[&str] = &[
    "send",
    "deliver",
    "execute",
    "receive",
    "hand-off",
    "guess",
    "decide",
    "cancel",
    "resume",
    "drop-stream",
    "restart-node",
    "leak-handle",
    "duplicate-call",
    "expire-handle",
    "",
    "end",
];

/// A small generator of numbers: the same seed gives the same numbers everywhere.
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 40).expect("24 bits fit") % limit
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    fn maybe<T>(&mut self, percent: usize, make: impl FnOnce(&mut Self) -> T) -> Option<T> {
        if self.chance(percent) { Some(make(self)) } else { None }
    }

    fn some<T>(&mut self, limit: usize, mut make: impl FnMut(&mut Self) -> T) -> Vec<T> {
        (0..self.below(limit)).map(|_| make(self)).collect()
    }

    /// A name out of so many: few of them make calls that fit together.
    fn name(&mut self, names: &[&str]) -> String {
        names[self.below(names.len())].to_owned()
    }
}

/// A trace with these names.
pub fn random(seed: u64, names: &[&str]) -> Trace {
    let mut dice = Dice::new(seed);
    let dice = &mut dice;
    let steps = dice.some(24, |dice| step(dice, names));
    let resource = |dice: &mut Dice| ResourceLane {
        name: dice.name(names),
        owner: dice.name(names),
        shared_with: dice.some(2, |dice| dice.name(names)),
        initial: dice.maybe(70, |dice| content(dice, names)),
        fields: dice.some(6, |dice| dice.name(names)),
    };
    let agents = dice.some(5, |dice| AgentLane {
        name: dice.name(names),
        principal: dice.name(names),
        parent: dice.maybe(50, |dice| dice.name(names)),
    });
    let (title, sentence, only) = (dice.name(names), dice.name(names), resource(dice));
    let invariants =
        ["no-lost-update", "no-double-write", "no-cross-principal", "truthful-outcome", "both-upgrades", "", "no-"];
    let invariant = dice.name(&invariants);
    let mut trace = trace(input(&title, &title), &invariant, &sentence, agents, only, steps);
    trace.resources.extend(dice.some(3, resource));
    trace.nodes = dice.some(4, |dice| dice.name(names));
    trace.kind = dice.maybe(20, |dice| dice.name(names));
    trace.shows = dice.maybe(15, |dice| dice.name(names));
    trace
}

fn content(dice: &mut Dice, names: &[&str]) -> Content {
    Content {
        handle: dice.name(names),
        version: dice.maybe(80, |dice| u16::try_from(dice.below(4)).expect("it is small")),
        values: dice.some(5, |dice| dice.name(names)),
    }
}

fn call(dice: &mut Dice, names: &[&str]) -> CallNote {
    CallNote {
        also: None,
        tool: dice.name(&["read", "write", "mint", "end", ""]),
        resource: dice.name(names),
        handle: dice.maybe(80, |dice| dice.name(names)),
        payload: dice.name(names),
        change: dice.name(names),
        expects: dice.some(3, |dice| Expected { handle: dice.name(names), version: 3 }),
        key: dice.maybe(30, |dice| dice.name(names)),
        attempt: dice.maybe(70, |dice| dice.name(&["first", "repeat", "replan", "?"])),
        entry: dice.below(3),
    }
}

fn step(dice: &mut Dice, names: &[&str]) -> Step {
    let does = Does {
        client: dice.maybe(20, |dice| dice.name(names)),
        to_run: None,
        restarts: false,
        action: dice.name(ACTIONS),
        agent: dice.maybe(80, |dice| dice.name(names)),
        request: dice.maybe(60, |dice| dice.name(&["A-1", "A-2", "B-1", ""])),
        node: dice.maybe(60, |dice| dice.name(names)),
        to: dice.some(3, |dice| dice.name(names)),
        handle: dice.maybe(40, |dice| dice.name(names)),
        principal: dice.maybe(20, |dice| dice.name(names)),
        leaked_key: dice.maybe(10, |dice| dice.name(names)),
        key: dice.maybe(10, |dice| dice.name(names)),
        same_id_as: dice.maybe(10, |dice| dice.name(names)),
        clock_stands: dice.chance(10),
        fault: dice.chance(20),
        orphan: dice.chance(20),
    };
    Step {
        does,
        call: dice.maybe(70, |dice| call(dice, names)),
        transaction: dice.maybe(60, |dice| TransactionNote {
            steps: dice.some(5, |dice| dice.name(names)),
            ended_by: dice.maybe(30, |dice| dice.name(names)),
            number: dice.below(3),
            at_end: dice.chance(10),
            writes: dice.chance(30),
        }),
        answer: dice.maybe(50, |dice| AnswerNote {
            outcome: dice.name(&["ok", "ok", "stale-view", ""]),
            replayed: dice.chance(20),
            handle: dice.maybe(50, |dice| dice.name(names)),
            version: dice.maybe(50, |_| 7),
            view: dice.maybe(50, |dice| content(dice, names)),
            other_view: dice.maybe(10, |dice| content(dice, names)),
            reaches: match dice.below(8) {
                0 => Reaches::Nobody,
                1 => Reaches::StreamOf(dice.name(names)),
                _ => Reaches::Caller,
            },
        }),
        told: dice.some(2, |dice| ToldNote {
            agent: dice.name(names),
            about: dice.name(names),
            told: dice.name(&["ok", "failure"]),
        }),
        changes: dice.some(2, |dice| Change { fact: dice.name(names), before: String::new(), after: dice.name(names) }),
        commits: dice.some(3, |dice| Commit {
            agent: dice.name(names),
            intent: dice.name(names),
            content: content(dice, names),
            shows: Vec::new(),
            changed: dice.some(3, |dice| dice.name(names)),
            erased: dice.some(2, |dice| Erased { field: dice.name(names), of: dice.some(3, |dice| dice.name(names)) }),
            effects: u8::try_from(dice.below(4)).expect("it is small"),
            taken_back: false,
        }),
        beliefs: dice.some(3, |dice| Belief {
            agent: dice.name(names),
            believes: content(dice, names),
            truth: dice.maybe(80, |dice| content(dice, names)),
        }),
        notes: dice.some(1, |dice| dice.name(names)),
        sentence: dice.name(names),
    }
}
