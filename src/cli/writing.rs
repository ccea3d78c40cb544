//! Reading traces, and writing files whole or not at all.

use std::fs;
use std::io::{ErrorKind, Write as _};
use std::path::Path;

use super::models::kind_of;
use super::{Failure, Terminal};
use crate::input::{Kind, Source, library, not_there};
use crate::run::{Break, Report};
use crate::trace::Trace;

/// Replays every trace of a report and writes it into a folder, which is made if it is not there. A trace that does not
/// replay is never written.
pub(super) fn write_traces(report: &mut Report, folder: &Path) -> Result<(), Failure> {
    for property in &mut report.invariants {
        write_breaks(&mut property.breaks, folder)?;
        // A cause's break may be one that is written already.
        let mut next = property.breaks.len();
        for cause in &mut property.causes {
            let Some(trace) = &cause.shown.recorded else { continue };
            let same = property.breaks.iter().find(|found| found.recorded.as_ref() == Some(trace));
            cause.shown.trace = match same {
                Some(found) => found.trace.clone(),
                None => {
                    next += 1;
                    Some(write_trace(trace, next - 1, folder)?)
                }
            };
        }
        property.trace = property.breaks.first().and_then(|shortest| shortest.trace.clone());
    }
    for show in &mut report.shows {
        write_breaks(&mut show.runs, folder)?;
    }
    Ok(())
}

/// The same for the breaks of one property.
pub(super) fn write_breaks(breaks: &mut [Break], folder: &Path) -> Result<(), Failure> {
    for (number, found) in breaks.iter_mut().enumerate() {
        let Some(trace) = &found.recorded else { continue };
        found.trace = Some(write_trace(trace, number, folder)?);
    }
    Ok(())
}

/// Writes a file whole or not at all: whoever reads it meanwhile, and whatever interrupts this, finds the old text or the
/// new one. What is no regular file, a pipe for example, is written as it is.
pub(super) fn write_file(path: &Path, text: impl AsRef<[u8]>) -> Result<(), Failure> {
    let failed = |error: std::io::Error| Failure::Usage(format!("can't write {}: {error}", path.display()));
    // Through a link, so that it stays one.
    let path = &fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    if fs::metadata(path).is_ok_and(|there| !there.is_file()) {
        return fs::write(path, text).map_err(failed);
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."));
    if !folder.is_dir() {
        return Err(Failure::Usage(format!("can't write {}: there is no folder {}", path.display(), folder.display())));
    }
    // Of this error only the kind is told: its text names a file that nobody asked for.
    let mut file = beginning().tempfile_in(folder).map_err(|error| failed(error.kind().into()))?;
    file.write_all(text.as_ref()).and_then(|()| file.as_file().sync_all()).map_err(failed)?;
    file.persist(path).map(drop).map_err(|error| failed(error.error))
}

/// A file that is not there yet under its own name.
pub(super) fn beginning() -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".handlecheck-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        // As any other file, less what the user's mask takes away.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    builder
}

/// Replays a trace and writes it into a folder, as the break of this number, from 0. Answers where it is.
pub(super) fn write_trace(trace: &Trace, number: usize, folder: &Path) -> Result<String, Failure> {
    let name = trace.file_name(number);
    crate::trace::replay(trace)
        .map_err(|error| Failure::Unreplayable { name: name.clone(), error: Box::new(error) })?;
    let path = folder.join(name);
    fs::create_dir_all(folder)
        .map_err(|error| Failure::Usage(format!("can't make the folder {}: {error}", folder.display())))?;
    write_file(&path, trace.to_json())?;
    Ok(path.display().to_string().replace('\\', "/"))
}

/// Reads a trace.
pub(super) fn read_trace(path: &Path) -> Result<Trace, Failure> {
    let wrong = |error: String| Failure::Usage(format!("{}: {error}", path.display()));
    let size = fs::metadata(path).map_err(|error| match error.kind() {
        ErrorKind::NotFound => Failure::Input(not_there(path, "json")),
        _ => wrong(error.to_string()),
    });
    let size = size?.len();
    if size > LARGEST_TRACE {
        return Err(wrong(format!("a trace has at most {LARGEST_TRACE} bytes, and this file has {size}")));
    }
    let bytes = fs::read(path).map_err(|error| wrong(error.to_string()))?;
    let text = String::from_utf8(bytes).map_err(|error| wrong(format!("it is not UTF-8: {error}")))?;
    let name = path.display().to_string().replace('\\', "/");
    let trace = Trace::read(&text).map_err(|error| match kind_of(path).filter(|_| is_toml(path)) {
        Some(kind) => Failure::Usage(format!(
            "{name} is a {}: a trace goes here, a file that `handlecheck check` writes into the folder `traces`",
            kind.name()
        )),
        None if path.extension().is_some_and(|extension| extension == "lock") => Failure::Usage(format!(
            "{name} is a lock, which `handlecheck diff` and `handlecheck lock --check` read: a trace goes here"
        )),
        None => Failure::Input(error.shown(&name, &text)),
    })?;
    crate::trace::check(&trace, &name, &text)?;
    Ok(trace)
}

/// Says which inputs of a trace have changed since it was written, where they are still where they were.
pub(super) fn mention_changes(trace: &Trace, terminal: Terminal) {
    let inputs = [(Kind::Scenario, &trace.scenario), (Kind::Design, &trace.design), (Kind::Protocol, &trace.protocol)];
    for (kind, input) in inputs.into_iter().filter(|_| !terminal.quiet) {
        // A name that was looked up beside another file is not looked up again.
        let named = input.file.as_ref().filter(|file| Path::new(file).is_file());
        let now = match (&input.file, named) {
            (_, Some(file)) => fs::read_to_string(file).ok(),
            (Some(_), None) => None,
            (None, None) => library::find(kind, &input.name).map(|source| source.text.to_string()),
        };
        if now.is_some_and(|now| now != input.text && !input.text.is_empty()) {
            let (kind, name) = (kind.name(), named.unwrap_or(&input.name));
            let _ = writeln!(
                std::io::stderr(),
                "the {kind} {name} has changed since this trace was written, which tells of the {kind} as it was then"
            );
        }
    }
}

fn is_toml(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "toml")
}

/// Reads the text of a lock.
pub(super) fn read_lock(path: &Path) -> Result<Source, Failure> {
    let name = path.display().to_string();
    let wrong = |error: std::io::Error| {
        let help = if error.kind() == ErrorKind::NotFound { "; `handlecheck lock` writes one" } else { "" };
        Failure::Usage(format!("can't read {name}: {error}{help}"))
    };
    let size = fs::metadata(path).map_err(wrong)?.len();
    if size > LARGEST_LOCK {
        return Err(Failure::Usage(format!(
            "{name}: a lock has at most {LARGEST_LOCK} bytes, and this file has {size}"
        )));
    }
    let text = fs::read_to_string(path).map_err(wrong)?;
    // A checkout may change how lines end.
    Ok(Source::new("", name, text.replace("\r\n", "\n")))
}

/// Bytes of a lock file that is read.
const LARGEST_LOCK: u64 = 64 << 20;

/// Bytes of a trace file that is read.
const LARGEST_TRACE: u64 = 16 << 20;
