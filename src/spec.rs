//! What a tensor looks like: dtype, extents, strides, alignment.

use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::host::element_count;

/// Where the elements of a view may start within its buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Alignment {
    /// At a multiple of the device's storage binding alignment (256 bytes always
    /// does), in a buffer that reaches to the next multiple of 16 bytes behind
    /// the view. Kernels then load 16 bytes at a time.
    #[default]
    Binding,
    /// Anywhere. Costs most operations a copy into scratch memory.
    Element,
}

/// The dtype and layout of one input or output of a call.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TensorSpec {
    /// How elements are stored.
    pub dtype: DType,
    /// Extents, outermost first. Empty for a scalar.
    pub shape: Vec<usize>,
    /// Distance in elements between neighbours along each axis; 0 repeats one
    /// element. Row-major when `None`.
    pub strides: Option<Vec<isize>>,
    /// Where the view may start.
    pub alignment: Alignment,
}

impl TensorSpec {
    /// A contiguous row-major tensor in a buffer of its own.
    pub fn new(dtype: DType, shape: impl Into<Vec<usize>>) -> TensorSpec {
        TensorSpec {
            dtype,
            shape: shape.into(),
            strides: None,
            alignment: Alignment::Binding,
        }
    }

    /// The same tensor, starting anywhere in its buffer.
    pub fn unaligned(mut self) -> TensorSpec {
        self.alignment = Alignment::Element;
        self
    }

    /// The same extents with these strides, in elements.
    pub fn strided(mut self, strides: impl Into<Vec<isize>>) -> TensorSpec {
        let strides = strides.into();
        self.strides = (strides != row_major(&self.shape)).then_some(strides);
        self
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.shape.contains(&0)
    }

    /// The number of axes.
    pub fn rank(&self) -> usize {
        self.shape.len()
    }

    /// The strides, row-major when none were given.
    pub fn strides(&self) -> Vec<isize> {
        self.strides
            .clone()
            .unwrap_or_else(|| row_major(&self.shape))
    }

    /// Whether kernels can read it 16 bytes at a time: row-major and aligned.
    pub fn is_dense(&self) -> bool {
        self.strides.is_none() && self.alignment == Alignment::Binding
    }

    /// The offsets of the lowest and highest element, relative to the first
    /// (indices all 0). `None` when there are no elements.
    pub fn extent(&self) -> Option<(isize, isize)> {
        if self.is_empty() {
            return None;
        }
        let mut range = (0, 0);
        for (&d, s) in self.shape.iter().zip(self.strides()) {
            let last = (d as isize - 1) * s;
            if last < 0 {
                range.0 += last
            } else {
                range.1 += last
            }
        }
        Some(range)
    }

    /// Checks that the numbers make sense and that 32-bit indices reach every element.
    ///
    /// # Errors
    /// [`Error::Shape`] for strides of another rank, [`Error::Limit`] beyond 2^32 − 1 elements.
    pub fn check(&self, operation: &str) -> Result<()> {
        if self
            .strides
            .as_ref()
            .is_some_and(|s| s.len() != self.shape.len())
        {
            return Err(Error::Shape {
                operation: operation.into(),
                problem: format!(
                    "strides {:?} do not have the rank of shape {:?}",
                    self.strides, self.shape
                ),
            });
        }
        let count = element_count(&self.shape).map_or(u64::MAX, |n| n as u64);
        let reach = match (&self.strides, count) {
            (Some(strides), 1..) => self
                .shape
                .iter()
                .zip(strides)
                .fold(1u64, |reach, (&d, &s)| {
                    reach.saturating_add((d as u64 - 1).saturating_mul(s.unsigned_abs() as u64))
                }),
            _ => count,
        };
        let asked = count.max(reach);
        if asked > u32::MAX as u64 {
            return Err(Error::Limit {
                operation: operation.into(),
                what: "elements in one tensor".into(),
                asked,
                limit: u32::MAX as u64,
                way_out: "Kernels index with 32 bits: split the tensor along its first axis".into(),
            });
        }
        Ok(())
    }
}

/// Row-major strides of a shape, in elements.
pub fn row_major(shape: &[usize]) -> Vec<isize> {
    let mut strides = vec![1; shape.len()];
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis] * shape[axis].max(1) as isize;
    }
    strides
}

/// Resolves an axis that may count from the end.
///
/// # Errors
/// [`Error::Axis`] when there is no such axis.
pub fn resolve_axis(operation: &str, axis: i64, rank: usize) -> Result<usize> {
    let resolved = if axis < 0 { axis + rank as i64 } else { axis };
    if (0..rank as i64).contains(&resolved) {
        Ok(resolved as usize)
    } else {
        Err(Error::Axis {
            operation: operation.into(),
            axis,
            rank,
        })
    }
}

/// The shape that all of `shapes` broadcast to, by NumPy's rule: aligned at the
/// last axis, extents equal or 1.
///
/// # Errors
/// [`Error::Shape`] when two extents differ and neither is 1.
pub fn broadcast_shapes(operation: &str, shapes: &[&[usize]]) -> Result<Vec<usize>> {
    let rank = shapes.iter().map(|s| s.len()).max().unwrap_or(0);
    let mut result = vec![1; rank];
    for shape in shapes {
        for (i, &d) in shape.iter().rev().enumerate() {
            let target = &mut result[rank - 1 - i];
            if *target == 1 {
                *target = d;
            } else if d != 1 && d != *target {
                return Err(Error::Shape {
                    operation: operation.into(),
                    problem: format!(
                        "shapes {shapes:?} do not broadcast: {d} against {target}, {} from the last axis; extents must be equal or 1",
                        i
                    ),
                });
            }
        }
    }
    Ok(result)
}

/// Strides that read `spec` as if it had `shape`, which it broadcasts to.
pub fn broadcast_strides(spec: &TensorSpec, shape: &[usize]) -> Vec<isize> {
    let own = spec.strides();
    let missing = shape.len() - spec.rank();
    (0..shape.len())
        .map(|axis| match axis.checked_sub(missing) {
            Some(i) if spec.shape[i] != 1 => own[i],
            _ => 0,
        })
        .collect()
}
