//! Radix sort: `sort`, `sort_pairs` (keys with their places) and `sort_by_key`
//! (keys with values).
//!
//! Least significant digit first; each pass counts digits by tiles, adds the
//! counts up and moves keys to their places, stably (Merrill and Grimshaw 2011,
//! "High performance and scalable radix sorting").

pub(crate) mod plan;
mod problems;

use crate::cpu;
use crate::device::Capabilities;
use crate::dtype::DType;
use crate::error::Result;
use crate::gate::{Effort, Expected, Problem, oracle};
use crate::host::HostTensor;
use crate::kernels::softmax::required;
use crate::operation::{Call, InputSpec, Operation, OutputSpec, Signature, Variant};
use crate::params::{ParamSpec, Params};
use crate::plan::Plan;
use crate::spec::TensorSpec;
use crate::tensor::{Tensor, call};

/// Sorts `keys` along the last axis. Stable; the bits of every key are kept.
///
/// Floats: −inf < … < −0 = +0 < … < +inf < every NaN, whatever its sign; the
/// other way round when `descending`, so that NaNs come first. Equal keys keep
/// their order in both directions.
///
/// ```
/// use portcullis::{Device, Tensor, ops};
/// let keys = Tensor::from_slice(&Device::cpu(), &[3.0f32, f32::NAN, -1.0], &[3])?;
/// let sorted = ops::sort(&keys, false)?.to_vec_blocking::<f32>()?;
/// assert_eq!(sorted[..2], [-1.0, 3.0]);
/// # Ok::<(), portcullis::Error>(())
/// ```
///
/// # Errors
/// [`Error::DType`](crate::Error::DType) for other dtypes and those of [`call`].
pub fn sort(keys: &Tensor, descending: bool) -> Result<Tensor> {
    Ok(call("sort", &[Some(keys)], &direction(descending))?.into_first())
}

/// Sorts `keys` along the last axis as [`sort`] does, and gives where along that
/// axis each key came from, as i32.
///
/// ```
/// use portcullis::{Device, Tensor, ops};
/// let keys = Tensor::from_slice(&Device::cpu(), &[30u32, 10, 20, 10], &[4])?;
/// let (sorted, indices) = ops::sort_pairs(&keys, false)?;
/// assert_eq!(sorted.to_vec_blocking::<u32>()?, [10, 10, 20, 30]);
/// assert_eq!(indices.to_vec_blocking::<i32>()?, [1, 3, 2, 0]);
/// # Ok::<(), portcullis::Error>(())
/// ```
///
/// # Errors
/// As [`sort`].
pub fn sort_pairs(keys: &Tensor, descending: bool) -> Result<(Tensor, Tensor)> {
    pair(call("sort_pairs", &[Some(keys)], &direction(descending))?)
}

/// Sorts `keys` along the last axis as [`sort`] does, and `values` with them.
///
/// ```
/// use portcullis::{Device, Tensor, ops};
/// let device = Device::cpu();
/// let keys = Tensor::from_slice(&device, &[2i32, -5, 2], &[3])?;
/// let values = Tensor::from_slice(&device, &[0.5f32, 1.5, 2.5], &[3])?;
/// let (keys, values) = ops::sort_by_key(&keys, &values, true)?;
/// assert_eq!(keys.to_vec_blocking::<i32>()?, [2, 2, -5]);
/// assert_eq!(values.to_vec_blocking::<f32>()?, [0.5, 2.5, 1.5]);
/// # Ok::<(), portcullis::Error>(())
/// ```
///
/// # Errors
/// As [`sort`]; [`Error::Shape`](crate::Error::Shape) unless `values` has the shape of `keys`.
pub fn sort_by_key(keys: &Tensor, values: &Tensor, descending: bool) -> Result<(Tensor, Tensor)> {
    let inputs = [Some(keys), Some(values)];
    pair(call("sort_by_key", &inputs, &direction(descending))?)
}

fn direction(descending: bool) -> Params {
    Params::new().with("descending", descending)
}

fn pair(outputs: crate::tensor::Outputs) -> Result<(Tensor, Tensor)> {
    let mut tensors = outputs.into_tensors();
    let second = tensors.swap_remove(1);
    Ok((tensors.swap_remove(0), second))
}

/// This family's operations.
pub(crate) fn operations() -> Vec<Box<dyn Operation>> {
    let operations = [
        ("sort", "the keys in order", Payload::None),
        (
            "sort_pairs",
            "the keys in order, and where each came from",
            Payload::Indices,
        ),
        (
            "sort_by_key",
            "the keys in order, and values moved with them",
            Payload::Values,
        ),
    ];
    operations
        .into_iter()
        .map(|(name, doc, payload)| {
            Box::new(Sort {
                signature: signature(name, doc, payload),
                payload,
            }) as Box<dyn Operation>
        })
        .collect()
}

/// What moves with the keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Payload {
    None,
    /// Where along its row each key came from.
    Indices,
    /// The second input.
    Values,
}

/// The bits of a key that take part, and the direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Order {
    /// The lowest bit that takes part.
    pub begin: u32,
    /// The bit behind the highest that takes part; no more than the key has.
    pub end: u32,
    /// Whether the largest comes first.
    pub descending: bool,
}

impl Order {
    fn of(call: &Call) -> Order {
        let width = 8 * call.input(0).dtype.size() as u32;
        let bit = |name: &str| (call.params.int(name).clamp(0, 32) as u32).min(width);
        Order {
            begin: bit("begin_bit"),
            end: bit("end_bit"),
            descending: call.params.bool("descending"),
        }
    }

    /// How many bits take part.
    pub fn bits(self) -> u32 {
        self.end - self.begin
    }
}

fn signature(name: &'static str, doc: &'static str, payload: Payload) -> Signature {
    let mut inputs = vec![InputSpec {
        name: "keys",
        dtypes: DType::ALL,
        optional: false,
        doc: "any shape; each row along the last axis is sorted",
    }];
    let mut outputs = vec![OutputSpec {
        name: "keys",
        doc: "shape and dtype of keys",
    }];
    match payload {
        Payload::None => {}
        Payload::Indices => outputs.push(OutputSpec {
            name: "indices",
            doc: "where along the last axis each key came from: i32, shape of keys",
        }),
        Payload::Values => {
            inputs.push(InputSpec {
                name: "values",
                dtypes: &[DType::F32, DType::I32, DType::U32],
                optional: false,
                doc: "shape of keys",
            });
            outputs.push(OutputSpec {
                name: "values",
                doc: "shape and dtype of values",
            });
        }
    }
    Signature {
        name,
        family: "sort",
        doc,
        inputs,
        variadic: 0,
        outputs,
        params: vec![
            ParamSpec::new(
                "descending",
                false,
                "the largest first; equal keys keep their order all the same",
            ),
            ParamSpec::new(
                "stable",
                true,
                "equal keys keep their order; they always do, whatever is asked for",
            ),
            ParamSpec::new(
                "begin_bit",
                0i64,
                "the lowest bit of the key that takes part; of a float: of the unsigned integer 2^(width-1) ± magnitude, all ones for NaN; of a signed integer: with its sign inverted",
            ),
            ParamSpec::new(
                "end_bit",
                32i64,
                "the bit behind the highest that takes part; 16-bit keys have none from 16 on",
            ),
        ],
        dtypes: DType::ALL,
        variants: &[Variant::Subgroup, Variant::Portable, Variant::Cpu],
        gradient_of: None,
    }
}

struct Sort {
    signature: Signature,
    payload: Payload,
}

impl Operation for Sort {
    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn infer(&self, call: &Call) -> Result<Vec<TensorSpec>> {
        let keys = call.input(0);
        let (begin, end) = (call.params.int("begin_bit"), call.params.int("end_bit"));
        if !(0..=32).contains(&end) {
            return Err(call.parameter_error("end_bit", format!("{end} is not within 0..=32")));
        }
        if !(0..=end).contains(&begin) {
            let problem = format!("{begin} is not within 0..={end}, the end of the range");
            return Err(call.parameter_error("begin_bit", problem));
        }
        let mut outputs = vec![TensorSpec::new(keys.dtype, keys.shape.clone())];
        match self.payload {
            Payload::None => {}
            Payload::Indices => outputs.push(TensorSpec::new(DType::I32, keys.shape.clone())),
            Payload::Values => {
                let values = call.input(1);
                if values.shape != keys.shape {
                    return Err(call.shape_error(format!(
                        "keys are {:?} and values {:?}; each key needs one value",
                        keys.shape, values.shape
                    )));
                }
                outputs.push(TensorSpec::new(values.dtype, values.shape.clone()));
            }
        }
        Ok(outputs)
    }

    fn plan(&self, call: &Call, variant: Variant, capabilities: &Capabilities) -> Result<Plan> {
        plan::plan(call, variant, capabilities, self.payload, Order::of(call))
    }

    fn cpu(&self, call: &Call, inputs: &[Option<&HostTensor>]) -> Result<Vec<HostTensor>> {
        let keys = required(call, inputs, 0)?;
        let order = Order::of(call);
        Ok(match self.payload {
            Payload::None => vec![cpu::sort::sort(keys, order)?],
            Payload::Indices => cpu::sort::sort_pairs(keys, order)?.into(),
            Payload::Values => {
                cpu::sort::sort_by_key(keys, required(call, inputs, 1)?, order)?.into()
            }
        })
    }

    fn reference(&self, call: &Call, inputs: &[Option<&HostTensor>]) -> Result<Vec<Expected>> {
        let keys = required(call, inputs, 0)?;
        let values = match self.payload {
            Payload::Values => Some(required(call, inputs, 1)?),
            _ => None,
        };
        let mut expected = oracle::sort::sort(keys, values, Order::of(call))?;
        if self.payload == Payload::None {
            expected.truncate(1);
        }
        Ok(expected)
    }

    fn problems(&self, dtype: DType, effort: Effort) -> Vec<Problem> {
        problems::problems(dtype, effort, self.payload)
    }

    fn bench_problem(&self, dtype: DType, log2_size: u32) -> Option<Problem> {
        Some(problems::random(dtype, 1usize << log2_size, self.payload))
    }
}
