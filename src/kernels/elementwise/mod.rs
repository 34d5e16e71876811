//! Elementwise operations: functions of one element of each operand, which
//! broadcast by NumPy's rule, and their gradients.
//!
//! What can be computed stands in [`math_table`](crate::kernels::math_table);
//! every operation here is a row of it, or moves, converts or evaluates a
//! user's expression. f16 and bf16 are computed in f32 and rounded to nearest
//! even; movement keeps bits.
//!
//! There is one kernel, `portable`: it needs no subgroups and is bound by memory.

mod binary;
mod body;
mod cast;
mod functions;
mod gradient;
mod layout;
#[cfg(feature = "user-wgsl")]
mod map;
mod problems;
mod select;
pub(crate) mod sum;
mod unary;

pub use cast::cast;
pub use functions::*;
#[cfg(feature = "user-wgsl")]
pub use map::map;
pub use select::where_;

use crate::dtype::DType;
use crate::kernels::math_table::{BINARY, INTEGER_BINARY, INTEGER_UNARY, UNARY};
use crate::operation::{InputSpec, Operation, OutputSpec, Signature, Variant};
use crate::params::ParamSpec;

const VARIANTS: &[Variant] = &[Variant::Portable, Variant::Cpu];
const INTEGERS: &[DType] = &[DType::I32, DType::U32];

/// This family's operations.
pub(crate) fn operations() -> Vec<Box<dyn Operation>> {
    let mut operations: Vec<Box<dyn Operation>> = Vec::new();
    for (index, math) in UNARY.iter().enumerate() {
        operations.push(Box::new(unary::Unary::float(math, index)));
    }
    for math in INTEGER_UNARY {
        operations.push(Box::new(unary::Unary::integer(math)));
    }
    for (index, math) in BINARY.iter().enumerate() {
        operations.push(Box::new(binary::Binary::float(math, index)));
    }
    for math in INTEGER_BINARY {
        operations.push(Box::new(binary::Binary::integer(math)));
    }
    operations.push(Box::new(select::Where::new()));
    operations.push(Box::new(cast::Cast::new()));
    #[cfg(feature = "user-wgsl")]
    operations.push(Box::new(map::Map::new()));
    for (index, math) in UNARY.iter().enumerate() {
        operations.push(Box::new(gradient::UnaryBackward::new(math, index)));
    }
    for (index, math) in BINARY.iter().enumerate() {
        if let Some(backward) = gradient::BinaryBackward::new(math, index) {
            operations.push(Box::new(backward));
        }
    }
    operations.push(Box::new(gradient::WhereBackward::new()));
    operations.push(Box::new(gradient::CastBackward::new()));
    operations
}

fn signature(
    name: &'static str,
    doc: &'static str,
    dtypes: &'static [DType],
    inputs: Vec<InputSpec>,
    outputs: Vec<OutputSpec>,
    params: Vec<ParamSpec>,
) -> Signature {
    Signature {
        name,
        family: "elementwise",
        doc,
        inputs,
        variadic: 0,
        outputs,
        params,
        dtypes,
        variants: VARIANTS,
        gradient_of: None,
    }
}

fn input(name: &'static str, dtypes: &'static [DType], doc: &'static str) -> InputSpec {
    InputSpec {
        name,
        dtypes,
        optional: false,
        doc,
    }
}

fn output(name: &'static str, doc: &'static str) -> OutputSpec {
    OutputSpec { name, doc }
}

/// A number as the bits that kernels take a parameter by.
fn parameter_bits(dtype: DType, value: f64) -> u32 {
    match dtype {
        DType::I32 => value as i32 as u32,
        DType::U32 => value as u32,
        DType::F32 | DType::F16 | DType::BF16 => (value as f32).to_bits(),
    }
}

/// WGSL that reads parameter `index` as what elements of `dtype` are computed in.
fn parameter_text(dtype: DType, index: usize) -> String {
    let scalar = body::scalar(dtype, false);
    format!(
        "bitcast<{scalar}>(params.values.{})",
        ["x", "y"][index.min(1)]
    )
}
