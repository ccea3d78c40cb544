//! What a verdict rests on: the design stays, and what it relies on changes, one thing at a time.

use super::ablate::{Ablation, About, Candidate, compare, used_places};
use super::edit::Edit;
use super::verdicts::Evaluated;
use crate::faults::FAULTS;
use crate::handler::STEPS;
use crate::input::settings::{self, Setting, Takes};
use crate::input::{InputError, Source};
use crate::model::{Event, Free, Model, Outcome, limits};
use crate::run::{Options, Run};
use crate::trace::RecordError;

/// The reactions that are tried for each event.
pub const REACTIONS: [&str; 6] = [
    "{ send = \"same\" }",
    "{ send = \"replan\" }",
    "{ send = \"read\" }",
    "{ tell = \"failure\" }",
    "{ tell = \"conflict\" }",
    "{ tell = \"unknown\" }",
];

/// Every other value of a setting that is one word, or `true` or `false`.
#[must_use]
pub fn values(setting: &Setting) -> Vec<String> {
    match &setting.takes {
        Takes::Word(choices) => choices.iter().map(|choice| format!("\"{}\"", choice.name)).collect(),
        Takes::Boolean => vec!["true".to_owned(), "false".to_owned()],
        Takes::Words(_) | Takes::Attempts | Takes::StoreError(..) => Vec::new(),
    }
}

/// Drops one assumption at a time (how clients behave, how long keys are kept, what the protocol does, how much goes wrong)
/// and says what is violated without it.
///
/// # Errors
///
/// When a trace can't be recorded, which is a bug.
pub fn ablate(
    run: &Run,
    options: &Options,
    threads: usize,
    watch: &(dyn Fn(Evaluated) -> bool + Sync),
) -> Result<Ablation, RecordError> {
    let mut variants = client(run);
    variants.extend(keys(run));
    variants.extend(protocol(run));
    variants.extend(faults(run));
    compare(run, variants, options, threads, watch)
}

/// The same run, whose clients choose anew each time what they do: `None` of these leaves all to them.
///
/// # Errors
///
/// Where a handler can't serve what they may choose.
pub fn any_client(run: &Run, free: &[Free]) -> Result<Run, InputError> {
    let in_parts = used_places(run.model()).iter().any(|place| place.step == "apply-next");
    let all = || Free::ALL.iter().copied().filter(|free| *free != Free::Payload || !in_parts);
    let free: Vec<Free> = if free.is_empty() { all().collect() } else { free.to_vec() };
    let words: Vec<String> = free.iter().map(|free| format!("\"{free}\"")).collect();
    let edit = Edit::Set { table: "client", key: "any", value: format!("[{}]", words.join(", ")) };
    let design = run.sources().design;
    let text = edit.apply(&design.text).unwrap_or_else(|| design.text.to_string());
    let name = format!("{}-any-client", design.name);
    run.with_design(&Source { name, ..renamed(design, text, &edit) }).map(Run::expecting_nothing)
}

fn renamed(source: &Source, text: String, change: &Edit) -> Source {
    let mut name = format!("{}-{}", source.name, change.slug());
    name.truncate(100);
    Source {
        name,
        origin: format!("{} with a change", source.origin),
        text: text.into(),
        folder: source.folder.clone(),
        asked: None,
    }
}

/// The client reacts otherwise to an event, or sends otherwise.
fn client(run: &Run) -> Vec<Candidate> {
    let mut edits = Vec::new();
    for event in Event::all().filter(|event| can_happen(run.model(), *event)) {
        for reaction in REACTIONS {
            let edit = Edit::Set { table: "client.on", key: event.name(), value: reaction.to_owned() };
            edits.push((edit, Some(About::Event(event))));
        }
    }
    for setting in settings::client() {
        let values = values(&setting);
        edits.extend(values.into_iter().map(|value| (Edit::Set { table: "client", key: setting.name, value }, None)));
    }
    let unchanged = run.model();
    let design = run.sources().design;
    let variant = |(edit, about): &(Edit, Option<About>)| {
        let text = edit.apply(&design.text)?;
        let variant = run.with_design(&renamed(design, text, edit));
        // What changes nothing for any agent is no assumption.
        let same = variant.as_ref().is_ok_and(|variant| variant.model().clients == unchanged.clients);
        (!same).then(|| Candidate { change: edit.words(), run: variant, about: *about })
    };
    edits.iter().filter_map(variant).collect()
}

/// Whether clients can meet an event at all: some fault breaks streams, or some step of the handlers refuses with it.
pub(super) fn can_happen(model: &Model, event: Event) -> bool {
    let Event::Refused(outcome) = event else { return true };
    let steps = used_places(model);
    let refuses = |step: &str| STEPS.iter().any(|row| row.name == step && row.outcomes.contains(&outcome));
    steps.iter().any(|place| refuses(&place.step))
        || outcome == Outcome::Unknown && model.scenario.faults.contains_key("ambiguous-commit")
}

/// Keys and claims are kept for a shorter time than clients come back.
fn keys(run: &Run) -> Vec<Candidate> {
    let mut variants = Vec::new();
    for (key, fault) in [("expire", "expire-key"), ("claims-expire", "expire-claim")] {
        let edit = Edit::Set { table: "server.keys", key, value: "true".to_owned() };
        let design = run.sources().design;
        let source = edit.apply(&design.text).map_or_else(|| design.clone(), |text| renamed(design, text, &edit));
        let budget = run.model().scenario.faults.get(fault).copied().unwrap_or(0).saturating_add(1);
        let variant = run.with_design(&source).map(|run| run.with_budgets(&[(fault, budget)].into()));
        let change = format!("{}, and {fault} = {budget}", edit.words());
        variants.push(Candidate { change, run: variant, about: Some(About::Fault(fault)) });
    }
    variants
}

/// A rule of the protocol is another.
fn protocol(run: &Run) -> Vec<Candidate> {
    let mut variants = Vec::new();
    let protocol = run.sources().protocol;
    for rule in settings::protocol() {
        for value in values(&rule) {
            let edit = Edit::Set { table: "", key: rule.name, value };
            if let Some(text) = edit.apply(&protocol.text) {
                let source = renamed(protocol, text, &edit);
                let change = edit.words().replace("[] ", "protocol: ");
                variants.push(Candidate { change, run: run.with_protocol(&source), about: None });
            }
        }
    }
    variants
}

/// One fault more of each kind.
fn faults(run: &Run) -> Vec<Candidate> {
    let more = |fault: &'static str| {
        let budget = run.model().scenario.faults.get(fault).copied().unwrap_or(0) + 1;
        (budget <= limits::BUDGET)
            .then(|| (format!("{fault} = {budget}"), run.with_budgets(&[(fault, budget)].into())))
            .map(|(change, run)| Candidate { change, run: Ok(run), about: Some(About::Fault(fault)) })
    };
    FAULTS.iter().filter_map(|fault| more(fault.name)).collect()
}
