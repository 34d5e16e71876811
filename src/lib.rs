//! Portable GPU compute kernels on wgpu, gated by measured correctness.
#![warn(missing_docs)]

pub mod dtype;
pub mod error;
pub mod host;
#[cfg(feature = "user-wgsl")]
#[doc(hidden)]
pub mod user;

pub use dtype::{DType, Element};
pub use error::{Error, Result};
pub use host::HostTensor;
pub use wgpu;
