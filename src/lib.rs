//! Portable GPU compute kernels on wgpu, gated by measured correctness.
#![warn(missing_docs)]
// What is shared between threads elsewhere is shared all the same in browsers,
// whose WebGPU handles stay on their thread.
#![cfg_attr(target_arch = "wasm32", allow(clippy::arc_with_non_send_sync))]

#[doc(hidden)]
pub mod cpu;
pub mod device;
pub mod dispatch;
pub mod dtype;
pub mod error;
#[cfg(feature = "files")]
pub mod files;
pub mod gate;
pub mod host;
pub mod kernels;
#[doc(hidden)]
pub mod link;
pub mod operation;
pub mod ops;
pub mod params;
pub mod plan;
pub mod registry;
pub mod spec;
mod tensor;
#[cfg(feature = "user-wgsl")]
#[doc(hidden)]
pub mod user;

pub use device::{Capabilities, Gpu, Selector, device_requirements};
pub use dispatch::{Decision, Policy};
pub use dtype::{DType, Element};
pub use error::{Error, Result};
pub use host::HostTensor;
pub use operation::{Call, Variant};
pub use params::{Params, Value};
pub use plan::BufferView;
pub use spec::{Alignment, TensorSpec};
pub use tensor::{Device, Outputs, Tensor};
pub use wgpu;

/// The README's examples are compiled and run.
#[cfg(all(doctest, not(target_arch = "wasm32")))]
#[doc = include_str!("../README.md")]
struct Readme;
