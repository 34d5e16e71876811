//! Axes in another order.

use crate::device::Capabilities;
use crate::dtype::DType;
use crate::error::Result;
use crate::gate::{Effort, Expected, Fill, Problem};
use crate::host::HostTensor;
use crate::kernels::softmax::required;
use crate::operation::{Call, InputSpec, Operation, OutputSpec, Signature, Variant};
use crate::params::ParamSpec;
use crate::plan::{Plan, PlanBuilder, Width, merge_axes};
use crate::spec::{TensorSpec, row_major};

/// Elements along a side of the tiles that go through workgroup memory.
const SIDE: usize = 32;
const WORKGROUP: u32 = 256;

pub(super) struct Transpose {
    signature: Signature,
}

impl Transpose {
    pub fn new() -> Transpose {
        Transpose {
            signature: Signature {
                name: "transpose",
                family: "movement",
                doc: "the same elements with the axes in another order",
                inputs: vec![InputSpec {
                    name: "x",
                    dtypes: DType::ALL,
                    optional: false,
                    doc: "any shape",
                }],
                variadic: 0,
                outputs: vec![OutputSpec {
                    name: "y",
                    doc: "dtype of x; the shape of x in the order of axes",
                }],
                params: vec![ParamSpec::new(
                    "axes",
                    Vec::<i64>::new(),
                    "which axis of x each axis of y is; negative ones count from the end; none: reversed",
                )],
                dtypes: DType::ALL,
                variants: &[Variant::Portable, Variant::Cpu],
                gradient_of: None,
            },
        }
    }
}

/// Which axis of x each axis of y is.
fn order(call: &Call) -> Result<Vec<usize>> {
    let rank = call.input(0).shape.len();
    let given = call.params.ints("axes");
    if given.is_empty() {
        return Ok((0..rank).rev().collect());
    }
    let axis = |&axis: &i64| {
        let axis = if axis < 0 { axis + rank as i64 } else { axis };
        usize::try_from(axis).ok().filter(|axis| *axis < rank)
    };
    let order: Option<Vec<usize>> = given.iter().map(axis).collect();
    let each_once = |order: &Vec<usize>| {
        let mut sorted = order.clone();
        sorted.sort_unstable();
        sorted.into_iter().eq(0..rank)
    };
    order.filter(each_once).ok_or_else(|| {
        let problem = format!("{given:?} does not name each of {rank} axes once");
        call.parameter_error("axes", problem)
    })
}

fn permuted<T: Copy>(entries: &[T], order: &[usize]) -> Vec<T> {
    order.iter().map(|&axis| entries[axis]).collect()
}

/// [batch, rows, columns] of x where y is their two last axes exchanged.
fn exchange(shape: &[usize], strides: &[isize]) -> Option<[usize; 3]> {
    let (batch, rows, columns) = match merge_axes(shape, strides)[..] {
        [(columns, 1), (rows, step)] if step == columns as isize => (1, rows, columns),
        [(batch, far), (columns, 1), (rows, step)]
            if step == columns as isize && far == (rows * columns) as isize =>
        {
            (batch, rows, columns)
        }
        _ => return None,
    };
    Some([batch, rows, columns])
}

impl Operation for Transpose {
    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn infer(&self, call: &Call) -> Result<Vec<TensorSpec>> {
        let x = call.input(0);
        Ok(vec![TensorSpec::new(
            x.dtype,
            permuted(&x.shape, &order(call)?),
        )])
    }

    /// By tiles where two axes of a dense tensor of 32-bit elements are exchanged, else
    /// element by element.
    fn plan(&self, call: &Call, variant: Variant, capabilities: &Capabilities) -> Result<Plan> {
        let mut plan = PlanBuilder::new(call, variant, capabilities);
        let x = call.input(0);
        if x.is_empty() {
            return plan.finish();
        }
        let order = order(call)?;
        let shape = permuted(&x.shape, &order);
        let to = plan.output(0);
        let from = plan.dense(0);
        let strides = permuted(&row_major(&x.shape), &order);
        let tiles = exchange(&shape, &strides).filter(|_| x.dtype.size() == 4);
        let Some([batch, rows, columns]) = tiles else {
            plan.copy_axes(from, x.dtype, &shape, &strides, to);
            return plan.finish();
        };
        let (down, across) = (rows.div_ceil(SIDE), columns.div_ceil(SIDE));
        plan.step("transpose")
            .read("x", from, DType::U32, Width::Element)
            .words("y", to)
            .constant("WORKGROUP", WORKGROUP)
            .constant("SIDE", SIDE as u32)
            .workgroup_bytes(4 * (SIDE * (SIDE + 1)) as u64)
            // Elements of the tile are read where the same bounds let them be written.
            .unzeroed()
            .param(batch as u32)
            .param(rows as u32)
            .param(columns as u32)
            .param(down as u32)
            .param(across as u32)
            .workgroups(batch as u64 * down as u64 * across as u64);
        plan.finish()
    }

    fn cpu(&self, call: &Call, inputs: &[Option<&HostTensor>]) -> Result<Vec<HostTensor>> {
        let x = required(call, inputs, 0)?;
        let order = order(call)?;
        let shape = permuted(x.shape(), &order);
        let strides = permuted(&row_major(x.shape()), &order);
        Ok(vec![HostTensor::gather(
            x.dtype(),
            &shape,
            &strides,
            x.bytes(),
            0,
        )?])
    }

    /// Where each element of x goes, rather than where each of y comes from.
    fn reference(&self, call: &Call, inputs: &[Option<&HostTensor>]) -> Result<Vec<Expected>> {
        let x = required(call, inputs, 0)?;
        let order = order(call)?;
        let size = x.dtype().size();
        let shape = permuted(x.shape(), &order);
        let mut bytes = vec![0u8; x.bytes().len()];
        let mut place = vec![0usize; x.shape().len()];
        for element in x.bytes().chunks(size) {
            let at = order
                .iter()
                .zip(&shape)
                .fold(0, |at, (&axis, extent)| at * extent + place[axis]);
            bytes[at * size..(at + 1) * size].copy_from_slice(element);
            for (index, extent) in place.iter_mut().zip(x.shape()).rev() {
                *index += 1;
                if *index < *extent {
                    break;
                }
                *index = 0;
            }
        }
        Ok(vec![Expected::Bits(HostTensor::from_bytes(
            x.dtype(),
            &shape,
            &bytes,
        )?)])
    }

    fn problems(&self, dtype: DType, effort: Effort) -> Vec<Problem> {
        let named = |shape: &[usize], axes: &[i64]| {
            Problem::new(format!("{shape:?} {axes:?}"))
                .input(dtype, shape, Fill::Bits)
                .param("axes", axes.to_vec())
        };
        let mut problems = vec![named(&[33, 65], &[])];
        if effort <= Effort::Quick {
            return problems;
        }
        let strided = TensorSpec::new(dtype, [40, 30]).strided([1, 43]);
        let unaligned = TensorSpec::new(dtype, [37, 41]).unaligned();
        problems.extend([
            named(&[], &[]),
            named(&[0, 5], &[]),
            named(&[7], &[]),
            named(&[1, 1], &[]),
            named(&[32, 32], &[]),
            named(&[31, 64], &[]),
            named(&[257, 130], &[1, 0]),
            named(&[3, 65, 34], &[0, 2, 1]),
            named(&[5, 40, 6, 7], &[0, -2, -1, 1]),
            named(&[4, 3, 5, 2], &[3, 1, 0, 2]),
            named(&[2, 3, 2, 3, 2], &[]),
            named(&[20, 30], &[0, 1]),
            Problem::new("strided").view(strided, Fill::Bits, 0),
            Problem::new("unaligned")
                .view(unaligned, Fill::Bits, 3)
                .unaligned_outputs(),
            named(&[65, 33], &[]).shared_buffers(),
        ]);
        if effort == Effort::Full {
            problems.push(named(&[4099, 4097], &[]));
        }
        problems
    }

    fn bench_problem(&self, dtype: DType, log2_size: u32) -> Option<Problem> {
        let rows = 1usize << (log2_size / 2);
        let columns = 1usize << log2_size.div_ceil(2);
        Some(Problem::new(format!("{rows}x{columns}")).input(dtype, [rows, columns], Fill::Bits))
    }
}
