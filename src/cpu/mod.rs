//! The production CPU twins.

pub mod math;
pub(crate) mod matmul;
pub(crate) mod parallel;
pub(crate) mod softmax;
