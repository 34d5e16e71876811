//! The operation `matmul`.

use crate::cpu;
use crate::device::Capabilities;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::gate::{Effort, Expected, Problem, oracle};
use crate::host::HostTensor;
use crate::kernels::matmul::epilogue::Epilogue;
use crate::kernels::matmul::operand::Operand;
use crate::kernels::matmul::problems;
use crate::kernels::matmul::product::{Addend, Product};
use crate::kernels::matmul::shape::{Extents, broadcast_steps};
use crate::operation::{Call, Cost, InputSpec, Operation, OutputSpec, Signature, Variant};
use crate::params::ParamSpec;
use crate::plan::{Plan, PlanBuilder};
use crate::spec::{TensorSpec, broadcast_shapes, broadcast_strides};

pub(super) const VARIANTS: &[Variant] = &[Variant::Subgroup, Variant::Portable, Variant::Cpu];

/// The position of `c` among the inputs.
pub(crate) const C: usize = 2;
/// The position of `bias` among the inputs.
pub(crate) const BIAS: usize = 3;

pub(super) fn factor_spec(name: &'static str, doc: &'static str) -> InputSpec {
    InputSpec {
        name,
        dtypes: DType::FLOATS,
        optional: false,
        doc,
    }
}

pub(super) fn factor_params() -> Vec<ParamSpec> {
    vec![
        ParamSpec::new("trans_a", false, "whether a holds transposes, [..., k, m]"),
        ParamSpec::new("trans_b", false, "whether b holds transposes, [..., n, k]"),
        ParamSpec::new(
            "alpha",
            1.0,
            "the product's scale; at 0 a and b are not read",
        ),
    ]
}

/// Refuses a scale that f32 does not hold.
pub(super) fn check_scale(call: &Call, name: &str) -> Result<()> {
    if (call.params.float(name) as f32).is_finite() {
        return Ok(());
    }
    Err(call.parameter_error(
        name,
        format!("{} is not a finite f32", call.params.float(name)),
    ))
}

/// Refuses the fast variant where shaders are compiled with run-time checks:
/// its large tiles are then slower than the portable ones.
pub(super) fn require_unchecked(
    call: &Call,
    variant: Variant,
    capabilities: &Capabilities,
) -> Result<()> {
    if variant == Variant::Subgroup && !capabilities.unchecked_shaders {
        return Err(Error::Unavailable {
            operation: call.name().into(),
            reason: "shaders cannot be compiled without run-time checks here".into(),
        });
    }
    Ok(())
}

pub(crate) fn epilogue_of(call: &Call) -> Epilogue {
    Epilogue::parse(call.params.text("epilogue")).unwrap_or_default()
}

pub(super) struct Matmul {
    signature: Signature,
}

impl Matmul {
    pub fn new() -> Matmul {
        let optional = |name, doc| InputSpec {
            optional: true,
            ..factor_spec(name, doc)
        };
        let mut params = factor_params();
        params.extend([
            ParamSpec::new("beta", 0.0, "the scale of c; at 0 c is not read"),
            ParamSpec::new(
                "epilogue",
                "none",
                "applied at the end: none, relu, gelu_erf, gelu_tanh, silu",
            ),
        ]);
        Matmul {
            signature: Signature {
                name: "matmul",
                family: "matmul",
                doc: "epilogue(alpha op(a) op(b) + beta c + bias), op transposing or not",
                inputs: vec![
                    factor_spec("a", "[..., m, k]; batch axes broadcast"),
                    factor_spec("b", "[..., k, n]; dtype of a"),
                    optional("c", "broadcasts to the result; dtype of a"),
                    optional("bias", "[n], added to each row; dtype of a"),
                ],
                variadic: 0,
                outputs: vec![OutputSpec {
                    name: "y",
                    doc: "[..., m, n]; dtype of a",
                }],
                params,
                dtypes: DType::FLOATS,
                variants: VARIANTS,
                gradient_of: None,
            },
        }
    }
}

impl Operation for Matmul {
    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn infer(&self, call: &Call) -> Result<Vec<TensorSpec>> {
        let extents = Extents::of(call)?;
        check_scale(call, "alpha")?;
        check_scale(call, "beta")?;
        let epilogue = call.params.text("epilogue");
        if Epilogue::parse(epilogue).is_none() {
            let known: Vec<&str> = Epilogue::ALL.iter().map(|e| e.name()).collect();
            return Err(call.parameter_error(
                "epilogue",
                format!("`{epilogue}` is none of: {}", known.join(", ")),
            ));
        }
        let (dtype, shape) = (call.input(0).dtype, extents.result());
        for (name, index) in [("c", C), ("bias", BIAS)] {
            let Some(input) = &call.inputs[index] else {
                continue;
            };
            if input.dtype != dtype {
                return Err(call.shape_error(format!(
                    "{name} is {} and a {dtype}; they must be of one dtype, convert one with `cast`",
                    input.dtype
                )));
            }
        }
        if let Some(c) = &call.inputs[C]
            && broadcast_shapes(call.name(), &[&c.shape, &shape])? != shape
        {
            return Err(call.shape_error(format!(
                "c is {:?}, which does not broadcast to the result, {shape:?}",
                c.shape
            )));
        }
        if let Some(bias) = &call.inputs[BIAS]
            && bias.shape != [extents.n]
        {
            return Err(call.shape_error(format!(
                "bias is {:?}; the result has {} columns, so it must be [{}]",
                bias.shape, extents.n, extents.n
            )));
        }
        Ok(vec![TensorSpec::new(dtype, shape)])
    }

    fn plan(&self, call: &Call, variant: Variant, capabilities: &Capabilities) -> Result<Plan> {
        require_unchecked(call, variant, capabilities)?;
        let mut plan = PlanBuilder::new(call, variant, capabilities);
        if call.outputs[0].is_empty() {
            return plan.finish();
        }
        let extents = Extents::of(call)?;
        let factor = |plan: &mut PlanBuilder<'_>, index: usize, trans: &str| {
            let spec = call.input(index);
            let mut operand =
                Operand::new(plan, call, index).transposed_if(call.params.bool(trans));
            let own = &spec.shape[..spec.rank() - 2];
            operand.batch = broadcast_steps(own, &operand.batch, &extents.batch);
            operand
        };
        let a = factor(&mut plan, 0, "trans_a");
        let b = factor(&mut plan, 1, "trans_b");
        let beta = call.params.float("beta") as f32;
        let addend = |index: usize| {
            let spec = call.inputs[index].as_ref()?;
            let mut batch = broadcast_strides(spec, &call.outputs[0].shape);
            let column = batch.pop()?;
            let row = batch.pop()?;
            Some(Addend {
                index,
                row,
                column,
                batch,
            })
        };
        let product = Product {
            m: extents.m,
            n: extents.n,
            k: extents.k,
            a,
            b,
            batch: extents.batch.clone(),
            summed: 0,
            alpha: call.params.float("alpha") as f32,
            beta,
            c: addend(C).filter(|_| beta != 0.0),
            bias: addend(BIAS),
            epilogue: epilogue_of(call),
        };
        let target = plan.output(0);
        product.plan(&mut plan, call, capabilities, target, call.outputs[0].dtype);
        plan.finish()
    }

    fn cpu(&self, call: &Call, inputs: &[Option<&HostTensor>]) -> Result<Vec<HostTensor>> {
        Ok(vec![cpu::matmul::matmul(call, inputs)?])
    }

    fn reference(&self, call: &Call, inputs: &[Option<&HostTensor>]) -> Result<Vec<Expected>> {
        Ok(vec![oracle::matmul::matmul(call, inputs)?])
    }

    fn problems(&self, dtype: DType, effort: Effort) -> Vec<Problem> {
        problems::forward(dtype, effort)
    }

    fn bench_problem(&self, dtype: DType, log2_size: u32) -> Option<Problem> {
        Some(problems::square(dtype, 1 << (log2_size / 2)))
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
            flops: 2 * depth * call.outputs[0].len() as u64,
        }
    }

    // `bias: true` says that the input is there, `batched` that there are batch axes.
    fn baseline_facts(&self) -> &'static [&'static str] {
        &["bias", "batched"]
    }
}
