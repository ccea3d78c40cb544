//! Checks that the condition of what is asked is met.
//!
//! Passes when the `if` of the entry that the call serves is true of what is stored now: of the resource that it is
//! about, and of those that it is `given`. Otherwise it ends the call with `condition-not-met`. A call without a condition
//! passes. What stands in the same transaction rests on it; a check in an earlier transaction, or by the client on its
//! view, is of a time that is past.
//!
//! Compare `ConditionExpression` of Amazon `DynamoDB`, and `WHERE` in an `UPDATE` whose count of rows is looked at.

use super::{End, Handling, Requires, Step, Writes};

use crate::model::Outcome;

pub static STEP: Step = Step {
    requires: Requires::Nothing,
    writes: Writes::Nothing,
    outcomes: &[Outcome::ConditionNotMet, Outcome::NotFound],
    run,
};

fn run(handling: &mut Handling<'_, '_>) -> Result<(), End> {
    match handling.meets_condition() {
        None => Err(handling.refuse(Outcome::NotFound)),
        Some(true) => Ok(()),
        Some(false) => Err(handling.refuse(Outcome::ConditionNotMet)),
    }
}
