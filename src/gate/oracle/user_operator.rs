//! Reductions and scans by a user's operator, strictly from left to right.

use crate::error::Result;
use crate::gate::Expected;
use crate::gate::oracle::reduce::{TINY, U};
use crate::host::HostTensor;
use crate::kernels::reduce::user_operator::UserOperator;
use crate::user::Scratch;

/// What all elements but the last, and all elements, of a sequence combine to.
pub(crate) fn running(
    operator: &UserOperator,
    elements: impl Iterator<Item = Vec<u32>>,
) -> Result<Vec<Vec<u32>>> {
    let mut scratch = Scratch::new();
    let mut totals = vec![operator.identity().to_vec()];
    for element in elements {
        let mut total = totals[totals.len() - 1].clone();
        operator.combine(&mut total, &element, &mut scratch)?;
        totals.push(total);
    }
    Ok(totals)
}

/// What an output must be. Integers to the bit. Of floats nobody but the user
/// knows how far another association may be off: a few units in the last place
/// are allowed, and the gate's own problems are exact in any order.
pub(crate) fn expected(operator: &UserOperator, exact: HostTensor) -> Expected {
    if operator.is_integer() || !exact.dtype().is_float() {
        return Expected::Bits(exact);
    }
    let unit = exact.dtype().unit_roundoff().max(U);
    Expected::close(exact.to_f64(), |v| {
        if v.is_finite() {
            v.abs() * 8.0 * unit + TINY
        } else {
            0.0
        }
    })
}
