//! The production CPU twins.

pub(crate) mod parallel;
pub(crate) mod softmax;
pub(crate) mod sort;
