//! `where`: one of two operands, by a condition.

use crate::cpu;
use crate::device::Capabilities;
use crate::dtype::DType;
use crate::error::Result;
use crate::gate::oracle::elementwise as oracle;
use crate::gate::{Effort, Expected, Fill, Problem};
use crate::host::HostTensor;
use crate::kernels::elementwise::binary::same_dtype;
use crate::kernels::elementwise::body::{Body, Operand};
use crate::kernels::elementwise::{INTEGERS, input, output, problems, signature};
use crate::kernels::softmax::required;
use crate::operation::{Call, Operation, Signature, Variant};
use crate::params::Params;
use crate::plan::{Plan, PlanBuilder};
use crate::spec::{TensorSpec, broadcast_shapes};
use crate::tensor::{Tensor, call};

/// `a` where `condition` is not 0, `b` elsewhere; the three broadcast. Bits are
/// kept. (`where` is a keyword of Rust, hence the underscore.)
///
/// ```
/// use portcullis::{Device, Tensor, ops};
/// let device = Device::cpu();
/// let x = Tensor::from_slice(&device, &[-1.0f32, 2.0, -3.0], &[3])?;
/// let zero = Tensor::from_slice(&device, &[0.0f32], &[])?;
/// let y = ops::where_(&ops::gt(&x, &zero)?, &x, &zero)?;
/// assert_eq!(y.to_vec_blocking::<f32>()?, [0.0, 2.0, 0.0]);
/// # Ok::<(), portcullis::Error>(())
/// ```
///
/// # Errors
/// [`Error::DType`](crate::Error::DType) for a condition of floats or when the dtypes of `a` and `b`
/// differ, [`Error::Shape`](crate::Error::Shape) when the shapes do not broadcast, and those of [`call`].
pub fn where_(condition: &Tensor, a: &Tensor, b: &Tensor) -> Result<Tensor> {
    let inputs = [Some(condition), Some(a), Some(b)];
    Ok(call("where", &inputs, &Params::new())?.into_first())
}

pub(super) struct Where {
    signature: Signature,
}

impl Where {
    pub fn new() -> Where {
        let inputs = vec![
            input("condition", INTEGERS, "any shape; 0 takes b, all else a"),
            input("a", DType::ALL, "the shapes of all three broadcast"),
            input("b", DType::ALL, "dtype of a"),
        ];
        let y = output("y", "dtype of a; the shape that the inputs broadcast to");
        let doc = "a where the condition is not 0, b elsewhere";
        Where {
            signature: signature("where", doc, DType::ALL, inputs, vec![y], vec![]),
        }
    }
}

impl Operation for Where {
    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn infer(&self, call: &Call) -> Result<Vec<TensorSpec>> {
        same_dtype(call, 1, 2)?;
        let shapes = [0, 1, 2].map(|i| &call.input(i).shape[..]);
        let shape = broadcast_shapes(call.name(), &shapes)?;
        Ok(vec![TensorSpec::new(call.input(1).dtype, shape)])
    }

    fn plan(&self, call: &Call, variant: Variant, capabilities: &Capabilities) -> Result<Plan> {
        let mut plan = PlanBuilder::new(call, variant, capabilities);
        let to = plan.output(0);
        Body {
            operands: vec![
                Operand::input(call, 0, "condition"),
                Operand::input(call, 1, "a").moved(),
                Operand::input(call, 2, "b").moved(),
            ],
            expression: "select(v2, v1, v0 != 0)".into(),
            shape: &call.outputs[0].shape,
            dtype: call.outputs[0].dtype,
            bits: true,
            values: [0; 2],
            user: None,
        }
        .plan(&mut plan, to);
        plan.finish()
    }

    fn cpu(&self, call: &Call, inputs: &[Option<&HostTensor>]) -> Result<Vec<HostTensor>> {
        let [condition, a, b] = [0, 1, 2].map(|i| required(call, inputs, i));
        let output = &call.outputs[0];
        Ok(vec![cpu::elementwise::select(condition?, a?, b?, output)])
    }

    fn reference(&self, call: &Call, inputs: &[Option<&HostTensor>]) -> Result<Vec<Expected>> {
        let [condition, a, b] = [0, 1, 2].map(|i| required(call, inputs, i));
        let output = &call.outputs[0];
        Ok(vec![oracle::select(condition?, a?, b?, output)])
    }

    fn problems(&self, dtype: DType, effort: Effort) -> Vec<Problem> {
        let mask = Fill::Mask(0.4);
        let problem = |condition: (DType, &[usize]), a: &[usize], b: &[usize]| {
            Problem::new(format!("{condition:?} {a:?} {b:?}"))
                .input(condition.0, condition.1, mask.clone())
                .input(dtype, a, Fill::Bits)
                .input(dtype, b, Fill::Bits)
        };
        let n = [301];
        match effort {
            Effort::Probe => return vec![problem((DType::U32, &n), &n, &n)],
            Effort::Quick => {
                return match problems::quick(DType::F32, 8, dtype) {
                    true => vec![problem((DType::U32, &n), &n, &n)],
                    false => vec![],
                };
            }
            Effort::Standard | Effort::Full => {}
        }
        let strided = TensorSpec::new(dtype, [31, 20]).strided([1, 31]);
        vec![
            problem((DType::U32, &[4099]), &[4099], &[4099]),
            problem((DType::I32, &[4099]), &[4099], &[]),
            problem((DType::U32, &[37, 1]), &[40], &[37, 40]),
            problem((DType::U32, &[31]), &[37, 1], &[1]),
            problem((DType::U32, &[]), &[7, 9], &[9]).zeros_expected(),
            problem((DType::U32, &[0]), &[1], &[0]),
            Problem::new("any condition but 0")
                .input(DType::I32, [999], Fill::Integers { low: -1, high: 1 })
                .input(dtype, [999], Fill::Bits)
                .input(dtype, [999], Fill::Bits),
            Problem::new("views")
                .view(
                    TensorSpec::new(DType::U32, [31, 20]).unaligned(),
                    mask.clone(),
                    1,
                )
                .view(strided, Fill::Bits, 0)
                .view(TensorSpec::new(dtype, [20]).unaligned(), Fill::Bits, 3)
                .unaligned_outputs(),
            problem((DType::U32, &[77]), &[77], &[77]).shared_buffers(),
        ]
    }

    fn bench_problem(&self, dtype: DType, log2_size: u32) -> Option<Problem> {
        let n = 1usize << log2_size;
        Some(
            Problem::new(n.to_string())
                .input(DType::U32, [n], Fill::Mask(0.5))
                .input(dtype, [n], Fill::Bits)
                .input(dtype, [n], Fill::Bits),
        )
    }
}
