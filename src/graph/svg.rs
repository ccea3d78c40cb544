//! A state graph as SVG: in layers, or along a trace.

use std::fmt::Write as _;

use petgraph::graph::NodeIndex;
use petgraph::visit::EdgeRef;

use super::dot::about;
use super::layers::layers;
use super::{Move, State, StateGraph};
use crate::diagrams::{SHEET, escape, words};

/// Draws a graph as SVG, which ends with a newline.
#[must_use]
pub fn svg(drawn: &StateGraph) -> String {
    if drawn.trail.is_empty() { in_layers(drawn) } else { along(drawn) }
}

const MARGIN: usize = 20;
/// Where the first row is, below the title and the legend.
const TOP: usize = 92;
/// Half a node.
const RADIUS: usize = 13;

fn page(drawn: &StateGraph, (width, height): (usize, usize), summary: &str, legend: &str, body: &str) -> String {
    let title = escape(&drawn.title);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
         role=\"img\" font-family=\"system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,'Noto Sans','Liberation \
         Sans','DejaVu Sans',sans-serif\" font-size=\"13\">\n<title>{title}</title>\n<desc>{}</desc>\n<style>{SHEET}\
         .h-over{{paint-order:stroke;stroke-width:4px;stroke-linejoin:round;stroke:#fff}}\
         @media (prefers-color-scheme:dark){{.h-over{{stroke:#0d1117}}}}</style>\n\
         <rect class=\"h-paper\" width=\"{width}\" height=\"{height}\"/>\n\
         <text class=\"h-text h-b\" font-size=\"18\" x=\"{MARGIN}\" y=\"36\">{title}</text>\n\
         <text class=\"h-dim h-s\" x=\"{MARGIN}\" y=\"58\">{}</text>\n{body}</svg>\n",
        escape(summary),
        escape(legend)
    )
}

/// A node: a double ring where nothing but orphans and faults can move.
fn node(body: &mut String, (x, y): (usize, usize), label: &str, state: &State) {
    let bad = !state.violated.is_empty();
    let class = if bad { "h-bad" } else { "h-ink" };
    let _ = writeln!(body, "<g><title>{}</title>", escape(&about(state)));
    let _ = writeln!(body, "<circle class=\"h-paper\" cx=\"{x}\" cy=\"{y}\" r=\"{RADIUS}\"/>");
    let wide = if bad || state.loops { 3 } else { 1 };
    let _ = writeln!(body, "<circle class=\"{class}\" cx=\"{x}\" cy=\"{y}\" r=\"{RADIUS}\" stroke-width=\"{wide}\"/>");
    if state.quiescent {
        let _ = writeln!(body, "<circle class=\"{class}\" cx=\"{x}\" cy=\"{y}\" r=\"{}\"/>", RADIUS - 3);
    }
    let _ = writeln!(body, "<text class=\"h-text h-s h-n h-c\" x=\"{x}\" y=\"{}\">{label}</text>\n</g>", y + 4);
}

/// Along a trace: its states from top to bottom, and at each what else could have happened.
fn along(drawn: &StateGraph) -> String {
    let (width, line, x) = (760, 22, MARGIN + RADIUS + 14);
    let mut lines = String::new();
    let mut nodes = String::new();
    let mut y = TOP + RADIUS;
    let place = |node: NodeIndex| drawn.trail.iter().position(|it| *it == node);
    let text = |x: usize, room: usize, words: &str, class: &str, y: usize| {
        format!("<text class=\"{class}\" x=\"{x}\" y=\"{}\">{}</text>\n", y + 4, escape(&words::shorten(words, room)))
    };
    for (index, at) in drawn.trail.iter().enumerate() {
        node(&mut nodes, (x, y), &index.to_string(), &drawn.graph[*at]);
        let mut moves: Vec<(&Move, NodeIndex)> =
            drawn.graph.edges(*at).map(|edge| (edge.weight(), edge.target())).collect();
        moves.reverse();
        let from = y;
        let taken = moves.iter().find(|(step, _)| step.taken == Some(index + 1));
        if let Some((step, _)) = taken {
            let bad = !step.violated.is_empty();
            let class = if bad { "h-badtext h-b" } else { "h-text h-b" };
            let broken = if bad { format!(" — violates {}", step.violated.join(", ")) } else { String::new() };
            lines.push_str(&text(x + 26, 80, &format!("{}  {}{broken}", index + 1, step.words), class, y));
        }
        for road in roads(&moves, &place) {
            y += line;
            let dash = if road.fault { " stroke-dasharray=\"2 3\"" } else { "" };
            let (class, words) = if road.bad { ("h-bad", "h-badtext h-s") } else { ("h-line", "h-dim h-s") };
            let _ = writeln!(lines, "<path class=\"{class}\" d=\"M{x} {y}h26\"{dash}/>");
            let _ = writeln!(lines, "<circle class=\"{class}\" cx=\"{}\" cy=\"{y}\" r=\"4\"/>", x + 30);
            lines.push_str(&text(x + 42, 88, &road.words, words, y));
        }
        let Some((step, _)) = taken else { continue };
        y += line + RADIUS;
        let bad = !step.violated.is_empty();
        let (stroke, wide, end) = if bad { ("h-bad", 4, y - RADIUS) } else { ("h-ink", 3, y - RADIUS) };
        let _ = writeln!(lines, "<path class=\"{stroke}\" stroke-width=\"{wide}\" d=\"M{x} {from}V{}\"/>", end - 6);
        let fill = if bad { "h-badsolid" } else { "h-solid" };
        let _ = writeln!(lines, "<path class=\"{fill}\" d=\"M{} {}h12l-6 9z\"/>", x - 6, end - 9);
    }
    let roads = drawn.graph.edge_weights().filter(|step| step.taken.is_none()).count();
    let summary = format!("{} states along a trace, and {roads} roads not taken.", drawn.trail.len());
    let legend = "Thick: the trace. Thin: what could have happened instead; dashed: a fault.";
    page(drawn, (width, y + RADIUS + MARGIN + 6), &summary, legend, &format!("{lines}{nodes}"))
}

/// What could have happened instead, in one line.
struct Road {
    words: String,
    fault: bool,
    bad: bool,
}

/// The roads from a state that were not taken; those that differ in their object only, in one line.
fn roads(moves: &[(&Move, NodeIndex)], place: &dyn Fn(NodeIndex) -> Option<usize>) -> Vec<Road> {
    let mut roads: Vec<Road> = Vec::new();
    for (step, to) in moves.iter().filter(|(step, _)| step.taken.is_none()) {
        let bad = !step.violated.is_empty();
        let joins = place(*to).map_or_else(String::new, |there| format!(" → state {there}"));
        let broken = if bad { format!(" — violates {}", step.violated.join(", ")) } else { String::new() };
        let (action, about) = step.words.split_once(": ").unwrap_or((&step.words, ""));
        let plain = joins.is_empty() && broken.is_empty();
        let same = format!("{action}: ");
        match roads
            .iter_mut()
            .find(|road| plain && !road.bad && road.words.starts_with(&same) && !road.words.contains('→'))
        {
            Some(road) => road.words = format!("{}; {about}", road.words),
            None => roads.push(Road { words: format!("{}{joins}{broken}", step.words), fault: step.fault, bad }),
        }
    }
    roads
}

/// Everything, a layer for each number of steps.
fn in_layers(drawn: &StateGraph) -> String {
    let layers = layers(drawn);
    let (pitch, deep) = (200, 92);
    let widest = layers.iter().map(Vec::len).max().unwrap_or(1);
    let width = (widest * pitch + 2 * MARGIN).max(560);
    let mut places = vec![(0, 0); drawn.graph.node_count()];
    for (depth, layer) in layers.iter().enumerate() {
        for (place, node) in layer.iter().enumerate() {
            let x = (width - layer.len() * pitch) / 2 + place * pitch + pitch / 2;
            places[node.index()] = (x, TOP + RADIUS + depth * deep);
        }
    }
    let mut lines = String::new();
    let mut labels = String::new();
    for at in drawn.graph.node_indices() {
        let mut edges: Vec<_> = drawn.graph.edges(at).collect();
        edges.sort_by_key(|edge| (places[edge.target().index()], edge.id()));
        for (number, edge) in edges.iter().enumerate() {
            let ((x, y), (to_x, to_y)) = (places[at.index()], places[edge.target().index()]);
            let step = edge.weight();
            let bad = !step.violated.is_empty();
            let class = if bad { "h-bad" } else { "h-ink" };
            let dash = if step.fault { " stroke-dasharray=\"4 4\"" } else { "" };
            let wide = if bad { 3 } else { 1 };
            let forward = to_y > y;
            let (start, end) = if forward { (y + RADIUS, to_y - RADIUS - 7) } else { (y, to_y) };
            // What leads back, or stays, goes round at the right.
            let bend = x.max(to_x) + pitch / 2 - 20 + 6 * number;
            let way = if forward {
                format!("M{x} {start}C{x} {} {to_x} {} {to_x} {end}", start + 26, end - 26)
            } else {
                format!("M{} {start}C{bend} {start} {bend} {end} {} {end}", x + RADIUS, to_x + RADIUS + 7)
            };
            let _ = writeln!(lines, "<path class=\"{class}\" stroke-width=\"{wide}\" d=\"{way}\"{dash}/>");
            let fill = if bad { "h-badsolid" } else { "h-solid" };
            let head = if forward {
                format!("M{} {}h10l-5 8z", to_x - 5, end - 1)
            } else {
                format!("M{} {}v10l-8 -5z", to_x + RADIUS + 9, end - 5)
            };
            let _ = writeln!(lines, "<path class=\"{fill}\" d=\"{head}\"/>");
            // Labels stand near where they lead, in turn at two heights, so that neighbours do not meet.
            let down = 72;
            let (label_x, label_y) = if forward {
                ((x * (100 - down) + to_x * down) / 100, start + 30 + 14 * (number % 2))
            } else {
                (bend - 20, usize::midpoint(y, to_y) + 4)
            };
            let class = if bad { "h-badtext h-s h-c h-over" } else { "h-text h-s h-c h-over" };
            let text = escape(&words::shorten(&step.words, 30));
            let _ = writeln!(labels, "<text class=\"{class}\" x=\"{label_x}\" y=\"{label_y}\">{text}</text>");
        }
    }
    let mut nodes = String::new();
    for at in drawn.graph.node_indices() {
        node(&mut nodes, places[at.index()], &at.index().to_string(), &drawn.graph[at]);
    }
    let summary = format!("{} states and {} moves.", drawn.graph.node_count(), drawn.graph.edge_count());
    let legend = "Dashed: a fault. Double ring: nothing is left to do. Thick ring: on a loop.";
    let height = TOP + 2 * RADIUS + (layers.len().max(1) - 1) * deep + MARGIN;
    page(drawn, (width, height), &summary, legend, &format!("{lines}{labels}{nodes}"))
}
