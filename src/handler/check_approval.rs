//! Checks that the content is what was approved.
//!
//! Passes when the stored content is what the view of the latest approver showed when it planned the approval. Otherwise,
//! and when nobody approved, it ends the call with `stale-approval`.

use super::{End, Handling, Requires, Step, Writes};
use crate::model::{Outcome, Value};

pub static STEP: Step =
    Step { requires: Requires::Resource, writes: Writes::Nothing, outcomes: &[Outcome::StaleApproval], run };

fn run(handling: &mut Handling<'_, '_>) -> Result<(), End> {
    let instance = handling.existing()?;
    let approved: Option<Vec<Value>> =
        instance.approved.as_ref().map(|content| content.iter().map(|field| field.value.clone()).collect());
    if approved == Some(instance.values()) { Ok(()) } else { Err(handling.refuse(Outcome::StaleApproval)) }
}
