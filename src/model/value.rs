//! Values of fields.

use std::fmt;

/// The value of a field: a number, a string, or a list of values.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Value {
    /// A whole number.
    Number(i64),
    /// A string.
    Text(String),
    /// A list, in the order of its appends.
    List(Vec<Value>),
}

impl Value {
    /// The value of this kind that says nothing: what a field has that was not written.
    #[must_use]
    pub const fn empty(&self) -> Self {
        match self {
            Self::Number(_) => Self::Number(0),
            Self::Text(_) => Self::Text(String::new()),
            Self::List(_) => Self::List(Vec::new()),
        }
    }

    /// A value from JSON, if it is one: a whole number, a string, or a list of values.
    #[must_use]
    pub fn of_json(json: &serde_json::Value) -> Option<Self> {
        match json {
            serde_json::Value::Number(number) => number.as_i64().map(Self::Number),
            serde_json::Value::String(text) => Some(Self::Text(text.clone())),
            serde_json::Value::Array(list) => list.iter().map(Self::of_json).collect::<Option<_>>().map(Self::List),
            serde_json::Value::Null | serde_json::Value::Bool(_) | serde_json::Value::Object(_) => None,
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            // An empty string would be invisible.
            Self::Text(text) if text.is_empty() => f.write_str("\"\""),
            Self::Text(text) => f.write_str(text),
            Self::List(elements) => {
                f.write_str("[")?;
                for (index, element) in elements.iter().enumerate() {
                    if index > 0 {
                        f.write_str(", ")?;
                    }
                    write!(f, "{element}")?;
                }
                f.write_str("]")
            }
        }
    }
}
