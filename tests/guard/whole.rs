//! A lock file is whole at any time, and one that is not is refused.

use std::fs;
use std::thread;

use snapbox::str;

use super::{SCENARIO, broken, lock, locked, run, says, write};

/// Whoever is stopped writes nothing: a lock holds what every machine finds.
#[test]
fn a_lock_is_not_written_by_halves() {
    let folder = locked();
    let before = lock(folder.path());
    write(folder.path(), "models/designs/checked.toml", &broken());
    let said = run(folder.path(), "lock -q --timeout 0s");
    assert_eq!((said.code, &*said.out), (3, "stopped after 0 of 1 runs: models/handlecheck.lock is as it was\n"));
    assert_eq!(lock(folder.path()), before);
    let said = run(folder.path(), "diff -q --timeout 0s");
    assert_eq!(
        (said.code, said.out.contains("0 runs compared, 0 the same; stopped before 1 other")),
        (3, true),
        "{}",
        said.out
    );
}

/// Many writers at once: at any time there is a whole lock, and no rest of one is left behind.
#[test]
fn a_lock_is_whole_at_any_time() {
    let folder = locked();
    let path = folder.path();
    let good = lock(path);
    thread::scope(|scope| {
        let writers: Vec<_> = (0..4)
            .map(|_| {
                scope.spawn(|| {
                    for budget in [0, 1, 0, 1] {
                        let line = format!("lock -q --faults drop-stream={budget}");
                        assert_eq!(run(path, &line).code, 0);
                    }
                })
            })
            .collect();
        while writers.iter().any(|writer| !writer.is_finished()) {
            let now = lock(path);
            assert!(now.ends_with(&good[good.len() - 20..]), "half a lock: {now}");
        }
    });
    let left: Vec<_> = fs::read_dir(path.join("models")).expect("it is there").collect();
    assert_eq!(left.len(), 3, "scenarios, designs and the lock: {left:?}");
}

#[test]
fn a_lock_that_is_broken_is_shown_with_its_place() {
    let folder = locked();
    let merged = lock(folder.path()).replace("[designs]", "<<<<<<< HEAD\n[designs]");
    write(folder.path(), "models/handlecheck.lock", &merged);
    says(
        folder.path(),
        "diff -q",
        2,
        str![[r#"
  error: `models/handlecheck.lock` is no lock that can be read
    ,-[models/handlecheck.lock:10:9]
 10 | <<<<<<< HEAD
    :         |
    :         `-- key with no value, expected `=`
    `----

  error: `models/handlecheck.lock` is no lock that can be read
    ,-[models/handlecheck.lock:10:1]
 10 | <<<<<<< HEAD
    : ^^^|^^^
    :    `-- invalid unquoted key, expected letters, numbers, `-`, `_`
    `----
  help: `handlecheck lock` writes it anew

"#]],
    );
    // Line ends of another system are no difference.
    assert_eq!(run(folder.path(), "lock -q").code, 0);
    let crlf = lock(folder.path()).replace('\n', "\r\n");
    write(folder.path(), "models/handlecheck.lock", &crlf);
    write(folder.path(), "models/scenarios/notes.toml", &SCENARIO.replace('\n', "\r\n"));
    assert_eq!(run(folder.path(), "lock -q --check").code, 0);
}
