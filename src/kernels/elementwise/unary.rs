//! Functions of one operand.

use crate::cpu;
use crate::device::Capabilities;
use crate::dtype::DType;
use crate::error::Result;
use crate::gate::oracle::elementwise as oracle;
use crate::gate::{Effort, Expected, Fill, Problem};
use crate::host::HostTensor;
use crate::kernels::elementwise::body::{Body, Operand};
use crate::kernels::elementwise::{
    INTEGERS, input, output, parameter_bits, parameter_text, problems, signature,
};
use crate::kernels::math_table::{IntegerMath, IntegerUnary, UnaryMath};
use crate::kernels::softmax::required;
use crate::operation::{Call, Operation, Signature, Variant};
use crate::params::{ParamSpec, Params};
use crate::plan::{Plan, PlanBuilder};
use crate::spec::TensorSpec;

/// A row of the table of functions of one number.
pub(super) struct Unary {
    signature: Signature,
    /// What it is on floats.
    float: Option<&'static UnaryMath>,
    /// What it is on integers.
    integer: Option<IntegerUnary>,
    /// Its row: which of the many dtypes are gated quickly.
    index: usize,
}

/// The parameters of a row, as an operation's.
pub(super) fn param_specs(math: &UnaryMath) -> Vec<ParamSpec> {
    let spec = |&(name, default)| ParamSpec::new(name, default, parameter_doc(name));
    math.params.iter().map(spec).collect()
}

fn parameter_doc(name: &str) -> &'static str {
    match name {
        "beta" => "the steepness; not 0",
        "threshold" => "where beta · x is above it, the result is x itself",
        "alpha" => "the limit at −inf, negated",
        "low" => "the least result, unless `high` is less",
        "high" => "the greatest result",
        _ => "a number",
    }
}

/// The values of a row's parameters; 0 where it has fewer than two.
pub(super) fn param_values(specs: &[ParamSpec], params: &Params) -> [f64; 2] {
    let value = |i: usize| specs.get(i).map_or(0.0, |spec| params.float(spec.name));
    [value(0), value(1)]
}

impl Unary {
    pub fn float(math: &'static UnaryMath, index: usize) -> Unary {
        let dtypes = match math.integer {
            Some(_) => DType::ALL,
            None => DType::FLOATS,
        };
        Unary {
            signature: Unary::signature_of(math.name, math.doc, dtypes, param_specs(math)),
            float: Some(math),
            integer: math.integer,
            index,
        }
    }

    pub fn integer(math: &'static IntegerMath<IntegerUnary>) -> Unary {
        Unary {
            signature: Unary::signature_of(math.name, math.doc, INTEGERS, vec![]),
            float: None,
            integer: Some(math.integer),
            index: 0,
        }
    }

    fn signature_of(
        name: &'static str,
        doc: &'static str,
        dtypes: &'static [DType],
        params: Vec<ParamSpec>,
    ) -> Signature {
        let x = input("x", dtypes, "any shape");
        let y = output("y", "shape and dtype of x");
        signature(name, doc, dtypes, vec![x], vec![y], params)
    }

    fn values(&self, call: &Call) -> [f64; 2] {
        param_values(&self.signature.params, &call.params)
    }
}

impl Operation for Unary {
    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn infer(&self, call: &Call) -> Result<Vec<TensorSpec>> {
        let x = call.input(0);
        Ok(vec![TensorSpec::new(x.dtype, x.shape.clone())])
    }

    fn plan(&self, call: &Call, variant: Variant, capabilities: &Capabilities) -> Result<Plan> {
        let mut plan = PlanBuilder::new(call, variant, capabilities);
        let dtype = call.input(0).dtype;
        let prefix = match dtype {
            DType::I32 => "i",
            DType::U32 => "u",
            DType::F32 | DType::F16 | DType::BF16 => "f",
        };
        let arguments: String = (0..self.signature.params.len())
            .map(|i| format!(", {}", parameter_text(dtype, i)))
            .collect();
        let to = plan.output(0);
        Body {
            operands: vec![Operand::input(call, 0, "x")],
            expression: format!("math::{prefix}_{}(v0{arguments})", self.signature.name),
            shape: &call.outputs[0].shape,
            dtype,
            bits: false,
            values: self.values(call).map(|v| parameter_bits(dtype, v)),
            user: None,
        }
        .plan(&mut plan, to);
        plan.finish()
    }

    fn cpu(&self, call: &Call, inputs: &[Option<&HostTensor>]) -> Result<Vec<HostTensor>> {
        let x = required(call, inputs, 0)?;
        let values = self.values(call);
        Ok(vec![cpu::elementwise::unary(
            x,
            self.float.map(|math| math.cpu_map),
            self.integer,
            values,
        )])
    }

    fn reference(&self, call: &Call, inputs: &[Option<&HostTensor>]) -> Result<Vec<Expected>> {
        let x = required(call, inputs, 0)?;
        let values = self.values(call);
        Ok(vec![match self.float {
            Some(math) if x.dtype().is_float() => oracle::unary(math, x, values),
            _ => oracle::integer_unary(self.signature.name, x, values),
        }])
    }

    fn problems(&self, dtype: DType, effort: Effort) -> Vec<Problem> {
        let domain = match self.float {
            Some(math) if dtype.is_float() => problems::domain(math.domain),
            _ => Fill::Bits,
        };
        problems::unary(self.signature.name, self.index, dtype, effort, domain)
    }

    fn bench_problem(&self, dtype: DType, log2_size: u32) -> Option<Problem> {
        let fill = self
            .float
            .map_or(Fill::Bits, |math| problems::domain(math.domain));
        let n = 1usize << log2_size;
        Some(Problem::new(n.to_string()).input(dtype, [n], fill))
    }
}
