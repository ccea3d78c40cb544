//! How situations are named, found and listed.

use super::{End, How, Situation};
use crate::action::ACTIONS;
use crate::assertion::{self, Names, Problem};
use crate::faults::FAULTS;
use crate::handler::STEPS;
use crate::invariants::INVARIANTS;
use crate::model::{Event, Outcome, Scenario, Told};
use crate::suggest::{did_you_mean, nearest};
use crate::world::Response;

/// Every situation that has a name in every scenario, the general ones before those that say more.
fn words() -> Vec<Situation> {
    let mut all = general();
    for (step, _) in STEPS.iter().enumerate() {
        all.extend(How::of_step(step).map(|how| Situation::EndedBy(step, Some(how))));
    }
    for event in Event::all() {
        all.extend(Response::ALL.iter().map(|response| Situation::Reacted(event, Some(*response))));
    }
    all
}

fn general() -> Vec<Situation> {
    let happens = ACTIONS.iter().map(|(name, _)| *name).chain(FAULTS.iter().map(|fault| fault.name));
    let steps = (0..STEPS.len()).filter(|step| How::of_step(*step).next().is_some());
    let mut all: Vec<Situation> = happens.map(Situation::Happens).collect();
    all.extend(Outcome::ALL.iter().map(|outcome| Situation::Ended(*outcome)));
    all.push(Situation::Replayed);
    all.extend(steps.map(|step| Situation::EndedBy(step, None)));
    all.extend(Event::all().map(|event| Situation::Reacted(event, None)));
    all.extend(Told::ALL.iter().map(|told| Situation::Told(*told)));
    all.extend((0..INVARIANTS.len()).map(Situation::Witness));
    all.extend(End::ALL.map(|(end, ..)| Situation::End(end)));
    all
}

/// What can be asked for, each with what it is; of those that say more, what they look like.
#[must_use]
pub fn listed() -> Vec<(String, String)> {
    let responses: Vec<&str> = Response::ALL.iter().map(|response| response.name()).collect();
    let mut all: Vec<(String, String)> =
        general().iter().map(|situation| (situation.name(), situation.about())).collect();
    all.extend([
        ("STEP:OUTCOME".to_owned(), "a step ends a call so: check-version:stale-view, find-key:replayed".to_owned()),
        ("on:EVENT:REACTION".to_owned(), format!("an agent reacts so; REACTION is {}", responses.join(", "))),
        (
            "ASSERTION".to_owned(),
            "an assertion of the scenario, by its name, or by assertion:NAME where a word above has it too".to_owned(),
        ),
        (
            "EXPRESSION".to_owned(),
            "an expression as in [sometimes]: 'basket.memory == 32 && told.A == [\"ok\"]'".to_owned(),
        ),
    ]);
    all
}

/// The situation that a text names: a word, an assertion of this scenario, or an expression.
///
/// # Errors
///
/// Everything that is wrong with it, in places of the text.
pub fn parse(text: &str, scenario: &Scenario) -> Result<Situation, Vec<Problem>> {
    let text = text.trim();
    let problem = |message: String, help: Option<String>| Err(vec![Problem { range: 0..text.len(), message, help }]);
    let words = words();
    if let Some(found) = words.iter().find(|situation| situation.name() == text) {
        return Ok(found.clone());
    }
    let assertions = || scenario.assertions().map(|assertion| &*assertion.name);
    let name = text.strip_prefix("assertion:").unwrap_or(text);
    if assertions().any(|assertion| assertion == name) {
        return Ok(Situation::Assertion(name.to_owned()));
    }
    let is_word = |letter: char| letter.is_alphanumeric() || matches!(letter, '-' | '_' | ':');
    if text.is_empty() || text.chars().all(is_word) {
        if STEPS.iter().any(|row| row.name == text) {
            let help = "a step can be asked for where it ends calls; `handlecheck list situations` has the others";
            return problem(format!("the step `{text}` never ends a call"), Some(help.to_owned()));
        }
        let names: Vec<String> = words.iter().map(Situation::name).collect();
        let own: Vec<String> = assertions().map(str::to_owned).collect();
        let all = || names.iter().chain(&own).map(String::as_str);
        // `action:cancel` is called `cancel`.
        let last = text.rsplit_once(':').and_then(|(_, last)| nearest(last, all()));
        let help = did_you_mean(text, all()).or_else(|| last.map(|last| format!("did you mean `{last}`?")));
        let help = help.unwrap_or_else(|| "`handlecheck list situations` has them all".to_owned());
        return problem(format!("there is no situation `{text}`"), Some(help));
    }
    assertion::compile(text, &Names::of(scenario))?;
    Ok(Situation::Expression(text.to_owned()))
}

/// The name as a part of a file's name: words of letters, digits and `-`, no longer than file systems like.
#[must_use]
pub fn slug(name: &str) -> String {
    const OPERATORS: [(&str, &str); 9] = [
        ("==", " is "),
        ("!=", " is not "),
        ("<=", " at most "),
        (">=", " at least "),
        ("<", " below "),
        (">", " above "),
        ("&&", " and "),
        ("||", " or "),
        ("!", " not "),
    ];
    const LENGTH: usize = 80;
    let mut text = name.to_lowercase();
    for (operator, word) in OPERATORS {
        text = text.replace(operator, word);
    }
    let words = text.split(|letter: char| !letter.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let slug = words.collect::<Vec<_>>().join("-");
    if slug.len() <= LENGTH {
        return slug;
    }
    // What is cut off still tells two long expressions apart.
    let digest = name
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |digest, byte| (digest ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
    format!("{}-{:08x}", slug[..LENGTH].trim_end_matches('-'), digest >> 32)
}

/// A sentence as a clause: without a capital at its beginning, unless it is a word of its own.
pub(super) fn clause(sentence: &str) -> String {
    let mut letters = sentence.chars();
    let first: String = letters.next().map(|first| first.to_lowercase().collect()).unwrap_or_default();
    first + letters.as_str()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_situations_have_one_name() {
        let names: Vec<String> = words().iter().map(Situation::name).collect();
        let distinct: std::collections::BTreeSet<&String> = names.iter().collect();
        assert_eq!(distinct.len(), names.len());
        let ends: Vec<String> = End::ALL.iter().map(|(end, ..)| Situation::End(*end).name()).collect();
        assert_eq!(ends, ["quiescent", "resolved", "all-ok"]);
    }

    #[test]
    fn every_situation_says_what_it_is() {
        for situation in words() {
            let about = situation.about();
            assert!(!about.is_empty() && !about.ends_with('.'), "{}: {about:?}", situation.name());
            assert_eq!(slug(&situation.name()), situation.name().replace(':', "-"));
        }
    }

    #[test]
    fn an_expression_becomes_a_file_name() {
        let text = "basket.memory == 32 && told.A != ['ok']";
        assert_eq!(slug(text), "basket-memory-is-32-and-told-a-is-not-ok");
        let long = |last: &str| slug(&format!("{}{last}", "a.b == 1 && ".repeat(20)));
        assert_ne!(long("x.y == 1"), long("x.y == 2"));
        assert!(long("x.y == 1").len() < 100);
        assert_eq!(slug("=("), "");
    }
}
