//! An associative operator, as kernels of reductions and scans link it.

#[cfg(feature = "user-wgsl")]
use std::sync::Arc;

use crate::dtype::DType;
use crate::plan::{Constant, StepBuilder};

/// The text of a module: a shader file, or generated from a user's operator.
#[derive(Debug, Clone)]
pub(crate) enum Text {
    File(&'static str),
    #[cfg(feature = "user-wgsl")]
    Generated(Arc<str>),
}

/// What kernels link as `op` and `value`, and what plans must know of it.
///
/// `value` has the type `Value` of partial results, WORDS, pack, unpack and
/// shuffles; `op` has identity, combine, and what its kernels ask for of lift
/// (an element and its index to a Value), finish (a Value to a result) and gradient.
#[derive(Debug, Clone)]
pub(crate) struct Operator {
    pub(super) modules: Vec<(&'static str, Text)>,
    pub(super) constants: Vec<(&'static str, Constant)>,
    /// Whether elements are taken relative to the first of their row or column.
    pub shifted: bool,
    /// 32-bit words of a Value in storage.
    pub words: usize,
    /// Whether combine is only associative, so that order must be kept.
    pub ordered: bool,
    /// Whether kernels may be compiled without run-time checks.
    pub unchecked: bool,
}

impl Operator {
    /// An operator of `shaders/op` on values of `shaders/value`, on elements of `dtype`.
    pub fn new(op: &'static str, value: &'static str, dtype: DType) -> Operator {
        let scalar = match dtype {
            DType::F32 | DType::F16 | DType::BF16 => "scalar/f32",
            DType::I32 => "scalar/i32",
            DType::U32 => "scalar/u32",
        };
        let words = match value {
            "value/moments" => 3,
            "value/pair" => 2,
            _ => 1,
        };
        Operator {
            modules: vec![
                ("scalar", Text::File(scalar)),
                ("op", Text::File(op)),
                ("value", Text::File(value)),
            ],
            constants: Vec::new(),
            shifted: false,
            words,
            ordered: false,
            unchecked: true,
        }
    }

    /// The same with a constant of module `config` set.
    pub fn constant(mut self, name: &'static str, value: impl Into<Constant>) -> Operator {
        self.constants.push((name, value.into()));
        self
    }

    /// Bytes of a Value in workgroup memory, where three words take four.
    pub fn workgroup_bytes(&self) -> u64 {
        4 * match self.words {
            3 => 4,
            words => words as u64,
        }
    }

    /// The same, taking elements relative to the first of their row or column.
    pub fn shifted(mut self) -> Operator {
        self.shifted = true;
        self
    }

    /// Adds the modules to a step.
    pub fn link<'p, 'a>(&self, mut step: StepBuilder<'p, 'a>) -> StepBuilder<'p, 'a> {
        for (name, text) in &self.modules {
            step = match text {
                Text::File(file) => step.module(name, *file, &[]),
                #[cfg(feature = "user-wgsl")]
                Text::Generated(text) => step.text(name, text.clone(), &[]),
            };
        }
        for &(name, value) in &self.constants {
            step = step.constant(name, value);
        }
        step
    }
}
