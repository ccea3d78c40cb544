//! What a history says, by the numbers of its names and values.

use std::ops::Range;

use serde_json::Value;

use super::{History, Mark, Name, Observed, Part, Record, Rests, ValueId};

impl History {
    /// How many calls there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.calls.iter().filter(|call| !call.is_besides()).count()
    }

    /// What a call does to another resource besides its own.
    #[must_use]
    pub fn besides(&self, call: u32) -> Option<&Record> {
        self.calls.get(call as usize + 1).filter(|other| other.is_besides())
    }

    /// What a call does to the resource that it names, of which this is a half; or the call itself.
    #[must_use]
    pub fn own(&self, call: u32) -> u32 {
        call - u32::from(self.calls[call as usize].is_besides())
    }

    /// What a call carries.
    #[must_use]
    pub fn fields(&self, call: &Record) -> &[(Name, ValueId)] {
        &self.pairs[range(call.fields)]
    }

    /// What a call's answer shows.
    #[must_use]
    pub fn shown(&self, call: &Record) -> &[(Name, ValueId)] {
        &self.pairs[range(call.shown)]
    }

    /// What an observer saw.
    #[must_use]
    pub fn content(&self, observed: &Observed) -> &[(Name, ValueId)] {
        &self.pairs[range(observed.shown)]
    }

    /// The versions that a request expects.
    #[must_use]
    pub fn expects(&self, call: &Record) -> &[(Name, Mark)] {
        &self.marks[range(call.expects)]
    }

    /// The versions that a call's author had seen, as the log says.
    #[must_use]
    pub fn saw(&self, call: &Record) -> &[(Name, Mark)] {
        &self.marks[range(call.saw)]
    }

    /// What a call says that its plan rests on, where it says anything.
    #[must_use]
    pub fn rests(&self, call: &Record) -> Option<&Rests> {
        Some(&self.rests[call.rests? as usize])
    }

    /// A value as JSON.
    #[must_use]
    pub fn json(&self, value: ValueId) -> Value {
        serde_json::from_str(&self.values.texts[value.0 as usize]).unwrap_or_default()
    }

    /// A name as text.
    #[must_use]
    pub fn text(&self, name: Name) -> &str {
        &self.names.texts[name.0 as usize]
    }

    /// A value, as JSON without quotes around a string.
    #[must_use]
    pub fn shown_value(&self, value: ValueId) -> String {
        let text = &self.values.texts[value.0 as usize];
        serde_json::from_str::<String>(text).unwrap_or_else(|_| text.to_string())
    }

    /// A value as a whole number.
    #[must_use]
    pub fn number(&self, value: ValueId) -> Option<i64> {
        self.values.texts[value.0 as usize].parse().ok()
    }

    /// The elements of a list; none: it is no list.
    #[must_use]
    pub fn elements(&self, value: ValueId) -> Option<&[ValueId]> {
        self.lists.get(&value).map(|elements| &**elements)
    }

    /// The elements that a value appends: those of a list, or itself.
    #[must_use]
    pub fn appended(&self, value: ValueId) -> Vec<ValueId> {
        self.elements(value).map_or_else(|| vec![value], <[ValueId]>::to_vec)
    }

    /// What the log calls a call.
    #[must_use]
    pub fn id(&self, call: &Record) -> String {
        call.id.map_or_else(|| format!("line {}", call.line), |id| self.text(id).to_owned())
    }

    /// A version as text: `v7`.
    #[must_use]
    pub fn version(&self, mark: Mark) -> String {
        match mark {
            Mark::None => "an unknown version".to_owned(),
            Mark::Number(number) => format!("v{number}"),
            Mark::Name(name) => format!("version {}", self.text(name)),
        }
    }
}

const fn range(part: Part) -> Range<usize> {
    part.0 as usize..part.1 as usize
}
