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
