//! Scalar mathematics: CPU twins and WGSL against the f64 oracle, within the
//! derived bounds.

mod cpu;
mod device;
mod inputs;
mod jobs;
mod wgsl;
