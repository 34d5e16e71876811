//! Scans along an axis: running sums, minima and maxima, inclusive and exclusive.
//!
//! Reduce, then scan (Dotsenko, Govindaraju, Sloan, Boyd, Manferdelli: Fast scan
//! algorithms on graphics processors, 2008): where rows are long, every split of a
//! row is reduced, a single workgroup a row scans the totals, and every split is
//! scanned from what lies before it. No workgroup ever waits for another one.

mod operation;
mod problems;
pub(crate) mod steps;
#[cfg(feature = "user-wgsl")]
mod user;

pub(crate) use self::operation::Kind;

use crate::error::Result;
use crate::operation::Operation;
use crate::params::Params;
use crate::tensor::{Tensor, call};

use self::operation::Scan;

/// This family's operations.
pub(crate) fn operations() -> Vec<Box<dyn Operation>> {
    vec![
        Box::new(Scan::new(Kind::Sum, false)),
        Box::new(Scan::new(Kind::Min, false)),
        Box::new(Scan::new(Kind::Max, false)),
        Box::new(Scan::new(Kind::Sum, true)),
        Box::new(Scan::new(Kind::Min, true)),
        Box::new(Scan::new(Kind::Max, true)),
        #[cfg(feature = "user-wgsl")]
        Box::new(user::ScanByOperator::new(false)),
        #[cfg(feature = "user-wgsl")]
        Box::new(user::ScanByOperator::new(true)),
        Box::new(Scan::backward(false)),
        Box::new(Scan::backward(true)),
    ]
}

fn scan(name: &str, x: &Tensor, axis: i64, reverse: bool) -> Result<Tensor> {
    let params = Params::new().with("axis", axis).with("reverse", reverse);
    Ok(call(name, &[Some(x)], &params)?.into_first())
}

/// Running sums along `axis`, from its end where `reverse` holds. Integers wrap; floats
/// are added in f32. A NaN spreads to all behind it.
///
/// Error: |y − exact| ≤ γ·Σ|x| over what is summed, γ = d·2⁻²⁴/(1 − d·2⁻²⁴),
/// d = min(n, 512) for n summands, plus half a unit in the last place of f16 or bf16.
/// Integers are exact.
///
/// ```
/// use portcullis::{Device, Tensor, ops};
/// let x = Tensor::from_slice(&Device::cpu(), &[1i32, 2, 3, 4], &[4])?;
/// assert_eq!(ops::inclusive_scan_sum(&x, -1, false)?.to_vec_blocking::<i32>()?, [1, 3, 6, 10]);
/// assert_eq!(ops::inclusive_scan_sum(&x, -1, true)?.to_vec_blocking::<i32>()?, [10, 9, 7, 4]);
/// # Ok::<(), portcullis::Error>(())
/// ```
///
/// # Errors
/// [`crate::Error::Axis`], and those of [`call`].
pub fn inclusive_scan_sum(x: &Tensor, axis: i64, reverse: bool) -> Result<Tensor> {
    scan("inclusive_scan_sum", x, axis, reverse)
}

/// Running minima along `axis`. A NaN spreads to all behind it. Exact.
///
/// ```
/// use portcullis::{Device, Tensor, ops};
/// let x = Tensor::from_slice(&Device::cpu(), &[3i32, 4, 1, 2], &[4])?;
/// assert_eq!(ops::inclusive_scan_min(&x, -1, false)?.to_vec_blocking::<i32>()?, [3, 3, 1, 1]);
/// # Ok::<(), portcullis::Error>(())
/// ```
///
/// # Errors
/// As [`inclusive_scan_sum`].
pub fn inclusive_scan_min(x: &Tensor, axis: i64, reverse: bool) -> Result<Tensor> {
    scan("inclusive_scan_min", x, axis, reverse)
}

/// Running maxima along `axis`. A NaN spreads to all behind it. Exact.
///
/// ```
/// use portcullis::{Device, Tensor, ops};
/// let x = Tensor::from_slice(&Device::cpu(), &[3i32, 4, 1, 5], &[4])?;
/// assert_eq!(ops::inclusive_scan_max(&x, -1, false)?.to_vec_blocking::<i32>()?, [3, 4, 4, 5]);
/// # Ok::<(), portcullis::Error>(())
/// ```
///
/// # Errors
/// As [`inclusive_scan_sum`].
pub fn inclusive_scan_max(x: &Tensor, axis: i64, reverse: bool) -> Result<Tensor> {
    scan("inclusive_scan_max", x, axis, reverse)
}

/// The sum of all before each element along `axis`, 0 at the first; else as [`inclusive_scan_sum`].
///
/// ```
/// use portcullis::{Device, Tensor, ops};
/// let x = Tensor::from_slice(&Device::cpu(), &[1i32, 2, 3, 4], &[4])?;
/// assert_eq!(ops::exclusive_scan_sum(&x, -1, false)?.to_vec_blocking::<i32>()?, [0, 1, 3, 6]);
/// # Ok::<(), portcullis::Error>(())
/// ```
///
/// # Errors
/// As [`inclusive_scan_sum`].
pub fn exclusive_scan_sum(x: &Tensor, axis: i64, reverse: bool) -> Result<Tensor> {
    scan("exclusive_scan_sum", x, axis, reverse)
}

/// The smallest of all before each element along `axis`; +inf, or the largest integer, at the first. Exact.
///
/// ```
/// use portcullis::{Device, Tensor, ops};
/// let x = Tensor::from_slice(&Device::cpu(), &[3.0f32, 4.0, 1.0, 2.0], &[4])?;
/// let y = ops::exclusive_scan_min(&x, -1, false)?;
/// assert_eq!(y.to_vec_blocking::<f32>()?, [f32::INFINITY, 3.0, 3.0, 1.0]);
/// # Ok::<(), portcullis::Error>(())
/// ```
///
/// # Errors
/// As [`inclusive_scan_sum`].
pub fn exclusive_scan_min(x: &Tensor, axis: i64, reverse: bool) -> Result<Tensor> {
    scan("exclusive_scan_min", x, axis, reverse)
}

/// The largest of all before each element along `axis`; -inf, or the smallest integer, at the first. Exact.
///
/// ```
/// use portcullis::{Device, Tensor, ops};
/// let x = Tensor::from_slice(&Device::cpu(), &[3u32, 4, 1, 5], &[4])?;
/// assert_eq!(ops::exclusive_scan_max(&x, -1, false)?.to_vec_blocking::<u32>()?, [0, 3, 4, 4]);
/// # Ok::<(), portcullis::Error>(())
/// ```
///
/// # Errors
/// As [`inclusive_scan_sum`].
pub fn exclusive_scan_max(x: &Tensor, axis: i64, reverse: bool) -> Result<Tensor> {
    scan("exclusive_scan_max", x, axis, reverse)
}

/// All elements up to each one along `axis`, combined by an associative operator of the user's:
/// `operator` and `fields` as [`reduce`](crate::ops::reduce) takes them.
///
/// ```
/// use portcullis::{Device, Tensor, ops};
/// // The maps x → scale·x + offset, one after another.
/// let x = Tensor::from_slice(&Device::cpu(), &[2u32, 1, 3, 0, 1, 5], &[3, 2])?;
/// let operator = "
///     fn combine(a: Element, b: Element) -> Element {
///         return Element(a.scale * b.scale, a.offset * b.scale + b.offset);
///     }
///     fn identity() -> Element { return Element(1u, 0u); }";
/// let y = ops::inclusive_scan(&x, operator, "scale: u32, offset: u32", 0)?;
/// assert_eq!(y.to_vec_blocking::<u32>()?, [2, 1, 6, 3, 6, 8]);
/// # Ok::<(), portcullis::Error>(())
/// ```
///
/// # Errors
/// Those of [`reduce`](crate::ops::reduce) for operator and fields; [`crate::Error::Axis`].
#[cfg(feature = "user-wgsl")]
pub fn inclusive_scan(x: &Tensor, operator: &str, fields: &str, axis: i64) -> Result<Tensor> {
    by_operator("inclusive_scan", x, operator, fields, axis)
}

/// All elements before each one along `axis`, combined by an associative operator of the user's;
/// its identity at the first. Else as [`inclusive_scan`].
///
/// ```
/// use portcullis::{Device, Tensor, ops};
/// let x = Tensor::from_slice(&Device::cpu(), &[3i32, 0, 5], &[3])?;
/// let operator = "fn combine(a: Element, b: Element) -> Element { return a | b; }
///                 fn identity() -> Element { return 0; }";
/// assert_eq!(ops::exclusive_scan(&x, operator, "", 0)?.to_vec_blocking::<i32>()?, [0, 3, 3]);
/// # Ok::<(), portcullis::Error>(())
/// ```
///
/// # Errors
/// As [`inclusive_scan`].
#[cfg(feature = "user-wgsl")]
pub fn exclusive_scan(x: &Tensor, operator: &str, fields: &str, axis: i64) -> Result<Tensor> {
    by_operator("exclusive_scan", x, operator, fields, axis)
}

#[cfg(feature = "user-wgsl")]
fn by_operator(name: &str, x: &Tensor, operator: &str, fields: &str, axis: i64) -> Result<Tensor> {
    let params = Params::new()
        .with("operator", operator)
        .with("fields", fields)
        .with("axis", axis);
    Ok(call(name, &[Some(x)], &params)?.into_first())
}
