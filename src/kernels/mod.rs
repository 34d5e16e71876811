//! The kernels and what they are made of.

pub mod math_table;
