//! The operation `matmul_backward`: two products of the same kernels.

use crate::cpu;
use crate::device::Capabilities;
use crate::dtype::DType;
use crate::error::Result;
use crate::gate::{Effort, Expected, Problem, oracle};
use crate::host::HostTensor;
use crate::kernels::matmul::epilogue::Epilogue;
use crate::kernels::matmul::forward::{
    VARIANTS, check_scale, factor_params, factor_spec, require_unchecked,
};
use crate::kernels::matmul::operand::Operand;
use crate::kernels::matmul::problems;
use crate::kernels::matmul::product::Product;
use crate::kernels::matmul::shape::{Extents, broadcast_steps};
use crate::operation::{Call, Cost, Operation, OutputSpec, Signature, Variant};
use crate::plan::{Plan, PlanBuilder};
use crate::spec::TensorSpec;

/// The position of `cotangent` among the inputs.
pub(crate) const COTANGENT: usize = 2;

/// One of the two gradients as a product left · right:
/// with dY the cotangent, d op(a) = dY · op(b)ᵀ and d op(b) = op(a)ᵀ · dY,
/// transposed where the factor is stored transposed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct GradientProduct {
    /// The input on the left, and whether as its transpose (as stored).
    pub left: (usize, bool),
    /// The input on the right, and whether as its transpose (as stored).
    pub right: (usize, bool),
    /// Rows, columns and summed extent.
    pub rows: usize,
    pub columns: usize,
    pub depth: usize,
}

impl GradientProduct {
    /// The gradient of input `index`, 0 or 1.
    pub fn of(call: &Call, extents: &Extents, index: usize) -> GradientProduct {
        let (trans_a, trans_b) = (call.params.bool("trans_a"), call.params.bool("trans_b"));
        let Extents { m, n, k, .. } = *extents;
        let (left, right, rows, columns, depth) = match (index, trans_a, trans_b) {
            (0, false, _) => ((COTANGENT, false), (1, !trans_b), m, k, n),
            (0, true, _) => ((1, trans_b), (COTANGENT, true), k, m, n),
            (_, _, false) => ((0, !trans_a), (COTANGENT, false), k, n, m),
            (_, _, true) => ((COTANGENT, true), (0, trans_a), n, k, m),
        };
        GradientProduct {
            left,
            right,
            rows,
            columns,
            depth,
        }
    }
}

/// The batch axes in the order of a gradient's product: those that the factor
/// `index` is broadcast along first (their products are summed), and their number.
pub(crate) fn gradient_axes(call: &Call, extents: &Extents, index: usize) -> (Vec<usize>, usize) {
    let spec = call.input(index);
    let own = &spec.shape[..spec.rank() - 2];
    let missing = extents.batch.len() - own.len();
    let broadcast = |axis: usize| axis < missing || own[axis - missing] != extents.batch[axis];
    let (summed, kept): (Vec<usize>, Vec<usize>) =
        (0..extents.batch.len()).partition(|&axis| broadcast(axis));
    let count = summed.len();
    (summed.into_iter().chain(kept).collect(), count)
}

pub(super) struct MatmulBackward {
    signature: Signature,
}

impl MatmulBackward {
    pub fn new() -> MatmulBackward {
        let output = |name, doc| OutputSpec { name, doc };
        MatmulBackward {
            signature: Signature {
                name: "matmul_backward",
                family: "matmul",
                doc: "the gradients of both factors, from the cotangent of alpha op(a) op(b)",
                inputs: vec![
                    factor_spec("a", "[..., m, k], as in the forward pass"),
                    factor_spec("b", "[..., k, n], as in the forward pass; dtype of a"),
                    factor_spec("cotangent", "shape of the result; dtype of a"),
                ],
                variadic: 0,
                outputs: vec![
                    output("a", "the gradient: shape and dtype of a"),
                    output("b", "the gradient: shape and dtype of b"),
                ],
                params: factor_params(),
                dtypes: DType::FLOATS,
                variants: VARIANTS,
                gradient_of: Some("matmul"),
            },
        }
    }
}

impl Operation for MatmulBackward {
    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn infer(&self, call: &Call) -> Result<Vec<TensorSpec>> {
        let extents = Extents::of(call)?;
        check_scale(call, "alpha")?;
        let (a, b, cotangent) = (call.input(0), call.input(1), call.input(COTANGENT));
        if cotangent.shape != extents.result() || cotangent.dtype != a.dtype {
            return Err(call.shape_error(format!(
                "the cotangent is {}{:?}; the result is {}{:?}, and they must be alike",
                cotangent.dtype,
                cotangent.shape,
                a.dtype,
                extents.result()
            )));
        }
        Ok(vec![
            TensorSpec::new(a.dtype, a.shape.clone()),
            TensorSpec::new(b.dtype, b.shape.clone()),
        ])
    }

    fn plan(&self, call: &Call, variant: Variant, capabilities: &Capabilities) -> Result<Plan> {
        require_unchecked(call, variant, capabilities)?;
        let mut plan = PlanBuilder::new(call, variant, capabilities);
        let extents = Extents::of(call)?;
        for index in 0..2 {
            if call.outputs[index].is_empty() {
                continue;
            }
            let gradient = GradientProduct::of(call, &extents, index);
            let (axes, summed) = gradient_axes(call, &extents, index);
            let mut factor = |(input, transposed): (usize, bool)| {
                let spec = call.input(input);
                let mut operand = Operand::new(&mut plan, call, input).transposed_if(transposed);
                let own = &spec.shape[..spec.rank() - 2];
                let steps = broadcast_steps(own, &operand.batch, &extents.batch);
                operand.batch = axes.iter().map(|&axis| steps[axis]).collect();
                operand
            };
            let product = Product {
                m: gradient.rows,
                n: gradient.columns,
                k: gradient.depth,
                a: factor(gradient.left),
                b: factor(gradient.right),
                batch: axes.iter().map(|&axis| extents.batch[axis]).collect(),
                summed,
                alpha: call.params.float("alpha") as f32,
                beta: 0.0,
                c: None,
                bias: None,
                epilogue: Epilogue::None,
            };
            let target = plan.output(index);
            let dtype = call.outputs[index].dtype;
            product.plan(&mut plan, call, capabilities, target, dtype);
        }
        plan.finish()
    }

    fn cpu(&self, call: &Call, inputs: &[Option<&HostTensor>]) -> Result<Vec<HostTensor>> {
        cpu::matmul::matmul_backward(call, inputs)
    }

    fn reference(&self, call: &Call, inputs: &[Option<&HostTensor>]) -> Result<Vec<Expected>> {
        oracle::matmul::matmul_backward(call, inputs)
    }

    fn problems(&self, dtype: DType, effort: Effort) -> Vec<Problem> {
        problems::backward(dtype, effort)
    }

    fn bench_problem(&self, dtype: DType, log2_size: u32) -> Option<Problem> {
        let n = 1usize << (log2_size / 2);
        let factors = problems::square(dtype, n);
        Some(factors.input(dtype, [n, n], crate::gate::Fill::NORMAL))
    }

    fn cost(&self, call: &Call) -> Cost {
        let bytes = |spec: &TensorSpec| spec.len() as u64 * spec.dtype.size() as u64;
        let depth = Extents::of(call).map_or(0, |e| e.k as u64);
        Cost {
            bytes: call
                .inputs
                .iter()
                .flatten()
                .chain(&call.outputs)
                .map(bytes)
                .sum(),
            flops: 4 * depth * call.input(COTANGENT).len() as u64,
        }
    }
}
