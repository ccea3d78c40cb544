//! `docs`: are the verdicts, traces and pictures of documents still what the models say?

use std::fs;
use std::path::{Path, PathBuf};

use super::{Failure, Terminal, exit, writing};
use crate::documents::{Answers, Asked, Held, Question, Unanswered, asked, renewed};
use crate::input::InputError;
use crate::run::Options;

#[derive(clap::Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(clap::Subcommand)]
enum Action {
    /// Fail when a block or a picture of a document is no longer what the models say
    Check(Where),
    /// Renew every block and picture that is no longer what the models say
    Update(Where),
}

#[derive(clap::Args)]
#[command(after_help = "\
A fenced block is renewed whose info string is `handlecheck QUESTION`, or a language and then that (`mermaid handlecheck \
diagram ..`); an image, whose title is `handlecheck QUESTION`. A QUESTION is `verdicts SCENARIO DESIGN`, `explain SCENARIO \
DESIGN INVARIANT`, `diagram SCENARIO DESIGN INVARIANT [FORMAT]` or `patch DESIGN DESIGN`, and then FAULT=N and \
protocol=NAME as needed; names are looked up beside the document, and then among the shipped ones.")]
struct Where {
    /// Documents, or folders of them; by default the current one
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Give up on a model after so many states
    #[arg(long, value_name = "N", value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(1..))]
    max_states: Option<usize>,
}

pub(super) fn run(arguments: &Arguments, terminal: Terminal, out: &mut String) -> Result<u8, Failure> {
    let (places, update) = match &arguments.action {
        Action::Check(places) => (places, false),
        Action::Update(places) => (places, true),
    };
    let default = [PathBuf::from(".")];
    let paths = if places.paths.is_empty() { &default[..] } else { &places.paths };
    let mut files = Vec::new();
    for path in paths {
        documents(path, &mut files, true)?;
    }
    files.sort();
    files.dedup();
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get);
    let options = Options { max_states: places.max_states, threads, ..Options::default() };
    let mut answers = Answers::default();
    let (mut all, mut stale, mut wrong) = (0, 0, Vec::new());
    for file in &files {
        let text = fs::read_to_string(file).map_err(|error| unreadable(file, &error))?;
        let page = Page { file, text: &text, options: &options };
        let found = asked(&text);
        all += found.len();
        let mut blocks = Vec::new();
        let mut problems = Vec::new();
        for asked in &found {
            match page.differs(&mut answers, asked)? {
                Standing::True => {}
                Standing::Wrong(error) => wrong.push(error),
                Standing::Stale { new, why } => {
                    stale += 1;
                    match (&asked.held, update) {
                        (_, false) => problems.push((asked.place.clone(), why, None)),
                        (Held::Image { path }, true) => writing::write_file(&page.beside(path), new)?,
                        (Held::Block { .. }, true) => blocks.push((asked, String::from_utf8_lossy(&new).into_owned())),
                    }
                }
            }
        }
        if !problems.is_empty() {
            let name = file.display().to_string();
            out.push_str(&InputError::of_text(&name, &text, problems).render(terminal.look));
        }
        if !blocks.is_empty() {
            writing::write_file(file, renewed(&text, &blocks))?;
        }
    }
    if let Some(first) = wrong.into_iter().reduce(|mut all: InputError, more| {
        all.diagnostics.extend(more.diagnostics);
        all
    }) {
        return Err(Failure::Input(first));
    }
    let things = format!("{all} blocks and pictures in {} documents", files.len());
    out.push_str(&match (stale, update) {
        (0, _) => format!("{things}: all true\n"),
        (some, true) => format!("{things}: {some} renewed\n"),
        (some, false) => format!("{things}: {some} no longer true; `handlecheck docs update` renews them\n"),
    });
    Ok(if stale > 0 && !update { exit::VIOLATED } else { exit::HOLDS })
}

/// How a block or picture stands to what the model says.
enum Standing {
    True,
    Stale { new: Vec<u8>, why: String },
    Wrong(InputError),
}

struct Page<'p> {
    file: &'p Path,
    text: &'p str,
    options: &'p Options,
}

impl Page<'_> {
    fn folder(&self) -> &Path {
        self.file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."))
    }

    fn beside(&self, path: &str) -> PathBuf {
        self.folder().join(path)
    }

    fn wrong(&self, asked: &Asked, place: std::ops::Range<usize>, message: String, help: Option<String>) -> Standing {
        let place = asked.place.start + place.start..asked.place.start + place.end;
        let name = self.file.display().to_string();
        Standing::Wrong(InputError::of_text(&name, self.text, [(place, message, help)]))
    }

    /// The path of an image stands before its title.
    fn wrong_path(&self, asked: &Asked, path: &str, message: String, help: Option<String>) -> Standing {
        let before = self.text.get(..asked.place.start).unwrap_or_default();
        let Some(start) = before.rfind(path) else { return self.wrong(asked, 0..asked.question.len(), message, help) };
        let name = self.file.display().to_string();
        Standing::Wrong(InputError::of_text(&name, self.text, [(start..start + path.len(), message, help)]))
    }

    fn differs(&self, answers: &mut Answers, asked: &Asked) -> Result<Standing, Failure> {
        let format = match &asked.held {
            Held::Block { .. } => "text",
            Held::Image { path } => Path::new(path).extension().and_then(|end| end.to_str()).unwrap_or("svg"),
        };
        let whole = 0..asked.question.len();
        let question = match Question::read(&asked.question, format) {
            Ok(question) => question,
            Err((place, message, help)) => {
                return Ok(match &asked.held {
                    // The format of a picture is said by its file.
                    Held::Image { path } if place == whole && message.starts_with("there is no format") => {
                        self.wrong_path(asked, path, message, help)
                    }
                    _ => self.wrong(asked, place, message, help),
                });
            }
        };
        let new = match answers.answer(&question, self.folder(), self.options) {
            Ok(new) => new,
            Err(Unanswered::Record(error)) => return Err(error.into()),
            Err(Unanswered::Word(word, message, help)) => {
                let at = asked.question.rfind(&word).map_or(whole, |at| at..at + word.len());
                return Ok(self.wrong(asked, at, message, help));
            }
            Err(Unanswered::Input(error)) => {
                let first = error.diagnostics.first();
                let message = first.map_or_else(String::new, |first| first.message.clone());
                // What is wrong with a file is shown there; what is not there, where it was asked for.
                if first.is_some_and(|first| first.place.is_some()) {
                    return Ok(Standing::Wrong(error));
                }
                let help = first.and_then(|first| first.help.clone());
                let place = named_in(&asked.question, &message).unwrap_or(whole);
                return Ok(self.wrong(asked, place, message, help));
            }
        };
        match &asked.held {
            Held::Block { closed: false, .. } => {
                Ok(self.wrong(asked, whole, "the block is not closed by a line of its own".to_owned(), None))
            }
            Held::Block { text, .. } => {
                let new = String::from_utf8_lossy(&new).into_owned();
                let trimmed =
                    |text: &str| -> Vec<String> { text.lines().map(|line| line.trim_end().to_owned()).collect() };
                let (old, now) = (trimmed(text), trimmed(&new));
                if old == now {
                    return Ok(Standing::True);
                }
                let line = old.iter().zip(&now).position(|(old, now)| old != now).unwrap_or(old.len().min(now.len()));
                let says = |lines: &[String]| {
                    lines.get(line).map_or("nothing".to_owned(), |line| format!("`{}`", line.trim()))
                };
                let why = format!(
                    "no longer what the model says: line {} of the block is {}, and should be {}",
                    line + 1,
                    says(&old),
                    says(&now)
                );
                Ok(Standing::Stale { new: new.into_bytes(), why })
            }
            Held::Image { path } => Ok(match fs::read(self.beside(path)) {
                Ok(old) if old == new => Standing::True,
                Ok(_) => Standing::Stale { new, why: format!("{path} is no longer what the model says") },
                Err(_) => Standing::Stale { new, why: format!("{path} is not there") },
            }),
        }
    }
}

/// Where the word of a question stands that a message names.
fn named_in(question: &str, message: &str) -> Option<std::ops::Range<usize>> {
    let named = message.split('`').nth(1)?;
    let mut words = question.split_whitespace().map(|word| (word.as_ptr() as usize - question.as_ptr() as usize, word));
    words.find_map(|(at, word)| {
        // Of two names as `OLD..NEW`, the one that is meant.
        let inside = word.find(named).filter(|_| word == named || word.contains(".."))?;
        Some(at + inside..at + inside + named.len())
    })
}

fn unreadable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::Usage(format!("can't read {}: {error}", path.display()))
}

/// The Markdown files of a path; hidden folders and what cargo builds are left out.
fn documents(path: &Path, files: &mut Vec<PathBuf>, named: bool) -> Result<(), Failure> {
    if !path.is_dir() {
        let markdown = path.extension().is_some_and(|end| end == "md" || end == "markdown");
        if named && !markdown && path.is_file() {
            let why = "a document is a Markdown file, and ends in .md or .markdown";
            return Err(Failure::Usage(format!("`{}` is no document: {why}", path.display())));
        }
        if named || markdown {
            files.push(path.to_owned());
        }
        return Ok(());
    }
    for entry in fs::read_dir(path).map_err(|error| unreadable(path, &error))? {
        let path = entry.map_err(|error| unreadable(path, &error))?.path();
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        if !name.starts_with('.') && name != "target" && !path.is_symlink() {
            documents(&path, files, false)?;
        }
    }
    Ok(())
}
