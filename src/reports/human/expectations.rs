//! A line for each run, what is not as expected below it, and how many there were of each.

use crate::reports::words::{name, surprise, unchecked_of};
use crate::reports::{Asked, People, Reporter, Standing, coverage};
use crate::run::{Report, Run};

pub(super) struct Expectations {
    people: People,
    passed: usize,
    failed: usize,
    reports: Vec<Report>,
}

impl Expectations {
    pub(super) const fn new(people: People) -> Self {
        Self { people, passed: 0, failed: 0, reports: Vec::new() }
    }
}

impl<'r> Reporter<'r> for Expectations {
    fn explored(&mut self, _: &'r Run, report: &Report) -> String {
        self.reports.push(coverage::kept(report));
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
        let of_all =
            if self.people.counts { coverage::by_design(&self.reports) } else { coverage::summary(&self.reports) };
        let unchecked = unchecked_of(self.reports.iter()).into_iter().map(|said| said + "\n").collect::<String>();
        format!("{} passed, {} failed\n{unchecked}{of_all}", self.passed, self.failed)
    }
}
