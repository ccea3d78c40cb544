//! No text makes reading panic, whatever it is: bytes at random, and shipped files with parts cut out, doubled, swapped
//! or replaced by words of the language.

use handlecheck::input::{
    Input, Kind, Look, Source, compose, library, protocol_of, read_design, read_protocol, read_scenario, resolve,
};
use proptest::prelude::*;

use crate::{INVARIANTS, SCENARIO};

/// A scenario with most of the language in it.
const RICH: &str = r#"title = "Rich"
about = """
More than
one line."""
nodes = 2
protocol = "closed-streams-continue"

[resources.flights]
handle = "flt_1"
owner = { subject = "user-42", client = "app-1", tenant = "acme" }
shared-with = ["user-7"]
expires = true
fields = { seats = 0, rows = [["a"], 1], unit-price = 3 }

[agents.A]
principal = { subject = "user-42", client = "app-1", tenant = "acme" }
work = [
    { mint = "draft", title = "none", body = [] },
    { set = "flights", seats = 1, given = ["draft"] },
    { append = "draft", body = "x" },
    { increment = "flights", seats = -1 },
    { hand-off = "draft", to = ["B"], carries = ["version", "content"] },
]

[agents.A.client.execute.on]
stale-view = { send = "replan", if = "disjoint", else = { send = "same", key = "new" } }

[agents.B]
parent = "A"
work = [{ approve = "draft" }, { execute = "draft" }, { close = "draft" }, { delete = "draft" }]

[faults]
drop-stream = 1

[finally]
sold = 'flights.seats == 1 && told.A.all(t, t == "ok") && flights.unit_price < 4'

[sometimes]
both = "size(flights.rows) > 1 ? \"x\" in draft.body : draft.title != 'none'"

[expect]
naive = { no-lost-update = "violated", sold = { steps = 3, faults = 1 } }
"#;

const WORDS: &[&str] = &[
    "",
    "[",
    "]",
    "{",
    "}",
    "\"",
    "'",
    "\"\"\"",
    "=",
    ",",
    "\n",
    "#",
    "-1",
    "99999999999999999999",
    "1.5",
    "true",
    "[]",
    "{}",
    "basket",
    "A",
    "told",
    "mint",
    "read",
    "set",
    "resolve",
    "load",
    "save",
    "given",
    "intent",
    "parent",
    "version",
    "é",
    "\u{feff}",
    "\u{0}",
    "\r\n",
    "\t",
    "\\",
    "\\u0041",
    "replan",
    "else",
    "&&",
    "(",
    ")",
    "in",
    "1979-05-27",
    "= [[[[",
    "a.b.c",
];

/// Reads a text as every kind, composes what can be read, and draws what can't.
fn read_as_everything(text: &str) {
    let source = Source::new("hostile", "hostile.toml", text);
    let mut shown = Vec::new();
    let scenario = read_scenario(&source, INVARIANTS).map_err(|error| shown.push(error));
    let design = read_design(&source).map_err(|error| shown.push(error));
    let _ = read_protocol(&source).map_err(|error| shown.push(error));
    let known = |kind, name| resolve(kind, name, None).expect("it is shipped");
    let fallback = || read_scenario(&Source::new("good", "good.toml", SCENARIO), INVARIANTS).expect("it is readable");
    let composed = |scenario: &Input<_>, design: &Input<_>| {
        let protocol = protocol_of(scenario, None)?;
        compose(scenario, design, &protocol, INVARIANTS).map(|_| ())
    };
    if let Ok(scenario) = &scenario {
        let versioned = read_design(&known(Kind::Design, "versioned")).expect("it is readable");
        shown.extend(composed(scenario, &versioned).err());
    }
    if let Ok(design) = &design {
        shown.extend(composed(&fallback(), design).err());
    }
    for error in shown {
        assert!(!error.diagnostics.is_empty());
        assert!(!error.render(Look::Plain).contains('\u{1b}'));
        assert!(!error.render(Look::Colour).is_empty());
    }
}

/// Shipped texts and the rich one.
fn texts() -> Vec<String> {
    let shipped = Kind::ALL.iter().flat_map(|&kind| {
        library::names(kind)
            .into_iter()
            .filter_map(move |name| library::find(kind, name))
            .map(|source| source.text.to_string())
    });
    shipped.chain([RICH.to_owned()]).collect()
}

/// One change of a text: from one place to another it is replaced.
fn change() -> impl Strategy<Value = (usize, usize, usize)> {
    (any::<usize>(), 0..40_usize, 0..WORDS.len())
}

fn changed(mut text: String, changes: &[(usize, usize, usize)]) -> String {
    for &(at, length, word) in changes {
        let boundary = |at: usize| (0..=at.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
        let start = boundary(at % (text.len() + 1));
        let end = boundary(start + length);
        text.replace_range(start..end, WORDS[word]);
    }
    text
}

#[test]
fn the_rich_one_is_readable() {
    read_scenario(&Source::new("rich", "rich.toml", RICH), INVARIANTS).expect("it is readable");
}

#[test]
fn deep_nesting_is_refused() {
    for (open, close) in [("[", "]"), ("{ a = ", "}")] {
        read_as_everything(&format!("nodes = {}1{}", open.repeat(100_000), close.repeat(100_000)));
    }
    read_as_everything(&format!("[{}a]", "a.".repeat(100_000)));
    read_as_everything(&format!("[finally]\nx = \"{}\"", "(".repeat(1000)));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn bytes_at_random(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        read_as_everything(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn words_at_random(words in proptest::collection::vec(0..WORDS.len(), 0..60)) {
        let text: Vec<&str> = words.into_iter().map(|word| WORDS[word]).collect();
        read_as_everything(&text.join(" "));
    }

    #[test]
    fn changed_texts(index in any::<usize>(), changes in proptest::collection::vec(change(), 1..4)) {
        let texts = texts();
        read_as_everything(&changed(texts[index % texts.len()].clone(), &changes));
    }
}
