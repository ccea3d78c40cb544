//! handlecheck as a library, as a crate of a user would use it.

use std::fs;
use std::panic::catch_unwind;

use handlecheck::run::Options;
use handlecheck::testing::{check, check_with};

/// What an assertion says when it fails.
fn told(assertion: impl FnOnce() + std::panic::UnwindSafe) -> String {
    let panic = catch_unwind(assertion).expect_err("it fails");
    panic.downcast_ref::<String>().expect("it says why").clone()
}

#[test]
fn a_design_that_holds_is_three_lines() {
    let checked = check("two-agents-drop", "versioned").expect("they are shipped");
    checked.assert_holds();
    checked.assert_invariant_holds("no-lost-update");
}

#[test]
fn a_design_that_does_not_is_told_as_a_story() {
    let checked = check("two-agents-drop", "naive").expect("they are shipped");
    checked.assert_violated("no-lost-update");
    let story = told(|| checked.assert_holds());
    assert!(story.starts_with("naive does not hold in two-agents-drop\n\nLost update: "), "{story}");
    for part in ["The race is between step 11 and step 14", "Double write: ", "It took one fault: drop-stream"] {
        assert!(story.contains(part), "{part} is not in:\n{story}");
    }
    let story = told(|| checked.assert_invariant_holds("no-double-write"));
    assert!(story.starts_with("no-double-write is violated, and should hold\n\nDouble write: "), "{story}");
    assert!(told(|| checked.assert_violated("no-orphan")).contains("no-orphan is vacuous"));
    assert!(told(|| checked.assert_violated("no-orphans")).contains("there is no invariant or assertion `no-orphans`"));
}

#[test]
fn a_limit_is_no_proof() {
    let options = Options { max_states: Some(100), ..Options::default() };
    let checked = check_with("two-agents-drop", "versioned", &options).expect("they are shipped");
    assert!(told(|| checked.assert_holds()).contains("is inconclusive: the limit of 100 states was reached"));
}

#[test]
fn own_files_are_found_and_mistakes_in_them_shown() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let path = folder.path().join("mine.design.toml");
    fs::write(&path, "[server]\nstate = \"stroe\"\n").expect("a file can be written");
    let error = check("two-agents", path.to_str().expect("it is UTF-8")).expect_err("it is misspelt").to_string();
    assert!(error.contains("did you mean `store`?"), "{error}");
    assert!(check("two-agentz", "naive").expect_err("it is misspelt").to_string().contains("two-agents"));
}
