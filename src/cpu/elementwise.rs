//! The CPU twins of elementwise operations: chunk by chunk, on all cores.
//! Operands of the result's shape in the dtype that is computed in are read
//! where they lie; others go through a buffer of one chunk.

use half::slice::HalfFloatSliceExt as _;
use half::{bf16, f16};

use crate::cpu::parallel;
use crate::dtype::{DType, Element};
use crate::error::Result;
use crate::host::{HostData, HostTensor};
use crate::kernels::elementwise::sum::Axes;
use crate::kernels::math_table::{IntegerBinary, IntegerUnary, UnaryMath};
use crate::spec::{TensorSpec, broadcast_strides};

/// Elements that are computed at a time: they and their operands fit the first cache.
const CHUNK: usize = 2048;

/// What elements are computed in.
pub(crate) trait Scalar: Element + Default {
    /// The elements where they lie, if they are stored as what they are computed in.
    fn whole(tensor: &HostTensor) -> Option<&[Self]> {
        tensor.as_slice()
    }
    /// Appends a range of elements.
    fn extend(data: &HostData, range: std::ops::Range<usize>, to: &mut Vec<Self>);
    /// One element.
    fn at(data: &HostData, index: usize) -> Self;
}

impl Scalar for f32 {
    fn extend(data: &HostData, range: std::ops::Range<usize>, to: &mut Vec<f32>) {
        let start = to.len();
        to.resize(start + range.len(), 0.0);
        match data {
            HostData::F32(v) => to[start..].copy_from_slice(&v[range]),
            HostData::F16(v) => v[range].convert_to_f32_slice(&mut to[start..]),
            HostData::BF16(v) => v[range].convert_to_f32_slice(&mut to[start..]),
            HostData::I32(_) | HostData::U32(_) => {}
        }
    }

    fn at(data: &HostData, index: usize) -> f32 {
        match data {
            HostData::F32(v) => v[index],
            HostData::F16(v) => v[index].to_f32(),
            HostData::BF16(v) => v[index].to_f32(),
            HostData::I32(_) | HostData::U32(_) => 0.0,
        }
    }
}

macro_rules! integer_scalar {
    ($type:ident, $variant:ident) => {
        impl Scalar for $type {
            fn extend(data: &HostData, range: std::ops::Range<usize>, to: &mut Vec<$type>) {
                if let HostData::$variant(v) = data {
                    to.extend_from_slice(&v[range]);
                }
            }

            fn at(data: &HostData, index: usize) -> $type {
                match data {
                    HostData::$variant(v) => v[index],
                    _ => 0,
                }
            }
        }
    };
}
integer_scalar!(i32, I32);
integer_scalar!(u32, U32);

/// A contiguous operand read as if it had a shape that it broadcasts to.
pub(crate) struct Operand<'a> {
    tensor: &'a HostTensor,
    shape: &'a [usize],
    /// `None` where the elements lie in the order of the shape.
    strides: Option<Vec<isize>>,
}

impl<'a> Operand<'a> {
    pub fn new(tensor: &'a HostTensor, shape: &'a [usize]) -> Operand<'a> {
        let same = tensor.len() == shape.iter().product::<usize>();
        let spec = TensorSpec::new(tensor.dtype(), tensor.shape());
        Operand {
            tensor,
            shape,
            strides: (!same).then(|| broadcast_strides(&spec, shape)),
        }
    }

    /// Calls `f` with the position of each of `count` elements from `start`.
    pub fn positions(&self, start: usize, count: usize, mut f: impl FnMut(usize)) {
        let Some(strides) = &self.strides else {
            (start..start + count).for_each(f);
            return;
        };
        // The shape may have no elements to divide by.
        if count == 0 {
            return;
        }
        let rank = self.shape.len();
        let mut index = vec![0; rank];
        let mut rest = start;
        for axis in (0..rank).rev() {
            index[axis] = rest % self.shape[axis];
            rest /= self.shape[axis];
        }
        let mut at: isize = index
            .iter()
            .zip(strides)
            .map(|(&i, &s)| i as isize * s)
            .sum();
        for _ in 0..count {
            f(at as usize);
            for axis in (0..rank).rev() {
                index[axis] += 1;
                at += strides[axis];
                if index[axis] < self.shape[axis] {
                    break;
                }
                at -= strides[axis] * index[axis] as isize;
                index[axis] = 0;
            }
        }
    }

    /// The `count` elements from `start`, in `buffer` where they do not lie so already.
    pub fn read<'b, S: Scalar>(
        &'b self,
        start: usize,
        count: usize,
        buffer: &'b mut Vec<S>,
    ) -> &'b [S] {
        let data = self.tensor.data();
        match (&self.strides, S::whole(self.tensor)) {
            (None, Some(whole)) => return &whole[start..start + count],
            (None, None) => {
                buffer.clear();
                S::extend(data, start..start + count, buffer);
            }
            (Some(_), _) => {
                buffer.clear();
                self.positions(start, count, |at| buffer.push(S::at(data, at)));
            }
        }
        buffer
    }
}

/// A tensor of elements computed in f32, chunk by chunk, by `f` of the first
/// element's number and the chunk; rounded to nearest even where stored in
/// less, truncated where stored as integers.
pub(crate) fn compute_f32(output: &TensorSpec, f: impl Fn(usize, &mut [f32]) + Sync) -> HostTensor {
    fn narrowed<T: Element>(
        tensor: &mut HostTensor,
        f: impl Fn(usize, &mut [f32]) + Sync,
        narrow: impl Fn(&[f32], &mut [T]) + Sync,
    ) {
        let data = tensor.as_mut_slice::<T>().unwrap_or_default();
        parallel::chunks_mut(data, CHUNK, |i, chunk| {
            let mut values = [0.0; CHUNK];
            let values = &mut values[..chunk.len()];
            f(i * CHUNK, values);
            narrow(values, chunk);
        });
    }
    let mut tensor = HostTensor::zeros(output.dtype, &output.shape);
    match output.dtype {
        DType::F32 => compute_into(&mut tensor, f),
        DType::F16 => narrowed(&mut tensor, f, |values, chunk: &mut [f16]| {
            chunk.convert_from_f32_slice(values);
        }),
        DType::BF16 => narrowed(&mut tensor, f, |values, chunk: &mut [bf16]| {
            chunk.convert_from_f32_slice(values);
        }),
        DType::I32 => narrowed(&mut tensor, f, |values, chunk: &mut [i32]| {
            chunk
                .iter_mut()
                .zip(values)
                .for_each(|(to, v)| *to = *v as i32);
        }),
        DType::U32 => narrowed(&mut tensor, f, |values, chunk: &mut [u32]| {
            chunk
                .iter_mut()
                .zip(values)
                .for_each(|(to, v)| *to = *v as u32);
        }),
    }
    tensor
}

/// A tensor of 32-bit elements whose bits are those of `S`.
pub(crate) fn compute_bits<S: Scalar>(
    output: &TensorSpec,
    f: impl Fn(usize, &mut [S]) + Sync,
) -> HostTensor {
    let mut tensor = HostTensor::zeros(output.dtype, &output.shape);
    compute_into(&mut tensor, f);
    tensor
}

fn compute_into<S: Scalar>(tensor: &mut HostTensor, f: impl Fn(usize, &mut [S]) + Sync) {
    let data: &mut [S] = bytemuck::cast_slice_mut(tensor.bytes_mut());
    parallel::chunks_mut(data, CHUNK, |i, chunk| f(i * CHUNK, chunk));
}

/// Of a slice of numbers and two values, into a slice as long.
type FloatUnary = fn(&[f32], [f32; 2], &mut [f32]);
/// Of two slices of numbers, into a slice as long.
type FloatBinary = fn(&[f32], &[f32], &mut [f32]);

/// A function of one number, of every element.
pub(crate) fn unary(
    x: &HostTensor,
    float: Option<FloatUnary>,
    integer: Option<IntegerUnary>,
    values: [f64; 2],
) -> HostTensor {
    fn integers<S: Scalar>(
        x: &Operand,
        output: &TensorSpec,
        f: impl Fn(S) -> S + Sync,
    ) -> HostTensor {
        compute_bits(output, |start, chunk: &mut [S]| {
            let mut buffer = Vec::new();
            let x = x.read(start, chunk.len(), &mut buffer);
            chunk.iter_mut().zip(x).for_each(|(y, &x)| *y = f(x));
        })
    }
    let output = TensorSpec::new(x.dtype(), x.shape());
    let operand = Operand::new(x, x.shape());
    match (x.dtype(), float, integer) {
        (DType::I32, _, Some(twins)) => {
            let p = values.map(|v| v as i32);
            integers(&operand, &output, |x| (twins.cpu_i32)(x, p))
        }
        (DType::U32, _, Some(twins)) => {
            let p = values.map(|v| v as u32);
            integers(&operand, &output, |x| (twins.cpu_u32)(x, p))
        }
        (_, Some(float), _) => {
            let p = values.map(|v| v as f32);
            compute_f32(&output, |start, chunk| {
                let mut buffer = Vec::new();
                float(operand.read(start, chunk.len(), &mut buffer), p, chunk);
            })
        }
        // `Call::new` lets no other dtype pass.
        _ => HostTensor::zeros(x.dtype(), x.shape()),
    }
}

/// A function of two numbers, of every pair of elements.
pub(crate) fn binary(
    a: &HostTensor,
    b: &HostTensor,
    output: &TensorSpec,
    float: Option<FloatBinary>,
    integer: IntegerBinary,
) -> HostTensor {
    fn integers<S: Scalar>(
        [a, b]: [&Operand; 2],
        output: &TensorSpec,
        f: impl Fn(S, S) -> S + Sync,
    ) -> HostTensor {
        compute_bits(output, |start, chunk: &mut [S]| {
            let mut buffers = [Vec::new(), Vec::new()];
            let [first, second] = &mut buffers;
            let a = a.read(start, chunk.len(), first);
            let b = b.read(start, chunk.len(), second);
            let pairs = a.iter().zip(b);
            chunk
                .iter_mut()
                .zip(pairs)
                .for_each(|(y, (&a, &b))| *y = f(a, b));
        })
    }
    let dtype = a.dtype();
    let operands = [
        Operand::new(a, &output.shape),
        Operand::new(b, &output.shape),
    ];
    let [a, b] = &operands;
    match (dtype, float) {
        (DType::I32, _) => integers([a, b], output, integer.cpu_i32),
        (DType::U32, _) => integers([a, b], output, integer.cpu_u32),
        (_, Some(float)) => compute_f32(output, |start, chunk| {
            let mut buffers = [Vec::new(), Vec::new()];
            let [first, second] = &mut buffers;
            let n = chunk.len();
            float(a.read(start, n, first), b.read(start, n, second), chunk);
        }),
        // `Call::new` lets no other dtype pass.
        (_, None) => HostTensor::zeros(output.dtype, &output.shape),
    }
}

/// `a` where the condition is not 0, `b` elsewhere.
pub(crate) fn select(
    condition: &HostTensor,
    a: &HostTensor,
    b: &HostTensor,
    output: &TensorSpec,
) -> HostTensor {
    fn moved<T: bytemuck::Pod + Send + Sync>(
        condition: &[u32],
        operands: [&Operand; 3],
        output: &TensorSpec,
    ) -> HostTensor {
        let [holds, a, b] = operands;
        let from: [&[T]; 2] = [a, b].map(|o| bytemuck::cast_slice(o.tensor.bytes()));
        let mut tensor = HostTensor::zeros(output.dtype, &output.shape);
        let data: &mut [T] = bytemuck::cast_slice_mut(tensor.bytes_mut());
        parallel::chunks_mut(data, CHUNK, |i, chunk| {
            let (start, n) = (i * CHUNK, chunk.len());
            let mut taken = Vec::with_capacity(n);
            holds.positions(start, n, |at| taken.push(condition[at] != 0));
            let mut k = 0;
            a.positions(start, n, |at| {
                chunk[k] = from[0][at];
                k += 1;
            });
            k = 0;
            b.positions(start, n, |at| {
                if !taken[k] {
                    chunk[k] = from[1][at];
                }
                k += 1;
            });
        });
        tensor
    }
    let operands = [condition, a, b].map(|t| Operand::new(t, &output.shape));
    let operands = [&operands[0], &operands[1], &operands[2]];
    let words: &[u32] = bytemuck::cast_slice(condition.bytes());
    match output.dtype.size() {
        2 => moved::<u16>(words, operands, output),
        _ => moved::<u32>(words, operands, output),
    }
}

/// Another dtype: to floats by one rounding to nearest even, to integers
/// towards zero and saturating, between integers the same bits.
///
/// # Errors
/// None in practice: the number of elements stays.
pub(crate) fn cast(x: &HostTensor, to: DType) -> Result<HostTensor> {
    // bf16 is rounded from an f32 that was rounded to odd, as if from the integer.
    fn odd(v: f64) -> f32 {
        let bits = v.abs().to_bits();
        let cut = f64::from_bits(bits & !0x1fff_ffff) as f32;
        let sticky = (bits & 0x1fff_ffff != 0) as u32;
        f32::from_bits(cut.to_bits() | sticky).copysign(v as f32)
    }
    let output = TensorSpec::new(to, x.shape());
    let operand = Operand::new(x, x.shape());
    Ok(match (x.data(), to) {
        _ if x.dtype() == to => x.clone(),
        (HostData::I32(_) | HostData::U32(_), DType::I32 | DType::U32) => {
            HostTensor::from_bytes(to, x.shape(), x.bytes())?
        }
        (HostData::I32(v), _) => compute_f32(&output, |start, chunk| {
            let from = &v[start..start + chunk.len()];
            match to {
                DType::BF16 => chunk
                    .iter_mut()
                    .zip(from)
                    .for_each(|(y, &x)| *y = odd(x.into())),
                _ => chunk.iter_mut().zip(from).for_each(|(y, &x)| *y = x as f32),
            }
        }),
        (HostData::U32(v), _) => compute_f32(&output, |start, chunk| {
            let from = &v[start..start + chunk.len()];
            match to {
                DType::BF16 => chunk
                    .iter_mut()
                    .zip(from)
                    .for_each(|(y, &x)| *y = odd(x.into())),
                _ => chunk.iter_mut().zip(from).for_each(|(y, &x)| *y = x as f32),
            }
        }),
        _ => compute_f32(&output, |start, chunk| {
            let mut buffer = Vec::new();
            chunk.copy_from_slice(operand.read(start, chunk.len(), &mut buffer));
        }),
    })
}

/// The gradient of a function of one number.
pub(crate) fn unary_backward(
    math: &UnaryMath,
    x: &HostTensor,
    y: &HostTensor,
    cotangent: &HostTensor,
    values: [f64; 2],
) -> HostTensor {
    let shape = cotangent.shape();
    let operands = [x, y, cotangent].map(|t| Operand::new(t, shape));
    let p = values.map(|v| v as f32);
    let output = TensorSpec::new(cotangent.dtype(), shape);
    compute_f32(&output, |start, chunk| {
        let mut buffers = [Vec::new(), Vec::new(), Vec::new()];
        let [x, y, cotangent] = read_all(&operands, start, chunk.len(), &mut buffers);
        for (k, to) in chunk.iter_mut().enumerate() {
            *to = cotangent[k] * (math.derivative.cpu)(x[k], y[k], p);
        }
    })
}

fn read_all<'b, const N: usize>(
    operands: &'b [Operand; N],
    start: usize,
    count: usize,
    buffers: &'b mut [Vec<f32>; N],
) -> [&'b [f32]; N] {
    let mut slices = [&[][..]; N];
    for ((slice, operand), buffer) in slices.iter_mut().zip(operands).zip(buffers) {
        *slice = operand.read(start, count, buffer);
    }
    slices
}

/// The cotangent times a derivative by one of two operands.
pub(crate) struct Products<'a> {
    operands: [Operand<'a>; 4],
    derivative: fn(f32, f32, f32) -> f32,
}

impl<'a> Products<'a> {
    pub fn new(
        derivative: fn(f32, f32, f32) -> f32,
        [a, b, y]: [&'a HostTensor; 3],
        cotangent: &'a HostTensor,
    ) -> Products<'a> {
        Products {
            operands: [a, b, y, cotangent].map(|t| Operand::new(t, cotangent.shape())),
            derivative,
        }
    }

    /// The products from element `start`.
    pub fn fill(&self, start: usize, chunk: &mut [f32]) {
        let mut buffers = [Vec::new(), Vec::new(), Vec::new(), Vec::new()];
        let [a, b, y, cotangent] = read_all(&self.operands, start, chunk.len(), &mut buffers);
        for (k, to) in chunk.iter_mut().enumerate() {
            *to = cotangent[k] * (self.derivative)(a[k], b[k], y[k]);
        }
    }
}

/// The cotangent where `condition` is what `holds` says, 0 elsewhere.
pub(crate) fn masked(
    condition: &HostTensor,
    cotangent: &HostTensor,
    holds: bool,
    start: usize,
    chunk: &mut [f32],
) {
    let words: &[u32] = bytemuck::cast_slice(condition.bytes());
    let shape = cotangent.shape();
    let (cotangent, mut buffer) = (Operand::new(cotangent, shape), Vec::new());
    let values: &[f32] = cotangent.read(start, chunk.len(), &mut buffer);
    let mut k = 0;
    Operand::new(condition, shape).positions(start, chunk.len(), |at| {
        chunk[k] = if (words[at] != 0) == holds {
            values[k]
        } else {
            0.0
        };
        k += 1;
    });
}

/// The terms that `f` gives for each element of `shape`, by the first one's
/// number, summed over the axes along which `output` was broadcast to it.
///
/// # Errors
/// None in practice: the number of elements is the output's.
pub(crate) fn summed(
    shape: &[usize],
    output: &TensorSpec,
    f: impl Fn(usize, &mut [f32]) + Sync,
) -> Result<HostTensor> {
    let n: usize = shape.iter().product();
    if output.len() == n {
        return Ok(compute_f32(output, f));
    }
    let mut terms = vec![0.0; n];
    parallel::chunks_mut(&mut terms, CHUNK, |i, chunk| f(i * CHUNK, chunk));
    let axes = Axes::new(shape, &output.shape);
    let offset = |axes: &[(usize, isize)], index: usize| {
        let mut rest = index;
        let mut at = 0;
        for &(extent, stride) in axes.iter().rev() {
            at += (rest % extent) * stride as usize;
            rest /= extent;
        }
        at
    };
    let count = axes.terms();
    let sums = parallel::map(output.len(), |element| {
        let first = offset(&axes.kept, element);
        let of_element: Vec<f32> = (0..count)
            .map(|t| terms[first + offset(&axes.summed, t)])
            .collect();
        parallel::sum(&of_element)
    });
    HostTensor::from_f32(output.dtype, &output.shape, sums)
}

#[cfg(feature = "user-wgsl")]
thread_local! {
    /// The registers of this thread's interpretations: too many to zero for each chunk.
    static SCRATCH: std::cell::RefCell<crate::user::Scratch> = std::cell::RefCell::default();
}

/// A user's function of one element of each input.
///
/// # Errors
/// Those of the function: a loop that does not end.
#[cfg(feature = "user-wgsl")]
pub(crate) fn map(
    function: &crate::user::Interpreter,
    inputs: &[&HostTensor],
    output: &TensorSpec,
) -> Result<HostTensor> {
    let operands: Vec<Operand> = inputs
        .iter()
        .map(|x| Operand::new(x, &output.shape))
        .collect();
    let failure = std::sync::Mutex::new(None);
    let evaluate = |start: usize, chunk: &mut [u32]| {
        let words: Vec<Vec<u32>> = operands
            .iter()
            .map(|operand| operand.words(start, chunk.len()))
            .collect();
        let mut arguments = vec![0; operands.len()];
        let outcome = SCRATCH.with_borrow_mut(|scratch| {
            for (k, result) in chunk.iter_mut().enumerate() {
                for (argument, words) in arguments.iter_mut().zip(&words) {
                    *argument = words[k];
                }
                function.evaluate_words(&arguments, std::slice::from_mut(result), scratch)?;
            }
            Ok(())
        });
        if let Err(error) = outcome {
            crate::device::lock(&failure).get_or_insert(error);
        }
    };
    // Once one chunk has failed, the others are not worth their time.
    let failed = || crate::device::lock(&failure).is_some();
    let tensor = match output.dtype.is_float() {
        true => compute_f32(output, |start, chunk| {
            if !failed() {
                evaluate(start, bytemuck::cast_slice_mut(chunk));
            }
        }),
        false => compute_bits(output, |start, chunk: &mut [u32]| {
            if !failed() {
                evaluate(start, chunk);
            }
        }),
    };
    match crate::device::lock(&failure).take() {
        Some(error) => Err(error),
        None => Ok(tensor),
    }
}

#[cfg(feature = "user-wgsl")]
impl Operand<'_> {
    /// The `count` elements from `start` as words: floats by their bits in f32.
    fn words(&self, start: usize, count: usize) -> Vec<u32> {
        fn bits<S: Scalar>(operand: &Operand, start: usize, count: usize) -> Vec<u32> {
            let mut buffer: Vec<S> = Vec::new();
            bytemuck::cast_slice(operand.read(start, count, &mut buffer)).to_vec()
        }
        match self.tensor.dtype() {
            DType::I32 => bits::<i32>(self, start, count),
            DType::U32 => bits::<u32>(self, start, count),
            DType::F32 | DType::F16 | DType::BF16 => bits::<f32>(self, start, count),
        }
    }
}
