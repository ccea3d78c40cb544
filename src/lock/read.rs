//! Reading a lock, with the place of what is wrong with it.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{Asked, Cost, Found, Lock, Outcome, SCHEMA, Subject};
use crate::input::foreign::{self, Problem};
use crate::input::{Diagnostic, InputError, Place, Severity, Source};
use crate::suggest::{did_you_mean, one_of};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(rename = "schema")]
    _schema: serde::de::IgnoredAny,
    handlecheck: String,
    #[serde(default)]
    asked: Asked,
    scenarios: BTreeMap<String, String>,
    designs: BTreeMap<String, String>,
    protocols: BTreeMap<String, String>,
    #[serde(default)]
    runs: Vec<Run>,
    #[serde(default)]
    misfits: Vec<Misfit>,
}

/// Only the version: another version may have anything else.
#[derive(Deserialize)]
struct Versioned {
    schema: u32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Run {
    scenario: String,
    design: String,
    protocol: String,
    bounds: BTreeMap<String, u8>,
    states: usize,
    transitions: u64,
    depth: u32,
    engine: Option<String>,
    #[serde(default)]
    reductions: Vec<String>,
    stopped: Option<String>,
    #[serde(default)]
    vacuous: Vec<String>,
    verdicts: BTreeMap<String, Written>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Misfit {
    scenario: String,
    design: String,
    protocol: String,
    because: String,
}

/// A verdict as it is written: a word, or the front of breaks.
enum Written {
    Word(Word),
    Front(Vec<Cost>),
}

enum Word {
    Holds,
    Violated,
    Inconclusive,
}

impl Word {
    const ALL: [(&str, Self); 3] =
        [("holds", Self::Holds), ("violated", Self::Violated), ("inconclusive", Self::Inconclusive)];
}

impl<'de> Deserialize<'de> for Written {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> serde::de::Visitor<'de> for Visitor {
            type Value = Written;

            fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str("`holds`, `violated`, `inconclusive` or a list of { steps, faults }")
            }

            fn visit_str<E: serde::de::Error>(self, word: &str) -> Result<Written, E> {
                let found = Word::ALL.into_iter().find(|(name, _)| *name == word);
                found.map(|(_, word)| Written::Word(word)).ok_or_else(|| {
                    let names = Word::ALL.map(|(name, _)| name);
                    let help = did_you_mean(word, names).map_or_else(String::new, |help| format!("; {help}"));
                    E::custom(format!("expected {}, and this is `{word}`{help}", one_of(names)))
                })
            }

            fn visit_seq<A: serde::de::SeqAccess<'de>>(self, front: A) -> Result<Written, A::Error> {
                let front = Vec::deserialize(serde::de::value::SeqAccessDeserializer::new(front))?;
                Ok(Written::Front(front))
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

/// Reads a lock.
///
/// # Errors
///
/// When the text is no lock, or one of another version.
pub fn read(source: &Source) -> Result<Lock, InputError> {
    let help = "`handlecheck lock` writes it anew";
    let wrong = |problems: Vec<Problem>| {
        let diagnostic = |(span, label, meant): Problem| {
            let message = format!("`{}` is no lock that can be read", source.origin);
            let place = Some(Place { source: source.clone(), span });
            Diagnostic { severity: Severity::Error, message, label, help: meant, place }
        };
        let mut diagnostics: Vec<Diagnostic> = problems.into_iter().map(diagnostic).collect();
        // What is to be done about all of them is said once.
        if let Some(last) = diagnostics.last_mut() {
            last.help = Some(last.help.as_ref().map_or_else(|| help.to_owned(), |meant| format!("{meant} {help}")));
        }
        InputError { diagnostics }
    };
    let Versioned { schema } = foreign::from_toml(&source.text).map_err(wrong)?;
    if schema != SCHEMA {
        let message =
            format!("the lock `{}` has schema {schema}, and this handlecheck reads schema {SCHEMA}", source.origin);
        return Err(InputError::whole(message, Some(help.to_owned())));
    }
    let File { handlecheck, asked, scenarios, designs, protocols, runs, misfits, .. } =
        foreign::from_toml(&source.text).map_err(wrong)?;
    let runs = runs.into_iter().map(|run| {
        let Run { bounds, states, transitions, depth, engine, reductions, stopped, .. } = run;
        let Run { scenario, design, protocol, vacuous, verdicts, .. } = run;
        let vacuous = vacuous.into_iter().map(|name| (name, Found::Vacuous));
        let decided = verdicts.into_iter().map(|(name, written)| (name, written.into()));
        let found = vacuous.chain(decided).collect();
        let outcome = Outcome { bounds, states, transitions, depth, engine, reductions, stopped, found };
        (Subject { scenario, design, protocol }, outcome)
    });
    let misfits = misfits.into_iter().map(|misfit| {
        let Misfit { scenario, design, protocol, because } = misfit;
        (Subject { scenario, design, protocol }, because)
    });
    let (runs, misfits) = (runs.collect(), misfits.collect());
    Ok(Lock { handlecheck, asked, scenarios, designs, protocols, runs, misfits })
}

impl From<Written> for Found {
    fn from(written: Written) -> Self {
        match written {
            Written::Word(Word::Holds) => Self::Holds,
            Written::Word(Word::Violated) => Self::Violated(Vec::new()),
            Written::Word(Word::Inconclusive) => Self::Inconclusive,
            Written::Front(front) => Self::Violated(front),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lock() -> Lock {
        let names = |name: &str| BTreeMap::from([(name.to_owned(), "rapidhash-v3:0".to_owned())]);
        let subject = |design: &str| Subject {
            scenario: "two \"agents\"".to_owned(),
            design: design.to_owned(),
            protocol: "p".to_owned(),
        };
        let found = [
            ("a", Found::Holds),
            ("b", Found::Vacuous),
            ("c.d", Found::Inconclusive),
            ("e", Found::Violated(Vec::new())),
            ("f", Found::Violated(vec![Cost { steps: 15, faults: 1 }, Cost { steps: 17, faults: 0 }])),
        ];
        let outcome = Outcome {
            bounds: BTreeMap::from([("drop-stream".to_owned(), 2)]),
            states: 3,
            transitions: 4,
            depth: 5,
            engine: Some("stateright".to_owned()),
            reductions: vec!["partial order".to_owned(), "symmetry of nodes".to_owned()],
            stopped: Some("the limit of 3 states was reached".to_owned()),
            found: found.map(|(name, found)| (name.to_owned(), found)).into(),
        };
        Lock {
            handlecheck: "0.1.0".to_owned(),
            asked: Asked {
                expected: true,
                protocol: Some("p".to_owned()),
                faults: BTreeMap::from([("drop-stream".to_owned(), 2)]),
                invariants: vec!["a".to_owned()],
                max_states: Some(3),
            },
            scenarios: names("two \"agents\""),
            designs: names("ü"),
            protocols: names("p"),
            runs: BTreeMap::from([
                (subject("d"), outcome.clone()),
                (subject("e"), Outcome { stopped: None, ..outcome }),
            ]),
            misfits: BTreeMap::from([(subject("f"), "there is no\nhandler".to_owned())]),
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let lock = lock();
        let source = Source::new("x", "x.lock", lock.to_toml());
        assert_eq!(read(&source).expect("it is a lock"), lock);
        let plain = Lock { asked: Asked::default(), ..Lock::default() };
        assert_eq!(read(&Source::new("x", "x.lock", plain.to_toml())).expect("it is a lock"), plain);
    }

    #[test]
    fn what_is_wrong_is_shown_with_its_place() {
        let told = |from: &str, to: &str| {
            let text = lock().to_toml();
            assert!(text.contains(from), "{text}");
            read(&Source::new("x", "x.lock", text.replace(from, to))).expect_err("it is wrong").to_string()
        };
        assert!(told("schema = 1", "schema = 9").contains("has schema 9"));
        assert!(told("states = 3\ntr", "states = -1\ntr").contains("states = -1"));
        assert!(told("a = \"holds\"", "a = \"hold\"").contains("did you mean `holds`?"));
        assert!(told("a = \"holds\"", "a = \"well\"").contains("expected `holds`, `violated` or `inconclusive`"));
        assert!(told("[designs]", "<<<<<<< HEAD\n[designs]").contains("<<<<<<<"));
        assert!(told("[designs]", "[design]").contains("design"));
    }
}
