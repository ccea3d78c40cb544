//! How much memory a command may take.

use sysinfo::{MemoryRefreshKind, RefreshKind, System};

/// The limit that was asked for, in bytes; without one three quarters of what the machine has, or the group of processes that
/// this is one of, so that a search without an end stops with a report before the system runs out of memory. `None`: how much there is
/// can't be known.
pub(super) fn limit(asked: Option<usize>) -> Option<usize> {
    asked.or_else(|| {
        let kind = RefreshKind::nothing().with_memory(MemoryRefreshKind::nothing().with_ram());
        let system = System::new_with_specifics(kind);
        let group = system.cgroup_limits().map(|limits| limits.total_memory).filter(|total| *total > 0);
        let there = group.map_or(system.total_memory(), |group| group.min(system.total_memory()));
        usize::try_from(there / 4 * 3).ok().filter(|most| *most > 0)
    })
}
