//! Leases: which agent may work on a resource, and the fence numbers that were given out.

/// The leases on one resource, in the store or in the memory of one node: one for each of its instances.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Leases {
    /// Index of the resource in the scenario.
    pub resource: u8,
    /// In the order of the instances; missing ones were never taken.
    pub leases: Vec<Lease>,
}

/// The lease on one instance of a resource.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Lease {
    /// The agent that holds it, and under which fence number.
    pub holder: Option<(u8, u16)>,
    /// The newest fence number that was given out.
    pub given: Option<u16>,
    /// The newest fence number that was presented to a check.
    pub presented: Option<u16>,
    /// For each agent that wrote under the lease, the newest number under which it did (ghost).
    pub wrote: Vec<(u8, u16)>,
}

impl Leases {
    /// The lease on an instance.
    #[must_use]
    pub fn of(&self, instance: u8) -> Lease {
        self.leases.get(usize::from(instance)).cloned().unwrap_or_default()
    }

    /// Replaces the lease on an instance.
    pub fn set(&mut self, instance: u8, lease: Lease) {
        let instance = usize::from(instance);
        if self.leases.len() <= instance {
            self.leases.resize(instance + 1, Lease::default());
        }
        self.leases[instance] = lease;
        while self.leases.last().is_some_and(|last| *last == Lease::default()) {
            self.leases.pop();
        }
    }
}
