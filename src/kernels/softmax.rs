//! softmax and log_softmax along an axis, and their gradients.

use crate::cpu;
use crate::device::Capabilities;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::gate::{Effort, Expected, Fill, Problem, oracle};
use crate::host::HostTensor;
use crate::kernels::rows::Rows;
use crate::operation::{Call, Cost, InputSpec, Operation, OutputSpec, Signature, Variant};
use crate::params::{ParamSpec, Params};
use crate::plan::{Plan, PlanBuilder, Slot, Width};
use crate::spec::{TensorSpec, resolve_axis};
use crate::tensor::{Tensor, call};

/// softmax of `x` along `axis`: exp(x) / Σ exp(x), without overflow. A row of
/// nothing but −inf gives zeros; NaN or +inf make their row NaN.
///
/// Error: |y − exact| ≤ y·(6 + 6·(max − x) + its mean over the row + γ of the sum)·2⁻²⁴ + 2⁻¹²⁶
/// for f32, plus half a unit in the last place of f16 or bf16.
///
/// ```
/// use portcullis::{Device, Tensor, ops};
/// let x = Tensor::from_slice(&Device::cpu(), &[0.0f32, 0.0, 0.0, 0.0], &[1, 4])?;
/// assert_eq!(ops::softmax(&x, -1)?.to_vec_blocking::<f32>()?, [0.25; 4]);
/// # Ok::<(), portcullis::Error>(())
/// ```
///
/// # Errors
/// [`Error::Axis`], [`Error::DType`] for integers, and those of [`call`].
pub fn softmax(x: &Tensor, axis: i64) -> Result<Tensor> {
    Ok(call("softmax", &[Some(x)], &Params::new().with("axis", axis))?.into_first())
}

/// The logarithm of [`softmax`], computed as x − max − log Σ exp(x − max).
///
/// # Errors
/// As [`softmax`].
pub fn log_softmax(x: &Tensor, axis: i64) -> Result<Tensor> {
    Ok(call("log_softmax", &[Some(x)], &Params::new().with("axis", axis))?.into_first())
}

/// This family's operations.
pub(crate) fn operations() -> Vec<Box<dyn Operation>> {
    vec![
        Box::new(Softmax::new(
            "softmax",
            "exp(x) / sum(exp(x)) along an axis",
            false,
        )),
        Box::new(Softmax::new(
            "log_softmax",
            "log(exp(x) / sum(exp(x))) along an axis",
            true,
        )),
        Box::new(SoftmaxBackward::new("softmax_backward", "softmax", false)),
        Box::new(SoftmaxBackward::new(
            "log_softmax_backward",
            "log_softmax",
            true,
        )),
    ]
}

const VARIANTS: &[Variant] = &[Variant::Subgroup, Variant::Portable, Variant::Cpu];

fn axis_param() -> ParamSpec {
    ParamSpec::new(
        "axis",
        -1i64,
        "the axis whose elements sum to 1; negative counts from the end",
    )
}

fn rows_of(call: &Call) -> Result<Rows> {
    let shape = &call.input(0).shape;
    Ok(Rows::new(
        shape,
        resolve_axis(call.name(), call.params.int("axis"), shape.len())?,
    ))
}

/// Quads held in registers by each invocation, at most: 32 numbers.
const MOST_ITEMS: usize = 8;

/// How rows of a given length are cut up.
struct Cut {
    quads: bool,
    units: usize,
    workgroup: u32,
}

impl Cut {
    fn new(columns: usize) -> Cut {
        // Rows start at quads only where their length is a multiple of 4.
        let quads = columns.is_multiple_of(4);
        let units = if quads { columns / 4 } else { columns };
        Cut {
            quads,
            units,
            workgroup: if units <= 64 { 64 } else { 256 },
        }
    }

    fn width(&self) -> Width {
        if self.quads {
            Width::Quad
        } else {
            Width::Element
        }
    }
}

/// One dispatch over rows, from dense inputs of contiguous rows to output 0, in
/// the output's own order and dtype.
///
/// Workgroup memory need not be zeroed: `reduce` reads only partials that an
/// invocation wrote before the barrier.
///
/// Every index is in range, so that the subgroup variant needs no checks: rows
/// at or beyond `rows` return before they touch anything, units are below
/// `units`, hence `row·units + c < rows·units`, the length of every tensor;
/// `held` is indexed by constants below ITEMS; `partials` by the subgroup's
/// number, below WORKGROUP/4 since subgroups have at least four invocations,
/// which `subgroup_variant` requires, and by numbers below WORKGROUP/size, all
/// of which were written before the barrier.
fn plan_rows(
    call: &Call,
    variant: Variant,
    capabilities: &Capabilities,
    root: &'static str,
    log: bool,
    inputs: &[(&'static str, usize)],
    output: &'static str,
) -> Result<Plan> {
    let mut plan = PlanBuilder::new(call, variant, capabilities);
    plan.require_subgroups()?;
    let rows = rows_of(call)?;
    if call.outputs[0].is_empty() {
        return plan.finish();
    }
    let slots: Vec<Slot> = inputs
        .iter()
        .map(|&(_, index)| rows.input(&mut plan, call, index))
        .collect();
    let cut = Cut::new(rows.columns);
    let dtype = call.outputs[0].dtype;
    let n = call.outputs[0].len();
    let target = plan.output(0);
    // Rows of packed elements that do not start at words share some: computed in f32, then rounded.
    let rounded = dtype.size() == 2 && !cut.quads;
    let kernel_dtype = if rounded { DType::F32 } else { dtype };
    let direct = !rounded && rows.inner == 1;
    let computed = if direct {
        target
    } else {
        plan.scratch("rows", crate::plan::dense_bytes(kernel_dtype, n))
    };

    let subgroups = plan.subgroups();
    let items = cut.units.div_ceil(cut.workgroup as usize);
    let cached = items <= MOST_ITEMS;
    let mut step = plan.step(root);
    for (&(name, index), slot) in inputs.iter().zip(slots) {
        step = step.read(name, slot, call.input(index).dtype, cut.width());
    }
    step = step
        .write(output, computed, kernel_dtype, cut.width())
        .module("f32", "scalar/f32", &[])
        .module("largest", "op/largest", &[("scalar", "f32")])
        .module("sum", "op/sum", &[("scalar", "f32")])
        .module("reduce_max", "block/reduce", &[("op", "largest")])
        .module("reduce_sum", "block/reduce", &[("op", "sum")])
        .constant("WORKGROUP", cut.workgroup)
        .constant("ITEMS", if cached { items as u32 } else { 1 })
        .constant("CACHED", cached)
        .constant("LOG", log)
        .flag("quads", cut.quads)
        .flag("subgroup", subgroups)
        .workgroup_bytes(2 * 4 * cut.workgroup as u64)
        .unzeroed()
        .param(rows.rows as u32)
        .param(cut.units as u32);
    if subgroups {
        step = step.unchecked();
    }
    step.workgroups(rows.rows as u64);

    if !direct {
        let rounded_rows = match rounded {
            true if rows.inner == 1 => target,
            true => plan.scratch("rounded rows", crate::plan::dense_bytes(dtype, n)),
            false => computed,
        };
        if rounded {
            plan.round(computed, dtype, n, rounded_rows);
        }
        if rows.inner != 1 {
            rows.restore(&mut plan, rounded_rows, dtype, target);
        }
    }
    plan.finish()
}

struct Softmax {
    signature: Signature,
    log: bool,
}

impl Softmax {
    fn new(name: &'static str, doc: &'static str, log: bool) -> Softmax {
        let input = InputSpec {
            name: "x",
            dtypes: DType::FLOATS,
            optional: false,
            doc: "any shape of rank 1 or more",
        };
        Softmax {
            signature: Signature {
                name,
                family: "softmax",
                doc,
                inputs: vec![input],
                variadic: 0,
                outputs: vec![OutputSpec {
                    name: "y",
                    doc: "shape and dtype of x",
                }],
                params: vec![axis_param()],
                dtypes: DType::FLOATS,
                variants: VARIANTS,
                gradient_of: None,
            },
            log,
        }
    }
}

impl Operation for Softmax {
    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn infer(&self, call: &Call) -> Result<Vec<TensorSpec>> {
        rows_of(call)?;
        Ok(vec![TensorSpec::new(
            call.input(0).dtype,
            call.input(0).shape.clone(),
        )])
    }

    fn plan(&self, call: &Call, variant: Variant, capabilities: &Capabilities) -> Result<Plan> {
        plan_rows(
            call,
            variant,
            capabilities,
            "softmax",
            self.log,
            &[("x", 0)],
            "y",
        )
    }

    fn cpu(&self, call: &Call, inputs: &[Option<&HostTensor>]) -> Result<Vec<HostTensor>> {
        let x = required(call, inputs, 0)?;
        Ok(vec![cpu::softmax::softmax(x, &rows_of(call)?, self.log)?])
    }

    fn reference(&self, call: &Call, inputs: &[Option<&HostTensor>]) -> Result<Vec<Expected>> {
        let x = required(call, inputs, 0)?;
        Ok(vec![oracle::softmax::softmax(x, &rows_of(call)?, self.log)])
    }

    fn problems(&self, dtype: DType, effort: Effort) -> Vec<Problem> {
        let scaled = Fill::Normal {
            mean: 0.0,
            deviation: 4.0,
        };
        let rows = |rows: usize, columns: usize| {
            Problem::new(format!("{rows}x{columns}")).input(dtype, [rows, columns], scaled.clone())
        };
        let mut problems = vec![rows(17, 257)];
        if effort == Effort::Quick {
            return problems;
        }
        // One quad, one workgroup ± 1, more than registers hold.
        problems.extend([
            rows(5, 4),
            rows(3, 1024),
            rows(2, 1028),
            rows(1, 1),
            rows(2, 8196),
            rows(2, 2049),
        ]);
        if effort == Effort::Probe {
            return problems;
        }
        let strided = TensorSpec::new(dtype, [33, 20]).strided([1, 35]);
        problems.extend([
            rows(3, 70_001),
            Problem::new("7x5x3 axis=1")
                .input(dtype, [7, 5, 3], scaled.clone())
                .param("axis", 1i64),
            Problem::new("4x8x4 axis=0")
                .input(dtype, [4, 8, 4], scaled.clone())
                .param("axis", 0i64),
            Problem::new("transposed view").view(strided, scaled.clone(), 0),
            Problem::new("unaligned view")
                .view(
                    TensorSpec::new(dtype, [9, 31]).unaligned(),
                    scaled.clone(),
                    5,
                )
                .unaligned_outputs(),
            Problem::new("one buffer")
                .input(dtype, [5, 12], scaled.clone())
                .shared_buffers(),
            Problem::new("empty").input(dtype, [0, 5], scaled.clone()),
            Problem::new("empty rows").input(dtype, [5, 0], scaled.clone()),
            Problem::new("huge numbers")
                .input(
                    dtype,
                    [4, 100],
                    Fill::Magnitudes {
                        low: 0.0,
                        high: 4.5,
                    },
                )
                .zeros_expected(),
            Problem::new("equal numbers").input(dtype, [3, 64], Fill::Constant(-7.0)),
            Problem::new("row of -inf")
                .input(dtype, [4, 33], Fill::Constant(f64::NEG_INFINITY))
                .zeros_expected(),
            Problem::new("some -inf").input(
                dtype,
                [4, 33],
                Fill::Cycle(vec![1.0, f64::NEG_INFINITY, -2.0, f64::NEG_INFINITY, 0.5]),
            ),
            Problem::new("NaN and +inf in some rows").input(
                dtype,
                [6, 8],
                Fill::Cycle(
                    (0..48)
                        .map(|i| {
                            [f64::NAN, f64::INFINITY, 1.0]
                                .get(i / 5)
                                .copied()
                                .unwrap_or(i as f64 / 9.0)
                        })
                        .collect(),
                ),
            ),
        ]);
        if effort == Effort::Full {
            problems.extend((1..=70).map(|columns| rows(3, columns)));
            problems.extend([rows(70_000, 3), rows(1, 1_000_003), rows(2048, 2048)]);
        }
        problems
    }

    fn bench_problem(&self, dtype: DType, log2_size: u32) -> Option<Problem> {
        let side = 1usize << (log2_size / 2);
        let columns = (1usize << log2_size) / side;
        Some(Problem::new(format!("{side}x{columns}")).input(dtype, [side, columns], Fill::NORMAL))
    }

    fn cost(&self, call: &Call) -> Cost {
        let x = call.input(0);
        let bytes = x.len() as u64 * x.dtype.size() as u64;
        Cost {
            bytes: 2 * bytes,
            flops: 5 * x.len() as u64,
        }
    }
}

struct SoftmaxBackward {
    signature: Signature,
    log: bool,
}

impl SoftmaxBackward {
    fn new(name: &'static str, forward: &'static str, log: bool) -> SoftmaxBackward {
        let input = |name, doc| InputSpec {
            name,
            dtypes: DType::FLOATS,
            optional: false,
            doc,
        };
        SoftmaxBackward {
            signature: Signature {
                name,
                family: "softmax",
                doc: "the gradient of x, from the output and its cotangent",
                inputs: vec![
                    input("y", "the output of the forward pass"),
                    input("cotangent", "shape and dtype of y"),
                ],
                variadic: 0,
                outputs: vec![OutputSpec {
                    name: "x",
                    doc: "the gradient: shape and dtype of y",
                }],
                params: vec![axis_param()],
                dtypes: DType::FLOATS,
                variants: VARIANTS,
                gradient_of: Some(forward),
            },
            log,
        }
    }
}

impl Operation for SoftmaxBackward {
    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn infer(&self, call: &Call) -> Result<Vec<TensorSpec>> {
        rows_of(call)?;
        let (y, cotangent) = (call.input(0), call.input(1));
        if y.shape != cotangent.shape || y.dtype != cotangent.dtype {
            return Err(call.shape_error(format!(
                "y is {}{:?} and its cotangent {}{:?}; they must be alike",
                y.dtype, y.shape, cotangent.dtype, cotangent.shape
            )));
        }
        Ok(vec![TensorSpec::new(y.dtype, y.shape.clone())])
    }

    fn plan(&self, call: &Call, variant: Variant, capabilities: &Capabilities) -> Result<Plan> {
        let inputs = [("y", 0), ("cotangent", 1)];
        plan_rows(
            call,
            variant,
            capabilities,
            "softmax_backward",
            self.log,
            &inputs,
            "grad",
        )
    }

    fn cpu(&self, call: &Call, inputs: &[Option<&HostTensor>]) -> Result<Vec<HostTensor>> {
        let (y, cotangent) = (required(call, inputs, 0)?, required(call, inputs, 1)?);
        Ok(vec![cpu::softmax::softmax_backward(
            y,
            cotangent,
            &rows_of(call)?,
            self.log,
        )?])
    }

    fn reference(&self, call: &Call, inputs: &[Option<&HostTensor>]) -> Result<Vec<Expected>> {
        let (y, cotangent) = (required(call, inputs, 0)?, required(call, inputs, 1)?);
        Ok(vec![oracle::softmax::softmax_backward(
            y,
            cotangent,
            &rows_of(call)?,
            self.log,
        )])
    }

    fn problems(&self, dtype: DType, effort: Effort) -> Vec<Problem> {
        // Any numbers will do as y: the gradient is a formula of y and its cotangent.
        let y = Fill::Uniform {
            low: -2.0,
            high: 1.0,
        };
        let rows = |rows: usize, columns: usize| {
            let problem = Problem::new(format!("{rows}x{columns}"));
            problem.input(dtype, [rows, columns], y.clone()).input(
                dtype,
                [rows, columns],
                Fill::NORMAL,
            )
        };
        let mut problems = vec![rows(17, 257)];
        if effort == Effort::Quick {
            return problems;
        }
        problems.extend([rows(5, 4), rows(3, 1024), rows(2, 1028), rows(1, 1)]);
        if effort == Effort::Probe {
            return problems;
        }
        problems.extend([
            rows(2, 9001),
            Problem::new("7x5x3 axis=1")
                .input(dtype, [7, 5, 3], y.clone())
                .input(dtype, [7, 5, 3], Fill::NORMAL)
                .param("axis", 1i64),
            Problem::new("unaligned view")
                .view(TensorSpec::new(dtype, [9, 31]).unaligned(), y.clone(), 5)
                .input(dtype, [9, 31], Fill::NORMAL)
                .unaligned_outputs(),
            Problem::new("empty").input(dtype, [0, 5], y.clone()).input(
                dtype,
                [0, 5],
                Fill::NORMAL,
            ),
        ]);
        problems
    }

    fn bench_problem(&self, dtype: DType, log2_size: u32) -> Option<Problem> {
        let side = 1usize << (log2_size / 2);
        let shape = [side, (1usize << log2_size) / side];
        let y = Fill::Uniform {
            low: 0.0,
            high: 1.0,
        };
        Some(
            Problem::new(format!("{side}x{}", shape[1]))
                .input(dtype, shape, y)
                .input(dtype, shape, Fill::NORMAL),
        )
    }
}

/// Required input `index`: present, as `Call::new` checked.
pub(crate) fn required<'a>(
    call: &Call,
    inputs: &[Option<&'a HostTensor>],
    index: usize,
) -> Result<&'a HostTensor> {
    inputs
        .get(index)
        .copied()
        .flatten()
        .ok_or_else(|| Error::Inputs {
            operation: call.name().into(),
            problem: format!(
                "input `{}` is missing",
                call.operation.signature().input_name(index)
            ),
        })
}
