//! Names and files of the wrong kind, and names that nothing has.

use std::path::Path;

use super::Failure;
use super::models::kind_of;
use crate::input::{self, Diagnostic, Kind, Severity, library};
use crate::run::Run;
use crate::suggest::did_you_mean;

/// Names in the `[expect]` of a run's scenario and design that nothing has, neither beside them nor among these runs.
pub(super) fn expected_of_nothing(run: &Run, runs: &[&Run]) -> Vec<Diagnostic> {
    let (sources, model) = (run.sources(), run.model());
    let all = |kind: Kind| {
        let name = |run: &&Run| match kind {
            Kind::Scenario => run.model().scenario.name.clone(),
            _ => run.model().design.name.clone(),
        };
        runs.iter().map(name).collect::<Vec<String>>()
    };
    let mut found = Vec::new();
    for (kind, source, expect) in [
        (Kind::Design, sources.scenario, &model.scenario.expect),
        (Kind::Scenario, sources.design, &model.design.expect),
    ] {
        let (names, beside) = (all(kind), source.folder.as_deref());
        let is_there =
            |name: &str| input::resolve(kind, name, beside).is_ok() || names.iter().any(|known| known == name);
        for key in expect.keys() {
            let both = input::halves(key).is_some_and(|(old, new)| is_there(old) && is_there(new));
            if both || is_there(key) {
                continue;
            }
            let near = did_you_mean(key, names.iter().map(String::as_str).chain(library::names(kind)));
            found.push(Diagnostic {
                severity: Severity::Warning,
                message: format!("there is no {} `{key}`, so this expects nothing", kind.name()),
                label: String::new(),
                help: near,
                place: source.find_place(&["expect", key]),
            });
        }
    }
    found
}

/// Refuses a file that is of another kind than what is asked for, and says where it belongs.
pub(super) fn refuse_another_kind(asked: Kind, spec: &str) -> Result<(), Failure> {
    let by_name = Kind::ALL.iter().find(|kind| spec.ends_with(&format!(".{}.toml", kind.name())));
    let is_file = Path::new(spec).is_file();
    // A pipe can be read once only.
    let kind = by_name.copied().or_else(|| if is_file { kind_of(Path::new(spec)) } else { None });
    let Some(kind) = kind.filter(|kind| *kind != asked) else { return Ok(()) };
    let belongs = match kind {
        Kind::Scenario => "a scenario stands alone, without an option before it".to_owned(),
        other => format!("a {} goes behind `--{}`", other.name(), other.name()),
    };
    Err(Failure::Usage(format!("{spec} is a {}, and a {} goes here: {belongs}", kind.name(), asked.name())))
}
