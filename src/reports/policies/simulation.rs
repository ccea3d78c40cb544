//! Random runs, for people: how often each invariant broke, and what calls cost; and how that grows with contention.

use std::fmt::Write;

use super::chart::{Drawing, Series};
use crate::policies::estimate::Estimate;
use crate::policies::simulate::{ExpectedCosts, SimulatedProperty, SimulationReport};
use crate::reports::words::{painted, plural};
use crate::step::PropertyKind;

/// Simulations as text.
#[must_use]
pub fn report(reports: &[SimulationReport], colour: bool) -> String {
    let mut text = String::new();
    for report in reports {
        if !text.is_empty() {
            text.push('\n');
        }
        write(&mut text, report, colour).expect("writing to a string doesn't fail");
    }
    text
}

fn write(text: &mut String, report: &SimulationReport, colour: bool) -> std::fmt::Result {
    writeln!(text, "{} x {} x {}", report.scenario, report.design, report.protocol)?;
    let width = report.invariants.iter().map(|property| property.name.len()).max().unwrap_or(0);
    let mut idle = Vec::new();
    for property in &report.invariants {
        if property.kind != PropertyKind::Sometimes && property.reached == 0 && property.violations == 0 {
            idle.push(&*property.name);
            continue;
        }
        let verdict = painted(property.verdict, word(property), 15, colour);
        writeln!(text, "  {verdict} {:<width$}  {}", property.name, frequency(property, report.runs))?;
    }
    for property in report.invariants.iter().filter(|property| property.violations > 0) {
        let (Some(sentence), Some(steps), Some(faults)) = (&property.sentence, property.steps, property.faults) else {
            continue;
        };
        let first = property.run.unwrap_or_default();
        writeln!(text, "\n  {}: {sentence}.", property.name)?;
        let command =
            property.trace.as_ref().map_or_else(String::new, |trace| format!(": handlecheck explain {trace}"));
        writeln!(
            text,
            "    first in run {first}; without what is not needed {}, {}{command}",
            plural(steps, "step"),
            plural(faults, "fault")
        )?;
    }
    writeln!(text, "\n  {}", extent(report))?;
    writeln!(text, "  {}", crowd(report))?;
    if let Some(costs) = costs(&report.costs) {
        writeln!(text, "  a finished intent takes {costs}")?;
    }
    if !idle.is_empty() {
        writeln!(text, "  never came into question: {}", idle.join(", "))?;
    }
    if report.cut > 0 {
        writeln!(
            text,
            "  {} runs were cut short, since they did not end, or a fault with a rate struck 255 times",
            report.cut
        )?;
    }
    Ok(())
}

/// How it went, in a word.
fn word(property: &SimulatedProperty) -> &'static str {
    match (property.kind, property.violations, property.reached) {
        (PropertyKind::Sometimes, _, 0) => "never held",
        (PropertyKind::Sometimes, ..) => "held",
        (_, 0, _) => "never violated",
        _ => "violated",
    }
}

fn frequency(property: &SimulatedProperty, runs: u64) -> String {
    let (low, high) = property.interval;
    match (property.kind, property.violations) {
        (PropertyKind::Sometimes, _) => format!("in {} of {runs} runs", property.reached),
        (_, 0) => format!("of {runs} runs, so in less than {} of all", percent(high)),
        (_, hits) => format!("in {hits} of {runs} runs, so in {} to {} of all", percent(low), percent(high)),
    }
}

/// With two decimals, or with two digits that are no zeros.
fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    let mut decimals = 2;
    while decimals < 10 && percent > 0.0 && percent * 10_f64.powi(decimals) < 10.0 {
        decimals += 1;
    }
    format!("{percent:.*} %", usize::try_from(decimals).unwrap_or(2))
}

fn extent(report: &SimulationReport) -> String {
    let steps = &report.steps;
    let cut = report.stopped.as_ref().map_or_else(String::new, |reason| format!("; {reason}"));
    format!(
        "{} runs from seed {}, {}, of {} to {} steps, {:.1} on average{cut}",
        report.runs, report.seed, report.schedule, steps.fewest, steps.most, steps.mean
    )
}

fn crowd(report: &SimulationReport) -> String {
    let faults: Vec<String> = report
        .rates
        .iter()
        .map(|(fault, rate)| match report.bounds.faults.get(fault) {
            Some(budget) => format!("{fault} before {} of the steps, at most {budget}", trimmed(100.0 * rate)),
            None => format!("{fault} before {} of the steps", trimmed(100.0 * rate)),
        })
        .collect();
    let faults = if faults.is_empty() { "no faults".to_owned() } else { faults.join("; ") };
    format!("{} agents, {} nodes; {faults}", report.agents, report.nodes)
}

fn trimmed(percent: f64) -> String {
    format!("{} %", format!("{percent:.4}").trim_end_matches('0').trim_end_matches('.'))
}

/// What a finished intent costs, in words.
pub(super) fn costs(costs: &ExpectedCosts) -> Option<String> {
    let named = [
        (costs.calls, "calls"),
        (costs.round_trips, "round trips"),
        (costs.conflicts, "conflicts"),
        (costs.repeats, "repeats"),
        (costs.replans, "replans"),
        (costs.questions, "questions"),
    ];
    costs.calls?;
    let parts = named.iter().filter_map(|(estimate, name)| Some(format!("{} {name}", with_error((*estimate)?))));
    Some(parts.collect::<Vec<_>>().join(", "))
}

/// An estimate with half the width of its interval.
fn with_error(estimate: Estimate) -> String {
    format!("{:.3} ± {:.3}", estimate.mean, (estimate.high - estimate.mean).abs())
}

/// What a sweep shows of each simulation besides the invariants.
type Measure = (&'static str, fn(&SimulationReport) -> Option<Estimate>);

const MEASURES: [Measure; 3] = [
    ("calls", |report| report.costs.calls),
    ("conflicts", |report| report.costs.conflicts),
    ("replans", |report| report.costs.replans),
];

/// A sweep over the number of agents, as a table for each design.
#[must_use]
pub fn sweep(reports: &[SimulationReport]) -> String {
    let mut text = String::new();
    for (design, reports) in by_design(reports) {
        let first = reports[0];
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&format!("{} x {design} x {}\n\n", first.scenario, first.protocol));
        let names = violated_anywhere(&reports);
        let mut table = comfy_table::Table::new();
        table
            .load_style(comfy_table::presets::ASCII_MARKDOWN)
            .set_content_arrangement(comfy_table::ContentArrangement::Disabled);
        let measures = MEASURES.iter().map(|(name, _)| format!("{name} for an intent"));
        table.set_header(["agents".to_owned()].into_iter().chain(names.iter().cloned()).chain(measures));
        for report in &reports {
            let broken = names.iter().map(|name| {
                let property = report.invariants.iter().find(|property| property.name == *name);
                property.map_or_else(|| "-".to_owned(), |property| share(property, report.runs))
            });
            let measured =
                MEASURES.iter().map(|(_, measure)| measure(report).map_or_else(|| "-".to_owned(), with_error));
            table.add_row([report.agents.to_string()].into_iter().chain(broken).chain(measured).collect::<Vec<_>>());
        }
        text.push_str(&format!("{table}\n"));
        if names.is_empty() {
            text.push_str("\nNothing was violated in any of these runs.\n");
        }
        let (runs, seed, schedule) = (first.runs, first.seed, first.schedule);
        text.push_str(&format!("\n{runs} runs for each number of agents, from seed {seed}, {schedule}; "));
        text.push_str(&format!("{}.\n", crowd(first).split_once("agents, ").map_or("", |(_, rest)| rest)));
    }
    text
}

/// In how many of a hundred runs, with the interval.
fn share(property: &SimulatedProperty, runs: u64) -> String {
    let (low, high) = property.interval;
    if property.violations == 0 {
        return format!("0 of {runs} (below {})", percent(high));
    }
    #[expect(clippy::cast_precision_loss, reason = "a share has no 53 significant bits")]
    let mean = property.violations as f64 / runs as f64;
    format!("{} ({:.2} – {:.2})", percent(mean), 100.0 * low, 100.0 * high)
}

fn by_design(reports: &[SimulationReport]) -> Vec<(&str, Vec<&SimulationReport>)> {
    let mut designs: Vec<(&str, Vec<&SimulationReport>)> = Vec::new();
    for report in reports {
        match designs.iter_mut().find(|(design, _)| *design == report.design) {
            Some((_, same)) => same.push(report),
            None => designs.push((&report.design, vec![report])),
        }
    }
    designs
}

fn violated_anywhere(reports: &[&SimulationReport]) -> Vec<String> {
    let properties = reports[0].invariants.iter().map(|property| &property.name);
    let violated = |name: &&String| {
        reports.iter().flat_map(|report| &report.invariants).any(|row| row.name == **name && row.violations > 0)
    };
    properties.filter(violated).cloned().collect()
}

/// Colours that can be told apart, also by the colour-blind (Okabe and Ito, 2008).
const COLOURS: [&str; 7] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"];

/// A sweep as a picture: for each number of agents the share of runs that violate each invariant, and the conflicts that an
/// intent meets. The numbers of agents are spaced evenly.
#[must_use]
pub fn plot(reports: &[SimulationReport]) -> String {
    let mut series: Vec<Series> = Vec::new();
    let mut conflicts: Vec<Series> = Vec::new();
    for (design, reports) in by_design(reports) {
        for name in violated_anywhere(&reports) {
            let point = |(at, report): (usize, &&SimulationReport)| {
                let property = report.invariants.iter().find(|property| property.name == name)?;
                #[expect(clippy::cast_precision_loss, reason = "a share has no 53 significant bits")]
                let mean = property.violations as f64 / report.runs.max(1) as f64;
                Some((at, mean, property.interval.0, property.interval.1))
            };
            series.push((format!("{design}: {name}"), reports.iter().enumerate().filter_map(point).collect()));
        }
        let point = |(at, report): (usize, &&SimulationReport)| {
            let Estimate { mean, low, high } = report.costs.conflicts?;
            Some((at, mean, low, high))
        };
        conflicts.push((design.to_owned(), reports.iter().enumerate().filter_map(point).collect()));
    }
    let labels: Vec<String> = by_design(reports)
        .first()
        .map(|(_, reports)| reports.iter().map(|report| report.agents.to_string()).collect())
        .unwrap_or_default();
    let first = reports.first();
    let title = first.map_or_else(String::new, |report| format!("{}, {} runs each", report.scenario, report.runs));
    let mut drawing = Drawing::new(960, 540, &title);
    drawing.chart(60, 60, 400, 300, "share of runs that violate", &labels, &series, &COLOURS, Some(1.0));
    drawing.chart(530, 60, 400, 300, "conflicts for each finished intent", &labels, &conflicts, &COLOURS, None);
    drawing.finish()
}
