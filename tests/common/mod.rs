//! What several test files need: the built command, and files that hold what is expected.

#![allow(dead_code, reason = "each test file is a crate of its own and uses a part of this")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The folder of the repository.
pub fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Whether files of expected output are to be written rather than compared: `SNAPSHOTS=overwrite`, as for the outputs
/// that stand in tests.
#[expect(clippy::disallowed_methods, reason = "whoever runs the tests says so by a variable")]
pub fn renewing() -> bool {
    std::env::var_os("SNAPSHOTS").is_some_and(|value| value == "overwrite")
}

/// Asserts that a file of the repository holds exactly this text; or writes it, when renewing.
#[track_caller]
pub fn same(path: &str, text: &str) {
    let full = root().join(path);
    if renewing() {
        if fs::read_to_string(&full).is_ok_and(|old| old == text) {
            return;
        }
        fs::create_dir_all(full.parent().expect("a file is in a folder")).expect("a folder can be made");
        fs::write(&full, text).expect("a file can be written");
        return;
    }
    let expected = fs::read_to_string(&full).unwrap_or_else(|error| panic!("{path}: {error}; {RENEW}"));
    if let Some(difference) = difference(&expected, text) {
        panic!("{path} is not what it would be today:\n{difference}\n{RENEW}");
    }
}

/// How to renew a file of expected output.
pub const RENEW: &str = "read the difference; if it is right, `SNAPSHOTS=overwrite cargo test` writes it down";

/// The first line in which two texts differ; `None`: they are equal.
pub fn difference(expected: &str, actual: &str) -> Option<String> {
    if expected == actual {
        return None;
    }
    let (mut old, mut new) = (expected.lines(), actual.lines());
    let mut number = 0;
    loop {
        number += 1;
        match (old.next(), new.next()) {
            (None, None) => return Some("the last line ends differently".to_owned()),
            (old, new) if old != new => {
                let shown = |line: Option<&str>| line.map_or_else(|| "the end".to_owned(), |line| format!("{line:?}"));
                return Some(format!("line {number}\n  expected {}\n  found    {}", shown(old), shown(new)));
            }
            _ => {}
        }
    }
}

/// What a command said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    /// On standard output.
    pub out: String,
    /// On standard error.
    pub err: String,
    /// Its exit code.
    pub code: i32,
}

/// Runs `handlecheck` in a folder.
pub fn handlecheck(folder: &Path, arguments: &[&str]) -> Said {
    let mut command = Command::new(env!("CARGO_BIN_EXE_handlecheck"));
    let output = command.args(arguments).current_dir(folder).output().expect("the built command runs");
    Said {
        out: String::from_utf8(output.stdout).expect("output is UTF-8"),
        err: String::from_utf8(output.stderr).expect("errors are UTF-8"),
        code: output.status.code().expect("it was not killed"),
    }
}

/// The files in a folder of the repository and the folders in it whose names end so: paths from its root, sorted.
pub fn files(folder: &str, ending: &str) -> Vec<String> {
    let mut found = Vec::new();
    collect(&root(), Path::new(folder), ending, &mut found);
    found.sort();
    found
}

fn collect(root: &Path, folder: &Path, ending: &str, found: &mut Vec<String>) {
    let Ok(entries) = fs::read_dir(root.join(folder)) else { return };
    for entry in entries {
        let entry = entry.expect("a folder can be read");
        let path = folder.join(entry.file_name());
        if entry.path().is_dir() {
            collect(root, &path, ending, found);
        } else if path.to_string_lossy().ends_with(ending) {
            found.push(path.to_string_lossy().replace('\\', "/"));
        }
    }
}

/// Reads a file of the repository.
pub fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Asserts that a part of a page, between `<!-- NAME -->` and `<!-- end of NAME -->`, holds exactly this; or writes it.
#[track_caller]
pub fn region(path: &str, name: &str, text: &str) {
    let page = read(path);
    let (start, end) = (format!("<!-- {name} -->\n"), format!("<!-- end of {name} -->"));
    let (before, rest) = page.split_once(&start).unwrap_or_else(|| panic!("{path} has a line {start}"));
    let (_, after) = rest.split_once(&end).unwrap_or_else(|| panic!("{path} has a line {end}"));
    same(path, &format!("{before}{start}\n{text}\n{end}{after}"));
}
