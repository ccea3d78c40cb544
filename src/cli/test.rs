//! `test`: every scenario and design against what they expect.

use std::fs;
use std::path::{Path, PathBuf};

use super::exploring::{Explorer, Exploring};
use super::reporting::Reporting;
use super::{Failure, Terminal, writing};
use crate::input::{self, Input, Kind, Source, library};
use crate::model::{Design, Scenario};
use crate::reports::Asked;
use crate::run::{Run, invariant_names};

#[derive(clap::Args)]
#[command(
    after_help = "Without a path, tests the shipped models. A folder is searched with the folders in it; each run \
that a scenario or a design in it expects something of is made."
)]
pub(super) struct Arguments {
    /// Files or folders of scenarios and designs
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    exploring: Exploring,
    #[command(flatten)]
    reporting: Reporting,
    /// Write traces, to this folder
    #[arg(long, value_name = "FOLDER")]
    traces: Option<PathBuf>,
}

/// A scenario or a design that expects something.
enum Expecting {
    Scenario(Box<Input<Scenario>>),
    Design(Box<Input<Design>>),
}

pub(super) fn run(arguments: &Arguments, terminal: Terminal, out: &mut String) -> Result<u8, Failure> {
    let mut explorer = arguments.exploring.start(terminal)?;
    let runs = runs(&arguments.paths, &explorer)?;
    if runs.is_empty() {
        return Err(Failure::Usage("nothing in these files expects anything".to_owned()));
    }
    explorer.warn(&runs);
    let mut reports = arguments.reporting.begin(Asked::Expectations, &runs, terminal);
    let mut standings = Vec::new();
    for run in &runs {
        let mut report = explorer.explore(run)?;
        if let Some(folder) = &arguments.traces {
            writing::write_traces(&mut report, folder)?;
        }
        standings.extend(report.invariants.iter().map(|property| Asked::Expectations.standing(&report, property)));
        reports.explored(run, &report, out);
    }
    explorer.finish();
    reports.finish(out)?;
    Ok(explorer.exit_code(standings))
}

/// Every run that something expects, each once, in the order of the files.
fn runs(paths: &[PathBuf], explorer: &Explorer) -> Result<Vec<Run>, Failure> {
    let mut runs: Vec<Run> = Vec::new();
    let mut seen: Vec<(String, String)> = Vec::new();
    for expecting in expecting(paths)? {
        let pairs: Vec<(Input<Scenario>, Input<Design>)> = match expecting {
            Expecting::Scenario(scenario) => {
                let beside = scenario.source.folder.as_deref();
                let designs = scenario.value.expect.keys().map(|design| {
                    let design = input::read_design(&input::resolve(Kind::Design, design, beside)?)?;
                    Ok(((*scenario).clone(), design))
                });
                designs.collect::<Result<_, Failure>>()?
            }
            Expecting::Design(design) => {
                let beside = design.source.folder.as_deref();
                let scenarios = design.value.expect.keys().map(|scenario| {
                    let source = input::resolve(Kind::Scenario, scenario, beside)?;
                    Ok((input::read_scenario(&source, &invariant_names())?, (*design).clone()))
                });
                scenarios.collect::<Result<_, Failure>>()?
            }
        };
        for (scenario, design) in pairs {
            let pair = (scenario.source.origin.clone(), design.source.origin.clone());
            if !seen.contains(&pair) {
                seen.push(pair);
                runs.push(explorer.compose(&scenario, &design)?);
            }
        }
    }
    Ok(runs)
}

fn expecting(paths: &[PathBuf]) -> Result<Vec<Expecting>, Failure> {
    let mut sources: Vec<(Kind, Source)> = Vec::new();
    if paths.is_empty() {
        for kind in [Kind::Scenario, Kind::Design] {
            sources
                .extend(library::names(kind).into_iter().filter_map(|name| Some((kind, library::find(kind, name)?))));
        }
    }
    for path in paths {
        for file in toml_files(path)? {
            let text = file.display().to_string();
            let kind = kind_of(&file);
            if kind != Kind::Protocol {
                sources.push((kind, input::resolve(kind, &text, None)?));
            }
        }
    }
    let mut expecting = Vec::new();
    for (kind, source) in sources {
        if kind == Kind::Scenario {
            expecting.push(Expecting::Scenario(Box::new(input::read_scenario(&source, &invariant_names())?)));
        } else {
            expecting.push(Expecting::Design(Box::new(input::read_design(&source)?)));
        }
    }
    Ok(expecting)
}

/// What kind of input a file is: by the second-last part of its name, by its folder, or else by its content.
fn kind_of(file: &Path) -> Kind {
    let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let folder = file.parent().and_then(Path::file_name).and_then(|name| name.to_str()).unwrap_or_default();
    let named = |kind: &&Kind| name.ends_with(&format!(".{}.toml", kind.name())) || folder == kind.folder();
    if let Some(kind) = Kind::ALL.iter().find(named) {
        return *kind;
    }
    let text = fs::read_to_string(file).unwrap_or_default();
    let has = |table: &str| text.lines().any(|line| line.trim_start().starts_with(table));
    if has("[agents") {
        Kind::Scenario
    } else if has("resumable") {
        Kind::Protocol
    } else {
        Kind::Design
    }
}

/// The TOML files at a path: itself, or those in the folder and its folders, in alphabetical order.
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
        if entry.is_dir() {
            files.extend(toml_files(&entry)?);
        } else if entry.extension().is_some_and(|extension| extension == "toml") {
            files.push(entry);
        }
    }
    Ok(files)
}
