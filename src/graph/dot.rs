//! A state graph for Graphviz.

use petgraph::dot::{Config, Dot};
use petgraph::visit::EdgeRef;

use super::{Move, State, StateGraph};
use crate::diagrams::words::line;

/// Writes a graph as DOT, which ends with a newline.
#[must_use]
pub fn dot(drawn: &StateGraph) -> String {
    let node = |_: &_, (index, state): (petgraph::graph::NodeIndex, &State)| {
        let on = drawn.trail.contains(&index);
        let shape = if state.quiescent { "doublecircle" } else { "circle" };
        let style = match (on || drawn.trail.is_empty(), state.loops) {
            (true, false) => "solid",
            (true, true) => "bold",
            (false, _) => "dashed",
        };
        let bad = if state.violated.is_empty() { String::new() } else { color() };
        let tip = quoted(&about(state));
        format!("label=\"{}\" shape={shape} style={style} tooltip=\"{tip}\"{bad}", index.index())
    };
    let edge = |_: &_, edge: petgraph::graph::EdgeReference<'_, Move>| {
        let step = edge.weight();
        let number = step.taken.map_or_else(String::new, |number| format!("{number}. "));
        let broken =
            if step.violated.is_empty() { String::new() } else { format!("\\n{}", quoted(&step.violated.join(", "))) };
        let style = match (step.taken.is_some(), step.fault) {
            (true, _) => " penwidth=2",
            (false, true) => " style=dashed",
            (false, false) => "",
        };
        let bad = if step.violated.is_empty() { String::new() } else { color() };
        let (from, to) = (edge.source().index(), edge.target().index());
        let tip = format!("{from} to {to}");
        format!("label=\"{number}{}{broken}\" tooltip=\"{tip}\"{style}{bad}", quoted(&step.words))
    };
    let config = [Config::NodeNoLabel, Config::EdgeNoLabel];
    let body = format!("{:?}", Dot::with_attr_getters(&drawn.graph, &config, &edge, &node));
    let head = format!(
        "digraph {{\n    label=\"{}\" labelloc=t fontname=\"sans-serif\"\n    node [fontname=\"sans-serif\"] edge \
         [fontname=\"sans-serif\" fontsize=10]\n",
        quoted(&drawn.title)
    );
    let body = body.replacen("digraph {\n", &head, 1);
    format!("{}\n", body.trim_end())
}

fn color() -> String {
    " color=\"#b3261e\" fontcolor=\"#b3261e\"".to_owned()
}

/// What a state is, in words.
pub(super) fn about(state: &State) -> String {
    let mut words = vec![format!("{} steps", state.depth)];
    words.extend(state.quiescent.then(|| "quiescent".to_owned()));
    words.extend(state.loops.then(|| "on a loop".to_owned()));
    words.extend((!state.violated.is_empty()).then(|| format!("violates {}", state.violated.join(", "))));
    words.join(", ")
}

fn quoted(text: &str) -> String {
    line(text).replace('\\', "\\\\").replace('"', "\\\"")
}
