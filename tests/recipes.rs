//! `docs/adding.md` is true: the files that it shows fit into the product, and the places that it names are there.

mod common;

use handlecheck::trace::Trace;
use handlecheck::{action, engine, input, model, run, trace, world};

use common::read;

#[path = "."]
mod handler {
    pub use handlecheck::handler::{End, Handling, Programs, Requires, Step, Writes};
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
        Judgement::Violation(Violation { kind: None, sentence, against: None })
    }
}

#[path = "."]
mod diagrams {
    pub use handlecheck::diagrams::{Draw, Format};
    #[path = "recipes/outline.rs"]
    pub mod outline;
}

#[path = "."]
mod reports {
    pub use handlecheck::reports::{Asked, AtTheEnd, Changes, Format, People, Reporter};
    #[path = "recipes/one_line.rs"]
    pub mod one_line;
}

#[test]
fn the_files_that_are_shown_are_rows() {
    assert_eq!(handler::check_unshared::STEP.outcomes, [model::Outcome::Forbidden]);
    assert_eq!(faults::forget_view::FAULT.strikes, faults::Strikes::Agents);
    assert_eq!(invariants::no_refusal::INVARIANT.sentence, "nobody is refused");
    let trace = Trace::from_json(&read("traces/laptop-basket.naive.no-lost-update.json")).expect("it is a trace");
    let outline = diagrams::outline::FORMAT.text(&trace).expect("it is a format of text");
    assert!(outline.starts_with("1 hand-off\n2 send\n"), "{outline}");

    let find = |kind, name| input::library::find(kind, name).expect("it is shipped");
    let scenario = input::read_scenario(&find(input::Kind::Scenario, "two-agents"), &run::invariant_names());
    let scenario = scenario.expect("it is readable");
    let design = input::read_design(&find(input::Kind::Design, "naive")).expect("it is readable");
    let protocol = input::protocol_of(&scenario, None).expect("it is readable");
    let runs = [run::Run::new(scenario, design, protocol, &std::collections::BTreeMap::new()).expect("they fit")];
    let report = runs[0].explore(&run::Options::default(), &mut |_| false).expect("it is explored");
    let mut reporter = (reports::one_line::FORMAT.begin)(reports::Asked::Verdicts, &runs, reports::People::default());
    assert_eq!(reporter.explored(&runs[0], &report) + &reporter.finished(), "naive: violated\n");
}

#[test]
fn each_recipe_names_its_folder_and_its_list() {
    let page = read("docs/adding.md");
    let tables = [
        ("handler", "STEPS: Step in STEP"),
        ("faults", "FAULTS: Fault in FAULT"),
        ("invariants", "INVARIANTS: Invariant in INVARIANT"),
        ("diagrams", "FORMATS: Format in FORMAT"),
        ("reports", "FORMATS: Format in FORMAT"),
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
