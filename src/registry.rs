//! Every operation, one line each.

use std::sync::LazyLock;

use crate::error::{Error, Result};
use crate::kernels;
use crate::operation::{Op, Operation};

/// Every operation, by family.
pub static OPERATIONS: LazyLock<Vec<Op>> = LazyLock::new(|| {
    let families: Vec<Vec<Box<dyn Operation>>> = vec![
        kernels::elementwise::operations(),
        kernels::histogram::operations(),
        kernels::matmul::operations(),
        kernels::movement::operations(),
        kernels::reduce::operations(),
        kernels::scan::operations(),
        kernels::select::operations(),
        kernels::softmax::operations(),
        kernels::sort::operations(),
    ];
    // Registered once for the life of the program.
    families
        .into_iter()
        .flatten()
        .map(|operation| Op(Box::leak(operation)))
        .collect()
});

/// The operation called `name`.
///
/// # Errors
/// [`Error::UnknownOperation`], with the nearest name that exists.
pub fn find(name: &str) -> Result<Op> {
    let found = OPERATIONS
        .iter()
        .copied()
        .find(|op| op.signature().name == name);
    found.ok_or_else(|| Error::UnknownOperation {
        name: name.into(),
        suggestion: crate::link::nearest(name, OPERATIONS.iter().map(|op| op.signature().name))
            .map(String::from),
    })
}

/// The gradient of the operation called `name`, if it has one.
pub fn gradient_of(name: &str) -> Option<Op> {
    OPERATIONS
        .iter()
        .copied()
        .find(|op| op.signature().gradient_of == Some(name))
}
