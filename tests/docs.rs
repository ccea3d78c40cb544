//! The README and the pages in `docs/` are run: every command is executed, every output is compared whole.
//!
//! A block of commands is marked as `console`, its commands start with `$ `. A file is a block whose info string names
//! it (`toml my-design.toml`). The output of a command alone, with a language of its own, follows a comment
//! `<!-- output of: handlecheck .. -->`; a file of this repository, `<!-- file: .. -->`. The blocks of one page share one folder, in their order.

mod common;

use std::fs;
use std::path::Path;

use common::{RENEW, Said, difference, files, handlecheck, read, renewing, root, same};

fn pages() -> Vec<String> {
    let pages = files("docs", ".md").into_iter().filter(|page| !page.starts_with("docs/reference/"));
    pages.chain(["README.md".to_owned()]).collect()
}

/// One line outside of blocks, or one block.
enum Part<'p> {
    Line(&'p str),
    Block { info: &'p str, body: Vec<&'p str> },
}

fn parts(page: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        match line.strip_prefix("```") {
            None => parts.push(Part::Line(line)),
            Some(info) => {
                let body = lines.by_ref().take_while(|line| *line != "```").collect();
                parts.push(Part::Block { info, body });
            }
        }
    }
    parts
}

/// The arguments of a command line of ours, however it is started.
fn arguments(line: &str) -> Vec<&str> {
    let starts = ["handlecheck ", "cargo run --release -- "];
    let rest = starts.iter().find_map(|start| line.strip_prefix(start));
    let rest = rest.unwrap_or_else(|| panic!("`{line}` is no command that this test can run"));
    assert!(!rest.contains(['"', '\'', '|', '>', ';', '&', '\\']), "`{line}` needs a shell");
    rest.split_whitespace().collect()
}

/// What a reader sees: the output, and what went to standard error when the command could not do its work. (Durations
/// go to standard error too, and differ.)
fn shown(said: &Said) -> String {
    if said.code == 2 { format!("{}{}", said.out, said.err) } else { said.out.clone() }
}

/// The page as it would be today.
fn run(path: &str, page: &str) -> String {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let mut text = String::new();
    let mut before = "";
    for part in parts(page) {
        match part {
            Part::Line(line) => {
                text.push_str(line);
                text.push('\n');
                if !line.is_empty() {
                    before = line;
                }
            }
            Part::Block { info, body } => {
                let comment = |what: &str| before.strip_prefix(what)?.strip_suffix(" -->");
                let output = comment("<!-- output of: ");
                let body = match (info.split_once(' ').unwrap_or((info, "")), output) {
                    _ if comment("<!-- file: ").is_some() => read(comment("<!-- file: ").unwrap_or_default()),
                    (_, Some(command)) => {
                        let said = handlecheck(folder.path(), &arguments(command));
                        assert_eq!((said.code, &*said.err), (0, ""), "{path}: {command}");
                        said.out
                    }
                    (("console", exits), None) => console(path, folder.path(), &body, exits),
                    (("toml" | "jsonl", name), None) if !name.is_empty() => {
                        let text = body.join("\n") + "\n";
                        fs::write(folder.path().join(name), &text).expect("a file can be written");
                        text
                    }
                    _ => body.iter().flat_map(|line| [line, "\n"]).collect(),
                };
                text.push_str(&format!("```{info}\n{body}```\n"));
                before = "";
            }
        }
    }
    text
}

/// A block of commands, each with its output. `exits=N` says how the last one exits; the others exit with 0.
fn console(path: &str, folder: &Path, body: &[&str], exits: &str) -> String {
    let commands: Vec<&str> = body.iter().filter_map(|line| line.strip_prefix("$ ")).collect();
    assert!(body.first().is_some_and(|line| line.starts_with("$ ")), "{path}: a block starts with a command: {body:?}");
    let mut text = String::new();
    for (number, command) in (1..).zip(&commands) {
        let said = handlecheck(folder, &arguments(command));
        let expected = if number == commands.len() { exits.strip_prefix("exits=").unwrap_or("0") } else { "0" };
        assert_eq!(said.code.to_string(), expected, "{path}: the exit code of `{command}`\n{}", said.err);
        text.push_str(&format!("$ {command}\n{}", shown(&said)));
        assert!(text.ends_with('\n'), "output ends with a newline");
    }
    text
}

#[test]
fn every_command_says_what_the_pages_say() {
    let mut stale = Vec::new();
    for path in pages() {
        let page = read(&path);
        let now = run(&path, &page);
        if renewing() && page != now {
            fs::write(root().join(&path), &now).expect("a file can be written");
        } else if let Some(difference) = difference(&page, &now) {
            stale.push(format!("{path}, {difference}"));
        }
    }
    assert!(stale.is_empty(), "{}\n{RENEW}", stale.join("\n"));
}

/// Commands and names of files in running text, too: what is said to be there is there.
#[test]
fn commands_and_files_that_are_mentioned_exist() {
    let help = handlecheck(&root(), &["--help"]).out;
    let mut wrong = Vec::new();
    for path in pages().into_iter().filter(|path| !path.starts_with("docs/decisions/")) {
        let page = read(&path);
        for line in parts(&page).into_iter().filter_map(|part| match part {
            Part::Line(line) => Some(line),
            Part::Block { .. } => None,
        }) {
            for code in line.split('`').skip(1).step_by(2) {
                if let Some(command) = code.strip_prefix("handlecheck ").and_then(|rest| rest.split(' ').next()) {
                    let known = help.lines().any(|line| line.split_whitespace().next() == Some(command));
                    if !known && !command.starts_with('-') {
                        wrong.push(format!("{path}: there is no command `{code}`"));
                    }
                }
                let folders = ["src/", "docs/", "tests/", "models/", "benches/", "traces/", ".ci/"];
                if folders.iter().any(|folder| code.starts_with(folder)) && !is_there(code) {
                    wrong.push(format!("{path}: there is no `{code}`"));
                }
            }
            for target in links(line).filter(|target| !target.contains("://") && !target.starts_with('#')) {
                // Behind the target may stand a title.
                let file = target.split(['#', ' ']).next().unwrap_or_default();
                let folder = root().join(&path);
                if !folder.parent().expect("a page is in a folder").join(file).exists() {
                    wrong.push(format!("{path}: the link to {target} leads nowhere"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Whether a path of the repository is there; a word in capitals or `*` stands for any name.
fn is_there(path: &str) -> bool {
    let fixed: Vec<&str> = path
        .split('/')
        .take_while(|part| !part.contains('*') && !part.contains(|c: char| c.is_ascii_uppercase()))
        .collect();
    root().join(fixed.join("/")).exists()
}

/// The targets of the links in a line.
fn links(line: &str) -> impl Iterator<Item = &str> {
    line.split("](").skip(1).filter_map(|rest| rest.split(')').next())
}

/// A block that shows our commands is one that is run.
#[test]
fn no_output_stands_in_a_block_that_is_not_run() {
    for path in pages() {
        let page = read(&path);
        for part in parts(&page) {
            if let Part::Block { info, body } = part {
                let runs = info.split(' ').next() == Some("console");
                let commands = body.iter().any(|line| line.starts_with("$ "));
                assert!(runs || !commands, "{path}: a block of commands is marked as `console`, not `{info}`");
            }
        }
    }
}

/// The pages as a book: `mdbook build docs` takes them in the order of `docs/SUMMARY.md`, and leaves out what is not there.
#[test]
fn the_book_has_every_page() {
    let title = |path: &str| {
        let page = read(path);
        page.lines().find_map(|line| line.strip_prefix("# ")).unwrap_or_else(|| panic!("{path} has a title")).to_owned()
    };
    let all: Vec<String> = files("docs", ".md").into_iter().filter(|path| path != "docs/SUMMARY.md").collect();
    let of = |folder: &str| {
        let here = all.iter().filter(|path| path.rsplit_once('/').is_some_and(|(parent, _)| parent == folder));
        let mut here: Vec<&String> = here.collect();
        here.sort_by_key(|path| !path.ends_with("/README.md"));
        let lines = here.iter().map(|path| format!("- [{}]({})\n", title(path), path.trim_start_matches("docs/")));
        lines.collect::<String>()
    };
    let mut summary = format!("# Summary\n\n{}", of("docs"));
    for (part, folder) in [("Reference", "reference"), ("Decisions", "decisions"), ("Gallery", "gallery")] {
        summary += &format!("\n# {part}\n\n{}", of(&format!("docs/{folder}")));
    }
    assert_eq!(summary.matches("](").count(), all.len(), "no page is in a folder that the book does not know");
    same("docs/SUMMARY.md", &summary);
}
