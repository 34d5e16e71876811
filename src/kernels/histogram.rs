//! Histograms: `histogram` of integers, `histogram_even` of bins of one width.
//!
//! Workgroups count in their own memory and add what they found to the result
//! (Podlozhnyuk 2007, "Histogram calculation in CUDA").

use crate::cpu;
use crate::device::Capabilities;
use crate::dtype::DType;
use crate::error::Result;
use crate::gate::{Effort, Expected, Fill, Problem, oracle};
use crate::host::HostTensor;
use crate::kernels::softmax::required;
use crate::operation::{Call, InputSpec, Operation, OutputSpec, Signature, Variant};
use crate::params::{ParamSpec, Params};
use crate::plan::{Plan, PlanBuilder, Width};
use crate::spec::TensorSpec;
use crate::tensor::{Tensor, call};

/// How often each of 0, 1, … `bins` − 1 occurs in `x` (i32 or u32, any shape): i32
/// \[bins\]. Other numbers are not counted.
///
/// ```
/// use portcullis::{Device, Tensor, ops};
/// let x = Tensor::from_slice(&Device::cpu(), &[2i32, 0, 2, -1, 9], &[5])?;
/// assert_eq!(ops::histogram(&x, 3)?.to_vec_blocking::<i32>()?, [1, 0, 2]);
/// # Ok::<(), portcullis::Error>(())
/// ```
///
/// # Errors
/// [`Error::Parameter`](crate::Error::Parameter) unless `bins` is within 1..=2²⁴,
/// [`Error::DType`](crate::Error::DType) for floats, and those of [`call`].
pub fn histogram(x: &Tensor, bins: usize) -> Result<Tensor> {
    let params = Params::new().with("bins", i64::try_from(bins).unwrap_or(i64::MAX));
    Ok(call("histogram", &[Some(x)], &params)?.into_first())
}

/// How many elements of `x` fall into each of `bins` bins of one width from `min` to
/// `max`: i32 \[bins\]. A bin holds its lower edge and not its upper one, the last one
/// `max` too where `max_inclusive`. What lies outside is not counted, nor is NaN.
///
/// Integers are counted exactly. A float's bin is ⌊(x − min)·bins/(max − min)⌋ in f32:
/// an x nearer to an edge than 4·2⁻²⁴ of its distance from `min` may be counted on either side.
///
/// ```
/// use portcullis::{Device, Tensor, ops};
/// let x = Tensor::from_slice(&Device::cpu(), &[2i32, 6, 7, 2, 3, 0, 2, 2, 6, 999], &[10])?;
/// let counts = ops::histogram_even(&x, 7, 0.0, 12.0, false)?;
/// assert_eq!(counts.to_vec_blocking::<i32>()?, [1, 5, 0, 2, 1, 0, 0]);
/// # Ok::<(), portcullis::Error>(())
/// ```
///
/// # Errors
/// [`Error::Parameter`](crate::Error::Parameter) unless `bins` is within 1..=2²⁴ and
/// `min` below `max`, both finite, and for integers whole numbers of the dtype; and those of [`call`].
pub fn histogram_even(
    x: &Tensor,
    bins: usize,
    min: f64,
    max: f64,
    max_inclusive: bool,
) -> Result<Tensor> {
    let params = Params::new()
        .with("bins", i64::try_from(bins).unwrap_or(i64::MAX))
        .with("min", min)
        .with("max", max)
        .with("max_inclusive", max_inclusive);
    Ok(call("histogram_even", &[Some(x)], &params)?.into_first())
}

/// This family's operations.
pub(crate) fn operations() -> Vec<Box<dyn Operation>> {
    vec![
        Box::new(Histogram::new(false)),
        Box::new(Histogram::new(true)),
    ]
}

/// The most bins: an estimate in f32 is off by a few at most.
const MOST_BINS: i64 = 1 << 24;
/// Counters that a workgroup has to itself at most.
const OWN_COUNTERS: usize = 2048;
/// Counters of one bin at most.
const MOST_COPIES: usize = 8;
const WORKGROUP: u32 = 256;
/// Workgroups at most: enough to fill large GPUs, few enough that adding up costs little.
const MOST_GROUPS: usize = 2048;

/// Which bin an element falls into.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Bins {
    /// How many.
    pub count: usize,
    /// The edges; without, an integer is its own bin.
    pub even: Option<Even>,
}

/// Bins of one width.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Even {
    /// The first one's lower edge, a number of x's dtype (f32 for floats).
    pub min: f64,
    /// The last one's upper edge.
    pub max: f64,
    /// Whether `max` itself is counted.
    pub inclusive: bool,
}

impl Bins {
    /// The bins of a call whose parameters were checked.
    fn of(call: &Call) -> Bins {
        let float = call.input(0).dtype.is_float();
        let edge = |name: &str| match call.params.float(name) {
            edge if float => edge as f32 as f64,
            edge => edge,
        };
        let even = (call.name() == "histogram_even").then(|| Even {
            min: edge("min"),
            max: edge("max"),
            inclusive: call.params.bool("max_inclusive"),
        });
        Bins {
            count: call.params.int("bins") as usize,
            even,
        }
    }
}

impl Even {
    /// Bins a unit of x.
    pub fn scale(self, count: usize) -> f32 {
        (count as f64 / (self.max - self.min)) as f32
    }
}

struct Histogram {
    signature: Signature,
}

impl Histogram {
    fn new(even: bool) -> Histogram {
        let (name, doc, dtypes): (_, _, &'static [DType]) = match even {
            false => (
                "histogram",
                "how often each of the integers below bins occurs",
                &[DType::I32, DType::U32],
            ),
            true => (
                "histogram_even",
                "how many elements fall into each of several bins of one width",
                DType::ALL,
            ),
        };
        let mut params = vec![ParamSpec::new("bins", 256i64, "how many bins, 1 to 2^24")];
        if even {
            params.extend([
                ParamSpec::new("min", 0.0, "the first bin's lower edge"),
                ParamSpec::new("max", 1.0, "the last bin's upper edge"),
                ParamSpec::new("max_inclusive", false, "whether max itself is counted"),
            ]);
        }
        Histogram {
            signature: Signature {
                name,
                family: "histogram",
                doc,
                inputs: vec![InputSpec {
                    name: "x",
                    dtypes,
                    optional: false,
                    doc: "any shape",
                }],
                variadic: 0,
                outputs: vec![OutputSpec {
                    name: "y",
                    doc: "how many of x each bin holds: i32 [bins]",
                }],
                params,
                dtypes,
                variants: &[Variant::Portable, Variant::Cpu],
                gradient_of: None,
            },
        }
    }

    fn even(&self) -> bool {
        self.signature.name == "histogram_even"
    }
}

/// Refuses edges that no bins lie between.
fn check_edges(call: &Call) -> Result<()> {
    let dtype = call.input(0).dtype;
    for name in ["min", "max"] {
        let edge = call.params.float(name);
        let (least, most) = match dtype {
            DType::I32 => (i32::MIN as f64, i32::MAX as f64),
            DType::U32 => (0.0, u32::MAX as f64),
            DType::F32 | DType::F16 | DType::BF16 => (f32::MIN as f64, f32::MAX as f64),
        };
        if !(least..=most).contains(&edge) || (!dtype.is_float() && edge.fract() != 0.0) {
            let problem = format!("{edge} is no finite number of dtype {dtype}");
            return Err(call.parameter_error(name, problem));
        }
    }
    let bins = Bins::of(call);
    match bins.even {
        Some(Even { min, max, .. }) if min >= max => {
            let problem = format!("{max} is not above min, {min}");
            Err(call.parameter_error("max", problem))
        }
        Some(even) if dtype.is_float() && !even.scale(bins.count).is_normal() => {
            let problem = format!(
                "bins between {} and {} are too narrow or too wide for f32",
                even.min, even.max
            );
            Err(call.parameter_error("max", problem))
        }
        _ => Ok(()),
    }
}

impl Operation for Histogram {
    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn infer(&self, call: &Call) -> Result<Vec<TensorSpec>> {
        let bins = call.params.int("bins");
        if !(1..=MOST_BINS).contains(&bins) {
            return Err(
                call.parameter_error("bins", format!("{bins} is not within 1..={MOST_BINS}"))
            );
        }
        if self.even() {
            check_edges(call)?;
        }
        Ok(vec![TensorSpec::new(DType::I32, [bins as usize])])
    }

    fn plan(&self, call: &Call, variant: Variant, capabilities: &Capabilities) -> Result<Plan> {
        let mut plan = PlanBuilder::new(call, variant, capabilities);
        let (dtype, n) = (call.input(0).dtype, call.input(0).len());
        let bins = Bins::of(call);
        let y = plan.output(0);
        plan.fill(y, DType::I32, bins.count, 0);
        if n == 0 {
            return plan.finish();
        }
        let own = bins.count <= OWN_COUNTERS;
        let copies = match own {
            true => (OWN_COUNTERS / bins.count).clamp(1, MOST_COPIES),
            false => 1,
        };
        // Without counters of its own a workgroup declares one that nobody reads.
        let counters = if own { bins.count } else { 1 };
        let float = dtype.is_float();
        let sign = if dtype == DType::I32 {
            0x8000_0000
        } else {
            0u32
        };
        let (low, high, scale, inclusive) = match bins.even {
            None => (0, 0, 0.0, false),
            Some(even) => {
                let bits = |edge: f64| match dtype {
                    DType::I32 => edge as i32 as u32 ^ sign,
                    DType::U32 => edge as u32,
                    DType::F32 | DType::F16 | DType::BF16 => (edge as f32).to_bits(),
                };
                (
                    bits(even.min),
                    bits(even.max),
                    even.scale(bins.count),
                    even.inclusive,
                )
            }
        };
        let binning = match (bins.even, float) {
            (None, _) => "histogram/by_value",
            (Some(_), true) => "histogram/by_float",
            (Some(_), false) => "histogram/by_integer",
        };
        let x = plan.dense(0);
        let groups = n.div_ceil(4 * 4 * WORKGROUP as usize).clamp(1, MOST_GROUPS);
        plan.step("histogram")
            .read("x", x, dtype, Width::Quad)
            .atomic("y", y)
            .module("binning", binning, &[])
            .module("math", "op/math", &[])
            .constant("WORKGROUP", WORKGROUP)
            .constant("BINS", counters as u32)
            .constant("COPIES", copies as u32)
            .constant("OWN", own)
            .constant("SIGN", sign)
            .flag("float", float && bins.even.is_some())
            .workgroup_bytes(4 * (counters * copies) as u64)
            // Counters are cleared first.
            .unzeroed()
            .param(n as u32)
            .param(groups as u32)
            .param(bins.count as u32)
            .param(low)
            .param(high)
            .param_f32(scale)
            .param(inclusive as u32)
            .workgroups(groups as u64);
        plan.finish()
    }

    fn cpu(&self, call: &Call, inputs: &[Option<&HostTensor>]) -> Result<Vec<HostTensor>> {
        Ok(vec![cpu::histogram::histogram(
            required(call, inputs, 0)?,
            Bins::of(call),
        )?])
    }

    fn reference(&self, call: &Call, inputs: &[Option<&HostTensor>]) -> Result<Vec<Expected>> {
        let x = required(call, inputs, 0)?;
        Ok(vec![oracle::histogram::histogram(x, Bins::of(call))?])
    }

    fn problems(&self, dtype: DType, effort: Effort) -> Vec<Problem> {
        let even = self.even();
        let named = |n: usize, bins: i64, fill: Fill| {
            Problem::new(format!("{n} in {bins}"))
                .input(dtype, [n], fill)
                .param("bins", bins)
        };
        let spread = |bins: i64| match even {
            true => Fill::Uniform {
                low: -3.0,
                high: 12.0,
            },
            false => Fill::Integers {
                low: -2,
                high: bins + 2,
            },
        };
        let edges = |problem: Problem, min: f64, max: f64| match even {
            true => problem.param("min", min).param("max", max),
            false => problem,
        };
        let low = if dtype == DType::U32 { 0.0 } else { -2.0 };
        let mut problems = vec![edges(named(4099, 7, spread(7)), low, 11.0)];
        if effort <= Effort::Quick {
            return problems;
        }
        let mut add = |name: &str, problem: Problem| {
            let mut problem = problem;
            problem.name = format!("{} {name}", problem.name);
            problems.push(problem.zeros_expected());
        };
        add("", edges(named(1, 64, spread(64)), low, 11.0));
        add("", edges(named(3, 1, spread(1)), low, 11.0));
        add("", edges(named(20_001, 256, spread(256)), low, 11.0));
        add("", edges(named(9000, 2048, spread(2048)), low, 11.0));
        add("", edges(named(9001, 2049, spread(2049)), low, 11.0));
        add("empty", edges(named(0, 5, spread(5)), low, 11.0));
        add(
            "equal",
            edges(named(5000, 16, Fill::Constant(3.0)), low, 11.0),
        );
        add("any bits", edges(named(5001, 100, Fill::Bits), low, 11.0));
        add(
            "wide",
            edges(named(3001, 70_000, spread(70_000)), low, 11.0),
        );
        if even {
            let whole = Fill::Integers { low: -1, high: 12 };
            add(
                "with max",
                edges(named(3000, 12, whole.clone()), 0.0, 12.0).param("max_inclusive", true),
            );
            add("without max", edges(named(3000, 12, whole), 0.0, 12.0));
            if dtype == DType::I32 {
                let all = named(6000, 1000, Fill::Bits);
                add(
                    "every i32",
                    edges(all, i32::MIN as f64, i32::MAX as f64).param("max_inclusive", true),
                );
            }
            if dtype == DType::U32 {
                // Bins of 65535 numbers, and every number the first of its bin: estimates in
                // floats fall on either side.
                let firsts = Fill::Ramp {
                    first: 65_535.0 * 60_000.0,
                    step: 65_535.0,
                };
                let on_edges = named(5000, 65_537, firsts);
                add("on edges", edges(on_edges, 0.0, u32::MAX as f64));
                add(
                    "every u32",
                    edges(named(6000, 12_345, Fill::Bits), 0.0, u32::MAX as f64),
                );
            }
        }
        let strided = TensorSpec::new(dtype, [40, 30]).strided([1, 43]);
        let views = Problem::new("views")
            .view(strided, spread(9), 0)
            .param("bins", 9i64);
        problems.push(edges(views, low, 11.0).unaligned_outputs());
        problems
    }

    fn bench_problem(&self, dtype: DType, log2_size: u32) -> Option<Problem> {
        let n = 1usize << log2_size;
        let fill = match self.even() {
            true => Fill::Uniform {
                low: 0.0,
                high: 1.0,
            },
            false => Fill::Integers { low: 0, high: 255 },
        };
        Some(
            Problem::new(format!("{n} in 256"))
                .input(dtype, [n], fill)
                .param("bins", 256i64)
                .zeros_expected(),
        )
    }
}
