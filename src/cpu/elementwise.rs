//! The CPU twins of elementwise operations: chunk by chunk, on all cores.
//! Operands of the result's shape in the dtype that is computed in are read
//! where they lie; others go through a buffer of one chunk.

use half::slice::HalfFloatSliceExt as _;
use half::{bf16, f16};

use crate::cpu::parallel;
use crate::dtype::{DType, Element};
use crate::host::{HostData, HostTensor};
use crate::kernels::math_table::{IntegerBinary, IntegerUnary};
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

/// A function of one number, of every element.
pub(crate) fn unary(
    x: &HostTensor,
    float: Option<fn(&[f32], [f32; 2], &mut [f32])>,
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
    float: Option<fn(&[f32], &[f32], &mut [f32])>,
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
