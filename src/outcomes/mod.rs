//! Outcomes: the page of each, what it means and how it is put on the wire.
//!
//! Each page is one Markdown file of this folder, named as its outcome. Which steps end a call with it, and what a client
//! does with it by default, is not written there but looked up.

use crate::handler::STEPS;
use crate::input::settings::default_reactions;
use crate::model::Outcome;

/// What stands in the file of an outcome.
const fn text(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Ok => include_str!("ok.md"),
        Outcome::NotFound => include_str!("not-found.md"),
        Outcome::Forbidden => include_str!("forbidden.md"),
        Outcome::Expired => include_str!("expired.md"),
        Outcome::Closed => include_str!("closed.md"),
        Outcome::KeyMismatch => include_str!("key-mismatch.md"),
        Outcome::InProgress => include_str!("in-progress.md"),
        Outcome::StaleView => include_str!("stale-view.md"),
        Outcome::PreconditionRequired => include_str!("precondition-required.md"),
        Outcome::Locked => include_str!("locked.md"),
        Outcome::LeaseLost => include_str!("lease-lost.md"),
        Outcome::StaleApproval => include_str!("stale-approval.md"),
        Outcome::ConditionNotMet => include_str!("condition-not-met.md"),
        Outcome::NameTaken => include_str!("name-taken.md"),
        Outcome::Unknown => include_str!("unknown.md"),
    }
}

/// What an outcome is, in one sentence without its full stop.
#[must_use]
pub fn summary(outcome: Outcome) -> &'static str {
    outcome.about().trim_end_matches('.')
}

/// The page of an outcome, as Markdown.
#[must_use]
pub fn page(outcome: Outcome) -> String {
    let mut page = text(outcome).to_owned();
    let steps = STEPS.iter().filter(|row| row.outcomes.contains(&outcome));
    let steps: Vec<String> = steps.map(|row| format!("`{}`", row.name)).collect();
    if !steps.is_empty() {
        page.push_str(&format!("\nSteps that may end a call with it: {}.\n", steps.join(", ")));
    }
    if let Some((event, reaction)) = default_reactions().into_iter().find(|(event, _)| *event == outcome.name()) {
        page.push_str(&format!(
            "\nWhat a client does with it, unless `[client.on]` says otherwise: `{event} = {reaction}`.\n"
        ));
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_page_says_how_it_is_put_on_the_wire() {
        for &outcome in Outcome::ALL {
            let page = page(outcome);
            for protocol in ["| MCP", "| HTTP |", "| gRPC |"] {
                assert!(page.contains(protocol), "{outcome}: {protocol}");
            }
            assert_eq!(page.contains("[client.on]"), outcome != Outcome::Ok, "{outcome}");
        }
    }

    /// A refusal that no step decides comes from a fault, and its page says so.
    #[test]
    fn every_refusal_comes_from_somewhere() {
        for &outcome in Outcome::ALL.iter().filter(|outcome| **outcome != Outcome::Ok) {
            let page = page(outcome);
            assert!(page.contains("Steps that may") || page.contains("No step decides this."), "{outcome}");
        }
    }
}
