//! Operation families: interface, plan and error bound of each.

pub(crate) mod rows;
pub mod softmax;
pub mod sort;
