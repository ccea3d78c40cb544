//! Finds wrong names and types in every branch of an expression.

use std::ops::Range;

use cel::common::ast::{CallExpr, ComprehensionExpr, Expr, LiteralValue, SelectExpr, operators};
use cel::{IdedExpr, Program};

use super::{DEPTH, Names, Problem};
use crate::model::{Told, Value};
use crate::suggest::{did_you_mean, one_of};

/// Macros that go through lists, one inside the other: each multiplies the work of an evaluation by the length of its
/// list.
pub(super) const NESTING: usize = 3;

const FUNCTIONS: [&str; 7] = ["size", "contains", "startsWith", "endsWith", "matches", "int", "string"];
const MACROS: [&str; 6] =
    [operators::HAS, operators::ALL, operators::EXISTS, operators::EXISTS_ONE, operators::MAP, operators::FILTER];

/// What is known about the value of an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Type {
    Number,
    Text,
    /// A text that is one of the words of [`Told`].
    Told,
    Truth,
    List(Box<Type>),
    /// Anything: nothing is said about it.
    Any,
}

impl Type {
    fn of(value: &Value) -> Self {
        match value {
            Value::Number(_) => Self::Number,
            Value::Text(_) => Self::Text,
            // What will be appended can be of another type.
            Value::List(_) => Self::List(Box::new(Self::Any)),
        }
    }

    fn is(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Any, _) | (_, Self::Any) | (Self::Text, Self::Told) | (Self::Told, Self::Text) => true,
            (Self::List(one), Self::List(other)) => one.is(other),
            _ => self == other,
        }
    }

    const fn name(&self) -> &'static str {
        match self {
            Self::Number => "a number",
            Self::Text | Self::Told => "a string",
            Self::Truth => "true or false",
            Self::List(_) => "a list",
            Self::Any => "anything",
        }
    }
}

/// Checks a program that was compiled from `expression`.
pub(super) fn check(program: &Program, expression: &str, names: &Names) -> Result<(), Vec<Problem>> {
    let mut check = Check { program, expression, names, variables: Vec::new(), nesting: 0, problems: Vec::new() };
    if depth(program.expression()) > DEPTH {
        let message = format!("this expression has more than {DEPTH} levels");
        let help = Some("split it into several assertions".to_owned());
        return Err(vec![Problem { range: 0..expression.len(), message, help }]);
    }
    let found = check.infer(program.expression());
    if !found.is(&Type::Truth) {
        let message = format!("{} is true or false, and this is {}", names.kind(), found.name());
        check.problems.push(Problem { range: 0..expression.len(), message, help: None });
    }
    let mut problems = check.problems;
    problems.sort_by_key(|problem| problem.range.start);
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}

fn depth(expression: &IdedExpr) -> usize {
    1 + children(&expression.expr).into_iter().map(depth).max().unwrap_or(0)
}

fn children(expression: &Expr) -> Vec<&IdedExpr> {
    match expression {
        Expr::Call(call) => call.target.as_deref().into_iter().chain(&call.args).collect(),
        Expr::Comprehension(through) => {
            let ComprehensionExpr { iter_range, accu_init, loop_cond, loop_step, result, .. } = &**through;
            vec![iter_range, accu_init, loop_cond, loop_step, result]
        }
        Expr::List(list) => list.elements.iter().collect(),
        Expr::Select(select) => vec![&select.operand],
        // Map and struct literals are refused whatever is in them.
        Expr::Unspecified | Expr::Ident(_) | Expr::Literal(_) | Expr::Map(_) | Expr::Struct(_) => Vec::new(),
    }
}

struct Check<'a> {
    program: &'a Program,
    expression: &'a str,
    names: &'a Names,
    /// Variables of the macros around, the innermost last.
    variables: Vec<(String, Type)>,
    nesting: usize,
    problems: Vec<Problem>,
}

impl Check<'_> {
    /// Reports a problem. What it is about has an unknown type, so that one mistake is reported once.
    fn problem(&mut self, range: Range<usize>, message: String, help: Option<String>) -> Type {
        self.problems.push(Problem { range, message, help });
        Type::Any
    }

    fn infer(&mut self, expression: &IdedExpr) -> Type {
        match &expression.expr {
            Expr::Literal(literal) => match literal {
                LiteralValue::Boolean(_) => Type::Truth,
                LiteralValue::Double(_) | LiteralValue::Int(_) | LiteralValue::UInt(_) => Type::Number,
                LiteralValue::String(_) => Type::Text,
                LiteralValue::Bytes(_) | LiteralValue::Null => {
                    let message = "nothing in a scenario has such a value".to_owned();
                    self.problem(self.token(expression), message, None)
                }
            },
            Expr::Ident(name) => self.identifier(expression, name),
            Expr::Select(select) => {
                let found = self.select(expression, select);
                if select.test { Type::Truth } else { found }
            }
            Expr::Call(call) => self.call(expression, call),
            Expr::Comprehension(through) => self.comprehension(expression, through),
            Expr::List(list) => {
                let types: Vec<Type> = list.elements.iter().map(|element| self.infer(element)).collect();
                let element = match types.split_first() {
                    Some((first, rest)) if rest.iter().all(|next| next == first) => first.clone(),
                    _ => Type::Any,
                };
                Type::List(Box::new(element))
            }
            Expr::Map(_) | Expr::Struct(_) | Expr::Unspecified => {
                let message = "an assertion has numbers, strings and lists, and nothing made of fields".to_owned();
                self.problem(self.token(expression), message, None)
            }
        }
    }

    fn identifier(&mut self, expression: &IdedExpr, name: &str) -> Type {
        if let Some((_, found)) = self.variables.iter().rev().find(|(variable, _)| variable == name) {
            return found.clone();
        }
        let range = self.token(expression);
        if name == "told" && !self.names.of_condition {
            let help = self.names.agents.first().map(|(agent, _)| format!("for example `told.{agent}`"));
            return self.problem(range, "`told` is what all agents were told: name one of them".to_owned(), help);
        }
        if let Some((_, fields)) = self.names.resources.iter().find(|(resource, _)| resource == name) {
            let field = fields.first().map_or("version", |(field, _)| field.as_str());
            let help = Some(format!("for example `{name}.{field}`"));
            return self.problem(range, format!("`{name}` is a whole resource: name one of its fields"), help);
        }
        self.unknown_resource(range, name)
    }

    fn unknown_resource(&mut self, range: Range<usize>, name: &str) -> Type {
        let resources = self.names.resources.iter().map(|(resource, _)| resource.as_str());
        let known: Vec<&str> = resources.chain((!self.names.of_condition).then_some("told")).collect();
        let help = self.dashed(&range, &known).or_else(|| did_you_mean(name, known.iter().copied()));
        let help = help.unwrap_or_else(|| match (self.names.of_condition, known.is_empty()) {
            (false, _) => format!("an assertion can name {}", one_of(known)),
            (true, true) => "a condition can name what the entry is `given`, and it is given nothing".to_owned(),
            (true, false) => format!("a condition can name {}: what the entry changes, or is `given`", one_of(known)),
        });
        self.problem(range, format!("unknown name `{name}`"), Some(help))
    }

    fn select(&mut self, expression: &IdedExpr, select: &SelectExpr) -> Type {
        let range = self.field(expression, &select.field);
        if let Expr::Ident(name) = &select.operand.expr
            && !self.variables.iter().any(|(variable, _)| variable == name)
        {
            return self.member(&select.operand, name, &select.field, range);
        }
        if self.infer(&select.operand) == Type::Any && !self.problems.is_empty() {
            return Type::Any;
        }
        self.problem(range, "only resources and `told` are followed by a name".to_owned(), None)
    }

    /// Help for a name that is written with the `-` that it has in the scenario, which CEL takes for a minus.
    fn dashed(&self, range: &Range<usize>, known: &[&str]) -> Option<String> {
        let rest = &self.expression[range.start..];
        let meant = known.iter().find(|name| name.contains('_') && rest.starts_with(&name.replace('_', "-")))?;
        Some(format!("in assertions a `-` is written `_`: `{meant}`"))
    }

    /// `name.member`, where `name` is no variable of a macro.
    fn member(&mut self, owner: &IdedExpr, name: &str, member: &str, range: Range<usize>) -> Type {
        let names = self.names;
        if name == "told" && !names.of_condition {
            if names.agents.iter().any(|(agent, _)| agent == member) {
                return Type::List(Box::new(Type::Told));
            }
            let agents: Vec<&str> = names.agents.iter().map(|(agent, _)| agent.as_str()).collect();
            let help = self.dashed(&range, &agents).or_else(|| did_you_mean(member, agents.iter().copied()));
            let help = help.unwrap_or_else(|| format!("expected {}", one_of(agents)));
            return self.problem(range, format!("unknown agent `{member}`"), Some(help));
        }
        let Some((_, fields)) = names.resources.iter().find(|(resource, _)| resource == name) else {
            return self.unknown_resource(self.token(owner), name);
        };
        if member == "version" && names.of_condition {
            let help = Some("`check-version` compares versions".to_owned());
            return self.problem(range, "a condition is judged on fields, and a version is none".to_owned(), help);
        }
        if member == "version" {
            return Type::Number;
        }
        if let Some((_, value)) = fields.iter().find(|(field, _)| field == member) {
            return Type::of(value);
        }
        let version = (!names.of_condition).then_some("version");
        let known: Vec<&str> = fields.iter().map(|(field, _)| field.as_str()).chain(version).collect();
        let help = self.dashed(&range, &known).or_else(|| did_you_mean(member, known.iter().copied()));
        let help = help.unwrap_or_else(|| format!("expected {}", one_of(known)));
        self.problem(range, format!("unknown field of `{name}` `{member}`"), Some(help))
    }

    fn comprehension(&mut self, expression: &IdedExpr, through: &ComprehensionExpr) -> Type {
        let element = match self.infer(&through.iter_range) {
            Type::List(element) => *element,
            Type::Any => Type::Any,
            other => {
                let message = format!("only a list can be gone through, and this is {}", other.name());
                self.problem(self.token(expression), message, None)
            }
        };
        self.nesting += 1;
        if self.nesting == NESTING + 1 {
            let message = format!("no more than {NESTING} lists can be gone through inside each other");
            self.problem(self.token(expression), message, None);
        }
        let outside = self.variables.len();
        let start = match self.infer(&through.accu_init) {
            // `map` and `filter` start with an empty list, of which nothing is known yet.
            Type::List(_) => Type::List(Box::new(Type::Any)),
            other => other,
        };
        self.variables.push((through.accu_var.clone(), start));
        self.variables.push((through.iter_var.clone(), element));
        if let Some(second) = &through.iter_var2 {
            self.variables.push((second.clone(), Type::Any));
        }
        self.infer(&through.loop_cond);
        self.infer(&through.loop_step);
        self.variables.truncate(outside + 1);
        let result = self.infer(&through.result);
        self.variables.truncate(outside);
        self.nesting -= 1;
        result
    }

    fn call(&mut self, expression: &IdedExpr, call: &CallExpr) -> Type {
        let operands: Vec<&IdedExpr> = call.target.as_deref().into_iter().chain(&call.args).collect();
        let name = call.func_name.as_str();
        // A resource's member can also be reached by an index.
        if let (operators::INDEX, [owner, index]) = (name, &operands[..])
            && let (Expr::Ident(resource), Expr::Literal(LiteralValue::String(member))) = (&owner.expr, &index.expr)
            && !self.variables.iter().any(|(variable, _)| variable == resource)
        {
            return self.member(owner, resource, member.inner(), self.token(index));
        }
        let types: Vec<Type> = operands.iter().map(|operand| self.infer(operand)).collect();
        let range = self.token(expression);
        match (name, &types[..]) {
            (
                operators::LOGICAL_AND | operators::LOGICAL_OR | operators::LOGICAL_NOT | operators::NOT_STRICTLY_FALSE,
                _,
            ) => self.all(&types, &Type::Truth, &range),
            (operators::CONDITIONAL, [condition, then, otherwise]) => {
                self.all(std::slice::from_ref(condition), &Type::Truth, &range);
                if then.is(otherwise) { then.clone() } else { Type::Any }
            }
            (operators::EQUALS | operators::NOT_EQUALS, [left, right]) => {
                if left.is(right) {
                    self.told_words(left, operands[1]);
                    self.told_words(right, operands[0]);
                } else {
                    let message = format!("{} never equals {}", left.name(), right.name());
                    self.problem(range, message, None);
                }
                Type::Truth
            }
            (operators::IN, [left, right]) => {
                match right {
                    Type::List(element) if left.is(element) => self.told_words(element, operands[0]),
                    Type::List(_) => {
                        let message = format!("{} is never in this list", left.name());
                        self.problem(range, message, None);
                    }
                    Type::Any => {}
                    other => {
                        self.problem(range, format!("`in` looks into lists, and this is {}", other.name()), None);
                    }
                }
                Type::Truth
            }
            (operators::LESS | operators::LESS_EQUALS | operators::GREATER | operators::GREATER_EQUALS, _) => {
                let kind = if types.iter().all(|found| found.is(&Type::Text)) { Type::Text } else { Type::Number };
                self.all(&types, &kind, &range);
                Type::Truth
            }
            (operators::ADD, [left, right]) => match left {
                Type::List(_) if left.is(right) => left.clone(),
                Type::List(_) if matches!(right, Type::List(_)) => Type::List(Box::new(Type::Any)),
                Type::Text | Type::Told if right.is(&Type::Text) => Type::Text,
                Type::Any => right.clone(),
                _ => self.all(&types, &Type::Number, &range),
            },
            (
                operators::SUBSTRACT | operators::MULTIPLY | operators::DIVIDE | operators::MODULO | operators::NEGATE,
                _,
            ) => self.all(&types, &Type::Number, &range),
            (operators::INDEX, [list, index]) => {
                self.all(std::slice::from_ref(index), &Type::Number, &range);
                match list {
                    Type::List(element) => (**element).clone(),
                    Type::Any => Type::Any,
                    other => {
                        self.problem(range, format!("only a list has an index, and this is {}", other.name()), None)
                    }
                }
            }
            _ => self.function(expression, name, &types),
        }
    }

    fn function(&mut self, expression: &IdedExpr, name: &str, types: &[Type]) -> Type {
        let range = self.function_name(expression, name);
        match (name, types) {
            ("size", [Type::List(_) | Type::Text | Type::Told | Type::Any])
            | ("int", [Type::Number | Type::Text | Type::Told | Type::Any]) => Type::Number,
            ("string", [Type::Number | Type::Text | Type::Told | Type::Truth | Type::Any]) => Type::Text,
            ("contains" | "startsWith" | "endsWith" | "matches", [_, _]) => {
                self.all(types, &Type::Text, &range);
                Type::Truth
            }
            _ if FUNCTIONS.contains(&name) || MACROS.contains(&name) => {
                self.problem(range, format!("`{name}` is not used like this"), None)
            }
            _ => {
                let known: Vec<&str> = FUNCTIONS.into_iter().chain(MACROS).collect();
                let help = did_you_mean(name, known.iter().copied());
                let help = help.unwrap_or_else(|| format!("expected {}", one_of(known)));
                self.problem(range, format!("unknown function `{name}`"), Some(help))
            }
        }
    }

    /// Reports operands of another type than `expected`.
    fn all(&mut self, types: &[Type], expected: &Type, range: &Range<usize>) -> Type {
        for found in types {
            if !found.is(expected) {
                let message = format!("this needs {}, and has {}", expected.name(), found.name());
                self.problem(range.clone(), message, None);
            }
        }
        expected.clone()
    }

    /// Reports literal strings that are compared with what an agent was told and that no agent is ever told.
    fn told_words(&mut self, compared_with: &Type, operand: &IdedExpr) {
        match (compared_with, &operand.expr) {
            (Type::Told, Expr::Literal(LiteralValue::String(word))) if Told::named(word.inner()).is_none() => {
                let words: Vec<&str> = Told::ALL.iter().map(|told| told.name()).collect();
                let help = did_you_mean(word.inner(), words.iter().copied());
                let help = help.unwrap_or_else(|| format!("expected {}", one_of(words)));
                let message = format!("no agent is ever told `{}`", word.inner());
                self.problem(self.token(operand), message, Some(help));
            }
            (Type::List(element), Expr::List(list)) => {
                for operand in &list.elements {
                    self.told_words(element, operand);
                }
            }
            _ => {}
        }
    }

    /// The token that the parser takes for the place of a part: for an operator the operator, for a call its bracket.
    fn token(&self, part: &IdedExpr) -> Range<usize> {
        let found =
            self.program.source_info().offset_for(part.id).map(|(start, stop)| start as usize..stop as usize + 1);
        found.filter(|range| self.expression.get(range.clone()).is_some()).unwrap_or(0..self.expression.len())
    }

    /// The place of the field behind the point of a selection.
    fn field(&self, selection: &IdedExpr, field: &str) -> Range<usize> {
        let token = self.token(selection);
        match self.expression[token.start..].find(field) {
            Some(offset) => token.start + offset..token.start + offset + field.len(),
            None => token,
        }
    }

    /// The place of the name before the bracket of a call.
    fn function_name(&self, call: &IdedExpr, name: &str) -> Range<usize> {
        let token = self.token(call);
        match self.expression[..token.start].trim_end().strip_suffix(name) {
            Some(before) => before.len()..before.len() + name.len(),
            None => token,
        }
    }
}
