//! The entries of `fuzz/`, on shipped files with parts cut out, doubled, swapped, or replaced by bytes, numbers and words of
//! other files: nothing panics.

#[path = "../fuzz/src/entries.rs"]
mod entries;
mod random;

use std::sync::LazyLock;

use entries::BETWEEN;
use handlecheck::input::{Kind, library};
use proptest::prelude::*;

/// The texts of all shipped files of a kind.
fn shipped(kind: Kind) -> Vec<String> {
    let text = |name| library::find(kind, name).expect("it is listed").text.to_string();
    library::names(kind).into_iter().map(text).collect()
}

static SCENARIOS: LazyLock<Vec<String>> = LazyLock::new(|| shipped(Kind::Scenario));
static DESIGNS: LazyLock<Vec<String>> = LazyLock::new(|| shipped(Kind::Design));
static PROTOCOLS: LazyLock<Vec<String>> = LazyLock::new(|| shipped(Kind::Protocol));
static TRACE: LazyLock<String> = LazyLock::new(|| {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/traces/import-rows.naive.no-double-write.json");
    std::fs::read_to_string(path).expect("it is there")
});

/// Words that stand in shipped files, and values that stand in none.
static WORDS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let all = SCENARIOS.iter().chain(&*DESIGNS).chain(&*PROTOCOLS);
    let words = all.flat_map(|text| text.split(|letter: char| !letter.is_alphanumeric() && letter != '-'));
    let mut words: Vec<String> = words.filter(|word| !word.is_empty()).map(str::to_owned).collect();
    let odd = ["0", "-1", "255", "65536", "9223372036854775807", "1e9", "true", "[]", "{}", "\"\"", "é\u{202e}", "\0"];
    words.extend(odd.map(str::to_owned));
    words.sort();
    words.dedup();
    words
});

/// One change of a text. Numbers are taken modulo what there is.
#[derive(Clone, Debug)]
enum Mutation {
    CutLine(usize),
    CutTable(usize),
    DoubleLine(usize, usize),
    SwapLines(usize, usize),
    Word(usize, usize),
    Value(usize, usize),
    Byte(usize, u8),
    CutOff(usize),
}

fn mutation() -> impl Strategy<Value = Mutation> {
    let number = any::<usize>;
    prop_oneof![
        3 => number().prop_map(Mutation::CutLine),
        3 => number().prop_map(Mutation::CutTable),
        1 => (number(), number()).prop_map(|(from, to)| Mutation::DoubleLine(from, to)),
        2 => (number(), number()).prop_map(|(from, to)| Mutation::SwapLines(from, to)),
        6 => (number(), number()).prop_map(|(at, word)| Mutation::Word(at, word)),
        4 => (number(), number()).prop_map(|(at, word)| Mutation::Value(at, word)),
        2 => (number(), any::<u8>()).prop_map(|(at, byte)| Mutation::Byte(at, byte)),
        1 => number().prop_map(Mutation::CutOff),
    ]
}

/// The places of words in a text: from where, to where.
fn words_in(text: &str) -> Vec<(usize, usize)> {
    let mut places = Vec::new();
    let mut start = None;
    for (at, letter) in text.char_indices().chain([(text.len(), ' ')]) {
        let inside = letter.is_alphanumeric() || letter == '-';
        match (inside, start) {
            (true, None) => start = Some(at),
            (false, Some(from)) => {
                places.push((from, at));
                start = None;
            }
            _ => {}
        }
    }
    places
}

fn mutate(text: &str, mutation: &Mutation) -> Vec<u8> {
    let mut lines: Vec<&str> = text.lines().collect();
    let modulo = |number: &usize, count: usize| number % count.max(1);
    match mutation {
        _ if text.is_empty() => {}
        Mutation::CutLine(at) => {
            lines.remove(modulo(at, lines.len()));
        }
        Mutation::CutTable(at) => {
            let heads: Vec<usize> = (0..lines.len()).filter(|line| lines[*line].starts_with('[')).collect();
            let Some(from) = heads.get(modulo(at, heads.len())) else { return text.into() };
            let (from, end) = (*from, lines.len());
            let to = heads.iter().copied().find(|head| *head > from).unwrap_or(end);
            lines.drain(from..to);
        }
        Mutation::DoubleLine(from, to) => {
            let line = lines[modulo(from, lines.len())];
            lines.insert(modulo(to, lines.len()), line);
        }
        Mutation::SwapLines(from, to) => {
            let count = lines.len();
            lines.swap(modulo(from, count), modulo(to, count));
        }
        Mutation::Word(at, word) => {
            let places = words_in(text);
            let Some(&(from, to)) = places.get(modulo(at, places.len())) else { return text.into() };
            return format!("{}{}{}", &text[..from], WORDS[modulo(word, WORDS.len())], &text[to..]).into();
        }
        Mutation::Value(at, word) => {
            let at = modulo(at, lines.len());
            let Some((key, _)) = lines[at].split_once('=') else { return text.into() };
            let line = format!("{key}= {}", WORDS[modulo(word, WORDS.len())]);
            lines[at] = &line;
            return (lines.join("\n") + "\n").into();
        }
        Mutation::Byte(at, byte) => {
            let mut bytes = text.as_bytes().to_vec();
            let at = modulo(at, bytes.len());
            bytes[at] = *byte;
            return bytes;
        }
        Mutation::CutOff(at) => return text.as_bytes()[..modulo(at, text.len())].to_vec(),
    }
    (lines.join("\n") + "\n").into()
}

fn mutated(text: &str, mutations: &[Mutation]) -> String {
    mutations.iter().fold(text.to_owned(), |text, mutation| String::from_utf8_lossy(&mutate(&text, mutation)).into())
}

fn mutations() -> impl Strategy<Value = Vec<Mutation>> {
    prop::collection::vec(mutation(), 0..4)
}

fn pick(texts: &'static [String]) -> impl Strategy<Value = &'static String> {
    any::<prop::sample::Index>().prop_map(|index| index.get(texts))
}

fn one_of_all() -> impl Strategy<Value = &'static String> {
    prop_oneof![pick(&SCENARIOS), pick(&DESIGNS), pick(&PROTOCOLS), Just(&*TRACE)]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_bytes_make_reading_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        entries::reading(&bytes);
    }

    #[test]
    fn no_mutated_file_makes_reading_panic(text in one_of_all(), mutations in mutations()) {
        entries::reading(mutated(text, &mutations).as_bytes());
    }

    #[test]
    fn no_mutated_expression_makes_reading_panic(mutations in prop::collection::vec(mutation(), 0..6)) {
        let text = "basket.memory == 32 && told.A.exists(t, t == 'ok') || size(told.B) > 0 ? basket.version < 9 : true";
        entries::reading(mutated(text, &mutations).as_bytes());
    }

    #[test]
    fn no_mutated_model_makes_a_run_panic(
        scenario in pick(&SCENARIOS),
        design in pick(&DESIGNS),
        protocol in pick(&PROTOCOLS),
        which in 0..3_usize,
        mutations in mutations(),
    ) {
        let mut parts = [scenario.clone(), design.clone(), protocol.clone()];
        parts[which] = mutated(&parts[which], &mutations);
        entries::running(parts.join(BETWEEN).as_bytes());
    }

    #[test]
    fn both_engines_say_the_same_of_random_models(seed in any::<u64>()) {
        entries::engines(&random::texts(seed));
    }
}

/// The canary: most mutated models still compose, so that runs are reached and not only errors.
#[test]
fn mutated_models_reach_runs() {
    use handlecheck::input::{Source, read_design};
    let word = |number: usize| Mutation::Word(number * 7, number * 31);
    let mutated = (0..100).map(|number| mutated(&DESIGNS[number % DESIGNS.len()], &[word(number)]));
    let readable = mutated.filter(|text| read_design(&Source::new("x", "x.toml", &**text)).is_ok()).count();
    assert!((10..90).contains(&readable), "{readable} of 100 are readable");
}
