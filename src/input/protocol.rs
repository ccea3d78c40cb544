//! Protocol files, and the heading that all three kinds of file have.

use crate::model::Protocol;

use super::diagnostic::InputError;
use super::reader::{Item, Table, read};
use super::report::Spot;
use super::{Input, Source};

/// The protocol of a run for which nobody names another.
pub const DEFAULT_PROTOCOL: &str = "mcp-2026-07-28";

/// Reads a protocol.
///
/// # Errors
///
/// Everything that is wrong with the text, each with its place.
pub fn read_protocol(source: &Source) -> Result<Input<Protocol>, InputError> {
    read(source, |table| {
        let (title, about) = heading(table, &source.name);
        let resumable = table.require("resumable").and_then(|item| item.word("`resumable` can't be"));
        let sessions = table.require("sessions").and_then(Item::boolean);
        let closed_stream = table.require("closed-stream").and_then(|item| item.word("`closed-stream` can't be"));
        let task_ids = table.require("task-ids").and_then(|item| item.word("`task-ids` can't be"));
        let reissue = table.require("reissue").and_then(|item| item.word("`reissue` can't be"));
        table.finish();
        Some(Protocol {
            name: source.name.clone(),
            title,
            about,
            resumable: resumable?,
            sessions: sessions?,
            closed_stream: closed_stream?,
            task_ids: task_ids?,
            reissue: reissue?,
        })
    })
}

/// `title` and `about`. A file without a title is called by its name.
pub(super) fn heading(table: &Table<'_>, name: &str) -> (String, String) {
    let title = table.get("title").and_then(|item| {
        let text = item.nonempty()?.trim();
        if text.contains('\n') {
            return item.refuse_in_place(
                "a title is one line",
                "this has several",
                Some("`about` may have more".to_owned()),
            );
        }
        Some(text)
    });
    let title = title.unwrap_or(name).to_owned();
    let about = table.get("about").and_then(Item::string).unwrap_or_default().trim().to_owned();
    (title, about)
}
