//! A line for each run, what is not as expected below it, and how many there were of each.

use crate::reports::words::{name, surprise};
use crate::reports::{Asked, Reporter, Standing};
use crate::run::{Report, Run};

#[derive(Default)]
pub(super) struct Expectations {
    passed: usize,
    failed: usize,
}

impl<'r> Reporter<'r> for Expectations {
    fn explored(&mut self, _: &'r Run, report: &Report) -> String {
        let mut surprises = String::new();
        for property in &report.invariants {
            let standing = Asked::Expectations.standing(report, property);
            if matches!(standing, Standing::Failed | Standing::Inconclusive) {
                surprises.push_str(&format!("      {}: {}\n", property.name, surprise(property)));
            }
        }
        if surprises.is_empty() {
            self.passed += 1;
            return format!("ok    {}\n", name(report));
        }
        self.failed += 1;
        format!("FAIL  {}\n{surprises}", name(report))
    }

    fn finished(&mut self) -> String {
        format!("{} passed, {} failed\n", self.passed, self.failed)
    }
}
