//! A second witness for the graph: on small random histories, all serial orders are tried. There is one that explains what
//! everyone saw exactly when the graph has no cycle.

use handlecheck::audit::report::Report;
use handlecheck::log::{Answer, Call, Ended, Line, Operation, Version};
use handlecheck::model::{Outcome, Verdict};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};
use std::collections::BTreeMap;

use super::{audited_lines, check};

/// One transaction: what it saw of registers, and which version of one it made.
struct Unit {
    saw: BTreeMap<String, u64>,
    made: Option<(String, u64)>,
    sent: u64,
    received: u64,
}

fn below(random: &mut ChaCha8Rng, most: u64) -> u64 {
    random.next_u64() % most
}

/// Some units over two registers, of which every version is made once; what they saw is any version that is there.
fn units(random: &mut ChaCha8Rng) -> Vec<Unit> {
    let count = 2 + below(random, 4);
    let mut next = [1_u64, 1];
    let mut makes: Vec<Option<(usize, u64)>> = Vec::new();
    for _ in 0..count {
        let register = usize::try_from(below(random, 2)).expect("small");
        makes.push((below(random, 4) > 0).then(|| {
            next[register] += 1;
            (register, next[register])
        }));
    }
    let name = |register: usize| ["x", "y"][register].to_owned();
    makes
        .into_iter()
        .map(|made| {
            let sent = 1 + below(random, 12);
            let received = sent + below(random, 8);
            let mut saw = BTreeMap::new();
            for (register, next) in next.iter().enumerate() {
                let version = 1 + below(random, *next);
                let own = made.is_some_and(|(of, own)| of == register && own == version);
                if below(random, 3) > 0 && !own {
                    saw.insert(name(register), version);
                }
            }
            // A read sees one register.
            if made.is_none() {
                let one = saw.pop_first().unwrap_or(("x".to_owned(), 1));
                saw = BTreeMap::from([one]);
            }
            Unit { saw, made: made.map(|(register, version)| (name(register), version)), sent, received }
        })
        .collect()
}

fn lines(units: &[Unit]) -> Vec<Line> {
    let call = |(index, unit): (usize, &Unit)| {
        let (tool, handle, version) = match &unit.made {
            Some((handle, version)) => (Operation::Set, handle.clone(), *version),
            None => {
                let (handle, version) = unit.saw.first_key_value().expect("a read sees something");
                (Operation::Read, handle.clone(), *version)
            }
        };
        let saw = unit.saw.iter().map(|(handle, version)| (handle.clone(), Version::Number(*version)));
        let writes = tool == Operation::Set;
        Line::Call(Box::new(Call {
            id: Some(format!("T{index}")),
            sent: unit.sent,
            received: Some(unit.received),
            cut: None,
            agent: format!("agent-{index}"),
            principal: None,
            node: None,
            tool,
            called: None,
            handle: Some(handle),
            fields: if writes { BTreeMap::from([("value".to_owned(), index.into())]) } else { BTreeMap::new() },
            expects: BTreeMap::new(),
            saw: if writes { saw.collect() } else { BTreeMap::new() },
            given: None,
            condition: None,
            also: None,
            key: None,
            request: None,
            intent: None,
            repeats: None,
            answer: Some(Answer {
                outcome: Ended::As(Outcome::Ok),
                replayed: false,
                handle: None,
                version: Some(Version::Number(version)),
                also_version: None,
                fields: BTreeMap::new(),
                error: None,
            }),
        }))
    };
    units.iter().enumerate().map(call).collect()
}

/// Whether some order of the units is a serial execution of them, from version 1 of both registers.
fn serial(units: &[Unit], real_time: bool) -> bool {
    fn extend(units: &[Unit], done: &mut Vec<usize>, now: &BTreeMap<String, u64>, real_time: bool) -> bool {
        if done.len() == units.len() {
            return true;
        }
        (0..units.len()).any(|next| {
            if done.contains(&next) {
                return false;
            }
            let unit = &units[next];
            // What is a transaction with what it saw began at an unknown time: only reads have a time at which they began.
            let reads = unit.made.is_none() || unit.saw.is_empty();
            let late = |other: usize| !done.contains(&other) && units[other].received < unit.sent;
            let overdue = real_time && reads && (0..units.len()).any(late);
            let at = |handle: &String| now.get(handle).copied().unwrap_or(1);
            let sees = unit.saw.iter().all(|(handle, version)| at(handle) == *version);
            let makes = unit.made.as_ref().is_none_or(|(handle, version)| at(handle) + 1 == *version);
            if overdue || !sees || !makes {
                return false;
            }
            let mut after = now.clone();
            after.extend(unit.made.clone());
            done.push(next);
            let found = extend(units, done, &after, real_time);
            done.pop();
            found
        })
    }
    extend(units, &mut Vec::new(), &BTreeMap::new(), real_time)
}

fn acyclic(report: &Report, name: &str) -> bool {
    match check(report, name).verdict {
        Verdict::Holds => true,
        Verdict::Violated => false,
        other => panic!("{other}"),
    }
}

#[test]
fn all_serial_orders_agree_with_the_graph() {
    let mut random = ChaCha8Rng::seed_from_u64(7);
    let mut counts = [[0_u32; 2]; 2];
    for round in 0..4_000 {
        let units = units(&mut random);
        // A version that was seen before its change was sent names two contents, and then nothing is claimed.
        let early = |seen: &Unit, made: &Unit| {
            let (handle, version) = made.made.as_ref().expect("it is asked of changes");
            seen.made.is_none() && seen.saw.get(handle) == Some(version) && seen.received < made.sent
        };
        if units.iter().any(|made| made.made.is_some() && units.iter().any(|seen| early(seen, made))) {
            continue;
        }
        let lines = lines(&units);
        let report = audited_lines(&lines);
        for (which, name) in ["serializable", "strictly-serializable"].into_iter().enumerate() {
            let (graph, orders) = (acyclic(&report, name), serial(&units, which == 1));
            let text: Vec<String> = lines.iter().map(Line::to_json).collect();
            assert_eq!(graph, orders, "{name}, round {round}\n{}", text.join("\n"));
            counts[which][usize::from(orders)] += 1;
        }
    }
    // Both happen often, or this would show nothing.
    assert!(counts.iter().flatten().all(|count| *count > 300), "{counts:?}");
}
