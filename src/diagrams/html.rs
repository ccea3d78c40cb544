//! One page that works offline: the picture, and the state of everybody at each step, with what changed marked.
//!
//! Arrow keys, `j` and `k`, Home and End step through it; each step has a link of its own; printed, it shows all steps.
//! Without a script it is the same page, with every step below the other.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::sequence::{Band, Row, Sequence, Shown};
use super::story::{Event, Story};
use super::{Draw, Format, svg, words};
use crate::trace::{Step, Trace};

pub static FORMAT: Format = Format { extension: "html", draw: Draw::Page(draw) };

const SHEET: &str = include_str!("html/page.css");
const SCRIPT: &str = include_str!("html/page.js");

fn draw(trace: &Trace, story: &Story) -> String {
    let sequence = Sequence::of(trace);
    let mut page = String::new();
    let title = svg::escape(&format!("{}: {}", sequence.title, sequence.scenario));
    let band = &sequence.band;
    let picture = svg::drawn(trace);
    let _ = write!(
        page,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{title}</title>\n\
         <link rel=\"icon\" href=\"data:,\">\n<style>\n{SHEET}</style>\n</head>\n<body>\n<main>\n<figure{}>\n{picture}</figure>\n<div>\n<h1>{title}</h1>\n\
         {}<p>{}</p>\n<nav aria-label=\"Steps\">\n\
         <button id=\"back\" type=\"button\">Back</button>\n<button id=\"on\" type=\"button\">Next</button>\n\
         <span id=\"place\" class=\"dim\"></span>\n<span id=\"heard\" class=\"heard\" role=\"status\"></span>\n\
         <span class=\"dim\"><kbd>←</kbd> <kbd>→</kbd> <kbd>Home</kbd> <kbd>End</kbd></span>\n</nav>\n",
        if fits_a_page(&picture) { " class=\"whole\"" } else { "" },
        verdict(band),
        svg::escape(&story.sentence)
    );
    page.push_str("<div class=\"log\">\n");
    let mut facts = initial(trace);
    section(&mut page, trace, (&sequence, story), 0, None, &facts);
    for (number, step) in (1..).zip(&trace.steps) {
        for change in &step.changes {
            facts.insert(&change.fact, (&change.after, Some(&change.before)));
        }
        section(&mut page, trace, (&sequence, story), number, Some(step), &facts);
        facts.values_mut().for_each(|value| value.1 = None);
    }
    page.push_str("</div>\n<div class=\"steps\">\n<ol start=\"0\">\n<li><a href=\"#step-0\">The start</a></li>\n");
    for (number, step) in (1..).zip(&trace.steps) {
        let _ = writeln!(page, "<li><a href=\"#step-{number}\">{}</a></li>", svg::escape(&step.sentence));
    }
    page.push_str("</ol>\n</div>\n");
    beyond(&mut page, story);
    let facts: Vec<String> = band.facts.iter().map(|(name, value)| format!("{name} {value}")).collect();
    let _ = write!(
        page,
        "<p class=\"dim\">{}</p>\n<p class=\"dim\"><code>{}</code></p>\n</div>\n</main>\n<script>\n{SCRIPT}</script>\n\
         </body>\n</html>\n",
        svg::escape(&facts.join(" · ")),
        svg::escape(&band.command)
    );
    page
}

/// Facts, by what they are about: the value, and the one before where this step changed it.
type Facts<'t> = BTreeMap<&'t str, (&'t str, Option<&'t str>)>;

/// What the facts of the trace are at the start.
fn initial(trace: &Trace) -> Facts<'_> {
    let changes = trace.steps.iter().rev().flat_map(|step| step.changes.iter().rev());
    changes.map(|change| (&*change.fact, (&*change.before, None))).collect()
}

/// What the page is about, in a line.
fn verdict(band: &Band) -> String {
    let class = match band.shows {
        Shown::Violation => "verdict",
        Shown::Situation => "verdict met",
    };
    format!("<p class=\"{class}\">{}</p>\n", svg::escape(&band.verdict))
}

/// The state after a step, with its part of the story.
fn section(
    page: &mut String,
    trace: &Trace,
    (sequence, story): (&Sequence, &Story),
    number: usize,
    step: Option<&Step>,
    facts: &Facts<'_>,
) {
    let of_step = |row: &&Row| row.steps.is_some_and(|(first, last)| (first..=last).contains(&number));
    let row = sequence.rows.iter().find(of_step);
    let first = row.and_then(|row| row.steps).map_or(0, |steps| steps.0);
    let _ = writeln!(
        page,
        "<section id=\"step-{number}\" data-step=\"{number}\" data-row=\"{}{first}\">",
        svg::prefix(trace)
    );
    match step {
        None => {
            page.push_str("<h2>The start</h2>\n");
            paragraphs(page, &story.setting);
            paragraphs(page, &story.wants);
        }
        Some(step) => {
            let holds = |event: &&Event| event.steps.is_some_and(|(first, last)| (first..=last).contains(&number));
            let event = story.events.iter().find(holds);
            let whole = event.filter(|event| event.steps == Some((number, number)));
            let sentence = whole.map_or_else(|| words::sentence(&step.sentence), |event| event.sentence.clone());
            let _ = writeln!(page, "<h2>Step {number}</h2>\n<p>{}</p>", svg::escape(&sentence));
            // What is said beyond a step is said once.
            let ends = |event: &&Event| event.steps.is_some_and(|(_, last)| last == number);
            paragraphs(page, event.filter(ends).map_or(&[][..], |event| &event.more));
            if number == trace.steps.len() {
                page.push_str(&verdict(&sequence.band));
            }
        }
    }
    page.push_str("<table>\n");
    let mut groups: BTreeMap<usize, Vec<&str>> = BTreeMap::new();
    let owners = owners(trace);
    for fact in facts.keys() {
        groups.entry(owner(&owners, fact)).or_default().push(fact);
    }
    for (group, names) in groups {
        let head = owners.get(group).map_or("the run", |owner| owner.0.as_str());
        let head = svg::escape(head);
        let _ = writeln!(page, "<tbody>\n<tr><th colspan=\"2\" scope=\"rowgroup\">{head}</th></tr>");
        for name in names {
            let (value, before) = facts[name];
            let class = if before.is_some() { " class=\"changed\"" } else { "" };
            let was = before.map_or_else(String::new, |before| format!(" <s>{}</s>", svg::escape(before)));
            let (name, value) = (svg::escape(name), svg::escape(value));
            let _ = writeln!(page, "<tr{class}><th scope=\"row\">{name}</th><td>{value}{was}</td></tr>");
        }
        page.push_str("</tbody>\n");
    }
    page.push_str("</table>\n</section>\n");
}

fn paragraphs(page: &mut String, all: &[String]) {
    for text in all {
        let _ = writeln!(page, "<p>{}</p>", svg::escape(text));
    }
}

/// What the story says beyond the steps: where it broke, why no guard stopped it, and what would have.
fn beyond(page: &mut String, story: &Story) {
    page.push_str("<div class=\"beyond\">\n<h2>Where it broke</h2>\n");
    paragraphs(page, &story.moment);
    if story.violated {
        page.push_str(&format!("<h2>{}</h2>\n", story.guards_title));
        if story.guards.is_empty() {
            page.push_str("<p>No step of a handler ran that could have stopped it.</p>\n");
        } else {
            page.push_str("<dl>\n");
            for guard in &story.guards {
                let _ = writeln!(page, "<dt><code>{}</code></dt>", svg::escape(&guard.name));
                for line in [&guard.rule].into_iter().chain(&guard.lines()) {
                    let _ = writeln!(page, "<dd>{}</dd>", svg::escape(line));
                }
            }
            page.push_str("</dl>\n");
        }
        page.push_str("<h2>What would have stopped it</h2>\n");
        match &story.stopping {
            None => {
                let _ = writeln!(
                    page,
                    "<p><code>{}</code> looks for the smallest changes.</p>",
                    svg::escape(&story.search)
                );
            }
            Some(stopping) => {
                let items = stopping.remedies.iter().map(|remedy| {
                    let text = format!("{}. {} {}", remedy.changes.join("; "), remedy.stops, remedy.proof);
                    format!("<li>{}\n<pre>{}</pre></li>\n", svg::escape(&text), lines(&remedy.patch))
                });
                let items: String = items.collect();
                if !items.is_empty() {
                    let _ = writeln!(page, "<ol>\n{items}</ol>");
                }
                let _ = writeln!(page, "<p>{}</p>", commands(&stopping.note));
            }
        }
    }
    page.push_str("</div>\n");
}

/// A text whose commands stand between backticks.
fn commands(text: &str) -> String {
    let part = |(index, part): (usize, &str)| {
        if index % 2 == 1 { format!("<code>{part}</code>") } else { part.to_owned() }
    };
    svg::escape(text).split('`').enumerate().map(part).collect()
}

/// Whether a picture can be read when it is printed on one page: it is shrunk to not much more than half its size.
fn fits_a_page(picture: &str) -> bool {
    const WIDE: u32 = 688;
    const HIGH: u32 = 940;
    let size = picture.split("viewBox=\"0 0 ").nth(1).and_then(|rest| rest.split('"').next());
    let size = size.and_then(|size| size.split_once(' '));
    let Some((Ok(wide), Ok(high))) = size.map(|(wide, high)| (wide.parse::<u32>(), high.parse::<u32>())) else {
        return false;
    };
    wide * 55 <= WIDE * 100 && high * 55 <= HIGH * 100
}

/// A patch line by line, since names in it come from users.
fn lines(text: &str) -> String {
    text.lines().map(svg::escape).collect::<Vec<_>>().join("\n")
}

/// Who has facts, in the order of the lanes: the name of the group, and the words by which its facts are known.
fn owners(trace: &Trace) -> Vec<(String, Vec<String>)> {
    let agents = trace.agents.iter().map(|agent| (agent.name.clone(), vec![agent.name.clone()]));
    let nodes = trace.nodes.iter().map(|node| (node.clone(), vec![node.clone()]));
    let stores = trace.resources.iter().map(|resource| {
        let handle = resource.initial.as_ref().map(|initial| initial.handle.clone());
        (resource.name.clone(), [resource.name.clone()].into_iter().chain(handle).collect())
    });
    agents.chain(nodes).chain(stores).collect()
}

/// Whose fact it is: of the first whose name is a word of it.
fn owner(owners: &[(String, Vec<String>)], fact: &str) -> usize {
    let says = |name: &String| fact.split([' ', ':', ',', '\'']).any(|word| word == name);
    owners.iter().position(|(_, names)| names.iter().any(says)).unwrap_or(owners.len())
}
