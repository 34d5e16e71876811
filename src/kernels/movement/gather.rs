//! Rows by their numbers.

use crate::cpu::parallel;
use crate::device::Capabilities;
use crate::dtype::DType;
use crate::error::Result;
use crate::gate::{Effort, Expected, Fill, Problem};
use crate::host::HostTensor;
use crate::kernels::softmax::required;
use crate::operation::{Call, InputSpec, Operation, OutputSpec, Signature, Variant};
use crate::plan::{Plan, PlanBuilder, Width};
use crate::spec::TensorSpec;

const WORKGROUP: u32 = 256;

pub(super) struct GatherRows {
    signature: Signature,
}

impl GatherRows {
    pub fn new() -> GatherRows {
        GatherRows {
            signature: Signature {
                name: "gather_rows",
                family: "movement",
                doc: "rows of x by their numbers",
                inputs: vec![
                    InputSpec {
                        name: "x",
                        dtypes: DType::ALL,
                        optional: false,
                        doc: "[rows, …]",
                    },
                    InputSpec {
                        name: "index",
                        dtypes: &[DType::I32, DType::U32],
                        optional: false,
                        doc: "rank 1: numbers of rows; one out of range gives zeros and is counted",
                    },
                ],
                variadic: 0,
                outputs: vec![
                    OutputSpec {
                        name: "y",
                        doc: "dtype of x: [indices, …]",
                    },
                    OutputSpec {
                        name: "invalid",
                        doc: "how many indices are out of range: u32 [1]",
                    },
                ],
                params: Vec::new(),
                dtypes: DType::ALL,
                variants: &[Variant::Portable, Variant::Cpu],
                gradient_of: None,
            },
        }
    }
}

/// Rows of x, and elements of each.
fn rows_of(shape: &[usize]) -> (usize, usize) {
    (shape[0], shape[1..].iter().product())
}

impl Operation for GatherRows {
    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn infer(&self, call: &Call) -> Result<Vec<TensorSpec>> {
        let (x, index) = (call.input(0), call.input(1));
        if x.shape.is_empty() {
            return Err(call.shape_error("x is a scalar; it needs an axis of rows"));
        }
        let [indices] = index.shape[..] else {
            return Err(call.shape_error(format!("index is {:?}; it needs one axis", index.shape)));
        };
        if rows_of(&x.shape).1 == 0 {
            return Err(call.shape_error(format!("x is {:?}: its rows have no elements", x.shape)));
        }
        let mut shape = x.shape.clone();
        shape[0] = indices;
        Ok(vec![
            TensorSpec::new(x.dtype, shape),
            TensorSpec::new(DType::U32, [1]),
        ])
    }

    fn plan(&self, call: &Call, variant: Variant, capabilities: &Capabilities) -> Result<Plan> {
        let mut plan = PlanBuilder::new(call, variant, capabilities);
        let (rows, columns) = rows_of(&call.input(0).shape);
        let dtype = call.input(0).dtype;
        let invalid = plan.output(1);
        // Without rows there is nothing to bind, and every index is out of range.
        let invalid_first = if rows == 0 {
            call.input(1).len() as u32
        } else {
            0
        };
        plan.fill(invalid, DType::U32, 1, invalid_first);
        let n = call.outputs[0].len();
        if n == 0 {
            return plan.finish();
        }
        if rows == 0 {
            let y = plan.output(0);
            plan.fill(y, dtype, n, 0);
            return plan.finish();
        }
        let x = plan.dense(0);
        let index = plan.dense(1);
        let y = plan.output(0);
        let per_word = 4 / dtype.size() as u64;
        plan.step("gather_rows")
            .read("x", x, dtype, Width::Element)
            .read("index", index, DType::U32, Width::Element)
            .atomic("invalid", invalid)
            .write("y", y, dtype, Width::Element)
            .constant("WORKGROUP", WORKGROUP)
            .param(n as u32)
            .param(rows as u32)
            .param(columns as u32)
            .workgroups((n as u64).div_ceil(per_word * WORKGROUP as u64));
        plan.finish()
    }

    fn cpu(&self, call: &Call, inputs: &[Option<&HostTensor>]) -> Result<Vec<HostTensor>> {
        let (x, index) = (required(call, inputs, 0)?, required(call, inputs, 1)?);
        let (rows, columns) = rows_of(x.shape());
        let index: &[u32] = bytemuck::cast_slice(index.bytes());
        let mut y = HostTensor::zeros(x.dtype(), &call.outputs[0].shape);
        let row = columns * x.dtype().size();
        parallel::chunks_mut(y.bytes_mut(), row, |i, to| {
            let from = index[i] as usize;
            if from < rows {
                to.copy_from_slice(&x.bytes()[from * row..(from + 1) * row]);
            }
        });
        let invalid = index.iter().filter(|i| **i as usize >= rows).count();
        Ok(vec![y, HostTensor::new(&[1], vec![invalid as u32])?])
    }

    fn reference(&self, call: &Call, inputs: &[Option<&HostTensor>]) -> Result<Vec<Expected>> {
        let (x, index) = (required(call, inputs, 0)?, required(call, inputs, 1)?);
        let (rows, columns) = rows_of(x.shape());
        let size = columns * x.dtype().size();
        let mut bytes = Vec::new();
        let mut invalid = 0u32;
        for i in index.to_f64() {
            match (0.0..rows as f64).contains(&i) {
                true => bytes.extend(&x.bytes()[i as usize * size..][..size]),
                false => {
                    invalid += 1;
                    bytes.resize(bytes.len() + size, 0);
                }
            }
        }
        Ok(vec![
            Expected::Bits(HostTensor::from_bytes(
                x.dtype(),
                &call.outputs[0].shape,
                &bytes,
            )?),
            Expected::Bits(HostTensor::new(&[1], vec![invalid])?),
        ])
    }

    fn problems(&self, dtype: DType, effort: Effort) -> Vec<Problem> {
        let named = |shape: &[usize], indices: usize, range: [i64; 2]| {
            let [low, high] = range;
            Problem::new(format!("{indices} of {shape:?} by {low}..={high}"))
                .input(dtype, shape, Fill::Bits)
                .input(DType::I32, [indices], Fill::Integers { low, high })
        };
        let mut problems = vec![named(&[33, 65], 41, [0, 32])];
        if effort <= Effort::Quick {
            return problems;
        }
        problems.extend([
            named(&[1], 1, [0, 0]),
            named(&[257, 3, 5], 1000, [0, 256]),
            named(&[20, 7], 300, [-3, 25]).zeros_expected(),
            // Rows of one element, which is counted itself.
            named(&[9], 300, [-4, 13]).zeros_expected(),
            named(&[5, 4], 0, [0, 4]),
            named(&[0, 4], 3, [0, 4]).zeros_expected(),
            named(&[9], 513, [0, 8]),
            named(&[4, 9], 77, [0, 3]).unaligned_outputs(),
            named(&[12, 10], 50, [0, 11]).shared_buffers(),
            Problem::new("views")
                .view(
                    TensorSpec::new(dtype, [30, 7]).strided([1, 31]),
                    Fill::Bits,
                    0,
                )
                .view(
                    TensorSpec::new(DType::U32, [50]).unaligned(),
                    Fill::Integers { low: 0, high: 29 },
                    1,
                ),
        ]);
        problems
    }

    fn bench_problem(&self, dtype: DType, log2_size: u32) -> Option<Problem> {
        let columns = 256usize.min(1 << log2_size);
        let rows = (1usize << log2_size) / columns;
        let high = rows as i64 - 1;
        Some(
            Problem::new(format!("{rows} of {rows}x{columns}"))
                .input(dtype, [rows, columns], Fill::Bits)
                .input(DType::I32, [rows], Fill::Integers { low: 0, high }),
        )
    }
}
