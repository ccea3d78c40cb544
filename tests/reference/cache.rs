//! The read cache: of each node, or of all, as `cache-place` says.

use std::collections::BTreeMap;

use handlecheck::model::Outcome;
use handlecheck::model::design::{Place, ScopePart};

use super::judge;
use super::keys;
use super::state::{Answer, Request, Scope, View};
use super::steps::{End, Passed, Step};

/// What is kept, under what.
pub type Cache = BTreeMap<Vec<Scope>, View>;

impl Step<'_, '_> {
    /// `find-cached`: the cache holds no copy.
    pub fn find_cached(&mut self) -> Passed {
        let Some(place) = self.cache_key() else { return Ok(()) };
        let (agent, held) = (self.request.agent, self.cache().clone());
        if held.values().any(|view| !judge::agent_entitled(self.model(), &self.world.state, agent, view.handle)) {
            self.world.witnessed(judge::NO_CROSS_PRINCIPAL);
        }
        let Some(mut view) = held.get(&place).cloned() else { return Ok(()) };
        let unknown = self.unknown_fields();
        view.content.iter_mut().for_each(|content| super::write::forget(content, &unknown));
        let answer = Answer { outcome: Outcome::Ok, view: Some(view.clone()), ..Answer::ok(Some(view.handle)) };
        Err(Box::new(End { answer, recorded: false }))
    }

    /// `fill-cache` puts what was read into the cache; `fill-cache-if-newer` unless a copy there is as new.
    pub fn fill_cache(&mut self, if_newer: bool) -> Passed {
        let (Some(place), Some(view)) = (self.cache_key(), self.handling.answer.view.clone()) else { return Ok(()) };
        let cache = self.cache();
        let as_new = |held: &View| held.handle == view.handle && held.version >= view.version;
        if !(if_newer && cache.get(&place).is_some_and(as_new)) {
            cache.insert(place, view);
        }
        Ok(())
    }

    /// `drop-cached` drops what a read of this would find.
    pub fn drop_cached(&mut self) -> Passed {
        if let Some(place) = self.cache_key() {
            self.cache().remove(&place);
        }
        Ok(())
    }

    /// What a read of the same handle by this caller looks for. All reads are of one tool.
    fn cache_key(&self) -> Option<Vec<Scope>> {
        let request = Request { handle: Some(self.handle()?), ..self.request.clone() };
        let mut parts = self.model().design.server.cache_scope.clone();
        parts.retain(|part| *part != ScopePart::Tool);
        Some(keys::scope(self.world, &request, self.handling.node, &parts))
    }

    fn cache(&mut self) -> &mut Cache {
        let state = &mut self.world.state;
        match self.world.model.design.server.cache_place {
            Place::Store => &mut state.cache,
            Place::Node => &mut state.nodes[self.handling.node].cache,
        }
    }
}
