//! The plan layer: Plan → Prepared → Bound → `record`, into the caller's own
//! command encoder or compute pass, on the caller's own buffers.

mod bound;
mod builder;
mod kernel;
mod prepared;

pub use bound::{Bound, BufferView};
pub use builder::{Param, Plan, PlanBuilder, ScratchSpec, Slot, Step, StepBuilder};
pub use kernel::{Access, Constant, Kernel, KernelBinding, Width};
pub use prepared::Prepared;

pub(crate) use builder::{MAX_STRIDED_RANK, dense_bytes, is_row_major, merge_axes};
