//! `docs/adding.md` is true: the files that it shows fit into the product, and the places that it names are there.

mod common;

use handlecheck::trace::Trace;
use handlecheck::{action, engine, model, trace, world};

use common::read;

#[path = "."]
mod handler {
    pub use handlecheck::handler::{End, Handling, Requires, Step, Writes};
    #[path = "recipes/check_unshared.rs"]
    pub mod check_unshared;
}

#[path = "."]
mod faults {
    pub use handlecheck::faults::{Fault, Strike, Strikes};
    #[path = "recipes/forget_view.rs"]
    pub mod forget_view;

    /// As in the product, where each fault finds it.
    const fn one_part(_: &crate::world::Setting) -> usize {
        1
    }
}

#[path = "."]
mod invariants {
    use handlecheck::invariants::Violation;
    pub use handlecheck::invariants::{Invariant, Judgement};
    #[path = "recipes/no_refusal.rs"]
    pub mod no_refusal;

    /// As in the product, where each invariant finds it.
    const fn violation(sentence: String) -> Judgement {
        Judgement::Violation(Violation { kind: None, sentence })
    }
}

#[path = "."]
mod diagrams {
    pub use handlecheck::diagrams::Format;
    #[path = "recipes/outline.rs"]
    pub mod outline;
}

#[test]
fn the_files_that_are_shown_are_rows() {
    assert_eq!(handler::check_unshared::STEP.outcomes, [model::Outcome::Forbidden]);
    assert_eq!(faults::forget_view::FAULT.strikes, faults::Strikes::Agents);
    assert_eq!(invariants::no_refusal::INVARIANT.sentence, "nobody is refused");
    let trace = Trace::from_json(&read("traces/laptop-basket.naive.no-lost-update.json")).expect("it is a trace");
    let outline = (diagrams::outline::FORMAT.draw)(&trace);
    assert!(outline.starts_with("1 hand-off\n2 send\n"), "{outline}");
}

#[test]
fn each_recipe_names_its_folder_and_its_list() {
    let page = read("docs/adding.md");
    let tables = [
        ("handler", "STEPS: Step in STEP"),
        ("faults", "FAULTS: Fault in FAULT"),
        ("invariants", "INVARIANTS: Invariant in INVARIANT"),
        ("diagrams", "FORMATS: Format in FORMAT"),
    ];
    for (folder, list) in tables {
        let table = list.split(':').next().expect("a list has a name");
        let row = list.rsplit(' ').next().expect("a row has a name");
        assert!(read(&format!("src/{folder}/mod.rs")).contains(list), "{folder}");
        for named in [format!("src/{folder}/NAME.rs"), format!("`{table}` in `src/{folder}/mod.rs`"), row.to_owned()] {
            assert!(page.contains(&named), "docs/adding.md says `{named}`");
        }
    }
    for folder in ["designs", "scenarios", "protocols"] {
        assert!(page.contains(&format!("models/{folder}/NAME.toml")), "{folder}");
    }
}
