//! Reading a lock, with the place of what is wrong with it.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{Asked, Cost, Found, Lock, Outcome, SCHEMA, Subject};
use crate::input::{Diagnostic, InputError, Place, Severity, Source};

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
#[derive(Deserialize)]
#[serde(untagged, expecting = "expected `holds`, `violated`, `inconclusive` or a list of { steps, faults }")]
enum Written {
    Word(Word),
    Front(Vec<Cost>),
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Word {
    Holds,
    Violated,
    Inconclusive,
}

/// Reads a lock.
///
/// # Errors
///
/// When the text is no lock, or one of another version.
pub fn read(source: &Source) -> Result<Lock, InputError> {
    let help = "`handlecheck lock` writes it anew";
    let wrong = |error: &toml::de::Error| {
        let place = error.span().map(|span| Place { source: source.clone(), span });
        let message = format!("`{}` is no lock that can be read", source.origin);
        let label = error.message().trim_end().replace('\n', "; ");
        InputError {
            diagnostics: vec![Diagnostic {
                severity: Severity::Error,
                message,
                label,
                help: Some(help.to_owned()),
                place,
            }],
        }
    };
    let Versioned { schema } = toml::from_str(&source.text).map_err(|error| wrong(&error))?;
    if schema != SCHEMA {
        let message =
            format!("the lock `{}` has schema {schema}, and this handlecheck reads schema {SCHEMA}", source.origin);
        return Err(InputError::whole(message, Some(help.to_owned())));
    }
    let File { handlecheck, asked, scenarios, designs, protocols, runs, misfits, .. } =
        toml::from_str(&source.text).map_err(|error| wrong(&error))?;
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
        assert!(told("a = \"holds\"", "a = \"hold\"").contains("expected `holds`"));
        assert!(told("[designs]", "<<<<<<< HEAD\n[designs]").contains("<<<<<<<"));
        assert!(told("[designs]", "[design]").contains("design"));
    }
}
