//! Operation families: interface, plan and error bound of each.

pub mod elementwise;
pub mod histogram;
#[doc(hidden)]
pub mod math_table;
pub mod matmul;
pub mod movement;
pub mod reduce;
pub(crate) mod rows;
pub mod scan;
pub mod select;
pub mod softmax;
pub mod sort;
