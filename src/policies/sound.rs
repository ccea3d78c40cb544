//! Whether a changed design is a remedy at all: a design that does something else, promises it sooner, or takes what it never
//! gives back breaks little, and helps nobody.

use super::variant::side;
use crate::model::design::{CALLS_UPSTREAM, STORES, State};
use crate::model::{Handler, Model, Tool};

/// Whether the design after a change still does what the one before did: its calls have the same effects, on the same
/// resources, and answer no sooner; what it comes to take it gives back; and state stays where it is, or comes into the store.
pub(super) fn is_sound(before: &Model, after: &Model) -> bool {
    let [old, new] = [before, after].map(|model| &side(model).design.server);
    let handlers = |tool: &Tool| Some((old.tools.get(tool)?, new.tools.get(tool)?));
    let keeps = |(old, new): (&Handler, &Handler)| {
        effects(old) == effects(new) && answers_no_sooner(old, new) && (!claims_for_ever(new) || claims_for_ever(old))
    };
    let anywhere = |step: &str, server: &crate::model::design::Server| {
        server.tools.values().any(|handler| all(handler).any(|other| other == step))
    };
    let leases_for_ever = |server| anywhere("acquire-lease", server) && !anywhere("release-lease", server);
    Tool::ALL.iter().filter_map(handlers).all(keeps)
        && (!leases_for_ever(new) || leases_for_ever(old))
        && (new.state == old.state || new.state == State::Store)
}

fn all(handler: &Handler) -> impl Iterator<Item = &'static str> + '_ {
    handler.transactions.iter().chain(&handler.at_end).flatten().copied()
}

/// The steps that have an effect, each with whether it is one on the other resource of a call; those that are done one way or
/// another count as one.
fn effects(handler: &Handler) -> Vec<(bool, &'static str)> {
    let mut effects = Vec::new();
    for transaction in handler.transactions.iter().chain(&handler.at_end) {
        // Each transaction begins at the call's own resource.
        let mut other = false;
        for step in transaction {
            match *step {
                "other" => other = !other,
                "apply-next" => effects.push((other, "apply")),
                step if CALLS_UPSTREAM.contains(&step) => effects.push((other, CALLS_UPSTREAM[0])),
                step if STORES.contains(&step) => effects.push((other, step)),
                _ => {}
            }
        }
    }
    effects.sort_unstable();
    effects
}

/// Whether nothing has moved behind the answer, and nothing is answered early that was not.
fn answers_no_sooner(old: &Handler, new: &Handler) -> bool {
    let before = |handler: &Handler| -> Option<Vec<&'static str>> {
        let steps: Vec<&str> = handler.transactions.iter().flatten().copied().collect();
        let answer = steps.iter().position(|step| *step == "answer")?;
        Some(steps[..answer].to_vec())
    };
    match (before(old), before(new)) {
        (_, None) => true,
        (None, Some(_)) => false,
        (Some(old), Some(before)) => {
            let left_out = |step: &str| all(new).all(|other| other != step);
            old.iter().all(|step| before.contains(step) || left_out(step))
        }
    }
}

/// Whether it claims keys, and neither records nor releases them.
fn claims_for_ever(handler: &Handler) -> bool {
    let has = |step: &str| all(handler).any(|other| other == step);
    has("claim-key") && !has("record-key") && !has("release-key")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::input::{self, Kind, Source};
    use crate::run::{Run, invariant_names};

    fn model(write: &str, rest: &str) -> Model {
        let text = format!(
            "title = \"x\"\n[server]\n{rest}\n[server.read]\ntransactions = [[\"resolve\", \"read\"]]\n[server.write]\n{write}\n\
             [client]\npayload = \"change\"\n"
        );
        let design = input::read_design(&Source::new("x", "x.toml", text)).expect("it is readable");
        let source = input::resolve(Kind::Scenario, "two-agents-no-faults", None).expect("it is shipped");
        let scenario = input::read_scenario(&source, &invariant_names()).expect("it is readable");
        let protocol = input::protocol_of(&scenario, None).expect("it is readable");
        Run::new(scenario, design, protocol, &BTreeMap::new()).expect("they fit").model().clone()
    }

    #[test]
    fn a_remedy_does_the_work_and_gives_back_what_it_takes() {
        let before = model("transactions = [[\"resolve\", \"check-open\"], [\"apply\"]]", "");
        for (write, sound) in [
            ("transactions = [[\"resolve\", \"check-open\", \"apply\"]]", true),
            ("transactions = [[\"resolve\"], [\"check-open\", \"apply-next\"]]", true),
            ("transactions = [[\"resolve\", \"check-open\"], [\"other\", \"apply\"]]", false),
            ("transactions = [[\"resolve\", \"check-open\"], [\"apply\", \"apply\"]]", false),
            ("transactions = [[\"resolve\", \"check-open\"]]", false),
            ("transactions = [[\"answer\", \"resolve\", \"check-open\"], [\"apply\"]]", false),
            ("transactions = [[\"resolve\", \"acquire-lease\", \"check-open\"], [\"apply\"]]", false),
            (
                "transactions = [[\"resolve\", \"acquire-lease\", \"check-open\"], [\"apply\"]]\nat-end = [[\"release-lease\"]]",
                true,
            ),
            ("transactions = [[\"resolve\", \"claim-key\", \"check-open\"], [\"apply\"]]", false),
            ("transactions = [[\"resolve\", \"claim-key\", \"check-open\"], [\"apply\", \"record-key\"]]", true),
        ] {
            assert_eq!(is_sound(&before, &model(write, "")), sound, "{write}");
        }
        let write = "transactions = [[\"resolve\", \"check-open\"], [\"apply\"]]";
        assert!(!is_sound(&before, &model(write, "state = \"handle\"")), "nobody shares what is in a handle");
        assert!(is_sound(&model(write, "state = \"node\""), &before));
    }

    #[test]
    fn an_early_answer_does_not_come_earlier_still() {
        let early = model("transactions = [[\"resolve\", \"check-open\", \"answer\"], [\"apply\"]]", "");
        for (write, sound) in [
            ("transactions = [[\"resolve\", \"check-open\", \"apply\", \"answer\"]]", true),
            ("transactions = [[\"resolve\", \"answer\"], [\"apply\"]]", true),
            ("transactions = [[\"resolve\", \"answer\", \"check-open\"], [\"apply\"]]", false),
        ] {
            assert_eq!(is_sound(&early, &model(write, "")), sound, "{write}");
        }
    }
}
