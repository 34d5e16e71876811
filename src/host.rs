//! Tensors in host memory: what files hold, what CPU twins take and give, and
//! what oracles judge.

use half::{bf16, f16};

use crate::dtype::{DType, Element};
use crate::error::{Error, Result};

/// Elements in row-major order, one vector per dtype so that they are aligned.
#[derive(Debug, Clone)]
#[allow(missing_docs, reason = "one variant per dtype")]
pub enum HostData {
    F32(Vec<f32>),
    F16(Vec<f16>),
    BF16(Vec<bf16>),
    I32(Vec<i32>),
    U32(Vec<u32>),
}

/// Runs an expression with `$v` bound to the typed vector inside a [`HostData`].
#[macro_export]
#[doc(hidden)]
macro_rules! with_host_data {
    ($data:expr, $v:ident => $body:expr) => {
        match $data {
            $crate::host::HostData::F32($v) => $body,
            $crate::host::HostData::F16($v) => $body,
            $crate::host::HostData::BF16($v) => $body,
            $crate::host::HostData::I32($v) => $body,
            $crate::host::HostData::U32($v) => $body,
        }
    };
}

/// A contiguous row-major tensor in host memory. Rank 0 is a scalar.
#[derive(Debug, Clone)]
pub struct HostTensor {
    shape: Vec<usize>,
    data: HostData,
}

/// The number of elements of a shape, or `None` beyond `usize`.
pub fn element_count(shape: &[usize]) -> Option<usize> {
    shape.iter().try_fold(1usize, |n, &d| n.checked_mul(d))
}

impl HostTensor {
    /// A tensor of `data` in the given shape.
    ///
    /// # Errors
    /// [`Error::Shape`] when the shape does not hold exactly `data.len()` elements.
    pub fn new<T: Element>(shape: &[usize], data: Vec<T>) -> Result<HostTensor> {
        if element_count(shape) != Some(data.len()) {
            return Err(Error::Shape {
                operation: "tensor".into(),
                problem: format!("{} elements do not fill the shape {shape:?}", data.len()),
            });
        }
        Ok(HostTensor {
            shape: shape.to_vec(),
            data: HostData::from_vec(data),
        })
    }

    /// A tensor from the little-endian bytes of its elements.
    ///
    /// # Errors
    /// [`Error::Shape`] when the number of bytes is not that of the shape.
    pub fn from_bytes(dtype: DType, shape: &[usize], bytes: &[u8]) -> Result<HostTensor> {
        let expected = element_count(shape).and_then(|n| n.checked_mul(dtype.size()));
        if expected != Some(bytes.len()) {
            return Err(Error::Shape {
                operation: "tensor".into(),
                problem: format!(
                    "{} bytes do not fill the shape {shape:?} of {dtype}",
                    bytes.len()
                ),
            });
        }
        let mut tensor = HostTensor::zeros(dtype, shape);
        tensor.bytes_mut().copy_from_slice(bytes);
        Ok(tensor)
    }

    /// A tensor of zeros.
    pub fn zeros(dtype: DType, shape: &[usize]) -> HostTensor {
        let n = shape.iter().product();
        let data = match dtype {
            DType::F32 => HostData::F32(vec![0.0; n]),
            DType::F16 => HostData::F16(vec![f16::ZERO; n]),
            DType::BF16 => HostData::BF16(vec![bf16::ZERO; n]),
            DType::I32 => HostData::I32(vec![0; n]),
            DType::U32 => HostData::U32(vec![0; n]),
        };
        HostTensor {
            shape: shape.to_vec(),
            data,
        }
    }

    /// A tensor of this dtype, rounded from `f64` values.
    ///
    /// # Errors
    /// [`Error::Shape`] when the shape does not hold exactly `values.len()` elements.
    pub fn from_f64(dtype: DType, shape: &[usize], values: &[f64]) -> Result<HostTensor> {
        fn convert<T: Element>(shape: &[usize], values: &[f64]) -> Result<HostTensor> {
            HostTensor::new(shape, values.iter().map(|&v| T::from_f64(v)).collect())
        }
        match dtype {
            DType::F32 => convert::<f32>(shape, values),
            DType::F16 => convert::<f16>(shape, values),
            DType::BF16 => convert::<bf16>(shape, values),
            DType::I32 => convert::<i32>(shape, values),
            DType::U32 => convert::<u32>(shape, values),
        }
    }

    /// A tensor of a float dtype, rounded to nearest even from `f32` values; the
    /// values themselves for `DType::F32`.
    ///
    /// # Errors
    /// [`Error::Shape`] when the shape does not hold exactly `values.len()` elements.
    pub fn from_f32(dtype: DType, shape: &[usize], values: Vec<f32>) -> Result<HostTensor> {
        match dtype {
            DType::F16 => HostTensor::new(shape, values.into_iter().map(f16::from_f32).collect()),
            DType::BF16 => HostTensor::new(shape, values.into_iter().map(bf16::from_f32).collect()),
            DType::F32 => HostTensor::new(shape, values),
            DType::I32 => HostTensor::new(shape, values.into_iter().map(|v| v as i32).collect()),
            DType::U32 => HostTensor::new(shape, values.into_iter().map(|v| v as u32).collect()),
        }
    }

    /// The elements of a strided view of `bytes`, whose first element is the
    /// `offset`th, as a contiguous tensor.
    pub(crate) fn gather(
        dtype: DType,
        shape: &[usize],
        strides: &[isize],
        bytes: &[u8],
        offset: usize,
    ) -> Result<HostTensor> {
        let size = dtype.size();
        let count: usize = shape.iter().product();
        if crate::plan::is_row_major(shape, strides) {
            return HostTensor::from_bytes(
                dtype,
                shape,
                &bytes[offset * size..(offset + count) * size],
            );
        }
        let mut gathered = Vec::with_capacity(count * size);
        let mut index = vec![0usize; shape.len()];
        for _ in 0..count {
            let step = |at: isize, (&i, &s): (&usize, &isize)| at + i as isize * s;
            let at = index.iter().zip(strides).fold(offset as isize, step) as usize;
            gathered.extend_from_slice(&bytes[at * size..(at + 1) * size]);
            for axis in (0..index.len()).rev() {
                index[axis] += 1;
                if index[axis] < shape[axis] {
                    break;
                }
                index[axis] = 0;
            }
        }
        HostTensor::from_bytes(dtype, shape, &gathered)
    }

    /// The extents, outermost first.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The dtype.
    pub fn dtype(&self) -> DType {
        match self.data {
            HostData::F32(_) => DType::F32,
            HostData::F16(_) => DType::F16,
            HostData::BF16(_) => DType::BF16,
            HostData::I32(_) => DType::I32,
            HostData::U32(_) => DType::U32,
        }
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        with_host_data!(&self.data, v => v.len())
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The typed elements.
    pub fn data(&self) -> &HostData {
        &self.data
    }

    /// The elements as `T`, or `None` when the dtype is another.
    pub fn as_slice<T: Element>(&self) -> Option<&[T]> {
        (T::DTYPE == self.dtype()).then(|| bytemuck::cast_slice(self.bytes()))
    }

    /// The elements as `T` to write to, or `None` when the dtype is another.
    pub fn as_mut_slice<T: Element>(&mut self) -> Option<&mut [T]> {
        (T::DTYPE == self.dtype()).then(|| bytemuck::cast_slice_mut(self.bytes_mut()))
    }

    /// The elements as bytes, in the machine's (little-endian) order.
    pub fn bytes(&self) -> &[u8] {
        with_host_data!(&self.data, v => bytemuck::cast_slice(v))
    }

    /// The elements as bytes to write to.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        with_host_data!(&mut self.data, v => bytemuck::cast_slice_mut(v))
    }

    /// The elements widened to `f64`, exactly.
    pub fn to_f64(&self) -> Vec<f64> {
        with_host_data!(&self.data, v => v.iter().map(|&e| e.to_f64()).collect())
    }

    /// The elements as `f32`: exact for floats, rounded for large integers.
    pub fn to_f32(&self) -> Vec<f32> {
        match &self.data {
            HostData::F32(v) => v.clone(),
            other => with_host_data!(other, v => v.iter().map(|&e| e.to_f64() as f32).collect()),
        }
    }

    /// As [`HostTensor::to_f32`], without a copy where they are `f32` already.
    pub(crate) fn values(&self) -> std::borrow::Cow<'_, [f32]> {
        match &self.data {
            HostData::F32(v) => v.as_slice().into(),
            _ => self.to_f32().into(),
        }
    }

    /// The same elements in another shape.
    ///
    /// # Errors
    /// [`Error::Shape`] when the number of elements differs.
    pub fn reshape(mut self, shape: &[usize]) -> Result<HostTensor> {
        if element_count(shape) != Some(self.len()) {
            return Err(Error::Shape {
                operation: "reshape".into(),
                problem: format!(
                    "{:?} has {} elements and {shape:?} does not",
                    self.shape,
                    self.len()
                ),
            });
        }
        self.shape = shape.to_vec();
        Ok(self)
    }
}

impl HostData {
    fn from_vec<T: Element>(data: Vec<T>) -> HostData {
        // The casts are between identical types, and never fail.
        match T::DTYPE {
            DType::F32 => HostData::F32(bytemuck::cast_vec(data)),
            DType::F16 => HostData::F16(bytemuck::cast_vec(data)),
            DType::BF16 => HostData::BF16(bytemuck::cast_vec(data)),
            DType::I32 => HostData::I32(bytemuck::cast_vec(data)),
            DType::U32 => HostData::U32(bytemuck::cast_vec(data)),
        }
    }
}
