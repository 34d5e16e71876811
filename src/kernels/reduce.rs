//! Reductions over axes: sum, mean, variance, product, minimum, maximum and
//! their indices; and their gradients.
//!
//! Rows (reduced axes last) are reduced by teams of invocations, columns (kept
//! axes last) by neighbouring invocations side by side; long ones are split
//! among workgroups, whose partial results a second dispatch combines. The
//! grid and the order of combination depend on the shape alone, so that the same
//! device gives the same bits every time.

pub(crate) mod axes;
mod backward;
pub(crate) mod forward;
pub(crate) mod operator;
mod problems;
pub(crate) mod steps;
#[cfg(feature = "user-wgsl")]
pub(crate) mod user;
#[cfg(feature = "user-wgsl")]
pub(crate) mod user_operator;

use crate::error::Result;
use crate::operation::Operation;
use crate::params::Params;
use crate::tensor::{Tensor, call};

use self::backward::ReduceBackward;
use self::forward::{Kind, Reduce};

/// This family's operations.
pub(crate) fn operations() -> Vec<Box<dyn Operation>> {
    let mut operations: Vec<Box<dyn Operation>> = Vec::new();
    for kind in Kind::ALL {
        operations.push(Box::new(Reduce::new(kind)));
    }
    #[cfg(feature = "user-wgsl")]
    operations.push(Box::new(user::ReduceByOperator::new()));
    for backward in Kind::ALL.into_iter().filter_map(ReduceBackward::new) {
        operations.push(Box::new(backward));
    }
    operations
}

fn of_kind(kind: Kind, x: &Tensor, axes: &[i64], keepdims: bool) -> Result<Tensor> {
    let params = Params::new().with("axes", axes).with("keepdims", keepdims);
    Ok(call(kind.name(), &[Some(x)], &params)?.into_first())
}

/// The sum over `axes` (all when empty), which stay with extent 1 where `keepdims` holds.
/// Integers wrap, floats are summed in f32; the sum of nothing is 0.
///
/// Error: |y − exact| ≤ γ·Σ|x|, γ = d·2⁻²⁴/(1 − d·2⁻²⁴), d = min(n, 192 + 2·log₂n)
/// for n summands, plus half a unit in the last place of f16 or bf16. Integers are exact.
///
/// ```
/// use portcullis::{Device, Tensor, ops};
/// let x = Tensor::from_slice(&Device::cpu(), &[1.0f32, 2.0, 3.0, 4.0], &[2, 2])?;
/// assert_eq!(ops::reduce_sum(&x, &[], false)?.to_vec_blocking::<f32>()?, [10.0]);
/// assert_eq!(ops::reduce_sum(&x, &[1], false)?.to_vec_blocking::<f32>()?, [3.0, 7.0]);
/// assert_eq!(ops::reduce_sum(&x, &[-2], true)?.shape(), [1, 2]);
/// # Ok::<(), portcullis::Error>(())
/// ```
///
/// # Errors
/// [`crate::Error::Axis`], [`crate::Error::Parameter`] for an axis named twice, and those of [`call`].
pub fn reduce_sum(x: &Tensor, axes: &[i64], keepdims: bool) -> Result<Tensor> {
    of_kind(Kind::Sum, x, axes, keepdims)
}

/// The mean over `axes` (all when empty) of floats, summed in f32. NaN of nothing.
///
/// Error: that of [`reduce_sum`] over n, and 3.5 units in the last place.
///
/// ```
/// use portcullis::{Device, Tensor, ops};
/// let x = Tensor::from_slice(&Device::cpu(), &[1.0f32, 2.0, 3.0, 4.0], &[2, 2])?;
/// assert_eq!(ops::reduce_mean(&x, &[0], false)?.to_vec_blocking::<f32>()?, [2.0, 3.0]);
/// # Ok::<(), portcullis::Error>(())
/// ```
///
/// # Errors
/// As [`reduce_sum`]; [`crate::Error::DType`] for integers.
pub fn reduce_mean(x: &Tensor, axes: &[i64], keepdims: bool) -> Result<Tensor> {
    of_kind(Kind::Mean, x, axes, keepdims)
}

/// The variance over `axes` (all when empty) of floats: Σ(x − mean)² / (n − correction),
/// where 1 is the usual `correction` of a sample. NaN of nothing, and of one
/// element less its correction.
///
/// Deviations are taken from each row's first element and merged pairwise, so
/// that a large mean costs no digits (Chan, Golub, LeVeque 1979).
/// Error: with d as for [`reduce_sum`], A the largest |x − first|, M = Σ(x − mean)²
/// and e = (8·d + 2)·2⁻²⁴·A: within (2·e·√(n·(1 + d/4)·M) + e²·n·(1 + d/4) +
/// 10·d·2⁻²⁴·M) / (n − correction), and 5 units in the last place.
///
/// ```
/// use portcullis::{Device, Tensor, ops};
/// let x = Tensor::from_slice(&Device::cpu(), &[1.0f32, 2.0, 3.0, 4.0], &[4])?;
/// assert_eq!(ops::reduce_var(&x, &[], false, 0.0)?.to_vec_blocking::<f32>()?, [1.25]);
/// # Ok::<(), portcullis::Error>(())
/// ```
///
/// # Errors
/// As [`reduce_mean`]; [`crate::Error::Parameter`] for a correction that is not finite.
pub fn reduce_var(x: &Tensor, axes: &[i64], keepdims: bool, correction: f64) -> Result<Tensor> {
    let params = Params::new()
        .with("axes", axes)
        .with("keepdims", keepdims)
        .with("correction", correction);
    Ok(call(Kind::Var.name(), &[Some(x)], &params)?.into_first())
}

/// The product over `axes` (all when empty). Integers wrap; 1 of nothing.
///
/// Error: γ·|y| of n roundings, where no partial product leaves f32's range.
///
/// ```
/// use portcullis::{Device, Tensor, ops};
/// let x = Tensor::from_slice(&Device::cpu(), &[1i32, 2, 3, 4], &[2, 2])?;
/// assert_eq!(ops::reduce_prod(&x, &[], false)?.to_vec_blocking::<i32>()?, [24]);
/// # Ok::<(), portcullis::Error>(())
/// ```
///
/// # Errors
/// As [`reduce_sum`].
pub fn reduce_prod(x: &Tensor, axes: &[i64], keepdims: bool) -> Result<Tensor> {
    of_kind(Kind::Prod, x, axes, keepdims)
}

/// The smallest element over `axes` (all when empty); NaN where there is one. Exact.
///
/// ```
/// use portcullis::{Device, Tensor, ops};
/// let x = Tensor::from_slice(&Device::cpu(), &[3.0f32, -1.0, 2.0, 0.0], &[2, 2])?;
/// assert_eq!(ops::reduce_min(&x, &[1], false)?.to_vec_blocking::<f32>()?, [-1.0, 0.0]);
/// # Ok::<(), portcullis::Error>(())
/// ```
///
/// # Errors
/// As [`reduce_sum`]; [`crate::Error::Empty`] where there is nothing to reduce.
pub fn reduce_min(x: &Tensor, axes: &[i64], keepdims: bool) -> Result<Tensor> {
    of_kind(Kind::Min, x, axes, keepdims)
}

/// The largest element over `axes` (all when empty); NaN where there is one. Exact.
///
/// ```
/// use portcullis::{Device, Tensor, ops};
/// let x = Tensor::from_slice(&Device::cpu(), &[3.0f32, -1.0, 2.0, 0.0], &[2, 2])?;
/// assert_eq!(ops::reduce_max(&x, &[0], false)?.to_vec_blocking::<f32>()?, [3.0, 0.0]);
/// # Ok::<(), portcullis::Error>(())
/// ```
///
/// # Errors
/// As [`reduce_min`].
pub fn reduce_max(x: &Tensor, axes: &[i64], keepdims: bool) -> Result<Tensor> {
    of_kind(Kind::Max, x, axes, keepdims)
}

/// The index (i32) of the smallest element over `axes` (all when empty), within these
/// axes in row-major order: of the first of equals (−0 equals +0), or of the first NaN.
///
/// ```
/// use portcullis::{Device, Tensor, ops};
/// let x = Tensor::from_slice(&Device::cpu(), &[3.0f32, -1.0, 2.0, 0.0], &[2, 2])?;
/// assert_eq!(ops::argmin(&x, &[1], false)?.to_vec_blocking::<i32>()?, [1, 1]);
/// # Ok::<(), portcullis::Error>(())
/// ```
///
/// # Errors
/// As [`reduce_min`]; [`crate::Error::Limit`] beyond 2³¹ − 1 elements.
pub fn argmin(x: &Tensor, axes: &[i64], keepdims: bool) -> Result<Tensor> {
    of_kind(Kind::ArgMin, x, axes, keepdims)
}

/// The index (i32) of the largest element over `axes` (all when empty), as [`argmin`].
///
/// ```
/// use portcullis::{Device, Tensor, ops};
/// let x = Tensor::from_slice(&Device::cpu(), &[3.0f32, f32::NAN, 1.0, 5.0], &[4])?;
/// assert_eq!(ops::argmax(&x, &[], false)?.to_vec_blocking::<i32>()?, [1]);
/// # Ok::<(), portcullis::Error>(())
/// ```
///
/// # Errors
/// As [`argmin`].
pub fn argmax(x: &Tensor, axes: &[i64], keepdims: bool) -> Result<Tensor> {
    of_kind(Kind::ArgMax, x, axes, keepdims)
}

/// The elements over `axes` (all when empty), combined by an associative operator of the user's.
///
/// `operator` is WGSL with `fn combine(a: Element, b: Element) -> Element`, which may not
/// commute, and `fn identity() -> Element`; it may declare further functions, constants,
/// structs and aliases. `fields` says what `Element` is: nothing for the scalar of x (f32 for
/// f16 and bf16), or a struct of 32-bit fields as `"value: f32, index: u32"`, whose words the
/// last axis of x holds, in a tensor of u32 or of the dtype that all fields have; axes then do
/// not count that one. Of nothing the result is the identity. The operator's own accuracy is
/// the result's.
///
/// ```
/// use portcullis::{Device, Tensor, ops};
/// let x = Tensor::from_slice(&Device::cpu(), &[3u32, 5, 6], &[3])?;
/// let operator = "fn combine(a: Element, b: Element) -> Element { return a ^ b; }
///                 fn identity() -> Element { return 0u; }";
/// let y = ops::reduce(&x, operator, "", &[], false)?;
/// assert_eq!(y.to_vec_blocking::<u32>()?, [3 ^ 5 ^ 6]);
/// # Ok::<(), portcullis::Error>(())
/// ```
///
/// # Errors
/// [`crate::Error::Wgsl`] with line and column in the operator; [`crate::Error::Parameter`],
/// [`crate::Error::Shape`] where x does not hold such elements; and those of [`reduce_sum`].
#[cfg(feature = "user-wgsl")]
pub fn reduce(
    x: &Tensor,
    operator: &str,
    fields: &str,
    axes: &[i64],
    keepdims: bool,
) -> Result<Tensor> {
    let params = Params::new()
        .with("operator", operator)
        .with("fields", fields)
        .with("axes", axes)
        .with("keepdims", keepdims);
    Ok(call("reduce", &[Some(x)], &params)?.into_first())
}
