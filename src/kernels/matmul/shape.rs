//! Extents of a product, inferred from its inputs.

use crate::error::Result;
use crate::operation::Call;
use crate::spec::{TensorSpec, broadcast_shapes};

/// Extents of op(a) · op(b).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Extents {
    /// The batch axes that both broadcast to.
    pub batch: Vec<usize>,
    pub m: usize,
    pub n: usize,
    pub k: usize,
}

impl Extents {
    /// The extents of inputs 0 and 1 under the call's `trans_a` and `trans_b`.
    ///
    /// # Errors
    /// [`crate::Error::Shape`] for ranks below 2 and extents that do not meet.
    pub fn of(call: &Call) -> Result<Extents> {
        let (a, b) = (call.input(0), call.input(1));
        if a.dtype != b.dtype {
            return Err(call.shape_error(format!(
                "a is {} and b {}; factors must be of one dtype, convert one with `cast`",
                a.dtype, b.dtype
            )));
        }
        for (name, spec) in [("a", a), ("b", b)] {
            if spec.rank() < 2 {
                return Err(call.shape_error(format!(
                    "{name} is {:?}; matrices have two axes at least, reshape a vector to [1, k] or [k, 1]",
                    spec.shape
                )));
            }
        }
        let (m, k) = matrix(a, call.params.bool("trans_a"));
        let (b_k, n) = matrix(b, call.params.bool("trans_b"));
        if k != b_k {
            return Err(call.shape_error(format!(
                "op(a) is {m}x{k} and op(b) {b_k}x{n}; the columns of one and the rows of the other must be as many"
            )));
        }
        let batch_of = |spec: &TensorSpec| spec.shape[..spec.rank() - 2].to_vec();
        Ok(Extents {
            batch: broadcast_shapes(call.name(), &[&batch_of(a), &batch_of(b)])?,
            m,
            n,
            k,
        })
    }

    /// The result's shape.
    pub fn result(&self) -> Vec<usize> {
        let mut shape = self.batch.clone();
        shape.extend([self.m, self.n]);
        shape
    }
}

fn matrix(spec: &TensorSpec, transposed: bool) -> (usize, usize) {
    let (rows, columns) = (spec.shape[spec.rank() - 2], spec.shape[spec.rank() - 1]);
    if transposed {
        (columns, rows)
    } else {
        (rows, columns)
    }
}

/// Steps along `batch` of a tensor with these steps along its own batch axes,
/// of extents `own`: 0 along axes that it is broadcast along.
pub(crate) fn broadcast_steps(own: &[usize], steps: &[isize], batch: &[usize]) -> Vec<isize> {
    let missing = batch.len() - own.len();
    (0..batch.len())
        .map(|axis| match axis.checked_sub(missing) {
            Some(i) if own[i] != 1 => steps[i],
            _ => 0,
        })
        .collect()
}
