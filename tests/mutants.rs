//! Gates can fail: faults planted in plans and kernels must be caught.

mod common;

use std::sync::Arc;

use portcullis::gate::{self, Effort, Instance, Problem, Row, Status};
use portcullis::plan::{Param, Plan};
use portcullis::{DType, Gpu, Variant, registry};

/// Gates a problem with a fault planted in its plan.
fn gated(
    gpu: &Gpu,
    instance: &Instance,
    variant: Variant,
    fault: impl Fn(&mut Plan) + Send + Sync + 'static,
) -> Row {
    let gpu = gpu.with_capabilities(|_| ());
    gpu.inject(fault);
    pollster::block_on(gate::check_on_gpu(&gpu, instance, variant)).unwrap()
}

fn build(problem: Problem, op: &str) -> Instance {
    problem
        .build(registry::find(op).unwrap(), DType::F32)
        .unwrap()
}

fn rows(rows: usize, columns: usize) -> Instance {
    let fill = gate::Fill::Normal {
        mean: 0.0,
        deviation: 2.0,
    };
    build(
        Problem::new("mutant").input(DType::F32, [rows, columns], fill),
        "softmax",
    )
}

/// The fault is caught; without it the same problem passes.
fn caught(
    gpu: &Gpu,
    instance: &Instance,
    variant: Variant,
    fault: impl Fn(&mut Plan) + Send + Sync + 'static,
) -> String {
    let sound = gated(gpu, instance, variant, |_| ());
    assert_eq!(sound.status, Status::Pass, "{}: {}", sound.op, sound.note);
    let row = gated(gpu, instance, variant, fault);
    assert_eq!(
        row.status,
        Status::Fail,
        "{} {} on {}: the fault passed the gate",
        row.op,
        row.variant,
        row.adapter
    );
    row.note
}

fn word(plan: &mut Plan, step: usize, index: usize, change: impl Fn(u32) -> u32) {
    if let Param::Word(w) = &mut plan.steps[step].params[index] {
        *w = change(*w);
    }
}

/// The first step of every operation's quick problem left out: what it should have written is missing.
#[test]
fn output_never_written() {
    let Some(gpu) = common::gpus()
        .iter()
        .find(|gpu| gpu.capabilities().identity.name.contains("llvmpipe"))
    else {
        return;
    };
    let mut operations = 0;
    for &op in registry::OPERATIONS.iter() {
        let dtype = op.signature().dtypes[0];
        let Some(problem) = op.problems(dtype, Effort::Quick).into_iter().next() else {
            continue;
        };
        let instance = problem.build(op, dtype).unwrap();
        let row = gated(gpu, &instance, Variant::Portable, |plan| {
            plan.steps.pop();
        });
        if row.status == Status::Unsupported {
            continue;
        }
        assert_eq!(
            row.status,
            Status::Fail,
            "{}: an output that was never written passed",
            row.op
        );
        operations += 1;
    }
    assert!(operations > 10, "only {operations} operations were tried");
}

#[test]
fn dropped_tail() {
    for gpu in common::gpus() {
        let note = caught(gpu, &rows(5, 12), Variant::Portable, |plan| {
            word(plan, 0, 1, |rows| rows - 1)
        });
        assert!(note.contains("12 of 60"), "the last row: {note}");
    }
}

#[test]
fn off_by_one_tile_edge() {
    for gpu in common::gpus() {
        // One quad less in every row: within the row length's own rounding.
        caught(gpu, &rows(3, 260), Variant::Portable, |plan| {
            word(plan, 0, 2, |units| units - 1)
        });
        caught(gpu, &rows(3, 260), Variant::Portable, |plan| {
            word(plan, 0, 2, |units| units + 1)
        });
    }
}

#[test]
fn a_workgroup_that_does_not_run() {
    for gpu in common::gpus() {
        caught(gpu, &rows(5, 12), Variant::Portable, |plan| {
            plan.steps[0].workgroups[0] -= 1
        });
    }
}

#[test]
fn accumulation_in_half_precision() {
    let half_sum: &str = "import super::scalar::Scalar;\n\
        alias Value = Scalar;\n\
        fn combine(a: Value, b: Value) -> Value { return quantizeToF16(a + b); }\n\
        @if(subgroup) fn shuffle_xor(v: Value, mask: u32) -> Value { return subgroupShuffleXor(v, mask); }\n";
    for gpu in common::gpus() {
        let variants = [
            Some(Variant::Portable),
            gpu.capabilities().subgroups.map(|_| Variant::Subgroup),
        ];
        for variant in variants.into_iter().flatten() {
            caught(gpu, &rows(3, 1000), variant, move |plan| {
                let kernel = Arc::make_mut(&mut plan.steps[0].kernel);
                assert!(
                    kernel.replace_module("sum", half_sum),
                    "softmax sums by a module of this name"
                );
            });
        }
    }
}

/// A row too many: its one element lies behind the output, in the last 16 bytes of the binding.
#[test]
fn writes_beyond_the_output() {
    for gpu in common::gpus() {
        let note = caught(gpu, &rows(5, 1), Variant::Portable, |plan| {
            word(plan, 0, 1, |rows| rows + 1);
            plan.steps[0].workgroups[0] += 1;
        });
        assert!(note.contains("sentinel"), "{note}");
    }
}

#[test]
fn a_fill_that_proves_little() {
    for gpu in common::gpus() {
        let fill = gate::Fill::Cycle(vec![
            0.0, 200.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0,
        ]);
        let instance = build(
            Problem::new("peaks").input(DType::F32, [12, 12], fill),
            "softmax",
        );
        let row = gated(gpu, &instance, Variant::Portable, |_| ());
        assert_eq!(row.status, Status::Fail);
        assert!(row.note.contains("mostly zeros"), "{}", row.note);
    }
}

#[test]
fn an_expectation_that_is_off_by_one_unit() {
    // Judged against wrong numbers, right outputs fail: the comparison compares.
    let x = gate::Fill::Integers { low: -50, high: 50 }
        .generate(DType::I32, &[64], 3)
        .unwrap();
    let op = registry::find("reduce_sum").unwrap();
    let inputs = [Some(x.clone())];
    let instance = Instance::from_tensors("sum", op, &inputs, &portcullis::Params::new()).unwrap();
    let sum: i32 = x.as_slice::<i32>().unwrap().iter().sum();
    let expecting = |value: i32| {
        let tensor = portcullis::HostTensor::new(&[], vec![value]).unwrap();
        vec![gate::Expected::Exact(tensor)]
    };
    let instance = instance.expecting(expecting(sum));
    assert_eq!(gate::check_on_cpu(&instance).status, Status::Pass);
    let wrong = Instance::from_tensors("sum", op, &inputs, &portcullis::Params::new()).unwrap();
    assert_eq!(
        gate::check_on_cpu(&wrong.expecting(expecting(sum + 1))).status,
        Status::Fail
    );
}

/// What must lie at the front of an output with room for more: the elements themselves,
/// as many as there are, and behind them nothing that was not there.
#[test]
fn writes_behind_the_count() {
    let tensor = |data: &[u32]| portcullis::HostTensor::new(&[data.len()], data.to_vec()).unwrap();
    let judged = |got: &[u32], leading: &[u32]| {
        gate::compare(&tensor(got), &gate::Expected::Leading(tensor(leading))).failure
    };
    let poison = 0xa5a5_a5a5;
    assert_eq!(judged(&[7, 8, poison, poison], &[7, 8]), None);
    assert_eq!(judged(&[7, 8, 0, 0], &[7, 8]), None);
    assert_eq!(judged(&[poison], &[]), None);
    for (got, fault) in [
        (&[7, 8, 9, poison][..], "written behind"),
        (&[7, 8, poison, 0], "written behind"),
        (&[7, 9, poison, poison], "bits must be kept"),
        (&[7], "room for 1"),
    ] {
        let failure = judged(got, &[7, 8]).unwrap_or_default();
        assert!(failure.contains(fault), "{got:?}: {failure:?}");
    }
}
