//! Designs in which reads may be answered from elsewhere than where the resource is.

use super::Design;
use super::design::ReadsFrom;

/// The steps that work with the read cache.
const CACHE_STEPS: [&str; 4] = ["find-cached", "fill-cache", "fill-cache-if-newer", "drop-cached"];

impl Design {
    /// Whether some handler, at its end too, has one of these steps.
    #[must_use]
    pub fn has(&self, steps: &[&str]) -> bool {
        let handlers = self.server.tools.values();
        let mut all = handlers.flat_map(|handler| handler.transactions.iter().chain(&handler.at_end)).flatten();
        all.any(|step| steps.contains(step))
    }

    /// Whether some handler works with the read cache by steps.
    #[must_use]
    pub fn has_cache_steps(&self) -> bool {
        self.has(&CACHE_STEPS)
    }

    /// Whether there is a read cache.
    #[must_use]
    pub fn has_cache(&self) -> bool {
        self.server.reads_from == ReadsFrom::NodeCache || self.has_cache_steps()
    }

    /// Whether reads may be answered from elsewhere than where the resource is.
    #[must_use]
    pub fn has_copies(&self) -> bool {
        self.server.reads_from != ReadsFrom::Store || self.has(&["find-cached"])
    }
}
