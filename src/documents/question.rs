//! Questions: what a block or an image of a document says that it shows.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::diagrams::FORMATS;
use crate::faults::FAULTS;
use crate::model::limits;
use crate::suggest::did_you_mean;

/// What is asked about a scenario under a design.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// What is shown.
    pub shown: Shown,
    /// The scenario, by name or path; for a patch, the first of the two designs.
    pub scenario: String,
    /// The design, by name or path; for a patch, the second one.
    pub design: String,
    /// The protocol, where it is not that of the scenario or the default.
    pub protocol: Option<String>,
    /// Budgets that replace those of the scenario.
    pub faults: BTreeMap<&'static str, u8>,
}

/// What is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shown {
    /// A line for each verdict that is not vacuous.
    Verdicts,
    /// The story of the shortest break of this property.
    Explain(String),
    /// Its picture, in this format.
    Diagram(String, String),
    /// What differs between two designs.
    Patch,
}

/// The questions there are: name and words behind it.
const QUESTIONS: [(&str, &[&str]); 4] = [
    ("verdicts", &["SCENARIO", "DESIGN"]),
    ("explain", &["SCENARIO", "DESIGN", "INVARIANT"]),
    ("diagram", &["SCENARIO", "DESIGN", "INVARIANT", "[FORMAT]"]),
    ("patch", &["DESIGN", "DESIGN"]),
];

/// What is wrong with a question: where in it, what, and what to do.
pub type Problem = (Range<usize>, String, Option<String>);

impl Question {
    /// Reads a question. A picture has this format where it names none.
    ///
    /// # Errors
    ///
    /// When it is none, with the word that is wrong.
    pub fn read(text: &str, format: &str) -> Result<Self, Problem> {
        let words: Vec<(Range<usize>, &str)> = text
            .split_whitespace()
            .map(|word| {
                let start = word.as_ptr() as usize - text.as_ptr() as usize;
                (start..start + word.len(), word)
            })
            .collect();
        let names = QUESTIONS.map(|(name, _)| name);
        let all = || format!("expected {}", crate::suggest::one_of(names));
        let Some(((place, name), rest)) = words.split_first() else { return Err((0..text.len(), all(), None)) };
        let Some((_, wants)) = QUESTIONS.iter().find(|(question, _)| question == name) else {
            let help = did_you_mean(name, names).unwrap_or_else(all);
            return Err((place.clone(), format!("there is no question `{name}`"), Some(help)));
        };
        let (mut plain, mut protocol, mut faults) = (Vec::new(), None, BTreeMap::new());
        for (place, word) in rest {
            match word.split_once('=') {
                None => plain.push((place.clone(), *word)),
                Some(("protocol", name)) => protocol = Some(name.to_owned()),
                Some((fault, budget)) => {
                    let (fault, budget) = budgeted(place.clone(), fault, budget)?;
                    faults.insert(fault, budget);
                }
            }
        }
        let needed = wants.iter().filter(|want| !want.starts_with('[')).count();
        if plain.len() < needed || plain.len() > wants.len() {
            let place = plain.get(wants.len()).map_or_else(|| 0..text.len(), |(place, _)| place.clone());
            return Err((place, format!("expected `{name} {}`", wants.join(" ")), None));
        }
        let word = |index: usize| plain.get(index).map_or(String::new(), |(_, word)| (*word).to_owned());
        let format = plain.get(3).map_or_else(|| format.to_owned(), |(_, word)| (*word).to_owned());
        if *name == "diagram" && !FORMATS.iter().any(|row| row.name == format) {
            let place = plain.get(3).map_or_else(|| 0..text.len(), |(place, _)| place.clone());
            let help = did_you_mean(&format, FORMATS.iter().map(|row| row.name));
            return Err((place, format!("there is no format `{format}`"), help));
        }
        let shown = match *name {
            "verdicts" => Shown::Verdicts,
            "explain" => Shown::Explain(word(2)),
            "diagram" => Shown::Diagram(word(2), format),
            _ => Shown::Patch,
        };
        Ok(Self { shown, scenario: word(0), design: word(1), protocol, faults })
    }
}

fn budgeted(place: Range<usize>, fault: &str, budget: &str) -> Result<(&'static str, u8), Problem> {
    let Some(row) = FAULTS.iter().find(|row| row.name == fault) else {
        let names = FAULTS.iter().map(|row| row.name).chain(["protocol"]);
        return Err((place, format!("there is no fault `{fault}`"), did_you_mean(fault, names)));
    };
    let number = budget.parse().ok().filter(|budget| *budget <= limits::BUDGET);
    let wrong = || (place, format!("expected a number from 0 to {}", limits::BUDGET), None);
    number.map(|number| (row.name, number)).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::{Question, Shown};

    #[test]
    fn questions_are_read_and_mistakes_are_underlined() {
        let read = |text: &str| Question::read(text, "svg");
        let question = read("diagram a b c mermaid drop-stream=2 protocol=p").expect("it is one");
        assert_eq!(question.shown, Shown::Diagram("c".to_owned(), "mermaid".to_owned()));
        assert_eq!((&*question.scenario, &*question.design), ("a", "b"));
        assert_eq!((question.faults["drop-stream"], question.protocol.as_deref()), (2, Some("p")));
        let wrong = |text: &'static str| read(text).map_err(|(place, ..)| &text[place]).expect_err("it is none");
        assert_eq!(wrong("verdict a b"), "verdict");
        assert_eq!(wrong("verdicts a b c"), "c");
        assert_eq!(wrong("verdicts a"), "verdicts a");
        assert_eq!(wrong("verdicts a b drop-streams=1"), "drop-streams=1");
        assert_eq!(wrong("diagram a b c svgg"), "svgg");
    }
}
