//! Reading and writing traces, and reports in the format that was asked for.

use std::fs;
use std::path::Path;

use super::Failure;
use crate::run::Report;
use crate::trace::Trace;

/// Replays every trace of a report and writes it into a folder, which is made if it is not there. A trace that does not
/// replay is never written.
pub(super) fn write_traces(report: &mut Report, folder: &Path) -> Result<(), Failure> {
    for property in &mut report.invariants {
        for (number, found) in property.breaks.iter_mut().enumerate() {
            let Some(trace) = &found.recorded else { continue };
            let name = trace.file_name(number);
            crate::trace::replay(trace)
                .map_err(|error| Failure::Unreplayable { name: name.clone(), error: Box::new(error) })?;
            let path = folder.join(name);
            let failed = |error: std::io::Error| Failure::Usage(format!("can't write {}: {error}", path.display()));
            fs::create_dir_all(folder).map_err(failed)?;
            fs::write(&path, trace.to_json()).map_err(failed)?;
            found.trace = Some(path.display().to_string().replace('\\', "/"));
        }
        property.trace = property.breaks.first().and_then(|shortest| shortest.trace.clone());
    }
    Ok(())
}

/// Reads a trace.
pub(super) fn read_trace(path: &Path) -> Result<Trace, Failure> {
    let wrong = |error: String| Failure::Usage(format!("{}: {error}", path.display()));
    let size = fs::metadata(path).map_err(|error| wrong(error.to_string()))?.len();
    if size > LARGEST_TRACE {
        return Err(wrong(format!("a trace has at most {LARGEST_TRACE} bytes, and this file has {size}")));
    }
    let bytes = fs::read(path).map_err(|error| wrong(error.to_string()))?;
    let text = String::from_utf8(bytes).map_err(|error| wrong(format!("it is not UTF-8: {error}")))?;
    Trace::from_json(&text).map_err(|error| wrong(error.to_string()))
}

/// Bytes of a trace file that is read.
const LARGEST_TRACE: u64 = 16 << 20;
