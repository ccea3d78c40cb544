//! `new`: a commented file to start from, which works at once and shows every word of the language.

use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::{ErrorKind, Write as _};

use super::{Failure, Terminal, exit};
use crate::faults::FAULTS;
use crate::handler::STEPS;
use crate::input::settings::{self, Choice, Setting, Takes};
use crate::input::{Kind, library};
use crate::model::protocol::DEFAULT_PROTOCOL;
use crate::model::{Told, Tool, Verdict, limits};
use crate::run::invariant_names;

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// What to write: `scenario` or `design`
    #[arg(value_name = "KIND", value_parser = KINDS)]
    kind: String,
    /// Its name: the file is `NAME.toml`, in the current folder
    name: String,
}

const KINDS: [&str; 2] = [Kind::Scenario.name(), Kind::Design.name()];

/// The most characters of a line.
const WIDTH: usize = 118;

pub(super) fn run(arguments: &Arguments, _: Terminal, out: &mut String) -> Result<u8, Failure> {
    let name = arguments.name.strip_suffix(".toml").unwrap_or(&arguments.name);
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if !name.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_') || !name.chars().all(plain) {
        let message = format!(
            "`{}` can't be the name of a file to start from: expected letters, digits, `-`, `_` and `.`, and no folder",
            arguments.name.escape_debug()
        );
        return Err(Failure::Usage(message));
    }
    let file = format!("{name}.toml");
    let (text, next) = if arguments.kind == Kind::Scenario.name() {
        (scenario(name), format!("handlecheck check {file} --design versioned"))
    } else {
        (design(name), format!("handlecheck check laptop-basket --design {file}"))
    };
    let failed = |error: std::io::Error| {
        Failure::Usage(match error.kind() {
            ErrorKind::AlreadyExists => format!("{file} is there already, and is left as it is: choose another name"),
            _ => format!("can't write {file}: {error}"),
        })
    };
    let mut new = OpenOptions::new().write(true).create_new(true).open(&file).map_err(failed)?;
    new.write_all(text.as_bytes()).map_err(failed)?;
    *out = format!("{file} is written. Try it:\n\n    {next}\n");
    Ok(exit::HOLDS)
}

/// A text that grows by lines.
#[derive(Default)]
struct Text(String);

impl Text {
    fn line(&mut self, line: &str) {
        writeln!(self.0, "{line}").expect("writing to a string doesn't fail");
    }

    /// Prose as a comment, in lines of a good length.
    fn comment(&mut self, prose: &str) {
        let options = textwrap::Options::new(WIDTH)
            .initial_indent("# ")
            .subsequent_indent("# ")
            .word_splitter(textwrap::WordSplitter::NoHyphenation)
            .word_separator(textwrap::WordSeparator::AsciiSpace)
            .wrap_algorithm(textwrap::WrapAlgorithm::FirstFit);
        for line in textwrap::wrap(prose, options) {
            self.line(&line);
        }
    }

    fn section(&mut self, header: &str) {
        self.line("");
        self.line(header);
    }

    /// Each name with what it means, as comments.
    fn list<N: AsRef<str>, A: AsRef<str>>(&mut self, things: &[(N, A)]) {
        let width = things.iter().map(|(name, _)| name.as_ref().len()).max().unwrap_or(0);
        for (name, about) in things {
            self.line(&format!("#   {:<width$}  {}", name.as_ref(), about.as_ref()));
        }
    }

    /// A setting: what it decides, its values, and a line that sets it; as a comment where it is left to its default.
    fn setting(&mut self, setting: &Setting, value: Option<&str>) {
        self.line("");
        let takes = match &setting.takes {
            Takes::Word(_) => " One of these:".to_owned(),
            Takes::Words(_) => " A list of any of these:".to_owned(),
            Takes::Boolean => " `false` or `true`.".to_owned(),
            Takes::Attempts => format!(" `\"unbounded\"`, or a bound from 1 to {}.", limits::ATTEMPTS),
            Takes::StoreError(..) => " One of the first two, and one of the last two:".to_owned(),
        };
        self.comment(&format!("{}{takes}", setting.about));
        let named = |choice: &Choice| (format!("\"{}\"", choice.name), choice.about);
        self.list(&setting.takes.choices().iter().map(named).collect::<Vec<_>>());
        if value.is_some() {
            self.comment(&format!("Default: {}", setting.default));
        }
        match value {
            Some(value) => self.line(&format!("{} = {value}", setting.name)),
            None => self.line(&format!("# {} = {}", setting.name, setting.default)),
        }
    }

    /// Settings, of which some are set.
    fn settings(&mut self, all: &[Setting], set: &[(&str, &str)]) {
        for setting in all {
            let value = set.iter().find(|(name, _)| *name == setting.name).map(|(_, value)| *value);
            self.setting(setting, value);
        }
    }

    /// `[expect]`, as comments.
    fn expect(&mut self, other: Kind, example: &str, verdict: Verdict) {
        self.line("");
        let verdicts = settings::VERDICTS.map(Verdict::name).map(|name| format!("\"{name}\"")).join(", ");
        self.comment(&format!(
            "What `handlecheck test` must find, for each {} by name: {verdicts}, or the shortest break as {{ steps = 12, \
             faults = 1 }}. What is not named must not be violated. The invariants: {}.",
            other.name(),
            invariant_names().join(", "),
        ));
        self.line(&format!("# [expect.{example}]"));
        self.line(&format!("# no-lost-update = \"{verdict}\""));
    }
}

fn words(names: impl IntoIterator<Item = &'static str>) -> String {
    names.into_iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ")
}

/// A scenario in which two agents of one principal change one resource.
fn scenario(name: &str) -> String {
    let mut text = Text::default();
    text.comment(
        "A scenario: who is there, what they want, what may go wrong, what must hold. What is not needed may go; what \
         is commented out shows what else there is.",
    );
    text.line("");
    text.line(&format!("title = \"{name}\""));
    text.line("# about = \"A few sentences.\"");
    text.line("");
    text.comment(&format!("Nodes behind the balancer: 1 to {}.", limits::NODES));
    text.line("nodes = 2");
    text.line("");
    text.comment(&format!(
        "What happens to calls, streams and ids: {}, or a path. Default: \"{DEFAULT_PROTOCOL}\"",
        words(library::names(Kind::Protocol))
    ));
    text.line(&format!("# protocol = \"{DEFAULT_PROTOCOL}\""));

    text.line("");
    text.comment(
        "What is there from the start. A principal is a string, or { subject = \"user-1\", client = \"app-1\", tenant = \
         \"acme\" }. A field is a whole number, a string or a list.",
    );
    text.line("[resources.item]");
    text.line("handle = \"item_1\"");
    text.line("owner = \"user-1\"");
    text.line("version = 1");
    text.line("fields = { color = \"grey\", size = 1, count = 0, rows = [] }");
    text.comment("Others who may use it, and whether it expires by itself one day:");
    text.line("# shared-with = [\"user-2\"]");
    text.line("# expires = false");
    text.comment(
        "Which of its fields came with a later schema (see `new-fields` of [server] and [client] in a design):",
    );
    text.line("# new-fields = [\"color\"]");

    text.line("");
    text.comment(
        "An agent of the owner knows the handle from the start. Its work is a list of entries, done in order:",
    );
    text.list(&[
        ("{ read = \"item\" }", "look at it"),
        ("{ set = \"item\", size = 2 }", "set fields"),
        ("{ append = \"item\", rows = \"a\" }", "append an element to a list"),
        ("{ increment = \"item\", count = 1 }", "add to a number"),
        ("{ mint = \"other\", size = 1 }", "make a resource that is in no table of [resources]"),
        ("{ mint = \"other\", handle = \"out\" }", "under a name that the client chooses"),
        ("{ close = \"item\" }", "end it; also `execute` and `delete`"),
        ("{ approve = \"item\" }", "approve what this agent's view shows"),
        ("{ hand-off = \"item\", to = [\"A\"], carries = [\"handle\"] }", "hand it on to other agents"),
    ]);
    text.comment(&format!(
        "A hand-off carries any of {}. An entry that changes something may say on what its plan rests: given = \
         [\"other\"]; under which condition it is done, judged on fields of that and of its own resource: if = \
         \"item.count < 10\"; and what the same call changes besides: also = {{ increment = \"other\", count = 1 }}.",
        words(settings::carried().iter().map(|choice| choice.name))
    ));
    text.line("[agents.planner]");
    text.line("principal = \"user-1\"");
    text.line("work = [{ hand-off = \"item\", to = [\"A\", \"B\"] }]");
    text.section("[agents.A]");
    text.comment("A subagent acts for its parent's principal, and knows what it was handed.");
    text.line("parent = \"planner\"");
    text.line("work = [{ read = \"item\" }, { set = \"item\", color = \"red\" }]");
    text.section("[agents.B]");
    text.line("parent = \"planner\"");
    text.line("work = [{ read = \"item\" }, { set = \"item\", size = 2 }]");
    text.line("");
    let client = settings::client();
    text.comment(&format!(
        "An agent may have a client of its own: {}, and what it does `on` each event. They go before those of the \
         design; `handlecheck new design NAME` shows them all.",
        client.iter().map(|setting| setting.name).collect::<Vec<_>>().join(", ")
    ));
    text.line("# [agents.B.client]");
    for setting in &client {
        text.line(&format!("# {} = {}", setting.name, setting.default));
    }

    text.line("");
    text.comment(&format!(
        "What may go wrong: at most so often in one run, at any point; up to {}. More faults mean many more states.",
        limits::BUDGET
    ));
    text.line("[faults]");
    let width = FAULTS.iter().map(|row| row.name.len()).max().unwrap_or(0);
    for row in FAULTS {
        let budget = u8::from(row.name == "drop-stream");
        let indent = if budget == 0 { "# " } else { "" };
        text.line(&format!("{:<1$} # {2}", format!("{indent}{} = 1", row.name), width + 6, row.summary()));
    }

    text.line("");
    text.comment("How nodes change over, where something is deployed (--deploy NEW): does each restart, and whose [client] do agents have?");
    text.line("# [deploy]");
    text.line("# restart = true");
    text.line("# clients = \"old\"");
    text.line("");
    text.comment(&format!(
        "Judged in every state in which nothing is left to do and everybody was told \"ok\". `item.size` is a field, \
         `item.version` the version (a `-` in a name is a `_` here), `told.A` the list of what agent A was told: {}.",
        words(Told::ALL.iter().map(|told| told.name()))
    ));
    text.line("[finally]");
    text.line("both-changes = \"item.color == 'red' && item.size == 2\"");
    text.line("");
    text.comment("Judged in every state in which nothing is left to do, whatever was told.");
    text.line("# [at-rest]");
    text.line("# somebody-succeeds = \"'ok' in told.A || 'ok' in told.B\"");
    text.line("");
    text.comment("Each of these must hold in some state that can be reached.");
    text.line("# [sometimes]");
    text.line("# second-change = \"item.version >= 3\"");
    text.expect(Kind::Design, "naive", Verdict::Violated);
    text.0
}

/// A design that checks versions and keys.
fn design(name: &str) -> String {
    let mut text = Text::default();
    text.comment(
        "A design: how a server handles calls, and how its clients behave. What is commented out is the default, and \
         shows what else there is.",
    );
    text.line("");
    text.line(&format!("title = \"{name}\""));
    text.line("# about = \"A few sentences.\"");
    text.section("[server]");
    text.settings(&settings::server(), &[]);

    text.line("");
    text.comment(&format!(
        "Handlers. Everything in one inner list happens atomically; between two inner lists anything may happen. A tool \
         without a table of its own is served by `write`, all but `read`. The tools: {}. `at-end` lists transactions \
         that run before the answer leaves, whatever the outcome. The steps:",
        Tool::ALL.iter().map(|tool| tool.name()).collect::<Vec<_>>().join(", ")
    ));
    text.list(&STEPS.iter().map(|row| (row.name, row.summary())).collect::<Vec<_>>());
    text.line("[server.read]");
    text.line("transactions = [[\"resolve\", \"authorize\", \"check-live\", \"read\"]]");
    text.section("[server.write]");
    text.line("transactions = [");
    text.line(
        "    [\"resolve\", \"authorize\", \"find-key\", \"check-live\", \"check-open\", \"check-version\", \"apply\", \"record-key\"],",
    );
    text.line("]");
    text.line("# at-end = [[\"release-key\"]]");
    text.section("[server.mint]");
    text.line("transactions = [[\"find-key\", \"mint\", \"record-key\"]]");

    text.line("");
    text.comment("The table of keys, by which a repeated call is recognised.");
    text.line("[server.keys]");
    text.settings(&settings::keys(), &[]);

    text.line("");
    text.comment(
        "The client's harness. Each setting may also stand in [client.TOOL], for one tool, and a scenario may give an \
         agent its own.",
    );
    text.line("[client]");
    text.settings(&settings::client(), &[("precondition", "\"viewed-version\""), ("key", "\"per-intent\"")]);

    text.line("");
    text.comment(&format!(
        "What it does with each event: {{ send = .. }} with one of {}, or {{ tell = .. }} with one of {}. `key = \
         \"same\"` or `\"new\"` says whether the key changes. A replan may have a condition: {{ send = \"replan\", if = \
         \"disjoint\", else = {{ tell = \"conflict\" }} }}; the conditions:",
        words(settings::SEND),
        words(Told::ALL.iter().map(|told| told.name()))
    ));
    let conditions: Vec<_> =
        settings::conditions().iter().map(|choice| (format!("\"{}\"", choice.name), choice.about)).collect();
    text.list(&conditions);
    text.line("[client.on]");
    for (event, reaction) in settings::default_reactions() {
        match event {
            "stale-view" => text.line(&format!("{event} = {{ send = \"replan\" }}")),
            _ => text.line(&format!("# {event} = {reaction}")),
        }
    }
    text.expect(Kind::Scenario, "laptop-basket", Verdict::Holds);
    text.0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is commented out works too, once it is no comment.
    #[test]
    fn every_word_of_the_language_is_shown() {
        let (scenario, design) = (scenario("x"), design("x"));
        let shows = |text: &str, word: &str| assert!(text.contains(word), "{word} is not in:\n{text}");
        for verb in settings::VERBS {
            shows(&scenario, &verb.replace("execute", "`execute`").replace("delete", "`delete`"));
        }
        FAULTS.iter().for_each(|row| shows(&scenario, &format!("{} = 1", row.name)));
        STEPS.iter().for_each(|row| shows(&design, &format!("#   {} ", row.name)));
        Tool::ALL.iter().for_each(|tool| shows(&design, tool.name()));
        for setting in [settings::server(), settings::keys(), settings::client()].concat() {
            shows(&design, &format!("{} = ", setting.name));
            setting.takes.choices().iter().for_each(|choice| shows(&design, &format!("\"{}\"", choice.name)));
        }
        settings::default_reactions().iter().for_each(|(event, _)| shows(&design, &format!("{event} = ")));
    }

    #[test]
    fn lines_are_not_too_long() {
        for line in [scenario("x"), design("x")].iter().flat_map(|text| text.lines()) {
            assert!(line.chars().count() <= 120, "{line}");
        }
    }
}
