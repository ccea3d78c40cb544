//! How far a search has come, as one line on a terminal, and what stops it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use super::Terminal;
use crate::engine::Progress;

/// A line that says how far something is; none where nobody watches.
pub(super) fn spinner(terminal: Terminal) -> Option<ProgressBar> {
    let style = ProgressStyle::with_template("{spinner} {msg}").unwrap_or_else(|_| ProgressStyle::default_spinner());
    terminal.live.then(|| ProgressBar::new_spinner().with_style(style))
}

/// What a search may take.
#[derive(Clone, Copy)]
pub(super) struct Bounds {
    pub(super) states: Option<usize>,
    pub(super) deadline: Option<(Duration, Instant)>,
    pub(super) memory: Option<usize>,
}

/// Watches one search: draws the line, and says when it must stop.
pub(super) struct Watch {
    name: String,
    bar: Option<ProgressBar>,
    bounds: Bounds,
    interrupted: Arc<AtomicBool>,
    /// When the rate was measured last, at how many states, and what it was: states a second.
    measured: Option<(Instant, usize)>,
    rate: Option<f64>,
    /// Why the search was stopped.
    pub(super) reason: Option<String>,
}

/// How long states are counted for one rate.
const STRETCH: Duration = Duration::from_millis(500);

impl Watch {
    pub(super) fn new(name: String, bar: Option<ProgressBar>, bounds: Bounds, interrupted: Arc<AtomicBool>) -> Self {
        Self { name, bar, bounds, interrupted, measured: None, rate: None, reason: None }
    }

    /// Looks at how far the search is. Answers whether it must stop.
    pub(super) fn look(&mut self, progress: Progress) -> bool {
        #[expect(
            clippy::disallowed_methods,
            reason = "rates are for people, and a limit is told only where it was hit"
        )]
        let now = Instant::now();
        let memory = memory_stats::memory_stats().map(|now| now.physical_mem);
        if let Some(bar) = self.bar.clone() {
            self.measure(now, progress.states);
            bar.set_message(self.line(progress, now, memory));
            bar.tick();
        }
        let late = self.bounds.deadline.filter(|(_, deadline)| now > *deadline);
        let large = self.bounds.memory.filter(|most| memory.is_some_and(|memory| memory > *most));
        self.reason = if let Some((limit, _)) = late {
            Some(format!("the time limit of {} was reached", humantime::format_duration(limit)))
        } else if let Some(most) = large {
            Some(format!("the memory limit of {} was reached", bytesize::ByteSize::b(most as u64)))
        } else if self.interrupted.load(Ordering::Relaxed) {
            Some("it was interrupted".to_owned())
        } else {
            None
        };
        self.reason.is_some()
    }

    fn measure(&mut self, now: Instant, states: usize) {
        match self.measured {
            // Another search of the same run begins anew.
            Some((_, before)) if states < before => (self.measured, self.rate) = (Some((now, states)), None),
            Some((then, before)) if now.duration_since(then) >= STRETCH => {
                #[expect(clippy::cast_precision_loss, reason = "a rate is shown with two digits")]
                let found = (states - before) as f64;
                self.rate = Some(found / now.duration_since(then).as_secs_f64());
                self.measured = Some((now, states));
            }
            Some(_) => {}
            None => self.measured = Some((now, states)),
        }
    }

    /// How far it is: states, rate, depth, queue, memory. When it will be done nobody knows, but when it meets a limit.
    fn line(&self, progress: Progress, now: Instant, memory: Option<usize>) -> String {
        let Progress { states, queue, depth, .. } = progress;
        let mut line = format!("{}: {} states", self.name, short(states));
        if let Some(most) = self.bounds.states {
            line.push_str(&format!(" of at most {}", short(most)));
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rate is no great number")]
        if let Some(rate) = self.rate {
            line.push_str(&format!(", {} a second", short(rate as usize)));
        }
        line.push_str(&format!(", depth {depth}, {} to expand", short(queue)));
        if let Some(memory) = memory {
            line.push_str(&format!(", {}", bytesize::ByteSize::b(memory as u64)));
            if let Some(most) = self.bounds.memory {
                line.push_str(&format!(" of {}", bytesize::ByteSize::b(most as u64)));
            }
        }
        if let Some(left) = self.left(states, now) {
            let left = humantime::format_duration(Duration::from_secs(left.as_secs()));
            line.push_str(&format!("; the limit in {left} at the latest"));
        }
        line
    }

    /// How long until it meets the limit of states at this rate, or that of time.
    fn left(&self, states: usize, now: Instant) -> Option<Duration> {
        #[expect(clippy::cast_precision_loss, reason = "an estimate")]
        let by_states = self
            .bounds
            .states
            .zip(self.rate.filter(|rate| *rate >= 1.0))
            .map(|(most, rate)| Duration::from_secs_f64(most.saturating_sub(states) as f64 / rate));
        let by_time = self.bounds.deadline.map(|(_, deadline)| deadline.saturating_duration_since(now));
        by_states.into_iter().chain(by_time).min()
    }
}

/// A number with three digits: `17`, `1.24k`, `12.4M`.
fn short(number: usize) -> String {
    #[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
    let number = number as f64;
    let (number, unit) = match number {
        number if number < 1e3 => return format!("{number}"),
        number if number < 999_500.0 => (number / 1e3, "k"),
        number if number < 999_500_000.0 => (number / 1e6, "M"),
        number => (number / 1e9, "G"),
    };
    let digits = if number < 9.995 { 2 } else { usize::from(number < 99.95) };
    format!("{number:.digits$}{unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        let all = [0, 999, 1000, 1239, 12_391, 123_910, 999_499, 999_500, 24_384_810, 4_000_000_000];
        let short: Vec<String> = all.into_iter().map(short).collect();
        assert_eq!(short, ["0", "999", "1.00k", "1.24k", "12.4k", "124k", "999k", "1.00M", "24.4M", "4.00G"]);
    }

    #[test]
    fn the_line_says_how_far_it_is_and_when_it_meets_a_limit() {
        let bounds = Bounds { states: Some(3_000_000), deadline: None, memory: Some(4 << 30) };
        let mut watch = Watch::new("basket x naive".to_owned(), None, bounds, Arc::default());
        #[expect(clippy::disallowed_methods, reason = "two moments half a second apart, whichever they are")]
        let start = Instant::now();
        watch.measure(start, 0);
        watch.measure(start + STRETCH, 250_000);
        let progress = Progress { states: 1_000_000, queue: 123_456, transitions: 0, depth: 17, bytes: 0 };
        assert_eq!(
            watch.line(progress, start, Some(1 << 30)),
            "basket x naive: 1.00M states of at most 3.00M, 500k a second, depth 17, 123k to expand, 1.0 GiB of 4.0 GiB; \
             the limit in 4s at the latest"
        );
        // Another search of the same run has another rate.
        watch.measure(start + 2 * STRETCH, 10);
        assert_eq!(watch.rate, None);
    }
}
