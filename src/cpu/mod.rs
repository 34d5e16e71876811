//! The production CPU twins.

pub mod math;
pub(crate) mod parallel;
pub(crate) mod softmax;
