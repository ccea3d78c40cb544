//! How fast it is, against others on the same machine at the same time; and how far it goes. Writes `docs/benchmarks.md`.
//!
//! `cargo bench --bench comparison` measures and prints; `cargo bench --bench comparison -- write` also puts the tables and the
//! plot into the page. What is not installed is left out, and the table says so.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "it is a table that is printed")]

mod measure;
mod others;
mod plot;
mod promela;
mod scale;
mod targets;

/// Rounds of interleaved runs, of which medians are taken.
const ROUNDS: usize = 5;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let rounds = match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["measure", ..] => return measure::here(&arguments[1..]),
        ["once"] => 1,
        ["write"] | [] => ROUNDS,
        other => return eprintln!("expected nothing, `once` or `write`, not {}", other.join(" ")),
    };
    let (others, reached) = others::others(rounds);
    let (grows, picture) = scale::grows();
    let targets = targets::table(&reached);
    // What was measured by hand since the tables were made is in them now.
    let tables = [("others", &*others), ("since", ""), ("targets", &*targets), ("scale", &*grows)];
    for (_, table) in tables {
        println!("{table}");
    }
    if arguments.first().is_some_and(|argument| argument == "write") {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
        let page = root.join("docs/benchmarks.md");
        let mut text = std::fs::read_to_string(&page).expect("the page is there");
        for (name, table) in tables {
            let (start, end) = (format!("<!-- {name} -->\n"), format!("<!-- end of {name} -->"));
            let (before, rest) = text.split_once(&start).expect("the page has a place for it");
            let (_, after) = rest.split_once(&end).expect("the page has a place for it");
            text = format!("{before}{start}\n{table}\n{end}{after}");
        }
        std::fs::write(&page, text).expect("the page can be written");
        std::fs::write(root.join("docs/benchmarks.svg"), picture).expect("the picture can be written");
    }
}
