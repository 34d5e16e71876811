//! CPU twins of the kernels.

pub mod math;
