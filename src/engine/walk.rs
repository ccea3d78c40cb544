//! One state that moves: what is enabled in it, and one move after another, remembered as the search remembers.
//!
//! Where a search expands every state, a walk takes one action and forgets where it was. After a move, only the sources
//! that had read what the move wrote are asked again. Numbers are not renamed: a walk is finite, and nobody looks up a
//! state in which it was.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::intern::Interner;
use super::memo::Memo;
use super::{Access, Class, Observations, System};

/// The actions of a source in the components that it reads.
struct Menu {
    actions: Box<[u32]>,
    reads: Box<[u16]>,
    /// The greatest weight of an action that is no fault; 0: there is none.
    weight: u32,
    progress: bool,
    fair: bool,
}

struct Leaf {
    writes: Box<[(u16, u32)]>,
    observations: Observations,
}

struct Entry<A> {
    action: A,
    roots: Box<[u32]>,
}

/// A walk through the states of a system. It may start again any number of times, and remembers from one to the next.
pub(super) struct Walk<'s, S: System> {
    system: &'s S,
    weigh: &'s (dyn Fn(&S::Action) -> u32 + Sync),
    interner: Interner<S::Component>,
    memo: Memo,
    source_roots: Vec<u32>,
    observe_roots: [u32; 2],
    pending_root: u32,
    menus: Vec<Menu>,
    leaves: Vec<Leaf>,
    actions: Vec<Entry<S::Action>>,
    action_ids: HashMap<S::Action, u32, FxBuildHasher>,
    initial: Vec<u32>,
    /// For each slot, the sources that have ever read it.
    readers: Vec<Vec<u16>>,
    state: Vec<u32>,
    /// For each source, its menu in the state.
    now: Vec<u32>,
    stale: Vec<bool>,
    asked_again: Vec<u16>,
    /// For each source, the weight of its menu.
    weights: Vec<u32>,
    total: u64,
    progress: u32,
    fair: u32,
}

/// So many remembered results are enough: beyond, a walk forgets, and remembers anew.
const MOST_REMEMBERED: usize = 1 << 17;

impl<'s, S: System> Walk<'s, S> {
    pub(super) fn new(system: &'s S, weigh: &'s (dyn Fn(&S::Action) -> u32 + Sync)) -> Self {
        let mut memo = Memo::default();
        let components = system.initial();
        let mut interner = Interner::new(components.len());
        let components = components.into_iter().enumerate();
        let initial: Vec<u32> = components.map(|(slot, component)| interner.intern(slot, component)).collect();
        let sources = system.sources();
        Self {
            system,
            weigh,
            interner,
            source_roots: (0..sources).map(|_| memo.root()).collect(),
            observe_roots: [memo.root(), memo.root()],
            pending_root: memo.root(),
            memo,
            menus: Vec::new(),
            leaves: Vec::new(),
            actions: Vec::new(),
            action_ids: HashMap::default(),
            readers: vec![Vec::new(); initial.len()],
            state: initial.clone(),
            initial,
            now: vec![0; sources],
            stale: vec![false; sources],
            asked_again: Vec::new(),
            weights: vec![0; sources],
            total: 0,
            progress: 0,
            fair: 0,
        }
    }

    /// Goes back to the initial state.
    pub(super) fn start(&mut self) {
        if self.leaves.len() + self.menus.len() > MOST_REMEMBERED {
            *self = Self::new(self.system, self.weigh);
        }
        self.state.clone_from(&self.initial);
        self.weights.fill(0);
        (self.total, self.progress, self.fair) = (0, 0, 0);
        for source in 0..self.now.len() {
            self.ask(source);
        }
    }

    /// The system.
    pub(super) const fn system(&self) -> &'s S {
        self.system
    }

    /// Whether nothing but idle moves and faults is enabled.
    pub(super) const fn is_quiescent(&self) -> bool {
        self.progress == 0
    }

    /// Whether nothing fair is enabled, and something is pending all the same.
    pub(super) fn is_stuck(&mut self) -> bool {
        self.fair == 0 && {
            let root = self.pending_root;
            self.memo.find(root, &self.state).map_or_else(
                || {
                    let access = Access::interned(&self.interner, &self.state);
                    let pending = self.system.is_pending(&access);
                    self.memo.insert(root, &self.state, &access.finish().0, u32::from(pending));
                    pending
                },
                |leaf| leaf == 1,
            )
        }
    }

    /// The weight of each source whose moves are no faults, and the sum.
    pub(super) fn weights(&self) -> (&[u32], u64) {
        (&self.weights, self.total)
    }

    /// How many actions of a source are enabled.
    pub(super) fn choices(&self, source: usize) -> usize {
        self.menus[self.now[source] as usize].actions.len()
    }

    /// One of the enabled actions of a source.
    pub(super) fn choice(&self, source: usize, number: usize) -> u32 {
        self.menus[self.now[source] as usize].actions[number]
    }

    /// The weight of an action.
    pub(super) fn weight(&self, action: u32) -> u32 {
        (self.weigh)(&self.actions[action as usize].action)
    }

    /// The action of that id.
    pub(super) fn action(&self, action: u32) -> &S::Action {
        &self.actions[action as usize].action
    }

    /// The id of an action, if a source has it enabled.
    pub(super) fn find(&self, source: usize, action: &S::Action) -> Option<u32> {
        let id = *self.action_ids.get(action)?;
        self.menus[self.now[source] as usize].actions.contains(&id).then_some(id)
    }

    /// What there is to observe in the state as such.
    pub(super) fn observe(&mut self) -> &Observations {
        let quiescent = self.is_quiescent();
        let root = self.observe_roots[usize::from(quiescent)];
        let leaf = self.memo.find(root, &self.state).unwrap_or_else(|| {
            let access = Access::interned(&self.interner, &self.state);
            let observations = self.system.observe(quiescent, &access);
            let (reads, _) = access.finish();
            self.remember(root, &reads, Vec::new(), observations)
        });
        &self.leaves[leaf as usize].observations
    }

    /// Takes an enabled action. `see` is shown what each of its parts shows.
    pub(super) fn take(&mut self, action: u32, see: &mut dyn FnMut(&Observations)) {
        let parts = self.actions[action as usize].roots.len();
        let mut leaves = [0; 1];
        let mut more = Vec::new();
        // Every part reads the state before the action.
        for part in 0..parts {
            let leaf = self.part(action, part);
            if part == 0 { leaves[0] = leaf } else { more.push(leaf) }
        }
        for leaf in leaves.into_iter().chain(more) {
            let leaf = &self.leaves[leaf as usize];
            see(&leaf.observations);
            for &(slot, id) in &leaf.writes {
                let slot = usize::from(slot);
                if self.state[slot] != id {
                    self.state[slot] = id;
                    for &reader in &self.readers[slot] {
                        if !std::mem::replace(&mut self.stale[usize::from(reader)], true) {
                            self.asked_again.push(reader);
                        }
                    }
                }
            }
        }
        while let Some(source) = self.asked_again.pop() {
            self.stale[usize::from(source)] = false;
            self.forget(usize::from(source));
            self.ask(usize::from(source));
        }
    }

    fn part(&mut self, action: u32, part: usize) -> u32 {
        let root = self.actions[action as usize].roots[part];
        if let Some(leaf) = self.memo.find(root, &self.state) {
            return leaf;
        }
        let mut access = Access::interned(&self.interner, &self.state);
        let observations = self.system.step(&self.actions[action as usize].action, part, &mut access);
        let (reads, writes) = access.finish();
        self.remember(root, &reads, writes, observations)
    }

    fn remember(
        &mut self,
        root: u32,
        reads: &[u16],
        writes: Vec<(u16, S::Component)>,
        observations: Observations,
    ) -> u32 {
        let intern = |(slot, component)| (slot, self.interner.intern(usize::from(slot), component));
        let writes = writes.into_iter().map(intern).collect();
        let leaf = u32::try_from(self.leaves.len()).expect("a walk forgets before it remembers 2^32 results");
        self.leaves.push(Leaf { writes, observations });
        self.memo.insert(root, &self.state, reads, leaf);
        leaf
    }

    /// Takes the menu of a source out of the sums.
    fn forget(&mut self, source: usize) {
        let menu = &self.menus[self.now[source] as usize];
        self.total -= u64::from(menu.weight);
        self.progress -= u32::from(menu.progress);
        self.fair -= u32::from(menu.fair);
    }

    /// Looks up what a source can do in the state.
    fn ask(&mut self, source: usize) {
        let root = self.source_roots[source];
        let menu = self.memo.find(root, &self.state).unwrap_or_else(|| self.new_menu(source));
        self.now[source] = menu;
        let menu = &self.menus[menu as usize];
        self.weights[source] = menu.weight;
        self.total += u64::from(menu.weight);
        self.progress += u32::from(menu.progress);
        self.fair += u32::from(menu.fair);
    }

    fn new_menu(&mut self, source: usize) -> u32 {
        let access = Access::interned(&self.interner, &self.state);
        let actions = self.system.actions(source, &access);
        let (reads, writes) = access.finish();
        assert!(writes.is_empty(), "listing actions changes nothing");
        let mut menu =
            Menu { actions: Box::default(), reads: reads.into_boxed_slice(), weight: 0, progress: false, fair: false };
        let mut ids = Vec::new();
        for action in actions {
            let class = self.system.class(&action);
            menu.progress |= class == Class::Progress;
            menu.fair |= self.system.is_fair(&action);
            if class != Class::Fault {
                menu.weight = menu.weight.max((self.weigh)(&action));
            }
            ids.push(self.action_id(action));
        }
        menu.actions = ids.into_boxed_slice();
        let source = u16::try_from(source).expect("there are few sources");
        for &slot in &menu.reads {
            let readers = &mut self.readers[usize::from(slot)];
            if !readers.contains(&source) {
                readers.push(source);
            }
        }
        let id = u32::try_from(self.menus.len()).expect("a walk forgets before it remembers 2^32 menus");
        let root = self.source_roots[usize::from(source)];
        self.memo.insert(root, &self.state, &menu.reads, id);
        self.menus.push(menu);
        id
    }

    fn action_id(&mut self, action: S::Action) -> u32 {
        if let Some(&id) = self.action_ids.get(&action) {
            return id;
        }
        let roots = (0..self.system.parts(&action)).map(|_| self.memo.root()).collect();
        let id = u32::try_from(self.actions.len()).expect("there are few actions");
        self.action_ids.insert(action.clone(), id);
        self.actions.push(Entry { action, roots });
        id
    }
}
