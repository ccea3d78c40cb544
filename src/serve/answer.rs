//! What goes back to the client: the structured content of a tool's result.

use serde::{Deserialize, Serialize};

use super::request::{Fields, Stamp};
use super::signed::Carried;
use crate::model::Outcome;

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// How the call ended, by its name.
    #[serde(with = "by_name")]
    pub outcome: Outcome,
    /// The handle that it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handle: Option<String>,
    /// The new version after a change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<i64>,
    /// A view of the resource, from `read`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub view: Option<View>,
    /// With `stale-view`, what is current of all that the call expected.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub current: Vec<Stamp>,
    /// The new version of what was changed besides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub also: Option<Stamp>,
    /// The state that its handle carries from now on, until it is signed and sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub carried: Option<Carried>,
    /// It was answered from a record.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub replayed: bool,
}

/// What a resource looked like.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct View {
    /// Its version.
    pub version: i64,
    /// Its content.
    pub content: Fields,
    /// The fence number that was given out with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fence: Option<i64>,
}

impl Answer {
    /// An answer about this handle to which nothing has been added yet.
    #[must_use]
    pub const fn about(handle: Option<String>) -> Self {
        Self {
            outcome: Outcome::Ok,
            handle,
            version: None,
            view: None,
            current: Vec::new(),
            also: None,
            carried: None,
            replayed: false,
        }
    }
}

mod by_name {
    use serde::{Deserialize, Deserializer, Serializer, de};

    use crate::model::Outcome;

    pub(super) fn serialize<S: Serializer>(outcome: &Outcome, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(outcome.name())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Outcome, D::Error> {
        let name = String::deserialize(deserializer)?;
        Outcome::named(&name).ok_or_else(|| de::Error::custom(format!("there is no outcome `{name}`")))
    }
}
