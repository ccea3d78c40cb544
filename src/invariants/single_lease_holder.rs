//! No two agents' writes are accepted under one lease.
//!
//! It is violated when a leased write commits under a grant while another agent holds, or has written under, a newer one.
//!
//! **Witness.** A lease passes on while a call under it is open.

use super::{Anomaly, Invariant, Judgement, violation, witness_if};
use crate::world::{Fact, Setting};

pub static INVARIANT: Invariant = Invariant {
    sentence: "no two agents' writes are accepted under one lease",
    anomaly: Some(Anomaly { name: "split brain", reference: "Kleppmann, How to do distributed locking, 2016" }),
    witness: "a lease passes on while a call under it is open",
    judge,
    at_rest: None,
};

fn judge(setting: &Setting, fact: &Fact) -> Judgement {
    match fact {
        Fact::LeasePassed { open } => witness_if(*open),
        Fact::Committed { request, leased: Some((fence, lease)), .. } => {
            let mut newer = lease.holder.iter().chain(&lease.wrote);
            let rival = newer.find(|(agent, other)| *agent != request.agent && other > fence);
            let Some((rival, _)) = rival else { return Judgement::Irrelevant };
            let agent = usize::from(request.agent);
            violation(format!(
                "{} of {} was accepted, though {} has the lease by now",
                setting.entry_words(agent, usize::from(request.entry)),
                setting.agent_name(agent),
                setting.agent_name(usize::from(*rival))
            ))
        }
        _ => Judgement::Irrelevant,
    }
}
