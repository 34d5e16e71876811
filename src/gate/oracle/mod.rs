//! References by other algorithms than the kernels', in f64 or exact integers.

pub mod bounds;
pub(crate) mod elementwise;
pub(crate) mod histogram;
pub mod math;
pub(crate) mod matmul;
pub(crate) mod reduce;
pub(crate) mod scan;
pub(crate) mod select;
pub(crate) mod softmax;
pub(crate) mod sort;
#[cfg(feature = "user-wgsl")]
pub(crate) mod user_operator;

pub(crate) use crate::gate::compare::store_rounding;

use crate::error::Result;
use crate::host::HostTensor;

/// The elements of a tensor at `places`, bit for bit.
fn gather(tensor: &HostTensor, places: &[usize], shape: &[usize]) -> Result<HostTensor> {
    let size = tensor.dtype().size();
    let mut bytes = Vec::with_capacity(places.len() * size);
    for &i in places {
        bytes.extend_from_slice(&tensor.bytes()[i * size..(i + 1) * size]);
    }
    HostTensor::from_bytes(tensor.dtype(), shape, &bytes)
}
