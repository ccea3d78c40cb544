//! Estimates from random runs, with the interval in which the true value lies in 95 of 100 cases.

use serde::Serialize;

/// The quantile of the normal distribution for an interval of 95 %.
const Z: f64 = 1.959_963_984_540_054;

/// The Wilson interval of a probability, from so many hits in so many trials.
///
/// Unlike the textbook interval it never leaves 0 to 1, and says something sensible of a thing that was never seen.
#[must_use]
pub fn wilson(hits: u64, trials: u64) -> (f64, f64) {
    if trials == 0 {
        return (0.0, 1.0);
    }
    let (n, p) = (float(trials.into()), float(hits.into()) / float(trials.into()));
    let centre = (p + Z * Z / (2.0 * n)) / (1.0 + Z * Z / n);
    let half = Z / (1.0 + Z * Z / n) * (p * (1.0 - p) / n + Z * Z / (4.0 * n * n)).sqrt();
    let low = if hits == 0 { 0.0 } else { (centre - half).max(0.0) };
    let high = if hits == trials { 1.0 } else { (centre + half).min(1.0) };
    (low, high)
}

/// An estimated value.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// The estimate.
    pub mean: f64,
    /// In 95 of 100 cases the true value is not below this.
    pub low: f64,
    /// And not above this.
    pub high: f64,
}

/// Sums over runs from which the ratio of two quantities is estimated: of so many of one thing to one of another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ratio {
    runs: u64,
    one: u128,
    other: u128,
    one_squared: u128,
    other_squared: u128,
    product: u128,
}

impl Ratio {
    /// Notes a run with so many of the one, and so many of the other.
    pub fn note(&mut self, one: u64, other: u64) {
        let (one, other) = (u128::from(one), u128::from(other));
        self.runs += 1;
        self.one += one;
        self.other += other;
        self.one_squared += one * one;
        self.other_squared += other * other;
        self.product += one * other;
    }

    /// Adds the sums over other runs.
    pub const fn append(&mut self, more: &Self) {
        self.runs += more.runs;
        self.one += more.one;
        self.other += more.other;
        self.one_squared += more.one_squared;
        self.other_squared += more.other_squared;
        self.product += more.product;
    }

    /// The ratio of the sums, with the interval that its scatter over the runs gives (by the delta method). `None`: there
    /// was none of the other.
    #[must_use]
    pub fn estimate(&self) -> Option<Estimate> {
        if self.other == 0 {
            return None;
        }
        let ratio = float(self.one) / float(self.other);
        let n = float(self.runs.into());
        let mean = float(self.other) / n;
        let (one, other) = (float(self.one) / n, mean);
        let variance = |squares: u128, a: f64, b: f64| float(squares) / n - a * b;
        let spread = variance(self.one_squared, one, one) - 2.0 * ratio * variance(self.product, one, other)
            + ratio * ratio * variance(self.other_squared, other, other);
        let half = Z * (spread.max(0.0) / n).sqrt() / mean;
        Some(Estimate { mean: ratio, low: (ratio - half).max(0.0), high: ratio + half })
    }
}

#[expect(clippy::cast_precision_loss, reason = "an estimate has no 53 significant bits")]
const fn float(number: u128) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values from Wilson's formula, computed independently: 10 of 100, 0 of 1000, 20 of 20.
    #[test]
    fn wilson_intervals_are_right() {
        let near = |(low, high): (f64, f64), expected: (f64, f64)| {
            assert!((low - expected.0).abs() < 5e-5 && (high - expected.1).abs() < 5e-5, "{low} {high}");
        };
        near(wilson(10, 100), (0.0552, 0.1744));
        near(wilson(0, 1000), (0.0, 0.0038));
        near(wilson(20, 20), (0.8389, 1.0));
        near(wilson(0, 0), (0.0, 1.0));
    }

    #[test]
    fn a_ratio_that_never_varies_is_known_exactly() {
        let mut ratio = Ratio::default();
        for runs in 1..50 {
            ratio.note(2 * runs, runs);
        }
        assert_eq!(ratio.estimate(), Some(Estimate { mean: 2.0, low: 2.0, high: 2.0 }));
        assert_eq!(Ratio::default().estimate(), None);
    }

    /// 1 or 3 for each one: the mean is 2 with a standard error of 1 / sqrt(100).
    #[test]
    fn a_ratio_that_varies_has_an_interval() {
        let mut ratio = Ratio::default();
        for run in 0..100 {
            ratio.note(if run % 2 == 0 { 1 } else { 3 }, 1);
        }
        let found = ratio.estimate().expect("there are some");
        assert!((found.low - 1.804).abs() < 1e-3 && (found.high - 2.196).abs() < 1e-3, "{found:?}");
    }
}
