//! Portable GPU compute kernels on wgpu, gated by measured correctness.
#![warn(missing_docs)]

#[doc(hidden)]
pub mod cpu;
pub mod dtype;
pub mod error;
#[doc(hidden)]
pub mod gate;
pub mod host;
#[doc(hidden)]
pub mod kernels;

pub use dtype::{DType, Element};
pub use error::{Error, Result};
pub use host::HostTensor;
pub use wgpu;
