//! Compaction: `select` and `partition` by a mask, `unique` and
//! `run_length_encode` of runs of equal elements. How many elements there are is
//! known on the device alone: [`Counted`].
//!
//! Each tile counts what it selects, the counts are added up, and each tile
//! packs and moves its own (Billeter, Olsson and Assarsson 2009, "Efficient
//! stream compaction on wide SIMD many-core architectures").

mod counted;
mod plan;
mod problems;

pub use counted::Counted;

use crate::cpu;
use crate::device::Capabilities;
use crate::dtype::DType;
use crate::error::Result;
use crate::gate::{Effort, Expected, Problem, oracle};
use crate::host::HostTensor;
use crate::kernels::softmax::required;
use crate::operation::{Call, InputSpec, Operation, OutputSpec, Signature, Variant};
use crate::params::Params;
use crate::plan::Plan;
use crate::spec::TensorSpec;
use crate::tensor::{Outputs, Tensor, call};

/// The elements of `x` whose `mask` (i32 or u32, of the same shape) is not 0, in
/// row-major order; all bits are kept.
///
/// For a predicate of your own make the mask by [`map`](crate::ops::map).
///
/// ```
/// use portcullis::{Device, Tensor, ops};
/// let device = Device::cpu();
/// let x = Tensor::from_slice(&device, &[1.0f32, 2.0, 3.0], &[3])?;
/// let mask = Tensor::from_slice(&device, &[1i32, 0, 5], &[3])?;
/// let selected = ops::select(&x, &mask)?.trim_blocking()?;
/// assert_eq!(selected.to_vec_blocking::<f32>()?, [1.0, 3.0]);
/// # Ok::<(), portcullis::Error>(())
/// ```
///
/// # Errors
/// [`Error::Shape`](crate::Error::Shape) unless `mask` has the shape of `x`,
/// [`Error::DType`](crate::Error::DType) for a mask of floats, and those of [`call`].
pub fn select(x: &Tensor, mask: &Tensor) -> Result<Counted> {
    Counted::of(call("select", &[Some(x), Some(mask)], &Params::new())?, 0)
}

/// The elements of `x` whose `mask` is not 0, and behind them the others, both in
/// row-major order; and how many were selected, u32 \[1\].
///
/// ```
/// use portcullis::{Device, Tensor, ops};
/// let device = Device::cpu();
/// let x = Tensor::from_slice(&device, &[1i32, 2, 3, 4], &[4])?;
/// let mask = Tensor::from_slice(&device, &[0u32, 1, 0, 1], &[4])?;
/// let (parts, count) = ops::partition(&x, &mask)?;
/// assert_eq!(parts.to_vec_blocking::<i32>()?, [2, 4, 1, 3]);
/// assert_eq!(count.to_vec_blocking::<u32>()?, [2]);
/// # Ok::<(), portcullis::Error>(())
/// ```
///
/// # Errors
/// As [`select`].
pub fn partition(x: &Tensor, mask: &Tensor) -> Result<(Tensor, Tensor)> {
    let outputs = call("partition", &[Some(x), Some(mask)], &Params::new())?;
    let mut tensors = outputs.into_tensors();
    let count = tensors.swap_remove(1);
    Ok((tensors.swap_remove(0), count))
}

/// The first element of each run of equal elements, in row-major order: of a
/// sorted `x`, its distinct elements. −0 equals +0, and every NaN every other.
///
/// ```
/// use portcullis::{Device, Tensor, ops};
/// let x = Tensor::from_slice(&Device::cpu(), &[7u32, 7, 5, 7], &[4])?;
/// let firsts = ops::unique(&x)?.trim_blocking()?;
/// assert_eq!(firsts.to_vec_blocking::<u32>()?, [7, 5, 7]);
/// # Ok::<(), portcullis::Error>(())
/// ```
///
/// # Errors
/// Those of [`call`].
pub fn unique(x: &Tensor) -> Result<Counted> {
    Counted::of(call("unique", &[Some(x)], &Params::new())?, 0)
}

/// The first element of each run of equal elements as [`unique`] gives them, and
/// the length of each run, i32.
///
/// ```
/// use portcullis::{Device, Tensor, ops};
/// let x = Tensor::from_slice(&Device::cpu(), &[f32::NAN, f32::NAN, 1.0], &[3])?;
/// let (_, lengths) = ops::run_length_encode(&x)?;
/// assert_eq!(lengths.trim_blocking()?.to_vec_blocking::<i32>()?, [2, 1]);
/// # Ok::<(), portcullis::Error>(())
/// ```
///
/// # Errors
/// Those of [`call`].
pub fn run_length_encode(x: &Tensor) -> Result<(Counted, Counted)> {
    let outputs: Outputs = call("run_length_encode", &[Some(x)], &Params::new())?;
    Counted::pair(outputs)
}

/// This family's operations.
pub(crate) fn operations() -> Vec<Box<dyn Operation>> {
    let of = |what: What| Box::new(Select::new(what)) as Box<dyn Operation>;
    vec![
        of(What::Select),
        of(What::Partition),
        of(What::Unique),
        of(What::RunLengthEncode),
    ]
}

/// What is packed together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum What {
    /// Elements whose mask is not 0.
    Select,
    /// Those, and the others behind them.
    Partition,
    /// The first element of each run.
    Unique,
    /// That, and how long each run is.
    RunLengthEncode,
}

impl What {
    /// Whether a mask says what is selected, rather than runs.
    pub fn by_mask(self) -> bool {
        matches!(self, What::Select | What::Partition)
    }
}

struct Select {
    signature: Signature,
    what: What,
}

impl Select {
    fn new(what: What) -> Select {
        let (name, doc) = match what {
            What::Select => ("select", "the elements whose mask is not 0, in order"),
            What::Partition => (
                "partition",
                "the elements whose mask is not 0, and behind them the others, in order",
            ),
            What::Unique => ("unique", "the first element of each run of equal ones"),
            What::RunLengthEncode => (
                "run_length_encode",
                "the first element of each run of equal ones, and the run's length",
            ),
        };
        let mut inputs = vec![InputSpec {
            name: "x",
            dtypes: DType::ALL,
            optional: false,
            doc: "any shape, taken in row-major order",
        }];
        if what.by_mask() {
            inputs.push(InputSpec {
                name: "mask",
                dtypes: &[DType::I32, DType::U32],
                optional: false,
                doc: "shape of x; not 0 selects",
            });
        }
        let first = match what {
            What::RunLengthEncode => "values",
            _ => "y",
        };
        let doc_first = match what {
            What::Partition => "dtype of x, of rank 1 and as many elements",
            _ => {
                "dtype of x, of rank 1 with room for as many elements; those beyond the count stay as they were"
            }
        };
        let mut outputs = vec![OutputSpec {
            name: first,
            doc: doc_first,
        }];
        if what == What::RunLengthEncode {
            outputs.push(OutputSpec {
                name: "counts",
                doc: "the length of each run: i32, with room as values has",
            });
        }
        outputs.push(OutputSpec {
            name: "count",
            doc: "how many elements were selected or runs found: u32 [1]",
        });
        Select {
            signature: Signature {
                name,
                family: "select",
                doc,
                inputs,
                variadic: 0,
                outputs,
                params: Vec::new(),
                dtypes: DType::ALL,
                variants: &[Variant::Subgroup, Variant::Portable, Variant::Cpu],
                gradient_of: None,
            },
            what,
        }
    }
}

impl Operation for Select {
    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn infer(&self, call: &Call) -> Result<Vec<TensorSpec>> {
        let x = call.input(0);
        if self.what.by_mask() {
            let mask = call.input(1);
            if mask.shape != x.shape {
                return Err(call.shape_error(format!(
                    "x is {:?} and mask {:?}; each element needs one number",
                    x.shape, mask.shape
                )));
            }
        }
        let mut outputs = vec![TensorSpec::new(x.dtype, [x.len()])];
        if self.what == What::RunLengthEncode {
            outputs.push(TensorSpec::new(DType::I32, [x.len()]));
        }
        outputs.push(TensorSpec::new(DType::U32, [1]));
        Ok(outputs)
    }

    fn plan(&self, call: &Call, variant: Variant, capabilities: &Capabilities) -> Result<Plan> {
        plan::plan(call, variant, capabilities, self.what)
    }

    fn cpu(&self, call: &Call, inputs: &[Option<&HostTensor>]) -> Result<Vec<HostTensor>> {
        let x = required(call, inputs, 0)?;
        match self.what {
            What::Select => cpu::select::select(x, required(call, inputs, 1)?),
            What::Partition => cpu::select::partition(x, required(call, inputs, 1)?),
            What::Unique => cpu::select::unique(x),
            What::RunLengthEncode => cpu::select::run_length_encode(x),
        }
    }

    fn reference(&self, call: &Call, inputs: &[Option<&HostTensor>]) -> Result<Vec<Expected>> {
        let x = required(call, inputs, 0)?;
        match self.what.by_mask() {
            true => {
                oracle::select::by_mask(x, required(call, inputs, 1)?, self.what == What::Partition)
            }
            false => oracle::select::runs(x, self.what == What::RunLengthEncode),
        }
    }

    fn problems(&self, dtype: DType, effort: Effort) -> Vec<Problem> {
        problems::problems(dtype, effort, self.what)
    }

    fn bench_problem(&self, dtype: DType, log2_size: u32) -> Option<Problem> {
        Some(problems::half(dtype, 1usize << log2_size, self.what))
    }
}
