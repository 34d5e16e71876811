//! Derivatives of the operations in [`super`], by the input `x`, the output `y`
//! and the parameters `p`; of two operands, `NAME_a` and `NAME_b`.
//! Conventions at kinks are PyTorch's.
#![allow(
    missing_docs,
    reason = "each is the derivative of the function it is named after"
)]

use super::{gelu_tanh_argument, keep_nan, logistic, normal};
use std::f64::consts::{FRAC_2_SQRT_PI, LN_2};

/// 1/√(2π).
const FRAC_1_SQRT_2PI: f64 = 0.398_942_280_401_432_7;
type Parameters = [f32; 2];

/// The zero derivative of the step functions.
macro_rules! zero {
    ($($name:ident)*) => {$(
        #[inline]
        pub fn $name(_: f32, _: f32, _: Parameters) -> f32 {
            0.0
        }
    )*};
}
zero!(sign floor ceil round trunc);

#[inline]
pub fn relu(x: f32, _: f32, _: Parameters) -> f32 {
    keep_nan(x, (x > 0.0) as u8 as f32)
}
#[inline]
pub fn gelu_erf(x: f32, _: f32, _: Parameters) -> f32 {
    let within = x.clamp(-40.0, 40.0) as f64;
    let density = FRAC_1_SQRT_2PI * (-0.5 * within * within).exp();
    (normal(within) + within * density) as f32
}
#[inline]
pub fn gelu_tanh(x: f32, _: f32, _: Parameters) -> f32 {
    let within = x.clamp(-40.0, 40.0) as f64;
    let z = gelu_tanh_argument(within);
    let slope = 4.0 * FRAC_1_SQRT_2PI * (1.0 + 3.0 * 0.044715 * within * within);
    let s = logistic(z);
    (s + within * slope * s * logistic(-z)) as f32
}
#[inline]
pub fn silu(x: f32, _: f32, _: Parameters) -> f32 {
    let within = x.clamp(-200.0, 200.0) as f64;
    let s = logistic(within);
    (s + within * s * logistic(-within)) as f32
}
#[inline]
pub fn sigmoid(_: f32, y: f32, _: Parameters) -> f32 {
    y * (1.0 - y)
}
#[inline]
pub fn tanh(_: f32, y: f32, _: Parameters) -> f32 {
    (1.0 - y) * (1.0 + y)
}
#[inline]
pub fn softplus(x: f32, _: f32, p: Parameters) -> f32 {
    let z = p[0] as f64 * x as f64;
    if z > p[1] as f64 {
        1.0
    } else {
        logistic(z) as f32
    }
}
#[inline]
pub fn exp(_: f32, y: f32, _: Parameters) -> f32 {
    y
}
#[inline]
pub fn exp2(_: f32, y: f32, _: Parameters) -> f32 {
    (y as f64 * LN_2) as f32
}
#[inline]
pub fn expm1(x: f32, _: f32, _: Parameters) -> f32 {
    super::exp(x)
}
#[inline]
pub fn log(x: f32, _: f32, _: Parameters) -> f32 {
    1.0 / x
}
#[inline]
pub fn log2(x: f32, _: f32, _: Parameters) -> f32 {
    (1.0 / (x as f64 * LN_2)) as f32
}
#[inline]
pub fn log1p(x: f32, _: f32, _: Parameters) -> f32 {
    (1.0 / (1.0 + x as f64)) as f32
}
#[inline]
pub fn elu(x: f32, _: f32, p: Parameters) -> f32 {
    if x > 0.0 {
        1.0
    } else {
        (p[0] as f64 * (x as f64).exp()) as f32
    }
}
#[inline]
pub fn erf(x: f32, _: f32, _: Parameters) -> f32 {
    let x = x as f64;
    (FRAC_2_SQRT_PI * (-x * x).exp()) as f32
}
#[inline]
pub fn sin(x: f32, _: f32, _: Parameters) -> f32 {
    super::cos(x)
}
#[inline]
pub fn cos(x: f32, _: f32, _: Parameters) -> f32 {
    -super::sin(x)
}
#[inline]
pub fn tan(_: f32, y: f32, _: Parameters) -> f32 {
    1.0 + y * y
}
#[inline]
pub fn sqrt(_: f32, y: f32, _: Parameters) -> f32 {
    0.5 / y
}
#[inline]
pub fn rsqrt(_: f32, y: f32, _: Parameters) -> f32 {
    let y = y as f64;
    (-0.5 * y * y * y) as f32
}
#[inline]
pub fn reciprocal(_: f32, y: f32, _: Parameters) -> f32 {
    -y * y
}
#[inline]
pub fn neg(_: f32, _: f32, _: Parameters) -> f32 {
    -1.0
}
#[inline]
pub fn abs(x: f32, _: f32, _: Parameters) -> f32 {
    if x == 0.0 { 0.0 } else { super::sign(x) }
}
#[inline]
pub fn square(x: f32, _: f32, _: Parameters) -> f32 {
    2.0 * x
}
#[inline]
pub fn clamp(x: f32, _: f32, p: Parameters) -> f32 {
    (x >= p[0] && x <= p[1]) as u8 as f32
}

#[inline]
pub fn add_a(_: f32, _: f32, _: f32) -> f32 {
    1.0
}
#[inline]
pub fn add_b(_: f32, _: f32, _: f32) -> f32 {
    1.0
}
#[inline]
pub fn sub_a(_: f32, _: f32, _: f32) -> f32 {
    1.0
}
#[inline]
pub fn sub_b(_: f32, _: f32, _: f32) -> f32 {
    -1.0
}
#[inline]
pub fn mul_a(_: f32, b: f32, _: f32) -> f32 {
    b
}
#[inline]
pub fn mul_b(a: f32, _: f32, _: f32) -> f32 {
    a
}
#[inline]
pub fn div_a(_: f32, b: f32, _: f32) -> f32 {
    1.0 / b
}
#[inline]
pub fn div_b(_: f32, b: f32, y: f32) -> f32 {
    -y / b
}
#[inline]
pub fn rem_a(_: f32, _: f32, _: f32) -> f32 {
    1.0
}
/// The quotient that the remainder `y` belongs to, a whole number.
#[inline]
pub fn rem_b(a: f32, b: f32, y: f32) -> f32 {
    -((a as f64 - y as f64) / b as f64).round() as f32
}
/// A tie gives half to each; a NaN passes the gradient to both.
#[inline]
pub fn min_a(a: f32, b: f32, _: f32) -> f32 {
    if a == b {
        0.5
    } else if a > b {
        0.0
    } else {
        1.0
    }
}
#[inline]
pub fn min_b(a: f32, b: f32, y: f32) -> f32 {
    min_a(b, a, y)
}
#[inline]
pub fn max_a(a: f32, b: f32, _: f32) -> f32 {
    if a == b {
        0.5
    } else if a < b {
        0.0
    } else {
        1.0
    }
}
#[inline]
pub fn max_b(a: f32, b: f32, y: f32) -> f32 {
    max_a(b, a, y)
}
#[inline]
pub fn pow_a(a: f32, b: f32, _: f32) -> f32 {
    if b == 0.0 {
        return 0.0;
    }
    let whole = b.fract() == 0.0 || b.is_infinite();
    if a < 0.0 && a.is_finite() && !whole {
        return f32::NAN;
    }
    // The sign comes from b itself: b - 1 is rounded.
    let sign = if a.is_sign_negative() && b % 2.0 == 0.0 {
        -1.0
    } else {
        1.0
    };
    (sign * b as f64 * (a.abs() as f64).powf(b as f64 - 1.0)) as f32
}
#[inline]
pub fn pow_b(a: f32, b: f32, y: f32) -> f32 {
    if a == 0.0 && b >= 0.0 {
        return 0.0;
    }
    (y as f64 * (a as f64).ln()) as f32
}
