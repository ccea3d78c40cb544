//! Where the lanes and the columns of the truth stand.

use super::paper::width;
use crate::diagrams::sequence::{Sequence, StoreHead};
use crate::diagrams::words;

/// The least width of a picture.
const WIDTH: i32 = 760;

/// Left and right of everything.
pub const MARGIN: i32 = 20;

/// Where the gutter of the step numbers ends.
pub const GUTTER: i32 = 66;

/// The first lane and, where there is one store, its lane.
const SPAN: (i32, i32) = (74, 568);

/// The first lane where lanes are close to each other: what its agent believes has room between the gutter and the next.
const DENSE: i32 = 98;

/// The pitch of agents (most, least), the gap before the nodes, their pitch, the gap before the store.
const AGENTS: (i32, i32) = (96, 82);
const BEFORE_NODES: i32 = 120;
const NODES: i32 = 86;
const BEFORE_STORE: i32 = 110;

/// The least pitch of lanes; with more of them, the picture grows wider.
const LEAST: i32 = 64;

/// The most fields of one store that have columns.
const COLUMNS: usize = 3;

/// The widest column, and the most elements of a list that have columns of their own.
const WIDEST: i32 = 150;
const ELEMENTS: usize = 3;

/// The longest handle that has room in the head of its lane.
const HANDLE: i32 = 188;

/// Where everything stands from left to right.
#[derive(Debug)]
pub struct Grid {
    pub width: i32,
    pub agents: Vec<i32>,
    pub nodes: Vec<i32>,
    pub stores: Vec<Truth>,
    /// Lanes are close to each other.
    pub dense: bool,
}

/// Where the truth about one resource stands.
#[derive(Debug)]
pub struct Truth {
    /// The lane of the store.
    pub lane: i32,
    /// Where versions start.
    pub version: i32,
    pub columns: Vec<Column>,
    /// Where it ends.
    pub right: i32,
    /// The fields that have no column.
    pub hidden: Vec<String>,
}

/// One column: a field, or one element of it where it is a list.
#[derive(Debug)]
pub struct Column {
    pub field: usize,
    pub element: Option<usize>,
    pub centre: i32,
    pub width: i32,
}

impl Grid {
    pub fn of(sequence: &Sequence) -> Self {
        let lanes = &sequence.lanes;
        let truths: Vec<Truth> = (0..lanes.stores.len()).map(|store| Truth::of(sequence, store)).collect();
        let (agents, nodes) = (count(lanes.agents.len()), count(lanes.nodes.len()));
        // With one store its lane has its place; more of them stand side by side, each with its truth.
        let total: i32 = truths.iter().map(|truth| truth.right).sum::<i32>() + 24 * (count(truths.len()) - 1).max(0);
        let first = if truths.len() > 1 { (WIDTH - MARGIN - total).min(SPAN.1) } else { SPAN.1 };
        let span = first - SPAN.0;
        let pitches = (AGENTS.0 * (agents - 1).max(0), NODES * (nodes - 1).max(0));
        let wanted = pitches.0 + BEFORE_NODES + pitches.1 + BEFORE_STORE;
        let least = AGENTS.1 * (agents - 1).max(0) + BEFORE_NODES + pitches.1 + BEFORE_STORE;
        let mut grid = Self { width: WIDTH, agents: Vec::new(), nodes: Vec::new(), stores: Vec::new(), dense: false };
        let store = if least <= span {
            let slack = (span - wanted).max(0);
            let left = (slack / 2).min(82);
            let rest = slack - left;
            let pitch = if agents > 1 { ((span - wanted + pitches.0) / (agents - 1)).min(AGENTS.0) } else { 0 };
            grid.agents = (0..agents).map(|index| SPAN.0 + left + index * pitch).collect();
            // One node leaves room at both sides; more stand nearer to the store.
            let last = if nodes <= 1 { first - BEFORE_STORE - rest / 2 } else { first - BEFORE_STORE };
            grid.nodes = (0..nodes).map(|index| last - (nodes - 1 - index) * NODES).collect();
            first
        } else {
            let pitch = ((first - DENSE) / (agents + nodes).max(1)).max(LEAST);
            grid.dense = true;
            let place = |index: i32| DENSE + index * pitch;
            grid.agents = (0..agents).map(place).collect();
            grid.nodes = (agents..agents + nodes).map(place).collect();
            place(agents + nodes).max(first)
        };
        let mut left = store;
        for mut truth in truths {
            truth.shift(left);
            left = truth.right + 24;
            grid.stores.push(truth);
        }
        grid.width = WIDTH.max(left - 24 + MARGIN);
        grid
    }

    /// Where a text left of the truth must end.
    pub fn right(&self) -> i32 {
        self.stores.first().map_or(self.width - MARGIN, |truth| truth.lane - 9)
    }

    /// The lane of an agent; the gutter where there is none.
    pub fn agent(&self, agent: usize) -> i32 {
        self.agents.get(agent).copied().unwrap_or(GUTTER)
    }

    /// The lane of a node; the first lane where there is none.
    pub fn node(&self, node: usize) -> i32 {
        self.nodes.get(node).copied().unwrap_or(SPAN.0)
    }

    /// Every lane, from left to right.
    pub fn lanes(&self) -> impl Iterator<Item = i32> {
        let stores = self.stores.iter().map(|truth| truth.lane);
        self.agents.iter().chain(&self.nodes).copied().chain(stores)
    }

    /// How much room a lane has to its left and right, until its neighbours.
    pub fn beside(&self, lane: i32) -> (i32, i32) {
        let left = self.lanes().filter(|other| *other < lane).max().unwrap_or(MARGIN - 10);
        let right = self.lanes().filter(|other| *other > lane).min().unwrap_or(self.width - MARGIN);
        (left, right)
    }
}

/// How many there are, as a length.
pub fn count(number: usize) -> i32 {
    i32::try_from(number).unwrap_or(i32::MAX)
}

impl Truth {
    /// With its lane at the origin.
    fn of(sequence: &Sequence, index: usize) -> Self {
        let store = &sequence.lanes.stores[index];
        let commits = || sequence.rows.iter().flat_map(|row| &row.commits).filter(|commit| commit.store == index);
        let contents = || store.initial.iter().chain(commits().map(|commit| &commit.content));
        let versions = contents().filter_map(|content| content.version);
        let version = versions.map(|version| width(&words::version(version), 13)).max().unwrap_or(0);
        let mut left = 16 + version + 8;
        let mut columns = Vec::new();
        // Those that change first, where not all have room.
        let mut fields: Vec<usize> = (0..store.fields.len()).collect();
        let changes = |field: &usize| commits().any(|commit| commit.changed.get(*field) == Some(&true));
        fields.sort_by_key(|field| !changes(field));
        let hidden = fields.split_off(fields.len().min(COLUMNS));
        fields.sort_unstable();
        let most = |field: usize| {
            let lists = contents().filter_map(|content| content.values.get(field));
            let lists: Option<Vec<usize>> = lists.map(|value| elements(value).map(|list| list.len())).collect();
            lists.and_then(|lists| lists.into_iter().max()).filter(|most| (2..=ELEMENTS).contains(most))
        };
        let least = match fields.len() {
            1 => 48,
            2 => 64,
            _ => 46,
        };
        for field in fields {
            let name = width(&store.fields[field], 12) + 8;
            let each = most(field).map_or_else(|| vec![None], |most| (0..most).map(Some).collect());
            for element in each {
                let cells = contents().filter_map(|content| content.values.get(field));
                let cells = cells.map(|value| width(&cell(value, element), 13) + 12);
                let wide = cells.chain([if element.unwrap_or(0) == 0 { name } else { 0 }]).max().unwrap_or(0);
                let wide = wide.clamp(least, WIDEST);
                columns.push(Column { field, element, centre: left + wide / 2, width: wide });
                left += wide;
            }
        }
        // Room for the head and for what stands beside the bars.
        let handle = width(&store.handle, 13);
        let handle = (handle / 2 + 10).max(handle.min(HANDLE) - 16);
        let right = left.max(16 + version).max(handle).max(if sequence.lanes.stores.len() == 1 { 172 } else { 110 });
        let hidden = hidden.iter().map(|field| store.fields[*field].clone()).collect();
        Self { lane: 0, version: 16, columns, right, hidden }
    }

    fn shift(&mut self, by: i32) {
        self.lane += by;
        self.version += by;
        self.right += by;
        self.columns.iter_mut().for_each(|column| column.centre += by);
    }
}

/// The elements of a list, as a trace writes it: `[r1, r2]`.
pub fn elements(value: &str) -> Option<Vec<&str>> {
    let inside = value.strip_prefix('[')?.strip_suffix(']')?;
    Some(if inside.is_empty() { Vec::new() } else { inside.split(", ").collect() })
}

/// What a cell of the truth shows.
pub fn cell(value: &str, element: Option<usize>) -> String {
    let text = match (element, elements(value)) {
        (Some(index), Some(list)) => match list.get(index) {
            Some(element) => (*element).to_owned(),
            None if index == 0 => "[]".to_owned(),
            None => String::new(),
        },
        (None, Some(list)) if !list.is_empty() => list.join(", "),
        _ => value.to_owned(),
    };
    words::shorten(&text, super::paper::columns(WIDEST - 12, 13))
}

/// The name over a column.
pub fn name<'s>(store: &'s StoreHead, column: &Column) -> &'s str {
    if column.element.unwrap_or(0) > 0 { "" } else { store.fields.get(column.field).map_or("", String::as_str) }
}
