//! Operation families: interface, plan and error bound of each.

#[doc(hidden)]
pub mod math_table;
pub(crate) mod rows;
pub mod softmax;
