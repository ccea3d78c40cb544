//! Documents that stay true: blocks and images in Markdown whose content is what the model says.
//!
//! A fenced block is ours when its info string is `handlecheck QUESTION`, or a language and then that: `mermaid handlecheck
//! diagram ..`. An image is ours when its title is `handlecheck QUESTION`. Everything else in a document is its author's.

mod answer;
mod question;
#[cfg(test)]
mod tests;

pub use answer::{Answers, Unanswered};
pub use question::{Question, Shown};

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

/// The word by which a block or an image is ours.
const OURS: &str = "handlecheck";

/// A block or an image of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// Where the question stands, in bytes of the document.
    pub place: Range<usize>,
    /// The question.
    pub question: String,
    /// What holds the answer.
    pub held: Held,
}

/// What holds an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Held {
    /// The lines of a block.
    Block {
        /// The bytes between the line that opens it and the one that closes it.
        lines: Range<usize>,
        /// What stands before each line: the indentation of a list, or the mark of a quotation.
        before: String,
        /// What is there.
        text: String,
        /// It is closed by a line of its own.
        closed: bool,
    },
    /// A file.
    Image {
        /// Its path, beside the document.
        path: String,
    },
}

/// Everything in a document that is ours, in its order.
#[must_use]
pub fn asked(document: &str) -> Vec<Asked> {
    let mut found = Vec::new();
    let mut block: Option<(Range<usize>, String, String)> = None;
    for (event, range) in Parser::new_ext(document, Options::ENABLE_TABLES).into_offset_iter() {
        match event {
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(info))) => {
                block = Some((range, info.to_string(), String::new()));
            }
            Event::Text(text) => {
                if let Some((.., held)) = &mut block {
                    held.push_str(&text);
                }
            }
            Event::End(TagEnd::CodeBlock) => {
                let ours = block.take().and_then(|(range, info, text)| of_block(document, range, &info, text));
                found.extend(ours);
            }
            Event::Start(Tag::Image { dest_url, title, .. }) => {
                if let Some(question) = title.strip_prefix(OURS).filter(|rest| rest.starts_with(' ')) {
                    let within = document[range.clone()].rfind(&*title).map_or(0, |at| at + OURS.len() + 1);
                    let place = range.start + within;
                    let question = question.trim().to_owned();
                    let place = place..(place + question.len()).min(range.end);
                    found.push(Asked { place, question, held: Held::Image { path: dest_url.to_string() } });
                }
            }
            _ => {}
        }
    }
    found
}

fn of_block(document: &str, range: Range<usize>, info: &str, text: String) -> Option<Asked> {
    let mut words = info.split_whitespace();
    let ours = words.next() == Some(OURS) || words.next() == Some(OURS);
    let question = ours.then(|| info.split_once(OURS)).flatten()?.1.trim().to_owned();
    let whole = &document[range.clone()];
    let first = whole.find('\n').map_or(whole.len(), |at| at + 1);
    let at = whole[..first].find(OURS)? + OURS.len();
    let place = whole[at..first].find(&question).map_or(range.start, |more| range.start + at + more);
    // The last line closes the block if it is nothing but a fence.
    let fence: String = whole.chars().take_while(|letter| matches!(letter, '`' | '~')).collect();
    let last = whole.trim_end_matches('\n').rfind('\n').map_or(first, |at| at + 1).max(first);
    let closing = whole[last..].trim_start_matches([' ', '>', '\t']).trim_end();
    let closed = !fence.is_empty() && closing.starts_with(&fence) && closing.trim_matches(['`', '~']).is_empty();
    let end = if closed { last } else { whole.len() };
    let line = document[..range.start].rfind('\n').map_or(0, |at| at + 1);
    // In a list the mark of the item stands there: its lines are indented as far.
    let before: String =
        document[line..range.start].chars().map(|letter| if letter == '>' { '>' } else { ' ' }).collect();
    Some(Asked {
        place: place..place + question.len(),
        question,
        held: Held::Block { lines: range.start + first..range.start + end, before, text, closed },
    })
}

/// The document with other texts in some of its blocks.
#[must_use]
pub fn renewed(document: &str, texts: &[(&Asked, String)]) -> String {
    let mut renewed = document.to_owned();
    for (asked, text) in texts.iter().rev() {
        let Held::Block { lines, before, .. } = &asked.held else { continue };
        let line = |line: &str| format!("{}\n", format!("{before}{line}").trim_end());
        let text: String = text.lines().map(line).collect();
        renewed.replace_range(lines.clone(), &text);
    }
    renewed
}
