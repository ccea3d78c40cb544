//! Intents that several entries share (`intent = "NAME"`): one piece of work, whichever of them does it.

use handlecheck::model::{Entry, Model};

use super::state::{Change, Intent};

/// The name under which an entry shares its intent.
fn name(entry: &Entry) -> Option<&String> {
    match entry {
        Entry::Mutate { intent, .. } => intent.as_ref(),
        Entry::Read { .. } | Entry::HandOff { .. } => None,
    }
}

/// Is the intent of this entry one that others share?
pub fn is_shared(model: &Model, (agent, entry): Intent) -> bool {
    name(&model.scenario.agents[agent].work[entry]).is_some()
}

/// All entries that are the same piece of work as this one.
pub fn same_work(model: &Model, of: Intent) -> Vec<Intent> {
    let Some(wanted) = name(&model.scenario.agents[of.0].work[of.1]) else { return vec![of] };
    let mut all = Vec::new();
    for (agent, declared) in model.scenario.agents.iter().enumerate() {
        let named = declared.work.iter().enumerate().filter(|(_, entry)| name(entry) == Some(wanted));
        all.extend(named.map(|(entry, _)| (agent, entry)));
    }
    all
}

/// The entry that stands for a piece of work: the first of it.
pub fn first(model: &Model, of: Intent) -> Intent {
    same_work(model, of)[0]
}

/// Had the agent of this entry the work of a change before it?
pub fn is_earlier(model: &Model, change: &Change, than: Intent) -> bool {
    match change {
        Change::Of(work, _) => same_work(model, *work).iter().any(|(agent, entry)| *agent == than.0 && *entry < than.1),
        Change::Nobody => false,
    }
}
