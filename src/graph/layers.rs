//! Where the states of a whole graph stand: a layer for each number of steps, in an order with few crossings.

use petgraph::Direction;
use petgraph::graph::NodeIndex;

use super::StateGraph;

/// How often the order of the layers is improved.
const SWEEPS: usize = 8;

/// The nodes of each layer, from left to right.
pub fn layers(drawn: &StateGraph) -> Vec<Vec<NodeIndex>> {
    let mut layers: Vec<Vec<NodeIndex>> = Vec::new();
    for node in drawn.graph.node_indices() {
        let depth = drawn.graph[node].depth;
        layers.resize(layers.len().max(depth + 1), Vec::new());
        layers[depth].push(node);
    }
    // The mean place of the neighbours, for all layers downwards and then upwards.
    for sweep in 0..SWEEPS {
        let toward = if sweep % 2 == 0 { Direction::Incoming } else { Direction::Outgoing };
        for layer in 0..layers.len() {
            let layer = if sweep % 2 == 0 { layer } else { layers.len() - 1 - layer };
            let places: Vec<(i64, NodeIndex)> = layers[layer]
                .iter()
                .enumerate()
                .map(|(place, node)| (mean(drawn, &layers, *node, toward, place), *node))
                .collect();
            let mut places = places;
            places.sort_by_key(|(mean, _)| *mean);
            layers[layer] = places.into_iter().map(|(_, node)| node).collect();
        }
    }
    layers
}

/// The mean place of a node's neighbours in other layers, in thousandths of the layer's width.
fn mean(drawn: &StateGraph, layers: &[Vec<NodeIndex>], node: NodeIndex, toward: Direction, place: usize) -> i64 {
    let depth = drawn.graph[node].depth;
    let at = |node: NodeIndex| {
        let layer = &layers[drawn.graph[node].depth];
        let place = layer.iter().position(|other| *other == node).unwrap_or(0);
        centred(place, layer.len())
    };
    let neighbours = drawn.graph.neighbors_directed(node, toward).filter(|other| drawn.graph[*other].depth != depth);
    let places: Vec<i64> = neighbours.map(at).collect();
    let count = i64::try_from(places.len()).unwrap_or(1);
    if count == 0 { centred(place, layers[depth].len()) } else { places.iter().sum::<i64>() / count }
}

/// A place in thousandths, where 0 is the middle of the layer.
fn centred(place: usize, of: usize) -> i64 {
    let [place, of] = [place, of].map(|it| i64::try_from(it).unwrap_or(0));
    place * 1000 - (of - 1) * 500
}
