//! Operations on tensors, one function each, and [`call`] for any by name.

pub use crate::kernels::matmul::{
    Epilogue, MatmulOptions, matmul, matmul_backward, matmul_with,
};
pub use crate::kernels::softmax::{log_softmax, softmax};
pub use crate::tensor::{Outputs, call};
