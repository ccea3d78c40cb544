//! What took effect on each resource: what answers say, and what follows from versions that somebody must have written.

use std::collections::BTreeMap;

use hashbrown::{HashMap, HashSet};
use rustc_hash::FxBuildHasher;

use super::history::{History, Mark, NEVER, Name, ValueId};
use crate::log::{Lifecycle, Operation};

/// A change that took effect.
#[derive(Clone, Debug)]
pub struct Effect {
    /// The piece of work that it belongs to, by the first of its calls.
    pub work: u32,
    /// The call that is known by it.
    pub call: u32,
    /// The version that it made.
    pub version: Mark,
    /// It can't have happened before this time.
    pub from: u64,
    /// It had happened by this time.
    pub by: u64,
    /// No answer says so: it follows from what else is known.
    pub inferred: bool,
    /// It is a mint, and other pieces of work were answered that they made the same resource: whoever finds a name taken may
    /// be answered with what is there.
    pub contested: bool,
}

/// What somebody saw of a resource.
#[derive(Clone, Copy, Debug)]
pub struct View {
    /// It is not older than this, if reads are fresh.
    pub from: u64,
    /// It was known by this time.
    pub by: u64,
    /// The version.
    pub version: Mark,
    /// Who saw it.
    pub seen: Seen,
}

/// Who saw something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen {
    /// The agent of this call.
    Call(u32),
    /// An observer.
    Observer(u32),
}

impl Seen {
    /// The call; none: it was an observer.
    #[must_use]
    pub const fn call(self) -> Option<u32> {
        match self {
            Self::Call(call) => Some(call),
            Self::Observer(_) => None,
        }
    }
}

/// A resource.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct Resource {
    /// Its handle.
    pub handle: Name,
    /// Its owner, where the log says who it is.
    pub owner: Option<Name>,
    /// Who may use it too.
    pub shared_with: Vec<Name>,
    /// What took effect: by version where all have numbers, or else by the time by which it had happened.
    pub effects: Vec<Effect>,
    /// Every effect has a number, which is its place in the order.
    pub numbered: bool,
    /// A version was there before a change that was answered with it, so that versions tell neither contents nor an order.
    pub reused: bool,
    /// The mutating calls of which no answer says what became of them.
    pub open: Vec<u32>,
    /// The mutating calls that were refused.
    pub refused: Vec<u32>,
    /// What was seen, by the time from which it is.
    pub views: Vec<View>,
    /// The versions that somebody made, and nobody in the log is known to have made.
    pub unaccounted: Vec<u64>,
    /// Open calls that took effect for certain, though not known with which version.
    pub happened: Vec<u32>,
    /// When it was known, otherwise than by a call, that it had ended, and the line that says so.
    pub noticed: Option<(u64, u64)>,
    /// The pieces of work that were answered `ok` from a record, which says neither a version nor whose it was.
    pub claimed: Vec<u32>,
    /// It was deleted and created anew under the same handle, by nobody in the log.
    pub disturbed: bool,
    /// No open call took effect: every version has its author, up to the end.
    pub settled: bool,
}

/// The pieces of work: for each call, the first call of its work.
fn works(history: &History) -> Vec<u32> {
    let mut works: Vec<u32> = Vec::with_capacity(history.calls.len());
    // What is done to another resource besides is a piece of work of its own.
    let mut named: HashMap<(Name, Name, bool, bool), u32, FxBuildHasher> = HashMap::default();
    let repeated = history.calls.iter().any(|call| call.repeats.is_some());
    let mut ids: HashMap<(Name, bool), u32, FxBuildHasher> = HashMap::default();
    if repeated {
        let with_ids = history.calls.iter().zip(0..);
        ids.extend(with_ids.filter_map(|(call, index)| Some(((call.id?, call.is_besides()), index))));
    }
    fn root(works: &mut [u32], mut at: u32) -> u32 {
        while works[at as usize] != at {
            works[at as usize] = works[works[at as usize] as usize];
            at = works[at as usize];
        }
        at
    }
    works.extend((0..).zip(&history.calls).map(|(index, _): (u32, _)| index));
    for (index, call) in (0..).zip(&history.calls) {
        let besides = call.is_besides();
        let name = call.intent.map(|intent| (call.agent, intent, true, besides));
        let name = name.or_else(|| call.key.map(|key| (call.agent, key, false, besides)));
        let same = name.map(|name| *named.entry(name).or_insert(index));
        let repeats = call.repeats.and_then(|id| ids.get(&(id, besides))).copied();
        for other in same.into_iter().chain(repeats) {
            let (one, other) = (root(&mut works, index), root(&mut works, other));
            let first = one.min(other);
            works[one as usize] = first;
            works[other as usize] = first;
        }
    }
    for index in 0..works.len() {
        let number = u32::try_from(index).expect("calls are numbered so");
        works[index] = root(&mut works, number);
    }
    works
}

/// The resources of a log, in the order in which they appear, and the piece of work of each call.
#[must_use]
pub fn resources(history: &History) -> (Vec<Resource>, Vec<u32>) {
    let works = works(history);
    let mut calls: BTreeMap<Name, Vec<u32>> = BTreeMap::new();
    for (index, call) in (0..).zip(&history.calls) {
        if let Some(handle) = call.handle {
            calls.entry(handle).or_default().push(index);
        }
    }
    let mut observed: BTreeMap<Name, Vec<u32>> = BTreeMap::new();
    for (index, state) in (0..).zip(&history.observed) {
        observed.entry(state.handle).or_default().push(index);
        calls.entry(state.handle).or_default();
    }
    let none = Vec::new();
    let resources = calls.iter().map(|(handle, calls)| {
        let observed = observed.get(handle).unwrap_or(&none);
        resource(history, &works, *handle, calls, observed)
    });
    let mut resources: Vec<Resource> = resources.collect();
    for event in &history.events {
        let Some(handle) = event.handle else { continue };
        // They are in the order of their handles.
        let Ok(place) = resources.binary_search_by_key(&handle, |resource| resource.handle) else { continue };
        if event.event == "recreate" {
            // Versions begin anew, and nothing says which incarnation a call met: nothing is known of it.
            let resource = &mut resources[place];
            resource.disturbed = true;
            resource.effects.clear();
            resource.views.clear();
            resource.open.clear();
            resource.refused.clear();
            resource.unaccounted.clear();
            resource.happened.clear();
        }
        if event.event == "expire-handle" {
            let noticed = resources[place].noticed.unwrap_or((NEVER, 0));
            resources[place].noticed = Some(noticed.min((event.at, event.line)));
        }
    }
    (resources, works)
}

fn resource(history: &History, works: &[u32], handle: Name, calls: &[u32], observed: &[u32]) -> Resource {
    let call = |index: u32| &history.calls[index as usize];
    let minted = calls.iter().map(|index| call(*index)).find(|call| call.tool == Operation::Mint && call.is_ok());
    let states = observed.iter().map(|index| &history.observed[*index as usize]);
    let (effects, claimed) = effects(history, works, calls);
    let mut resource = Resource {
        handle,
        owner: states.clone().find_map(|state| state.owner).or_else(|| minted.map(|call| call.principal)),
        shared_with: states.flat_map(|state| state.shared_with.iter().copied()).collect(),
        effects,
        claimed,
        numbered: false,
        reused: false,
        open: Vec::new(),
        refused: Vec::new(),
        views: views(history, calls, observed),
        unaccounted: Vec::new(),
        happened: Vec::new(),
        noticed: None,
        disturbed: false,
        settled: false,
    };
    happened_before(history, &mut resource);
    let ended = observed.iter().map(|index| &history.observed[*index as usize]);
    let ended = ended.filter(|state| state.lifecycle.is_some_and(|now| now != Lifecycle::Open));
    resource.noticed = ended.map(|state| (state.at, state.line)).min();
    for index in calls.iter().filter(|index| call(**index).tool.changes()) {
        if call(*index).may_have_happened() {
            resource.open.push(*index);
        } else if call(*index).is_refused() {
            resource.refused.push(*index);
        }
    }
    resource.numbered = resource.effects.iter().all(|effect| effect.version.number().is_some());
    // A version that was there before the change names more than one content, and orders nothing.
    let mut seen: HashMap<Mark, u64, FxBuildHasher> = HashMap::default();
    for view in &resource.views {
        let first = seen.entry(view.version).or_insert(view.by);
        *first = (*first).min(view.by);
    }
    let there = |effect: &Effect| seen.get(&effect.version).is_some_and(|by| *by < effect.from);
    resource.reused = resource.effects.iter().any(there);
    resource.numbered &= !resource.reused;
    if resource.numbered {
        account(history, works, calls, observed, &mut resource);
        resource.effects.sort_by_key(|effect| (effect.version, effect.by, effect.call));
    } else {
        resource.effects.sort_by_key(|effect| (effect.by, effect.from, effect.call));
    }
    resource
}

/// What answers say took effect. A piece of work that was answered twice with one version took effect once.
fn effects(history: &History, works: &[u32], calls: &[u32]) -> (Vec<Effect>, Vec<u32>) {
    let call = |index: u32| &history.calls[index as usize];
    // For each piece of work that has calls which may have been carried out unanswered: when the first was sent.
    let mut since: HashMap<u32, u64, FxBuildHasher> = HashMap::default();
    for index in calls.iter().filter(|index| call(**index).may_have_happened() && call(**index).tool.changes()) {
        let first = since.entry(works[*index as usize]).or_insert(NEVER);
        *first = (*first).min(call(*index).sent);
    }
    let mut effects: Vec<Effect> = Vec::new();
    let mut of_work: HashMap<(u32, Mark), usize, FxBuildHasher> = HashMap::default();
    let mut made: HashMap<Mark, u32, FxBuildHasher> = HashMap::default();
    let mut claimed = Vec::new();
    // First those who were answered at first hand, then those who were answered from a record.
    for replayed in [false, true] {
        for index in calls {
            let record = call(*index);
            if !record.tool.changes() || !record.is_ok() || record.replayed != replayed {
                continue;
            }
            let work = works[*index as usize];
            if replayed && record.version == Mark::None {
                claimed.push(work);
                continue;
            }
            if replayed && made.get(&record.version).is_some_and(|maker| *maker != work) {
                continue;
            }
            let from = since.get(&work).copied().unwrap_or(NEVER).min(record.sent);
            if let Some(at) = of_work.get(&(work, record.version)) {
                let effect = &mut effects[*at];
                effect.by = effect.by.min(record.received);
                effect.from = effect.from.min(from);
                continue;
            }
            of_work.insert((work, record.version), effects.len());
            made.entry(record.version).or_insert(work);
            let (version, by) = (record.version, record.received);
            effects.push(Effect { work, call: *index, version, from, by, inferred: false, contested: false });
        }
    }
    let is_mint = |effect: &Effect| call(effect.call).tool == Operation::Mint;
    let mut makers = effects.iter().filter(|effect| is_mint(effect)).map(|effect| effect.work);
    let first = makers.next();
    if makers.any(|maker| Some(maker) != first) {
        effects.iter_mut().filter(|effect| is_mint(effect)).for_each(|effect| effect.contested = true);
    }
    claimed.sort_unstable();
    let known: HashSet<u32, FxBuildHasher> = effects.iter().map(|effect| effect.work).collect();
    claimed.retain(|work| !known.contains(work));
    (effects, claimed)
}

/// What was answered from a record, with a version that had been superseded before anything of that work was sent, took effect
/// before the log begins, or was somebody else's.
fn happened_before(history: &History, resource: &mut Resource) {
    let replayed = |effect: &Effect| history.calls[effect.call as usize].replayed && effect.version.number().is_some();
    if !resource.effects.iter().any(replayed) {
        return;
    }
    // By time: the greatest version that had been seen.
    let seen = resource.views.iter().filter_map(|view| Some((view.by, view.version.number()?)));
    let mut seen: Vec<(u64, u64)> = seen.collect();
    seen.sort_unstable();
    let mut greatest = 0;
    for (_, version) in &mut seen {
        greatest = greatest.max(*version);
        *version = greatest;
    }
    let Resource { effects, claimed, .. } = resource;
    effects.retain(|effect| {
        let before = seen.partition_point(|(by, _)| *by < effect.from).checked_sub(1).map(|last| seen[last].1);
        let old = replayed(effect) && effect.version.number() <= before;
        if old {
            claimed.push(effect.work);
        }
        !old
    });
}

fn views(history: &History, calls: &[u32], observed: &[u32]) -> Vec<View> {
    let call = |index: u32| &history.calls[index as usize];
    let read = calls.iter().filter(|index| call(**index).tool == Operation::Read && call(**index).is_ok());
    let read = read.filter(|index| call(**index).about.is_none_or(|about| call(**index).handle == Some(about)));
    let read = read.map(|index| {
        let call = call(*index);
        View { from: call.sent, by: call.received, version: call.version, seen: Seen::Call(*index) }
    });
    let states = observed.iter().map(|index| {
        let state = &history.observed[*index as usize];
        View { from: state.at, by: state.at, version: state.version, seen: Seen::Observer(*index) }
    });
    let mut views: Vec<View> = read.chain(states).collect();
    views.sort_by_key(|view| (view.from, view.by));
    views
}

impl Resource {
    /// For each effect: when the first of those of later versions may have begun.
    #[must_use]
    pub fn overtaken(&self) -> Vec<u64> {
        let mut first = NEVER;
        let mut all: Vec<u64> = Vec::with_capacity(self.effects.len());
        for effect in self.effects.iter().rev() {
            all.push(first);
            first = first.min(effect.from);
        }
        all.reverse();
        all
    }
}

/// Finds out whose the versions are that no answer tells of.
fn account(history: &History, works: &[u32], calls: &[u32], observed: &[u32], resource: &mut Resource) {
    let mut seen: Vec<u64> = resource.views.iter().filter_map(|view| view.version.number()).collect();
    let told = calls.iter().map(|index| &history.calls[*index as usize]).filter(|call| call.is_refused());
    seen.extend(told.filter_map(|call| call.version.number()));
    let made = |resource: &Resource| -> Vec<u64> {
        resource.effects.iter().filter_map(|effect| effect.version.number()).collect()
    };
    let mut known = made(resource);
    known.sort_unstable();
    let minted = resource.effects.iter().any(|effect| history.calls[effect.call as usize].tool == Operation::Mint);
    // What was there first is nobody's change, unless it is known to have been made.
    let first_seen = seen.iter().copied().min();
    let start = if minted { known.first().copied() } else { first_seen };
    let Some(start) = start else { return };
    let end = seen.iter().copied().chain(known.last().copied()).max().unwrap_or(start);
    let mut missing: Vec<u64> = if history.versions_count && end - start <= 2 * (calls.len() + seen.len()) as u64 {
        (start + 1..=end).collect()
    } else {
        seen.retain(|version| *version > start);
        seen
    };
    missing.sort_unstable();
    missing.dedup();
    missing.retain(|version| known.binary_search(version).is_err());
    let last = calls.iter().map(|index| history.calls[*index as usize].sent).max().unwrap_or(0);
    let finally = observed.iter().any(|index| {
        let state = &history.observed[*index as usize];
        state.at > last && state.version.number().is_some()
    });
    // Where servers take back, a version may be of that.
    if history.whole && !history.takes_back && !missing.is_empty() {
        attribute(history, works, &mut missing, resource);
    }
    resource.settled = missing.is_empty() && history.whole && history.versions_count && finally;
    resource.unaccounted = missing;
}

/// In a whole log, a version that no answer tells of was made by a call that is open.
fn attribute(history: &History, works: &[u32], missing: &mut Vec<u64>, resource: &mut Resource) {
    let mut open = resource.open.clone();
    // By version: when it or a greater one was first seen; and the first view of each.
    let mut seen: Vec<(u64, u64)> =
        resource.views.iter().filter_map(|view| Some((view.version.number()?, view.by))).collect();
    seen.sort_unstable();
    let mut first = NEVER;
    for (_, by) in seen.iter_mut().rev() {
        first = first.min(*by);
        *by = first;
    }
    let mut shown: HashMap<Mark, View, FxBuildHasher> = HashMap::default();
    for view in &resource.views {
        shown.entry(view.version).or_insert(*view);
    }
    let infer = |resource: &mut Resource, call: u32, version: u64| {
        let sent = history.calls[call as usize].sent;
        let at = seen.partition_point(|(seen, _)| *seen < version);
        let by = seen.get(at).map_or(NEVER, |(_, by)| *by);
        let version = Mark::Number(version);
        let work = works[call as usize];
        resource.effects.push(Effect { work, call, version, from: sent, by, inferred: true, contested: false });
    };
    // By what was seen under the version: if only one of the open calls sets what is shown, it was that one.
    let mut at = 0;
    while at < missing.len() && open.len() > 1 {
        let version = missing[at];
        let shown = shown.get(&Mark::Number(version));
        let shown = shown.map(|view| content(history, view)).filter(|shown| !shown.is_empty());
        let fits =
            shown.map(|shown| open.iter().copied().filter(|call| fits(history, *call, shown)).collect::<Vec<_>>());
        match fits.as_deref() {
            Some([only]) => {
                let only = *only;
                infer(resource, only, version);
                open.retain(|call| *call != only);
                missing.remove(at);
            }
            _ => at += 1,
        }
    }
    let one_work = open.windows(2).all(|pair| works[pair[0] as usize] == works[pair[1] as usize]);
    if one_work && missing.len() <= open.len() {
        for (version, call) in missing.drain(..).zip(&open) {
            infer(resource, *call, version);
        }
    } else if missing.len() == open.len() {
        resource.happened = open;
    }
}

/// Whether a content can be what a call left: all that it sets is shown as it sets it.
fn fits(history: &History, call: u32, shown: &[(Name, ValueId)]) -> bool {
    let call = &history.calls[call as usize];
    match call.tool {
        Operation::Set | Operation::Mint => history.fields(call).iter().all(|pair| shown.contains(pair)),
        Operation::Append => history.fields(call).iter().all(|(field, value)| {
            let list = super::history::of(shown, *field).and_then(|list| history.elements(list));
            list.is_none_or(|list| history.appended(*value).iter().all(|element| list.contains(element)))
        }),
        _ => true,
    }
}

/// What a view shows.
#[must_use]
pub fn content<'h>(history: &'h History, view: &View) -> &'h [(Name, ValueId)] {
    match view.seen {
        Seen::Call(call) => history.shown(&history.calls[call as usize]),
        Seen::Observer(state) => history.content(&history.observed[state as usize]),
    }
}
