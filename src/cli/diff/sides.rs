//! What is compared with what.

use std::path::{Path, PathBuf};

use super::{Arguments, Asked, Axis, Explored, Explorer, FILE, Failure, Lock, Models, Plan, folder, lock_of, locked};
use super::{revision, writing};
use crate::cli::compare::BASIC_SCENARIOS;
use crate::cli::models::{Pair, kind_of};
use crate::input::{self, Input, Kind};
use crate::model::Scenario;

/// One side.
pub(super) struct Side {
    /// What it is called.
    pub(super) called: String,
    /// The lock, where it is one.
    pub(super) lock: Option<Lock>,
    /// What is to be explored, where it is none.
    pub(super) plan: Plan,
}

/// Both sides.
pub(super) struct Sides {
    pub(super) old: Side,
    pub(super) new: Side,
    pub(super) axis: Axis,
    /// The folder whose lock the old side is, where the new one is that folder as it is today.
    pub(super) hint: Option<PathBuf>,
}

/// What a word on the command line means.
enum Spec {
    Lock(PathBuf),
    Folder(PathBuf),
    Revision(String),
    Design(String),
    Protocol(String),
}

impl Side {
    /// The lock that it is, or that of what was explored.
    pub(super) fn locked(&self, explored: &[Explored<'_>]) -> Lock {
        match &self.lock {
            Some(lock) => lock.clone(),
            None => locked(Asked::default(), explored, &self.plan.misfits),
        }
    }

    fn of_lock(path: &Path) -> Result<Self, Failure> {
        let lock = crate::lock::read(&writing::read_lock(path)?)?;
        Ok(Self { called: path.display().to_string(), lock: Some(lock), plan: Plan::default() })
    }

    fn of_models(called: String, models: &Models, asked: &Asked, explorer: &Explorer) -> Result<Self, Failure> {
        Ok(Self { called, lock: None, plan: Plan::of(models, asked, explorer)? })
    }
}

impl Sides {
    /// Makes out what the command line means.
    pub(super) fn of(arguments: &Arguments, explorer: &mut Explorer) -> Result<Self, Failure> {
        let named = |option: &str, text: &str| {
            let both = split(text).ok_or_else(|| Failure::Usage(format!("--{option} {text}: expected OLD..NEW")))?;
            match arguments.old {
                None => Ok(both),
                Some(_) => Err(Failure::Usage(format!("with --{option} OLD..NEW there is nothing else to compare"))),
            }
        };
        if let Some(new) = explorer.take_deployed()? {
            return Self::of_deploy(arguments, explorer, &new);
        }
        if let Some(design) = &arguments.design {
            let (old, new) = named("design", design)?;
            return Self::of_designs(arguments, explorer, &old, &new);
        }
        if let Some((old, new)) = explorer.protocol().and_then(split) {
            named("protocol", explorer.protocol().unwrap_or_default())?;
            return Self::of_protocols(arguments, explorer, &old, &new);
        }
        let (old, new) = match (&arguments.old, &arguments.new) {
            (Some(old), None) if !Path::new(old).exists() => match split(old) {
                Some((old, new)) => (Some(old), Some(new)),
                None => (Some(old.clone()), None),
            },
            (old, new) => (old.clone(), new.clone()),
        };
        match (old.as_deref().map(spec).transpose()?, new.as_deref().map(spec).transpose()?) {
            (Some(Spec::Design(old)), Some(Spec::Design(new))) => Self::of_designs(arguments, explorer, &old, &new),
            (Some(Spec::Protocol(old)), Some(Spec::Protocol(new))) => {
                Self::of_protocols(arguments, explorer, &old, &new)
            }
            (Some(Spec::Design(_) | Spec::Protocol(_)), None) => {
                let old = old.unwrap_or_default();
                Err(Failure::Usage(format!("compare {old} with what? `handlecheck diff {old} NEW`")))
            }
            (Some(Spec::Design(_) | Spec::Protocol(_)), _) | (_, Some(Spec::Design(_) | Spec::Protocol(_))) => {
                Err(Failure::Usage(
                    "a design is compared with a design, a protocol with a protocol, and anything else with a lock, a \
                     folder or a git revision"
                        .to_owned(),
                ))
            }
            (old, new) => Self::of_folders(arguments, explorer, old, new),
        }
    }

    fn of_folders(
        arguments: &Arguments,
        explorer: &mut Explorer,
        old: Option<Spec>,
        new: Option<Spec>,
    ) -> Result<Self, Failure> {
        if !arguments.scenarios.is_empty() {
            return Err(Failure::Usage("--scenario is for comparing two designs or two protocols".to_owned()));
        }
        let named = arguments.folder.as_deref();
        let (old, new) = match (old, new) {
            (None, _) => {
                let folder = folder(named)?;
                (Spec::Lock(lock_of(&folder)), Spec::Folder(folder))
            }
            (Some(Spec::Folder(folder)), None) => (Spec::Lock(lock_of(&folder)), Spec::Folder(folder)),
            (Some(Spec::Lock(file)), None) => {
                let beside = file.parent().filter(|folder| !folder.as_os_str().is_empty());
                let folder = folder(Some(named.or(beside).unwrap_or_else(|| Path::new("."))))?;
                (Spec::Lock(file), Spec::Folder(folder))
            }
            (Some(old), None) => (old, Spec::Folder(folder(named)?)),
            (Some(old), Some(new)) => (old, new),
        };
        let mut hint = None;
        if let (Spec::Lock(file), Spec::Folder(folder)) = (&old, &new) {
            hint = Some(folder.clone()).filter(|folder| lock_of(folder) == *file);
        }
        // Locks first: what they were asked, the other side is asked too.
        let lock = |spec: &Spec| match spec {
            Spec::Lock(path) => Side::of_lock(path).map(Some),
            _ => Ok(None),
        };
        let mut locks = (lock(&old)?, lock(&new)?);
        if !explorer.invariants().is_empty() {
            // Of a lock, too, only these count.
            for lock in [&mut locks.0, &mut locks.1].into_iter().flatten().filter_map(|side| side.lock.as_mut()) {
                for outcome in lock.runs.values_mut() {
                    outcome.found.retain(|name, _| explorer.invariants().contains(name));
                }
            }
        }
        let mut asked: Vec<Asked> = [&locks.0, &locks.1]
            .into_iter()
            .flatten()
            .filter_map(|side| Some(side.lock.as_ref()?.asked.clone()))
            .collect();
        if asked.is_empty() {
            asked.extend(asked_by_lock(&[&new, &old], named)?);
        }
        let mut expected = arguments.expected;
        for asked in &asked {
            explorer.ask(asked)?;
            expected |= asked.expected;
        }
        let asked = explorer.asked(expected);
        let side = |spec: Spec| match spec {
            Spec::Folder(folder) => {
                let called = folder.display().to_string();
                Side::of_models(called, &Models::read(&[folder])?, &asked, explorer)
            }
            Spec::Revision(revision) => {
                let (revision, folder) = match revision.split_once(':') {
                    Some((revision, folder)) => (revision, PathBuf::from(folder)),
                    None => (&*revision, folder(named)?),
                };
                let called = format!("{revision}:{}", folder.display());
                let copy = revision::copy(revision, &folder)?;
                Side::of_models(called.clone(), &Models::copied(copy.path(), &called)?, &asked, explorer)
            }
            Spec::Lock(_) | Spec::Design(_) | Spec::Protocol(_) => unreachable!("these are no models"),
        };
        let old = locks.0.map_or_else(|| side(old), Ok)?;
        let new = locks.1.map_or_else(|| side(new), Ok)?;
        if [&old, &new].iter().all(|side| side.lock.is_none() && side.plan.runs.is_empty()) {
            return Err(Failure::Usage(format!(
                "there is nothing to run, neither in {} nor in {}",
                old.called, new.called
            )));
        }
        Ok(Self { old, new, axis: Axis::Same, hint })
    }

    /// What comes of it that something is deployed: before, and while it is.
    fn of_deploy(arguments: &Arguments, explorer: &Explorer, new: &str) -> Result<Self, Failure> {
        let usage = |message: &str| Err(Failure::Usage(format!("--deploy {new}: {message}")));
        if arguments.old.is_some() {
            return usage("there is nothing else to compare; --design OLD says what it replaces, or --protocol OLD");
        }
        match (arguments.design.as_deref(), explorer.protocol()) {
            (Some(_), _) if input::resolve(Kind::Protocol, new, None).is_ok() => {
                usage("it is a protocol, and replaces one: --protocol OLD")
            }
            (Some(old), _) if split(old).is_none() => {
                Self::of_designs(arguments, explorer, old, &format!("{old}..{new}"))
            }
            (None, Some(old)) if split(old).is_none() => {
                Self::of_protocols(arguments, explorer, old, &format!("{old}..{new}"))
            }
            _ => usage("expected --design OLD, the design that it replaces, or --protocol OLD"),
        }
    }

    fn of_designs(arguments: &Arguments, explorer: &Explorer, old: &str, new: &str) -> Result<Self, Failure> {
        let side = |design: &str| {
            let mut pairs: Vec<Pair> = Vec::new();
            for scenario in scenarios(arguments, explorer)? {
                pairs.push((scenario.clone(), explorer.design(design, &scenario)?));
            }
            let called = pairs.first().map_or_else(|| design.to_owned(), |(_, design)| design.value.name.clone());
            Ok::<_, Failure>(Side { called, lock: None, plan: Plan::of_pairs(&pairs, None, explorer)? })
        };
        let (mut of_old, mut of_new) = (side(old)?, side(new)?);
        if of_old.called == of_new.called {
            (of_old.called, of_new.called) = (old.to_owned(), new.to_owned());
        }
        Self { old: of_old, new: of_new, axis: Axis::Design, hint: None }.checked()
    }

    fn of_protocols(arguments: &Arguments, explorer: &Explorer, old: &str, new: &str) -> Result<Self, Failure> {
        let models = models(arguments)?;
        let mut pairs = if arguments.expected { models.expected()? } else { models.all()? };
        if !arguments.scenarios.is_empty() {
            let named = scenarios(arguments, explorer)?;
            pairs.retain(|(scenario, _)| named.iter().any(|named| named.source.origin == scenario.source.origin));
        }
        let beside = arguments.folder.as_deref();
        let side = |protocol: &str| {
            let protocol = input::protocol(protocol, beside)?;
            let plan = Plan::of_pairs(&pairs, Some(&protocol), explorer)?;
            Ok::<_, Failure>(Side { called: protocol.value.name.clone(), lock: None, plan })
        };
        let (old, new) = (side(old)?, side(new)?);
        Self { old, new, axis: Axis::Protocol, hint: None }.checked()
    }

    fn checked(self) -> Result<Self, Failure> {
        let Self { old, new, axis, .. } = &self;
        let both = |run| {
            let subject = crate::lock::Subject::of_run(run);
            old.plan.runs.iter().any(|other| axis.is_pair(&subject, &crate::lock::Subject::of_run(other)))
        };
        if !new.plan.runs.iter().any(both) {
            let (old, new) = (&old.called, &new.called);
            return Err(Failure::Usage(format!("no scenario fits both {old} and {new}: there is nothing to compare")));
        }
        Ok(self)
    }
}

/// What was asked when the lock was made that lies in one of these folders, or in that of the models.
fn asked_by_lock(specs: &[&Spec], named: Option<&Path>) -> Result<Option<Asked>, Failure> {
    for spec in specs {
        let file = match spec {
            Spec::Folder(folder) => lock_of(folder),
            Spec::Revision(_) => lock_of(&folder(named)?),
            Spec::Lock(_) | Spec::Design(_) | Spec::Protocol(_) => continue,
        };
        if file.is_file() {
            return Ok(Some(crate::lock::read(&writing::read_lock(&file)?)?.asked));
        }
    }
    Ok(None)
}

/// The models of the folder, or the shipped ones where there is none.
fn models(arguments: &Arguments) -> Result<Models, Failure> {
    match &arguments.folder {
        Some(_) => Models::read(&[folder(arguments.folder.as_deref())?]),
        None if Path::new("models").is_dir() => Models::read(&[PathBuf::from("models")]),
        None => Models::shipped(),
    }
}

/// The scenarios that are named, or those of the folder, or the basic ones.
fn scenarios(arguments: &Arguments, explorer: &Explorer) -> Result<Vec<Input<Scenario>>, Failure> {
    let shipped = arguments.folder.is_none() && !Path::new("models").is_dir();
    let basic: Vec<String> = BASIC_SCENARIOS.iter().map(|name| (*name).to_owned()).collect();
    let named = if arguments.scenarios.is_empty() && shipped { &basic } else { &arguments.scenarios };
    if named.is_empty() {
        return Ok(models(arguments)?.scenarios);
    }
    named.iter().map(|name| explorer.scenario(name)).collect()
}

/// `OLD..NEW`.
fn split(text: &str) -> Option<(String, String)> {
    input::halves(text).map(|(old, new)| (old.to_owned(), new.to_owned()))
}

/// What a word means: a path, or else the name of a shipped design or protocol, or else a git revision.
fn spec(word: &str) -> Result<Spec, Failure> {
    let path = Path::new(word);
    if path.is_dir() {
        return Ok(Spec::Folder(path.to_owned()));
    }
    if path.is_file() {
        if path.extension().is_none_or(|extension| extension != "toml") {
            return Ok(Spec::Lock(path.to_owned()));
        }
        return match kind_of(path) {
            Some(Kind::Design) => Ok(Spec::Design(word.to_owned())),
            Some(Kind::Protocol) => Ok(Spec::Protocol(word.to_owned())),
            _ => Err(Failure::Usage(format!("{word} is neither a lock nor a design nor a protocol"))),
        };
    }
    if word.ends_with(FILE) {
        return Err(Failure::Usage(format!("{word} is not there; `handlecheck lock` writes one")));
    }
    if input::library::find(Kind::Design, word).is_some() {
        return Ok(Spec::Design(word.to_owned()));
    }
    if input::library::find(Kind::Protocol, word).is_some() {
        return Ok(Spec::Protocol(word.to_owned()));
    }
    if input::halves(word).is_some() {
        let beside = Some(Path::new("models"));
        if input::design(word, beside).is_ok() {
            return Ok(Spec::Design(word.to_owned()));
        }
        if input::protocol(word, beside).is_ok() {
            return Ok(Spec::Protocol(word.to_owned()));
        }
    }
    // A name of a design in the folder of models is found there, as everywhere.
    for (kind, named) in [(Kind::Design, Spec::Design as fn(String) -> Spec), (Kind::Protocol, Spec::Protocol)] {
        if let Ok(source) = input::resolve(kind, word, Some(Path::new("models"))) {
            return Ok(named(source.origin));
        }
    }
    revision::check(word)?;
    Ok(Spec::Revision(word.to_owned()))
}
