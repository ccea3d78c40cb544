//! Edits of a design, one at a time, in the text of its file.
//!
//! An edit names what it changes by the names of steps and settings, so it can be made after other edits too. It keeps the
//! rest of the file as its author wrote it.

use std::collections::BTreeSet;
use std::str::FromStr;

use toml_edit::{DocumentMut, Item, Table, TableLike, Value};

use crate::model::Tool;

/// One change of a design.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Edit {
    /// Leaves a step out.
    Remove(Place),
    /// Ends the transaction before a step, and begins another with it.
    Split(Place),
    /// Makes one transaction of that which begins with a step and the one before it.
    Join(Place),
    /// Puts a step in front of the one that comes before it, in the same transaction.
    Forward(Place),
    /// Adds a step.
    Add {
        /// Which.
        step: &'static str,
        /// Next to which, in its transaction.
        next_to: Place,
        /// Behind it, rather than before.
        behind: bool,
    },
    /// Puts another step in the place of one.
    Replace {
        /// Which one goes.
        place: Place,
        /// Which one comes.
        step: &'static str,
    },
    /// Sets a setting.
    Set {
        /// The table: `server.keys`, say; empty is the top of the file.
        table: &'static str,
        /// The setting.
        key: &'static str,
        /// Its value, as TOML.
        value: String,
    },
}

/// A step of a handler, by its name: the occurrence of this number, from 0.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The tool whose handler it is in.
    pub tool: Tool,
    /// In the list `at-end`, rather than in `transactions`.
    pub at_end: bool,
    /// The step.
    pub step: String,
    /// Of several of that name.
    pub occurrence: usize,
    /// How many there are of that name.
    pub of: usize,
}

impl Place {
    fn list(&self) -> &'static str {
        if self.at_end { "at-end" } else { "transactions" }
    }

    /// The step in words that leave no doubt which is meant.
    fn words(&self) -> String {
        const ORDINALS: [&str; 4] = ["first", "second", "third", "fourth"];
        match ORDINALS.get(self.occurrence).filter(|_| self.of > 1) {
            Some(ordinal) => format!("the {ordinal} {}", self.step),
            None if self.of > 1 => format!("{} number {}", self.step, self.occurrence + 1),
            None => self.step.clone(),
        }
    }

    /// In which transaction it is, and where in that.
    fn find(&self, transactions: &[Vec<String>]) -> Option<(usize, usize)> {
        let all = transactions.iter().enumerate();
        let mut all = all.flat_map(|(index, steps)| steps.iter().enumerate().map(move |(at, step)| (index, at, step)));
        let (index, at, _) = all.by_ref().filter(|(.., step)| **step == self.step).nth(self.occurrence)?;
        Some((index, at))
    }
}

impl Edit {
    /// What it changes, in a few words.
    #[must_use]
    pub fn words(&self) -> String {
        let list = |place: &Place| {
            let end = if place.at_end { " at the end" } else { "" };
            format!("{}{end}", place.tool)
        };
        match self {
            Self::Remove(place) => format!("{}: without {}", list(place), place.words()),
            Self::Split(place) => format!("{}: another transaction from {} on", list(place), place.words()),
            Self::Join(place) => {
                format!("{}: the transaction that begins with {} joined to the one before", list(place), place.words())
            }
            Self::Forward(place) => format!("{}: {} one step earlier", list(place), place.words()),
            Self::Add { step, next_to, behind } => {
                let side = if *behind { "behind" } else { "before" };
                format!("{}: {step} {side} {}", list(next_to), next_to.words())
            }
            Self::Replace { place, step } => format!("{}: {step} in place of {}", list(place), place.words()),
            Self::Set { table, key, value } => format!("[{table}] {key} = {value}"),
        }
    }

    /// What it is about: the same for other values of one setting, and for other places of one step that is added.
    #[must_use]
    pub fn idea(&self) -> Self {
        match self {
            Self::Add { step, next_to, .. } => {
                let anywhere = Place { step: String::new(), occurrence: 0, of: 0, ..next_to.clone() };
                Self::Add { step, next_to: anywhere, behind: false }
            }
            Self::Set { table, key, .. } => Self::Set { table, key, value: String::new() },
            other => other.clone(),
        }
    }

    /// Whether it makes clients give up sooner: work that is left undone breaks little, and is no remedy for it.
    #[must_use]
    pub fn gives_up(&self) -> bool {
        match self {
            Self::Set { table: "client", key: "after-failure", value } => value == "\"stop\"",
            Self::Set { table: "client.on", value, .. } => {
                value.starts_with("{ tell = ") && value != "{ tell = \"ok\" }"
            }
            _ => false,
        }
    }

    /// Whether it is one of how something is deployed, which stands in the scenario.
    #[must_use]
    pub fn is_of_the_rollout(&self) -> bool {
        matches!(self, Self::Set { table: "deploy", .. })
    }

    /// The same as a part of a file's name.
    #[must_use]
    pub fn slug(&self) -> String {
        let mut slug = String::new();
        for c in self.words().chars() {
            if c.is_ascii_alphanumeric() {
                slug.push(c.to_ascii_lowercase());
            } else if !slug.ends_with('-') && !slug.is_empty() {
                slug.push('-');
            }
        }
        slug.trim_end_matches('-').to_owned()
    }

    /// The text with this change; `None` where there is nothing to change, or the file says so already.
    #[must_use]
    pub fn apply(&self, text: &str) -> Option<String> {
        let mut document = DocumentMut::from_str(text).ok()?;
        match self {
            Self::Set { table, key, value } => set(&mut document, table, key, value)?,
            Self::Remove(place)
            | Self::Split(place)
            | Self::Join(place)
            | Self::Forward(place)
            | Self::Replace { place, .. } => {
                self.rewrite(&mut document, place)?;
            }
            Self::Add { next_to, .. } => self.rewrite(&mut document, next_to)?,
        }
        let changed = document.to_string();
        (changed != text).then_some(changed)
    }

    fn rewrite(&self, document: &mut DocumentMut, place: &Place) -> Option<()> {
        let handler = document.get_mut("server")?.as_table_like_mut()?;
        let handler = handler.get_mut(place.tool.name())?.as_table_like_mut()?;
        let list = handler.get_mut(place.list())?;
        let mut transactions = transactions(list)?;
        let (index, at) = place.find(&transactions)?;
        match self {
            Self::Remove(_) => {
                transactions[index].remove(at);
                if transactions[index].is_empty() {
                    transactions.remove(index);
                }
            }
            Self::Split(_) => {
                let rest = transactions[index].split_off(at);
                if transactions[index].is_empty() {
                    return None;
                }
                transactions.insert(index + 1, rest);
            }
            Self::Join(_) => {
                let before = index.checked_sub(1).filter(|_| at == 0)?;
                let rest = transactions.remove(index);
                transactions[before].extend(rest);
            }
            Self::Forward(_) => transactions[index].swap(at.checked_sub(1)?, at),
            Self::Add { step, behind, .. } => transactions[index].insert(at + usize::from(*behind), (*step).to_owned()),
            Self::Replace { step, .. } => transactions[index][at] = (*step).to_owned(),
            Self::Set { .. } => return None,
        }
        if transactions.is_empty() && place.at_end {
            handler.remove(place.list());
            return Some(());
        }
        let several_lines = list.to_string().contains('\n');
        *list.as_value_mut()? = written(&transactions, several_lines);
        Some(())
    }
}

/// The transactions of a list; `None` where it is something else.
fn transactions(list: &Item) -> Option<Vec<Vec<String>>> {
    let steps = |list: &Value| -> Option<Vec<String>> {
        list.as_array()?.iter().map(|step| Some(step.as_str()?.to_owned())).collect()
    };
    list.as_array()?.iter().map(steps).collect()
}

/// The list as a file has it: on one line, or one transaction a line.
fn written(transactions: &[Vec<String>], several_lines: bool) -> Value {
    let lists = transactions.iter().map(|steps| {
        let steps: Vec<String> = steps.iter().map(|step| format!("\"{step}\"")).collect();
        format!("[{}]", steps.join(", "))
    });
    let lists: Vec<String> = lists.collect();
    let text = if several_lines && lists.len() > 1 {
        format!("[\n    {},\n]", lists.join(",\n    "))
    } else {
        format!("[{}]", lists.join(", "))
    };
    let mut value = Value::from_str(&text).expect("a list of lists of names is TOML");
    value.decor_mut().set_prefix(" ");
    value
}

fn set(document: &mut DocumentMut, table: &str, key: &str, value: &str) -> Option<()> {
    let mut at: &mut dyn TableLike = document.as_table_mut();
    for part in table.split('.').filter(|part| !part.is_empty()) {
        if at.get(part).is_none() {
            let mut new = Table::new();
            new.set_implicit(false);
            at.insert(part, Item::Table(new));
        }
        at = at.get_mut(part)?.as_table_like_mut()?;
    }
    let mut new = Value::from_str(value).ok()?;
    match at.get_mut(key).and_then(Item::as_value_mut) {
        Some(old) => {
            *new.decor_mut() = old.decor().clone();
            *old = new;
        }
        None => {
            at.insert(key, Item::Value(new));
        }
    }
    Some(())
}

/// One of each idea, in this order, and then those that have another place or value only.
pub fn ideas_first<T>(all: Vec<T>, edits: impl Fn(&T) -> &[Edit]) -> Vec<T> {
    let mut seen = BTreeSet::new();
    let new = |item: &T| seen.insert(edits(item).iter().map(Edit::idea).collect::<Vec<_>>());
    let (mut first, others): (Vec<T>, Vec<T>) = all.into_iter().partition(new);
    first.extend(others);
    first
}

/// Every place of a handler's steps in a design.
#[must_use]
pub fn places(tool: Tool, handler: &crate::model::Handler) -> Vec<Place> {
    let mut places: Vec<Place> = Vec::new();
    for (at_end, list) in [(false, &handler.transactions), (true, &handler.at_end)] {
        for step in list.iter().flatten() {
            let same = |place: &&Place| place.at_end == at_end && place.step == *step;
            let occurrence = places.iter().filter(same).count();
            let of = list.iter().flatten().filter(|other| *other == step).count();
            places.push(Place { tool, at_end, step: (*step).to_owned(), occurrence, of });
        }
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str =
        "# mine\n[server.write] # the tool\ntransactions = [[\"resolve\", \"apply\"], [\"record-key\"]]\n";

    fn place(step: &str) -> Place {
        Place { tool: Tool::Write, at_end: false, step: step.to_owned(), occurrence: 0, of: 1 }
    }

    #[track_caller]
    fn becomes(edit: &Edit, transactions: &str) {
        let text = TEXT.replace("[[\"resolve\", \"apply\"], [\"record-key\"]]", transactions);
        assert_eq!(edit.apply(TEXT), Some(text), "{}", edit.words());
    }

    #[test]
    fn who_stops_or_tells_a_failure_gives_up_and_who_goes_on_does_not() {
        let set = |table, key, value: &str| Edit::Set { table, key, value: value.to_owned() };
        for (edit, gives_up) in [
            (set("client", "after-failure", "\"stop\""), true),
            (set("client", "after-failure", "\"next\""), false),
            (set("client.on", "stale-view", "{ tell = \"conflict\" }"), true),
            (set("client.on", "name-taken", "{ tell = \"ok\" }"), false),
            (set("client.on", "stale-view", "{ send = \"replan\" }"), false),
            (set("client", "precondition", "\"viewed-version\""), false),
        ] {
            assert_eq!(edit.gives_up(), gives_up, "{}", edit.words());
        }
    }

    #[test]
    fn an_edit_changes_its_list_and_nothing_else() {
        becomes(&Edit::Remove(place("resolve")), "[[\"apply\"], [\"record-key\"]]");
        becomes(&Edit::Remove(place("record-key")), "[[\"resolve\", \"apply\"]]");
        becomes(&Edit::Split(place("apply")), "[[\"resolve\"], [\"apply\"], [\"record-key\"]]");
        becomes(&Edit::Join(place("record-key")), "[[\"resolve\", \"apply\", \"record-key\"]]");
        becomes(&Edit::Forward(place("apply")), "[[\"apply\", \"resolve\"], [\"record-key\"]]");
        becomes(&Edit::Replace { place: place("apply"), step: "mint" }, "[[\"resolve\", \"mint\"], [\"record-key\"]]");
        let add = Edit::Add { step: "authorize", next_to: place("apply"), behind: false };
        becomes(&add, "[[\"resolve\", \"authorize\", \"apply\"], [\"record-key\"]]");
        for edit in [Edit::Split(place("resolve")), Edit::Join(place("apply")), Edit::Forward(place("record-key"))] {
            assert_eq!(edit.apply(TEXT), None, "{}", edit.words());
        }
        assert_eq!(Edit::Remove(place("mint")).apply(TEXT), None);
    }

    /// What somebody does who has the words alone, to the letter.
    fn by_the_words(words: &str, mut all: Vec<Vec<String>>) -> Vec<Vec<String>> {
        let words = words.strip_prefix("write: ").expect("it is about writes");
        let find = |all: &[Vec<String>], named: &str| {
            let number =
                ["first", "second", "third"].iter().position(|word| named.starts_with(&format!("the {word} ")));
            let step = number.map_or(named, |_| named.rsplit(' ').next().expect("it is the last word"));
            let mut found = Vec::new();
            for (index, steps) in all.iter().enumerate() {
                found.extend((0..steps.len()).filter(|at| steps[*at] == step).map(|at| (index, at)));
            }
            assert!(number.is_some() || found.len() == 1, "{words}: which {step}?");
            found[number.unwrap_or(0)]
        };
        if let Some(step) = words.strip_prefix("without ") {
            let (index, at) = find(&all, step);
            all[index].remove(at);
            all.retain(|steps| !steps.is_empty());
        } else if let Some(rest) = words.strip_prefix("another transaction from ") {
            let (index, at) = find(&all, rest.strip_suffix(" on").expect("it says from where"));
            let tail = all[index].split_off(at);
            all.insert(index + 1, tail);
        } else if let Some(rest) = words.strip_prefix("the transaction that begins with ") {
            let (index, at) = find(&all, rest.strip_suffix(" joined to the one before").expect("it says to which"));
            assert_eq!(at, 0, "{words}");
            let tail = all.remove(index);
            all[index - 1].extend(tail);
        } else if let Some(step) = words.strip_suffix(" one step earlier") {
            let (index, at) = find(&all, step);
            all[index].swap(at - 1, at);
        } else if let Some((step, place)) = words.split_once(" in place of ") {
            let (index, at) = find(&all, place);
            all[index][at] = step.to_owned();
        } else if let Some((step, place)) = words.split_once(" before ") {
            let (index, at) = find(&all, place);
            all[index].insert(at, step.to_owned());
        } else {
            let (step, place) = words.split_once(" behind ").expect("there is nothing else to do");
            let (index, at) = find(&all, place);
            all[index].insert(at + 1, step.to_owned());
        }
        all
    }

    #[test]
    fn whoever_does_what_the_words_say_does_what_was_tried() {
        let steps = |all: &[Vec<&'static str>]| -> Vec<Vec<String>> {
            all.iter().map(|steps| steps.iter().map(|step| (*step).to_owned()).collect()).collect()
        };
        let mut done = 0;
        for transactions in [
            vec![vec!["resolve", "find-key", "answer"], vec!["check-open", "apply", "record-key"]],
            vec![vec!["resolve", "apply"], vec!["other", "resolve", "apply"]],
            vec![vec!["apply-next"], vec!["apply-next", "apply-next"], vec!["record-key"]],
        ] {
            let handler = crate::model::Handler { transactions: transactions.clone(), at_end: Vec::new() };
            let text = format!("[server.write]\ntransactions = {transactions:?}\n");
            let kinds: [fn(Place) -> Edit; 4] = [Edit::Remove, Edit::Split, Edit::Join, Edit::Forward];
            for place in places(Tool::Write, &handler) {
                let single = kinds.iter().map(|kind| kind(place.clone()));
                let replaced = Edit::Replace { place: place.clone(), step: "save" };
                let added = [false, true].map(|behind| Edit::Add { step: "authorize", next_to: place.clone(), behind });
                for edit in single.chain([replaced]).chain(added) {
                    let Some(changed) = edit.apply(&text) else { continue };
                    let expected = by_the_words(&edit.words(), steps(&transactions));
                    assert_eq!(changed, format!("[server.write]\ntransactions = {expected:?}\n"), "{}", edit.words());
                    done += 1;
                }
            }
        }
        assert!(done > 70, "{done}");
    }

    #[test]
    fn several_lines_stay_several_lines() {
        let text = "[server.write]\ntransactions = [\n    [\"resolve\"],\n    [\"apply\"],\n]\n";
        let after = "[server.write]\ntransactions = [\n    [\"resolve\"],\n    [\"authorize\", \"apply\"],\n]\n";
        let add = Edit::Add { step: "authorize", next_to: place("apply"), behind: false };
        assert_eq!(add.apply(text).as_deref(), Some(after));
    }

    #[test]
    fn a_setting_is_set_where_it_stands_or_in_a_new_table() {
        let set = |table, key, value: &str| Edit::Set { table, key, value: value.to_owned() };
        let text = "[client]\nkey = \"none\" # no key\n";
        let changed = set("client", "key", "\"per-intent\"").apply(text);
        assert_eq!(changed.as_deref(), Some("[client]\nkey = \"per-intent\" # no key\n"));
        let changed = set("client.on", "stale-view", "{ send = \"replan\" }").apply(text);
        assert_eq!(changed, Some(format!("{text}\n[client.on]\nstale-view = {{ send = \"replan\" }}\n")));
        assert_eq!(set("client", "key", "\"none\"").apply(text), None);
    }
}
