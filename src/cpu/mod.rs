//! The production CPU twins.

pub mod math;
pub(crate) mod number;
pub(crate) mod parallel;
pub(crate) mod reduce;
pub(crate) mod scan;
pub(crate) mod softmax;
