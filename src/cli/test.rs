//! `test`: every scenario and design against what they expect.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use super::exploring::{Explorer, Exploring};
use super::{Failure, Terminal, exit};
use crate::input::{self, Input, Kind, Source, library};
use crate::model::{Design, Scenario};
use crate::run::{Report, Run, invariant_names};

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
}

/// A scenario or a design that expects something.
enum Expecting {
    Scenario(Box<Input<Scenario>>),
    Design(Box<Input<Design>>),
}

pub(super) fn run(arguments: &Arguments, terminal: Terminal, out: &mut String) -> Result<u8, Failure> {
    let mut explorer = arguments.exploring.start(terminal)?;
    let runs = runs(&arguments.paths, &explorer)?;
    explorer.warn(&runs);
    let (mut passed, mut failed, mut inconclusive) = (0, 0, 0);
    for run in &runs {
        let report = explorer.explore(run)?;
        let surprises: Vec<_> = report.surprises().collect();
        let name = name(&report);
        if surprises.is_empty() {
            passed += 1;
            writeln!(out, "ok    {name}").expect("writing to a string doesn't fail");
            continue;
        }
        if report.complete {
            failed += 1;
        } else {
            inconclusive += 1;
        }
        writeln!(out, "FAIL  {name}").expect("writing to a string doesn't fail");
        for property in surprises {
            let expected = property.expected.as_deref().unwrap_or("not violated");
            let front: Vec<String> = property
                .breaks
                .iter()
                .map(|found| format!("{} steps with {} faults", found.steps, found.faults))
                .collect();
            let front = if front.is_empty() { String::new() } else { format!(" in {}", front.join(" or ")) };
            writeln!(out, "      {}: expected {expected}, found {}{front}", property.name, property.verdict)
                .expect("writing to a string doesn't fail");
        }
    }
    explorer.finish();
    writeln!(out, "{passed} passed, {} failed", failed + inconclusive).expect("writing to a string doesn't fail");
    if runs.is_empty() {
        return Err(Failure::Usage("nothing in these files expects anything".to_owned()));
    }
    Ok(match (failed, inconclusive) {
        (0, 0) => exit::HOLDS,
        (0, _) => exit::INCONCLUSIVE,
        _ => exit::VIOLATED,
    })
}

fn name(report: &Report) -> String {
    format!("{} x {} x {}", report.scenario, report.design, report.protocol)
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
