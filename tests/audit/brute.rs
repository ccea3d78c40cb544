//! A second witness for the graph: on small random histories, all serial orders are tried. There is one that explains what
//! everyone saw exactly when the graph has no cycle.

use handlecheck::audit::report::Report;
use handlecheck::log::{Also, Answer, Call, Ended, Line, Operation, Version};
use handlecheck::model::{Outcome, Verdict};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};
use std::collections::BTreeMap;

use super::{audited_lines, check};

/// One transaction: what it saw of registers, and which version of one or of both it made.
struct Unit {
    saw: BTreeMap<String, u64>,
    made: BTreeMap<String, u64>,
    sent: u64,
    received: u64,
}

fn below(random: &mut ChaCha8Rng, most: u64) -> u64 {
    random.next_u64() % most
}

/// Some units over two registers, of which every version is made once; what they saw is any version that is there.
fn units(random: &mut ChaCha8Rng) -> Vec<Unit> {
    let count = 2 + below(random, 4);
    let name = |register: usize| ["x", "y"][register].to_owned();
    let mut next = [1_u64, 1];
    let mut order: [Vec<usize>; 2] = Default::default();
    let mut makes: Vec<BTreeMap<String, u64>> = vec![BTreeMap::new(); usize::try_from(count).expect("small")];
    for unit in 0..makes.len() {
        // A read, a change of one register, or of both.
        let of: &[usize] = [&[][..], &[0], &[1], &[0, 1], &[0, 1]][usize::try_from(below(random, 5)).expect("small")];
        for register in of {
            // What changes both may be before another in the one, and behind it in the other.
            let at = usize::try_from(below(random, 3)).expect("small");
            let at = if at == 0 { order[*register].len().saturating_sub(1) } else { order[*register].len() };
            order[*register].insert(at, unit);
        }
    }
    for (register, order) in order.iter().enumerate() {
        for unit in order {
            next[register] += 1;
            makes[*unit].insert(name(register), next[register]);
        }
    }
    makes
        .into_iter()
        .map(|made| {
            let sent = 1 + below(random, 12);
            let received = sent + below(random, 8);
            let mut saw = BTreeMap::new();
            for (register, next) in next.iter().enumerate() {
                let version = 1 + below(random, *next);
                let own = made.get(&name(register)) == Some(&version);
                if below(random, 3) > 0 && !own {
                    saw.insert(name(register), version);
                }
            }
            // A read sees something.
            if made.is_empty() && saw.is_empty() {
                saw.insert("x".to_owned(), 1);
            }
            Unit { saw, made, sent, received }
        })
        .collect()
}

fn lines(units: &[Unit]) -> Vec<Line> {
    let call = |(index, unit): (usize, &Unit)| {
        let (tool, on) = if unit.made.is_empty() { (Operation::Read, &unit.saw) } else { (Operation::Set, &unit.made) };
        let mut on = on.iter();
        let (handle, version) = on.next().expect("it works on something");
        let other = on.next();
        let value = || BTreeMap::from([("value".to_owned(), index.into())]);
        let besides = |handle: &String| Also {
            tool,
            handle: handle.clone(),
            fields: if tool == Operation::Set { value() } else { BTreeMap::new() },
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
            handle: Some(handle.clone()),
            fields: if writes { value() } else { BTreeMap::new() },
            expects: BTreeMap::new(),
            saw: if writes { saw.collect() } else { BTreeMap::new() },
            given: None,
            condition: None,
            also: other.map(|(handle, _)| besides(handle)),
            key: None,
            request: None,
            intent: None,
            repeats: None,
            answer: Some(Answer {
                outcome: Ended::As(Outcome::Ok),
                replayed: false,
                handle: None,
                version: Some(Version::Number(*version)),
                also_version: other.map(|(_, version)| Version::Number(*version)),
                also_fields: BTreeMap::new(),
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
            let reads = unit.made.is_empty() || unit.saw.is_empty();
            let late = |other: usize| !done.contains(&other) && units[other].received < unit.sent;
            let overdue = real_time && reads && (0..units.len()).any(late);
            let at = |handle: &String| now.get(handle).copied().unwrap_or(1);
            let sees = unit.saw.iter().all(|(handle, version)| at(handle) == *version);
            let makes = unit.made.iter().all(|(handle, version)| at(handle) + 1 == *version);
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
            let shows = made.made.iter().any(|(handle, version)| seen.saw.get(handle) == Some(version));
            seen.made.is_empty() && shows && seen.received < made.sent
        };
        if units.iter().any(|made| units.iter().any(|seen| early(seen, made))) {
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
