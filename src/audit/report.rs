//! What came out of an audit, as every report tells it.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};

use super::case::{Case, Finding, Judged};
use super::checks::CHECKS;
use super::history::History;
use super::mapping::Unreached;
use crate::model::Verdict;

/// What came out.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Report {
    /// What the log is called.
    pub log: String,
    /// How many lines it has.
    pub lines: u64,
    /// How many calls.
    pub calls: usize,
    /// How many resources.
    pub resources: usize,
    /// How many lines a mapping leaves out.
    pub left_out: u64,
    /// How many lines could not be read.
    pub malformed: u64,
    /// The first of them: line, and what is wrong.
    pub mistakes: Vec<Malformed>,
    /// What may have been meant otherwise: there is no call in it, or a part of the mapping leads nowhere.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// Why it was not read to its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stopped: Option<String>,
    /// One for each check.
    pub checks: Vec<Checked>,
}

/// A line that could not be read.
#[derive(Clone, Debug, Serialize)]
pub struct Malformed {
    /// Its number, from 1.
    pub line: u64,
    /// What is wrong with it.
    pub what: String,
}

/// What came out for one check.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Checked {
    /// Its name.
    pub name: &'static str,
    /// What must hold.
    pub sentence: &'static str,
    /// The verdict.
    #[serde(serialize_with = "named")]
    pub verdict: Verdict,
    /// How many calls it is about.
    pub about: u64,
    /// How many of these it could judge.
    pub judged: u64,
    /// Why it could not judge the others, and how many.
    pub unjudged: BTreeMap<&'static str, u64>,
    /// How many violations there are.
    pub violations: u64,
    /// The standard name of what violates it, with a reference.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub anomaly: Option<&'static str>,
    /// The first violations.
    pub findings: Vec<Found>,
}

/// One violation.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Found {
    /// What happened, in one sentence without its full stop.
    pub sentence: String,
    /// The standard name of the anomaly.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub anomaly: Option<&'static str>,
    /// The calls that show it, as the log names them.
    pub calls: Vec<String>,
    /// The lines that show it.
    pub lines: Vec<u64>,
    /// For a cycle: a sentence an edge.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cycle: Vec<String>,
    /// What it was made of.
    #[serde(skip)]
    pub finding: Finding,
}

fn named<S: Serializer>(verdict: &Verdict, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(verdict.name())
}

/// Checks a log; only these checks, if any are named.
#[must_use]
pub fn audit(log: &str, history: &History, only: &[String]) -> Report {
    let case = Case::new(history);
    let wanted = CHECKS.iter().filter(|row| only.is_empty() || only.iter().any(|name| name == row.name));
    let checks = wanted.map(|row| {
        let mut judged = Judged::default();
        (row.judge)(&case, &mut judged);
        let verdict = verdict(history, &judged);
        Checked {
            name: row.name,
            sentence: row.sentence,
            verdict,
            about: judged.about,
            judged: judged.judged(),
            violations: judged.violations,
            anomaly: row.anomaly.filter(|_| verdict == Verdict::Violated),
            findings: judged.findings.iter().map(|finding| found(&case, finding)).collect(),
            unjudged: judged.unjudged,
        }
    });
    let checks: Vec<Checked> = checks.collect();
    Report {
        log: log.to_owned(),
        lines: history.lines,
        calls: history.count(),
        resources: case.resources.len(),
        left_out: history.left_out,
        malformed: history.malformed,
        mistakes: history
            .mistakes
            .iter()
            .map(|mistake| Malformed { line: mistake.line, what: mistake.what.clone() })
            .collect(),
        warnings: warnings(history, &checks),
        stopped: history.stopped.clone(),
        checks,
    }
}

fn warnings(history: &History, checks: &[Checked]) -> Vec<String> {
    let none = history.calls.is_empty().then(|| "there is no call in it: nothing was judged".to_owned());
    let unreached = history.unreached.iter().map(|Unreached { sentence, feeds }| {
        let vacuous = checks.iter().filter(|check| check.verdict == Verdict::Vacuous && feeds.contains(&check.name));
        let vacuous: Vec<String> = vacuous.map(|check| format!("`{}`", check.name)).collect();
        match vacuous.len() {
            0 => sentence.clone(),
            _ => format!("{sentence}, and nothing is about {}", vacuous.join(", ")),
        }
    });
    none.into_iter().chain(unreached).collect()
}

fn verdict(history: &History, judged: &Judged) -> Verdict {
    if judged.violations > 0 {
        Verdict::Violated
    } else if history.malformed > 0
        || history.stopped.is_some()
        || history.calls.is_empty()
        || !judged.unjudged.is_empty()
    {
        Verdict::Inconclusive
    } else if judged.about == 0 {
        Verdict::Vacuous
    } else {
        Verdict::Holds
    }
}

fn found(case: &Case<'_>, finding: &Finding) -> Found {
    let lines = finding.calls.iter().map(|call| case.call(*call).line);
    let observed = finding.observed.map(|state| case.history.observed[state as usize].line);
    let mut lines: Vec<u64> = lines.chain(observed).collect();
    lines.sort_unstable();
    Found {
        sentence: finding.sentence.clone(),
        anomaly: finding.anomaly,
        calls: finding.calls.iter().map(|call| case.history.id(case.call(*call))).collect(),
        lines,
        cycle: finding.cycle.clone(),
        finding: finding.clone(),
    }
}

impl Report {
    /// The worst verdict: violated, then inconclusive, then holds; vacuous only where all are.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        let any = |verdict| self.checks.iter().any(|check| check.verdict == verdict);
        [Verdict::Violated, Verdict::Inconclusive, Verdict::Holds].into_iter().find(|one| any(*one)).unwrap_or(
            if self.malformed > 0 || self.stopped.is_some() { Verdict::Inconclusive } else { Verdict::Vacuous },
        )
    }
}
