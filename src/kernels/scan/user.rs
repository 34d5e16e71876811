//! `inclusive_scan` and `exclusive_scan`: scans by a user's operator.

use crate::cpu::user_operator::{self as cpu, Line};
use crate::device::Capabilities;
use crate::dtype::DType;
use crate::error::Result;
use crate::gate::{Effort, Expected, Problem, oracle};
use crate::host::HostTensor;
use crate::kernels::reduce::user::examples;
use crate::kernels::reduce::user_operator::{self, UserOperator};
use crate::kernels::rows::Rows;
use crate::kernels::scan::steps::{self, Direction, Ends};
use crate::kernels::softmax::required;
use crate::operation::{Call, InputSpec, Operation, OutputSpec, Signature, Variant};
use crate::params::ParamSpec;
use crate::plan::{Plan, PlanBuilder, dense_bytes};
use crate::spec::{TensorSpec, resolve_axis};

pub(super) struct ScanByOperator {
    signature: Signature,
    exclusive: bool,
}

impl ScanByOperator {
    pub fn new(exclusive: bool) -> ScanByOperator {
        let (name, doc) = match exclusive {
            false => (
                "inclusive_scan",
                "all elements up to each one along an axis, combined by a user's associative operator",
            ),
            true => (
                "exclusive_scan",
                "all elements before each one along an axis, combined by a user's associative operator",
            ),
        };
        let mut params = user_operator::params();
        params.push(ParamSpec::new(
            "axis",
            -1i64,
            "the axis to go along; negative counts from the end, that of struct elements' words left out",
        ));
        ScanByOperator {
            signature: Signature {
                name,
                family: "scan",
                doc,
                inputs: vec![InputSpec {
                    name: "x",
                    dtypes: DType::ALL,
                    optional: false,
                    doc: "rank 1 or more; the last axis holds the words of struct elements",
                }],
                variadic: 0,
                outputs: vec![OutputSpec {
                    name: "y",
                    doc: "shape and dtype of x",
                }],
                params,
                dtypes: DType::ALL,
                variants: &[Variant::Subgroup, Variant::Portable, Variant::Cpu],
                gradient_of: None,
            },
            exclusive,
        }
    }

    fn direction(&self) -> Direction {
        Direction {
            exclusive: self.exclusive,
            reverse: false,
        }
    }
}

/// Rows along the axis, which does not count the one that holds an element's words.
fn rows_of(call: &Call, operator: &UserOperator) -> Result<Rows> {
    let shape = &call.input(0).shape;
    let axes = shape.len() - operator.is_struct() as usize;
    let axis = resolve_axis(call.name(), call.params.int("axis"), axes)?;
    Ok(match operator.is_struct() {
        true => Rows::of_structs(shape, axis),
        false => Rows::new(shape, axis),
    })
}

impl Operation for ScanByOperator {
    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn infer(&self, call: &Call) -> Result<Vec<TensorSpec>> {
        rows_of(call, &*UserOperator::of(call)?)?;
        let x = call.input(0);
        Ok(vec![TensorSpec::new(x.dtype, x.shape.clone())])
    }

    fn plan(&self, call: &Call, variant: Variant, capabilities: &Capabilities) -> Result<Plan> {
        let mut plan = PlanBuilder::new(call, variant, capabilities);
        plan.require_subgroups()?;
        let user = UserOperator::of(call)?;
        let rows = rows_of(call, &user)?;
        let n = call.outputs[0].len();
        if n == 0 {
            return plan.finish();
        }
        let operator = user.operator(call.params.bool("commutative"));
        let dtype = call.input(0).dtype;
        let direction = self.direction();
        let shape = [rows.rows, rows.columns];
        let x = rows.input(&mut plan, call, 0);
        let target = plan.output(0);
        let rounded = dtype.size() == 2 && !steps::quads(rows.rows, rows.columns, false);
        let scanned_dtype = if rounded { DType::F32 } else { dtype };
        let scanned = match rounded || rows.inner != 1 {
            true => plan.scratch("rows", dense_bytes(scanned_dtype, n)),
            false => target,
        };
        let ends = match user.is_struct() {
            true => Ends::Values(x, scanned),
            false => Ends::Elements(x, dtype, scanned, scanned_dtype),
        };
        steps::scan(&mut plan, &operator, ends, shape, direction);
        steps::finish(&mut plan, &rows, scanned, rounded, dtype, n, target);
        plan.finish()
    }

    fn cpu(&self, call: &Call, inputs: &[Option<&HostTensor>]) -> Result<Vec<HostTensor>> {
        let x = required(call, inputs, 0)?;
        let operator = UserOperator::of(call)?;
        let rows = rows_of(call, &operator)?;
        let size = operator.words();
        let words = cpu::words(x);
        let scanned = crate::cpu::parallel::map(rows.rows, |r| {
            let line = Line {
                words: &words,
                first: r / rows.inner * rows.columns * rows.inner + r % rows.inner,
                stride: rows.inner,
                count: rows.columns,
            };
            cpu::scan(&operator, line, self.exclusive)
        });
        let mut result = vec![0; words.len()];
        for (r, row) in scanned.into_iter().enumerate() {
            let first = r / rows.inner * rows.columns * rows.inner + r % rows.inner;
            for (c, element) in row?.chunks(size).enumerate() {
                let at = (first + c * rows.inner) * size;
                result[at..at + size].copy_from_slice(element);
            }
        }
        Ok(vec![cpu::tensor(x.dtype(), x.shape(), result)?])
    }

    fn reference(&self, call: &Call, inputs: &[Option<&HostTensor>]) -> Result<Vec<Expected>> {
        let x = required(call, inputs, 0)?;
        let operator = UserOperator::of(call)?;
        let size = operator.words();
        let words = cpu::words(x);
        let mut result = vec![0; words.len()];
        let mut outcome = Ok(());
        rows_of(call, &operator)?.for_each(|positions| {
            let positions: Vec<usize> = positions.collect();
            let element = |p: &usize| words[p * size..(p + 1) * size].to_vec();
            let totals = oracle::user_operator::running(&operator, positions.iter().map(element));
            match totals {
                Ok(totals) => {
                    let totals = &totals[!self.exclusive as usize..];
                    for (p, total) in positions.iter().zip(totals) {
                        result[p * size..(p + 1) * size].copy_from_slice(total);
                    }
                }
                Err(error) => outcome = Err(error),
            }
        });
        outcome?;
        let exact = cpu::tensor(x.dtype(), x.shape(), result)?;
        Ok(vec![oracle::user_operator::expected(&operator, exact)])
    }

    fn problems(&self, dtype: DType, effort: Effort) -> Vec<Problem> {
        let shapes: &[(&[usize], i64)] = match effort {
            Effort::Quick => &[(&[5, 257], 1)],
            Effort::Probe => &[(&[3, 1029], 1), (&[17_003], 0)],
            _ => &[
                (&[1], 0),
                (&[17_004], 0),
                (&[100, 3], 1),
                (&[9, 1025], -1),
                (&[70, 5], 0),
                (&[3, 20_000], 1),
                (&[4, 0], 1),
            ],
        };
        let mut problems = Vec::new();
        for &(shape, axis) in shapes {
            for example in examples(dtype, effort) {
                problems.push(example.problem(dtype, shape).param("axis", axis));
            }
        }
        problems
    }

    fn bench_problem(&self, dtype: DType, log2_size: u32) -> Option<Problem> {
        let example = examples(dtype, Effort::Quick).swap_remove(0);
        Some(example.problem(dtype, &[1 << log2_size]))
    }
}
