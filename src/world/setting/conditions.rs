//! Conditions: what must be true of fields so that an intent is done.

use super::Setting;
use crate::assertion::{self, Compiled, Facts, ResourceFacts};
use crate::model::{Entry, ResourceId, Scenario, Value};
use crate::world::Content;

/// The condition of a work entry (`if`).
#[derive(Clone, Debug)]
pub struct Condition {
    /// The expression as it is written.
    pub text: String,
    compiled: Compiled,
    resources: Vec<ResourceId>,
}

/// Two conditions are the same when they are written alike, over the same resources.
impl PartialEq for Condition {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text && self.resources == other.resources
    }
}

impl Eq for Condition {}

impl Condition {
    pub(super) fn of(scenario: &Scenario, entry: &Entry) -> Option<Self> {
        let Entry::Mutate { condition: Some(text), .. } = entry else { return None };
        let rests_on = entry.judged_on();
        let names = assertion::condition_names(rests_on.iter().map(|resource| &scenario.resources[*resource]));
        let compiled = assertion::compile(text, &names).expect("reading checked every condition");
        let resources =
            rests_on.into_iter().filter(|resource| compiled.names(&scenario.resources[*resource].name)).collect();
        Some(Self { text: text.clone(), compiled, resources })
    }

    /// What it names.
    #[must_use]
    pub fn resources(&self) -> &[ResourceId] {
        &self.resources
    }

    /// Whether it names this resource.
    #[must_use]
    pub fn names(&self, resource: ResourceId) -> bool {
        self.resources.contains(&resource)
    }

    /// Whether it is true of these contents of the resources that it names; `None`: one of them is missing. Where it is
    /// neither true nor false (an index beyond the end of a list, say) it is not met.
    pub fn is_met<'c>(&self, setting: &Setting, content: impl Fn(ResourceId) -> Option<&'c Content>) -> Option<bool> {
        let fields = |resource: &ResourceId| -> Option<Vec<(String, Value)>> {
            let names = setting.resource(*resource).fields.iter().map(|(name, _)| name.clone());
            Some(names.zip(content(*resource)?.iter().map(|field| field.value.clone())).collect())
        };
        let fields: Vec<Vec<(String, Value)>> = self.resources.iter().map(fields).collect::<Option<_>>()?;
        let facts = self.resources.iter().zip(&fields).map(|(resource, fields)| {
            let name = &setting.resource(*resource).name;
            // No condition names a version.
            ResourceFacts { name, fields, version: Some(0) }
        });
        let resources: Vec<ResourceFacts<'_>> = facts.collect();
        Some(self.compiled.evaluate(&Facts { resources: &resources, told: &[] }) == Ok(true))
    }
}
