//! Operations on tensors, one function each, and [`call`] for any by name.

pub use crate::kernels::elementwise::*;
pub use crate::kernels::matmul::{Epilogue, MatmulOptions, matmul, matmul_backward, matmul_with};
pub use crate::kernels::reduce::{
    argmax, argmin, reduce_max, reduce_mean, reduce_min, reduce_prod, reduce_sum, reduce_var,
};
pub use crate::kernels::softmax::{log_softmax, softmax};
pub use crate::kernels::sort::{sort, sort_by_key, sort_pairs};
pub use crate::tensor::{Outputs, call};
