//! f64 oracles of the scalar operations: the same names as the CPU twins'.
//!
//! Elementary functions are `std`'s; erf and the normal distribution come from
//! a series and a continued fraction, which no kernel and no twin uses.

pub mod derivative;

use std::f64::consts::{FRAC_1_SQRT_2, FRAC_2_SQRT_PI};

/// erf by Kummer's series, 2/√π e^(−x²) Σ 2ⁿ x^(2n+1) / (2n+1)!!: every term
/// has the same sign. For |x| below 3.
fn erf_series(x: f64) -> f64 {
    let mut term = x;
    let mut sum = x;
    let mut n = 1.0;
    while term.abs() > 1e-18 * sum.abs() {
        term *= 2.0 * x * x / (2.0 * n + 1.0);
        sum += term;
        n += 1.0;
    }
    FRAC_2_SQRT_PI * (-x * x).exp() * sum
}

/// erfc by Laplace's continued fraction, from the far end, for x ≥ 2:
/// e^(−x²)/√π · 1/(x + (1/2)/(x + 1/(x + (3/2)/(x + …)))).
fn erfc_fraction(x: f64) -> f64 {
    let tail = (1..=120).rev().fold(x, |tail, k| x + k as f64 / 2.0 / tail);
    0.5 * FRAC_2_SQRT_PI * (-x * x).exp() / tail
}

/// 1 − erf(x), with small relative error for large x too.
pub fn erfc(x: f64) -> f64 {
    match x {
        x if x >= 2.0 => erfc_fraction(x),
        x if x <= -2.0 => 2.0 - erfc_fraction(-x),
        x => 1.0 - erf_series(x),
    }
}

/// Φ(x), the normal distribution.
pub fn normal(x: f64) -> f64 {
    0.5 * erfc(-x * FRAC_1_SQRT_2)
}

/// The argument z of gelu's tanh form, written x σ(z).
pub fn gelu_tanh_argument(x: f64) -> f64 {
    (8.0 / std::f64::consts::PI).sqrt() * (x + 0.044715 * x.powi(3))
}

/// x f, whose limit at −inf is 0.
fn gated(x: f64, gate: f64) -> f64 {
    if x == f64::NEG_INFINITY {
        0.0
    } else {
        x * gate
    }
}

/// The oracle of `relu`.
pub fn relu(x: f64) -> f64 {
    if x.is_nan() { x } else { x.max(0.0) }
}
/// The oracle of `gelu_erf`.
pub fn gelu_erf(x: f64) -> f64 {
    gated(x, normal(x))
}
/// The oracle of `gelu_tanh`.
pub fn gelu_tanh(x: f64) -> f64 {
    gated(x, sigmoid(gelu_tanh_argument(x)))
}
/// The oracle of `silu`.
pub fn silu(x: f64) -> f64 {
    gated(x, sigmoid(x))
}
/// The oracle of `sigmoid`.
pub fn sigmoid(x: f64) -> f64 {
    if x < 0.0 {
        x.exp() / (1.0 + x.exp())
    } else {
        1.0 / (1.0 + (-x).exp())
    }
}
/// The oracle of `tanh`.
pub fn tanh(x: f64) -> f64 {
    x.tanh()
}
/// The oracle of `softplus`.
pub fn softplus(x: f64, beta: f64, threshold: f64) -> f64 {
    let z = beta * x;
    if z > threshold {
        return x;
    }
    if z.is_nan() {
        return z;
    }
    (z.max(0.0) + (-z.abs()).exp().ln_1p()) / beta
}
/// The oracle of `exp`.
pub fn exp(x: f64) -> f64 {
    x.exp()
}
/// The oracle of `exp2`.
pub fn exp2(x: f64) -> f64 {
    x.exp2()
}
/// The oracle of `expm1`.
pub fn expm1(x: f64) -> f64 {
    x.exp_m1()
}
/// The oracle of `log`.
pub fn log(x: f64) -> f64 {
    x.ln()
}
/// The oracle of `log2`.
pub fn log2(x: f64) -> f64 {
    x.log2()
}
/// The oracle of `log1p`.
pub fn log1p(x: f64) -> f64 {
    x.ln_1p()
}
/// The oracle of `elu`.
pub fn elu(x: f64, alpha: f64) -> f64 {
    if x < 0.0 { alpha * x.exp_m1() } else { x }
}
/// The oracle of `erf`.
pub fn erf(x: f64) -> f64 {
    if x.abs() < 2.0 {
        erf_series(x)
    } else {
        1.0 - erfc(x)
    }
}
/// The oracle of `sin`.
pub fn sin(x: f64) -> f64 {
    x.sin()
}
/// The oracle of `cos`.
pub fn cos(x: f64) -> f64 {
    x.cos()
}
/// The oracle of `tan`.
pub fn tan(x: f64) -> f64 {
    x.tan()
}
/// The oracle of `sqrt`.
pub fn sqrt(x: f64) -> f64 {
    x.sqrt()
}
/// The oracle of `rsqrt`.
pub fn rsqrt(x: f64) -> f64 {
    1.0 / x.sqrt()
}
/// The oracle of `reciprocal`.
pub fn reciprocal(x: f64) -> f64 {
    1.0 / x
}
/// The oracle of `neg`.
pub fn neg(x: f64) -> f64 {
    -x
}
/// The oracle of `abs`.
pub fn abs(x: f64) -> f64 {
    x.abs()
}
/// The oracle of `sign`.
pub fn sign(x: f64) -> f64 {
    if x == 0.0 { x } else { x.signum() }
}
/// The oracle of `floor`.
pub fn floor(x: f64) -> f64 {
    x.floor()
}
/// The oracle of `ceil`.
pub fn ceil(x: f64) -> f64 {
    x.ceil()
}
/// The oracle of `round`: ties to even, told apart by hand.
pub fn round(x: f64) -> f64 {
    let down = x.floor();
    match x - down {
        rest if rest < 0.5 => down,
        rest if rest > 0.5 => down + 1.0,
        _ => 2.0 * (x / 2.0 + 0.25).floor(),
    }
}
/// The oracle of `trunc`.
pub fn trunc(x: f64) -> f64 {
    x.trunc()
}
/// The oracle of `square`.
pub fn square(x: f64) -> f64 {
    x * x
}
/// The oracle of `clamp`.
pub fn clamp(x: f64, low: f64, high: f64) -> f64 {
    min(max(x, low), high)
}
/// The oracle of `add`. Exact but for a double rounding 2^-29 of the bound.
pub fn add(a: f64, b: f64) -> f64 {
    a + b
}
/// The oracle of `sub`.
pub fn sub(a: f64, b: f64) -> f64 {
    a - b
}
/// The oracle of `mul`, exact.
pub fn mul(a: f64, b: f64) -> f64 {
    a * b
}
/// The oracle of `div`.
pub fn div(a: f64, b: f64) -> f64 {
    a / b
}
/// The oracle of `rem`, exact.
pub fn rem(a: f64, b: f64) -> f64 {
    a % b
}
/// The oracle of `min`.
pub fn min(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() {
        f64::NAN
    } else {
        a.min(b)
    }
}
/// The oracle of `max`.
pub fn max(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() {
        f64::NAN
    } else {
        a.max(b)
    }
}
/// The oracle of `pow`.
pub fn pow(a: f64, b: f64) -> f64 {
    a.powf(b)
}

/// 1 where two ordered numbers compare so, else 0.
fn holds(a: f64, b: f64, accepted: &[std::cmp::Ordering]) -> f64 {
    let found = a.partial_cmp(&b).is_some_and(|o| accepted.contains(&o));
    if found { 1.0 } else { 0.0 }
}
/// The oracle of `eq`.
pub fn eq(a: f64, b: f64) -> f64 {
    holds(a, b, &[std::cmp::Ordering::Equal])
}
/// The oracle of `ne`: the one comparison that holds for NaN.
pub fn ne(a: f64, b: f64) -> f64 {
    1.0 - eq(a, b)
}
/// The oracle of `lt`.
pub fn lt(a: f64, b: f64) -> f64 {
    holds(a, b, &[std::cmp::Ordering::Less])
}
/// The oracle of `le`.
pub fn le(a: f64, b: f64) -> f64 {
    holds(a, b, &[std::cmp::Ordering::Less, std::cmp::Ordering::Equal])
}
/// The oracle of `gt`.
pub fn gt(a: f64, b: f64) -> f64 {
    holds(a, b, &[std::cmp::Ordering::Greater])
}
/// The oracle of `ge`.
pub fn ge(a: f64, b: f64) -> f64 {
    holds(
        a,
        b,
        &[std::cmp::Ordering::Greater, std::cmp::Ordering::Equal],
    )
}
