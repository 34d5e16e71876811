//! Portable GPU compute kernels on wgpu, gated by measured correctness.
#![warn(missing_docs)]

pub mod dtype;
pub mod error;
#[cfg(feature = "files")]
pub mod files;
pub mod host;

pub use dtype::{DType, Element};
pub use error::{Error, Result};
pub use host::HostTensor;
pub use wgpu;
