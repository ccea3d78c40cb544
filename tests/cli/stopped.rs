//! What stops a command before it is done, a limit or somebody, and what it still says then.

use crate::common::handlecheck;
use crate::{folder, words, write};

#[test]
fn a_repair_that_is_cut_short_at_once_does_not_know_what_is_violated() {
    let said = handlecheck(folder().path(), &words("repair -q laptop-basket --design naive --timeout 0s"));
    assert_eq!(said.code, 3);
    assert!(said.out.contains("what is violated is not known: the search was cut short"), "{}", said.out);
}

/// What was said and expected of the broken design is not true of the one that is written.
#[test]
fn a_repaired_design_says_nothing_of_the_broken_one() {
    let folder = folder();
    let text = include_str!("../../models/designs/check-then-write.toml");
    assert!(text.contains("about = ") && text.contains("[expect."));
    write(folder.path(), "mine.toml", text);
    let said = handlecheck(folder.path(), &words("repair -q two-agents-no-faults --design mine.toml -o new.toml"));
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    let new = std::fs::read_to_string(folder.path().join("new.toml")).expect("it is written");
    assert!(new.contains(", repaired\"\n") && !new.contains("about") && !new.contains("expect"), "{new}");
    let again = handlecheck(folder.path(), &words("check -q two-agents-no-faults --design new.toml"));
    assert_eq!(again.code, 0, "{}{}", again.out, again.err);
}
