//! `audit`: a log of calls, judged by what it shows.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Instant;

use super::exploring::interrupts;
use super::values::bytes;
use super::{Failure, Terminal, exit};
use crate::audit::CHECKS;
use crate::audit::history::History;
use crate::audit::mapping::Mapping;
use crate::audit::picture::picture;
use crate::audit::report::audit;
use crate::model::Verdict;
use crate::reports::audit::{FORMATS, report};
use crate::suggest::did_you_mean;

#[derive(clap::Args)]
#[command(after_help = "\
A log is JSON Lines: `handlecheck schema log` prints the schema of a line. What a log can't show is not claimed: each check \
says on how many calls it could judge, and why not on the others. Exits with 1 when something is violated; with 3 when \
something could not be judged, a line could not be read, or a limit was hit; or else with 0.

How: Kingsbury and Alvaro, Elle: Inferring Isolation Anomalies from Experimental Observations, VLDB 2020. Names of \
anomalies: Adya, Weak Consistency, MIT 1999; Berenson et al., A Critique of ANSI SQL Isolation Levels, SIGMOD 1995.")]
pub(super) struct Arguments {
    /// The log; `-` is standard input
    log: PathBuf,
    /// Make this check only; may be given several times (`handlecheck list checks`)
    #[arg(long = "check", value_name = "NAME")]
    checks: Vec<String>,
    /// How to report: `human`, `json` or `markdown`
    #[arg(long, value_name = "FORMAT", default_value = "human", value_parser = FORMATS)]
    format: String,
    /// Which parts of the lines of a foreign log play which parts: a TOML file (docs/audit.md)
    #[arg(long, value_name = "FILE")]
    mapping: Option<PathBuf>,
    /// Draw a finding, in this format (`handlecheck list formats`), instead of the report
    #[arg(long, value_name = "FORMAT")]
    diagram: Option<String>,
    /// Which finding to draw, of those that are told, from 1
    #[arg(long, value_name = "N", default_value_t = 1, requires = "diagram")]
    finding: usize,
    /// Write to this file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Stop reading before the program takes more memory than this: `500MB`, `4GiB`
    #[arg(long, value_name = "SIZE", value_parser = bytes)]
    max_memory: Option<usize>,
    /// Exit with 4 if something is vacuous
    #[arg(long)]
    deny_vacuous: bool,
}

pub(super) fn run(arguments: &Arguments, terminal: Terminal, out: &mut String) -> Result<u8, Failure> {
    for name in &arguments.checks {
        if CHECKS.iter().all(|check| check.name != name) {
            let help = did_you_mean(name, CHECKS.iter().map(|check| check.name));
            let help = help.map_or_else(String::new, |help| format!("; {help}"));
            return Err(Failure::Usage(format!("there is no check `{name}`{help}")));
        }
    }
    let diagram = arguments.diagram.as_deref().map(super::diagram::format).transpose()?;
    let mapping = arguments.mapping.as_deref().map(read_mapping).transpose()?;
    let named = arguments.log.display().to_string().replace('\\', "/");
    if arguments.log.extension().is_some_and(|extension| extension == "toml") {
        let help = "a log of JSON Lines goes here, and a mapping behind `--mapping`";
        return Err(Failure::Usage(format!("{named} is TOML: {help}")));
    }
    let failed = |error: io::Error| Failure::Usage(format!("{named}: {error}"));
    let (name, log): (&str, Box<dyn BufRead>) = if named == "-" {
        ("standard input", Box::new(BufReader::new(io::stdin().lock())))
    } else {
        let file = File::open(&arguments.log).map_err(failed)?;
        if file.metadata().is_ok_and(|there| there.is_dir()) {
            return Err(Failure::Usage(format!("{named}: it is a folder")));
        }
        (&named, Box::new(BufReader::with_capacity(1 << 16, file)))
    };
    #[expect(clippy::disallowed_methods, reason = "durations are for people, never in a report")]
    let started = Instant::now();
    let interrupted = interrupts();
    let max_memory = arguments.max_memory;
    let mut stop = |lines: u64| {
        if interrupted.load(Ordering::Relaxed) {
            return Some(format!("it was interrupted after {lines} lines"));
        }
        let most = max_memory?;
        let over = memory_stats::memory_stats().is_some_and(|now| now.physical_mem > most);
        over.then(|| format!("the memory limit of {most} bytes was reached after {lines} lines"))
    };
    let history = History::read(log, mapping.as_ref(), &mut stop).map_err(failed)?;
    let found = audit(name, &history, &arguments.checks);
    match diagram {
        None => {
            let text = report(&arguments.format, &found, terminal.colour && arguments.output.is_none());
            match &arguments.output {
                Some(path) => super::writing::write_file(path, text)?,
                None => *out = text,
            }
        }
        Some(format) => {
            let mut findings = found.checks.iter().flat_map(|check| check.findings.iter().map(move |one| (check, one)));
            let Some((check, one)) = arguments.finding.checked_sub(1).and_then(|number| findings.nth(number)) else {
                let count: usize = found.checks.iter().map(|check| check.findings.len()).sum();
                return Err(Failure::Usage(format!(
                    "there is no finding {}: the report tells {count}",
                    arguments.finding
                )));
            };
            let trace = picture(&history, &found, check, one);
            super::diagram::draw(format, &trace, format.text(&trace), arguments.output.as_deref(), terminal, out)?;
        }
    }
    if !terminal.quiet {
        let seconds = started.elapsed().as_secs_f64();
        let _ = writeln!(io::stderr(), "{} calls, {seconds:.2} s", history.count());
    }
    let vacuous = found.checks.iter().any(|check| check.verdict == Verdict::Vacuous);
    Ok(match found.verdict() {
        Verdict::Violated => exit::VIOLATED,
        Verdict::Inconclusive => exit::INCONCLUSIVE,
        Verdict::Holds | Verdict::Vacuous if vacuous && arguments.deny_vacuous => exit::VACUOUS,
        Verdict::Holds | Verdict::Vacuous => exit::HOLDS,
    })
}

/// The largest mapping that is read.
const LARGEST_MAPPING: u64 = 1 << 20;

fn read_mapping(path: &Path) -> Result<Mapping, Failure> {
    let name = path.display().to_string().replace('\\', "/");
    let failed = |error: String| Failure::Usage(format!("{name}: {error}"));
    let size = std::fs::metadata(path).map_err(|error| failed(error.to_string()))?.len();
    if size > LARGEST_MAPPING {
        return Err(failed(format!("a mapping has at most {LARGEST_MAPPING} bytes, and this file has {size}")));
    }
    let text = std::fs::read_to_string(path).map_err(|error| failed(error.to_string()))?;
    Ok(Mapping::read(&name, &text)?)
}
