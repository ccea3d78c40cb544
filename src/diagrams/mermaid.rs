//! A Mermaid sequence diagram, which code hosts draw where it stands in Markdown.
//!
//! Participants are grouped by principal; each arrow starts with the numbers of its steps. Notes at an agent tell what
//! it believes where that is no longer true, notes at the store what is true. An arrow that ends in a cross does not
//! come through: a stream that broke, or a transaction that ended the call. `↗` stands before what takes effect
//! outside, `◆` before a lease that somebody gets, `◇` before one that is given back.

use std::fmt::Write as _;

use super::sequence::{CommitMark, Remark, Row, Sequence, Shape, Shown, StoreHead};
use super::{Draw, Format, words};
use crate::trace::{Content, Trace};

pub static FORMAT: Format = Format { extension: "mmd", draw: Draw::Text(draw) };

/// Labels and notes are broken into lines of this width: Mermaid makes lanes as far apart as the widest label.
const LABEL: usize = 36;

/// A note at an agent has lines of this width.
const NOTE: usize = 30;

/// A note at the store has lines of this width, which fit the least width of a note.
const STORE: usize = 26;

/// The notes over all lanes have lines of this width.
const BAND: usize = 84;

/// The background of the violation: translucent, so that text stays legible on light and on dark pages.
const VIOLATION: &str = "rgba(214, 69, 61, 0.18)";

/// As that, where nothing is violated and the trace shows what was asked for.
const REACHED: &str = "rgba(46, 160, 67, 0.18)";

fn draw(trace: &Trace) -> String {
    let sequence = Sequence::of(trace);
    let mut drawing = Drawing { sequence: &sequence, text: String::new() };
    drawing.line("sequenceDiagram");
    let title = escape(&format!("{}: {}", sequence.title, sequence.scenario));
    drawing.line(&format!("  accTitle: {title}"));
    drawing.line(&format!("  accDescr: {}", escape(&sequence.band.sentence)));
    drawing.line(&format!("  title {title}"));
    drawing.participants();
    drawing.start();
    for row in &sequence.rows {
        drawing.row(row);
    }
    drawing.origin();
    drawing.text
}

struct Drawing<'d> {
    sequence: &'d Sequence,
    text: String,
}

impl Drawing<'_> {
    fn line(&mut self, text: &str) {
        self.text.push_str(text);
        self.text.push('\n');
    }

    fn participants(&mut self) {
        let lanes = &self.sequence.lanes;
        let mut open = false;
        for (index, agent) in lanes.agents.iter().enumerate() {
            if index == 0 || lanes.agents[index - 1].principal != agent.principal {
                if open {
                    self.line("  end");
                }
                let unknown = agent.principal.is_empty();
                let head = if unknown { "unknown".to_owned() } else { format!("principal {}", agent.principal) };
                self.line(&format!("  box {}", escape(&head)));
                open = true;
            }
            self.line(&format!("    participant a{index} as {}<br/>{}", block(&agent.name), agent.role));
        }
        if open {
            self.line("  end");
        }
        if !lanes.nodes.is_empty() {
            self.line("  box nodes");
            for (index, node) in lanes.nodes.iter().enumerate() {
                self.line(&format!("    participant n{index} as {}", block(node)));
            }
            self.line("  end");
        }
        if !lanes.stores.is_empty() {
            self.line("  box store");
            for (index, store) in lanes.stores.iter().enumerate() {
                self.line(&format!("    participant s{index} as {}", block(&store.handle)));
            }
            self.line("  end");
        }
    }

    fn start(&mut self) {
        for (index, store) in self.sequence.lanes.stores.iter().enumerate() {
            if let Some(initial) = &store.initial {
                let truth = truth(initial, &[], &[], Some(store)).join("<br/>");
                self.line(&format!("  Note over s{index}: {truth}"));
            }
        }
    }

    /// An arrow, with the numbers of its steps before its label, and remarks below in the same label.
    fn arrow(&mut self, ends: &str, row: &Row) {
        let label = numbered(row);
        let lines: Vec<String> =
            [label].into_iter().chain(row.remarks.iter().map(Remark::signed)).map(|text| block(&text)).collect();
        self.line(&format!("  {ends}: {}", lines.join("<br/>")));
    }

    fn row(&mut self, row: &Row) {
        if let Some(shows) = row.shows {
            let colour = match shows {
                Shown::Violation => VIOLATION,
                Shown::Situation => REACHED,
            };
            self.line(&format!("  rect {colour}"));
        }
        match &row.shape {
            Shape::HandOff { from, to } => {
                for to in to {
                    self.arrow(&format!("a{from}->>a{to}"), row);
                }
                if to.is_empty() {
                    self.arrow(&format!("a{from}->>a{from}"), row);
                }
            }
            Shape::Fold { agents, nodes, store, asked, saw } => match (&agents[..], &nodes[..], store) {
                ([agent], [node], _) => {
                    self.arrow(&format!("a{agent}->>n{node}"), &Row { label: asked.clone(), ..row.clone() });
                    self.line(&format!("  n{node}-->>a{agent}: {}", block(saw)));
                }
                ([first, ..], _, Some(store)) => self.remark(&format!("over a{first},s{store}"), row),
                ([first, ..], _, None) => self.remark(&format!("over a{first}"), row),
                ([], ..) => {}
            },
            Shape::Request { agent, node, .. } => self.arrow(&format!("a{agent}->>n{node}"), row),
            Shape::Send { agent } => self.remark(&format!("over a{agent}"), row),
            Shape::TakeUp { node } => self.remark(&format!("over n{node}"), row),
            Shape::Transaction { node, store, ended, .. } => {
                let target = store.map_or_else(|| format!("n{node}"), |store| format!("s{store}"));
                let head = if *ended { "-x" } else { "->>" };
                self.arrow(&format!("n{node}{head}{target}"), row);
            }
            Shape::Answer { node, agent, received } => {
                let head = if *received { "-->>" } else { "--)" };
                self.arrow(&format!("n{node}{head}a{agent}"), row);
            }
            Shape::Break { agent, node: Some(node), .. } => self.arrow(&format!("n{node}--xa{agent}"), row),
            Shape::Break { agent, node: None, .. } => self.remark(&format!("over a{agent}"), row),
            Shape::Note { agent, node, store } => {
                let lanes = [
                    agent.map(|it| format!("a{it}")),
                    node.map(|it| format!("n{it}")),
                    store.map(|it| format!("s{it}")),
                ];
                let mut lanes = lanes.into_iter().flatten();
                // Over at most two lanes, from the first to the last that takes part.
                let place = match (lanes.next(), lanes.next_back()) {
                    (Some(first), Some(last)) => Some(format!("over {first},{last}")),
                    (Some(only), None) => Some(format!("over {only}")),
                    _ => self.everywhere(),
                };
                if let Some(place) = place {
                    self.remark(&place, row);
                }
                for agent in &row.breaks {
                    self.line(&format!("  n{}--xa{agent}: stream breaks", node.unwrap_or_default()));
                }
            }
        }
        for store in &row.lost {
            self.line(&format!("  Note over s{store}: lost"));
        }
        for commit in &row.commits {
            self.commit(commit);
        }
        for stale in &row.stale {
            if let Some(agent) = self.sequence.lanes.agent(Some(&stale.agent)) {
                let (belief, truth) = stale.halves(self.sequence.names_stores());
                let lines = [lines_of(&belief, NOTE), lines_of(&truth, NOTE)].concat();
                self.line(&format!("  Note over a{agent}: {}", lines.join("<br/>")));
            }
        }
        if row.shows.is_some() {
            self.verdict();
            self.line("  end");
        }
    }

    /// A note with everything that a row says.
    fn remark(&mut self, place: &str, row: &Row) {
        let label = numbered(row);
        let lines: Vec<String> =
            [label].into_iter().chain(row.remarks.iter().map(Remark::signed)).map(|text| block(&text)).collect();
        self.line(&format!("  Note {place}: {}", lines.join("<br/>")));
    }

    /// A change that became true.
    fn commit(&mut self, commit: &CommitMark) {
        let store = self.sequence.lanes.stores.get(commit.store);
        let truth = truth(&commit.content, &commit.changed, &commit.before, store);
        let erased = commit.erased.iter().map(|erased| block(&format!("erased: {erased}")));
        let second = commit.second.iter().map(|intent| block(&format!("second effect: {intent}")));
        let deleted = commit.deleted.then(|| "deleted".to_owned());
        let handle = commit.named.then(|| block(&commit.content.handle));
        let lines: Vec<String> = handle.into_iter().chain(truth).chain(erased).chain(second).chain(deleted).collect();
        self.line(&format!("  Note over s{}: {}", commit.store, lines.join("<br/>")));
    }

    fn everywhere(&self) -> Option<String> {
        let lanes = &self.sequence.lanes;
        let all = [('a', lanes.agents.len()), ('n', lanes.nodes.len()), ('s', lanes.stores.len())];
        let mut ids = all.iter().flat_map(|(letter, count)| (0..*count).map(move |index| format!("{letter}{index}")));
        let first = ids.next()?;
        Some(ids.last().map_or_else(|| format!("over {first}"), |last| format!("over {first},{last}")))
    }

    /// What is violated, within the coloured part.
    fn verdict(&mut self) {
        let band = &self.sequence.band;
        let lines: Vec<String> = [&band.verdict, &band.sentence].iter().flat_map(|text| lines_of(text, BAND)).collect();
        if let Some(place) = self.everywhere() {
            self.line(&format!("  Note {place}: {}", lines.join("<br/>")));
        }
    }

    fn origin(&mut self) {
        let facts = self.sequence.band.facts.iter().map(|(name, value)| format!("{name} {value}"));
        let facts = pack(facts, BAND);
        let lines = facts.iter().chain([&self.sequence.left_out]).filter(|line| !line.is_empty());
        let lines: Vec<String> = lines.flat_map(|line| lines_of(line, BAND)).collect();
        if let Some(place) = self.everywhere() {
            self.line(&format!("  Note {place}: {}", lines.join("<br/>")));
        }
        // In a comment, so that it can be copied from the source.
        self.line(&format!("  %% {}", words::line(&self.sequence.band.command).replace(['{', '}'], " ")));
    }
}

/// What is true, in lines: the version and each field, those that changed with what they were.
fn truth(content: &Content, changed: &[bool], before: &[String], store: Option<&StoreHead>) -> Vec<String> {
    let mut content = content.clone();
    for (index, value) in content.values.iter_mut().enumerate() {
        if let Some(before) = before.get(index).filter(|_| changed.get(index) == Some(&true)) {
            let _ = write!(value, " (was {before})");
        }
    }
    let version = content.version.map(words::version);
    let name = |index: usize| store.and_then(|store| store.fields.get(index)).map_or("", String::as_str);
    let mut fields =
        content.values.iter().enumerate().map(|(index, value)| format!("{} {value}", name(index)).trim().to_owned());
    let first = match (version, fields.next()) {
        (Some(version), Some(field)) => format!("{version}: {field}"),
        (Some(version), None) => version,
        (None, Some(field)) => field,
        (None, None) => content.handle.clone(),
    };
    pack([first].into_iter().chain(fields), STORE).iter().map(|line| block(line)).collect()
}

/// Joins parts with commas, as many on a line as fit.
fn pack(parts: impl Iterator<Item = String>, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for part in parts {
        match lines.last_mut().filter(|line| words::width(line) + 2 + words::width(&part) <= width) {
            Some(line) => *line = format!("{line}, {part}"),
            None => lines.push(part),
        }
    }
    lines
}

/// A row's label, with the numbers of its steps.
fn numbered(row: &Row) -> String {
    format!("{} {}", row.numbers(), row.label).trim().to_owned()
}

/// A text as lines of a label.
fn block(text: &str) -> String {
    lines_of(text, LABEL).join("<br/>")
}

fn lines_of(text: &str, width: usize) -> Vec<String> {
    let lines: Vec<String> = words::wrap(&words::line(text), width).iter().map(|line| escape(line)).collect();
    // Mermaid takes no empty label.
    if lines.is_empty() { vec!["#160;".to_owned()] } else { lines }
}

/// Writes a text so that Mermaid shows it as it is. Whatever could be syntax somewhere in a sequence diagram becomes a
/// numeric entity: brackets, quotes, `;` and `#` (which end a statement), `%` (comments), `$` (formulas), a colon that is
/// not followed by a space, or that would make the directive `wrap:`, and the `e` of the word `end`.
fn escape(text: &str) -> String {
    let text = words::line(text);
    let letters: Vec<char> = text.chars().collect();
    let word = |index: usize| letters.get(index).is_some_and(|letter| letter.is_alphanumeric() || *letter == '_');
    let mut escaped = String::new();
    for (index, letter) in letters.iter().enumerate() {
        let is_end = letters[index..].iter().take(3).map(char::to_ascii_lowercase).eq("end".chars());
        let whole = is_end && !word(index + 3) && index.checked_sub(1).is_none_or(|before| !word(before));
        let directive =
            escaped.trim_start().eq_ignore_ascii_case("wrap") || escaped.trim_start().eq_ignore_ascii_case("nowrap");
        let plain = match letter {
            ' ' | '.' | ',' | '-' | '_' | '/' | '(' | ')' | '[' | ']' | '\'' | '=' | '+' | '*' | '?' | '!' => true,
            ':' => letters.get(index + 1) == Some(&' ') && !directive,
            letter => (letter.is_ascii_alphanumeric() && !whole) || !letter.is_ascii(),
        };
        if plain {
            escaped.push(*letter);
        } else {
            let _ = write!(escaped, "#{};", u32::from(*letter));
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::escape;

    #[test]
    fn plain_words_stay_as_they_are() {
        assert_eq!(
            escape("write memory 32, rows + [r1] (v7): Ærø 名前"),
            "write memory 32, rows + [r1] (v7): Ærø 名前"
        );
    }

    #[test]
    fn syntax_becomes_entities() {
        assert_eq!(escape("a;b#c"), "a#59;b#35;c");
        assert_eq!(escape("<b>\"&\"%%"), "#60;b#62;#34;#38;#34;#37;#37;");
        assert_eq!(escape("two\nlines"), "two lines");
    }

    #[test]
    fn the_word_end_and_the_directive_wrap_are_taken_apart() {
        assert_eq!(escape("end the weekend End"), "#101;nd the weekend #69;nd");
        assert_eq!(escape("wrap: x"), "wrap#58; x");
        assert_eq!(escape("a:b"), "a#58;b");
    }
}
