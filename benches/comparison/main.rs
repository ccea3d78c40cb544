//! How fast it is, against others on the same machine at the same time; and how far it goes. Writes `docs/benchmarks.md`.
//!
//! `cargo bench --bench comparison` measures and prints; `cargo bench --bench comparison -- write` also puts the tables and the
//! plot into the page. What is not installed is left out, and the table says so.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "it is a table that is printed")]

mod checkers;
mod measure;
mod others;
mod plot;
mod promela;
mod scale;
mod targets;

/// Rounds of interleaved runs, of which medians are taken.
const ROUNDS: usize = 5;

/// The page, and the parts of it that are made anew.
const PAGE: &str = "docs/benchmarks.md";
const PARTS: [&str; 3] = ["others", "targets", "scale"];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let (rounds, writes) = match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["measure", ..] => return measure::here(&arguments[1..]),
        ["once"] => (1, false),
        [] => (ROUNDS, false),
        ["write"] => (ROUNDS, true),
        other => return eprintln!("expected nothing, `once` or `write`, not {}", other.join(" ")),
    };
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = std::fs::read_to_string(root.join(PAGE)).expect("the page is there");
    // Whatever is wrong with the page is noticed before anything is measured.
    let same = renewed(&page, [""; 3]);
    assert!(same.len() < page.len(), "it has places for everything");
    let (others, reached) = others::others(rounds);
    let targets = targets::table(&reached);
    println!("{targets}");
    let (grows, picture) = scale::grows();
    println!("{grows}");
    if writes {
        std::fs::write(root.join(PAGE), renewed(&page, [&others, &targets, &grows])).expect("it can be written");
        std::fs::write(root.join("docs/benchmarks.svg"), picture).expect("the picture can be written");
    }
}

/// The page with new parts.
fn renewed(page: &str, parts: [&str; 3]) -> String {
    PARTS.iter().zip(parts).fold(page.to_owned(), |text, (name, part)| {
        let (start, end) = (format!("<!-- {name} -->\n"), format!("<!-- end of {name} -->"));
        let (before, rest) = text.split_once(&start).expect("the page has a place for it");
        let (_, after) = rest.split_once(&end).expect("the page has a place for it");
        format!("{before}{start}\n{part}\n{end}{after}")
    })
}
