//! `cast`: another dtype.

use crate::cpu;
use crate::device::Capabilities;
use crate::dtype::DType;
use crate::error::Result;
use crate::gate::oracle::elementwise as oracle;
use crate::gate::{Effort, Expected, Fill, Problem};
use crate::host::HostTensor;
use crate::kernels::elementwise::body::{Body, Operand};
use crate::kernels::elementwise::{input, output, problems, signature};
use crate::kernels::softmax::required;
use crate::operation::{Call, Operation, Signature, Variant};
use crate::params::{ParamSpec, Params};
use crate::plan::{Plan, PlanBuilder};
use crate::spec::TensorSpec;
use crate::tensor::{Tensor, call};

/// The elements of `x` in another dtype. To floats: rounded to nearest, ties to
/// even. From floats to integers: towards zero, saturating, NaN becomes 0.
/// Between integers: the same 32 bits. To the own dtype: a contiguous copy.
///
/// ```
/// use portcullis::{DType, Device, Tensor, ops};
/// let x = Tensor::from_slice(&Device::cpu(), &[-1.5f32, 2.5, f32::NAN, 3e9], &[4])?;
/// let y = ops::cast(&x, DType::I32)?;
/// assert_eq!(y.to_vec_blocking::<i32>()?, [-1, 2, 0, i32::MAX]);
/// # Ok::<(), portcullis::Error>(())
/// ```
///
/// # Errors
/// Those of [`call`].
pub fn cast(x: &Tensor, to: DType) -> Result<Tensor> {
    let params = Params::new().with("to", to.name());
    Ok(call("cast", &[Some(x)], &params)?.into_first())
}

pub(super) struct Cast {
    signature: Signature,
}

/// The dtype that parameter `to` names.
pub(super) fn target(call: &Call) -> Result<DType> {
    let name = call.params.text("to");
    DType::parse(name).ok_or_else(|| {
        let names: Vec<&str> = DType::ALL.iter().map(|d| d.name()).collect();
        let problem = format!("`{name}` is no dtype; there are {}", names.join(", "));
        call.parameter_error("to", problem)
    })
}

/// WGSL that converts `v0`, and whether it is about bits.
pub(super) fn conversion(from: DType, to: DType) -> (&'static str, bool) {
    use DType::{BF16, F16, F32, I32, U32};
    match (from, to) {
        (from, to) if from == to => ("v0", true),
        (F32 | F16 | BF16, F32 | F16 | BF16) => ("v0", false),
        (F32 | F16 | BF16, I32) => ("convert::f32_to_i32(v0)", false),
        (F32 | F16 | BF16, U32) => ("convert::f32_to_u32(v0)", false),
        // Rounded to odd, a second rounding to bf16 gives what one would.
        (I32, BF16) => ("convert::i32_to_f32_odd(v0)", false),
        (U32, BF16) => ("convert::u32_to_f32_odd(v0)", false),
        // What f32 rounds is beyond f16.
        (I32, F32 | F16) => ("convert::i32_to_f32(v0)", false),
        (U32, F32 | F16) => ("convert::u32_to_f32(v0)", false),
        (I32 | U32, I32 | U32) => ("v0", true),
    }
}

impl Cast {
    pub fn new() -> Cast {
        let x = input("x", DType::ALL, "any shape");
        let y = output("y", "shape of x, dtype `to`");
        let to = ParamSpec::required("to", "f32", "the dtype: f32, f16, bf16, i32 or u32");
        let doc = "another dtype: floats rounded to nearest even, integers saturating";
        Cast {
            signature: signature("cast", doc, DType::ALL, vec![x], vec![y], vec![to]),
        }
    }
}

impl Operation for Cast {
    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn infer(&self, call: &Call) -> Result<Vec<TensorSpec>> {
        Ok(vec![TensorSpec::new(
            target(call)?,
            call.input(0).shape.clone(),
        )])
    }

    fn plan(&self, call: &Call, variant: Variant, capabilities: &Capabilities) -> Result<Plan> {
        let mut plan = PlanBuilder::new(call, variant, capabilities);
        let to = plan.output(0);
        let dtype = call.outputs[0].dtype;
        let (expression, bits) = conversion(call.input(0).dtype, dtype);
        Body {
            operands: vec![Operand {
                bits,
                ..Operand::input(call, 0, "x")
            }],
            expression: expression.into(),
            shape: &call.outputs[0].shape,
            dtype,
            bits,
            values: [0; 2],
            user: None,
        }
        .plan(&mut plan, to);
        plan.finish()
    }

    fn cpu(&self, call: &Call, inputs: &[Option<&HostTensor>]) -> Result<Vec<HostTensor>> {
        let x = required(call, inputs, 0)?;
        Ok(vec![cpu::elementwise::cast(x, call.outputs[0].dtype)?])
    }

    fn reference(&self, call: &Call, inputs: &[Option<&HostTensor>]) -> Result<Vec<Expected>> {
        let x = required(call, inputs, 0)?;
        Ok(vec![oracle::cast(x, call.outputs[0].dtype)?])
    }

    fn problems(&self, dtype: DType, effort: Effort) -> Vec<Problem> {
        let place = DType::ALL.iter().position(|d| *d == dtype).unwrap_or(0);
        let mut problems = Vec::new();
        for (i, &to) in DType::ALL.iter().enumerate() {
            let cast = |name: &str, view: TensorSpec, fill: Fill| {
                Problem::new(format!("{name} to {to}"))
                    .view(view, fill, 0)
                    .param("to", to.name())
            };
            let dense = |n: usize| TensorSpec::new(dtype, [n]);
            let numbers = match dtype.is_float() {
                true => Fill::Normal {
                    mean: 0.0,
                    deviation: 1e3,
                },
                false => Fill::Bits,
            };
            match effort {
                Effort::Probe => problems.push(cast("7", dense(7), numbers)),
                // Two of five, another two for each dtype.
                Effort::Quick if (i + 5 - place) % 5 == 1 || (i + 5 - place) % 5 == 3 => {
                    problems.push(cast("301", dense(301), numbers));
                }
                Effort::Quick => {}
                Effort::Standard | Effort::Full => {
                    let special = problems::specials(dtype);
                    let patterns = problems::bit_patterns(dtype);
                    let strided = TensorSpec::new(dtype, [31, 20]).strided([1, 31]);
                    problems.extend([
                        cast("4099", dense(4099), numbers.clone()),
                        cast(
                            "special values",
                            dense(special.len()),
                            Fill::CycleBits(special),
                        )
                        .zeros_expected(),
                        cast(
                            "bit patterns",
                            dense(patterns.len()),
                            Fill::CycleBits(patterns),
                        )
                        .zeros_expected(),
                        cast("transposed", strided, numbers.clone()),
                        cast("unaligned", dense(77).unaligned(), numbers.clone())
                            .unaligned_outputs(),
                        cast("empty", dense(0), numbers),
                    ]);
                }
            }
        }
        problems
    }

    fn bench_problem(&self, dtype: DType, log2_size: u32) -> Option<Problem> {
        let n = 1usize << log2_size;
        let to = if dtype == DType::F16 {
            DType::F32
        } else {
            DType::F16
        };
        Some(
            Problem::new(format!("{n} to {to}"))
                .input(dtype, [n], Fill::NORMAL)
                .param("to", to.name()),
        )
    }
}
