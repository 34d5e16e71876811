//! The production CPU twins.

pub(crate) mod elementwise;
pub(crate) mod histogram;
pub mod math;
pub(crate) mod matmul;
pub(crate) mod number;
pub(crate) mod parallel;
pub(crate) mod reduce;
pub(crate) mod scan;
pub(crate) mod select;
pub(crate) mod softmax;
pub(crate) mod sort;
#[cfg(feature = "user-wgsl")]
pub(crate) mod user_operator;
