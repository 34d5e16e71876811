//! reduce_sum and its like as operations of the registry.

use crate::cpu;
use crate::device::Capabilities;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::gate::{Effort, Expected, Problem, oracle};
use crate::host::HostTensor;
use crate::kernels::reduce::axes::Reduction;
use crate::kernels::reduce::operator::Operator;
use crate::kernels::reduce::problems;
use crate::kernels::reduce::steps::{self, Sink, Source};
use crate::kernels::softmax::required;
use crate::operation::{Call, Cost, InputSpec, Operation, OutputSpec, Signature, Variant};
use crate::params::ParamSpec;
use crate::plan::{Plan, PlanBuilder, dense_bytes};
use crate::spec::TensorSpec;

pub(super) const VARIANTS: &[Variant] = &[Variant::Subgroup, Variant::Portable, Variant::Cpu];

/// What a reduction computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Sum,
    Mean,
    Var,
    Prod,
    Min,
    Max,
    ArgMin,
    ArgMax,
}

impl Kind {
    pub const ALL: [Kind; 8] = [
        Kind::Sum,
        Kind::Mean,
        Kind::Var,
        Kind::Min,
        Kind::Max,
        Kind::Prod,
        Kind::ArgMin,
        Kind::ArgMax,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            Kind::Sum => "reduce_sum",
            Kind::Mean => "reduce_mean",
            Kind::Var => "reduce_var",
            Kind::Prod => "reduce_prod",
            Kind::Min => "reduce_min",
            Kind::Max => "reduce_max",
            Kind::ArgMin => "argmin",
            Kind::ArgMax => "argmax",
        }
    }

    const fn doc(self) -> &'static str {
        match self {
            Kind::Sum => "the sum over axes; integers wrap; 0 of nothing",
            Kind::Mean => "the mean over axes; NaN of nothing",
            Kind::Var => "the variance over axes; NaN of nothing",
            Kind::Prod => "the product over axes; integers wrap; 1 of nothing",
            Kind::Min => "the smallest element over axes; NaN where there is one",
            Kind::Max => "the largest element over axes; NaN where there is one",
            Kind::ArgMin => {
                "the index of the first smallest element over axes, or of the first NaN"
            }
            Kind::ArgMax => "the index of the first largest element over axes, or of the first NaN",
        }
    }

    /// The dtypes it is defined for.
    pub const fn dtypes(self) -> &'static [DType] {
        match self {
            Kind::Mean | Kind::Var => DType::FLOATS,
            _ => DType::ALL,
        }
    }

    pub const fn is_index(self) -> bool {
        matches!(self, Kind::ArgMin | Kind::ArgMax)
    }

    /// Whether it has no value where there is nothing to reduce.
    const fn refuses_nothing(self) -> bool {
        matches!(self, Kind::Min | Kind::Max) || self.is_index()
    }

    /// The result of nothing, by its stored bits.
    fn of_nothing(self, dtype: DType) -> u32 {
        match (self, dtype) {
            (Kind::Prod, DType::F32) => 1f32.to_bits(),
            (Kind::Prod, DType::F16) => half::f16::ONE.to_bits() as u32,
            (Kind::Prod, DType::BF16) => half::bf16::ONE.to_bits() as u32,
            (Kind::Prod, _) => 1,
            (Kind::Mean | Kind::Var, DType::F16) => half::f16::NAN.to_bits() as u32,
            (Kind::Mean | Kind::Var, DType::BF16) => half::bf16::NAN.to_bits() as u32,
            (Kind::Mean | Kind::Var, _) => f32::NAN.to_bits(),
            _ => 0,
        }
    }

    /// The operator that its kernels link.
    pub fn operator(self, dtype: DType) -> Operator {
        match self {
            Kind::Sum => Operator::new("op/sum", "value/scalar", dtype),
            Kind::Mean => Operator::new("op/mean", "value/scalar", dtype),
            Kind::Prod => Operator::new("op/prod", "value/scalar", dtype),
            Kind::Min => Operator::new("op/min", "value/key", dtype),
            Kind::Max => Operator::new("op/max", "value/key", dtype),
            Kind::Var => Operator::new("op/variance", "value/moments", dtype).shifted(),
            Kind::ArgMin | Kind::ArgMax => Operator::new("op/arg", "value/pair", dtype)
                .constant("LARGEST", self == Kind::ArgMax),
        }
    }

    /// The parameter of the operator's `finish`: what it divides by, as f32 bits.
    pub fn parameter(self, call: &Call, reduction: &Reduction) -> u32 {
        self.divisor(call, reduction).to_bits()
    }

    /// What sums are divided by; 1 where they are not.
    pub fn divisor(self, call: &Call, reduction: &Reduction) -> f32 {
        match self {
            Kind::Mean => reduction.extent as f32,
            Kind::Var => {
                (reduction.extent as f64 - call.params.float("correction")).max(0.0) as f32
            }
            _ => 1.0,
        }
    }

    /// The parameters: `axes`, `keepdims`, and the variance's own.
    pub fn params(self) -> Vec<ParamSpec> {
        let mut params = vec![
            ParamSpec::new(
                "axes",
                Vec::<i64>::new(),
                "the axes to reduce, negative ones counted from the end; all when empty",
            ),
            ParamSpec::new(
                "keepdims",
                false,
                "whether reduced axes stay, with extent 1, in the result",
            ),
        ];
        if self == Kind::Var {
            params.push(ParamSpec::new(
                "correction",
                1.0,
                "degrees of freedom taken off the number of elements",
            ));
        }
        params
    }
}

/// One reduction.
pub(super) struct Reduce {
    signature: Signature,
    kind: Kind,
}

impl Reduce {
    pub fn new(kind: Kind) -> Reduce {
        let output = if kind.is_index() {
            "i32 indices within the reduced axes, these taken in row-major order"
        } else {
            "dtype of x, its shape without the reduced axes"
        };
        Reduce {
            signature: Signature {
                name: kind.name(),
                family: "reduce",
                doc: kind.doc(),
                inputs: vec![InputSpec {
                    name: "x",
                    dtypes: kind.dtypes(),
                    optional: false,
                    doc: "any shape",
                }],
                variadic: 0,
                outputs: vec![OutputSpec {
                    name: "y",
                    doc: output,
                }],
                params: kind.params(),
                dtypes: kind.dtypes(),
                variants: VARIANTS,
                gradient_of: None,
            },
            kind,
        }
    }
}

impl Operation for Reduce {
    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn infer(&self, call: &Call) -> Result<Vec<TensorSpec>> {
        let reduction = Reduction::of(call)?;
        if self.kind.refuses_nothing() {
            reduction.not_empty(call)?;
        }
        if self.kind.is_index() && reduction.extent > i32::MAX as usize {
            return Err(Error::Limit {
                operation: call.name().into(),
                what: "elements to index".into(),
                asked: reduction.extent as u64,
                limit: i32::MAX as u64,
                way_out: "Indices are i32: split the tensor".into(),
            });
        }
        if self.kind == Kind::Var && !call.params.float("correction").is_finite() {
            return Err(call.parameter_error("correction", "must be finite"));
        }
        let dtype = if self.kind.is_index() {
            DType::I32
        } else {
            call.input(0).dtype
        };
        Ok(vec![TensorSpec::new(dtype, reduction.result)])
    }

    fn plan(&self, call: &Call, variant: Variant, capabilities: &Capabilities) -> Result<Plan> {
        let mut plan = PlanBuilder::new(call, variant, capabilities);
        plan.require_subgroups()?;
        let reduction = Reduction::of(call)?;
        let dtype = call.outputs[0].dtype;
        let results = reduction.results();
        if results == 0 {
            return plan.finish();
        }
        let target = plan.output(0);
        if reduction.extent == 0 {
            plan.fill(target, dtype, results, self.kind.of_nothing(dtype));
            return plan.finish();
        }
        let source = Source::Elements(reduction.input(&mut plan, call, 0), call.input(0).dtype);
        let shape = [reduction.outer, reduction.extent, reduction.inner];
        let operator = self.kind.operator(call.input(0).dtype);
        let parameter = self.kind.parameter(call, &reduction);
        // Single packed results share words: computed in f32, then rounded.
        let rounded = dtype.size() == 2 && !steps::stores_quads(shape);
        if rounded {
            let exact = plan.scratch("results", dense_bytes(DType::F32, results));
            let sink = Sink::Results(exact, DType::F32, parameter);
            steps::reduce(&mut plan, &operator, source, shape, sink);
            plan.round(exact, dtype, results, target);
        } else {
            let sink = Sink::Results(target, dtype, parameter);
            steps::reduce(&mut plan, &operator, source, shape, sink);
        }
        plan.finish()
    }

    fn cpu(&self, call: &Call, inputs: &[Option<&HostTensor>]) -> Result<Vec<HostTensor>> {
        let x = required(call, inputs, 0)?;
        let reduction = Reduction::of(call)?;
        let divisor = self.kind.divisor(call, &reduction);
        Ok(vec![cpu::reduce::reduce(
            self.kind, x, &reduction, divisor,
        )?])
    }

    fn reference(&self, call: &Call, inputs: &[Option<&HostTensor>]) -> Result<Vec<Expected>> {
        let x = required(call, inputs, 0)?;
        Ok(vec![oracle::reduce::reduce(self.kind, call, x)?])
    }

    fn problems(&self, dtype: DType, effort: Effort) -> Vec<Problem> {
        problems::forward(self.kind, dtype, effort)
    }

    fn bench_problem(&self, dtype: DType, log2_size: u32) -> Option<Problem> {
        let n = 1usize << log2_size;
        let fill = problems::usual(self.kind, dtype);
        Some(Problem::new(format!("2^{log2_size}")).input(dtype, [n], fill))
    }

    fn cost(&self, call: &Call) -> Cost {
        let (x, y) = (call.input(0), &call.outputs[0]);
        let bytes = |spec: &TensorSpec| spec.len() as u64 * spec.dtype.size() as u64;
        let each = if self.kind == Kind::Var { 4 } else { 1 };
        Cost {
            bytes: bytes(x) + bytes(y),
            flops: each * x.len() as u64,
        }
    }

    fn baseline_facts(&self) -> &'static [&'static str] {
        match self.kind {
            Kind::Sum | Kind::Prod => &["wrapping"],
            _ => &[],
        }
    }
}
