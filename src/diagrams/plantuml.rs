//! A PlantUML sequence diagram, for wikis and documentation tools that draw it.
//!
//! Participants are grouped by principal; each arrow starts with the numbers of its steps. Coloured notes at an agent
//! tell what it believes where that is no longer true, notes at the store what is true. An arrow that ends in a cross
//! does not come through. `↗` stands before what takes effect outside, `◆` before a lease that somebody gets, `◇`
//! before one that is given back.

use super::sequence::{CommitMark, Remark, Row, Sequence, Shape, Shown};
use super::{Draw, Format, words};
use crate::trace::Trace;

pub static FORMAT: Format = Format { extension: "puml", draw: Draw::Text(draw) };

/// Labels, and notes over all lanes, are broken into lines of these widths.
const LABEL: usize = 40;
const BAND: usize = 84;

/// The backgrounds of an outdated belief, a fault and the violation.
const STALE: &str = "#FFF4DC";
const FAULT: &str = "#E6E6E6";
const VIOLATION: &str = "#FDECEB";

/// Where a situation is reached.
const REACHED: &str = "#E6F4EA";

fn draw(trace: &Trace) -> String {
    let sequence = Sequence::of(trace);
    let mut drawing = Drawing { sequence: &sequence, text: String::new() };
    drawing.line("@startuml");
    drawing.line(&format!("title {}", escape(&format!("{}: {}", sequence.title, sequence.scenario))));
    drawing.line("hide footbox");
    drawing.line("skinparam shadowing false");
    drawing.participants();
    for (index, store) in sequence.lanes.stores.iter().enumerate() {
        if let Some(initial) = &store.initial {
            drawing.note(&format!("over s{index}"), "", &[words::full(initial, Some(store))]);
        }
    }
    for row in &sequence.rows {
        drawing.row(row);
    }
    drawing.end();
    drawing.line("@enduml");
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
                    self.line("end box");
                }
                self.line(&format!("box \"principal {}\" #FFFFFF", escape(&agent.principal)));
                open = true;
            }
            self.line(&format!("participant \"{}\\n{}\" as a{index}", name(&agent.name), agent.role));
        }
        if open {
            self.line("end box");
        }
        for (index, node) in lanes.nodes.iter().enumerate() {
            self.line(&format!("participant \"{}\" as n{index}", name(node)));
        }
        for (index, store) in lanes.stores.iter().enumerate() {
            self.line(&format!("database \"{}\" as s{index}", name(&store.handle)));
        }
    }

    /// A note, in as many lines as it needs.
    fn note(&mut self, place: &str, colour: &str, texts: &[String]) {
        let place = if colour.is_empty() { place.to_owned() } else { format!("{place} {colour}") };
        self.line(&format!("note {place}"));
        for line in texts.iter().flat_map(|text| lines(text, BAND.min(LABEL))) {
            self.line(&format!("  {line}"));
        }
        self.line("end note");
    }

    /// An arrow with everything that its row says.
    fn arrow(&mut self, ends: &str, row: &Row) {
        let said = [numbered(row)].into_iter().chain(row.remarks.iter().map(Remark::signed));
        let said: Vec<String> = said.flat_map(|text| lines(&text, LABEL)).collect();
        self.line(&format!("{ends} : {}", said.join("\\n")));
    }

    fn remark(&mut self, place: &str, row: &Row) {
        let said: Vec<String> = [numbered(row)].into_iter().chain(row.remarks.iter().map(Remark::signed)).collect();
        self.note(place, if row.fault { FAULT } else { "" }, &said);
    }

    fn row(&mut self, row: &Row) {
        match &row.shape {
            Shape::HandOff { from, to } if to.is_empty() => self.arrow(&format!("a{from} -> a{from}"), row),
            Shape::HandOff { from, to } => {
                for to in to {
                    self.arrow(&format!("a{from} -> a{to}"), row);
                }
            }
            Shape::Fold { agents, nodes, store, asked, saw } => match (&agents[..], &nodes[..], store) {
                ([agent], [node], _) => {
                    self.arrow(&format!("a{agent} -> n{node}"), &Row { label: asked.clone(), ..row.clone() });
                    let saw = lines(saw, LABEL).join("\\n");
                    self.line(&format!("n{node} --> a{agent} : {saw}"));
                }
                ([first, ..], _, Some(store)) => self.remark(&format!("over a{first}, s{store}"), row),
                ([first, ..], _, None) => self.remark(&format!("over a{first}"), row),
                ([], ..) => self.remark("across", row),
            },
            Shape::Request { agent, node, .. } => {
                let stroke = if row.orphan { "-[dashed]>" } else { "->" };
                self.arrow(&format!("a{agent} {stroke} n{node}"), row);
            }
            Shape::Send { agent } => self.arrow(&format!("a{agent} ->]"), row),
            Shape::TakeUp { node } => self.remark(&format!("over n{node}"), row),
            Shape::Transaction { node, store, ended, .. } => {
                let target = store.map_or_else(|| format!("n{node}"), |store| format!("s{store}"));
                let stroke = if row.orphan { "-[dashed]>" } else { "->" };
                self.arrow(&format!("n{node} {stroke}{} {target}", if *ended { "x" } else { "" }), row);
            }
            Shape::Answer { node, agent, received } => {
                let stroke = if *received { "-->" } else { "-->o" };
                self.arrow(&format!("n{node} {stroke} a{agent}"), row);
            }
            Shape::Break { agent, node: Some(node), .. } => self.arrow(&format!("n{node} -->x a{agent}"), row),
            Shape::Break { agent, node: None, .. } => self.remark(&format!("over a{agent}"), row),
            Shape::Note { agent, node, store } => {
                let lanes = [('a', *agent), ('n', *node), ('s', *store)];
                let lanes = lanes.iter().find_map(|(kind, lane)| lane.map(|lane| format!("over {kind}{lane}")));
                self.remark(lanes.as_deref().unwrap_or("across"), row);
                for agent in &row.breaks {
                    self.line(&format!("n{} -->x a{agent} : stream breaks", node.unwrap_or_default()));
                }
            }
        }
        for store in &row.lost {
            self.note(&format!("over s{store}"), "", &["lost".to_owned()]);
        }
        for commit in &row.commits {
            self.commit(commit);
        }
        for stale in &row.stale {
            if let Some(agent) = self.sequence.lanes.agent(Some(&stale.agent)) {
                let (belief, truth) = stale.halves(self.sequence.names_stores());
                self.note(&format!("over a{agent}"), STALE, &[belief, truth]);
            }
        }
    }

    fn commit(&mut self, commit: &CommitMark) {
        let store = self.sequence.lanes.stores.get(commit.store);
        let mut said: Vec<String> = commit.named.then(|| commit.content.handle.clone()).into_iter().collect();
        said.push(words::full(&commit.content, store));
        said.extend(commit.deleted.then(|| "deleted".to_owned()));
        said.extend(commit.erased.iter().map(|erased| format!("erased: {erased}")));
        said.extend(commit.second.iter().map(|intent| format!("second effect: {intent}")));
        self.note(&format!("over s{}", commit.store), "", &said);
    }

    /// What is violated, and where this comes from.
    fn end(&mut self) {
        let band = &self.sequence.band;
        let colour = match band.shows {
            Shown::Violation => VIOLATION,
            Shown::Situation => REACHED,
        };
        self.note("across", colour, &[band.verdict.clone(), band.sentence.clone()]);
        let facts: Vec<String> = band.facts.iter().map(|(name, value)| format!("{name} {value}")).collect();
        self.note("across", "", &[facts.join(", "), self.sequence.left_out.clone()]);
        // In a comment, so that it can be copied from the source.
        self.line(&format!("' {}", words::line(&band.command)));
    }
}

fn numbered(row: &Row) -> String {
    format!("{} {}", row.numbers(), row.label).trim().to_owned()
}

fn lines(text: &str, width: usize) -> Vec<String> {
    words::wrap(&words::line(text), width).iter().map(|line| escape(line)).collect()
}

/// The name of a lane, which may not be empty.
fn name(text: &str) -> String {
    let name = escape(text);
    if name.trim().is_empty() { "&#160;".to_owned() } else { name }
}

/// Writes a text so that PlantUML shows it as it is: whatever could be markup or syntax becomes a numeric entity. Some
/// versions fail at the entities of `$` and `\`, and know none beyond 16 bits.
fn escape(text: &str) -> String {
    let plain = |letter: char| letter.is_alphanumeric() || " .,:()[]+/=–→-".contains(letter);
    let mut escaped = String::new();
    let mut before = ' ';
    for letter in words::line(text).chars() {
        // Doubled, these strike out, underline or make lines.
        let doubled = letter == before && "-/".contains(letter);
        if (plain(letter) && !doubled) || u32::from(letter) > 0xffff {
            escaped.push(letter);
        } else if "$\\".contains(letter) {
            escaped.push_str(&format!("<U+{:04X}>", u32::from(letter)));
        } else {
            escaped.push_str(&format!("&#{};", u32::from(letter)));
        }
        before = letter;
    }
    // A word at the start of a line is not to be read as a command.
    if escaped.trim_start().to_ascii_lowercase().starts_with("end") {
        escaped = escaped.replacen('e', "&#101;", 1).replacen('E', "&#69;", 1);
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::{escape, name};

    #[test]
    fn syntax_becomes_entities() {
        assert_eq!(escape("write memory 32, key A/1"), "write memory 32, key A/1");
        assert_eq!(escape("**a** <b> \"c\" ~d"), "&#42;&#42;a&#42;&#42; &#60;b&#62; &#34;c&#34; &#126;d");
        assert_eq!(escape("a--b"), "a-&#45;b");
        assert_eq!(escape("end note"), "&#101;nd note");
    }

    #[test]
    fn what_versions_of_plantuml_choke_on_is_avoided() {
        assert_eq!(escape("$x \\n 😀"), "<U+0024>x <U+005C>n 😀");
        assert_eq!(name(" "), "&#160;");
    }
}
