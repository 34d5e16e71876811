//! The gradients of reductions.

use crate::cpu;
use crate::device::Capabilities;
use crate::dtype::DType;
use crate::error::Result;
use crate::gate::{Effort, Expected, Problem, oracle};
use crate::host::HostTensor;
use crate::kernels::reduce::axes::Reduction;
use crate::kernels::reduce::forward::{Kind, VARIANTS};
use crate::kernels::reduce::operator::Operator;
use crate::kernels::reduce::problems;
use crate::kernels::reduce::steps::{self, Sink, Source};
use crate::kernels::softmax::required;
use crate::operation::{Call, InputSpec, Operation, OutputSpec, Signature, Variant};
use crate::plan::{Plan, PlanBuilder, Slot, Width, dense_bytes};
use crate::spec::TensorSpec;

/// The gradient of one reduction.
pub(super) struct ReduceBackward {
    signature: Signature,
    kind: Kind,
}

impl ReduceBackward {
    /// The gradient of `kind`; indices have none.
    pub fn new(kind: Kind) -> Option<ReduceBackward> {
        let name = match kind {
            Kind::Sum => "reduce_sum_backward",
            Kind::Mean => "reduce_mean_backward",
            Kind::Var => "reduce_var_backward",
            Kind::Prod => "reduce_prod_backward",
            Kind::Min => "reduce_min_backward",
            Kind::Max => "reduce_max_backward",
            Kind::ArgMin | Kind::ArgMax => return None,
        };
        let input = |name, doc| InputSpec {
            name,
            dtypes: DType::FLOATS,
            optional: false,
            doc,
        };
        Some(ReduceBackward {
            signature: Signature {
                name,
                family: "reduce",
                doc: match kind {
                    Kind::Min | Kind::Max => {
                        "the gradient of x: the cotangent, split evenly among equal elements"
                    }
                    _ => "the gradient of x, from x and the cotangent of its reduction",
                },
                inputs: vec![
                    input("x", "the input of the forward pass"),
                    input("cotangent", "shape of the result, dtype of x"),
                ],
                variadic: 0,
                outputs: vec![OutputSpec {
                    name: "x",
                    doc: "the gradient: shape and dtype of x",
                }],
                params: kind.params(),
                dtypes: DType::FLOATS,
                variants: VARIANTS,
                gradient_of: Some(kind.name()),
            },
            kind,
        })
    }

    /// The operator whose results the gradient needs, and its gradient.
    fn operator(&self, dtype: DType) -> Operator {
        match self.kind {
            Kind::Prod => Operator::new("op/factors", "value/pair", dtype),
            Kind::Min | Kind::Max => Operator::new("op/ties", "value/pair", dtype)
                .constant("LARGEST", self.kind == Kind::Max),
            kind => kind.operator(dtype),
        }
    }
}

impl Operation for ReduceBackward {
    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn infer(&self, call: &Call) -> Result<Vec<TensorSpec>> {
        let reduction = Reduction::of(call)?;
        let (x, cotangent) = (call.input(0), call.input(1));
        if cotangent.shape != reduction.result || cotangent.dtype != x.dtype {
            return Err(call.shape_error(format!(
                "the cotangent is {}{:?}; for x {}{:?} it must be {}{:?}",
                cotangent.dtype, cotangent.shape, x.dtype, x.shape, x.dtype, reduction.result
            )));
        }
        Ok(vec![TensorSpec::new(x.dtype, x.shape.clone())])
    }

    /// Reduces x to what the gradient needs to know of each result, then computes
    /// every element's gradient. In range: quads of x and its gradient below
    /// ⌈n/4⌉ of dense slots; results i/(extent·inner)·inner + i mod inner below
    /// outer·inner for i < n, and their first elements below n.
    fn plan(&self, call: &Call, variant: Variant, capabilities: &Capabilities) -> Result<Plan> {
        let mut plan = PlanBuilder::new(call, variant, capabilities);
        plan.require_subgroups()?;
        let reduction = Reduction::of(call)?;
        let dtype = call.input(0).dtype;
        let n = call.input(0).len();
        if n == 0 {
            return plan.finish();
        }
        let operator = self.operator(dtype);
        let needs_x = !matches!(self.kind, Kind::Sum | Kind::Mean);
        let statistics = needs_x.then(|| {
            let x = reduction.input(&mut plan, call, 0);
            let values = steps::scratch(&mut plan, &operator, reduction.results());
            let shape = [reduction.outer, reduction.extent, reduction.inner];
            let source = Source::Elements(x, dtype);
            steps::reduce(&mut plan, &operator, source, shape, Sink::Values(values));
            (x, values)
        });
        let cotangent = plan.dense(1);
        let target = plan.output(0);
        let gradient: Slot = match reduction.permuted() {
            true => plan.scratch("gradient", dense_bytes(dtype, n)),
            false => target,
        };
        let fast = plan.variant() != Variant::Portable;
        let mut step = plan.step("reduce_backward");
        if let Some((x, values)) = statistics {
            step = step
                .read("x", x, dtype, Width::Quad)
                .read("stored", values, DType::U32, Width::Element)
                .module("statistics", "value/load", &[("storage", "stored_storage")])
                .flag("statistics", true)
                .flag("shifted", operator.shifted);
        }
        step = operator
            .link(step)
            .read("cotangent", cotangent, dtype, Width::Element)
            .write("grad", gradient, dtype, Width::Quad)
            .constant("WORKGROUP", steps::WORKGROUP as u32)
            .param(n as u32)
            .param(reduction.extent as u32)
            .param(reduction.inner as u32)
            .param(self.kind.parameter(call, &reduction));
        if fast {
            step = step.unchecked();
        }
        step.workgroups((n as u64).div_ceil(4 * steps::WORKGROUP as u64));
        reduction.restore(&mut plan, gradient, dtype, target);
        plan.finish()
    }

    fn cpu(&self, call: &Call, inputs: &[Option<&HostTensor>]) -> Result<Vec<HostTensor>> {
        let (x, cotangent) = (required(call, inputs, 0)?, required(call, inputs, 1)?);
        let reduction = Reduction::of(call)?;
        let divisor = self.kind.divisor(call, &reduction);
        Ok(vec![cpu::reduce::backward(
            self.kind, x, cotangent, &reduction, divisor,
        )?])
    }

    fn reference(&self, call: &Call, inputs: &[Option<&HostTensor>]) -> Result<Vec<Expected>> {
        let (x, cotangent) = (required(call, inputs, 0)?, required(call, inputs, 1)?);
        Ok(vec![oracle::reduce::backward(
            self.kind, call, x, cotangent,
        )?])
    }

    fn problems(&self, dtype: DType, effort: Effort) -> Vec<Problem> {
        problems::backward(self.kind, dtype, effort)
    }

    fn bench_problem(&self, dtype: DType, log2_size: u32) -> Option<Problem> {
        let columns = 1usize << (log2_size / 2);
        let rows = (1usize << log2_size) / columns;
        Some(
            Problem::new(format!("{rows}x{columns}"))
                .input(dtype, [rows, columns], problems::usual(self.kind, dtype))
                .input(dtype, [rows], crate::gate::Fill::NORMAL)
                .param("axes", vec![1i64]),
        )
    }
}
