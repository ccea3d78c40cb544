//! Answers a view of the resource.
//!
//! Puts the version and the content of the resource into the answer.

use super::{End, Handling, Requires, Step, Writes};

use crate::world::View;

pub static STEP: Step = Step { requires: Requires::Resource, writes: Writes::Nothing, outcomes: &[], run };

fn run(handling: &mut Handling<'_, '_>) -> Result<(), End> {
    let instance = handling.existing()?;
    let view = View { version: Some(instance.version), content: Some(instance.content.clone()) };
    handling.progress.answer.view = Some(view);
    Ok(())
}
