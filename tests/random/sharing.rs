//! Random models in which entries share an intent.

use super::{Dice, Texts, more, symmetric, texts};

/// A random model in which a piece of work is done twice, thrice or four times: by agents of their own, or by one again.
pub fn sharing(seed: u64) -> Texts {
    let mut texts = match seed % 4 {
        0 | 1 => texts(seed),
        2 => more::answering(seed),
        _ => more::of_two_under_conditions(seed),
    };
    let dice = &mut Dice::new(seed + 8_000_000);
    let mut works = works(&texts.scenario);
    let of = dice.below(works.len());
    let Some(at) = works[of].iter().position(|entry| changes(entry)) else { return texts };
    let copies = if dice.chance(80) { 1 } else { 2 };
    works[of][at] += ", intent = \"job\"";
    for copy in 0..copies {
        let made = format!("mint = \"copy-{copy}\"");
        let entry = works[of][at].replace("mint = \"one\"", &made).replace("mint = \"two\"", &made);
        let others: Vec<usize> = (0..works.len()).filter(|other| *other != of || dice.chance(20)).collect();
        let to = if others.is_empty() { of } else { others[dice.below(others.len())] };
        let marked = |entry: &String| entry.contains("intent") || entry.starts_with("mint");
        let place = dice.below(works[to].len() + 1);
        match works[to].get_mut(place).filter(|there| !marked(there)) {
            Some(there) if dice.chance(70) => *there = entry,
            _ => works[to].push(entry),
        }
    }
    texts.scenario = with_works(&texts.scenario, &works);
    if dice.chance(60) {
        texts.design = keyed(&texts.design);
    }
    texts
}

/// A random model whose agents, or two of them, share what they do alike.
pub fn alike(seed: u64) -> Texts {
    let mut texts = symmetric(seed);
    let dice = &mut Dice::new(seed + 9_000_000);
    let mut works = works(&texts.scenario);
    let some = if dice.chance(30) { 2 } else { works.len() };
    let first = works.len() - some;
    for at in 0..works[first].len() {
        let alike = |work: &Vec<String>| work.get(at) == works[first].get(at);
        if changes(&works[first][at]) && works[first..].iter().all(alike) {
            works[first..].iter_mut().for_each(|work| work[at] += &format!(", intent = \"job-{at}\""));
        }
    }
    texts.scenario = with_works(&texts.scenario, &works);
    if dice.chance(50) {
        texts.design = keyed(&texts.design);
    }
    texts
}

fn changes(entry: &str) -> bool {
    !entry.starts_with("read") && !entry.starts_with("hand-off")
}

/// The entries of each work list, without their braces.
fn works(scenario: &str) -> Vec<Vec<String>> {
    let works = scenario.lines().filter_map(|line| line.strip_prefix("work = [{ ")?.strip_suffix(" }]"));
    works.map(|work| work.split(" }, { ").map(str::to_owned).collect()).collect()
}

fn with_works(scenario: &str, works: &[Vec<String>]) -> String {
    let mut works = works.iter();
    let line = |line: &str| match line.strip_prefix("work = [{ ").and_then(|_| works.next()) {
        Some(work) => format!("work = [{{ {} }}]\n", work.join(" }, { ")),
        None => format!("{line}\n"),
    };
    scenario.lines().map(line).collect()
}

/// A design whose clients send a key per intent.
fn keyed(design: &str) -> String {
    let lines = design.lines().filter(|line| !line.starts_with("key = ")).map(|line| format!("{line}\n"));
    lines.collect::<String>().replacen("[client]\n", "[client]\nkey = \"per-intent\"\n", 1)
}
