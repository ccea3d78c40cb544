//! The models of a folder: which files are scenarios, designs and protocols, and which of them are run together.

use std::fs;
use std::path::{Path, PathBuf};

use super::Failure;
use crate::input::{self, Input, Kind, Source, library};
use crate::model::{Design, Protocol, Scenario};
use crate::run::invariant_names;
use crate::suggest::{did_you_mean, nearest};

/// Scenarios, designs and protocols, each in the order of their files.
#[derive(Default)]
pub(super) struct Models {
    pub(super) scenarios: Vec<Input<Scenario>>,
    pub(super) designs: Vec<Input<Design>>,
    pub(super) protocols: Vec<Input<Protocol>>,
    /// Files that are none of these, by what they hold.
    pub(super) others: Vec<PathBuf>,
    /// A folder that stands for something else (a copy of a git revision), and what it is called.
    stands_for: Option<(PathBuf, String)>,
}

/// A scenario under a design.
pub(super) type Pair = (Input<Scenario>, Input<Design>);

impl Models {
    /// The shipped ones.
    pub(super) fn shipped() -> Result<Self, Failure> {
        let mut models = Self::default();
        for &kind in Kind::ALL {
            for name in library::names(kind) {
                models.add(kind, &library::find(kind, name).expect("a listed name is there"))?;
            }
        }
        Ok(models)
    }

    /// Those in files, and in folders with the folders in them.
    pub(super) fn read(paths: &[PathBuf]) -> Result<Self, Failure> {
        let mut models = Self::default();
        for path in paths {
            models.add_path(path)?;
        }
        Ok(models)
    }

    /// Those in a folder that is a copy of something else, which is called so.
    pub(super) fn copied(folder: &Path, called: &str) -> Result<Self, Failure> {
        let stands_for = Some((folder.to_owned(), called.to_owned()));
        let mut models = Self { stands_for, ..Self::default() };
        models.add_path(folder)?;
        Ok(models)
    }

    fn add_path(&mut self, path: &Path) -> Result<(), Failure> {
        if !path.exists() {
            return self.add_shipped(path);
        }
        for file in toml_files(path)? {
            // A file that was named is an input; what just lies in a folder may be anything.
            let kind = kind_of(&file).or_else(|| (file == *path).then_some(Kind::Design));
            match kind {
                Some(kind) => {
                    let source = self.resolve(kind, &file.display().to_string(), None)?;
                    self.add(kind, &source)?;
                }
                None => self.others.push(file),
            }
        }
        Ok(())
    }

    /// A shipped scenario or design, by its name.
    fn add_shipped(&mut self, path: &Path) -> Result<(), Failure> {
        let name = path.display().to_string();
        let kinds = [Kind::Scenario, Kind::Design];
        if let Some(source) = kinds.iter().find_map(|kind| Some((*kind, library::find(*kind, &name)?))) {
            return self.add(source.0, &source.1);
        }
        let mut error = input::not_there(path, "toml");
        if path.extension().is_some() || path.components().count() > 1 {
            return Err(Failure::Input(error));
        }
        for diagnostic in &mut error.diagnostics {
            diagnostic.message =
                format!("there is no file and no folder `{name}`, nor a shipped scenario or design of that name");
            let shipped = || did_you_mean(&name, kinds.iter().flat_map(|kind| library::names(*kind)));
            diagnostic.help = diagnostic.help.take().or_else(shipped);
        }
        Err(Failure::Input(error))
    }

    fn add(&mut self, kind: Kind, source: &Source) -> Result<(), Failure> {
        match kind {
            Kind::Scenario => self.scenarios.push(input::read_scenario(source, &invariant_names())?),
            Kind::Design => self.designs.push(input::read_design(source)?),
            Kind::Protocol => self.protocols.push(input::read_protocol(source)?),
        }
        Ok(())
    }

    fn resolve(&self, kind: Kind, spec: &str, beside: Option<&Path>) -> Result<Source, Failure> {
        let mut source = input::resolve(kind, spec, beside)?;
        if let Some((folder, called)) = &self.stands_for
            && let Ok(inside) = Path::new(&source.origin).strip_prefix(folder)
        {
            source.origin = format!("{called}/{}", inside.display());
            source.asked = Some(source.origin.clone());
        }
        Ok(source)
    }

    /// A design by its name, or two as `OLD..NEW`.
    fn design(&self, spec: &str, beside: Option<&Path>) -> Result<Input<Design>, Failure> {
        let found = |spec: &str| Ok::<_, Failure>(input::read_design(&self.resolve(Kind::Design, spec, beside)?)?);
        match (found(spec), input::halves(spec)) {
            (Err(_), Some((old, new))) => Ok(input::deploy_design(found(old)?, found(new)?)),
            (found, _) => found,
        }
    }

    /// The protocols under which a scenario is run: the one that is asked for, or that it names, or each of these models,
    /// or else the default.
    pub(super) fn protocols_of(
        &self,
        scenario: &Input<Scenario>,
        asked: Option<&str>,
        expected: bool,
    ) -> Result<Vec<Input<Protocol>>, Failure> {
        if asked.is_some() || scenario.value.protocol.is_some() || self.protocols.is_empty() || expected {
            return Ok(vec![input::protocol_of(scenario, asked)?]);
        }
        Ok(self.protocols.clone())
    }

    /// Every pair of which something is expected, by either of the two, each once. A name that a file expects something of
    /// is looked up beside it, and among the shipped ones.
    pub(super) fn expected(&self) -> Result<Vec<Pair>, Failure> {
        let mut pairs: Vec<Pair> = Vec::new();
        for scenario in &self.scenarios {
            for key in scenario.value.expect.keys() {
                let names = self.designs.iter().map(|design| &*design.value.name);
                let design = self.design(key, scenario.source.folder.as_deref());
                let design = design.map_err(|failure| at_expectation(failure, &scenario.source, key, names))?;
                add_pair(&mut pairs, scenario.clone(), design);
            }
        }
        for design in &self.designs {
            for scenario in design.value.expect.keys() {
                let names = self.scenarios.iter().map(|scenario| &*scenario.value.name);
                let source = self.resolve(Kind::Scenario, scenario, design.source.folder.as_deref());
                let source = source.map_err(|failure| at_expectation(failure, &design.source, scenario, names))?;
                add_pair(&mut pairs, input::read_scenario(&source, &invariant_names())?, design.clone());
            }
        }
        Ok(pairs)
    }

    /// Every scenario under every design, and every other pair of which something is expected.
    pub(super) fn all(&self) -> Result<Vec<Pair>, Failure> {
        let mut pairs = Vec::new();
        for scenario in &self.scenarios {
            for design in &self.designs {
                add_pair(&mut pairs, scenario.clone(), design.clone());
            }
        }
        for (scenario, design) in self.expected()? {
            add_pair(&mut pairs, scenario, design);
        }
        Ok(pairs)
    }
}

/// What is wrong with a name in `[expect]`, at its place, and with the nearest of these names too.
pub(super) fn at_expectation<'n>(
    failure: Failure,
    source: &Source,
    key: &str,
    names: impl Iterator<Item = &'n str>,
) -> Failure {
    let Failure::Input(mut error) = failure else { return failure };
    let near = nearest(key, names);
    for diagnostic in error.diagnostics.iter_mut().filter(|diagnostic| diagnostic.place.is_none()) {
        diagnostic.place = source.find_place(&["expect", key]);
        if let Some(near) = near {
            diagnostic.help = Some(format!("did you mean `{near}`?"));
        }
    }
    Failure::Input(error)
}

fn add_pair(pairs: &mut Vec<Pair>, scenario: Input<Scenario>, design: Input<Design>) {
    let same = |pair: &Pair| {
        let deployed = |design: &Input<Design>| design.deployed.as_ref().map(|deployed| deployed.source.clone());
        let same_deployed = match (deployed(&pair.1), deployed(&design)) {
            (Some(one), Some(other)) => same_text(&one, &other),
            (one, other) => one.is_none() && other.is_none(),
        };
        same_text(&pair.0.source, &scenario.source) && same_text(&pair.1.source, &design.source) && same_deployed
    };
    if !pairs.iter().any(same) {
        pairs.push((scenario, design));
    }
}

/// Whether two inputs are one: a file may be named in more than one way.
fn same_text(one: &Source, other: &Source) -> bool {
    let file = |source: &Source| fs::canonicalize(&source.origin).ok();
    one.name == other.name && (one.origin == other.origin || file(one).is_some_and(|path| Some(path) == file(other)))
}

/// What kind of input a file is: by the second-last part of its name, by its folder, or else by its content.
pub(super) fn kind_of(file: &Path) -> Option<Kind> {
    let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let folder = file.parent().and_then(Path::file_name).and_then(|name| name.to_str()).unwrap_or_default();
    let named = |kind: &&Kind| name.ends_with(&format!(".{}.toml", kind.name())) || folder == kind.folder();
    if let Some(kind) = Kind::ALL.iter().find(named) {
        return Some(*kind);
    }
    let text = fs::read_to_string(file).unwrap_or_default();
    let has = |start: &str| text.lines().any(|line| line.trim_start().starts_with(start));
    if has("[agents") {
        Some(Kind::Scenario)
    } else if has("resumable") {
        Some(Kind::Protocol)
    } else if has("[server") || has("[client") {
        Some(Kind::Design)
    } else {
        None
    }
}

/// The TOML files at a path: itself, or those in the folder and its folders, in alphabetical order. Folders whose names
/// begin with a dot are left out.
fn toml_files(path: &Path) -> Result<Vec<PathBuf>, Failure> {
    let failed = |error: std::io::Error| Failure::Usage(format!("can't read {}: {error}", path.display()));
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let entries = fs::read_dir(path).map_err(failed)?;
    let mut entries: Vec<PathBuf> =
        entries.map(|entry| entry.map(|entry| entry.path())).collect::<Result<_, _>>().map_err(failed)?;
    entries.sort();
    let mut files = Vec::new();
    for entry in entries {
        let hidden = entry.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
        if entry.is_dir() {
            if !hidden {
                files.extend(toml_files(&entry)?);
            }
        } else if entry.extension().is_some_and(|extension| extension == "toml") {
            files.push(entry);
        }
    }
    Ok(files)
}
