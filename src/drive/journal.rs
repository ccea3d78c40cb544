//! The log of a drive, as `log` has it, while it is written.

use std::collections::BTreeMap;
use std::time::Instant;

use crate::log::{Call, End, Event, Heading, Line, SCHEMA, State, ToldLine};
use crate::model::Told;

/// A log that grows. Its clock counts microseconds from its beginning.
#[derive(Debug)]
pub struct Journal {
    began: Instant,
    last: u64,
    lines: Vec<Line>,
    open: BTreeMap<String, Call>,
}

impl Journal {
    /// A log of nothing yet.
    #[must_use]
    pub fn new(heading: Heading) -> Self {
        let heading = Heading { schema: SCHEMA, handlecheck: Some(env!("CARGO_PKG_VERSION").to_owned()), ..heading };
        #[expect(clippy::disallowed_methods, reason = "a log of what really happened says when")]
        let began = Instant::now();
        Self { began, last: 0, lines: vec![Line::Log(heading)], open: BTreeMap::new() }
    }

    /// Now: later than every time before, so that what follows something is seen to follow it.
    pub fn now(&mut self) -> u64 {
        let micros = u64::try_from(self.began.elapsed().as_micros()).unwrap_or(u64::MAX);
        self.last = micros.max(self.last + 1);
        self.last
    }

    /// A call is sent. Its `id` names it.
    pub fn sent(&mut self, mut call: Call) {
        call.sent = self.now();
        if let Some(id) = call.id.clone() {
            self.open.insert(id, call);
        }
    }

    /// The call of that name, while it is open.
    pub fn open(&mut self, id: &str) -> Option<&mut Call> {
        self.open.get_mut(id)
    }

    /// A call is answered.
    pub fn received(&mut self, id: &str, answer: crate::log::Answer) {
        let now = self.now();
        if let Some(call) = self.open.remove(id) {
            self.lines.push(Line::Call(Box::new(Call { received: Some(now), answer: Some(answer), ..call })));
        }
    }

    /// The stream of a call is broken.
    pub fn cut(&mut self, id: &str) {
        let now = self.now();
        if let Some(call) = self.open.remove(id) {
            self.lines.push(Line::Call(Box::new(Call { cut: Some(now), ..call })));
        }
    }

    /// An agent told something about an intent.
    pub fn told(&mut self, agent: &str, intent: &str, told: Told) {
        let at = self.now();
        self.lines.push(Line::Told(ToldLine { at, agent: agent.to_owned(), intent: intent.to_owned(), told }));
    }

    /// Something was done to the servers, or happened.
    pub fn event(&mut self, event: Event) {
        let at = self.now();
        self.lines.push(Line::Event(Event { at, ..event }));
    }

    /// What an observer found.
    pub fn state(&mut self, state: State) {
        let at = self.now();
        self.lines.push(Line::State(State { at, ..state }));
    }

    /// Everything that was sent is in it: calls that are still open are written down as such. Answers the lines.
    #[must_use]
    pub fn close(mut self) -> Vec<Line> {
        let open = std::mem::take(&mut self.open);
        self.lines.extend(open.into_values().map(|call| Line::Call(Box::new(call))));
        let at = self.now();
        self.lines.push(Line::End(End { at }));
        self.lines
    }
}

/// The lines of a log as text.
#[must_use]
pub fn text(lines: &[Line]) -> String {
    lines.iter().map(|line| line.to_json() + "\n").collect()
}
