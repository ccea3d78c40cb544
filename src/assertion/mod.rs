//! Assertions: expressions of a scenario's `[finally]`, `[at-rest]` and `[sometimes]`, in the Common Expression Language (CEL).
//!
//! An expression is a truth about one state. `basket.memory` is a field of the resource `basket` (a number, a string or
//! a list), `basket.version` its version, and `told.A` the list of what agent A was told, in order: `"ok"`, `"failure"`,
//! `"conflict"`, `"unknown"`. CEL has no `-` in names, so a `-` is written `_`: a field `unit-price` is
//! `basket.unit_price`. What was not minted yet has neither fields nor a version: an expression that needs one is not true,
//! and `has(draft.version)` says whether there is one. Of what was minted more than once, the last is meant. There are CEL's operators, its macros (`has`, `all`, `exists`, `exists_one`, `map`, `filter`)
//! and the functions `size`, `contains`, `startsWith`, `endsWith`, `matches`, `int` and `string`.
//!
//! A *condition* (`if` of a work entry) is such an expression over the fields of what the entry rests on alone.
//!
//! Names and types are checked when an expression is compiled, in all of its branches: CEL itself would find a wrong
//! name only where evaluation comes to it, and would call a number and a string merely unequal.

mod check;

#[expect(clippy::disallowed_types, reason = "the evaluator takes its maps so; their order is never looked at")]
type Map<K, V> = std::collections::HashMap<K, V>;

use std::fmt;
use std::ops::Range;
use std::sync::{Arc, LazyLock};

use cel::{Context, Env, ExecutionError, Program};

use crate::model::{Entry, Resource, Scenario, Told, Value};
use crate::suggest::did_you_mean;

/// Bytes of an expression.
const LENGTH: usize = 1024;

/// Levels of an expression, its macros written out. Evaluation recurses, on threads with stacks of ordinary size.
const DEPTH: usize = 32;

/// Bytes of stack for compiling: the parser recurses before anything can be said about the depth.
const STACK: usize = 64 << 20;

/// The functions and macros of CEL's standard library; building it takes longer than evaluating an assertion.
static LIBRARY: LazyLock<Arc<Env>> = LazyLock::new(|| Arc::new(Env::stdlib()));

/// The names that the assertions of a scenario may use, with values to try them on.
#[derive(Clone, Debug)]
pub struct Names {
    resources: Vec<(String, Vec<(String, Value)>)>,
    agents: Vec<(String, usize)>,
    /// It is judged on contents alone: there are no versions, and nothing was told.
    of_condition: bool,
}

impl Names {
    /// Of these resources, each with its fields as they are at the start, and these agents, each with the number of its
    /// intents.
    pub fn new<'a>(
        resources: impl IntoIterator<Item = (&'a str, &'a [(String, Value)])>,
        agents: impl IntoIterator<Item = (&'a str, usize)>,
    ) -> Self {
        let resources = resources.into_iter().map(|(name, fields)| {
            (spelled(name), fields.iter().map(|(field, value)| (spelled(field), value.clone())).collect())
        });
        let agents = agents.into_iter().map(|(agent, intents)| (spelled(agent), intents));
        Self { resources: resources.collect(), agents: agents.collect(), of_condition: false }
    }

    /// What such an expression is called.
    const fn kind(&self) -> &'static str {
        if self.of_condition { "a condition" } else { "an assertion" }
    }

    /// Of this scenario.
    #[must_use]
    pub fn of(scenario: &Scenario) -> Self {
        let intent = |entry: &&Entry| matches!(entry, Entry::Mutate { .. });
        Self::new(
            scenario.resources.iter().map(|resource| (resource.name.as_str(), resource.fields.as_slice())),
            scenario.agents.iter().map(|agent| (agent.name.as_str(), agent.work.iter().filter(intent).count())),
        )
    }
}

/// The names that the condition of an entry may use that rests on these resources.
pub fn condition_names<'a>(resources: impl IntoIterator<Item = &'a Resource>) -> Names {
    let resources = resources.into_iter().map(|resource| (resource.name.as_str(), resource.fields.as_slice()));
    Names { of_condition: true, ..Names::new(resources, []) }
}

/// Whether a condition is true of the contents of these resources, each by the name that the expression has for it. Where it
/// is neither true nor false (an index beyond the end of a list, say) it is not met.
///
/// # Errors
///
/// The first thing that is wrong with the expression, in a clause.
pub fn meets(expression: &str, resources: &[(String, Vec<(String, Value)>)]) -> Result<bool, String> {
    let pairs = resources.iter().map(|(name, fields)| (name.as_str(), fields.as_slice()));
    let names = Names { of_condition: true, ..Names::new(pairs, []) };
    let compiled = compile(expression, &names).map_err(|problems| problems[0].message.clone())?;
    // No condition names a version.
    let facts = resources.iter().map(|(name, fields)| ResourceFacts { name, fields, version: Some(0) });
    let facts: Vec<ResourceFacts<'_>> = facts.collect();
    Ok(compiled.evaluate(&Facts { resources: &facts, told: &[] }) == Ok(true))
}

/// Whether a text is an expression, whatever its names stand for.
///
/// # Errors
///
/// The first thing that is wrong with it, in a clause.
pub fn read(expression: &str) -> Result<(), String> {
    with_room(expression, || parsed(expression).map(drop)).map_err(|problems| problems[0].message.clone())
}

/// The first of these names that an expression does not have: that, and what may have been meant. None where it is no expression.
#[must_use]
pub fn unused(expression: &str, names: &[&str]) -> Option<(String, Option<String>)> {
    let program = with_room(expression, || parsed(expression)).ok()?;
    let references = program.references();
    let unused = names.iter().find(|name| !references.has_variable(spelled(name)))?;
    let help = did_you_mean(unused, references.variables().iter().copied());
    Some((format!("the expression has no `{unused}`"), help))
}

/// How a name is written in an expression.
fn spelled(name: &str) -> String {
    name.replace('-', "_")
}

/// Something that is wrong with an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Where: bytes of the expression, on character boundaries.
    pub range: Range<usize>,
    /// What is wrong, in a clause.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
}

/// An expression that can be evaluated in any state of its scenario.
#[derive(Clone)]
pub struct Compiled(Arc<Program>);

impl fmt::Debug for Compiled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Compiled").field(&self.0.source_info().source).finish()
    }
}

/// What an expression is evaluated on.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'a> {
    /// The resources. An expression that needs one that is not here can't be evaluated.
    pub resources: &'a [ResourceFacts<'a>],
    /// What each agent was told so far, in order.
    pub told: &'a [(&'a str, &'a [Told])],
}

/// The facts of one resource.
#[derive(Clone, Copy, Debug)]
pub struct ResourceFacts<'a> {
    /// Its name in the scenario.
    pub name: &'a str,
    /// The names of its fields and their values.
    pub fields: &'a [(String, Value)],
    /// Its version; `None`: it does not exist yet, and has no fields either.
    pub version: Option<i64>,
}

/// Compiles an expression.
///
/// # Errors
///
/// Everything that is wrong with it: its syntax, or else names that are not among `names`, types that don't fit, a
/// result that is neither true nor false, or more of it than the limits allow.
pub fn compile(expression: &str, names: &Names) -> Result<Compiled, Vec<Problem>> {
    with_room(expression, || try_compile(expression, names))
}

/// Does something with an expression that is not too long, on a stack that is large enough for it.
fn with_room<T: Send>(
    expression: &str,
    work: impl FnOnce() -> Result<T, Vec<Problem>> + Send,
) -> Result<T, Vec<Problem>> {
    if expression.len() > LENGTH {
        let message = format!("this expression is longer than {LENGTH} bytes");
        let help = Some("split it into several assertions".to_owned());
        return Err(vec![Problem { range: 0..expression.len(), message, help }]);
    }
    let done = std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work);
        thread.map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    });
    done.unwrap_or_else(|error| {
        let message = format!("there is no thread to compile this expression on: {error}");
        Err(vec![Problem { range: 0..expression.len(), message, help: None }])
    })
}

fn parsed(expression: &str) -> Result<Program, Vec<Problem>> {
    LIBRARY.compile(expression).map_err(|errors| syntax_problems(expression, &errors.errors))
}

fn try_compile(expression: &str, names: &Names) -> Result<Compiled, Vec<Problem>> {
    let program = parsed(expression)?;
    check::check(&program, expression, names)?;
    let compiled = Compiled(Arc::new(program));

    // What the check can't see shows in a trial. Errors that hang on the values may still never happen.
    let facts: Vec<ResourceFacts<'_>> =
        names.resources.iter().map(|(name, fields)| ResourceFacts { name, fields, version: Some(1) }).collect();
    let told: Vec<(&str, Vec<Told>)> =
        names.agents.iter().map(|(agent, intents)| (agent.as_str(), vec![Told::Ok; *intents])).collect();
    let told: Vec<(&str, &[Told])> = told.iter().map(|(agent, told)| (*agent, told.as_slice())).collect();
    let whole = |message: String| vec![Problem { range: 0..expression.len(), message, help: None }];
    match compiled.execute(&Facts { resources: &facts, told: &told }) {
        Ok(cel::Value::Bool(_))
        | Err(
            ExecutionError::IndexOutOfBounds(_)
            | ExecutionError::DivisionByZero(_)
            | ExecutionError::RemainderByZero(_)
            | ExecutionError::Overflow(..)
            | ExecutionError::FunctionError { .. },
        ) => Ok(compiled),
        Ok(_) => Err(whole(format!("{} is true or false, and this is neither", names.kind()))),
        Err(error) => Err(whole(error.to_string())),
    }
}

impl Compiled {
    /// Whether the expression names this resource.
    #[must_use]
    pub fn names(&self, resource: &str) -> bool {
        self.0.references().has_variable(spelled(resource))
    }

    /// Whether the expression is true of these facts.
    ///
    /// # Errors
    ///
    /// A sentence that says why it is neither true nor false: an index beyond the end of a list, a division by zero, a
    /// sum that is too large, a resource that is not among the facts, or does not exist yet.
    pub fn evaluate(&self, facts: &Facts<'_>) -> Result<bool, String> {
        match self.execute(facts) {
            Ok(cel::Value::Bool(truth)) => Ok(truth),
            Ok(_) => Err("the result is neither true nor false".to_owned()),
            Err(error @ ExecutionError::NoSuchKey(_)) => {
                let missing = |resource: &&ResourceFacts<'_>| resource.version.is_none() && self.names(resource.name);
                let missing = facts.resources.iter().find(missing);
                Err(missing.map_or_else(|| error.to_string(), |resource| format!("`{}` does not exist", resource.name)))
            }
            Err(error) => Err(error.to_string()),
        }
    }

    fn execute(&self, facts: &Facts<'_>) -> Result<cel::Value, ExecutionError> {
        let mut context = Context::with_env(Arc::clone(&LIBRARY));
        for resource in facts.resources {
            // The order of a map can't be seen: an expression reaches into maps by name only.
            let mut map: Map<String, cel::Value> = Map::new();
            if let Some(version) = resource.version {
                map.extend(resource.fields.iter().map(|(field, value)| (spelled(field), cel_value(value))));
                map.insert("version".to_owned(), cel::Value::Int(version));
            }
            context.add_variable_from_value(spelled(resource.name), map);
        }
        let told = facts.told.iter().map(|(agent, told)| {
            let told: Vec<cel::Value> = told.iter().map(|told| told.name().into()).collect();
            (spelled(agent), told.into())
        });
        context.add_variable_from_value("told", told.collect::<Map<String, cel::Value>>());
        self.0.execute(&context)
    }
}

fn cel_value(value: &Value) -> cel::Value {
    match value {
        Value::Number(number) => cel::Value::Int(*number),
        Value::Text(text) => text.as_str().into(),
        Value::List(elements) => elements.iter().map(cel_value).collect::<Vec<_>>().into(),
    }
}

/// The parser's first error; the others mostly follow from it.
fn syntax_problems(expression: &str, errors: &[cel::ParseError]) -> Vec<Problem> {
    let problems = errors.iter().take(1).map(|error| {
        let range = character_at(expression, error.pos);
        let help = (expression.get(range.clone()) == Some("=")).then(|| "`==` compares".to_owned());
        Problem { range, message: syntax_message(&error.msg), help }
    });
    problems.collect()
}

/// The parser's message without its list of every token that could have stood there, and in words of this program where
/// it is one of the common ones.
fn syntax_message(message: &str) -> String {
    let message = message.strip_prefix("Syntax error: ").unwrap_or(message);
    let message = message.split(" expecting ").next().unwrap_or(message);
    let common =
        ["token recognition error at: ", "mismatched input ", "extraneous input ", "no viable alternative at input "];
    match common.iter().find_map(|start| message.strip_prefix(start)).map(|quoted| quoted.trim_matches(['\'', ' '])) {
        Some("<EOF>") => "the expression ends too early".to_owned(),
        Some(token) if !token.is_empty() => format!("`{token}` can't stand here"),
        _ => format!("this is no expression: {message}"),
    }
}

/// The place of the character in a line and column, both counted from 1.
fn character_at(expression: &str, (line, column): (isize, isize)) -> Range<usize> {
    let before = |number: isize| usize::try_from(number - 1).unwrap_or(0);
    let line_start: usize = expression.split_inclusive('\n').take(before(line)).map(str::len).sum();
    let rest = &expression[line_start..];
    let mut characters = rest.char_indices().skip(before(column));
    let start = characters.next().map_or(rest.len(), |(offset, _)| offset);
    let end = characters.next().map_or(rest.len(), |(offset, _)| offset);
    line_start + start..line_start + end
}

#[cfg(test)]
mod tests;
