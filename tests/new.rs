//! `new`: both files work at once, together and alone, and nothing is ever overwritten.

mod common;

use std::fs;

use common::handlecheck;

#[test]
fn both_files_work_at_once() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    for (kind, name) in [("scenario", "mine"), ("design", "ours")] {
        let said = handlecheck(folder.path(), &["new", kind, name]);
        assert_eq!((said.code, &*said.err), (0, ""));
        assert!(said.out.starts_with(&format!("{name}.toml is written.")), "{}", said.out);
    }
    let said = handlecheck(folder.path(), &["check", "-q", "mine.toml", "--design", "ours.toml"]);
    assert_eq!((said.code, &*said.err), (0, ""), "{}", said.out);
    let said = handlecheck(folder.path(), &["check", "-q", "laptop-basket", "--design", "ours.toml"]);
    assert_eq!(said.code, 0, "{}{}", said.err, said.out);
    let said = handlecheck(folder.path(), &["check", "-q", "mine.toml", "--design", "naive"]);
    assert_eq!(said.code, 1, "{}{}", said.err, said.out);
}

/// What is commented out works too, once it is no comment.
#[test]
fn what_is_commented_out_can_be_used() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    for (kind, name) in [("scenario", "mine"), ("design", "ours")] {
        assert_eq!(handlecheck(folder.path(), &["new", kind, name]).code, 0);
        let path = folder.path().join(format!("{name}.toml"));
        let text = fs::read_to_string(&path).expect("it was written");
        let setting = |line: &&str| {
            let mut words = line.split(' ');
            words.next() == Some("#") && words.next().is_some() && words.next() == Some("=")
        };
        let header = |line: &&str| {
            let inside = line.strip_prefix("# [").and_then(|line| line.strip_suffix(']'));
            inside.is_some_and(|name| name.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '.')))
        };
        let lines = text.lines().map(|line| match Some(line).filter(|line| setting(line) || header(line)) {
            Some(line) => &line[2..],
            None => line,
        });
        fs::write(&path, lines.collect::<Vec<_>>().join("\n")).expect("it can be written");
    }
    let said = handlecheck(
        folder.path(),
        &["check", "-q", "mine.toml", "--design", "ours.toml", "--max-states", "1000", "--traces", "x"],
    );
    assert!(matches!(said.code, 0 | 1 | 3), "{}{}", said.err, said.out);
}

#[test]
fn nothing_is_overwritten() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    fs::write(folder.path().join("mine.toml"), "mine").expect("a file can be written");
    let said = handlecheck(folder.path(), &["new", "design", "mine"]);
    let expected = "error: mine.toml is there already, and is left as it is: choose another name\n";
    assert_eq!((said.code, &*said.err), (2, expected));
    assert_eq!(fs::read_to_string(folder.path().join("mine.toml")).expect("it is there"), "mine");
}

#[test]
fn a_name_is_a_plain_file_name() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    for name in ["", "a/b", "../a", ".hidden", "a b", "a\\b", "a\nb"] {
        let said = handlecheck(folder.path(), &["new", "scenario", name]);
        assert_eq!(said.code, 2, "{name:?}");
        assert!(said.err.contains("can't be the name of a file"), "{}", said.err);
    }
    assert_eq!(handlecheck(folder.path(), &["new", "protocol", "x"]).code, 2);
    assert_eq!(fs::read_dir(folder.path()).expect("it is there").count(), 0);
}
