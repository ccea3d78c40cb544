//! Documents that are none of the three inputs (traces, mappings, locks, lines of a log): what is wrong with them, in our
//! words, with its place and the nearest name.

use std::ops::Range;

use serde::de::DeserializeOwned;
use toml::Spanned;
use toml::de::{DeArray, DeInteger, DeString, DeTable, DeValue, Deserializer};

use super::diagnostic::InputError;
use crate::suggest::{did_you_mean, nearest, one_of};

/// Of a document with more errors than this, the first ones are reported.
const MOST: usize = 40;

/// What is wrong in a text: where, what, and what to do.
pub type Problem = (Range<usize>, String, Option<String>);

/// What readers say that they expect, and how we say it.
const EXPECTED: &[(&str, &str)] = &[
    ("expected u64", "expected a whole number that is at least 0"),
    ("expected u32", "expected a whole number that is at least 0"),
    ("expected u16", "expected a whole number from 0 to 65535"),
    ("expected u8", "expected a whole number from 0 to 255"),
    ("expected usize", "expected a whole number that is at least 0"),
    ("expected i64", "expected a whole number"),
    ("expected a sequence", "expected a list"),
    ("expected a map", "expected an object"),
    ("expected a boolean", "expected true or false"),
    ("expected variant identifier", "expected a word"),
];

/// What a reader of documents says, in our words: what is wrong, and what to do.
#[must_use]
pub fn worded(said: &str) -> (String, Option<String>) {
    let said = said.trim_end();
    for (theirs, ours) in [("unknown field `", "key"), ("unknown variant `", "word")] {
        let Some((name, rest)) = said.strip_prefix(theirs).and_then(|rest| rest.split_once('`')) else { continue };
        let known: Vec<&str> = rest.split('`').skip(1).step_by(2).collect();
        let help = did_you_mean(name, known.iter().copied());
        let help = help.or_else(|| (!known.is_empty()).then(|| format!("expected {}", one_of(known))));
        return (format!("unknown {ours} `{name}`"), help);
    }
    if let Some(name) = said.strip_prefix("missing field `").and_then(|rest| rest.split('`').next()) {
        return (format!("the key `{name}` is missing"), None);
    }
    if let Some(name) = said.strip_prefix("duplicate field `").and_then(|rest| rest.split('`').next()) {
        return (format!("the key `{name}` is there twice"), None);
    }
    let said = &EXPECTED.iter().fold(said.to_owned(), |said, (theirs, ours)| match said.strip_suffix(theirs) {
        Some(start) => format!("{start}{ours}"),
        None => said,
    });
    // What may have been meant is help, and stands apart.
    let meant = ["; did you mean", "; expected `"].iter().find_map(|before| said.find(before));
    match meant {
        Some(at) => (said[..at].to_owned(), Some(said[at + 2..].to_owned())),
        None => (said.replace('\n', "; "), None),
    }
}

/// What is wrong with a JSON document, where in it: `path` leads to the value.
#[must_use]
pub fn of_json(origin: &str, text: &str, path: &str, error: &serde_json::Error) -> InputError {
    let said = error.to_string();
    let (message, help) = worded(said.split(" at line ").next().unwrap_or_default());
    let message = if matches!(path, "" | "." | "?") { message } else { format!("at {path}: {message}") };
    let line: usize = text.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum();
    let at = (line + error.column()).min(text.len());
    // The reader stops behind a word that it does not know.
    let word = said.split('`').nth(1).map(|word| format!("\"{word}\""));
    let before = text.get(..at).unwrap_or_default();
    let place = word.and_then(|word| before.rfind(&word).map(|start| start..start + word.len()));
    shown(origin, text, [(place.unwrap_or(at.saturating_sub(1)..at), message, help)])
}

/// Problems with their places; without them where the lines are too long to be shown.
#[must_use]
pub fn shown(origin: &str, text: &str, problems: impl IntoIterator<Item = Problem>) -> InputError {
    const LONGEST: usize = 400;
    let line = |place: &Range<usize>| {
        let start = text.get(..place.start).unwrap_or_default();
        let number = start.matches('\n').count();
        (number + 1, text.lines().nth(number).map_or(0, str::len))
    };
    let mut diagnostics = Vec::new();
    for (place, message, help) in problems {
        let (number, length) = line(&place);
        let one = if length <= LONGEST {
            InputError::of_text(origin, text, [(place, message, help)])
        } else {
            InputError::whole(format!("{origin}, line {number}: {message}"), help)
        };
        diagnostics.extend(one.diagnostics);
    }
    InputError { diagnostics }
}

/// Reads a TOML document, and finds everything that is wrong with it: what is wrong is taken out, or something that can be
/// read put in its place, and the rest is read again.
///
/// # Errors
///
/// Everything that is wrong.
pub fn from_toml<T: DeserializeOwned>(text: &str) -> Result<T, Vec<Problem>> {
    let (mut root, mistakes) = DeTable::parse_recoverable(text);
    if !mistakes.is_empty() {
        let syntax = mistakes.iter().take(MOST).map(|error| {
            let (message, help) = worded(error.message());
            (error.span().unwrap_or(0..0), message, help)
        });
        return Err(syntax.collect());
    }
    let mut problems: Vec<Problem> = Vec::new();
    // What was taken out of which table, as it was meant: it is not missing besides.
    let mut taken: Vec<(Range<usize>, String)> = Vec::new();
    // Each round takes something out or puts something in.
    for _ in 0..4 * MOST {
        let error = match T::deserialize(Deserializer::from(root.clone())) {
            Ok(value) if problems.is_empty() => return Ok(value),
            Ok(_) => break,
            Err(error) => error,
        };
        let span = error.span().unwrap_or(0..0);
        let (message, help) = worded(error.message());
        let missing = error.message().strip_prefix("missing field `").and_then(|rest| rest.split('`').next());
        let table = if holds_table_in(root.get_ref(), &span) { span.clone() } else { WHOLE };
        if !missing.is_some_and(|name| taken.contains(&(table, name.to_owned()))) {
            problems.push((span.clone(), message, help));
        }
        let goes_on = match missing {
            Some(name) => put_in::<T>(&mut root, &span, name, &error),
            None => take_out(root.get_mut(), &span, WHOLE).is_some_and(|(table, name)| {
                let said = error.message().split('`').skip(3).step_by(2);
                let meant = if error.message().starts_with("unknown field") { nearest(&name, said) } else { None };
                taken.push((table, meant.unwrap_or(&name).to_owned()));
                true
            }),
        };
        if !goes_on || problems.len() >= MOST {
            break;
        }
    }
    problems.sort_by_key(|(place, ..)| place.start);
    Err(problems)
}

/// Stands for the span of the whole document, as that of a table.
const WHOLE: Range<usize> = 0..0;

/// Takes the innermost entry out of which something is wrong in this place. Answers its table and its key.
fn take_out(table: &mut DeTable<'_>, place: &Range<usize>, span: Range<usize>) -> Option<(Range<usize>, String)> {
    let holds = |span: Range<usize>| span.start <= place.start && place.end <= span.end;
    let mut key = None;
    for (name, value) in table.iter_mut() {
        if let Some(inner) = take_out_of_value(value, place) {
            return Some(inner);
        }
        if holds(name.span()) || holds(value.span()) {
            key = Some(name.get_ref().to_string());
        }
    }
    let key = key?;
    table.remove(key.as_str())?;
    Some((span, key))
}

fn take_out_of_value(value: &mut Spanned<DeValue<'_>>, place: &Range<usize>) -> Option<(Range<usize>, String)> {
    // The place of a whole table means the entry that holds it.
    let span = value.span();
    if span == *place {
        return None;
    }
    match value.get_mut() {
        DeValue::Table(table) => take_out(table, place, span),
        DeValue::Array(elements) => elements.iter_mut().find_map(|element| take_out_of_value(element, place)),
        _ => None,
    }
}

/// Puts something that can be read under a key that is missing in the table of this place, so that the rest can be read.
fn put_in<T: DeserializeOwned>(
    root: &mut Spanned<DeTable<'_>>,
    place: &Range<usize>,
    key: &str,
    before: &toml::de::Error,
) -> bool {
    // In no text: an error there says that it was the wrong thing to put in.
    const NOWHERE: Range<usize> = usize::MAX - 1..usize::MAX;
    // A name, a word of ours, a number, a list, a table.
    let things: [fn() -> DeValue<'static>; 5] = [
        || DeValue::String("".into()),
        || DeValue::String("read".into()),
        || DeValue::Integer(DeInteger::default()),
        || DeValue::Array(DeArray::new()),
        || DeValue::Table(DeTable::new()),
    ];
    for thing in things {
        let mut tried = root.clone();
        let put = Spanned::new(NOWHERE, thing());
        let key = Spanned::new(NOWHERE, DeString::Owned(key.to_owned()));
        if holds_table_in(tried.get_ref(), place) {
            let Some(table) = table_in(tried.get_mut(), place) else { return false };
            table.insert(key, put);
        } else {
            tried.get_mut().insert(key, put);
        }
        let fits = match T::deserialize(Deserializer::from(tried.clone())) {
            Ok(_) => true,
            Err(error) => {
                let same = error.span() == before.span() && error.message() == before.message();
                error.span() != Some(NOWHERE) && !same
            }
        };
        if fits {
            *root = tried;
            return true;
        }
    }
    false
}

fn table_in<'t, 'i>(table: &'t mut DeTable<'i>, place: &Range<usize>) -> Option<&'t mut DeTable<'i>> {
    let (_, value) = table.iter_mut().find(|(_, value)| holds_table(value, place))?;
    table_at(value, place)
}

fn table_at<'t, 'i>(value: &'t mut Spanned<DeValue<'i>>, place: &Range<usize>) -> Option<&'t mut DeTable<'i>> {
    let here = value.span() == *place;
    match value.get_mut() {
        DeValue::Table(inner) => {
            if here {
                return Some(inner);
            }
            table_in(inner, place)
        }
        DeValue::Array(elements) => {
            let element = elements.iter_mut().find(|element| holds_table(element, place))?;
            table_at(element, place)
        }
        _ => None,
    }
}

fn holds_table_in(table: &DeTable<'_>, place: &Range<usize>) -> bool {
    table.iter().any(|(_, value)| holds_table(value, place))
}

fn holds_table(value: &Spanned<DeValue<'_>>, place: &Range<usize>) -> bool {
    match value.get_ref() {
        DeValue::Table(inner) => value.span() == *place || holds_table_in(inner, place),
        DeValue::Array(elements) => elements.iter().any(|element| holds_table(element, place)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{from_toml, worded};

    #[derive(Debug, serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Document {
        #[expect(dead_code, reason = "only whether it can be read is of interest")]
        first: Part,
        #[serde(default)]
        #[expect(dead_code, reason = "only whether it can be read is of interest")]
        parts: BTreeMap<String, Part>,
        #[serde(default)]
        #[expect(dead_code, reason = "only whether it can be read is of interest")]
        list: Vec<Part>,
    }

    #[derive(Debug, serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Part {
        #[expect(dead_code, reason = "only whether it can be read is of interest")]
        count: u8,
        #[expect(dead_code, reason = "only whether it can be read is of interest")]
        name: String,
    }

    #[test]
    fn everything_that_is_wrong_is_found_once() {
        let told = |text: &str| {
            let problems = from_toml::<Document>(text).expect_err("it is wrong");
            let told = |(place, message, help): super::Problem| {
                let (place, help) = (text[place].to_owned(), help.unwrap_or_default());
                format!("{place}: {message}; {help}")
            };
            problems.into_iter().map(told).collect::<Vec<_>>()
        };
        let text =
            "[first]\ncuont = 1\nname = 3\n[parts]\na = { count = 300, name = \"a\" }\nb = { count = 1 }\nc = {}\n";
        assert_eq!(
            told(text),
            [
                "cuont: unknown key `cuont`; did you mean `count`?",
                "3: invalid type: integer `3`, expected a string; ",
                "300: invalid value: integer `300`, expected a whole number from 0 to 255; ",
                "{ count = 1 }: the key `name` is missing; ",
                "{}: the key `count` is missing; ",
                "{}: the key `name` is missing; ",
            ]
        );
        assert!(from_toml::<Document>("[first]\ncount = 1\nname = \"a\"\n").is_ok());
        let text = "[first]\ncount = 1\nname = \"a\"\n[[list]]\ncount = -1\n[[list]]\nname = \"b\"\n";
        assert_eq!(
            told(text),
            [
                "[[list]]: the key `name` is missing; ",
                "-1: invalid value: integer `-1`, expected a whole number from 0 to 255; ",
                "[[list]]: the key `count` is missing; ",
            ]
        );
    }

    #[test]
    fn what_a_reader_of_documents_says_becomes_our_words() {
        let told = |said: &str| {
            let (message, help) = worded(said);
            format!("{message}; {}", help.unwrap_or_default())
        };
        assert_eq!(
            told("unknown field `stepz`, expected one of `steps`, `faults`"),
            "unknown key `stepz`; did you mean `steps`?"
        );
        assert_eq!(
            told("unknown variant `x`, expected `call` or `told`"),
            "unknown word `x`; expected `call` or `told`"
        );
        assert_eq!(
            told("there is no tool `reed`; did you mean `read`?"),
            "there is no tool `reed`; did you mean `read`?"
        );
    }
}
