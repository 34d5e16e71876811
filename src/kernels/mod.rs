//! Operation families: interface, plan and error bound of each.

#[doc(hidden)]
pub mod math_table;
pub mod reduce;
pub(crate) mod rows;
pub mod scan;
pub mod softmax;
