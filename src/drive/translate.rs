//! From what a real server said to what an agent of the model understands.

use super::Reply;
use super::wire::Handles;
use crate::log::{self, Ended, Version};
use crate::model::{Outcome, Tool, Value};
use crate::world::{Answer, Field, Intents, Request, Setting, Stamp, View};

fn number(version: Option<&Version>) -> Option<u16> {
    match version {
        Some(Version::Number(number)) => u16::try_from(*number).ok(),
        Some(Version::Name(_)) | None => None,
    }
}

/// An answer as the harness takes it. Learns the handle of what was minted.
pub(super) fn answer(
    setting: &Setting,
    handles: &mut Handles,
    request: &Request,
    said: &log::Answer,
    reply: &Reply,
) -> Answer {
    let outcome = match said.outcome {
        Ended::As(outcome) => outcome,
        // A refusal without a word of its own: the harness takes it for the plainest one.
        Ended::Refused => Outcome::Forbidden,
    };
    let mut answer = Answer { outcome, replayed: said.replayed, ..Answer::about(request.handle) };
    if request.tool == Tool::Mint
        && let Some(real) = &said.handle
    {
        answer.handle = handles.named(request.resource, real);
    }
    let version = number(said.version.as_ref());
    if outcome == Outcome::Ok && request.tool == Tool::Read {
        let declared = &setting.resource(usize::from(request.resource)).fields;
        let field = |(name, _): &(String, Value)| {
            Some(Field { value: Value::of_json(said.fields.get(name)?)?, shows: Intents::NONE })
        };
        let content = declared.iter().map(field).collect();
        let fence = reply.content["view"]["fence"].as_u64().and_then(|fence| u16::try_from(fence).ok());
        answer.view = Some(View { version, content, fence });
    } else if outcome == Outcome::Ok {
        answer.version = version;
        let other = request.other.as_ref().zip(number(said.also_version.as_ref()));
        answer.other = other.map(|(other, version)| Stamp { handle: other.handle, version });
    } else if let (Some(version), Some(handle)) = (version, request.handle) {
        answer.current = vec![Stamp { handle, version }];
    }
    answer
}
