//! Answers: what the model says to a question today.

use std::path::Path;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use similar::TextDiff;
use toml_edit::{DocumentMut, Item};

use super::{Question, Shown};
use crate::diagrams::FORMATS;
use crate::explain::explain;
use crate::input::{self, InputError, Kind};
use crate::model::Verdict;
use crate::run::{Options, PropertyReport, Report, Run, invariant_names};
use crate::suggest::did_you_mean;
use crate::trace::{RecordError, Trace};

/// Why a question has no answer.
#[derive(Debug, thiserror::Error)]
pub enum Unanswered {
    /// An input is not there, can't be read, or does not fit the others.
    #[error("{0}")]
    Input(#[from] InputError),
    /// A bug in handlecheck.
    #[error("{0}")]
    Record(#[from] RecordError),
    /// The word of the question that is wrong, what is wrong with it, and what to do.
    #[error("{1}")]
    Word(String, String, Option<String>),
}

/// Answers questions, and explores each model once.
#[derive(Default)]
pub struct Answers {
    reports: HashMap<(String, String, String, String), Report, FxBuildHasher>,
}

impl Answers {
    /// The answer to a question of a document in this folder.
    ///
    /// # Errors
    ///
    /// When an input is missing or wrong, or nothing violates what is to be shown.
    pub fn answer(&mut self, question: &Question, folder: &Path, options: &Options) -> Result<Vec<u8>, Unanswered> {
        match &question.shown {
            Shown::Patch => patch(question, folder).map(String::into_bytes),
            Shown::Verdicts => Ok(verdicts(self.report(question, folder, options)?).into_bytes()),
            Shown::Explain(property) => {
                let report = self.report(question, folder, options)?;
                Ok(explain(shortest(report, property)?).into_bytes())
            }
            Shown::Diagram(property, format) => {
                let report = self.report(question, folder, options)?;
                let trace = shortest(report, property)?;
                let row = FORMATS.iter().find(|row| row.name == format).expect("reading checked the format");
                Ok(row.drawn(trace))
            }
        }
    }

    fn report(&mut self, question: &Question, folder: &Path, options: &Options) -> Result<&Report, Unanswered> {
        let scenario = input::resolve(Kind::Scenario, &question.scenario, Some(folder))?;
        let scenario = input::read_scenario(&scenario, &invariant_names())?;
        let beside = scenario.source.folder.clone();
        let design = input::design(&question.design, Some(folder))
            .or_else(|error| input::design(&question.design, beside.as_deref()).map_err(|_| error))?;
        let protocol = input::protocol_of(&scenario, question.protocol.as_deref())?;
        let key = (scenario.texts(), design.texts(), protocol.texts(), format!("{:?}", question.faults));
        if !self.reports.contains_key(&key) {
            let run = Run::new(scenario, design, protocol, &question.faults)?;
            self.reports.insert(key.clone(), run.explore(options, &mut |_| false)?);
        }
        Ok(&self.reports[&key])
    }
}

/// The shortest break of a property.
fn shortest<'r>(report: &'r Report, property: &str) -> Result<&'r Trace, Unanswered> {
    let names = || report.invariants.iter().map(|property| &*property.name);
    let Some(found) = report.invariants.iter().find(|found| found.name == property) else {
        let message = format!("there is no invariant or assertion `{property}`");
        return Err(Unanswered::Word(property.to_owned(), message, did_you_mean(property, names())));
    };
    let trace = found.breaks.first().and_then(|shortest| shortest.recorded.as_deref());
    trace.ok_or_else(|| {
        let message = format!("{property} is not violated any more: it {}", standing(found));
        Unanswered::Word(property.to_owned(), message, Some("there is nothing to show".to_owned()))
    })
}

fn standing(found: &PropertyReport) -> String {
    match found.verdict {
        Verdict::Violated => {
            let breaks = found.breaks.iter().map(|found| match found.faults {
                0 => format!("{} steps", found.steps),
                1 => format!("{} steps, 1 fault", found.steps),
                many => format!("{} steps, {many} faults", found.steps),
            });
            let breaks: Vec<String> = breaks.collect();
            if breaks.is_empty() { "violated".to_owned() } else { format!("violated ({})", breaks.join("; ")) }
        }
        verdict => verdict.name().to_owned(),
    }
}

fn verdicts(report: &Report) -> String {
    let told = report.invariants.iter().filter(|found| found.verdict != Verdict::Vacuous);
    let lines = told.map(|found| format!("{}: {}\n", found.name, standing(found)));
    let lines: String = lines.collect();
    if lines.is_empty() { "everything is vacuous\n".to_owned() } else { lines }
}

/// A design as it behaves, with what another one says of itself: its title, what it is about, and what it expects.
fn in_words_of(other: &str, design: &str) -> String {
    let (Ok(other), Ok(mut document)) = (other.parse::<DocumentMut>(), design.parse::<DocumentMut>()) else {
        return design.to_owned();
    };
    for words in ["title", "about"] {
        match other.get(words) {
            Some(said) => drop(document.insert(words, said.clone())),
            None => drop(document.remove(words)),
        }
    }
    document.remove("expect");
    if let Some(mut expects) = other.get("expect").cloned() {
        at_the_end(&mut expects);
        document.insert("expect", expects);
    }
    document.to_string()
}

/// Puts a table behind all others of its document, with those in it.
fn at_the_end(item: &mut Item) {
    let Some(table) = item.as_table_mut() else { return };
    table.set_position(Some(isize::MAX));
    table.iter_mut().for_each(|(_, item)| at_the_end(item));
}

fn patch(question: &Question, folder: &Path) -> Result<String, Unanswered> {
    let old = input::resolve(Kind::Design, &question.scenario, Some(folder))?;
    let new = input::resolve(Kind::Design, &question.design, Some(folder))?;
    let behaves = in_words_of(&old.text, &new.text);
    let diff = TextDiff::from_lines(&*old.text, &*behaves);
    let [old_name, new_name] = [&old, &new].map(|source| format!("{}.toml", source.name));
    Ok(diff.unified_diff().context_radius(2).header(&old_name, &new_name).to_string())
}
