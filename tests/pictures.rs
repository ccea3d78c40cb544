//! What must be true of every picture, whatever the trace: it is valid, nothing lies over anything else or outside, and
//! every step is drawn or folded.
//!
//! Judged on the drawn file, by a reader that shares nothing with what draws it; on every golden trace, on the traces made
//! by hand and at random, and on the violations of every shipped scenario under every shipped design.

mod common;
mod hand_made;
mod stories;

use std::collections::{BTreeMap, BTreeSet};

use common::{files, read};
use hand_made::random::{HOSTILE, random};
use handlecheck::diagrams::{FORMATS, Sequence, words};
use handlecheck::input::{self, Kind};
use handlecheck::run::{Options, Run, invariant_names};
use handlecheck::trace::Trace;

/// The picture of a trace in a format.
fn drawn(format: &str, trace: &Trace) -> String {
    let format = FORMATS.iter().find(|row| row.name == format).unwrap_or_else(|| panic!("there is a format {format}"));
    format.text(trace).expect("it is a format of text")
}

/// A rectangle on the page, with what stands in it.
#[derive(Clone, Debug)]
struct Area {
    left: f64,
    top: f64,
    right: f64,
    bottom: f64,
    what: String,
}

impl Area {
    fn meets(&self, other: &Self) -> bool {
        let slack = 0.6;
        self.left < other.right - slack
            && other.left < self.right - slack
            && self.top < other.bottom - slack
            && other.top < self.bottom - slack
    }

    fn holds(&self, other: &Self) -> bool {
        let slack = 1.0;
        self.left <= other.left + slack
            && self.top <= other.top + slack
            && self.right + slack >= other.right
            && self.bottom + slack >= other.bottom
    }
}

/// What a reader finds in a picture.
#[derive(Debug, Default)]
struct Found {
    texts: Vec<Area>,
    boxes: Vec<Area>,
    /// The bars of what is true.
    bars: Vec<Area>,
    /// Where the heads of lanes are.
    lanes: Vec<f64>,
    /// The steps that are drawn.
    steps: BTreeSet<usize>,
}

fn number(node: roxmltree::Node<'_, '_>, name: &str) -> f64 {
    node.attribute(name).unwrap_or_else(|| panic!("{name} of {node:?}")).parse().expect("a length is a number")
}

/// How wide a text is at the most: 0.6 em a column, as the widest common sans-serif.
fn width(text: &str, size: f64) -> f64 {
    let columns = u32::try_from(words::width(text)).expect("a text is short");
    f64::from(columns) * size * 0.6
}

fn find(node: roxmltree::Node<'_, '_>, down: f64, found: &mut Found) {
    let moved = node.attribute("transform").map_or(0.0, |transform| {
        let inside = transform.strip_prefix("translate(0 ").and_then(|rest| rest.strip_suffix(')'));
        inside.and_then(|down| down.parse::<f64>().ok()).unwrap_or_else(|| panic!("{transform} moves down only"))
    });
    let down = down + moved;
    let classes: Vec<&str> = node.attribute("class").unwrap_or_default().split(' ').collect();
    match node.tag_name().name() {
        "text" => {
            let text: String = node.descendants().filter(roxmltree::Node::is_text).filter_map(|it| it.text()).collect();
            let size = match node.attribute("font-size") {
                Some(size) => size.parse().expect("a size is a number"),
                None if classes.contains(&"h-s") => 12.0,
                None => 13.0,
            };
            assert!(size >= 12.0, "nothing is smaller than 12: {text}");
            let (wide, x, y) = (width(&text, size), number(node, "x"), number(node, "y") + down);
            let left = if classes.contains(&"h-c") {
                x - wide / 2.0
            } else if classes.contains(&"h-e") {
                x - wide
            } else {
                x
            };
            if (x - 20.0).abs() < 0.1 && classes.contains(&"h-n") {
                let ends: Vec<usize> =
                    text.split('–').map(|step| step.parse().expect("the number of a step")).collect();
                found.steps.extend(ends[0]..=ends[ends.len() - 1]);
            }
            if ["h-b", "h-c"].iter().all(|class| classes.contains(class)) && [114.0, 129.0].contains(&y) {
                found.lanes.push(x);
            }
            found.texts.push(Area { left, top: y - size * 0.75, right: left + wide, bottom: y + 3.0, what: text });
        }
        "rect" if ["h-box", "h-badge", "h-oldbadge"].iter().any(|class| classes.contains(class)) => {
            let (left, top) = (number(node, "x"), number(node, "y") + down);
            let (right, bottom) = (left + number(node, "width"), top + number(node, "height"));
            found.boxes.push(Area { left, top, right, bottom, what: classes.join(" ") });
        }
        "path" if classes.iter().any(|class| ["h-solid", "h-badsolid"].contains(class)) => {
            let path = node.attribute("d").unwrap_or_default();
            for bar in path.split('M').filter_map(|bar| bar.strip_suffix("h-12z")) {
                let (from, bottom) = bar.split_once("h12V").expect("a bar is 12 wide");
                let (left, top) = from.split_once(' ').expect("a point has two lengths");
                let length = |text: &str| text.parse::<f64>().expect("a length is a number");
                let (left, top, bottom) = (length(left), length(top), length(bottom));
                found.bars.push(Area { left, top, right: left + 12.0, bottom, what: "bar".to_owned() });
            }
        }
        _ => {}
    }
    node.children().filter(roxmltree::Node::is_element).for_each(|child| find(child, down, found));
}

/// The columns of a handle that stands whole over its lane.
const WHOLE: usize = 24;

/// Everything that is wrong with an SVG.
fn faults_of_svg(trace: &Trace, svg: &str) -> Vec<String> {
    let document = match roxmltree::Document::parse(svg) {
        Ok(document) => document,
        Err(error) => return vec![format!("it is not XML: {error}")],
    };
    let root = document.root_element();
    let mut found = Found::default();
    find(root, 0.0, &mut found);
    let mut faults = Vec::new();
    let page = Area {
        left: 0.0,
        top: 0.0,
        right: number(root, "width"),
        bottom: number(root, "height"),
        what: "page".to_owned(),
    };
    for area in found.texts.iter().chain(&found.boxes).filter(|area| !page.holds(area)) {
        faults.push(format!("outside: {area:?}"));
    }
    for (index, one) in found.texts.iter().enumerate() {
        for other in found.texts[index + 1..].iter().filter(|other| one.meets(other)) {
            faults.push(format!("`{}` lies over `{}`", one.what, other.what));
        }
        for other in found.boxes.iter().filter(|other| one.meets(other) && !other.holds(one)) {
            faults.push(format!("`{}` leaves its box, {other:?}", one.what));
        }
    }
    for badge in found.boxes.iter().filter(|area| area.what.contains("badge")) {
        let lanes: Vec<&f64> = found.lanes.iter().filter(|x| badge.left < **x && **x < badge.right).collect();
        if lanes.len() > 1 {
            faults.push(format!("{badge:?} lies over the lanes at {lanes:?}"));
        }
    }
    for text in found.texts.iter().filter(|text| !found.boxes.iter().any(|area| area.holds(text))) {
        for bar in found.bars.iter().filter(|bar| bar.meets(text)) {
            faults.push(format!("`{}` lies over a bar, {bar:?}", text.what));
        }
    }
    for (index, one) in found.boxes.iter().enumerate() {
        for other in found.boxes[index + 1..].iter().filter(|other| one.meets(other)) {
            faults.push(format!("{one:?} lies over {other:?}"));
        }
    }
    let stores = Sequence::of(trace).lanes.stores.into_iter().map(|store| store.handle);
    for handle in stores.filter(|handle| words::width(handle) <= WHOLE) {
        if !found.texts.iter().any(|text| text.what == handle) {
            faults.push(format!("the head of {handle} is cut"));
        }
    }
    let missing: Vec<usize> = (1..=trace.steps.len()).filter(|step| !found.steps.contains(step)).collect();
    if !missing.is_empty() {
        faults.push(format!("steps that are not drawn: {missing:?}"));
    }
    let has = |name: &str| root.children().any(|child| child.tag_name().name() == name);
    if !has("title") || !has("desc") || document.descendants().any(|node| node.tag_name().name() == "script") {
        faults.push("a picture has a title and a description, and no script".to_owned());
    }
    faults
}

/// Asserts that nothing is wrong with the pictures of a trace.
#[track_caller]
fn check(name: &str, trace: &Trace) {
    let svg = drawn("svg", trace);
    let faults = faults_of_svg(trace, &svg);
    assert!(faults.is_empty(), "{name}:\n{}\n{svg}", faults.join("\n"));
}

#[test]
fn pictures_of_the_golden_traces_are_sound() {
    for path in files("traces", ".json") {
        let trace = Trace::from_json(&read(&path)).unwrap_or_else(|error| panic!("{path}: {error}"));
        check(&path, &trace);
        stories::check(&path, &trace);
        let size = drawn("svg", &trace).len();
        assert!(size < 14_000, "{path}: a picture is small, and this one has {size} bytes");
    }
}

#[test]
fn pictures_of_the_traces_made_by_hand_are_sound() {
    check("lost update", &hand_made::lost_update());
    check("double write", &hand_made::double_write());
    check("everything", &hand_made::everything());
}

/// Also where names are hostile, and nothing fits together. Only its soundness as a file is asked for there: names may be
/// of any length.
#[test]
fn pictures_of_strange_traces_are_valid() {
    for seed in 0..400 {
        let trace = random(seed, if seed % 2 == 0 { &HOSTILE[..4] } else { HOSTILE });
        let svg = drawn("svg", &trace);
        let parsed = roxmltree::Document::parse(&svg);
        assert!(parsed.is_ok(), "seed {seed}: {parsed:?}\n{svg}");
    }
}

/// The most states of one search here: enough for most of the shortest breaks.
const STATES: usize = 700;

#[test]
fn pictures_and_stories_of_every_shipped_violation_are_sound() {
    let mut drawn_of: BTreeMap<String, usize> = BTreeMap::new();
    let mut causes = 0;
    let scenarios = files("models/scenarios", ".toml").into_iter().chain(files("models/incidents", ".scenario.toml"));
    let designs: Vec<String> = files("models/designs", ".toml");
    let repaired = files("models/incidents", ".design.toml");
    let read_design = |path: &String| {
        let source = input::resolve(Kind::Design, path, None).expect("it is there");
        input::read_design(&source).expect("it is right")
    };
    let shipped: Vec<_> = designs.iter().map(read_design).collect();
    for path in scenarios {
        let incident = path.strip_suffix(".scenario.toml");
        let own: Vec<_> = repaired
            .iter()
            .filter(|design| incident.is_some_and(|stem| design.starts_with(&format!("{stem}-"))))
            .map(read_design)
            .collect();
        for design in if incident.is_some() { &own } else { &shipped } {
            let source = input::resolve(Kind::Scenario, &path, None).expect("it is there");
            let scenario = input::read_scenario(&source, &invariant_names()).expect("it is right");
            let protocol = input::protocol_of(&scenario, None).expect("it is there");
            // A design may need something that a scenario does not have.
            let Ok(run) = Run::new(scenario, design.clone(), protocol, &BTreeMap::new()) else { continue };
            let options = Options { max_states: Some(STATES), stop_early: true, ..Options::default() };
            let report = run.explore(&options, &mut |_| false).expect("it can be recorded");
            for property in &report.invariants {
                for trace in property.breaks.iter().filter_map(|found| found.recorded.as_deref()) {
                    let name = format!("{path} x {}: {}", report.design, property.name);
                    check(&name, trace);
                    causes += stories::check(&name, trace);
                    *drawn_of.entry(property.name.clone()).or_default() += 1;
                }
            }
        }
    }
    // The canary: all this looked at something.
    let count: usize = drawn_of.values().sum();
    assert!(count > 500 && drawn_of.len() > 20, "{count} pictures of {drawn_of:?}");
    assert!(causes > 500, "{causes} causes");
}

/// What can be said of PlantUML and DOT without their tools: blocks are closed, and nothing of a user's ends a string or
/// starts a command.
#[test]
fn sources_of_other_tools_are_sound() {
    for seed in 0..200 {
        let trace = random(seed, if seed % 2 == 0 { &HOSTILE[..4] } else { HOSTILE });
        let uml = drawn("plantuml", &trace);
        let count = |wanted: fn(&str) -> bool| uml.lines().filter(|line| wanted(line.trim())).count();
        assert_eq!(count(|line| line.starts_with("note ")), count(|line| line == "end note"), "seed {seed}:\n{uml}");
        assert_eq!(count(|line| line.starts_with("box ")), count(|line| line == "end box"), "seed {seed}:\n{uml}");
        assert!(uml.starts_with("@startuml\n") && uml.ends_with("@enduml\n"), "seed {seed}");
        let dot = drawn("dot", &trace);
        for line in dot.lines() {
            let quotes = line.replace("\\\\", "").replace("\\\"", "").matches('"').count();
            assert_eq!(quotes % 2, 0, "seed {seed}: {line}");
        }
        assert_eq!(dot.matches('{').count() > 0, dot.trim_end().ends_with('}'), "seed {seed}");
    }
}

/// The causal order never says that a step precedes an earlier one, and everything that is on the way to the violation is
/// black.
#[test]
fn causes_come_before_their_effects() {
    use handlecheck::diagrams::causes;
    for path in files("traces", ".json") {
        let trace = Trace::from_json(&read(&path)).expect("it is a trace");
        let sequence = Sequence::of(&trace);
        let order = causes::causes(&sequence);
        for (row, before) in order.iter().enumerate() {
            assert!(before.iter().all(|cause| *cause < row), "{path}: {order:?}");
        }
        let past = causes::past_of(&order, order.len() - 1);
        assert!(past.iter().filter(|it| **it).count() > 1, "{path}: the violation has causes");
    }
}

/// A trace in the Informal Trace Format is one of that format, and is read as the trace that it was.
#[test]
fn a_trace_comes_back_from_the_informal_trace_format() {
    for path in files("traces", ".json") {
        let trace = Trace::from_json(&read(&path)).expect("it is a trace");
        let text = drawn("itf", &trace);
        assert_eq!(Trace::read(&text).expect("we wrote it"), trace, "{path}");
        let file: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
        assert_eq!(file["#meta"]["format"], "ITF");
        let names: BTreeSet<&str> =
            file["vars"].as_array().expect("a list").iter().filter_map(|it| it.as_str()).collect();
        let states = file["states"].as_array().expect("a list");
        assert_eq!(states.len(), trace.steps.len() + 1);
        for state in states {
            let state = state.as_object().expect("a record");
            let there: BTreeSet<&str> = state.keys().map(String::as_str).filter(|key| *key != "#meta").collect();
            assert_eq!(there, names);
            assert!(state["facts"]["#map"].is_array());
        }
    }
    for seed in 0..50 {
        let trace = random(seed, HOSTILE);
        assert_eq!(Trace::read(&drawn("itf", &trace)).expect("we wrote it"), trace, "seed {seed}");
    }
}

#[test]
fn a_file_in_the_informal_trace_format_is_read_wherever_a_trace_is() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let path = "traces/laptop-basket.naive.no-lost-update.json";
    let trace = Trace::from_json(&read(path)).expect("it is a trace");
    std::fs::write(folder.path().join("lost.itf.json"), trace.to_itf()).expect("a file can be written");
    let replayed = common::handlecheck(folder.path(), &["replay", "lost.itf.json"]);
    assert_eq!((replayed.code, &*replayed.err), (0, ""), "{}", replayed.out);
    for command in ["explain", "diagram"] {
        let of_itf = common::handlecheck(folder.path(), &[command, "lost.itf.json"]);
        let of_trace = common::handlecheck(&common::root(), &[command, path]);
        assert_eq!(of_itf, of_trace);
    }
}

#[cfg(feature = "png")]
#[test]
fn pixels_are_the_same_each_time() {
    let format = FORMATS.iter().find(|row| row.name == "png").expect("there is the format");
    let trace = Trace::from_json(&read("traces/import-rows.naive.no-double-write.json")).expect("it is a trace");
    let pixels = format.drawn(&trace);
    assert!(pixels.starts_with(b"\x89PNG\r\n"), "it is a PNG");
    assert_eq!(pixels, format.drawn(&trace));
    assert!(pixels.len() > 20_000, "there is something to see: {} bytes", pixels.len());
}

/// The canary of the reader: what lies over something else, or outside, is found.
#[test]
fn what_is_wrong_is_found() {
    let trace = hand_made::lost_update();
    let svg = drawn("svg", &trace);
    let twice = svg.replacen("</svg>", "<text x=\"74\" y=\"38\">over the title</text></svg>", 1);
    assert!(faults_of_svg(&trace, &twice).iter().any(|fault| fault.contains("lies over")));
    let outside = svg.replacen("</svg>", "<text x=\"740\" y=\"300\">much too far right</text></svg>", 1);
    assert!(faults_of_svg(&trace, &outside).iter().any(|fault| fault.contains("outside")));
    let cut = svg.replace(">bsk_42<", ">bs…<");
    assert!(faults_of_svg(&trace, &cut).iter().any(|fault| fault.contains("is cut")));
    let aside = "<rect class=\"h-badge\" x=\"160\" y=\"130\" width=\"100\" height=\"4\"/></svg>";
    let over = svg.replacen("</svg>", aside, 1);
    assert!(faults_of_svg(&trace, &over).iter().any(|fault| fault.contains("lies over the lanes")));
    let bar = "<path class=\"h-badsolid\" d=\"M74 30h12V40h-12z\"/></svg>";
    let barred = svg.replacen("</svg>", bar, 1);
    assert!(faults_of_svg(&trace, &barred).iter().any(|fault| fault.contains("lies over a bar")));
    let mut longer = trace.clone();
    longer.steps.push(trace.steps[0].clone());
    assert!(faults_of_svg(&longer, &svg).iter().any(|fault| fault.contains("not drawn")));
}

/// What the type of pixels has no sign for is known, so that it can be said.
#[test]
#[cfg(feature = "png")]
fn letters_without_a_sign_are_known() {
    let lacks = |name: &str, trace: &Trace| -> String {
        let format = FORMATS.iter().find(|row| row.name == name).expect("there is the format");
        format.lacks(trace).into_iter().collect()
    };
    let mut trace = hand_made::everything();
    assert_eq!(lacks("png", &trace), "");
    trace.sentence = "Ärger mit 日本 und Ω".to_owned();
    assert_eq!(lacks("png", &trace), "日本");
    assert_eq!(lacks("svg", &trace), "");
}
