//! A gate's rows as JUnit XML: one suite an adapter, one case a row.

use std::collections::BTreeMap;

use portcullis::gate::{Row, Status};
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

pub fn report(rows: &[Row]) -> Result<String, quick_junit::SerializeError> {
    let mut suites: BTreeMap<&str, TestSuite> = BTreeMap::new();
    for row in rows {
        let mut status = match row.status {
            Status::Pass => TestCaseStatus::success(),
            Status::Unsupported => TestCaseStatus::skipped(),
            Status::Fail => TestCaseStatus::non_success(NonSuccessKind::Failure),
            Status::Error => TestCaseStatus::non_success(NonSuccessKind::Error),
        };
        if row.status != Status::Pass {
            status.set_message(row.note.clone());
        }
        let mut case = TestCase::new(format!("{} {}", row.case, row.variant), status);
        case.set_classname(format!("{}.{}", row.op, row.dtype));
        let suite = suites
            .entry(&row.adapter)
            .or_insert_with(|| TestSuite::new(row.adapter.clone()));
        suite.add_test_case(case);
    }
    let mut report = Report::new("portcullis gate");
    report.add_test_suites(suites.into_values());
    report.to_string()
}
