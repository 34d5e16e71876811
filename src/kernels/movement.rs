//! Movement of elements, bit for bit: `transpose` and `gather_rows`.

mod checked;
mod gather;
mod transpose;

pub use checked::Checked;

use crate::error::Result;
use crate::operation::Operation;
use crate::params::Params;
use crate::tensor::{Tensor, call};

/// `x` with its axes in another order: axis `i` of the result is axis `axes[i]` of
/// `x`, negative ones counted from the end. Without `axes` the order is reversed.
///
/// This copies; [`Tensor::permute`] is a view of the same memory.
///
/// ```
/// use portcullis::{Device, Tensor, ops};
/// let x = Tensor::from_slice(&Device::cpu(), &[1i32, 2, 3, 4, 5, 6], &[2, 3])?;
/// let y = ops::transpose(&x, &[])?;
/// assert_eq!(y.shape(), [3, 2]);
/// assert_eq!(y.to_vec_blocking::<i32>()?, [1, 4, 2, 5, 3, 6]);
/// # Ok::<(), portcullis::Error>(())
/// ```
///
/// # Errors
/// [`Error::Parameter`](crate::Error::Parameter) unless `axes` names each axis once, and those of [`call`].
pub fn transpose(x: &Tensor, axes: &[i64]) -> Result<Tensor> {
    let params = Params::new().with("axes", axes.to_vec());
    Ok(call("transpose", &[Some(x)], &params)?.into_first())
}

/// The rows `x[index[i]]` of `x` \[rows, …\]: shape \[indices, …\]. An index (i32 or
/// u32, of rank 1) that is not within `0..rows` gives a row of zeros and is counted:
/// [`Checked`] tells.
///
/// ```
/// use portcullis::{Device, Tensor, ops};
/// let device = Device::cpu();
/// let x = Tensor::from_slice(&device, &[1.0f32, 2.0, 3.0, 4.0], &[2, 2])?;
/// let index = Tensor::from_slice(&device, &[1i32, 1, 0], &[3])?;
/// let rows = ops::gather_rows(&x, &index)?.check_blocking()?;
/// assert_eq!(rows.to_vec_blocking::<f32>()?, [3.0, 4.0, 3.0, 4.0, 1.0, 2.0]);
/// # Ok::<(), portcullis::Error>(())
/// ```
///
/// # Errors
/// [`Error::Shape`](crate::Error::Shape) for an `x` without axes or an `index` not of
/// rank 1, and those of [`call`].
pub fn gather_rows(x: &Tensor, index: &Tensor) -> Result<Checked> {
    let outputs = call("gather_rows", &[Some(x), Some(index)], &Params::new())?;
    Ok(Checked::of(
        "gather_rows",
        outputs,
        x.shape().first().copied().unwrap_or(0),
    ))
}

/// This family's operations.
pub(crate) fn operations() -> Vec<Box<dyn Operation>> {
    vec![
        Box::new(transpose::Transpose::new()),
        Box::new(gather::GatherRows::new()),
    ]
}
