//! Cycles: calls of which each must come before the next, and so before itself.
//!
//! The strongest kind that a component has is named, and its shortest cycle shown: only write-write edges (Adya's G0),
//! these and write-read edges (G1c), one read-write edge besides (G-single), more of them (G2-item). Where a cycle needs
//! the order of real time, its name says so.

use std::collections::VecDeque;

use hashbrown::HashMap;
use petgraph::algo::kosaraju_scc;
use petgraph::graph::{EdgeIndex, NodeIndex};
use petgraph::visit::EdgeRef;
use rustc_hash::FxBuildHasher;

use super::case::{Case, Finding, Judged, KEPT};
use super::effects::{Effect, Seen};
use super::graph::{Edge, Graph, Kind, Node, Part, call};

/// How many edges are looked at, at most, in the search of one component's shortest cycle.
const MOST_LOOKS: usize = 4_000_000;

/// A cycle: its edges, each leading to where the next one starts.
#[derive(Clone, Debug)]
pub struct Cycle {
    /// The edges.
    pub edges: Vec<EdgeIndex>,
    /// The kind, by Adya's name.
    pub class: Class,
    /// None shorter is of its kind.
    pub shortest: bool,
}

/// Adya's kinds of cycles, the strongest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// Write-write edges only.
    G0,
    /// And write-read edges.
    G1c,
    /// And one read-write edge.
    GSingle,
    /// And more than one.
    G2,
}

/// One cycle of each component: the shortest of the strongest kind that it has.
#[must_use]
pub fn cycles(graph: &Graph) -> Vec<Cycle> {
    let mut components: Vec<Vec<NodeIndex>> =
        kosaraju_scc(&graph.edges).into_iter().filter(|component| component.len() > 1).collect();
    for component in &mut components {
        component.sort_unstable();
    }
    components.sort_unstable();
    let mut inside = vec![u32::MAX; graph.edges.node_count()];
    for (number, component) in (0..).zip(&components) {
        for node in component {
            inside[node.index()] = number;
        }
    }
    let all = components.iter().enumerate();
    all.map(|(number, component)| {
        let mut search = Search { graph, inside: &inside, component, looks: 0 };
        // Beyond what is shown, only that there is a cycle matters.
        if number >= KEPT {
            search.looks = MOST_LOOKS / 2;
        }
        search.strongest()
    })
    .collect()
}

struct Search<'g> {
    graph: &'g Graph,
    inside: &'g [u32],
    component: &'g [NodeIndex],
    looks: usize,
}

impl Search<'_> {
    fn strongest(&mut self) -> Cycle {
        use Kind::{ReadWrite, Time, WriteRead, WriteWrite};
        let plain: &[Kind] = &[WriteWrite, WriteRead];
        let timed: &[Kind] = &[WriteWrite, WriteRead, Time];
        for (through, among) in [
            (WriteWrite, &[WriteWrite][..]),
            (WriteRead, plain),
            (ReadWrite, plain),
            (WriteWrite, &[WriteWrite, Time]),
            (WriteRead, timed),
            (ReadWrite, timed),
            (ReadWrite, &[WriteWrite, WriteRead, ReadWrite]),
        ] {
            if let Some(found) = self.shortest(through, among) {
                return found;
            }
        }
        let all = &[WriteWrite, WriteRead, ReadWrite, Time];
        let found = self.shortest(ReadWrite, all);
        // Only when the search was cut short: any cycle then.
        found.unwrap_or_else(|| {
            self.looks = 0;
            let first = self.component[0];
            let edges =
                self.way(first, first, all, usize::MAX).expect("a component has a way from each node to itself");
            let class = self.class(&edges);
            Cycle { edges, class, shortest: false }
        })
    }

    /// The shortest cycle through an edge of one kind, otherwise over edges among these kinds.
    fn shortest(&mut self, through: Kind, among: &[Kind]) -> Option<Cycle> {
        let mut best: Option<Vec<EdgeIndex>> = None;
        let mut complete = true;
        for node in self.component {
            let starts: Vec<(EdgeIndex, NodeIndex)> = self
                .graph
                .edges
                .edges(*node)
                .filter(|edge| edge.weight().kind == through && self.is_inside(edge.target()))
                .map(|edge| (edge.id(), edge.target()))
                .collect();
            for (edge, target) in starts {
                if self.looks >= MOST_LOOKS {
                    complete = false;
                    break;
                }
                let bound = best.as_ref().map_or(usize::MAX, |best| self.length(best));
                let Some(mut way) = self.way(target, *node, among, bound) else { continue };
                way.insert(0, edge);
                if best.as_ref().is_none_or(|best| self.length(&way) < self.length(best)) {
                    best = Some(way);
                }
            }
        }
        best.map(|edges| {
            let class = self.class(&edges);
            Cycle { edges, class, shortest: complete }
        })
    }

    fn is_inside(&self, node: NodeIndex) -> bool {
        self.inside[node.index()] == self.inside[self.component[0].index()]
    }

    /// How many calls are on a way.
    fn length(&self, edges: &[EdgeIndex]) -> usize {
        let ends = edges.iter().filter_map(|edge| self.graph.edges.edge_endpoints(*edge));
        ends.filter(|(from, _)| self.graph.edges[*from] != Node::Moment).count()
    }

    fn class(&self, edges: &[EdgeIndex]) -> Class {
        let kinds = || edges.iter().map(|edge| self.graph.edges[*edge].kind);
        match kinds().filter(|kind| *kind == Kind::ReadWrite).count() {
            0 if kinds().any(|kind| kind == Kind::WriteRead) => Class::G1c,
            0 => Class::G0,
            1 => Class::GSingle,
            _ => Class::G2,
        }
    }

    /// The way over the fewest calls; moments cost nothing. `None`: there is none with fewer than `bound` calls.
    fn way(&mut self, from: NodeIndex, to: NodeIndex, among: &[Kind], bound: usize) -> Option<Vec<EdgeIndex>> {
        let mut reached: HashMap<NodeIndex, (usize, EdgeIndex), FxBuildHasher> = HashMap::default();
        let mut queue = VecDeque::from([(from, 0)]);
        while let Some((node, cost)) = queue.pop_front() {
            if reached.get(&node).is_some_and(|(best, _)| *best < cost) || cost >= bound {
                continue;
            }
            if node == to && reached.contains_key(&to) {
                break;
            }
            for edge in self.graph.edges.edges(node) {
                self.looks += 1;
                if !among.contains(&edge.weight().kind) || !self.is_inside(edge.target()) {
                    continue;
                }
                let step = usize::from(self.graph.edges[node] != Node::Moment);
                let next = edge.target();
                if next == from && from != to {
                    continue;
                }
                if reached.get(&next).is_none_or(|(best, _)| cost + step < *best) {
                    reached.insert(next, (cost + step, edge.id()));
                    if step == 0 {
                        queue.push_front((next, cost));
                    } else {
                        queue.push_back((next, cost + step));
                    }
                }
            }
            if self.looks >= MOST_LOOKS && bound != usize::MAX {
                return None;
            }
        }
        let mut edges = Vec::new();
        let mut at = to;
        loop {
            let (_, edge) = reached.get(&at)?;
            edges.push(*edge);
            at = self.graph.edges.edge_endpoints(*edge).expect("the edge is there").0;
            if at == from {
                break;
            }
        }
        edges.reverse();
        Some(edges)
    }
}

/// What a cycle is called.
#[must_use]
pub fn anomaly(graph: &Graph, cycle: &Cycle) -> &'static str {
    let edges: Vec<Edge> = cycle.edges.iter().map(|edge| graph.edges[*edge]).collect();
    let timed = edges.iter().any(|edge| edge.kind == Kind::Time);
    let of_one = |kinds: [Kind; 2]| match &*edges {
        [one, other] => {
            let both = [one.kind, other.kind];
            both == kinds || both == [kinds[1], kinds[0]]
        }
        _ => false,
    };
    let same = edges.windows(2).all(|pair| (pair[0].resource, pair[0].field) == (pair[1].resource, pair[1].field));
    match (cycle.class, timed) {
        (Class::G0, false) => "dirty write (G0)",
        (Class::G0, true) => "dirty write in real time (G0-realtime)",
        (Class::G1c, false) => "circular information flow (G1c)",
        (Class::G1c, true) => "circular information flow in real time (G1c-realtime)",
        (Class::GSingle, false) if same && of_one([Kind::ReadWrite, Kind::WriteWrite]) => "lost update (P4, G-single)",
        (Class::GSingle, false) if !same && of_one([Kind::WriteRead, Kind::ReadWrite]) => {
            "fractured read (A5A, G-single)"
        }
        (Class::GSingle, false) => "read skew (A5A, G-single)",
        (Class::GSingle, true) => "stale read (G-single-realtime)",
        (Class::G2, false) if !same && of_one([Kind::ReadWrite, Kind::ReadWrite]) => "write skew (A5B, G2-item)",
        (Class::G2, false) => "anti-dependency cycle (G2-item)",
        (Class::G2, true) => "anti-dependency cycle in real time (G2-item-realtime)",
    }
}

/// Writes down what a graph shows.
pub fn judge(case: &Case<'_>, graph: &Graph, judged: &mut Judged) {
    judged.about += graph.about;
    for _ in 0..graph.unordered {
        judged.unjudged("neither versions nor lists tell an order");
    }
    for cycle in cycles(graph) {
        judged.found(case, || finding(case, graph, &cycle));
    }
}

fn finding(case: &Case<'_>, graph: &Graph, cycle: &Cycle) -> Finding {
    let mut sentences = Vec::new();
    let mut calls = Vec::new();
    let mut observed = None;
    // It begins behind a moment, if there is one, so that no way over moments is cut in two.
    let ends = |edge: &EdgeIndex| graph.edges.edge_endpoints(*edge).expect("the edge is there");
    let mut edges = cycle.edges.clone();
    let first = edges.iter().position(|edge| graph.edges[ends(edge).0] != Node::Moment).unwrap_or(0);
    edges.rotate_left(first);
    let mut since: Option<NodeIndex> = None;
    for edge in &edges {
        let (from, to) = ends(edge);
        let start = since.take().unwrap_or(from);
        if graph.edges[to] == Node::Moment {
            since = Some(start);
            continue;
        }
        let (from, to) = (graph.edges[start], graph.edges[to]);
        sentences.push(sentence(case, from, to, graph.edges[*edge]));
        match (call(case, from), from) {
            (Some(call), _) => calls.push(call),
            (None, Node::Call(Part::View(resource, view), _)) => {
                if let Seen::Observer(state) = case.resources[resource as usize].views[view as usize].seen {
                    observed = Some(state);
                }
            }
            _ => {}
        }
    }
    let anomaly = anomaly(graph, cycle);
    let short = if cycle.shortest { "" } else { ", perhaps not the shortest" };
    let sentence = format!("no order explains {} calls{short}: {anomaly}", sentences.len());
    Finding { sentence, anomaly: Some(anomaly), calls, observed, cycle: sentences }
}

/// Why one comes before the other.
fn sentence(case: &Case<'_>, from: Node, to: Node, edge: Edge) -> String {
    let resource = &case.resources[edge.resource as usize];
    let handle = case.history.text(resource.handle);
    let on = edge.field.map_or_else(|| handle.to_owned(), |field| format!("{} of {handle}", case.history.text(field)));
    let made = |effect: Option<&Effect>| {
        let number = effect.filter(|effect| effect.version.number().is_some());
        number.map_or_else(String::new, |effect| format!(" as {}", case.history.version(effect.version)))
    };
    let name = |node: Node| named(case, node);
    match edge.kind {
        Kind::WriteWrite => format!(
            "{} changed {on}{} before {} changed it{} (write-write)",
            name(from),
            made(effect(case, from, edge)),
            name(to),
            made(effect(case, to, edge))
        ),
        Kind::WriteRead => {
            format!(
                "{} had seen what {} made of {on}{} (write-read)",
                name(to),
                name(from),
                made(effect(case, from, edge))
            )
        }
        Kind::ReadWrite => format!(
            "{} had seen {on} as it was before {} changed it{} (read-write)",
            name(from),
            name(to),
            made(effect(case, to, edge))
        ),
        Kind::Time => format!("{} was over before {} began (time)", name(from), name(to)),
    }
}

/// What a node did to the resource of an edge.
fn effect<'c>(case: &'c Case<'_>, node: Node, edge: Edge) -> Option<&'c Effect> {
    node.parts().find_map(|part| match part {
        Part::Effect(resource, effect) if resource == edge.resource => {
            Some(&case.resources[resource as usize].effects[effect as usize])
        }
        _ => None,
    })
}

fn named(case: &Case<'_>, node: Node) -> String {
    match (call(case, node), node) {
        (Some(call), _) => format!("{}'s {} ({})", case.agent(call), case.call(call).tool, case.named(call)),
        (None, Node::Call(Part::View(resource, view), _)) => {
            let place = case.place(&case.resources[resource as usize].views[view as usize]);
            format!("an observer ({place})")
        }
        _ => "a moment".to_owned(),
    }
}
