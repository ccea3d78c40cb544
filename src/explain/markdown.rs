//! A story as Markdown, for documents, issues and reviews.

use std::fmt::Write as _;

use super::unsearched;
use crate::diagrams::story::Story;
use crate::diagrams::words;

/// Tells a story in Markdown; headings begin at this level.
#[must_use]
pub fn markdown(story: &Story, level: usize) -> String {
    let mut page = String::new();
    let top = "#".repeat(level.clamp(1, 5));
    let _ = writeln!(page, "{top} {}\n", escape(&story.title));
    let _ = writeln!(page, "**{}:** {}\n", escape(&story.verdict), escape(&story.sentence));
    let _ = writeln!(page, "{}\n", escape(&story.setting.join(" ")));
    if !story.wants.is_empty() {
        let _ = writeln!(page, "{top}# What everybody wanted\n");
        list(&mut page, &story.wants);
    }
    let _ = writeln!(page, "{top}# What happened\n\n| step | |\n| ---: | --- |");
    for event in &story.events {
        let sentences: Vec<String> = [&event.sentence].into_iter().chain(&event.more).map(|it| escape(it)).collect();
        let _ = writeln!(page, "| {} | {} |", event.numbers(), sentences.join(" "));
    }
    let _ = writeln!(page, "\n{top}# Where it broke\n");
    for paragraph in &story.moment {
        let _ = writeln!(page, "{}\n", escape(paragraph));
    }
    if story.violated {
        guards(&mut page, story, &top);
        stopping(&mut page, story, &top);
    }
    page.truncate(page.trim_end().len());
    page.push('\n');
    page
}

fn guards(page: &mut String, story: &Story, top: &str) {
    let _ = writeln!(page, "{top}# {}\n", story.guards_title);
    if story.guards.is_empty() {
        page.push_str("No step of a handler ran that could have stopped it.\n\n");
        return;
    }
    for guard in &story.guards {
        let _ = writeln!(page, "- `{}`. {}", guard.name.replace('`', "'"), escape(&guard.rule));
        for line in guard.lines() {
            let _ = writeln!(page, "  - {}", escape(&line));
        }
    }
    page.push('\n');
}

fn stopping(page: &mut String, story: &Story, top: &str) {
    let _ = writeln!(page, "{top}# What would have stopped it\n");
    let Some(stopping) = &story.stopping else {
        let _ = writeln!(page, "{}\n", unsearched(story));
        return;
    };
    for remedy in &stopping.remedies {
        let _ = writeln!(
            page,
            "1. {}. {} {}",
            escape(&remedy.changes.join("; ")),
            escape(&remedy.stops),
            escape(&remedy.proof)
        );
        patch(page, &remedy.patch);
    }
    if !stopping.note.is_empty() {
        let gap = if stopping.remedies.is_empty() { "" } else { "\n" };
        let _ = writeln!(page, "{gap}{}\n", escape(&stopping.note));
    }
}

/// A patch, indented to belong to its item.
fn patch(page: &mut String, patch: &str) {
    let fence = "`".repeat(longest_run(patch).max(2) + 1);
    let _ = writeln!(page, "\n   {fence}diff");
    for line in patch.lines() {
        let _ = writeln!(page, "   {}", words::line(line));
    }
    let _ = writeln!(page, "   {fence}\n");
}

/// The longest run of backticks: a fence must be longer.
fn longest_run(text: &str) -> usize {
    text.split(|letter| letter != '`').map(str::len).max().unwrap_or(0)
}

fn list(page: &mut String, items: &[String]) {
    for item in items {
        let _ = writeln!(page, "- {}", escape(item));
    }
    page.push('\n');
}

/// A text in which nothing is markup: names come from users.
fn escape(text: &str) -> String {
    let mut escaped = String::new();
    for letter in words::line(text).chars() {
        if matches!(letter, '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '#' | '&' | '~' | '$') {
            escaped.push('\\');
        }
        escaped.push(letter);
    }
    escaped
}
