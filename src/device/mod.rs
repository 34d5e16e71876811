//! Adapters, capabilities, memory, pipelines and the command stream.

mod adapters;
mod capabilities;
mod compile;
mod gpu;
mod pool;
mod readback;

pub use adapters::{AdapterEntry, Selector, device_requirements, enumerate};
pub use capabilities::{AdapterIdentity, Capabilities, CooperativeMatrix, SubgroupSizes};
pub use gpu::{Gpu, PreparedReport};
pub use pool::{PoolStatistics, PooledBuffer};

pub(crate) use adapters::ADAPTER_VARIABLE;
pub(crate) use compile::Pipeline;
pub(crate) use gpu::{elapsed, lock, now};
#[cfg(not(target_arch = "wasm32"))]
pub(crate) use readback::blocking;
