//! References by other algorithms than the kernels', in f64 or exact integers.

#[doc(hidden)]
pub mod bounds;
#[doc(hidden)]
pub mod math;
pub(crate) mod matmul;
pub(crate) mod softmax;

pub(crate) use crate::gate::compare::store_rounding;
