//! f64 references, written apart from the kernels and their CPU twins.

pub mod bounds;
pub mod math;
