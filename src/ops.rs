//! Operations on tensors, one function each, and [`call`] for any by name.

pub use crate::kernels::elementwise::*;
pub use crate::kernels::histogram::{histogram, histogram_even};
pub use crate::kernels::matmul::{Epilogue, MatmulOptions, matmul, matmul_backward, matmul_with};
pub use crate::kernels::movement::{Checked, gather_rows, transpose};
#[cfg(feature = "user-wgsl")]
pub use crate::kernels::reduce::reduce;
pub use crate::kernels::reduce::{
    argmax, argmin, reduce_max, reduce_mean, reduce_min, reduce_prod, reduce_sum, reduce_var,
};
#[cfg(feature = "user-wgsl")]
pub use crate::kernels::scan::{exclusive_scan, inclusive_scan};
pub use crate::kernels::scan::{
    exclusive_scan_max, exclusive_scan_min, exclusive_scan_sum, inclusive_scan_max,
    inclusive_scan_min, inclusive_scan_sum,
};
pub use crate::kernels::select::{Counted, partition, run_length_encode, select, unique};
pub use crate::kernels::softmax::{log_softmax, softmax};
pub use crate::kernels::sort::{sort, sort_by_key, sort_pairs};
pub use crate::tensor::{Outputs, call};
