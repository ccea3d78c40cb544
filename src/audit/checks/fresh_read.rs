//! A read never presents a state that was superseded before the read was sent.
//!
//! It is stale when its version is smaller than that of a change which was acknowledged before the read was sent; or when
//! an element of a list is missing that had been acknowledged before, and is there in a later view.
//!
//! Not judged: reads that show neither a version that is a number nor a list that is only appended to.

use super::{Case, Check, Judged};
use crate::audit::case::{Finding, short};
use crate::audit::effects::Seen;
use crate::audit::evidence::Shows;
use crate::audit::history::NEVER;
use crate::log::Operation;

pub static CHECK: Check = Check {
    sentence: "a read never presents a state that was superseded before the read was sent",
    anomaly: Some("stale read, a violation of real-time order: Herlihy and Wing, Linearizability, 1990"),
    about: "a read after an acknowledged change",
    judge,
};

fn judge(case: &Case<'_>, judged: &mut Judged) {
    for (resource, evidence) in case.resources.iter().zip(&case.evidence) {
        // By version: the first acknowledgement of a change with that version or a greater one.
        let mut soonest: Vec<(u64, u64, u32)> = Vec::new();
        if resource.numbered {
            let mut first = (NEVER, 0);
            for effect in resource.effects.iter().rev() {
                first = first.min((effect.by, effect.call));
                soonest.extend(effect.version.number().map(|version| (version, first.0, first.1)));
            }
            soonest.reverse();
        }
        let acknowledged = resource.effects.iter().map(|effect| effect.by).min().unwrap_or(NEVER);
        let lists = evidence.shown.iter().any(|call| case.call(*call).tool == Operation::Append);
        for view in &resource.views {
            let Seen::Call(read) = view.seen else { continue };
            if view.from <= acknowledged {
                continue;
            }
            judged.about += 1;
            let Some(version) = view.version.number().filter(|_| resource.numbered) else {
                if !lists {
                    judged.unjudged("the read shows no version that is a number");
                }
                continue;
            };
            let after = soonest.partition_point(|(made, ..)| *made <= version);
            if let Some((_, _, write)) = soonest.get(after).filter(|(_, by, _)| *by < view.from) {
                judged.found(case, || {
                    let sentence = format!(
                        "{} read v{version} of {} ({}) after {}'s {} had made {} ({})",
                        case.agent(read),
                        case.handle(read),
                        case.named(read),
                        case.agent(*write),
                        case.asks(*write),
                        case.history.version(case.call(*write).version),
                        case.named(*write),
                    );
                    Finding { sentence, calls: vec![*write, read], ..Finding::default() }
                });
            }
        }
        for sight in evidence.sights.iter().filter(|sight| sight.shows == Shows::Late) {
            judged.found(case, || {
                let sentence = format!(
                    "{} does not show {} in {} of {}, which had been acknowledged before ({}) and is there later",
                    case.place(&sight.view),
                    short(&sight.what),
                    case.history.text(sight.field),
                    case.handle(sight.call),
                    case.named(sight.call),
                );
                case.sighting(sentence, None, sight)
            });
        }
    }
}
