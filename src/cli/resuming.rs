//! `--resume`: which checkpoint belongs to which run, and where one is written.

use std::fs;
use std::path::{Path, PathBuf};

use super::Failure;
use super::writing::write_file;
use crate::model::protocol::DEFAULT_PROTOCOL;
use crate::run::{Checkpoint, Report, Run};

/// The checkpoints that are named, each with its file.
pub(super) struct Checkpoints(Vec<(PathBuf, Checkpoint)>);

impl Checkpoints {
    /// Reads these files. Each must belong to one of the runs.
    pub(super) fn read(files: &[PathBuf], runs: &[Run]) -> Result<Self, Failure> {
        let mut all: Vec<(PathBuf, Checkpoint)> = Vec::new();
        for file in files {
            let wrong = |why: String| Failure::Usage(format!("--resume {}: {why}", file.display()));
            let bytes = fs::read(file).map_err(|error| wrong(error.to_string()))?;
            let checkpoint = Checkpoint::read(&bytes).map_err(wrong)?;
            let words = checkpoint.subject().join(" x ");
            if !runs.iter().any(|run| subject(run) == checkpoint.subject()) {
                return Err(wrong(format!("it belongs to {words}, which is not among what is to be checked")));
            }
            if all.iter().any(|(_, other)| other.subject() == checkpoint.subject()) {
                return Err(wrong(format!("there is another checkpoint of {words}")));
            }
            all.push((file.clone(), checkpoint));
        }
        Ok(Self(all))
    }

    /// That of a run.
    pub(super) fn of(&self, run: &Run) -> Option<(&Path, &Checkpoint)> {
        let found = self.0.iter().find(|(_, checkpoint)| checkpoint.subject() == subject(run));
        found.map(|(file, checkpoint)| (&**file, checkpoint))
    }
}

fn subject(run: &Run) -> [&str; 3] {
    let model = run.model();
    [&model.scenario.name, &model.design.name, &model.protocol.name]
}

/// Writes what it takes to go on with a run that was cut short into a folder, which is made if it is not there.
pub(super) fn write_checkpoint(report: &mut Report, folder: &Path) -> Result<(), Failure> {
    let Some(checkpoint) = &report.begun else { return Ok(()) };
    let protocol = if report.protocol == DEFAULT_PROTOCOL { String::new() } else { format!(".{}", report.protocol) };
    let path = folder.join(format!("{}.{}{protocol}.checkpoint", report.scenario, report.design));
    fs::create_dir_all(folder)
        .map_err(|error| Failure::Usage(format!("can't make the folder {}: {error}", folder.display())))?;
    write_file(&path, checkpoint.to_bytes())?;
    report.checkpoint = Some(path.display().to_string().replace('\\', "/"));
    Ok(())
}
