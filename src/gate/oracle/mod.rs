//! References by other algorithms than the kernels', in f64 or exact integers.

pub mod bounds;
pub mod math;
pub(crate) mod reduce;
pub(crate) mod scan;
pub(crate) mod softmax;

pub(crate) use crate::gate::compare::store_rounding;
