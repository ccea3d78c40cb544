//! What a mapping says of a tool: what its calls do, and where the parts stand that other calls do not have.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;
use toml::Spanned;

use super::{Constant, Part, Pointer, find, text};
use crate::assertion;
use crate::input::foreign::Problem;
use crate::log::{Also, Condition, Operation};

/// What a tool does, and where its parts are.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", expecting = "a table of the parts of a tool")]
pub(super) struct ToolParts {
    pub(super) does: Operation,
    pub(super) handle: Option<Part>,
    /// Either each field by itself, or one part that is an object of all.
    #[serde(default)]
    pub(super) fields: Fields,
    pub(super) expects: Option<Part>,
    pub(super) saw: Option<Part>,
    pub(super) given: Option<Handles>,
    #[serde(rename = "if")]
    pub(super) condition: Option<ConditionParts>,
    pub(super) also: Option<AlsoParts>,
    pub(super) version: Option<Part>,
    pub(super) answer_handle: Option<Part>,
    #[serde(default)]
    pub(super) shows: Fields,
}

/// What a tool does to another resource besides, and where the parts of that are.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table of what is done besides")]
pub(super) struct AlsoParts {
    pub(super) does: Spanned<Operation>,
    /// A call that has none works on one resource alone.
    pub(super) handle: Part,
    #[serde(default)]
    pub(super) fields: Fields,
    pub(super) expects: Option<Part>,
    pub(super) saw: Option<Part>,
    pub(super) version: Option<Part>,
    #[serde(default)]
    pub(super) shows: Fields,
}

/// Under which condition a call is wanted.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table of `expression` and `names`")]
pub(super) struct ConditionParts {
    /// A call that has none is wanted without.
    pub(super) expression: Spanned<Part>,
    /// What each name in it stands for: a handle.
    pub(super) names: Spanned<BTreeMap<String, Part>>,
}

/// Where handles are. Unlike in other lists, all of these count.
#[derive(Clone, Debug, Deserialize)]
#[serde(
    untagged,
    expecting = "expected a JSON pointer to a handle or to a list of handles, or a list of such pointers"
)]
pub(super) enum Handles {
    At(Pointer),
    Is(Constant),
    All(Vec<Part>),
}

#[derive(Clone, Debug, Deserialize)]
#[serde(untagged, expecting = "expected a JSON pointer to an object, or a table of fields")]
pub(super) enum Fields {
    All(Pointer),
    Each(BTreeMap<String, Part>),
}

impl Default for Fields {
    fn default() -> Self {
        Self::Each(BTreeMap::new())
    }
}

impl ToolParts {
    /// What is wrong with it, where its parts don't fit together.
    pub(super) fn problems(&self) -> Vec<Problem> {
        let of_also = self.also.iter().filter_map(|also| {
            let what = also.does.get_ref().misfit(self.does)?;
            Some((also.does.span(), what.to_owned(), None))
        });
        of_also.chain(self.condition.iter().filter_map(ConditionParts::problem)).collect()
    }
}

impl AlsoParts {
    pub(super) fn find(&self, line: &Value) -> Option<Also> {
        let handle = text(&self.handle, line)?;
        Some(Also { tool: *self.does.get_ref(), handle, fields: self.fields.find(line) })
    }
}

impl ConditionParts {
    pub(super) fn find(&self, line: &Value) -> Option<Condition> {
        let expression = text(self.expression.get_ref(), line)?;
        let names = self.names.get_ref().iter();
        let names = names.filter_map(|(name, part)| Some((name.clone(), text(part, line)?))).collect();
        Some(Condition { expression, names })
    }

    /// What is wrong with an expression that is the same for every call.
    fn problem(&self) -> Option<Problem> {
        let Part::Is(Constant { is: Value::String(expression) }) = self.expression.get_ref() else { return None };
        if let Err(message) = assertion::read(expression) {
            return Some((self.expression.span(), message, None));
        }
        let names: Vec<&str> = self.names.get_ref().keys().map(String::as_str).collect();
        let (message, help) = assertion::unused(expression, &names)?;
        Some((self.names.span(), message, help))
    }
}

impl Handles {
    /// The handles that stand there; none: nothing stands there.
    pub(super) fn find(&self, line: &Value) -> Option<Vec<String>> {
        let found: Vec<Value> = match self {
            Self::At(pointer) => pointer.find(line).into_iter().collect(),
            Self::Is(Constant { is }) => vec![is.clone()],
            Self::All(parts) => parts.iter().filter_map(|part| find(part, line)).collect(),
        };
        let mut found = found.into_iter().filter(|value| !value.is_null()).peekable();
        found.peek()?;
        let each = found.flat_map(|value| match value {
            Value::Array(all) => all,
            one => vec![one],
        });
        let handle = |value| match value {
            Value::String(text) => text,
            other => other.to_string(),
        };
        Some(each.map(handle).collect())
    }

    pub(super) fn pointers(&self) -> Vec<&Pointer> {
        match self {
            Self::At(pointer) => vec![pointer],
            Self::Is(_) => Vec::new(),
            Self::All(parts) => parts.iter().flat_map(Part::pointers).collect(),
        }
    }
}

impl Fields {
    pub(super) fn find(&self, line: &Value) -> BTreeMap<String, Value> {
        match self {
            Self::All(pointer) => match pointer.find(line) {
                Some(Value::Object(all)) => all.into_iter().collect(),
                _ => BTreeMap::new(),
            },
            Self::Each(parts) => {
                parts.iter().filter_map(|(name, part)| Some((name.clone(), find(part, line)?))).collect()
            }
        }
    }
}
