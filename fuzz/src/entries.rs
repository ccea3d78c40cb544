//! The entries: bytes go in, and nothing panics.

use std::collections::BTreeMap;
use std::sync::Arc;

use handlecheck::assertion::{Names, compile};
use handlecheck::diagrams::FORMATS;
use handlecheck::engine::{self, Limits, second};
use handlecheck::explain::explain;
use handlecheck::input::{
    Input, InputError, Kind, Look, Source, library, protocol_of, read_design, read_protocol, read_scenario,
};
use handlecheck::model::{Design, Model, Protocol, Scenario};
use handlecheck::run::{Options, Run, invariant_names};
use handlecheck::situation::parse;
use handlecheck::step::Simulation;
use handlecheck::trace::{Trace, replay};

/// What stands between two files in one text.
pub const BETWEEN: &str = "\n=====\n";

/// At most so many states of a model: what is beyond them is more of the same.
const STATES: usize = 300;

/// Reads a text as every kind of input that there is: a scenario, a design, a protocol, a trace, an assertion, a situation.
pub fn reading(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let source = Source::new("fuzzed", "fuzzed.toml", &*text);
    say(read_scenario(&source, &invariant_names()));
    say(read_design(&source));
    say(read_protocol(&source));
    if let Ok(trace) = Trace::from_json(&text) {
        let again = Trace::from_json(&trace.to_json());
        assert_eq!(again.as_ref().ok(), Some(&trace), "a trace is written as it is read");
        show(&trace);
        let _ = replay(&trace);
    }
    let scenario = shipped_scenario();
    let _ = compile(&text, &Names::of(&scenario));
    if let Ok(situation) = parse(&text, &scenario) {
        assert_eq!(parse(&situation.name(), &scenario), Ok(situation), "a situation is found by its name");
    }
}

/// Composes the files of a text, as far as there are any, with shipped ones for the rest; explores the model, and shows
/// and replays what breaks.
pub fn running(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let mut parts = text.splitn(3, BETWEEN);
    let mut part = |kind: Kind, shipped: &str| match parts.next().filter(|text| !text.trim().is_empty()) {
        Some(text) => Source::new("fuzzed", format!("fuzzed.{}.toml", kind.name()), text),
        None => library::find(kind, shipped).expect("it is shipped"),
    };
    let scenario = part(Kind::Scenario, "two-agents-drop");
    let design = part(Kind::Design, "versioned");
    let protocol = part(Kind::Protocol, "mcp-2026-07-28");
    let Some(run) = composed(&scenario, &design, &protocol) else { return };
    let options = Options { max_states: Some(STATES), ..Options::default() };
    let report = run.explore(&options, &mut |_| false).expect("what is found can be written down");
    let found = report.invariants.iter().flat_map(|property| &property.breaks);
    for trace in found.filter_map(|found| found.recorded.as_deref()) {
        assert_eq!(replay(trace).expect("it replays").len(), trace.steps.len());
        show(trace);
    }
}

/// Makes a model of a number, and explores it with both engines: they find the same violations and witnesses.
pub fn engines(texts: &super::random::Texts) {
    let source = |kind: Kind, text: &str| Source::new("random", format!("random.{}.toml", kind.name()), text);
    let (scenario, design) = (source(Kind::Scenario, &texts.scenario), source(Kind::Design, &texts.design));
    let Some(run) = composed(&scenario, &design, &source(Kind::Protocol, &texts.protocol)) else { return };
    let model: Model = run.model().clone();
    let simulation = Arc::new(Simulation::new(model));
    let limits = Limits { states: Some(STATES), ..Limits::default() };
    let first = engine::explore(&*simulation, limits, &mut |_| false);
    if first.stop.is_some() {
        return;
    }
    let other = second::explore(&simulation, None, &mut |_| false);
    let violated = (0..64).filter(|bit| !first.violations[*bit].is_empty()).fold(0, |bits, bit| bits | 1_u64 << bit);
    assert_eq!((violated, first.witnessed), (other.violated, other.witnessed), "both engines say the same");
}

fn composed(scenario: &Source, design: &Source, protocol: &Source) -> Option<Run> {
    let scenario: Input<Scenario> = say(read_scenario(scenario, &invariant_names()))?;
    let design: Input<Design> = say(read_design(design))?;
    let protocol: Input<Protocol> = say(read_protocol(protocol))?;
    say(Run::new(scenario, design, protocol, &BTreeMap::new()))
}

/// What is wrong can be said.
fn say<T>(result: Result<T, InputError>) -> Option<T> {
    result.map_err(|error| [Look::Plain, Look::Colour].map(|look| assert!(!error.render(look).is_empty()))).ok()
}

fn show(trace: &Trace) {
    assert!(!explain(trace).is_empty());
    for format in FORMATS {
        let _ = format.drawn(trace);
    }
}

fn shipped_scenario() -> Scenario {
    let source = library::find(Kind::Scenario, "laptop-basket").expect("it is shipped");
    let scenario = read_scenario(&source, &invariant_names()).expect("it is readable");
    let _ = protocol_of(&scenario, None);
    scenario.value
}
