//! Operation families: interface, plan and error bound of each.

pub mod elementwise;
#[doc(hidden)]
pub mod math_table;
pub(crate) mod rows;
pub mod softmax;
