//! Products of matrices and batches of them, and their gradients.

mod backward;
mod epilogue;
mod forward;
mod operand;
mod problems;
mod product;
mod shape;
mod tile;

use crate::error::Result;
use crate::operation::Operation;
use crate::params::Params;
use crate::tensor::{Tensor, call};

pub use epilogue::Epilogue;

pub(crate) use backward::{GradientProduct, gradient_axes};
pub(crate) use forward::{BIAS, C, epilogue_of};
pub(crate) use shape::{Extents, broadcast_steps};

/// What a product is made of beside its factors: see [`matmul_with`].
#[derive(Debug, Clone, Copy)]
pub struct MatmulOptions<'a> {
    /// Whether `a` holds the transposes of the left factors.
    pub trans_a: bool,
    /// Whether `b` holds the transposes of the right factors.
    pub trans_b: bool,
    /// The product's scale; where it is 0 the factors are not read.
    pub alpha: f64,
    /// The scale of `c`; where it is 0 `c` is not read.
    pub beta: f64,
    /// Added: anything that broadcasts to the result.
    pub c: Option<&'a Tensor>,
    /// Added to each row: \[n\].
    pub bias: Option<&'a Tensor>,
    /// Applied at the end.
    pub epilogue: Epilogue,
}

impl Default for MatmulOptions<'_> {
    /// The plain product. `beta` is 1, so that giving `c` adds it.
    fn default() -> Self {
        MatmulOptions {
            trans_a: false,
            trans_b: false,
            alpha: 1.0,
            beta: 1.0,
            c: None,
            bias: None,
            epilogue: Epilogue::None,
        }
    }
}

/// The matrix product of `a` \[…, m, k\] and `b` \[…, k, n\], of one float dtype;
/// batch axes broadcast by NumPy's rule. Sums are f32 whatever the dtype.
///
/// Error: |y − exact| ≤ γ·Σ|a·b| with γ = k·2⁻²⁴ / (1 − k·2⁻²⁴), plus half a unit in the last
/// place of f16 or bf16. The order of sums depends on the plan alone: repeatable to the bit.
///
/// ```
/// use portcullis::{Device, Tensor, ops};
/// let device = Device::cpu();
/// let a = Tensor::from_slice(&device, &[1.0f32, 2.0, 3.0, 4.0], &[2, 2])?;
/// let b = Tensor::from_slice(&device, &[1.0f32, 1.0], &[2, 1])?;
/// assert_eq!(ops::matmul(&a, &b)?.to_vec_blocking::<f32>()?, [3.0, 7.0]);
/// # Ok::<(), portcullis::Error>(())
/// ```
///
/// # Errors
/// [`crate::Error::Shape`] for factors that do not meet, [`crate::Error::DType`] for integers, and
/// those of [`call`].
pub fn matmul(a: &Tensor, b: &Tensor) -> Result<Tensor> {
    matmul_with(a, b, &MatmulOptions::default())
}

/// epilogue(alpha·op(a)·op(b) + beta·c + bias), with all that [`MatmulOptions`] state.
///
/// ```
/// use portcullis::{Device, Tensor, ops};
/// use ops::{Epilogue, MatmulOptions};
/// let device = Device::cpu();
/// let x = Tensor::from_slice(&device, &[1.0f32, -2.0], &[1, 2])?;
/// let weight = Tensor::from_slice(&device, &[1.0f32, 1.0, 2.0, 0.0], &[2, 2])?;
/// let bias = Tensor::from_slice(&device, &[0.5f32, 0.5], &[2])?;
/// let options = MatmulOptions {
///     trans_b: true,
///     bias: Some(&bias),
///     epilogue: Epilogue::Relu,
///     ..Default::default()
/// };
/// let y = ops::matmul_with(&x, &weight, &options)?;
/// assert_eq!(y.to_vec_blocking::<f32>()?, [0.0, 2.5]);
/// # Ok::<(), portcullis::Error>(())
/// ```
///
/// # Errors
/// As [`matmul`]; [`crate::Error::Shape`] for a `c` or `bias` that does not fit,
/// [`crate::Error::Parameter`] for a scale that is not finite.
pub fn matmul_with(a: &Tensor, b: &Tensor, options: &MatmulOptions<'_>) -> Result<Tensor> {
    let beta = if options.c.is_some() {
        options.beta
    } else {
        0.0
    };
    let params = Params::new()
        .with("trans_a", options.trans_a)
        .with("trans_b", options.trans_b)
        .with("alpha", options.alpha)
        .with("beta", beta)
        .with("epilogue", options.epilogue.name());
    let inputs = [Some(a), Some(b), options.c, options.bias];
    Ok(call("matmul", &inputs, &params)?.into_first())
}

/// The gradients of `a` and `b` of the product alpha·op(a)·op(b), from the
/// result's cotangent. Of the options, `trans_a`, `trans_b` and `alpha` count:
/// the gradient of `c` is beta times the cotangent, that of `bias` its column sums.
///
/// ```
/// use portcullis::{Device, Tensor, ops};
/// let device = Device::cpu();
/// let a = Tensor::from_slice(&device, &[1.0f32, 2.0], &[1, 2])?;
/// let b = Tensor::from_slice(&device, &[3.0f32, 4.0], &[2, 1])?;
/// let dy = Tensor::from_slice(&device, &[10.0f32], &[1, 1])?;
/// let (da, db) = ops::matmul_backward(&a, &b, &dy, &Default::default())?;
/// assert_eq!(da.to_vec_blocking::<f32>()?, [30.0, 40.0]);
/// assert_eq!(db.to_vec_blocking::<f32>()?, [10.0, 20.0]);
/// # Ok::<(), portcullis::Error>(())
/// ```
///
/// # Errors
/// As [`matmul`]; [`crate::Error::Shape`] for a cotangent that is not of the result's shape.
pub fn matmul_backward(
    a: &Tensor,
    b: &Tensor,
    cotangent: &Tensor,
    options: &MatmulOptions<'_>,
) -> Result<(Tensor, Tensor)> {
    let params = Params::new()
        .with("trans_a", options.trans_a)
        .with("trans_b", options.trans_b)
        .with("alpha", options.alpha);
    let inputs = [Some(a), Some(b), Some(cotangent)];
    let outputs = call("matmul_backward", &inputs, &params)?;
    let mut tensors = outputs.into_tensors().into_iter();
    match (tensors.next(), tensors.next()) {
        (Some(a), Some(b)) => Ok((a, b)),
        _ => unreachable!("the operation has two outputs"),
    }
}

/// This family's operations.
pub(crate) fn operations() -> Vec<Box<dyn Operation>> {
    vec![
        Box::new(forward::Matmul::new()),
        Box::new(backward::MatmulBackward::new()),
    ]
}
