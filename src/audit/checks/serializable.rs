//! Some order of all calls, one after the other, explains what everyone saw.
//!
//! The check builds the graph of what must come before what (Adya's direct serialization graph): each accepted change with
//! what its plan rests on, each read. A cycle in it is a proof that there is no such order. Its kind has a name: *G0*, dirty
//! write; *G1c*, circular information flow; *G-single*, read skew, of which the *lost update* (P4) is the one with two
//! changes of one item, and the *fractured read* that of one call which sees a part of what another did, and the rest as it was
//! before; *G2-item*, of which *write skew* (A5B) is the one with two changes of two items. A read of what was
//! refused is *G1a*; a read of a part of what one call appended is *G1b*.
//!
//! What one call does to two resources (`also`) is done at once. Whoever sees one half in one call, or rests a plan on it, and
//! the other half as it was before, has a fractured read. Two calls that see one half each may be on either side of it:
//! nothing is claimed of these, unless real time tells.
//!
//! The order of versions comes from their numbers, or from the elements of a list that is only appended to (Elle's
//! *traceability*). Not judged: calls on resources that have neither.

use super::{Case, Check, Judged};
use crate::audit::case::short;
use crate::audit::cycles;
use crate::audit::evidence::Shows;
use crate::audit::graph::graph;

pub static CHECK: Check = Check {
    sentence: "some order of all calls, one after the other, explains what everyone saw",
    anomaly: Some(
        "G0, G1, G-single or G2-item: Adya, Weak Consistency, 1999; Kingsbury and Alvaro, Elle, 2020; fractured read: \
         Bailis et al., Scalable Atomic Visibility with RAMP Transactions, 2014",
    ),
    about: "an accepted change, or a read",
    judge,
};

fn judge(case: &Case<'_>, judged: &mut Judged) {
    cycles::judge(case, &graph(case, false), judged);
    for sight in case.evidence.iter().flat_map(|evidence| &evidence.sights) {
        let (anomaly, how) = match sight.shows {
            Shows::Refused => ("aborted read (G1a)", "which was refused"),
            Shows::Torn => ("intermediate read (G1b)", "and not the rest"),
            _ => continue,
        };
        let sentence = format!(
            "{} shows {} in {} of {}, of {}'s {} ({}), {how}",
            case.place(&sight.view),
            short(&sight.what),
            case.history.text(sight.field),
            case.handle(sight.call),
            case.agent(sight.call),
            case.call(sight.call).tool,
            case.named(sight.call),
        );
        judged.found(case, || case.sighting(sentence, Some(anomaly), sight));
    }
}
