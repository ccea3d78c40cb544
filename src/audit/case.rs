//! What the checks share: what is known of a log, and how what they find is kept.

use std::collections::BTreeMap;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::effects::{Effect, Resource, Seen, View, resources};
use super::evidence::{Evidence, evidence};
use super::history::{History, Mark, NEVER, Name, Record};
use crate::log::Operation;

/// How many findings of a check are kept; all are counted.
pub const KEPT: usize = 10;

/// Everything that is known of a log.
#[derive(Debug)]
pub struct Case<'h> {
    /// The log.
    pub history: &'h History,
    /// Its resources.
    pub resources: Vec<Resource>,
    /// What contents show of each.
    pub evidence: Vec<Evidence>,
    /// The piece of work of each call, by its first call.
    pub works: Vec<u32>,
    bases: Vec<Option<Base>>,
    places: HashMap<Name, usize, FxBuildHasher>,
}

/// What the author of a call had seen of a resource when it planned the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Base {
    /// The version, where that is known.
    pub version: Mark,
    /// What had happened before this time it had seen.
    pub from: u64,
    /// What can't have happened before this time it had not seen.
    pub by: u64,
    /// The call by which it saw it, where that is in the log.
    pub call: Option<u32>,
}

/// Whether something holds, as far as a log can tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    /// It does.
    Yes,
    /// It does not.
    No,
    /// The log can't tell.
    Unknown,
}

impl<'h> Case<'h> {
    /// Finds out what can be known.
    #[must_use]
    pub fn new(history: &'h History) -> Self {
        let (resources, works) = resources(history);
        let last = history.calls.iter().filter(|call| call.tool.changes()).map(|call| call.sent).max().unwrap_or(0);
        let evidence = resources.iter().map(|resource| evidence(history, &works, resource, last)).collect();
        let places = resources.iter().enumerate().map(|(index, resource)| (resource.handle, index)).collect();
        let mut case = Self { history, resources, evidence, works, bases: Vec::new(), places };
        case.bases = case.find_bases();
        case
    }

    /// A call.
    #[must_use]
    pub fn call(&self, call: u32) -> &'h Record {
        &self.history.calls[call as usize]
    }

    /// A resource, by its handle.
    #[must_use]
    pub fn resource(&self, handle: Name) -> Option<&Resource> {
        self.place_of(handle).map(|place| &self.resources[place])
    }

    /// The place of a resource in the list of them, by its handle.
    #[must_use]
    pub fn place_of(&self, handle: Name) -> Option<usize> {
        self.places.get(&handle).copied()
    }

    /// On which versions the plan of a call rests that changes this resource: of what it is given, or else of what else its author
    /// had seen. What its condition names may change as long as that is true.
    #[must_use]
    pub fn rests_on(&self, resource: Name, call: u32) -> BTreeMap<Name, Mark> {
        let (history, other, call) = (self.history, self.history.besides(call), self.call(call));
        let mut all: BTreeMap<Name, Mark> = history.expects(call).iter().copied().collect();
        all.extend(history.saw(call).iter().copied());
        let said = history.rests(call);
        match said.and_then(|said| said.given.as_ref()) {
            Some(given) => {
                if let Some(other) = other {
                    all.extend(history.expects(other).iter().chain(history.saw(other)).copied());
                }
                all = given.iter().map(|handle| (*handle, all.get(handle).copied().unwrap_or(Mark::None))).collect();
            }
            None => drop(all.remove(&resource)),
        }
        let condition = said.and_then(|said| said.condition.as_ref());
        all.retain(|handle, _| condition.is_none_or(|condition| !condition.names(*handle)));
        all
    }

    /// What the author of a mutating call had seen of the resource that it changes.
    #[must_use]
    pub fn base(&self, call: u32) -> Option<Base> {
        self.bases[call as usize]
    }

    /// What an author had seen, as it says itself: a version.
    #[must_use]
    pub fn base_of(&self, resource: &Resource, version: Mark) -> Base {
        // A number is compared with other numbers; only a name has to be found.
        let named = matches!(version, Mark::Name(_));
        let made = named.then(|| resource.effects.iter().find(|effect| effect.version == version)).flatten();
        let (from, by) = made.map_or((0, NEVER), |effect| (effect.from, effect.by));
        Base { version, from, by, call: None }
    }

    /// Whether somebody with this base had seen an effect of a resource.
    #[must_use]
    pub fn had_seen(&self, resource: &Resource, base: Base, effect: &Effect) -> Known {
        let versions = base.version.number().zip(effect.version.number());
        if let Some((seen, made)) = versions.filter(|_| !resource.reused) {
            return if made <= seen { Known::Yes } else { Known::No };
        }
        if effect.by < base.from {
            Known::Yes
        } else if effect.from > base.by {
            Known::No
        } else {
            Known::Unknown
        }
    }

    /// For each mutating call: what its author had seen, as the log says, or else as it last heard in this log.
    fn find_bases(&self) -> Vec<Option<Base>> {
        let history = self.history;
        let mut bases = vec![None; history.calls.len()];
        let mut moments: Vec<(u64, bool, u32)> = Vec::new();
        for (index, call) in (0..).zip(&history.calls) {
            // A mint that is answered from a record may be anybody's.
            let hears = call.tool == Operation::Read || call.tool == Operation::Mint && !call.replayed;
            let hears = hears && call.is_ok();
            if hears && call.handle.is_some() && call.about.is_none_or(|about| call.handle == Some(about)) {
                moments.push((call.received, false, index));
            }
            if call.tool.changes() && call.tool != Operation::Mint {
                moments.push((call.sent, true, index));
            }
        }
        moments.sort_unstable();
        let mut heard: HashMap<(Name, Name), u32, FxBuildHasher> = HashMap::default();
        for (_, plans, index) in moments {
            let call = self.call(index);
            let Some(handle) = call.handle else { continue };
            if !plans {
                heard.insert((call.agent, handle), index);
                continue;
            }
            let said = super::history::of(history.saw(call), handle);
            let last = heard.get(&(call.agent, handle)).copied();
            let expected = super::history::of(history.expects(call), handle);
            let viewed = |last: u32| {
                let view = self.call(last);
                Base { version: view.version, from: view.sent, by: view.received, call: Some(last) }
            };
            bases[index as usize] = match (said, last, expected) {
                // It says itself that it had seen what it last heard.
                (Some(version), Some(last), _) if self.call(last).version == version => Some(viewed(last)),
                (Some(version), ..) | (None, None, Some(version)) => {
                    self.resource(handle).map(|resource| self.base_of(resource, version))
                }
                (None, Some(last), _) => Some(viewed(last)),
                (None, None, None) => None,
            };
        }
        bases
    }

    /// An agent's name.
    #[must_use]
    pub fn agent(&self, call: u32) -> &'h str {
        self.history.text(self.call(call).agent)
    }

    /// The name of a resource.
    #[must_use]
    pub fn handle(&self, call: u32) -> &'h str {
        self.call(call).handle.map_or("a resource", |handle| self.history.text(handle))
    }

    /// A call as a sentence names it: `A-2, line 5`.
    #[must_use]
    pub fn named(&self, call: u32) -> String {
        let call = self.call(call);
        match call.id {
            Some(id) => format!("{}, line {}", self.history.text(id), call.line),
            None => format!("line {}", call.line),
        }
    }

    /// What a call asks for: `set of memory 32, storage 512`.
    #[must_use]
    pub fn asks(&self, call: u32) -> String {
        let record = self.call(call);
        let fields = self.history.fields(record).iter();
        let fields: Vec<String> = fields
            .map(|(field, value)| format!("{} {}", self.history.text(*field), short(&self.history.shown_value(*value))))
            .collect();
        if fields.is_empty() {
            record.tool.name().to_owned()
        } else {
            format!("{} of {}", record.tool, fields.join(", "))
        }
    }

    /// Where a view stands: `A-1, line 3`, or `line 9`.
    #[must_use]
    pub fn place(&self, view: &View) -> String {
        match view.seen {
            Seen::Call(call) => self.named(call),
            Seen::Observer(state) => format!("line {}", self.history.observed[state as usize].line),
        }
    }
}

/// A value, not too long for a sentence.
#[must_use]
pub fn short(value: &str) -> String {
    const MOST: usize = 60;
    if value.chars().count() <= MOST {
        return value.to_owned();
    }
    let start: String = value.chars().take(MOST - 2).collect();
    format!("{start}..")
}

/// Something that a log shows, and that should not be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Finding {
    /// What happened, in one sentence without its full stop.
    pub sentence: String,
    /// The standard name of the anomaly, where it has one.
    pub anomaly: Option<&'static str>,
    /// The calls that it takes to show it, in the order in which they were sent.
    pub calls: Vec<u32>,
    /// The observer's line that shows it, where it takes one.
    pub observed: Option<u32>,
    /// For a cycle: why each call comes before the next, a sentence an edge.
    pub cycle: Vec<String>,
}

/// How far a check got.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Judged {
    /// How many calls are in the situation that the check is about.
    pub about: u64,
    /// Why some of these could not be judged, and how many.
    pub unjudged: BTreeMap<&'static str, u64>,
    /// How many violations there are.
    pub violations: u64,
    /// The first of them.
    pub findings: Vec<Finding>,
}

/// Why nothing is said of a mint that is contested.
pub const CONTESTED: &str = "several were answered that they made the resource";

impl Judged {
    /// A call that could not be judged.
    pub fn unjudged(&mut self, because: &'static str) {
        *self.unjudged.entry(because).or_default() += 1;
    }

    /// A violation.
    pub fn found(&mut self, case: &Case<'_>, finding: impl FnOnce() -> Finding) {
        self.violations += 1;
        if self.findings.len() < KEPT {
            let mut finding = finding();
            finding.calls.sort_by_key(|call| (case.call(*call).sent, *call));
            finding.calls.dedup();
            self.findings.push(finding);
        }
    }

    /// How many calls could be judged.
    #[must_use]
    pub fn judged(&self) -> u64 {
        self.about.saturating_sub(self.unjudged.values().sum())
    }
}

impl Case<'_> {
    /// A finding about what a content shows of a call.
    #[must_use]
    pub fn sighting(&self, sentence: String, anomaly: Option<&'static str>, sight: &super::evidence::Sight) -> Finding {
        let mut finding = self.viewing(sentence, anomaly, sight.call, &sight.view);
        finding.calls.extend(sight.instead);
        finding
    }

    /// A finding about a call and a view.
    #[must_use]
    pub fn viewing(&self, sentence: String, anomaly: Option<&'static str>, call: u32, view: &View) -> Finding {
        let mut finding = self.views(sentence, &[view]);
        finding.calls.push(call);
        finding.anomaly = anomaly;
        finding
    }

    /// A finding about views.
    #[must_use]
    pub fn views(&self, sentence: String, views: &[&View]) -> Finding {
        let mut finding = Finding { sentence, ..Finding::default() };
        for view in views {
            match view.seen {
                Seen::Call(call) => finding.calls.push(call),
                Seen::Observer(state) => finding.observed = Some(state),
            }
        }
        finding
    }
}
