//! The graph of what must come before what: Adya's direct serialization graph, of calls.
//!
//! A node is an accepted change together with what its plan rests on, or a read. What one call does to two resources is one
//! node: both halves are seen at once, or not at all. An edge leads from what comes first:
//! *write-write* when one change is of an earlier version than the other, *write-read* when a read shows a change,
//! *read-write* when a read shows what another change had not yet superseded, *time* when one was answered before the
//! other was sent. The order of versions is that of their numbers; without numbers, that of the elements of a list that
//! is only appended to. Where the log has neither, there is no edge.

use std::collections::{BTreeMap, BTreeSet};

use hashbrown::HashMap;
use petgraph::graph::{DiGraph, NodeIndex};
use rustc_hash::FxBuildHasher;

use super::case::Case;
use super::effects::{Effect, Resource, View, content};
use super::history::{Name, Record, of};
use crate::log::Operation;

/// Why one node comes before another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// A change of an earlier version.
    WriteWrite,
    /// A change that was seen.
    WriteRead,
    /// A view that was superseded.
    ReadWrite,
    /// Over before the other began.
    Time,
}

/// An edge: why, on which resource, and in which field; no field: on the resource as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// Why.
    pub kind: Kind,
    /// The resource, by its place in the case.
    pub resource: u32,
    /// The field.
    pub field: Option<Name>,
}

/// What a node stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Node {
    /// A change or a view; of a call that works on two resources, both halves, where both are known.
    Call(Part, Option<Part>),
    /// A moment: all that is before it is over.
    Moment,
}

/// A change or a view of one resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// An effect, by the places of its resource and of itself.
    Effect(u32, u32),
    /// A view, likewise.
    View(u32, u32),
}

impl Node {
    /// Its change or view, or both of its halves.
    pub fn parts(self) -> impl Iterator<Item = Part> {
        let (one, other) = match self {
            Self::Call(one, other) => (Some(one), other),
            Self::Moment => (None, None),
        };
        one.into_iter().chain(other)
    }
}

/// The graph of a log.
#[derive(Debug)]
pub struct Graph {
    /// The graph itself.
    pub edges: DiGraph<Node, Edge, u32>,
    /// How many nodes are changes and reads.
    pub about: u64,
    /// How many of these are in no order that the log tells.
    pub unordered: u64,
}

/// For each resource: the node of each of its effects, and that of each of its views.
#[derive(Debug, Default)]
struct Nodes {
    effects: Vec<Vec<NodeIndex>>,
    views: Vec<Vec<NodeIndex>>,
}

/// Builds the graph; with the order of real time, or without.
#[must_use]
pub fn graph(case: &Case<'_>, real_time: bool) -> Graph {
    let mut graph = Graph { edges: DiGraph::default(), about: 0, unordered: 0 };
    let nodes = nodes(case, &mut graph);
    graph.about = graph.edges.node_count() as u64;
    let mut unordered: Vec<NodeIndex> = Vec::new();
    for (place, resource) in case.resources.iter().enumerate() {
        let mut builder = Builder { case, graph: &mut graph, resource, place, nodes: &nodes };
        if resource.numbered {
            builder.versions();
        } else if !builder.lists() {
            unordered.extend(nodes.effects[place].iter().chain(&nodes.views[place]));
        }
    }
    unordered.sort_unstable();
    unordered.dedup();
    graph.unordered = unordered.len() as u64;
    if real_time {
        moments(case, &mut graph);
    }
    graph
}

/// Makes the nodes of calls.
fn nodes(case: &Case<'_>, graph: &mut Graph) -> Nodes {
    let mut nodes = Nodes::default();
    let mut halves: HashMap<u32, NodeIndex, FxBuildHasher> = HashMap::default();
    let mut node = |part: Part, call: Option<u32>| {
        let half = call.filter(|call| case.call(*call).half.is_some()).map(|call| case.history.own(call));
        let known = half.and_then(|own| halves.get(&own).copied());
        if let Some(known) = known
            && let Node::Call(one, None) = graph.edges[known]
        {
            graph.edges[known] = Node::Call(one, Some(part));
            return known;
        }
        let new = graph.edges.add_node(Node::Call(part, None));
        if let Some(own) = half {
            halves.entry(own).or_insert(new);
        }
        new
    };
    for (place, resource) in (0..).zip(&case.resources) {
        let effects = (0..).zip(&resource.effects);
        nodes.effects.push(effects.map(|(at, effect)| node(Part::Effect(place, at), Some(effect.call))).collect());
        let views = (0..).zip(&resource.views);
        nodes.views.push(views.map(|(at, view)| node(Part::View(place, at), view.seen.call())).collect());
    }
    nodes
}

struct Builder<'g, 'c, 'h> {
    case: &'c Case<'h>,
    graph: &'g mut Graph,
    resource: &'c Resource,
    place: usize,
    nodes: &'g Nodes,
}

impl Builder<'_, '_, '_> {
    fn effect(&self, effect: usize) -> NodeIndex {
        self.nodes.effects[self.place][effect]
    }

    fn view(&self, view: usize) -> NodeIndex {
        self.nodes.views[self.place][view]
    }

    fn edge(&mut self, from: NodeIndex, to: NodeIndex, kind: Kind, field: Option<Name>) {
        self.edge_on(self.place, from, to, kind, field);
    }

    /// An edge because of another resource.
    fn edge_on(&mut self, place: usize, from: NodeIndex, to: NodeIndex, kind: Kind, field: Option<Name>) {
        if from != to {
            let resource = u32::try_from(place).expect("resources are numbered so");
            self.graph.edges.add_edge(from, to, Edge { kind, resource, field });
        }
    }

    /// By the numbers of versions, field by field.
    fn versions(&mut self) {
        let mut items: BTreeMap<Option<Name>, Vec<usize>> = BTreeMap::new();
        for (index, effect) in self.resource.effects.iter().enumerate() {
            let fields = self.case.history.fields(self.case.call(effect.call));
            if fields.is_empty() {
                items.entry(None).or_default().push(index);
            }
            for (field, _) in fields {
                items.entry(Some(*field)).or_default().push(index);
            }
        }
        for (field, writers) in &items {
            let number = |at: usize| self.resource.effects[writers[at]].version;
            // Runs of equal versions: nothing tells which of them came first.
            let mut starts: Vec<usize> =
                (0..writers.len()).filter(|at| *at == 0 || number(*at) != number(at - 1)).collect();
            starts.push(writers.len());
            let run = |at: usize| starts[at]..starts[at + 1];
            for at in 1..starts.len() - 1 {
                for (one, other) in run(at - 1).flat_map(|one| run(at).map(move |other| (one, other))) {
                    self.edge(self.effect(writers[one]), self.effect(writers[other]), Kind::WriteWrite, *field);
                }
            }
            for view in 0..self.resource.views.len() {
                let Some(seen) = self.resource.views[view].version.number() else { continue };
                self.reads(self.view(view), seen, *field, writers, &starts, None);
            }
            for &writer in writers {
                let effect = &self.resource.effects[writer];
                let call = self.case.call(effect.call);
                let base = self.case.base(effect.call).and_then(|base| base.version.number());
                let Some(seen) = base.filter(|_| call.tool == Operation::Set && at_first_hand(call, effect)) else {
                    continue;
                };
                self.reads(self.effect(writer), seen, *field, writers, &starts, Some(call.agent));
            }
        }
        self.rests();
    }

    /// What a reader of a version has seen of one item, and what came after that. What an agent has written itself it knows.
    fn reads(
        &mut self,
        reader: NodeIndex,
        seen: u64,
        field: Option<Name>,
        writers: &[usize],
        starts: &[usize],
        own: Option<Name>,
    ) {
        let effects = &self.resource.effects;
        let version = |run: usize| effects[writers[starts[run]]].version.number().unwrap_or(0);
        let runs = starts.len() - 1;
        let (mut low, mut high) = (0, runs);
        while low < high {
            let middle = usize::midpoint(low, high);
            if version(middle) <= seen { low = middle + 1 } else { high = middle }
        }
        if let Some(before) = low.checked_sub(1) {
            // Of several with one version, it may have seen any.
            if let [writer] = writers[starts[before]..starts[before + 1]] {
                self.edge(self.effect(writer), reader, Kind::WriteRead, field);
            }
        }
        let others = |at: usize| own.is_none_or(|agent| self.case.call(effects[writers[at]].call).agent != agent);
        let next = (starts[low.min(runs)]..writers.len()).find(|at| others(*at));
        if let Some(next) = next {
            let same = effects[writers[next]].version;
            for at in (next..writers.len()).take_while(|at| effects[writers[*at]].version == same) {
                self.edge(reader, self.effect(writers[at]), Kind::ReadWrite, field);
            }
        }
    }

    /// What changes rest on besides the resource that they change.
    fn rests(&mut self) {
        for index in 0..self.resource.effects.len() {
            let effect = &self.resource.effects[index];
            let call = self.case.call(effect.call);
            if !at_first_hand(call, effect) {
                continue;
            }
            let mut rests = self.case.rests_on(self.resource.handle, effect.call);
            rests.remove(&self.resource.handle);
            for (on, seen) in rests {
                let Some(place) = self.case.place_of(on) else { continue };
                let other = &self.case.resources[place];
                let Some(seen) = seen.number().filter(|_| other.numbered) else { continue };
                let node = |at: usize| self.nodes.effects[place][at];
                let after = other.effects.partition_point(|effect| effect.version.number() <= Some(seen));
                let here = self.effect(index);
                let next =
                    other.effects[after..].iter().position(|other| self.case.call(other.call).agent != call.agent);
                // Of several with one version, it may have seen any.
                let twin = after.checked_sub(2).map(|at| other.effects[at].version);
                if let Some(before) = after.checked_sub(1).filter(|at| Some(other.effects[*at].version) != twin) {
                    self.edge_on(place, node(before), here, Kind::WriteRead, None);
                }
                if let Some(next) = next {
                    self.edge_on(place, here, node(after + next), Kind::ReadWrite, None);
                }
            }
        }
    }

    /// By the elements of lists: of the views of each, all must be the beginning of the longest, or nothing is claimed.
    fn lists(&mut self) -> bool {
        let case = self.case;
        let mut fields: BTreeMap<Name, Vec<usize>> = BTreeMap::new();
        for (index, effect) in self.resource.effects.iter().enumerate() {
            let call = case.call(effect.call);
            for (field, _) in case.history.fields(call) {
                fields.entry(*field).or_default().push(index);
            }
        }
        let mut ordered = !fields.is_empty();
        for (field, writers) in &fields {
            ordered &= self.list(*field, writers).is_some();
        }
        ordered
    }

    fn list(&mut self, field: Name, writers: &[usize]) -> Option<()> {
        let history = self.case.history;
        let views: Vec<(usize, &[super::history::ValueId])> = self
            .resource
            .views
            .iter()
            .enumerate()
            .filter_map(|(index, view)| Some((index, history.elements(of(content(history, view), field)?)?)))
            .collect();
        let longest = views.iter().map(|(_, shown)| *shown).max_by_key(|shown| shown.len())?;
        let mut writer: BTreeMap<super::history::ValueId, usize> = BTreeMap::new();
        for &index in writers {
            let call = self.case.call(self.resource.effects[index].call);
            if call.tool != Operation::Append {
                return None;
            }
            for element in history.appended(of(history.fields(call), field)?) {
                if writer.insert(element, index).is_some() {
                    return None;
                }
            }
        }
        if views.iter().any(|(_, shown)| !longest.starts_with(shown)) {
            return None;
        }
        // An element that no view shows was appended after all of them; the latest stands for all.
        let latest = views.iter().map(|(view, _)| *view).max_by_key(|view| self.resource.views[*view].from);
        let shown: BTreeSet<usize> = longest.iter().filter_map(|element| writer.get(element).copied()).collect();
        for unseen in writers.iter().filter(|writer| !shown.contains(writer)) {
            if let Some(view) = latest {
                self.edge(self.view(view), self.effect(*unseen), Kind::ReadWrite, Some(field));
            }
        }
        // The writers by place; what was there from the beginning has none.
        let order: Vec<Option<usize>> = longest.iter().map(|element| writer.get(element).copied()).collect();
        let mut last: Option<usize> = None;
        let mut before: Vec<Option<usize>> = vec![None];
        for place in &order {
            if let (Some(from), Some(to)) = (last, *place) {
                self.edge(self.effect(from), self.effect(to), Kind::WriteWrite, Some(field));
            }
            last = place.or(last);
            before.push(last);
        }
        let mut after: Vec<Option<usize>> = vec![None; order.len() + 1];
        for place in (0..order.len()).rev() {
            after[place] = order[place].or(after[place + 1]);
        }
        for (view, shown) in views {
            if let Some(from) = before[shown.len()] {
                self.edge(self.effect(from), self.view(view), Kind::WriteRead, Some(field));
            }
            if let Some(to) = after[shown.len()] {
                self.edge(self.view(view), self.effect(to), Kind::ReadWrite, Some(field));
            }
        }
        Some(())
    }
}

/// The call that is known by the effect made it, and no earlier one of the same work, which was planned on something else.
fn at_first_hand(call: &Record, effect: &Effect) -> bool {
    !call.replayed && effect.from == call.sent
}

/// When a node began and when it was over. A change begins when what its plan rests on was read.
fn span(case: &Case<'_>, node: Node) -> Option<(u64, u64)> {
    let spans = node.parts().map(|part| match part {
        Part::Effect(resource, effect) => {
            let effect = &case.resources[resource as usize].effects[effect as usize];
            let call = case.call(effect.call);
            let base = case.base(effect.call).map_or(effect.from, |base| base.from.min(effect.from));
            let rests = !case.history.saw(call).is_empty() || !case.history.expects(call).is_empty();
            (if rests { 0 } else { base }, effect.by)
        }
        Part::View(resource, view) => {
            let View { from, by, .. } = case.resources[resource as usize].views[view as usize];
            (from, by)
        }
    });
    spans.reduce(|(from, by), (other_from, other_by)| (from.min(other_from), by.max(other_by)))
}

/// Real time, with a few edges for each node: from each to the moment when it is over, from moment to moment, and from the
/// last moment before it begins to each.
fn moments(case: &Case<'_>, graph: &mut Graph) {
    let spans: Vec<(NodeIndex, u64, u64)> = graph
        .edges
        .node_indices()
        .filter_map(|node| span(case, graph.edges[node]).map(|(from, by)| (node, from, by)))
        .collect();
    let mut times: Vec<u64> = spans.iter().map(|(_, _, by)| *by).collect();
    times.sort_unstable();
    times.dedup();
    let edge = Edge { kind: Kind::Time, resource: 0, field: None };
    let moments: Vec<NodeIndex> = times.iter().map(|_| graph.edges.add_node(Node::Moment)).collect();
    for pair in moments.windows(2) {
        graph.edges.add_edge(pair[0], pair[1], edge);
    }
    for (node, from, by) in spans {
        let over = times.partition_point(|time| *time < by);
        graph.edges.add_edge(node, moments[over], edge);
        if let Some(before) = times.partition_point(|time| *time < from).checked_sub(1) {
            graph.edges.add_edge(moments[before], node, edge);
        }
    }
}

/// The call of a node; none for what an observer saw.
#[must_use]
pub fn call(case: &Case<'_>, node: Node) -> Option<u32> {
    let call = match node.parts().next()? {
        Part::Effect(resource, effect) => case.resources[resource as usize].effects[effect as usize].call,
        Part::View(resource, view) => case.resources[resource as usize].views[view as usize].seen.call()?,
    };
    Some(case.history.own(call))
}
