//! `--cache FOLDER`: verdicts that are remembered between commands, one file each.
//!
//! A file is found by what was asked and by which program, names both in full, and has a checksum: whatever is damaged, or of
//! another program, is no answer. It appears whole under its name or not at all, so any number of commands may use one folder at
//! the same time, and each may be interrupted.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use rapidhash::v3::rapidhash_v3;

use super::Failure;
use super::writing::beginning;
use crate::run::Cache;

/// What every file begins with, before its checksum. The number is that of the format.
const MAGIC: &str = "handlecheck verdict 1 ";

/// Arguments of every command whose verdicts can be remembered.
#[derive(clap::Args)]
pub(super) struct Caching {
    /// Remember verdicts in this folder, for other commands too: what is composed alike and asked alike is explored once
    #[arg(long, value_name = "FOLDER")]
    cache: Option<PathBuf>,
}

impl Caching {
    /// Opens the folder that was asked for.
    pub(super) fn open(&self) -> Result<Option<Folder>, Failure> {
        self.cache.as_deref().map(Folder::open).transpose()
    }
}

/// A folder of verdicts.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    /// The digest of the program's own bytes: what another one found is nothing to this one.
    program: String,
    recalled: AtomicUsize,
    spoilt: AtomicUsize,
    unwritten: AtomicUsize,
}

impl Folder {
    /// Opens a folder, and makes it where it is not there.
    pub(super) fn open(path: &Path) -> Result<Self, Failure> {
        let failed = |error: std::io::Error| Failure::Usage(format!("--cache {}: {error}", path.display()));
        fs::create_dir_all(path).map_err(failed)?;
        let own = std::env::current_exe().and_then(fs::read).map_err(failed)?;
        let program = format!("{} {:016x}", env!("CARGO_PKG_VERSION"), rapidhash_v3(&own));
        let none = || AtomicUsize::new(0);
        Ok(Self { path: path.to_owned(), program, recalled: none(), spoilt: none(), unwritten: none() })
    }

    /// How many verdicts were recalled.
    pub(super) fn recalled(&self) -> usize {
        self.recalled.load(Ordering::Relaxed)
    }

    /// What a person should know of it, if anything.
    pub(super) fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        let mut note = |count: &AtomicUsize, what: &str| {
            let verdicts = match count.load(Ordering::Relaxed) {
                0 => return,
                1 => "1 verdict".to_owned(),
                more => format!("{more} verdicts"),
            };
            notes.push(format!("--cache {}: {verdicts} {what}", self.path.display()));
        };
        note(&self.spoilt, "could not be used; that was explored anew");
        note(&self.unwritten, "could not be written");
        notes
    }

    /// What a question is asked under: it names the program.
    fn head(&self, question: &str) -> String {
        format!("{}\n{question}\n", self.program)
    }

    fn file(&self, head: &str) -> PathBuf {
        self.path.join(format!("{:016x}", rapidhash_v3(head.as_bytes())))
    }

    fn write(&self, head: &str, answer: &str) -> std::io::Result<()> {
        let body = [head, answer].concat();
        let mut file = beginning().tempfile_in(&self.path)?;
        write!(file, "{MAGIC}{:016x}\n{body}", rapidhash_v3(body.as_bytes()))?;
        // It is not waited for the disk: what is torn has another checksum.
        file.persist(self.file(head)).map(drop).map_err(|error| error.error)
    }
}

/// What stands behind the checksum, if that is right.
fn body(text: &str) -> Option<&str> {
    let (sum, body) = text.strip_prefix(MAGIC)?.split_once('\n')?;
    (u64::from_str_radix(sum, 16).ok()? == rapidhash_v3(body.as_bytes())).then_some(body)
}

impl Cache for Folder {
    fn recall(&self, question: &str) -> Option<String> {
        let head = self.head(question);
        let bytes = fs::read(self.file(&head)).ok()?;
        let text = String::from_utf8(bytes).ok();
        let Some(body) = text.as_deref().and_then(body) else {
            self.spoilt.fetch_add(1, Ordering::Relaxed);
            return None;
        };
        // Another question may have the same digest.
        let answer = body.strip_prefix(&head)?.to_owned();
        self.recalled.fetch_add(1, Ordering::Relaxed);
        Some(answer)
    }

    fn keep(&self, question: &str, answer: &str) {
        if self.write(&self.head(question), answer).is_err() {
            self.unwritten.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn spoilt(&self) {
        self.recalled.fetch_sub(1, Ordering::Relaxed);
        self.spoilt.fetch_add(1, Ordering::Relaxed);
    }
}
