//! How fast a log is audited, and in how much memory: each log by a process of its own, on one thread. Prints a table.
//!
//! `cargo bench --bench audit` takes the sizes that `docs/benchmarks.md` shows; `cargo bench --bench audit -- 30000` takes others.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "it is a table that is printed")]

use std::fs::File;
use std::io::{BufReader, BufWriter, Write};
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use handlecheck::audit::history::History;
use handlecheck::audit::report::audit;
use handlecheck::model::Verdict;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};

/// What a log is like, and what must come out for it.
const SHAPES: &[(&str, &str, Shape, &[&str])] = &[
    (
        "preconditions",
        "reads, and sets with the version that was read; 20 agents on 1,000 resources",
        Shape { resources: 1000, agents: 20, guarded: true, lost: 0, lists: false },
        &[],
    ),
    (
        "one resource",
        "the same, all on one resource",
        Shape { resources: 1, agents: 20, guarded: true, lost: 0, lists: false },
        &[],
    ),
    (
        "no preconditions",
        "the same calls without a precondition: lost updates everywhere",
        Shape { resources: 1000, agents: 20, guarded: false, lost: 0, lists: false },
        &["no-lost-update", "serializable", "strictly-serializable"],
    ),
    (
        "lost answers",
        "with preconditions; one answer in ten is lost, and its call sent again under its key",
        Shape { resources: 1000, agents: 20, guarded: true, lost: 10, lists: false },
        &[],
    ),
    (
        "lost answers, one resource",
        "the same, all on one resource",
        Shape { resources: 1, agents: 20, guarded: true, lost: 10, lists: false },
        &[],
    ),
    (
        "lists",
        "appends without versions, and a read of the whole list after every fifth; 20 elements a list",
        Shape { resources: 0, agents: 20, guarded: false, lost: 0, lists: true },
        &[],
    ),
];

#[derive(Clone, Copy)]
struct Shape {
    resources: usize,
    agents: usize,
    guarded: bool,
    /// One answer in so many is lost; 0: none.
    lost: u32,
    lists: bool,
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    if let [command, path] = &arguments[..]
        && command == "measure"
    {
        return measure(Path::new(path));
    }
    let sizes: Vec<usize> = arguments.iter().filter_map(|argument| argument.parse().ok()).collect();
    let sizes = if sizes.is_empty() { vec![100_000, 300_000, 1_000_000] } else { sizes };
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let log = folder.path().join("log.jsonl");
    println!("| log | calls | MB | read: seconds | judged: seconds | calls a second | MiB | bytes a call | violated |");
    println!("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |");
    for (name, about, shape, violated) in SHAPES {
        for &calls in &sizes {
            let mut out = BufWriter::new(File::create(&log).expect("it can be made"));
            if shape.lists {
                lists(*shape, calls, &mut out);
            } else {
                versions(*shape, calls, &mut out);
            }
            out.flush().expect("it can be written");
            let bytes = std::fs::metadata(&log).expect("it is there").len();
            let program = std::env::current_exe().expect("it runs");
            let output = Command::new(program).arg("measure").arg(&log).output().expect("it starts again");
            let said = String::from_utf8(output.stdout).expect("it prints text");
            let parts: Vec<&str> = said.trim().split(' ').collect();
            let [read, judged, count, memory, found] = &parts[..] else {
                panic!("{said}{}", String::from_utf8_lossy(&output.stderr))
            };
            let number = |text: &str| text.parse::<f64>().expect("it is a number");
            assert_eq!(*found, violated.join(",") + ".", "{name}");
            println!(
                "| {name} | {count} | {:.0} | {read} | {judged} | {:.0} | {:.0} | {:.0} | {} |",
                as_real(bytes) / 1e6,
                number(count) / (number(read) + number(judged)),
                number(memory) / 1_048_576.0,
                number(memory) / number(count),
                violated.join(", "),
            );
        }
        eprintln!("{name}: {about}");
    }
}

#[expect(clippy::cast_precision_loss, reason = "sizes of files have no 53 significant bits")]
fn as_real(number: u64) -> f64 {
    number as f64
}

/// Audits a log, all checks, and says: seconds to read, seconds to judge, calls, bytes of memory, what is violated.
fn measure(path: &Path) {
    #[expect(clippy::disallowed_methods, reason = "a benchmark says how long something takes")]
    let now = Instant::now;
    let memory = || memory_stats::memory_stats().map_or(0, |now| now.physical_mem);
    let before = memory();
    let start = now();
    let log = BufReader::with_capacity(1 << 16, File::open(path).expect("it is there"));
    let history = History::read(log, None, &mut |_| None).expect("it can be read");
    let read = start.elapsed().as_secs_f64();
    assert_eq!(history.malformed, 0, "{:?}", history.mistakes);
    let start = now();
    let report = audit("log", &history, &[]);
    let judged = start.elapsed().as_secs_f64();
    let used = memory() - before;
    let violated = report.checks.iter().filter(|check| check.verdict == Verdict::Violated).map(|check| check.name);
    println!("{read:.2} {judged:.2} {} {used} {}.", report.calls, violated.collect::<Vec<_>>().join(","));
}

fn below(random: &mut ChaCha8Rng, most: usize) -> usize {
    usize::try_from((u64::from(random.next_u32()) * most as u64) >> 32).expect("it is less than a length")
}

/// What an agent is about to do: it read a version, and sets a field upon it.
#[derive(Clone, Copy)]
struct Plan {
    resource: usize,
    seen: u64,
    /// The key of the call, and the version that it made although its answer was lost.
    again: Option<(usize, u64)>,
}

/// Agents that read a resource and then set its field, of which some were overtaken. A line a call.
fn versions(shape: Shape, calls: usize, out: &mut impl Write) {
    let mut random = ChaCha8Rng::seed_from_u64(calls as u64);
    let mut now = vec![1_u64; shape.resources];
    let mut plans: Vec<Option<Plan>> = vec![None; shape.agents];
    let mut line = |text: String| writeln!(out, "{text}").expect("it can be written");
    line(r#"{"type":"log","schema":1,"versions-count":true}"#.to_owned());
    for resource in 0..shape.resources {
        line(format!(
            r#"{{"type":"state","at":0,"handle":"r{resource}","owner":"u","version":1,"fields":{{"size":0}}}}"#
        ));
    }
    let mut values: Vec<usize> = vec![0; shape.resources];
    for number in 0..calls {
        let (sent, received) = (10 * number + 1, 10 * number + 6);
        let agent = below(&mut random, shape.agents);
        let common = format!(r#"{{"type":"call","id":"c{number}","sent":{sent},"agent":"a{agent}","principal":"u""#);
        let Some(plan) = plans[agent] else {
            let resource = below(&mut random, shape.resources);
            let (version, value) = (now[resource], values[resource]);
            plans[agent] = Some(Plan { resource, seen: version, again: None });
            line(format!(
                r#"{common},"received":{received},"tool":"read","handle":"r{resource}","answer":{{"outcome":"ok","version":{version},"fields":{{"size":{value}}}}}}}"#
            ));
            continue;
        };
        let Plan { resource, seen, again } = plan;
        let key = again.map_or(number, |(key, _)| key);
        let expects = if shape.guarded { format!(r#","expects":{{"r{resource}":{seen}}}"#) } else { String::new() };
        let call = format!(
            r#"{common},"tool":"set","handle":"r{resource}","fields":{{"size":{key}}}{expects},"key":"k{key}","intent":"i{key}""#
        );
        plans[agent] = None;
        if let Some((_, made)) = again {
            line(format!(
                r#"{call},"received":{received},"answer":{{"outcome":"ok","replayed":true,"version":{made}}}}}"#
            ));
        } else if shape.guarded && seen != now[resource] {
            let current = now[resource];
            line(format!(r#"{call},"received":{received},"answer":{{"outcome":"stale-view","version":{current}}}}}"#));
        } else {
            now[resource] += 1;
            values[resource] = number;
            let made = now[resource];
            if shape.lost > 0 && random.next_u32().is_multiple_of(shape.lost) {
                plans[agent] = Some(Plan { again: Some((number, made)), ..plan });
                line(format!(r#"{call},"cut":{received}}}"#));
            } else {
                line(format!(r#"{call},"received":{received},"answer":{{"outcome":"ok","version":{made}}}}}"#));
                let told = received + 1;
                line(format!(r#"{{"type":"told","at":{told},"agent":"a{agent}","intent":"i{key}","told":"ok"}}"#));
            }
        }
    }
    let end = 10 * calls + 10;
    for resource in 0..shape.resources {
        let (version, value) = (now[resource], values[resource]);
        line(format!(
            r#"{{"type":"state","at":{end},"handle":"r{resource}","version":{version},"fields":{{"size":{value}}}}}"#
        ));
    }
    line(format!(r#"{{"type":"end","at":{}}}"#, end + 1));
}

/// Agents that append to short lists, of which somebody reads all now and then.
fn lists(shape: Shape, calls: usize, out: &mut impl Write) {
    const ELEMENTS: usize = 20;
    let mut random = ChaCha8Rng::seed_from_u64(calls as u64);
    let mut line = |text: String| writeln!(out, "{text}").expect("it can be written");
    let mut list: Vec<String> = Vec::new();
    let mut resource = 0;
    let mut reads = false;
    for number in 0..calls {
        let (sent, received) = (10 * number + 1, 10 * number + 6);
        let agent = below(&mut random, shape.agents);
        let common = format!(
            r#"{{"type":"call","id":"c{number}","sent":{sent},"received":{received},"agent":"a{agent}","principal":"u","handle":"r{resource}""#
        );
        if reads {
            let shown = list.iter().map(|element| format!("\"{element}\"")).collect::<Vec<_>>().join(",");
            line(format!(r#"{common},"tool":"read","answer":{{"outcome":"ok","fields":{{"rows":[{shown}]}}}}}}"#));
            reads = false;
            if list.len() == ELEMENTS {
                list.clear();
                resource += 1;
            }
        } else {
            list.push(format!("e{number}"));
            reads = list.len().is_multiple_of(5);
            line(format!(
                r#"{common},"tool":"append","fields":{{"rows":"e{number}"}},"intent":"i{number}","answer":{{"outcome":"ok"}}}}"#
            ));
        }
    }
}
