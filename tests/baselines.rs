//! Captured cases of the original hardware, on every adapter, every variant and the CPU.

mod common;

use std::path::Path;

use portcullis::files::Baseline;
use portcullis::gate::{
    BaselineItem, Effort, Row, Selection, Status, baseline_items, sweep_cpu, sweep_gpu,
};

#[test]
fn every_captured_case_of_a_registered_operation_passes() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/baselines");
    let baseline = Baseline::read(&folder).unwrap();
    let selection = Selection::all(Effort::Standard);
    let mut rows: Vec<Row> = Vec::new();
    let (mut ran, mut unsupported) = (0, Vec::new());
    for item in baseline.cases.iter().flat_map(baseline_items) {
        match item {
            BaselineItem::Instance(instance) => {
                ran += 1;
                rows.extend(sweep_cpu(&instance, &selection));
                for gpu in common::gpus() {
                    rows.extend(pollster::block_on(sweep_gpu(gpu, &instance, &selection)));
                }
            }
            BaselineItem::Unsupported {
                op, case, reason, ..
            } => unsupported.push((op, case, reason)),
        }
    }
    let wrong: Vec<String> = rows
        .iter()
        .filter(|r| matches!(r.status, Status::Fail | Status::Error))
        .map(|r| {
            format!(
                "{} {} {} {}: {}",
                r.op, r.case, r.adapter, r.variant, r.note
            )
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // Nothing of a registered operation may hide among the unsupported.
    let hidden: Vec<_> = unsupported
        .iter()
        .filter(|(op, ..)| portcullis::registry::find(op).is_ok())
        .collect();
    assert!(hidden.is_empty(), "{hidden:?}");
    assert!(ran > 100, "{ran} cases ran");
}
