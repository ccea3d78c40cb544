//! `work`: what each agent does, in order.

use crate::assertion;
use crate::model::scenario::{Also, Carried, Entry, Operation};
use crate::model::{AgentId, ResourceId, Value, limits};

use super::agents::{Draft, agent_named};
use super::resources::{Known, value};
use super::sharing;
use crate::input::reader::{Item, Key, Table};
use crate::input::report::Spot;
use crate::suggest::nearest;

/// The words that say what an entry does; the value of each is the resource.
pub const VERBS: [&str; 10] =
    ["read", "set", "append", "increment", "mint", "close", "approve", "execute", "delete", "hand-off"];

/// The keys of an entry that changes something which are no fields: on what its plan rests, what the same call changes besides,
/// under which condition it is done, and the intent that it shares.
pub const ENTRY_KEYS: [&str; 4] = ["given", "also", "if", "intent"];

/// Of the words of entries, those of what a call may change besides its own resource.
pub const BESIDES: [&str; 3] = ["set", "append", "increment"];

/// A key of an entry with its value.
type Pair<'a> = (Key<'a>, Item<'a>);

/// Reads what an entry does to a field, given the field's name and its value at the start, where they are known.
type Change<T> = fn(Item<'_>, Option<&(String, Value)>) -> Option<T>;

/// The work of each agent, of at most so many intents; `None` for one that the file has wrong.
pub(super) fn works(agents: &[Draft<'_>], resources: &[Known], most: usize) -> Vec<Option<Vec<Entry>>> {
    let mut intents = 0;
    let mut works = Vec::new();
    for (agent, draft) in agents.iter().enumerate() {
        let mut work = Vec::new();
        for item in &draft.work {
            let entry = Reader { agents, resources, agent }.entry(*item);
            if matches!(entry, Some(Entry::Mutate { .. })) {
                intents += 1;
                if intents == most + 1 {
                    let label = format!("the entries of all agents that change something are at most {most}");
                    item.complain("too many intents", label, None);
                }
            }
            work.extend(entry);
        }
        works.push((work.len() == draft.work.len()).then_some(work));
    }
    sharing::check(agents, resources, &works);
    works
}

struct Reader<'a> {
    agents: &'a [Draft<'a>],
    resources: &'a [Known],
    agent: AgentId,
}

impl Reader<'_> {
    fn entry(&self, item: Item<'_>) -> Option<Entry> {
        let table = item.table()?;
        let verbs: Vec<Pair<'_>> = table.entries().filter(|(key, _)| VERBS.contains(&key.text())).collect();
        let (verb, target) = match verbs[..] {
            [verb] => verb,
            [] => return no_verb(&table),
            [_, (second, _), ..] => {
                let label = format!("and `{}` besides", verbs[0].0.text());
                return second.refuse_in_place("an entry does one thing", label, None);
            }
        };
        // Everything but the verb: for most verbs, fields.
        let rest: Vec<Pair<'_>> = table.entries().filter(|(key, _)| key.text() != verb.text()).collect();
        let changes = !matches!(verb.text(), "read" | "hand-off");
        if let Some((key, _)) = rest.iter().find(|(key, _)| key.text() == "intent" && !changes) {
            let message = format!("`{}` changes nothing, so it is no part of an intent", verb.text());
            return key.refuse_in_place(message, "", Some("leave out `intent`".to_owned()));
        }
        let resource = self.resource(target);
        match verb.text() {
            "read" => {
                refuse_others(&rest, &["read"]);
                Some(Entry::Read { resource: resource? })
            }
            "hand-off" => self.hand_off(&table, resource),
            word => {
                let given = rest.iter().find(|(key, _)| key.text() == "given");
                let made = resource.filter(|_| word == "mint");
                let given = given.map_or(Some(Vec::new()), |(_, item)| self.given(*item, made));
                let also = rest.iter().find(|(key, _)| key.text() == "also");
                let also = also.map(|(_, item)| self.also(*item, resource, given.as_deref()));
                let condition = rest.iter().find(|(key, _)| key.text() == "if").map(|(_, item)| *item);
                let intent = rest.iter().find(|(key, _)| key.text() == "intent").map(|(_, item)| item.nonempty());
                let changes: Vec<_> = rest.into_iter().filter(|(key, _)| !ENTRY_KEYS.contains(&key.text())).collect();
                let operation = match word {
                    // The fields of a mint have been read with the resource that it makes.
                    "mint" => Some(Operation::Mint),
                    end if !BESIDES.contains(&end) => {
                        refuse_others(&changes, &[end, "given", "also", "if", "intent"]);
                        Some(match end {
                            "close" => Operation::Close,
                            "approve" => Operation::Approve,
                            "execute" => Operation::Execute,
                            _ => Operation::Delete,
                        })
                    }
                    _ => resource.and_then(|resource| self.change(verb, resource, &changes)),
                };
                let (resource, operation, given) = (resource?, operation?, given?);
                let also = match also {
                    None => None,
                    Some(also) => Some(also?),
                };
                let intent = match intent {
                    None => None,
                    Some(name) => Some(name?.to_owned()),
                };
                let entry = Entry::Mutate { resource, operation, given, also, condition: None, intent };
                self.under_condition(entry, condition)
            }
        }
    }

    /// An entry with its condition, which may name what the entry rests on.
    fn under_condition(&self, mut entry: Entry, written: Option<Item<'_>>) -> Option<Entry> {
        let Some(item) = written else { return Some(entry) };
        let expression = item.nonempty()?;
        let rests_on: Vec<&Known> = entry.judged_on().into_iter().map(|resource| &self.resources[resource]).collect();
        if rests_on.iter().all(|known| !known.doubtful) {
            let names = assertion::condition_names(rests_on.iter().map(|known| &known.resource));
            let besides = match &entry {
                Entry::Mutate { also: Some(also), .. } => Some(&self.resources[also.resource].resource.name),
                _ => None,
            };
            for problem in assertion::compile(expression, &names).err().into_iter().flatten() {
                let named = &expression[problem.range.clone()];
                if besides.is_some_and(|besides| besides.replace('-', "_") == named) {
                    let message = format!("a condition can't be about `{named}`, which the entry changes besides");
                    let help = "it is about what the entry changes itself, and what it is `given`";
                    item.part(problem.range).complain(message, "", Some(help.to_owned()));
                    continue;
                }
                item.part(problem.range).complain(problem.message, "", problem.help);
            }
        }
        if let Entry::Mutate { condition, .. } = &mut entry {
            *condition = Some(expression.to_owned());
        }
        Some(entry)
    }

    /// What an entry does to the fields of a resource.
    fn change(&self, verb: Key<'_>, resource: ResourceId, changes: &[Pair<'_>]) -> Option<Operation> {
        match verb.text() {
            "set" => self.changes(verb, resource, changes, set).map(Operation::Set),
            "append" => self.changes(verb, resource, changes, append).map(Operation::Append),
            _ => self.changes(verb, resource, changes, increment).map(Operation::Increment),
        }
    }

    /// What the same call changes besides.
    fn also(&self, item: Item<'_>, target: Option<ResourceId>, given: Option<&[ResourceId]>) -> Option<Also> {
        let table = item.table()?;
        let verbs: Vec<Pair<'_>> = table.entries().filter(|(key, _)| VERBS.contains(&key.text())).collect();
        let (verb, other) = match verbs[..] {
            [verb] if BESIDES.contains(&verb.0.text()) => verb,
            [(verb, _)] => {
                let message = format!("`{}` can't be done besides", verb.text());
                return verb.refuse_in_place(message, format!("expected one of {}", BESIDES.join(", ")), None);
            }
            [] => return no_verb(&table),
            [_, (second, _), ..] => {
                let label = format!("and `{}` besides", verbs[0].0.text());
                return second.refuse_in_place("`also` does one thing", label, None);
            }
        };
        let changes: Vec<Pair<'_>> = table.entries().filter(|(key, _)| key.text() != verb.text()).collect();
        let resource = self.resource(other)?;
        let operation = self.change(verb, resource, &changes);
        if Some(resource) == target {
            let label = "`also` names what the call changes besides it";
            return other.refuse("this is the resource that the entry changes", label, None);
        }
        if given.is_some_and(|given| given.contains(&resource)) {
            let label = "a call that changes it expects its version by itself";
            let help = "leave it out of `given`: an entry can't rest on what it changes besides, nor be under a condition on it";
            return other.refuse("this is what the entry is `given`", label, Some(help.to_owned()));
        }
        Some(Also { resource, operation: operation? })
    }

    /// The resource that a string names.
    fn resource(&self, item: Item<'_>) -> Option<ResourceId> {
        let name = item.nonempty()?;
        let found = self.resources.iter().position(|known| known.resource.name == name);
        found.or_else(|| {
            let names: Vec<&str> = self.resources.iter().map(|known| known.resource.name.as_str()).collect();
            item.unknown("resource", name, &names)
        })
    }

    /// What the plan rests on: nothing that the entry itself makes.
    fn given(&self, item: Item<'_>, made: Option<ResourceId>) -> Option<Vec<ResourceId>> {
        item.nonempty_list("resource")?;
        item.each(|element, before| {
            let resource = self.resource(element)?;
            if Some(resource) == made {
                let label = "nothing can rest on it before it is there";
                return element.refuse("this is the resource that the entry makes", label, None);
            }
            if before.contains(&resource) {
                return element.refuse_in_place("this resource is listed twice", "again", None);
            }
            Some(resource)
        })
    }

    fn hand_off(&self, table: &Table<'_>, resource: Option<ResourceId>) -> Option<Entry> {
        table.get("hand-off");
        let to = table.require("to").and_then(|item| {
            item.nonempty_list("agent")?;
            item.each(|element, before| {
                let agent = agent_named(element, self.agents)?;
                if agent == self.agent {
                    return element.refuse("an agent hands nothing to itself", "this is the agent itself", None);
                }
                if before.contains(&agent) {
                    return element.refuse_in_place("this agent is listed twice", "again", None);
                }
                Some(agent)
            })
        });
        let carries = table.get("carries").map_or(Some(Vec::new()), |item| item.words("`carries` can't have"));
        table.finish();
        let named: Vec<Carried> = carries?;
        // The record holds the handle in any case: without it there would be nothing to hand on.
        let carries = Carried::ALL.iter().copied().filter(|part| *part == Carried::Handle || named.contains(part));
        Some(Entry::HandOff { resource: resource?, to: to?, carries: carries.collect() })
    }

    /// The fields that an entry names, each changed as `change` reads it, given the field as it is at the start.
    fn changes<T>(
        &self,
        verb: Key<'_>,
        resource: ResourceId,
        entries: &[Pair<'_>],
        change: Change<T>,
    ) -> Option<Vec<(usize, T)>> {
        let Known { resource, doubtful } = &self.resources[resource];
        let names: Vec<&str> = resource.fields.iter().map(|(name, _)| name.as_str()).collect();
        if entries.is_empty() {
            let label = "expected a field and a value behind the resource";
            return verb.refuse_in_place(format!("this entry has nothing to {}", verb.text()), label, None);
        }
        let mut changes = Vec::new();
        for (key, item) in entries {
            let field = names.iter().position(|name| *name == key.text());
            if field.is_none() && !doubtful {
                let _: Option<()> = key.unknown(&format!("field of `{}`", resource.name), key.text(), &names);
            }
            let change = change(*item, field.map(|field| &resource.fields[field]));
            changes.extend(field.zip(change));
        }
        (changes.len() == entries.len()).then_some(changes)
    }
}

/// Reports an entry without a verb, at the key that is nearest to one.
fn no_verb<T>(table: &Table<'_>) -> Option<T> {
    match table.entries().find(|(key, _)| nearest(key.text(), VERBS).is_some()) {
        Some((key, _)) => key.unknown_word("verb", key.text(), &VERBS),
        None => {
            table.refuse_in_place("this entry does nothing", "", Some(format!("expected one of {}", VERBS.join(", "))))
        }
    }
}

fn refuse_others(entries: &[Pair<'_>], known: &[&str]) {
    for (key, _) in entries {
        let _: Option<()> = key.unknown_word("key", key.text(), known);
    }
}

/// What a kind of value is called, with what an entry can do to it.
const fn kind(value: &Value) -> &'static str {
    match value {
        Value::Number(_) => "a number",
        Value::Text(_) => "a string",
        Value::List(_) => "a list",
    }
}

fn set(item: Item<'_>, at_start: Option<&(String, Value)>) -> Option<Value> {
    let new = value(item)?;
    match at_start {
        Some((field, old)) if std::mem::discriminant(old) != std::mem::discriminant(&new) => item.refuse(
            format!("`{field}` is {}, this is {}", kind(old), kind(&new)),
            format!("expected {}", kind(old)),
            matches!(old, Value::List(_)).then(|| "`append` adds an element to a list".to_owned()),
        ),
        _ => Some(new),
    }
}

fn append(item: Item<'_>, at_start: Option<&(String, Value)>) -> Option<Value> {
    let element = value(item)?;
    match at_start {
        Some((field, old @ (Value::Number(_) | Value::Text(_)))) => item.refuse(
            format!("`{field}` is {}", kind(old)),
            "only a list can be appended to",
            Some("`set` gives a field another value".to_owned()),
        ),
        _ => Some(element),
    }
}

fn increment(item: Item<'_>, at_start: Option<&(String, Value)>) -> Option<i64> {
    let amount = item.number(-limits::NUMBER..=limits::NUMBER)?;
    match at_start {
        Some((field, old @ (Value::Text(_) | Value::List(_)))) => {
            item.refuse(format!("`{field}` is {}", kind(old)), "only a number can be incremented", None)
        }
        _ => Some(amount),
    }
}
