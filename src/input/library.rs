//! The shipped models, built into the binary and found by name.

use include_dir::{Dir, include_dir};

use super::{Kind, Source};

static MODELS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/models");

/// The names of the shipped models of a kind, in alphabetical order.
#[must_use]
pub fn names(kind: Kind) -> Vec<&'static str> {
    let mut names: Vec<&str> = files(kind).map(|(name, ..)| name).collect();
    names.sort_unstable();
    names
}

/// The shipped model of that name.
#[must_use]
pub fn find(kind: Kind, name: &str) -> Option<Source> {
    let (_, path, text) = files(kind).find(|(found, ..)| *found == name)?;
    Some(Source::new(name, format!("built-in/{path}"), text))
}

/// The folder of incidents, in which the kind of a file is the second-last part of its name.
const INCIDENTS: &str = "incidents";

/// Name, path in the library, and text.
fn files(kind: Kind) -> impl Iterator<Item = (&'static str, String, &'static str)> {
    let own = MODELS.get_dir(kind.folder()).into_iter().flat_map(Dir::files);
    let incidents = MODELS.get_dir(INCIDENTS).into_iter().flat_map(Dir::files);
    let of_kind = format!(".{}.toml", kind.name());
    let incidents = incidents.filter(move |file| file.path().to_str().is_some_and(|path| path.ends_with(&of_kind)));
    own.chain(incidents).filter_map(|file| {
        let name = file.path().file_name()?.to_str()?.strip_suffix(".toml")?;
        Some((Kind::name_of_file(name), file.path().to_str()?.to_owned(), file.contents_utf8()?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_shipped_models_and_each_is_found_by_its_name() {
        for &kind in Kind::ALL {
            assert!(!names(kind).is_empty());
            for name in names(kind) {
                let source = find(kind, name).expect("a listed name is there");
                assert_eq!(source.name, name);
                assert!(!source.text.is_empty());
            }
            assert_eq!(find(kind, "no-such-model"), None);
        }
    }
}
