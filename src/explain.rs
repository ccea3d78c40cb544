//! A trace as prose: a story told in plain text, or in Markdown.

mod markdown;

use crate::diagrams::story::{Event, Story};
use crate::diagrams::words;
use crate::trace::Trace;

pub use markdown::markdown;

/// The width to which prose is wrapped.
const WIDTH: usize = 100;

/// Tells a trace in plain text; the story ends with a newline.
#[must_use]
pub fn explain(trace: &Trace) -> String {
    text(&Story::of(trace))
}

/// Tells a story in plain text, which ends with a newline.
#[must_use]
pub fn text(story: &Story) -> String {
    let mut page = Page { text: String::new(), indent: 0 };
    page.paragraph(&story.title);
    for paragraph in &story.setting {
        page.paragraph(paragraph);
    }
    page.gap();
    page.paragraph(&format!("{}: {}", story.verdict, story.sentence));
    if !story.wants.is_empty() {
        page.gap();
        for wants in &story.wants {
            page.paragraph(wants);
        }
    }
    page.gap();
    page.events(&story.events);
    for paragraph in &story.moment {
        page.gap();
        page.paragraph(paragraph);
    }
    if story.violated {
        page.guards(story);
        page.stopping(story);
    }
    page.text
}

/// What is said where nobody looked for what would have stopped a run.
fn unsearched(story: &Story) -> String {
    format!("What would have stopped it: `{}` looks for the smallest changes.", story.search)
}

struct Page {
    text: String,
    /// How far steps are indented; their numbers stand in this margin.
    indent: usize,
}

impl Page {
    fn gap(&mut self) {
        self.text.push('\n');
    }

    fn paragraph(&mut self, text: &str) {
        self.numbered("", text);
    }

    /// A sentence, with the numbers of its steps in the margin.
    fn numbered(&mut self, numbers: &str, text: &str) {
        let mut margin = numbers.to_owned();
        for line in words::wrap(&words::line(text), WIDTH - self.indent.min(WIDTH / 2)) {
            let room = self.indent.saturating_sub(2 + words::width(&margin));
            let margin = std::mem::take(&mut margin);
            let line = if self.indent == 0 { line } else { format!("{}{margin}  {line}", " ".repeat(room)) };
            self.text.push_str(&line);
            self.text.push('\n');
        }
    }

    fn events(&mut self, events: &[Event]) {
        let numbers = events.iter().map(|event| words::width(&event.numbers()));
        self.indent = numbers.max().unwrap_or(0) + 4;
        for event in events {
            self.numbered(&event.numbers(), &event.sentence);
            for sentence in &event.more {
                self.paragraph(sentence);
            }
        }
        self.indent = 0;
    }

    fn guards(&mut self, story: &Story) {
        self.gap();
        if story.guards.is_empty() {
            self.paragraph("No step of a handler ran that could have stopped it.");
            return;
        }
        self.paragraph(&format!("{}:", story.guards_title));
        for guard in &story.guards {
            self.indent = 4;
            self.numbered("", &format!("{}. {}", guard.name, guard.rule));
            self.indent = 6;
            for line in guard.lines() {
                self.paragraph(&line);
            }
        }
        self.indent = 0;
    }

    fn stopping(&mut self, story: &Story) {
        self.gap();
        let Some(stopping) = &story.stopping else { return self.paragraph(&unsearched(story).replace('`', "")) };
        if !stopping.remedies.is_empty() {
            self.paragraph("What would have stopped it:");
        }
        for (number, remedy) in (1..).zip(&stopping.remedies) {
            self.indent = 4;
            self.numbered(&format!("{number}"), &format!("{}.", remedy.changes.join("; ")));
            self.paragraph(&remedy.stops);
            self.paragraph(&remedy.proof);
        }
        self.indent = 0;
        if !stopping.note.is_empty() {
            self.paragraph(&stopping.note);
        }
    }
}
