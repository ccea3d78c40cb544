//! What is deployed while a run goes on: `OLD..NEW` in place of the name of a design or of a protocol.

use std::path::Path;

use crate::model::design::{Replies, Versions};
use crate::model::{Design, Model, Protocol};

use super::design::read_design;
use super::diagnostic::{Diagnostic, InputError, Severity};
use super::protocol::read_protocol;
use super::resolve::resolve;
use super::{Input, Kind, Source};

/// The two names in `OLD..NEW`, split at the first two dots that don't belong to a path; `None`: it is one name.
#[must_use]
pub fn halves(text: &str) -> Option<(&str, &str)> {
    let mut dots = text.match_indices("..").filter(|(at, _)| {
        let before = &text[..*at];
        !before.is_empty() && !before.ends_with(['.', '/', '\\']) && text.len() > at + 2
    });
    let (at, _) = dots.next()?;
    Some((&text[..at], &text[at + 2..]))
}

/// Finds and reads a design, as [`resolve`] does: a path or a name, or two of them as `OLD..NEW` for a run in which nodes
/// change over from one to the other.
///
/// # Errors
///
/// As [`resolve`] and [`read_design`].
pub fn design(spec: &str, beside: Option<&Path>) -> Result<Input<Design>, InputError> {
    design_from(&sources(Kind::Design, spec, beside)?)
}

/// Finds and reads a protocol, or two of them as `OLD..NEW`.
///
/// # Errors
///
/// As [`resolve`] and [`read_protocol`].
pub fn protocol(spec: &str, beside: Option<&Path>) -> Result<Input<Protocol>, InputError> {
    protocol_from(&sources(Kind::Protocol, spec, beside)?)
}

/// The text that a name means, or the two of `OLD..NEW`.
pub(super) fn sources(kind: Kind, spec: &str, beside: Option<&Path>) -> Result<Vec<Source>, InputError> {
    // What is there under this very name is meant.
    match resolve(kind, spec, beside) {
        Ok(source) => Ok(vec![source]),
        Err(error) => match halves(spec) {
            Some((old, new)) => Ok(vec![resolve(kind, old, beside)?, resolve(kind, new, beside)?]),
            None => Err(error),
        },
    }
}

fn design_from(sources: &[Source]) -> Result<Input<Design>, InputError> {
    let mut found = sources.iter().map(read_design).collect::<Result<Vec<_>, _>>()?.into_iter();
    let old = found.next().expect("a name means a text");
    Ok(match found.next() {
        Some(new) => deploy_design(old, new),
        None => old,
    })
}

pub(super) fn protocol_from(sources: &[Source]) -> Result<Input<Protocol>, InputError> {
    let mut found = sources.iter().map(read_protocol).collect::<Result<Vec<_>, _>>()?.into_iter();
    let old = found.next().expect("a name means a text");
    Ok(match found.next() {
        Some(new) => deploy_protocol(old, new),
        None => old,
    })
}

/// A design, while another one is deployed. What it expects of scenarios by itself is not expected then.
#[must_use]
pub fn deploy_design(mut old: Input<Design>, new: Input<Design>) -> Input<Design> {
    old.value.name = format!("{}..{}", old.value.name, new.value.name);
    old.value.title = format!("{}, while it is replaced by: {}", old.value.title, new.value.title);
    old.value.expect.clear();
    old.deployed = Some(Box::new(new));
    old
}

/// A protocol, while another one is deployed.
#[must_use]
pub fn deploy_protocol(mut old: Input<Protocol>, new: Input<Protocol>) -> Input<Protocol> {
    old.value.name = format!("{}..{}", old.value.name, new.value.name);
    old.value.title = format!("{}, while it is replaced by: {}", old.value.title, new.value.title);
    old.deployed = Some(Box::new(new));
    old
}

/// What a design and the one that is deployed can't differ in: what both find and leave must have one form, in the store, in
/// nodes and on the way. The balancer is no node, and stays as it was.
pub(super) fn differences(old: &Model, new: &Model, source: &Source) -> Vec<Diagnostic> {
    let (of, to) = (&old.design.server, &new.design.server);
    let leases = |design: &Design| {
        let handlers = design.server.tools.values();
        let mut steps = handlers.flat_map(|handler| handler.transactions.iter().chain(&handler.at_end)).flatten();
        steps.any(|step| step.ends_with("-lease") || step.ends_with("-fence"))
    };
    let caches = old.design.has_cache() && new.design.has_cache();
    let again = (of.versions == Versions::PerIncarnation) != (to.versions == Versions::PerIncarnation);
    let said =
        |setting: &'static str, differ: bool, of: &'static str, to: &'static str| differ.then_some((setting, of, to));
    let settings = [
        said("state", of.state != to.state, of.state.name(), to.state.name()),
        said("queue", of.queue != to.queue, of.queue.name(), to.queue.name()),
        said("calls", of.calls != to.calls, of.calls.name(), to.calls.name()),
        said("replies", of.replies != to.replies, of.replies.name(), to.replies.name()),
        said("lost-reply", of.lost_reply != to.lost_reply, of.lost_reply.name(), to.lost_reply.name()),
        said("handles", of.handles != to.handles, of.handles.name(), to.handles.name()),
        said("versions", again, of.versions.name(), to.versions.name()),
        said(
            "lease-place",
            of.lease_place != to.lease_place && (leases(&old.design) || leases(&new.design)),
            of.lease_place.name(),
            to.lease_place.name(),
        ),
        said("cache-place", of.cache_place != to.cache_place && caches, of.cache_place.name(), to.cache_place.name()),
    ];
    let mut found: Vec<Diagnostic> = settings
        .into_iter()
        .flatten()
        .map(|(setting, of, to)| Diagnostic {
            severity: Severity::Error,
            message: format!("`{setting}` can't change while nodes are replaced one by one"),
            label: format!("it is `{to}` here, and `{of}` in the design that is replaced"),
            help: Some(
                "both designs work on what the other one left, and this decides what that looks like".to_owned(),
            ),
            place: Some(source.place_of(&["server", setting])),
        })
        .collect();
    if of.replies == Replies::ByRequestId && old.protocol.reissue != new.protocol.reissue {
        found.push(Diagnostic {
            severity: Severity::Error,
            message: "`reissue` can't change while nodes are replaced one by one".to_owned(),
            label: "answers find their streams by request id".to_owned(),
            help: Some("whether ids are used again would depend on which node answers".to_owned()),
            place: Some(source.place_of(&["server", "replies"])),
        });
    }
    if of.balancer != to.balancer {
        found.push(Diagnostic {
            severity: Severity::Warning,
            message: format!("the balancer stays `{}` while nodes are replaced", of.balancer),
            label: format!("`{}` would come when all of them are", to.balancer),
            help: None,
            place: Some(source.place_of(&["server", "balancer"])),
        });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_dots_that_belong_to_a_path_do_not_split() {
        let halves = |text| halves(text).map(|(old, new)| format!("{old} {new}"));
        assert_eq!(halves("main..HEAD").as_deref(), Some("main HEAD"));
        assert_eq!(halves("../a.toml..b.toml").as_deref(), Some("../a.toml b.toml"));
        assert_eq!(halves("a.toml..../b.toml").as_deref(), Some("a.toml ../b.toml"));
        assert_eq!(halves("../../a"), None);
        assert_eq!(halves("a.."), None);
        assert_eq!(halves("..a"), None);
    }
}
