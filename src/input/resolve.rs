//! From a path or a name to a text.

use std::fs::File;
use std::io::{ErrorKind, Read as _};
use std::path::{Path, PathBuf};

use crate::model::protocol::DEFAULT_PROTOCOL;
use crate::model::{Protocol, Scenario, limits};
use crate::suggest::{did_you_mean, nearest, one_of};

use super::deploys::{protocol, protocol_from, sources};
use super::diagnostic::InputError;
use super::protocol::read_protocol;
use super::{Input, Kind, Source, library};

/// Up to this many shipped names are listed in an error.
const LISTED: usize = 12;

/// Finds the text that `spec` means: a path, or the name of a file in `beside` (the folder of the file that names it) or
/// else of a shipped model.
///
/// A `spec` is a path if it has a separator in it, ends in `.toml`, or is the name of a file that exists. A relative path
/// starts in the current folder, or, if nothing is there, in `beside`. A name is looked for as `NAME.KIND.toml` and
/// `NAME.toml`, in `beside`, in its folder for the kind (`designs`, say) and in that folder's neighbour of the same name.
///
/// # Errors
///
/// There is no such file or name (with the nearest shipped name), or the file is a folder, can't be read, is larger than
/// [`limits::FILE_BYTES`], or is not UTF-8.
pub fn resolve(kind: Kind, spec: &str, beside: Option<&Path>) -> Result<Source, InputError> {
    let path = Path::new(spec);
    let has_separator = spec.contains(std::path::is_separator);
    if has_separator || path.extension().is_some_and(|extension| extension == "toml") || path.is_file() {
        let below = beside.map(|folder| folder.join(path)).filter(|below| !path.exists() && below.exists());
        return read_file(kind, spec, below.as_deref().unwrap_or(path));
    }
    if let Some(path) = beside.and_then(|folder| file_beside(kind, spec, folder)) {
        return read_file(kind, spec, &path);
    }
    library::find(kind, spec).ok_or_else(|| unknown(kind, spec))
}

/// The protocol of a run of this scenario: the one that the caller asks for, or the scenario, or the default.
///
/// # Errors
///
/// As [`resolve`] and [`read_protocol`]. A name that the scenario has wrong is reported with its place.
pub fn protocol_of(scenario: &Input<Scenario>, asked: Option<&str>) -> Result<Input<Protocol>, InputError> {
    match (asked, &scenario.value.protocol) {
        (Some(spec), _) => protocol(spec, None),
        (None, Some(spec)) => {
            let found = sources(Kind::Protocol, spec, scenario.source.folder.as_deref());
            let found = found.map_err(|mut error| {
                for diagnostic in &mut error.diagnostics {
                    diagnostic.place = Some(scenario.source.place_of(&["protocol"]));
                }
                error
            });
            protocol_from(&found?)
        }
        (None, None) => read_protocol(&resolve(Kind::Protocol, DEFAULT_PROTOCOL, None)?),
    }
}

fn file_beside(kind: Kind, name: &str, folder: &Path) -> Option<PathBuf> {
    // Without `..`, where the path says what is above.
    let above = match folder.file_name() {
        Some(_) => folder.parent().map_or_else(PathBuf::new, Path::to_owned),
        None => folder.join(".."),
    };
    let folders = [folder.to_owned(), folder.join(kind.folder()), above.join(kind.folder())];
    let files = [format!("{name}.{}.toml", kind.name()), format!("{name}.toml")];
    // In a folder of designs, `x.toml` is a design, and no scenario of that name.
    let of_another = |folder: &Path| {
        let name = folder.file_name().and_then(|name| name.to_str());
        Kind::ALL.iter().any(|other| *other != kind && name == Some(other.folder()))
    };
    let in_folder = |folder: &PathBuf| {
        let files = if of_another(folder) { &files[..1] } else { &files[..] };
        files.iter().map(|file| folder.join(file)).collect::<Vec<_>>()
    };
    folders.iter().flat_map(in_folder).find(|path| path.is_file())
}

fn unknown(kind: Kind, name: &str) -> InputError {
    let names = library::names(kind);
    let file = format!("{name}.toml");
    let here = Path::new(&file).is_file().then(|| format!("the file that is here is called `{file}`"));
    let other = Kind::ALL.iter().find(|other| **other != kind && library::names(**other).contains(&name));
    let other = other.map(|other| match other {
        Kind::Scenario => format!("`{name}` is a scenario"),
        other => format!("`{name}` is a {}: `--{} {name}`", other.name(), other.name()),
    });
    let help = here.or(other).or_else(|| did_you_mean(name, names.iter().copied())).unwrap_or_else(|| {
        let shipped = if names.len() > LISTED {
            format!("`handlecheck list {}` shows the {} that are shipped", kind.folder(), names.len())
        } else {
            format!("shipped: {}", one_of(names))
        };
        format!("{shipped}; or give a path to a file")
    });
    InputError::whole(format!("there is no {} `{name}`", kind.name()), Some(help))
}

/// A question that offers the file in the same folder with this ending whose name is nearest.
fn near(path: &Path, ending: &str) -> Option<String> {
    let folder = path.parent()?;
    let here = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let files = std::fs::read_dir(here).ok()?.filter_map(Result::ok);
    let mut names: Vec<String> = files.filter_map(|file| file.file_name().into_string().ok()).collect();
    names.retain(|name| Path::new(name).extension().is_some_and(|extension| extension == ending));
    names.sort();
    let nearest = nearest(path.file_name()?.to_str()?, names.iter().map(String::as_str))?;
    Some(format!("did you mean `{}`?", folder.join(nearest).display()))
}

/// Says that a file is not there, and which one with this ending might be meant.
#[must_use]
pub fn not_there(path: &Path, ending: &str) -> InputError {
    InputError::whole(format!("`{}` is not there", path.display()), near(path, ending))
}

fn read_file(kind: Kind, spec: &str, path: &Path) -> Result<Source, InputError> {
    let shown = path.display().to_string();
    let refuse = |what: &str, help: Option<String>| Err(InputError::whole(format!("`{shown}` {what}"), help));
    let failed = |error: &std::io::Error| match error.kind() {
        ErrorKind::NotFound => {
            let stem = path.file_name().and_then(|name| name.to_str()).map_or("", Kind::name_of_file);
            let shipped = library::names(kind).contains(&stem);
            let shipped = shipped.then(|| format!("the shipped {} is called `{stem}`", kind.name()));
            refuse("is not there", shipped.or_else(|| near(path, "toml")))
        }
        _ => refuse(&format!("can't be read: {error}"), None),
    };
    let too_large = || {
        let size = limits::FILE_BYTES >> 20;
        refuse("is too large", Some(format!("a {} has at most {size} MiB", kind.name())))
    };

    let metadata = match std::fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) => return failed(&error),
    };
    if metadata.is_dir() {
        return refuse("is a folder", Some(format!("expected a {} file", kind.name())));
    }
    if metadata.len() > limits::FILE_BYTES {
        return too_large();
    }
    let mut bytes = Vec::new();
    // What is no regular file, a pipe for example, has no size to check beforehand.
    if let Err(error) = File::open(path).and_then(|file| file.take(limits::FILE_BYTES + 1).read_to_end(&mut bytes)) {
        return failed(&error);
    }
    if bytes.len() as u64 > limits::FILE_BYTES {
        return too_large();
    }
    let text = match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
            let line = before.split(|byte| *byte == b'\n').count();
            return refuse(&format!("is not UTF-8 in line {line}"), None);
        }
    };
    let file = path.file_name().map_or_else(|| shown.clone(), |name| name.to_string_lossy().into_owned());
    // A path of one part has an empty parent, which is the current folder.
    let folder = path.parent().map(|folder| if folder.as_os_str().is_empty() { Path::new(".") } else { folder });
    Ok(Source {
        name: Kind::name_of_file(&file).to_owned(),
        folder: folder.map(Path::to_owned),
        asked: Some(spec.to_owned()),
        ..Source::new("", shown, text)
    })
}
