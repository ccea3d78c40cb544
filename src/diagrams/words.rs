//! How pictures and stories word what a trace holds.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::sequence::StoreHead;
use crate::trace::{AnswerNote, CallNote, Content, Trace, TransactionNote};

/// A version, as everything shows it: `v7`.
#[must_use]
pub fn version(version: u16) -> String {
    format!("v{version}")
}

/// A content in few words: `v7 16 / 512`. What is not known is left out; the handle stands for what is not known at all.
#[must_use]
pub fn brief(content: &Content) -> String {
    let mut words: Vec<String> = content.version.map(version).into_iter().collect();
    if !content.values.is_empty() {
        words.push(content.values.join(" / "));
    }
    if words.is_empty() { content.handle.clone() } else { words.join(" ") }
}

/// A content with the names of its fields: `v8: memory 32, storage 512`.
#[must_use]
pub fn full(content: &Content, store: Option<&StoreHead>) -> String {
    let name = |index: usize| store.and_then(|store| store.fields.get(index)).map_or("", String::as_str);
    let values = content.values.iter().enumerate();
    let values: Vec<String> =
        values.map(|(index, value)| format!("{} {value}", name(index)).trim().to_owned()).collect();
    match (content.version, values.is_empty()) {
        (Some(number), false) => format!("{}: {}", version(number), values.join(", ")),
        (Some(number), true) => version(number),
        (None, false) => values.join(", "),
        (None, true) => content.handle.clone(),
    }
}

/// What a request asks for: the operation, the payload, and what it presents.
#[must_use]
pub fn request(call: &CallNote) -> String {
    let mut words = call.tool.clone();
    // A tool without arguments of its own (close, mint) may repeat its name as payload.
    if !call.payload.is_empty() && call.payload != call.tool {
        words = format!("{words} {}", call.payload);
    }
    if let Some(also) = &call.also {
        let on = call.handle.as_ref().map_or_else(String::new, |handle| format!(" on {handle}"));
        words = format!("{words}{on} and {} on {}", also.change, also.handle);
    }
    for expected in &call.expects {
        let own = call.handle.as_ref() == Some(&expected.handle) || call.expects.len() == 1;
        let of = if own { String::new() } else { format!(" of {}", expected.handle) };
        words = format!("{words}, expects {}{of}", version(expected.version));
    }
    if let Some(key) = &call.key {
        words = format!("{words}, key {key}");
    }
    words
}

/// What the agent wants changed, where the request carries more than that.
#[must_use]
pub fn wants(call: &CallNote) -> Option<String> {
    let besides = call.also.is_some() && call.change.starts_with(&format!("{} on ", call.payload));
    let said = call.change == call.payload || call.change == call.tool || besides;
    let more = !call.change.is_empty() && !call.payload.is_empty() && !said;
    more.then(|| format!("wants {}", call.change))
}

/// An answer: `ok, v8`; `stale-view, store is v8`; `ok, sees v7 16 / 512`.
#[must_use]
pub fn answer(answer: &AnswerNote, call: Option<&CallNote>) -> String {
    let mut words = answer.outcome.clone();
    if let Some(view) = &answer.view {
        words = format!("{words}, sees {}", brief(view));
        if let Some(other) = &answer.other_view {
            words = format!("{words}, and {} {}", other.handle, brief(other));
        }
    } else if let Some(number) = answer.version {
        let store_is = if answer.outcome == "ok" { "" } else { "store is " };
        words = format!("{words}, {store_is}{}", version(number));
    }
    let asked = call.and_then(|call| call.handle.as_ref());
    if let (Some(asked), Some(about)) = (asked, &answer.handle)
        && asked != about
    {
        words = format!("{words}, about {about}");
    }
    if answer.replayed { format!("{words}, replayed") } else { words }
}

/// A transaction in full and in brief: all its steps that ran, or the one that decided; a refusal with its outcome.
#[must_use]
pub fn transaction(note: &TransactionNote, answer: Option<&AnswerNote>) -> (String, String) {
    let at_end = if note.at_end { "at end: " } else { "" };
    let Some(ended_by) = &note.ended_by else {
        // What it leaves behind stands at its end, and before it turns to another resource: `apply, other, resolve, apply`.
        let end = note.steps.len().saturating_sub(2);
        let turns = |index: usize| note.steps.get(index).is_some_and(|step| step == "other");
        let kept = |(index, _): &(usize, &String)| *index >= end || turns(*index) || turns(index + 1);
        let last: Vec<&str> = note.steps.iter().enumerate().filter(kept).map(|(_, step)| step.as_str()).collect();
        return (format!("{at_end}{}", note.steps.join(", ")), last.join(", "));
    };
    let ran = note.steps.iter().position(|step| step == ended_by).map_or(&[][..], |index| &note.steps[..index]);
    let mut outcome = answer.map_or_else(|| "ends the call".to_owned(), |answer| answer.outcome.clone());
    if answer.is_some_and(|answer| answer.replayed) {
        outcome.push_str(", replayed");
    }
    let decided = format!("{ended_by}: {outcome}");
    let all: Vec<&str> = ran.iter().map(String::as_str).chain([decided.as_str()]).collect();
    (format!("{at_end}{}", all.join(", ")), decided)
}

/// Numbers of steps: `12`, or `2–5`.
#[must_use]
pub fn steps(first: usize, last: usize) -> String {
    if first == last { first.to_string() } else { format!("{first}–{last}") }
}

/// Names in a sentence: `A`, `A and B`, `A, B and C`.
#[must_use]
pub fn list(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// What a trace is about, as a title: `Lost update` for `no-lost-update`.
#[must_use]
pub fn title(trace: &Trace) -> String {
    match &trace.shows {
        Some(situation) => format!("Reached: {situation}"),
        None => violation(&trace.invariant),
    }
}

/// What an assertion says that is violated; none where the trace is about something else.
#[must_use]
pub fn assertion(trace: &Trace) -> Option<String> {
    let scenario: toml::Table = toml::from_str(&trace.scenario.text).unwrap_or_default();
    let tables = [("at-rest", "nothing is left to do"), ("finally", "everybody was told ok")];
    tables.iter().find_map(|(table, when)| {
        let text = scenario.get(*table)?.get(&trace.invariant)?.as_str()?;
        Some(format!("{} says that once {when}: {text}.", trace.invariant))
    })
}

/// Whether a text holds a name as a whole word.
#[must_use]
pub fn names(text: &str, name: &str) -> bool {
    let part = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == '-';
    !name.is_empty() && text.split(|letter| !part(letter)).any(|word| word == name)
}

/// A violation as a title. What breaks an assertion has no name but the assertion's.
fn violation(invariant: &str) -> String {
    let named = match invariant {
        "truthful-outcome" => "Untrue outcome",
        "respects-terminal-state" => "Change after the end",
        "approval-covers-execution" => "Execution that was not approved",
        "basis-holds" => "Change on a basis that is gone",
        "handle-resolvable" => "Handle that can't be resolved",
        "single-lease-holder" => "Two holders of one lease",
        "version-names-one-content" => "One version of two contents",
        "fresh-read" => "Stale read",
        "resolves" => "Work that never ends",
        "no-cross-principal" => "Access across principals",
        "no-orphan" => "Orphaned resource",
        _ => "",
    };
    if !named.is_empty() {
        return named.to_owned();
    }
    let Some(bad) = invariant.strip_prefix("no-") else { return format!("Not true: {invariant}") };
    let words = bad.replace('-', " ");
    let mut letters = words.chars();
    letters.next().map_or(words.clone(), |first| first.to_uppercase().chain(letters).collect())
}

/// The sentence of the violation, as a sentence: with a full stop.
#[must_use]
pub fn sentence(text: &str) -> String {
    let text = text.trim();
    if text.is_empty() || text.ends_with(['.', '?', '!']) { text.to_owned() } else { format!("{text}.") }
}

/// The faults of a run: `none`, `1 drop-stream, 2 restart-node`, in the order in which they first strike.
#[must_use]
pub fn faults(trace: &Trace) -> String {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for step in trace.steps.iter().filter(|step| step.does.fault) {
        match counts.iter_mut().find(|(name, _)| *name == step.does.action) {
            Some((_, count)) => *count += 1,
            None => counts.push((&step.does.action, 1)),
        }
    }
    let words: Vec<String> = counts.iter().map(|(name, count)| format!("{count} {name}")).collect();
    if words.is_empty() { "none".to_owned() } else { words.join(", ") }
}

/// The command that replays a trace from the file in which traces are kept by convention.
#[must_use]
pub fn replay(trace: &Trace) -> String {
    let file = format!("traces/{}", trace.file_name(0));
    format!("handlecheck replay {}", argument(&file))
}

/// A word of a command, quoted where a shell would read it otherwise.
#[must_use]
pub fn argument(word: &str) -> String {
    let plain = |letter: char| letter.is_alphanumeric() || "-_./=,".contains(letter);
    let quoted = || format!("'{}'", word.replace('\'', r"'\''"));
    if !word.is_empty() && word.chars().all(plain) { word.to_owned() } else { quoted() }
}

/// A text that is safe on one line: names come from users, so they may hold line breaks, escapes for a terminal, or marks
/// that turn the direction of what follows.
#[must_use]
pub fn line(text: &str) -> String {
    let turns =
        |letter: char| matches!(letter, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let one = |letter: char| {
        let breaks = letter.is_control() || matches!(letter, '\u{2028}' | '\u{2029}');
        if breaks { ' ' } else { letter }
    };
    text.chars().filter(|letter| !turns(*letter)).map(one).collect()
}

/// How many columns a text takes in a monospaced type.
#[must_use]
pub fn width(text: &str) -> usize {
    text.width()
}

/// A text in at most so many columns, with an ellipsis where something was left out.
#[must_use]
pub fn shorten(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let Some(room) = columns.checked_sub(1) else { return String::new() };
    let mut used = 0;
    let fits = |letter: &char| {
        used += letter.width().unwrap_or(0);
        used <= room
    };
    let kept: String = text.chars().take_while(fits).collect();
    format!("{}…", kept.trim_end())
}

/// A name in at most so many columns: what is left out is in its middle, since names that begin alike often end otherwise.
#[must_use]
pub fn shorten_name(name: &str, columns: usize) -> String {
    if width(name) <= columns || columns < 3 {
        return shorten(name, columns);
    }
    let (mut tail, mut used) = (Vec::new(), 0);
    for letter in name.chars().rev() {
        used += letter.width().unwrap_or(0);
        if used > (columns - 1) / 2 {
            break;
        }
        tail.push(letter);
    }
    let tail: String = tail.into_iter().rev().collect();
    let tail = tail.trim_start();
    format!("{}{tail}", shorten(name, columns - width(tail)))
}

/// Breaks a text into lines of at most so many columns, at spaces; a word that is too long by itself is broken.
#[must_use]
pub fn wrap(text: &str, columns: usize) -> Vec<String> {
    let columns = columns.max(4);
    let mut lines: Vec<String> = Vec::new();
    let mut current = String::new();
    for word in text.split_whitespace() {
        let mut word = word.to_owned();
        if !current.is_empty() && width(&current) + 1 + width(&word) > columns {
            lines.push(std::mem::take(&mut current));
        }
        while width(&word) > columns {
            let (head, tail) = split(&word, columns);
            lines.push(head);
            word = tail;
        }
        if !current.is_empty() {
            current.push(' ');
        }
        current.push_str(&word);
    }
    if !current.is_empty() {
        lines.push(current);
    }
    lines
}

/// Splits a word after so many columns; the head has at least one character.
fn split(word: &str, columns: usize) -> (String, String) {
    let mut used = 0;
    let mut at = word.len();
    for (index, letter) in word.char_indices() {
        used += letter.width().unwrap_or(0);
        if used > columns && index > 0 {
            at = index;
            break;
        }
    }
    (word[..at].to_owned(), word[at..].to_owned())
}

#[cfg(test)]
mod tests {
    use super::{list, names, shorten, shorten_name, steps, violation, width, wrap};

    #[test]
    fn wrapping_breaks_at_spaces_and_within_words_that_are_too_long() {
        assert_eq!(wrap("one two three", 8), ["one two", "three"]);
        assert_eq!(wrap("abcdefghijkl", 5), ["abcde", "fghij", "kl"]);
        assert_eq!(wrap("名前名前", 4), ["名前", "名前"]);
        assert!(wrap("  ", 10).is_empty());
    }

    #[test]
    fn shortening_never_exceeds_its_room() {
        assert_eq!(shorten("planner", 7), "planner");
        assert_eq!(shorten("planner", 5), "plan…");
        assert_eq!(shorten("planner", 0), "");
        assert!(width(&shorten("名前名前", 4)) <= 4);
        assert_eq!([0, 2].map(|offset| shorten_name(&format!("list?offset={offset}"), 9)), ["list…et=0", "list…et=2"]);
        assert_eq!(shorten_name("planner", 7), "planner");
        for columns in 0..8 {
            assert!(width(&shorten_name("名前の名前", columns)) <= columns, "{columns}");
        }
    }

    #[test]
    fn lists_and_ranges_read_well() {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        assert_eq!(list(&names(&["A", "B", "C"])), "A, B and C");
        assert_eq!((steps(2, 5), steps(7, 7)), ("2–5".to_owned(), "7".to_owned()));
    }

    #[test]
    fn a_name_is_a_whole_word() {
        assert!(names("giro.balance + savings.balance == 200", "savings"));
        assert!(!names("savings-2 and my_savings", "savings") && !names("anything", ""));
    }

    #[test]
    fn a_title_names_what_happened() {
        assert_eq!(violation("no-lost-update"), "Lost update");
        assert_eq!(violation("resolves"), "Work that never ends");
        assert_eq!(violation("both-upgrades"), "Not true: both-upgrades");
        assert_eq!(violation(""), "Not true: ");
    }
}
