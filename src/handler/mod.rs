//! The steps of a handler.

use crate::table::Row;

/// One step.
#[derive(Debug)]
pub struct Step {
    /// Where it can stand.
    pub requires: Requires,
}

/// Where a step can stand in a handler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Requires {
    /// Anywhere.
    Nothing,
    /// Behind a `load` (or an earlier `load` in an earlier transaction).
    EarlierLoad,
    /// Nowhere behind a `resolve`: it makes the resource.
    NoEarlierResolve,
    /// It works on a resource: not before `mint` in the handler of `mint`.
    Resource,
}

macro_rules! stub { ($($name:literal $requires:ident,)+) => {
    /// Every step.
    pub static STEPS: &[Row<Step>] = &[$(Row { name: $name, source: "", item: &Step { requires: Requires::$requires } },)+];
}}
stub! {
    "resolve" Resource, "authorize" Resource, "check-permission" Resource, "check-live" Resource, "check-open" Resource,
    "find-key" Nothing, "claim-key" Nothing, "record-key" Nothing, "release-key" Nothing, "check-version" Resource,
    "acquire-lease" Resource, "release-lease" Resource, "check-lease" Resource, "check-fence" Resource,
    "check-approval" Resource, "read" Resource, "load" Resource, "write-content" EarlierLoad,
    "advance-version" Resource, "save" EarlierLoad, "apply" Resource, "call-upstream" Nothing, "mint" NoEarlierResolve,
}
