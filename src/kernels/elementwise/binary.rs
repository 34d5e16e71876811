//! Functions of two operands.

use crate::cpu;
use crate::device::Capabilities;
use crate::dtype::DType;
use crate::error::Result;
use crate::gate::oracle::elementwise as oracle;
use crate::gate::{Effort, Expected, Fill, Problem};
use crate::host::HostTensor;
use crate::kernels::elementwise::body::{Body, Operand};
use crate::kernels::elementwise::{INTEGERS, input, output, problems, signature};
use crate::kernels::math_table::{BinaryMath, IntegerBinary, IntegerMath};
use crate::kernels::softmax::required;
use crate::operation::{Call, Operation, Signature, Variant};
use crate::plan::{Plan, PlanBuilder};
use crate::spec::{TensorSpec, broadcast_shapes};

/// A row of the table of functions of two numbers.
pub(super) struct Binary {
    signature: Signature,
    /// What it is on floats.
    float: Option<&'static BinaryMath>,
    /// What it is on integers.
    integer: IntegerBinary,
    comparison: bool,
    /// Its row: which of the many dtypes are gated quickly.
    index: usize,
}

impl Binary {
    pub fn float(math: &'static BinaryMath, index: usize) -> Binary {
        Binary {
            signature: Binary::signature_of(math.name, math.doc, DType::ALL, math.comparison),
            float: Some(math),
            integer: math.integer,
            comparison: math.comparison,
            index,
        }
    }

    pub fn integer(math: &'static IntegerMath<IntegerBinary>) -> Binary {
        Binary {
            signature: Binary::signature_of(math.name, math.doc, INTEGERS, false),
            float: None,
            integer: math.integer,
            comparison: false,
            index: 1,
        }
    }

    fn signature_of(
        name: &'static str,
        doc: &'static str,
        dtypes: &'static [DType],
        comparison: bool,
    ) -> Signature {
        let inputs = vec![
            input("a", dtypes, "any shape"),
            input("b", dtypes, "dtype of a; the shapes broadcast"),
        ];
        let y = output(
            "y",
            match comparison {
                true => "u32: 1 where it holds, else 0; the shape that a and b broadcast to",
                false => "dtype of a; the shape that a and b broadcast to",
            },
        );
        signature(name, doc, dtypes, inputs, vec![y], vec![])
    }
}

/// Refuses inputs `first` and `second` of different dtypes.
pub(super) fn same_dtype(call: &Call, first: usize, second: usize) -> Result<()> {
    let (Some(a), Some(b)) = (&call.inputs[first], &call.inputs[second]) else {
        return Ok(());
    };
    if a.dtype == b.dtype {
        return Ok(());
    }
    let signature = call.operation.signature();
    Err(crate::error::Error::DType {
        operation: call.name().into(),
        input: signature.input_name(second),
        found: b.dtype,
        accepted: format!(
            "{}, the dtype of `{}`; convert with `cast`",
            a.dtype,
            signature.input_name(first)
        ),
    })
}

impl Operation for Binary {
    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn infer(&self, call: &Call) -> Result<Vec<TensorSpec>> {
        same_dtype(call, 0, 1)?;
        let (a, b) = (call.input(0), call.input(1));
        let shape = broadcast_shapes(call.name(), &[&a.shape, &b.shape])?;
        let dtype = if self.comparison { DType::U32 } else { a.dtype };
        Ok(vec![TensorSpec::new(dtype, shape)])
    }

    fn plan(&self, call: &Call, variant: Variant, capabilities: &Capabilities) -> Result<Plan> {
        let mut plan = PlanBuilder::new(call, variant, capabilities);
        let prefix = match call.input(0).dtype {
            DType::I32 => "i",
            DType::U32 => "u",
            DType::F32 | DType::F16 | DType::BF16 => "f",
        };
        let to = plan.output(0);
        Body {
            operands: vec![Operand::input(call, 0, "a"), Operand::input(call, 1, "b")],
            expression: format!("math::{prefix}_{}(v0, v1)", self.signature.name),
            shape: &call.outputs[0].shape,
            dtype: call.outputs[0].dtype,
            bits: false,
            values: [0; 2],
            user: None,
        }
        .plan(&mut plan, to);
        plan.finish()
    }

    fn cpu(&self, call: &Call, inputs: &[Option<&HostTensor>]) -> Result<Vec<HostTensor>> {
        let (a, b) = (required(call, inputs, 0)?, required(call, inputs, 1)?);
        let output = &call.outputs[0];
        let zip = self.float.map(|math| math.cpu_zip);
        Ok(vec![cpu::elementwise::binary(
            a,
            b,
            output,
            zip,
            self.integer,
        )])
    }

    fn reference(&self, call: &Call, inputs: &[Option<&HostTensor>]) -> Result<Vec<Expected>> {
        let (a, b) = (required(call, inputs, 0)?, required(call, inputs, 1)?);
        let output = &call.outputs[0];
        Ok(vec![match self.float {
            Some(math) if a.dtype().is_float() => oracle::binary(math, a, b, output),
            _ => oracle::integer_binary(self.signature.name, a, b, output),
        }])
    }

    fn problems(&self, dtype: DType, effort: Effort) -> Vec<Problem> {
        let fills = match self.float {
            Some(math) if dtype.is_float() => math.domain.map(problems::domain),
            // Small divisors, exponents and shifts: all of a word would mostly give 0.
            _ => [Fill::Bits, Fill::Integers { low: 1, high: 40 }],
        };
        let mut problems = problems::binary(self.signature.name, self.index, dtype, effort, fills);
        if self.comparison {
            problems = problems.into_iter().map(Problem::zeros_expected).collect();
        }
        problems
    }

    fn bench_problem(&self, dtype: DType, log2_size: u32) -> Option<Problem> {
        let n = 1usize << log2_size;
        let fill = Fill::Integers { low: 1, high: 100 };
        Some(
            Problem::new(n.to_string())
                .input(dtype, [n], fill.clone())
                .input(dtype, [n], fill),
        )
    }
}
