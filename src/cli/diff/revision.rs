//! The models of a folder as they were at a git revision.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use super::Failure;

/// Runs git, and says what it said when it fails.
fn git(arguments: &[&str]) -> Result<Vec<u8>, Failure> {
    let output = Command::new("git")
        .args(arguments)
        .output()
        .map_err(|error| Failure::Usage(format!("git can't be run: {error}")))?;
    let Output { status, stdout, stderr } = output;
    if status.success() {
        return Ok(stdout);
    }
    let said = String::from_utf8_lossy(&stderr);
    let said = said.lines().next().unwrap_or("it failed").trim_start_matches("fatal: ").to_owned();
    Err(Failure::Usage(format!("git {}: {said}", arguments.first().unwrap_or(&""))))
}

/// Checks that a word is a git revision, with or without a folder: `main`, `v1.2:models`.
pub(super) fn check(word: &str) -> Result<(), Failure> {
    let revision = word.split(':').next().unwrap_or(word);
    let commit = format!("{revision}^{{commit}}");
    if revision.is_empty() || git(&["rev-parse", "--verify", "--quiet", "--end-of-options", &commit]).is_err() {
        return Err(Failure::Usage(format!(
            "{word} is no file, no folder, no design or protocol, and no git revision that is here; a shallow clone has \
             the latest revision only (`fetch-depth: 0`, `GIT_DEPTH: 0`, `git fetch --unshallow`)"
        )));
    }
    Ok(())
}

/// Copies the TOML files of a folder as they were at a revision. A folder that was not there yet had no models.
pub(super) fn copy(revision: &str, folder: &Path) -> Result<tempfile::TempDir, Failure> {
    let failed = |error: std::io::Error| Failure::Usage(format!("can't copy {revision}: {error}"));
    let copy = tempfile::tempdir().map_err(failed)?;
    let shown = folder.display().to_string();
    let listed = git(&["ls-tree", "-r", "-z", "--name-only", revision, "--", &shown])?;
    for name in listed.split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
        let name = std::str::from_utf8(name).map_err(|_| Failure::Usage("a file's name is not UTF-8".to_owned()))?;
        let path = Path::new(name);
        if path.extension().is_none_or(|extension| extension != "toml") {
            continue;
        }
        let inside = if folder == Path::new(".") { path } else { path.strip_prefix(folder).unwrap_or(path) };
        let target = copy.path().join(inside);
        fs::create_dir_all(target.parent().expect("a file is in a folder")).map_err(failed)?;
        fs::write(target, git(&["show", &format!("{revision}:./{name}")])?).map_err(failed)?;
    }
    Ok(copy)
}
