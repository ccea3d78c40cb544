//! Queues: one handler at a time on a handle, over all nodes, first come first served.

/// The calls that wait for one resource or are handled on it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Queue {
    /// Index of the resource in the scenario.
    pub resource: u8,
    /// The instance that each call is about and its ticket; sorted.
    pub tickets: Vec<(u8, u16)>,
}

impl Queue {
    /// Takes a ticket behind all others on this instance.
    pub fn join(&mut self, instance: u8) -> u16 {
        let behind = self.tickets.partition_point(|(other, _)| *other <= instance);
        let last = self.tickets[..behind].last().filter(|(other, _)| *other == instance);
        let ticket = last.map_or(0, |(_, last)| last + 1);
        self.tickets.insert(behind, (instance, ticket));
        ticket
    }

    /// Gives a ticket back.
    pub fn leave(&mut self, instance: u8, ticket: u16) {
        self.tickets.retain(|other| *other != (instance, ticket));
    }

    /// Whether the call with this ticket is the first on its instance.
    #[must_use]
    pub fn is_first(&self, instance: u8, ticket: u16) -> bool {
        self.tickets.iter().find(|(other, _)| *other == instance).is_none_or(|(_, first)| *first == ticket)
    }
}
