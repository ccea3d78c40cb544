//! Random models with one thing more in them, each drawn by dice of its own: so the models that others draw stay as they are.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use super::{Dice, Texts, texts};

/// A random model whose reads go through a cache, which writes drop or fill.
pub fn caching(seed: u64) -> Texts {
    let mut texts = texts(seed);
    let mut dice = Dice(ChaCha8Rng::seed_from_u64(seed + 7_000_000));
    let apart = |dice: &mut Dice| if dice.chance(50) { "], [" } else { ", " };
    let fill = dice.pick(&["fill-cache", "fill-cache-if-newer"]);
    let (mut design, mut table) = (String::new(), "");
    for line in texts.design.lines() {
        if line.starts_with('[') {
            table = line;
        }
        let mut line = line.to_owned();
        if line.starts_with("transactions = ") && table == "[server.read]" {
            let (found, read) = (apart(&mut dice), apart(&mut dice));
            line = if dice.chance(50) {
                line.replacen("[[", &format!("[[\"find-cached\"{found}"), 1)
            } else {
                line.replacen("\"read\"", &format!("\"find-cached\"{found}\"read\""), 1)
            };
            line = line.replacen("\"read\"", &format!("\"read\"{read}\"{fill}\""), 1);
        } else if line.starts_with("transactions = ") && table == "[server.write]" {
            let by_itself = apart(&mut dice);
            line = match dice.below(4) {
                0 => line.replacen("[[", &format!("[[\"drop-cached\"{by_itself}"), 1),
                1 => line.replacen("]]", &format!(", \"read\"{by_itself}\"{fill}\"]]"), 1),
                _ => line.replacen("]]", &format!("{by_itself}\"drop-cached\"]]"), 1),
            };
        }
        design += &(line + "\n");
    }
    let place = dice.pick(&["store", "node"]);
    // What `read` does with a cache by itself is another design.
    let design = design.replace("\"node-cache\"", "\"store\"");
    texts.design = design.replacen("[server]\n", &format!("[server]\ncache-place = \"{place}\"\n"), 1);
    texts
}

/// A random model some of whose handlers answer before they are done, often with a node that restarts.
pub fn answering(seed: u64) -> Texts {
    let mut texts = texts(seed);
    let mut dice = Dice(ChaCha8Rng::seed_from_u64(seed + 3_000_000));
    let mut answers = |table: &str, line: &str| {
        let handles = line.starts_with("transactions = ") && table != "[server.read]";
        let behind: Vec<usize> =
            line.match_indices("\", \"").chain(line.match_indices("\"], [\"")).map(|at| at.0).collect();
        if !handles || behind.is_empty() || dice.chance(20) {
            return line.to_owned();
        }
        let (before, after) = line.split_at(behind[dice.below(behind.len())]);
        let after = after.trim_start_matches(['"', ',', ' ', '[', ']']);
        format!("{before}\", \"answer\"], [\"{after}")
    };
    let (mut design, mut table) = (String::new(), "");
    for line in texts.design.lines() {
        if line.starts_with('[') {
            table = line;
        }
        design += &(answers(table, line) + "\n");
    }
    texts.design = design;
    if dice.chance(40) {
        texts.design = texts.design.replacen("[server]\n", "[server]\non-cancel = \"at-end\"\n", 1);
    }
    if dice.chance(50) && texts.scenario.contains("[faults]\n") && !texts.scenario.contains("restart-node") {
        texts.scenario = texts.scenario.replacen("[faults]\n", "[faults]\nrestart-node = 1\n", 1);
    }
    // What a mint does to what it made, when it is over.
    if dice.chance(60) {
        texts.design = texts.design.replacen("\"mint\"", "\"mint\", \"acquire-lease\"", 1);
        texts.design = texts.design.replacen("[server.mint]\n", "[server.mint]\nat-end = [[\"release-lease\"]]\n", 1);
    }
    texts
}

/// A random model with fields that some server or client does not know.
pub fn of_two_schemas(seed: u64) -> Texts {
    let mut texts = texts(seed);
    let mut dice = Dice(ChaCha8Rng::seed_from_u64(seed + 4_000_000));
    let new = if dice.chance(70) { "rows" } else { "number" };
    texts.scenario = texts.scenario.replace("fields = {", &format!("new-fields = [\"{new}\"]\nfields = {{"));
    let dropped = "new-fields = \"dropped\"\n";
    if texts.design.contains("balancer = ") {
        let with = |faults: &str| format!("[faults]\nreroute = 1\n{faults}");
        texts.scenario = match texts.scenario.split_once("[faults]\n") {
            Some((before, faults)) => format!("{before}{}", with(faults)),
            None => format!("{}{}", texts.scenario, with("")),
        };
    }
    if dice.chance(50) {
        texts.design = texts.design.replacen("[server]\n", "[server]\nlease-names = \"nothing\"\n", 1);
    }
    if dice.chance(60) {
        texts.design = texts.design.replacen("[server]\n", &format!("[server]\n{dropped}"), 1);
    }
    if dice.chance(40) {
        texts.design = texts.design.replacen("[client]\n", &format!("[client]\n{dropped}"), 1);
    } else {
        texts.scenario = texts.scenario.replacen(".client]\n", &format!(".client]\n{dropped}"), 1);
    }
    texts
}

/// A random model some of whose entries are under a condition, or rest on their own resource, and some of whose handlers judge
/// conditions.
pub fn conditional(seed: u64) -> Texts {
    under_conditions(texts(seed), seed)
}

/// A random model whose calls change two resources, some of them under a condition.
pub fn of_two_under_conditions(seed: u64) -> Texts {
    under_conditions(of_two_resources(seed), seed)
}

/// The same without a handler of reads: it composes where nobody looks at anything.
pub fn unread(mut texts: Texts) -> Texts {
    let handler =
        texts.design.lines().skip_while(|line| *line != "[server.read]").take(2).collect::<Vec<_>>().join("\n");
    texts.design = texts.design.replacen(&handler, "", 1).replace("payload = \"snapshot\"", "payload = \"change\"");
    if !texts.design.contains("payload = ") {
        texts.design = texts.design.replacen("[client]\n", "[client]\npayload = \"change\"\n", 1);
    }
    texts
}

fn under_conditions(mut texts: Texts, seed: u64) -> Texts {
    let mut dice = Dice(ChaCha8Rng::seed_from_u64(seed + 5_000_000));
    let two = texts.scenario.contains("= \"two\"") || texts.scenario.contains("resources.two");
    let mut entry = |text: &str| {
        let (verb, rest) = text.split_once(" = \"").unwrap_or_default();
        let name = rest.split('"').next().unwrap_or_default();
        if matches!(verb, "read" | "hand-off" | "") || name.is_empty() || dice.chance(25) {
            return text.to_owned();
        }
        let other = if name == "one" { "two" } else { "one" };
        let makes = verb == "mint";
        let mut given: Vec<&str> = Vec::new();
        let mut text = text.to_owned();
        if text.contains("given") {
            given.push(other);
        } else {
            given.extend(dice.some(40, &[other]).into_iter().filter(|_| two && !text.contains("also")));
            let own = dice.chance(25) && !makes;
            let all: Vec<String> =
                given.iter().copied().chain(own.then_some(name)).map(|it| format!("\"{it}\"")).collect();
            if !all.is_empty() {
                text += &format!(", given = [{}]", all.join(", "));
            }
        }
        let named: Vec<&str> = given.into_iter().chain((!makes).then_some(name)).collect();
        if named.is_empty() || dice.chance(20) {
            return text;
        }
        let parts = ["number == 1", "number < 3", "rows.size() == 0", "rows[0] == 'x'", "number != 2"];
        let one = |dice: &mut Dice| format!("{}.{}", dice.pick(&named), dice.pick(&parts));
        let mut condition = one(&mut dice);
        if dice.chance(30) {
            condition = format!("{condition} {} {}", dice.pick(&["&&", "||"]), one(&mut dice));
        }
        text + &format!(", if = \"{condition}\"")
    };
    let line = |line: &str, entry: &mut dyn FnMut(&str) -> String| {
        let Some(work) = line.strip_prefix("work = [{ ").and_then(|work| work.strip_suffix(" }]")) else {
            return line.to_owned();
        };
        let entries: Vec<String> = work.split(" }, { ").map(entry).collect();
        format!("work = [{{ {} }}]", entries.join(" }, { "))
    };
    texts.scenario = texts.scenario.lines().map(|text| line(text, &mut entry) + "\n").collect();
    for step in ["\"apply\"", "\"load\"", "\"save\"", "\"apply-next\"", "\"mint\"", "\"resolve\""] {
        if dice.chance(35) {
            let (before, between) = (dice.chance(70), dice.pick(&[", ", ", ", "], ["]));
            let both = if before {
                format!("\"check-condition\"{between}{step}")
            } else {
                format!("{step}{between}\"check-condition\"")
            };
            texts.design = texts.design.replacen(step, &both, 2);
        }
    }
    if dice.chance(50) {
        let reaction = dice.pick(&["{ send = \"replan\" }", "{ tell = \"conflict\" }", "{ send = \"read\" }"]);
        texts.design =
            texts.design.replacen("[client.on]\n", &format!("[client.on]\ncondition-not-met = {reaction}\n"), 1);
    }
    if dice.chance(40) {
        texts.scenario += "[finally]\nfew = \"one.number < 3\"\n";
    }
    texts
}

/// A random model whose calls change two resources: at once or one after the other, and taken back or not.
pub fn of_two_resources(seed: u64) -> Texts {
    let mut texts = texts(seed);
    let dice = &mut Dice(ChaCha8Rng::seed_from_u64(seed + 5_000_000));
    if !texts.scenario.contains("\"two\"") && !texts.scenario.contains("[resources.two]") {
        let foreign = dice.chance(20);
        let owner = if foreign { "user-7" } else { "user-42" };
        let fields = "fields = { number = 1, rows = [] }";
        let two =
            format!("[resources.two]\nhandle = \"h-two\"\nowner = \"{owner}\"\nversion = 3\n{fields}\n[agents.A]\n");
        texts.scenario = texts.scenario.replacen("[agents.A]\n", &two, 1);
        if foreign && !texts.scenario.contains("[faults]") {
            texts.scenario += "[faults]\nleak-handle = 1\n";
        }
    }
    let scenario = texts.scenario.lines().map(|line| match line.strip_prefix("work = [{ ") {
        Some(work) => {
            let entries = work.trim_end_matches(" }]").split(" }, { ");
            let entries: Vec<String> = entries.map(|entry| changing_two(dice, entry)).collect();
            format!("work = [{{ {} }}]\n", entries.join(" }, { "))
        }
        None => format!("{line}\n"),
    });
    texts.scenario = scenario.collect();
    if dice.chance(40) && !texts.scenario.contains("restart-node") && texts.scenario.contains("[faults]\n") {
        texts.scenario = texts.scenario.replacen("[faults]\n", "[faults]\nrestart-node = 1\n", 1);
    }
    let (mut design, mut table) = (String::new(), String::new());
    let mut lines = texts.design.lines().filter(|line| *line != "state = \"handle\"").peekable();
    while let Some(line) = lines.next() {
        if line.starts_with('[') {
            table = line.to_owned();
        }
        let handler = line.strip_prefix("transactions = ").filter(|_| table != "[server.read]");
        let Some(handler) = handler else {
            design += &format!("{line}\n");
            continue;
        };
        let end = lines.next_if(|line| line.starts_with("at-end = ")).map(|line| line.trim_start_matches("at-end = "));
        let list = |text: &str| -> Vec<Vec<String>> { serde_json::from_str(text).expect("a list of lists of words") };
        let (transactions, end) = of_two(dice, list(handler), end.map_or_else(Vec::new, list));
        design += &format!("transactions = {transactions:?}\n");
        if !end.is_empty() {
            design += &format!("at-end = {end:?}\n");
        }
    }
    texts.design = design;
    if dice.chance(30) {
        texts.design = texts.design.replace("payload = \"snapshot\"\n", "payload = \"change\"\n");
    }
    if dice.chance(30) && !texts.design.contains("on-cancel") {
        texts.design = texts.design.replacen("[server]\n", "[server]\non-cancel = \"at-end\"\n", 1);
    }
    texts
}

/// An entry that perhaps changes the other resource besides.
fn changing_two(dice: &mut Dice, entry: &str) -> String {
    let other = if entry.contains("= \"one\"") { "two" } else { "one" };
    let changes = !entry.starts_with("read") && !entry.starts_with("hand-off") && !entry.contains("given");
    if !changes || dice.chance(30) {
        return entry.to_owned();
    }
    let change = match dice.below(3) {
        0 => format!("set = \"{other}\", number = {}", 2 + dice.below(2)),
        1 => format!("append = \"{other}\", rows = \"x\""),
        _ => format!("increment = \"{other}\", number = 1"),
    };
    format!("{entry}, also = {{ {change} }}")
}

/// A handler that perhaps works on the other resource of a call too, and perhaps takes back what it did by half.
fn of_two(
    dice: &mut Dice,
    mut all: Vec<Vec<String>>,
    mut end: Vec<Vec<String>>,
) -> (Vec<Vec<String>>, Vec<Vec<String>>) {
    let in_parts = all.iter().flatten().any(|step| step == "apply-next");
    if dice.chance(85) {
        let mut half = dice.some(50, &["resolve", "authorize", "check-live", "check-version"]);
        half.extend(dice.some(12, &["check-permission", "check-open", "acquire-lease", "check-lease", "check-fence"]));
        let mut written: Vec<&str> = match dice.below(6) {
            0 => vec!["load", "save"],
            1 => vec!["load", "check-unchanged", "write-content", "advance-version"],
            2 => Vec::new(),
            _ if in_parts => vec!["apply-next"],
            _ => vec!["apply"],
        };
        half.append(&mut written);
        let half: Vec<String> = half.into_iter().map(str::to_owned).collect();
        let turned = |steps: &[String]| [&["other".to_owned()], steps].concat();
        let at = dice.below(all.len());
        match dice.below(5) {
            0 => all.insert(at, turned(&half)),
            1 => all.push(turned(&half)),
            2 if half.len() > 1 => {
                let cut = 1 + dice.below(half.len() - 1);
                all.push(turned(&half[..cut]));
                all.push(turned(&half[cut..]));
            }
            _ => {
                let place = dice.below(all[at].len() + 1);
                let steps = [turned(&half), vec!["other".to_owned()]].concat();
                all[at].splice(place..place, steps);
            }
        }
    }
    if !in_parts && dice.chance(60) {
        let undo: &[&[&str]] = match dice.below(3) {
            0 => &[&["undo"]],
            1 => &[&["other", "undo"], &["undo"]],
            _ => &[&["undo", "other", "undo"]],
        };
        let undo = undo.iter().map(|steps| steps.iter().map(|step| (*step).to_owned()).collect());
        let place = dice.below(end.len() + 1);
        end.splice(place..place, undo);
    }
    (all, end)
}
