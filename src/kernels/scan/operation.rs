//! inclusive_scan_sum and its like as operations of the registry.

use crate::cpu;
use crate::device::Capabilities;
use crate::dtype::DType;
use crate::error::Result;
use crate::gate::{Effort, Expected, Problem, oracle};
use crate::host::HostTensor;
use crate::kernels::reduce::operator::Operator;
use crate::kernels::rows::Rows;
use crate::kernels::scan::problems;
use crate::kernels::scan::steps::{self, Direction, Ends};
use crate::kernels::softmax::required;
use crate::operation::{Call, InputSpec, Operation, OutputSpec, Signature, Variant};
use crate::params::ParamSpec;
use crate::plan::{Plan, PlanBuilder, dense_bytes};
use crate::spec::{TensorSpec, resolve_axis};

/// What is accumulated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Sum,
    Min,
    Max,
}

/// One scan, or the gradient of one.
pub(super) struct Scan {
    signature: Signature,
    kind: Kind,
    exclusive: bool,
    backward: bool,
}

impl Scan {
    /// The scan of this kind.
    pub fn new(kind: Kind, exclusive: bool) -> Scan {
        let (name, doc) = match (kind, exclusive) {
            (Kind::Sum, false) => (
                "inclusive_scan_sum",
                "running sums along an axis; integers wrap",
            ),
            (Kind::Min, false) => ("inclusive_scan_min", "running minima along an axis"),
            (Kind::Max, false) => ("inclusive_scan_max", "running maxima along an axis"),
            (Kind::Sum, true) => (
                "exclusive_scan_sum",
                "sums of all before each element along an axis; 0 first; integers wrap",
            ),
            (Kind::Min, true) => (
                "exclusive_scan_min",
                "minima of all before each element along an axis; +inf or the largest integer first",
            ),
            (Kind::Max, true) => (
                "exclusive_scan_max",
                "maxima of all before each element along an axis; -inf or the smallest integer first",
            ),
        };
        let input = InputSpec {
            name: "x",
            dtypes: DType::ALL,
            optional: false,
            doc: "any shape of rank 1 or more",
        };
        let output = OutputSpec {
            name: "y",
            doc: "shape and dtype of x",
        };
        Scan {
            signature: signature(name, doc, input, output, DType::ALL, None),
            kind,
            exclusive,
            backward: false,
        }
    }

    /// The gradient of a running sum: the running sum of cotangents from the other end.
    pub fn backward(exclusive: bool) -> Scan {
        let (name, forward) = match exclusive {
            false => ("inclusive_scan_sum_backward", "inclusive_scan_sum"),
            true => ("exclusive_scan_sum_backward", "exclusive_scan_sum"),
        };
        let doc = "the gradient of x: the same scan of the cotangent in the other direction";
        let input = InputSpec {
            name: "cotangent",
            dtypes: DType::FLOATS,
            optional: false,
            doc: "shape and dtype of x",
        };
        let output = OutputSpec {
            name: "x",
            doc: "the gradient: shape and dtype of x",
        };
        Scan {
            signature: signature(name, doc, input, output, DType::FLOATS, Some(forward)),
            kind: Kind::Sum,
            exclusive,
            backward: true,
        }
    }

    fn direction(&self, call: &Call) -> Direction {
        Direction {
            exclusive: self.exclusive,
            reverse: call.params.bool("reverse") != self.backward,
        }
    }
}

fn signature(
    name: &'static str,
    doc: &'static str,
    input: InputSpec,
    output: OutputSpec,
    dtypes: &'static [DType],
    gradient_of: Option<&'static str>,
) -> Signature {
    Signature {
        name,
        family: "scan",
        doc,
        inputs: vec![input],
        variadic: 0,
        outputs: vec![output],
        params: vec![
            ParamSpec::new(
                "axis",
                -1i64,
                "the axis to go along; negative counts from the end",
            ),
            ParamSpec::new("reverse", false, "whether to go from the axis's end"),
        ],
        dtypes,
        variants: &[Variant::Subgroup, Variant::Portable, Variant::Cpu],
        gradient_of,
    }
}

pub(super) fn rows_of(call: &Call) -> Result<Rows> {
    let shape = &call.input(0).shape;
    let axis = resolve_axis(call.name(), call.params.int("axis"), shape.len())?;
    Ok(Rows::new(shape, axis))
}

impl Operation for Scan {
    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn infer(&self, call: &Call) -> Result<Vec<TensorSpec>> {
        rows_of(call)?;
        let x = call.input(0);
        Ok(vec![TensorSpec::new(x.dtype, x.shape.clone())])
    }

    fn plan(&self, call: &Call, variant: Variant, capabilities: &Capabilities) -> Result<Plan> {
        let mut plan = PlanBuilder::new(call, variant, capabilities);
        plan.require_subgroups()?;
        let rows = rows_of(call)?;
        let n = call.outputs[0].len();
        if n == 0 {
            return plan.finish();
        }
        let dtype = call.input(0).dtype;
        let operator = match self.kind {
            Kind::Sum => Operator::new("op/sum", "value/scalar", dtype),
            Kind::Min => Operator::new("op/min", "value/key", dtype),
            Kind::Max => Operator::new("op/max", "value/key", dtype),
        };
        let direction = self.direction(call);
        let x = rows.input(&mut plan, call, 0);
        let target = plan.output(0);
        // Rows of packed elements that do not start at words share some: scanned in f32, then rounded.
        let quads = steps::quads(rows.rows, rows.columns, direction.reverse);
        let rounded = dtype.size() == 2 && !quads;
        let scanned_dtype = if rounded { DType::F32 } else { dtype };
        let scanned = match rounded || rows.inner != 1 {
            true => plan.scratch("rows", dense_bytes(scanned_dtype, n)),
            false => target,
        };
        let ends = Ends::Elements(x, dtype, scanned, scanned_dtype);
        let shape = [rows.rows, rows.columns];
        steps::scan(&mut plan, &operator, ends, shape, direction);
        steps::finish(&mut plan, &rows, scanned, rounded, dtype, n, target);
        plan.finish()
    }

    fn cpu(&self, call: &Call, inputs: &[Option<&HostTensor>]) -> Result<Vec<HostTensor>> {
        let x = required(call, inputs, 0)?;
        Ok(vec![cpu::scan::scan(
            self.kind,
            x,
            &rows_of(call)?,
            self.direction(call),
        )?])
    }

    fn reference(&self, call: &Call, inputs: &[Option<&HostTensor>]) -> Result<Vec<Expected>> {
        let x = required(call, inputs, 0)?;
        Ok(vec![oracle::scan::scan(
            self.kind,
            x,
            &rows_of(call)?,
            self.direction(call),
        )?])
    }

    fn problems(&self, dtype: DType, effort: Effort) -> Vec<Problem> {
        problems::problems(self.kind, dtype, effort)
    }

    fn bench_problem(&self, dtype: DType, log2_size: u32) -> Option<Problem> {
        let n = 1usize << log2_size;
        let fill = problems::usual(dtype);
        Some(Problem::new(format!("2^{log2_size}")).input(dtype, [n], fill))
    }

    fn baseline_facts(&self) -> &'static [&'static str] {
        match self.kind {
            Kind::Sum => &["wrapping"],
            _ => &[],
        }
    }
}
