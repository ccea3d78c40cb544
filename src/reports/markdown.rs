//! Markdown, for a pull request, an issue or a page.
//!
//! A table of verdicts, then what happens in each break, with the trace drawn as a Mermaid diagram that folds. For
//! `diff`, a table for each kind of change, the worst first, and the new counterexamples.

use super::changes::{name, summary};
use super::{Asked, AtTheEnd, Changes, Format, People, Reporter, Standing, coverage, matrix, words};
use crate::diagrams;
use crate::lock::Kind;
use crate::model::Verdict;
use crate::run::{PropertyReport, Report, Run};
use crate::trace::Trace;

pub static FORMAT: Format = Format { begin, changes };

fn begin<'r>(asked: Asked, _: &'r [Run], _: People) -> Box<dyn Reporter<'r> + 'r> {
    match asked {
        Asked::Verdicts => AtTheEnd::begin(asked, verdicts),
        Asked::Expectations => AtTheEnd::begin(asked, expectations),
        Asked::Comparison => AtTheEnd::begin(asked, comparison),
    }
}

/// The matrix, and what never happened in any of its runs.
fn comparison(_: Asked, runs: &[(&Run, Report)]) -> String {
    let reports: Vec<Report> = runs.iter().map(|(_, report)| coverage::kept(report)).collect();
    let across = coverage::across(&reports, 1);
    let fenced = if across.is_empty() { across } else { format!("\n```text\n{across}```\n") };
    format!("{}{fenced}", matrix::matrix(runs, false))
}

fn verdicts(_: Asked, runs: &[(&Run, Report)]) -> String {
    let mut text = "# What holds, and what breaks\n".to_owned();
    for (_, report) in runs {
        let head =
            if report.shows.is_empty() { "invariant | verdict | cheapest break" } else { "situation | | shortest run" };
        text.push_str(&format!("\n## {}\n\n| {head} |\n| --- | --- | --- |\n", words::name(report)));
        for property in &report.invariants {
            let verdict = match property.verdict {
                Verdict::Violated => "**violated**",
                other => other.name(),
            };
            text.push_str(&format!("| `{}` | {verdict} | {} |\n", property.name, words::cheapest(property)));
        }
        for show in &report.shows {
            let cheapest = show.runs.first().map_or_else(String::new, words::cost);
            text.push_str(&format!("| `{}` | {} | {cheapest} |\n", show.situation, show.words(report)));
        }
        for property in report.invariants.iter().filter(|property| property.verdict == Verdict::Violated) {
            text.push_str(&format!("\n**`{}`**: {}.\n", property.name, escaped(&words::sentence(property))));
            push_drawing(&mut text, property);
        }
        text.push_str(&format!(
            "\nExplored: {}.\n",
            words::extent_in_full(report).trim_start_matches("explored all: ")
        ));
    }
    text
}

fn expectations(asked: Asked, runs: &[(&Run, Report)]) -> String {
    let failed = |report: &Report, property: &PropertyReport| {
        matches!(asked.standing(report, property), Standing::Failed | Standing::Inconclusive)
    };
    let unexpected: Vec<_> = runs
        .iter()
        .flat_map(|(_, report)| report.invariants.iter().map(move |property| (report, property)))
        .filter(|(report, property)| failed(report, property))
        .collect();
    let mut text = format!("# {}, {} not as expected\n", words::count(runs.len(), "run"), count_runs(&unexpected));
    if !unexpected.is_empty() {
        text.push_str("\n| run | invariant | |\n| --- | --- | --- |\n");
    }
    for (report, property) in &unexpected {
        text.push_str(&format!("| {} | `{}` | {} |\n", words::name(report), property.name, words::surprise(property)));
    }
    for said in words::unchecked_of(runs.iter().map(|(_, report)| report)) {
        text.push_str(&format!("\n{}{}.\n", said[..1].to_uppercase(), &said[1..]));
    }
    for (report, property) in &unexpected {
        if property.verdict == Verdict::Violated {
            let sentence = escaped(&words::sentence(property));
            text.push_str(&format!("\n**{}, `{}`**: {sentence}.\n", words::name(report), property.name));
            push_drawing(&mut text, property);
        }
    }
    text
}

fn changes(changes: &Changes<'_>, _: bool) -> String {
    let difference = &changes.difference;
    let worse = difference.changes.iter().filter(|change| change.kind.is_worse()).count();
    let title = match (worse, difference.changes.is_empty()) {
        (0, true) => "Every verdict is as it was".to_owned(),
        (0, false) => "Nothing got worse".to_owned(),
        (some, _) => format!("{} for the worse", words::count(some, "change")),
    };
    let between = format!("`{}` → `{}`", changes.old.replace('`', ""), changes.new.replace('`', ""));
    let mut text = format!("# handlecheck: {title}\n\n{between}: {}.\n", summary(changes));
    let mut last = None;
    for change in &difference.changes {
        if last.replace(change.kind) != Some(change.kind) {
            text.push_str(&format!("\n## {}\n\n| run | invariant | before | after |\n", heading(change.kind)));
            text.push_str("| --- | --- | --- | --- |\n");
        }
        let property = change.property.as_ref().map_or_else(String::new, |name| format!("`{name}`"));
        let cells = [name(change), change.before.clone(), change.after.clone()].map(|cell| escaped(&cell));
        text.push_str(&format!("| {} | {property} | {} | {} |\n", cells[0], cells[1], cells[2]));
    }
    for change in difference.changes.iter().filter(|change| changes.is_drawn(change)) {
        let Some((found, trace)) = changes.counterexample(change) else { continue };
        let property = change.property.as_deref().unwrap_or_default();
        let sentence = escaped(&trace.sentence);
        text.push_str(&format!("\n**{}, `{property}`**: {sentence}.\n", escaped(&name(change))));
        text.push_str(&folded(&words::cost(found), trace));
        if let Some(command) = changes.command(change) {
            text.push_str(&format!("\n```sh\n{command}\n```\n"));
        }
    }
    if !difference.spaces.is_empty() {
        let runs = words::count(difference.spaces.len(), "run");
        text.push_str(&format!("\nThe same verdicts, another state space: {runs}.\n"));
    }
    if !difference.inputs.is_empty() {
        text.push_str(&format!("\nOther texts: {}.\n", escaped(&difference.inputs.join(", "))));
    }
    if !changes.hint.is_empty() {
        text.push_str(&format!("\n{}.\n", changes.hint));
    }
    text
}

/// What kind of change it is, as a heading.
fn heading(kind: Kind) -> String {
    let words = kind.words();
    words[..1].to_uppercase() + &words[1..]
}

fn count_runs(unexpected: &[(&Report, &PropertyReport)]) -> usize {
    let mut names: Vec<String> = unexpected.iter().map(|(report, _)| words::name(report)).collect();
    names.dedup();
    names.len()
}

fn push_drawing(text: &mut String, property: &PropertyReport) {
    if let Some(shortest) = property.breaks.first()
        && let Some(trace) = shortest.recorded.as_deref()
    {
        text.push_str(&folded(&words::cost(shortest), trace));
    }
}

/// A drawing that unfolds, with a line that is always seen.
pub(super) fn folded(summary: &str, trace: &Trace) -> String {
    let format =
        diagrams::FORMATS.iter().find(|format| format.name == "mermaid").expect("there is a format for Markdown");
    let drawn = format.text(trace).expect("Mermaid is text");
    // What a file says can't end the block early.
    let fence = "`".repeat(longest_run(&drawn, '`').max(2) + 1);
    format!("\n<details><summary>{summary}</summary>\n\n{fence}mermaid\n{drawn}{fence}\n\n</details>\n")
}

/// The length of the longest run of a character.
fn longest_run(text: &str, of: char) -> usize {
    text.split(|c| c != of).map(str::len).max().unwrap_or(0)
}

/// Text from a user's file in which nothing is taken for markup, and which stays in its cell of a table.
pub(super) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\r' => escaped.push(' '),
            '\\' | '`' | '*' | '_' | '<' | '>' | '[' | ']' | '|' | '#' | '&' | '@' => escaped.extend(['\\', c]),
            c => escaped.push(c),
        }
    }
    escaped
}
