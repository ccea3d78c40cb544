//! Models at random, as the texts of their three files: from one number, always the same.

#![allow(dead_code, reason = "each test file is a crate of its own and uses a part of this")]

pub mod more;
pub mod sharing;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};

/// The three files of a model.
pub struct Texts {
    pub scenario: String,
    pub design: String,
    pub protocol: String,
}

/// The seeds that `HANDLECHECK_SEEDS` asks for, written as `1000..3000`, or else these few.
#[expect(clippy::disallowed_methods, reason = "a range of seeds is asked for by hand")]
pub fn seeds(otherwise: &str) -> std::ops::Range<u64> {
    let asked = std::env::var("HANDLECHECK_SEEDS").unwrap_or_else(|_| otherwise.to_owned());
    let (from, to) = asked.split_once("..").expect("seeds are written as FROM..TO");
    let number = |text: &str| text.parse::<u64>().expect("seeds are whole numbers");
    number(from)..number(to)
}

pub struct Dice(ChaCha8Rng);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }

    pub fn below(&mut self, limit: usize) -> usize {
        let limit = u32::try_from(limit).expect("limits are small");
        usize::try_from(self.0.next_u32() % limit).expect("a number of 32 bits fits")
    }

    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    fn pick<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.below(words.len())]
    }

    /// Some of these, in their order.
    fn some<'a>(&mut self, percent: usize, words: &[&'a str]) -> Vec<&'a str> {
        words.iter().copied().filter(|_| self.chance(percent)).collect()
    }
}

/// A random model.
pub fn texts(seed: u64) -> Texts {
    let mut dice = Dice::new(seed);
    let dice = &mut dice;
    let texts = Texts { scenario: scenario(dice), design: design(dice), protocol: protocol(dice) };
    in_parts(dice, texts)
}

/// What clients may choose.
const FREE: [&str; 8] = ["payload", "precondition", "key", "before-write", "keeps", "blind", "presents", "on"];

/// A random model whose clients choose some of their settings anew each time.
pub fn choosing(seed: u64) -> Texts {
    let mut texts = texts(seed);
    let mut dice = Dice(ChaCha8Rng::seed_from_u64(seed + 2_000_000));
    let one = dice.pick(&FREE);
    let free: Vec<&str> = FREE.into_iter().filter(|word| *word == one || dice.chance(15)).collect();
    texts.design = texts.design.replacen("[client]\n", &format!("[client]\nany = [{}]\n", list(free)), 1);
    texts
}

/// The settings in which a design and the one that is deployed must be alike.
const ALIKE: [&str; 8] = ["state", "queue", "calls", "replies", "lost-reply", "handles", "versions", "lease-place"];

/// A random deploy: a scenario, the designs before and after, and the protocols before and after.
pub fn deploys(seed: u64) -> (String, [String; 2], [String; 2]) {
    let (old, new) = (texts(seed), texts(seed + 1_000_000));
    let is_alike = |line: &&str| line.split_once(" = ").is_some_and(|(key, _)| ALIKE.contains(&key));
    let others = |text: &str| text.lines().filter(|line| !is_alike(line)).collect::<Vec<_>>().join("\n");
    let kept: Vec<&str> = old.design.lines().filter(is_alike).collect();
    let design = others(&new.design).replacen("[server]", &format!("[server]\n{}", kept.join("\n")), 1);
    let restart = if seed.is_multiple_of(3) { "false" } else { "true" };
    let clients = if seed.is_multiple_of(2) { "old" } else { "new" };
    let scenario = format!("{}\n[deploy]\nrestart = {restart}\nclients = \"{clients}\"\n", old.scenario);
    // Every fourth deploy is one of a design alone, or of a protocol alone.
    match seed % 8 {
        0 => (scenario, [old.design, design], [old.protocol.clone(), old.protocol]),
        4 => (scenario, [old.design.clone(), old.design], [old.protocol, new.protocol]),
        _ => (scenario, [old.design, design], [old.protocol, new.protocol]),
    }
}

/// Perhaps sets that take effect field by field.
fn in_parts(dice: &mut Dice, mut texts: Texts) -> Texts {
    if dice.chance(70) {
        return texts;
    }
    for name in ["one", "two"] {
        let number = format!("{{ set = \"{name}\", number");
        texts.scenario = texts.scenario.replace(&number, &format!("{{ set = \"{name}\", rows = [\"y\"], number"));
    }
    let parts = dice.pick(&[
        "\"apply-next\", \"apply-next\"",
        "\"apply-next\"], [\"apply-next\"",
        "\"apply-next\"], [\"apply\"",
    ]);
    texts.design = texts.design.replace("\"apply\"", parts).replace("payload = \"snapshot\"", "payload = \"change\"");
    if !texts.design.contains("[client]\npayload") {
        texts.design = texts.design.replace("[client]\n", "[client]\npayload = \"change\"\n");
    }
    texts
}

/// A random model in which agents, and often nodes, may be exchanged: agents with the same work, or with work on other
/// fields and with other values; perhaps one before them that hands on what it minted.
pub fn symmetric(seed: u64) -> Texts {
    let mut dice = Dice::new(seed);
    let dice = &mut dice;
    Texts { scenario: alike(dice), design: design(dice), protocol: protocol(dice) }
}

fn alike(dice: &mut Dice) -> String {
    let mut text = format!("title = \"Random\"\nnodes = {}\n", 1 + dice.below(3));
    let minted = dice.chance(15);
    if !minted {
        text += &format!("[resources.one]\nhandle = \"h-one\"\nowner = \"{OWNER}\"\nversion = 1\n");
        text += "fields = { number = 1, other = 1, rows = [] }\n";
    }
    let names = &["A", "B", "C"][..2 + usize::from(dice.chance(35))];
    if minted {
        let quoted: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
        text += &format!(
            "[agents.P]\nprincipal = \"{OWNER}\"\nwork = [{{ mint = \"one\", number = 1, other = 1, rows = [] }}, \
             {{ hand-off = \"one\", to = [{}] }}]\n",
            quoted.join(", ")
        );
    }
    // What each entry is: the same for all, or a set of another field, or to another value, for each.
    let length = if names.len() == 2 { 1 + dice.below(2) } else { 1 };
    let kinds: Vec<usize> = (0..length).map(|_| dice.below(9)).collect();
    for (agent, name) in names.iter().enumerate() {
        let entry = |kind: &usize| match kind {
            0 => "{ read = \"one\" }".to_owned(),
            1 => "{ set = \"one\", number = 2 }".to_owned(),
            2 => format!("{{ set = \"one\", number = {} }}", 2 + agent),
            3 => format!("{{ set = \"one\", {} = 2 }}", ["number", "other"][agent % 2]),
            4 => format!("{{ set = \"one\", {} = {} }}", ["number", "other"][agent % 2], 2 + agent / 2),
            5 => "{ append = \"one\", rows = \"x\" }".to_owned(),
            6 => format!("{{ increment = \"one\", {} = 1 }}", ["number", "other"][agent % 2]),
            7 => format!("{{ set = \"one\", number = {}, other = {} }}", 2 + agent, 3 - agent),
            _ => "{ close = \"one\" }".to_owned(),
        };
        let work: Vec<String> = kinds.iter().map(entry).collect();
        let whose = if minted { "parent = \"P\"".to_owned() } else { format!("principal = \"{OWNER}\"") };
        text += &format!("[agents.{name}]\n{whose}\nwork = [{}]\n", work.join(", "));
    }
    let mut faults: Vec<&str> = (0..dice.below(3)).map(|_| dice.pick(FAULTS)).collect();
    faults.extend(dice.some(35, &["drop-stream", "restart-node"]));
    faults.sort_unstable();
    faults.dedup();
    if !faults.is_empty() {
        text += "[faults]\n";
        faults.iter().for_each(|fault| text += &format!("{fault} = 1\n"));
    }
    if dice.chance(30) {
        text += "[sometimes]\nchanged = \"one.number > 1\"\n";
    }
    if dice.chance(30) {
        text += "[finally]\nboth = \"one.number == 2 && one.other == 2\"\n";
    }
    text
}

fn protocol(dice: &mut Dice) -> String {
    let resumable = if dice.chance(80) { "never" } else { dice.pick(&["after-delivery", "always"]) };
    let closed = dice.pick(&["cancels", "continues"]);
    let names = dice.pick(&["server", "client"]);
    let reissue = dice.pick(&["new-request-id", "same-request-id"]);
    format!(
        "title = \"Random\"\nresumable = \"{resumable}\"\nsessions = {}\nclosed-stream = \"{closed}\"\n\
         task-ids = \"{names}\"\nreissue = \"{reissue}\"\n",
        dice.chance(50)
    )
}

/// Words as a list in a file.
fn list(words: Vec<&str>) -> String {
    words.iter().map(|word| format!("\"{word}\"")).collect::<Vec<_>>().join(", ")
}

/// A resource of the scenario: its name, and whether somebody mints it.
struct Thing {
    name: &'static str,
    minted: bool,
}

const OWNER: &str = "user-42";

fn scenario(dice: &mut Dice) -> String {
    let mut text = format!("title = \"Random\"\nnodes = {}\n", 1 + dice.below(2));
    let agents = 1 + dice.below(3);
    let mut things = vec![Thing { name: "one", minted: dice.chance(25) }];
    if dice.chance(35) {
        things.push(Thing { name: "two", minted: dice.chance(if things[0].minted { 60 } else { 20 }) });
    }
    let minted = things.iter().filter(|thing| thing.minted).count();
    // The second of two may be another's to mint, under a name that the first may have too.
    let apart = minted == 2 && agents > 1 && dice.chance(60);
    let chosen = if minted == 2 && dice.chance(70) { ", handle = \"name\"" } else { "" };
    for thing in things.iter().filter(|thing| !thing.minted) {
        let shared = if dice.chance(15) { "shared-with = [\"user-7\"]\n" } else { "" };
        let expires = if dice.chance(15) { "expires = true\n" } else { "" };
        text += &format!(
            "[resources.{0}]\nhandle = \"h-{0}\"\nowner = \"{OWNER}\"\nversion = {1}\n{shared}{expires}\
             fields = {{ number = 1, rows = [] }}\n",
            thing.name,
            dice.below(9)
        );
    }
    let subagent = agents > 1 && dice.chance(35);
    // The more agents there are, the less each does, or few models would be small enough.
    let longest = [3, 2, 1][agents - 1];
    for (agent, name) in ["A", "B", "C"].into_iter().enumerate().take(agents) {
        text += &format!("[agents.{name}]\n");
        let is_subagent = agent == 1 && subagent;
        let foreign = agent > 0 && !is_subagent && dice.chance(20);
        text += &match (is_subagent, foreign) {
            (true, _) => "parent = \"A\"\n".to_owned(),
            (_, true) => "principal = \"user-7\"\n".to_owned(),
            _ => format!("principal = \"{OWNER}\"\n"),
        };
        let mut work = Vec::new();
        for (index, thing) in things.iter().filter(|thing| thing.minted).enumerate() {
            let minter = usize::from(apart && index == 1);
            if agent == minter {
                // What another makes is not the same.
                let number = 1 + usize::from(apart && index == 1);
                work.push(format!("{{ mint = \"{}\", number = {number}, rows = []{chosen} }}", thing.name));
            }
        }
        if agent == 0 && subagent {
            let carries = ["", ", carries = [\"version\"]", ", carries = [\"version\", \"content\"]"];
            let thing = &things[dice.below(things.len())];
            work.push(format!("{{ hand-off = \"{}\", to = [\"B\"]{} }}", thing.name, dice.pick(&carries)));
        }
        for _ in 0..=dice.below(longest) {
            work.push(entry(dice, &things));
        }
        text += &format!("work = [{}]\n", work.join(", "));
        if dice.chance(15) {
            text += &format!("[agents.{name}.client]\n{}", settings(dice, 15));
        }
    }
    let mut faults: Vec<&str> = (0..dice.below(3)).map(|_| dice.pick(FAULTS)).collect();
    faults.sort_unstable();
    faults.dedup();
    if !faults.is_empty() {
        text += "[faults]\n";
        faults.iter().for_each(|fault| text += &format!("{fault} = 1\n"));
    }
    if dice.chance(30) {
        text += "[at-rest]\ntold = \"told.A.size() > 0\"\n";
    }
    text += if minted > 0 { "[sometimes]\nmade = \"one.number == 1 && told.A.size() == 0\"\n" } else { "" };
    text
}

const FAULTS: &[&str] = &[
    "drop-stream",
    "drop-stream",
    "restart-node",
    "expire-handle",
    "expire-key",
    "expire-claim",
    "expire-lease",
    "leak-handle",
    "revoke",
    "rotate-credential",
    "compact",
    "ambiguous-commit",
    "stale-read",
    "stale-read",
    "restart-node",
    "recreate",
    "duplicate-call",
    "stop-agent",
];

fn entry(dice: &mut Dice, things: &[Thing]) -> String {
    let target = dice.below(things.len());
    let name = things[target].name;
    let given = if things.len() > 1 && dice.chance(30) {
        format!(", given = [\"{}\"]", things[1 - target].name)
    } else {
        String::new()
    };
    match dice.below(11) {
        0 | 1 => format!("{{ read = \"{name}\" }}"),
        2..=4 => format!("{{ set = \"{name}\", number = {}{given} }}", 2 + dice.below(2)),
        5 | 6 => format!("{{ append = \"{name}\", rows = \"x\"{given} }}"),
        7 => format!("{{ increment = \"{name}\", number = 1{given} }}"),
        8 => format!("{{ close = \"{name}\" }}"),
        9 => format!("{{ {} = \"{name}\" }}", dice.pick(&["approve", "execute"])),
        _ => format!("{{ delete = \"{name}\" }}"),
    }
}

/// Splits steps into transactions.
fn transactions(dice: &mut Dice, steps: &[&str], percent: usize) -> String {
    let mut text = "[[".to_owned();
    for (index, step) in steps.iter().enumerate() {
        if index > 0 {
            text += if dice.chance(percent) { "], [" } else { ", " };
        }
        text += &format!("\"{step}\"");
    }
    text + "]]"
}

fn design(dice: &mut Dice) -> String {
    let mut text = "title = \"Random\"\n[server]\n".to_owned();
    let set = |dice: &mut Dice, percent: usize, key: &str, words: &[&str]| {
        if dice.chance(percent) { format!("{key} = \"{}\"\n", dice.pick(words)) } else { String::new() }
    };
    text += &set(dice, 30, "state", &["node", "session", "handle"]);
    text += &set(dice, 40, "balancer", &["sticky", "by-handle"]);
    text += &set(dice, 15, "queue", &["per-handle"]);
    text += &set(dice, 10, "handles", &["sequential"]);
    text += &set(dice, 30, "foreign", &["forbidden"]);
    text += &set(dice, 10, "identity", &["node-memory"]);
    text += &set(dice, 25, "replies", &["by-request-id", "by-request-id", "by-task-id"]);
    text += &set(dice, 20, "calls", &["redelivered", "resumed"]);
    text += &set(dice, 30, "lost-reply", &["first-agent"]);
    text += &set(dice, 25, "reads-from", &["replica", "node-cache"]);
    if dice.chance(40) {
        let parts = ["principal", "subject", "credential", "handle", "tool"];
        text += &format!("cache-scope = [{}]\n", list(dice.some(40, &parts)));
    }
    text += &set(dice, 50, "taken-name", &["refuse"]);
    if dice.chance(30) {
        text += "name-scope = [\"subject\"]\n";
    }
    text += &set(dice, 25, "versions", &["per-incarnation", "coarse-clock"]);
    text += &set(dice, 25, "lease-place", &["node"]);
    text += &set(dice, 40, "fence-seen", &["at-check"]);
    if dice.chance(20) {
        text += "version-required = true\n";
    }
    if dice.chance(50) {
        let then = dice.pick(&["answer-unknown", "retry"]);
        text += &format!("on-store-error = [\"{then}\", \"{}\"]\n", dice.pick(&["release-claim", "keep-claim"]));
    }
    let mut read = vec!["resolve"];
    read.extend(dice.some(70, &["authorize", "check-live"]));
    read.extend(dice.some(10, &["check-permission", "check-open", "acquire-lease", "release-lease"]));
    read.push("read");
    text += &format!("[server.read]\ntransactions = {}\n", transactions(dice, &read, 10));
    text += &format!("[server.write]\n{}", write_handler(dice));
    for tool in ["close", "execute", "approve", "delete"] {
        if dice.chance(10) {
            text += &format!("[server.{tool}]\n{}", write_handler(dice));
        }
    }
    let mut mint = dice.some(40, &["find-key"]);
    mint.push("mint");
    mint.extend(dice.some(40, &["record-key"]));
    text += &format!("[server.mint]\ntransactions = {}\n", transactions(dice, &mint, 25));
    text += "[server.keys]\n";
    text += &set(dice, 20, "place", &["node"]);
    text += &set(dice, 30, "other-payload", &["replay"]);
    text += &set(dice, 30, "record", &["every-outcome"]);
    text += &set(dice, 30, "taken", &["refuse"]);
    text += &set(dice, 30, "claim-names", &["nothing"]);
    if dice.chance(40) {
        let scope = dice.some(35, &["principal", "credential", "handle", "tool"]);
        text += &format!("scope = [{}]\n", list(scope));
    }
    if dice.chance(30) {
        let fingerprint = dice.some(50, &["operation", "handle", "expected-version"]);
        text += &format!("fingerprint = [{}]\n", list(fingerprint));
    }
    text += &format!("expire = {}\nclaims-expire = {}\n", dice.chance(50), dice.chance(50));
    text += &format!("[client]\n{}", settings(dice, 50));
    let mut on = String::new();
    for event in EVENTS {
        if dice.chance(30) {
            on += &format!("{event} = {}\n", reaction(dice, 0));
        }
    }
    text + "[client.on]\n" + &on
}

const EVENTS: &[&str] = &[
    "broken-stream",
    "not-found",
    "forbidden",
    "expired",
    "closed",
    "key-mismatch",
    "in-progress",
    "stale-view",
    "stale-view",
    "precondition-required",
    "locked",
    "lease-lost",
    "stale-approval",
    "unknown",
];

fn write_handler(dice: &mut Dice) -> String {
    let mut steps = dice.some(80, &["resolve", "authorize"]);
    let keys = dice.below(3);
    if keys > 0 {
        steps.push(if keys == 1 { "find-key" } else { "claim-key" });
    }
    steps.extend(dice.some(50, &["check-live", "check-version"]));
    steps.extend(dice.some(15, &["check-permission", "check-open", "check-approval"]));
    let leases = dice.chance(15);
    if leases {
        steps.push("acquire-lease");
        steps.extend(dice.some(40, &["check-lease", "check-fence"]));
    }
    // The order is the designer's to choose.
    for _ in 0..dice.below(3) {
        let (one, other) = (dice.below(steps.len().max(1)), dice.below(steps.len().max(1)));
        if !steps.is_empty() {
            steps.swap(one, other);
        }
    }
    match dice.below(6) {
        0 => steps.extend(["load", "save"]),
        1 => steps.extend(["load", "write-content", "advance-version"]),
        2 => steps.extend(["load", "check-unchanged", "save"]),
        _ => steps.push("apply"),
    }
    if keys > 0 && dice.chance(15) {
        let at = steps.len() - dice.below(2);
        steps.insert(at, "record-key");
    }
    if dice.chance(10) {
        let step = dice.pick(&["call-upstream", "call-upstream-with-key"]);
        steps.insert(dice.below(steps.len() + 1), step);
    }
    let mut at_end = Vec::new();
    if leases && dice.chance(60) {
        at_end.push("release-lease");
    }
    if keys == 2 && dice.chance(50) {
        at_end.push("release-key");
    }
    let splits = dice.pick(&["0", "15", "35"]).parse().expect("it is a number");
    let mut text = format!("transactions = {}\n", transactions(dice, &steps, splits));
    if !at_end.is_empty() {
        text += &format!("at-end = {}\n", transactions(dice, &at_end, 30));
    }
    text
}

fn settings(dice: &mut Dice, percent: usize) -> String {
    let mut text = String::new();
    let all: [(&str, &[&str]); 7] = [
        ("payload", &["\"snapshot\"", "\"change\""]),
        ("precondition", &["\"none\"", "\"viewed-version\"", "\"every-viewed-version\""]),
        ("key", &["\"none\"", "\"per-intent\"", "\"per-attempt\"", "\"hash-of-arguments\"", "\"reused\""]),
        ("before-write", &["\"nothing\"", "\"read-again\""]),
        ("after-failure", &["\"stop\"", "\"next\""]),
        ("attempts", &["\"unbounded\"", "1", "2", "3"]),
        ("keeps", &["[]", "[\"handle\"]", "[\"handle\", \"version\"]", "[\"handle\", \"content\"]"]),
    ];
    for (key, words) in all {
        if dice.chance(percent) {
            text += &format!("{key} = {}\n", dice.pick(words));
        }
    }
    if dice.chance(percent / 4) {
        text += "blind = true\n";
    }
    if dice.chance(percent / 5) {
        text += "presents = \"leaked-key\"\n";
    }
    text
}

fn reaction(dice: &mut Dice, depth: usize) -> String {
    let key = dice.pick(&["", ", key = \"same\"", ", key = \"new\""]);
    match dice.below(8) {
        0 => format!("{{ send = \"same\"{key} }}"),
        1 => format!("{{ send = \"same-with-new-version\"{key} }}"),
        2 | 3 => format!("{{ send = \"replan\"{key} }}"),
        4 if depth < 2 => {
            let condition = dice.pick(&["disjoint", "unsatisfied"]);
            format!("{{ send = \"replan\"{key}, if = \"{condition}\", else = {} }}", reaction(dice, depth + 1))
        }
        5 => "{ send = \"read\" }".to_owned(),
        6 => format!("{{ send = \"mint\"{key} }}"),
        _ => format!("{{ tell = \"{}\" }}", dice.pick(&["ok", "failure", "unknown", "conflict"])),
    }
}
