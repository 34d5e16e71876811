//! Operation families: interface, plan and error bound of each.

#[doc(hidden)]
pub mod math_table;
pub mod matmul;
pub(crate) mod rows;
pub mod softmax;
