//! How wrong an f32 implementation may be, derived from what it is built of.
//!
//! Counted in u = 2^-23. WGSL lets each `+`, `-`, `*` return either neighbour
//! of the exact result: 1 ULP, at most u relative. Division is within 2.5 ULP,
//! inverseSqrt within 2. The polynomials are those of `shaders/op/math.wgsl`;
//! "core" is expm1 on |r| ≤ ln(2)/2. A result below 2^-126 may be flushed, and
//! so may an input (see [`seen`]).

pub mod derivative;

use super::math::{gelu_tanh_argument, sigmoid as logistic};

/// The largest relative error of one rounding to either neighbour.
pub const U: f64 = 1.1920928955078125e-7;
/// What flushing a subnormal result costs.
pub const FLUSH: f64 = 1.1754943508222875e-38;
/// Where f32 ends: infinity stands here when distances are measured.
const END: f64 = 3.402823669209385e38;

/// The gap between f32 numbers at `y`.
pub fn ulp(y: f64) -> f64 {
    let y = y.abs().min(END / 2.0);
    if y < FLUSH {
        return FLUSH * U;
    }
    // The power of two at or below y, by its exponent bits.
    f64::from_bits(y.to_bits() & (0x7ff << 52)) * U
}

/// `k` ULP of `y`, and a flushed result.
pub fn ulps(k: f64, y: f64) -> f64 {
    k * ulp(y) + FLUSH
}

/// `k` roundings of relative size u, and a flushed result.
pub fn relative(k: f64, y: f64) -> f64 {
    k * U * y.abs().min(END) + FLUSH
}

/// |got − exact| over what is allowed: at most 1 where the bound is kept.
/// Two NaN agree. Infinity lies at 2^128, one ULP above the largest number.
pub fn ratio(got: f32, exact: f64, allowed: f64) -> f64 {
    if got.is_nan() || exact.is_nan() {
        return if got.is_nan() && exact.is_nan() {
            0.0
        } else {
            f64::INFINITY
        };
    }
    if exact.is_infinite() && got.is_finite() {
        return f64::INFINITY;
    }
    let error = ((got as f64).clamp(-END, END) - exact.clamp(-END, END)).abs();
    match error {
        0.0 => 0.0,
        error if allowed > 0.0 => error / allowed,
        _ => f64::INFINITY,
    }
}

/// The inputs that a device may have seen in place of `x`: `x`, and a zero of
/// its sign if it is subnormal.
pub fn seen(x: f32) -> impl Iterator<Item = f32> + Clone {
    let flushed = x.is_subnormal().then(|| 0.0_f32.copysign(x));
    std::iter::once(x).chain(flushed)
}

macro_rules! unary {
    ($($(#[doc = $doc:literal])* $name:ident($x:ident, $y:ident, $p:ident) = $value:expr;)*) => {$(
        $(#[doc = $doc])*
        #[allow(unused_variables, reason = "most need the output only")]
        pub fn $name($x: f64, $y: f64, $p: [f64; 2]) -> f64 {
            $value
        }
    )*};
}
macro_rules! binary {
    ($($(#[doc = $doc:literal])* $name:ident($a:ident, $b:ident, $y:ident) = $value:expr;)*) => {$(
        $(#[doc = $doc])*
        #[allow(unused_variables, reason = "most need the output only")]
        pub fn $name($a: f64, $b: f64, $y: f64) -> f64 {
            $value
        }
    )*};
}
pub(super) use {binary, unary};

unary! {
    /// Exact: bits are selected.
    relu(x, y, p) = 0.0;
    /// Exact.
    neg(x, y, p) = 0.0;
    /// Exact.
    abs(x, y, p) = 0.0;
    /// Exact.
    sign(x, y, p) = 0.0;
    /// Exact.
    floor(x, y, p) = 0.0;
    /// Exact.
    ceil(x, y, p) = 0.0;
    /// Exact.
    round(x, y, p) = 0.0;
    /// Exact.
    trunc(x, y, p) = 0.0;
    /// Exact: bits are compared and selected.
    clamp(x, y, p) = 0.0;
    /// One multiplication.
    square(x, y, p) = ulps(1.0, y);
    /// x − k·hi is exact; the second step errs by ulp(0.35) = 2^-25, the core by
    /// 2.5·2^-25 (its last sum, its product and 2^-26 of the rest), 1 + core by
    /// 1 ULP; ulp of the mantissa is at least 2^-24: 0.5 + 1.25 + 0.2 + 1.
    exp(x, y, p) = ulps(3.0, y);
    /// As exp, with one more product, f·ln 2, of at most 0.35.
    exp2(x, y, p) = ulps(4.0, y);
    /// Worst just above k = 1: y = 2·core + 1 ≥ 0.41, where the doubled error of
    /// the core and of r is 6.5·2^-25, each an ULP of y; one more sum.
    expm1(x, y, p) = ulps(8.0, y);
    /// Worst at e = ±1, |y| ≥ 0.34: outer sum 1, inner sum 1, the square's half
    /// 0.4, polynomial 0.5.
    log(x, y, p) = ulps(3.0, y);
    /// log without its outer sum, 2; times 1.44, 1.3; the exponent's sum counts
    /// where the result is larger.
    log2(x, y, p) = ulps(4.0, y);
    /// Away from 0, 1 + x errs by up to 0.7 u, which is 2.8 ULP of a result of
    /// 0.35; the logarithm's 3.
    log1p(x, y, p) = ulps(6.0, y);
    /// e^−|x| 3 u, 1 + e at most 1 u more, division 2.5 u.
    sigmoid(x, y, p) = relative(6.5, y);
    /// sigmoid, which may be flushed, and a product.
    silu(x, y, p) = relative(7.5, y) + FLUSH * x.abs().min(110.0);
    /// Above 0.625: e^2a 3 u, + 1 1 u, division 2.5 u make 5.8 u of at most 0.45,
    /// which is 5.2 ULP of a result above 0.5; the last difference 1.
    tanh(x, y, p) = ulps(7.0, y);
    /// e^−|z| 3 u, log1p 6 u, sum 1 u, division 2.5 u. For z < 0 the rounding of
    /// z = βx is felt |z|-fold, unless β is 1. The logarithm may be flushed.
    softplus(x, y, p) = {
        let z = p[0] * x;
        if z > p[1] {
            0.0
        } else {
            let felt = if p[0] == 1.0 || z > 0.0 { 0.0 } else { z.abs() };
            relative(12.5 + felt, y) + FLUSH / p[0].abs()
        }
    };
    /// expm1 and a product.
    elu(x, y, p) = if x < 0.0 { relative(9.0, y) } else { 0.0 };
    /// Far: the exponent's 3 roundings of |t| ≤ 1.7 at e^t ≤ 0.19, e^t 3 u, in
    /// ULP of 0.8; the difference 1.
    erf(x, y, p) = ulps(5.0, y);
    /// The tail's ratio: t errs by 3.5 to 4.7 u, felt up to 2.7-fold near 0: 9.5;
    /// its polynomial 4.5; e^(−a²/2) 3.5; two products 2; fit 0.1.
    gelu_erf(x, y, p) = relative(20.0, y);
    /// sigmoid and a product; z errs by 4.5 u, felt |z| σ(−z)-fold;
    /// sigmoid may be flushed.
    gelu_tanh(x, y, p) = {
        let z = gelu_tanh_argument(x.clamp(-20.0, 20.0));
        relative(7.5 + 4.5 * z.abs() * logistic(-z), y) + FLUSH * x.abs().min(20.0)
    };
    /// r errs by at most 3 ULP and 2^-51; the polynomial by 2.
    sin(x, y, p) = ulps(5.0, y) + REDUCTION;
    /// As sin.
    cos(x, y, p) = ulps(5.0, y) + REDUCTION;
    /// r's error is felt 1.6-fold, 5; polynomial 2.5; division 2.5. Near a pole
    /// the absolute error of r is felt 1 + y²-fold.
    tan(x, y, p) = relative(10.0, y) + REDUCTION * (1.0 + y * y);
    /// WGSL: as 1/inverseSqrt(x).
    sqrt(x, y, p) = relative(4.5, y);
    /// WGSL: inverseSqrt.
    rsqrt(x, y, p) = ulps(2.0, y);
    /// WGSL: division.
    reciprocal(x, y, p) = ulps(2.5, y);
}

/// What is left of pi/2 after its pieces, times the largest quotient, and the
/// rounding of the last product.
const REDUCTION: f64 = 4.440892098500626e-16;

binary! {
    /// WGSL: either neighbour.
    add(a, b, y) = ulps(1.0, y);
    /// WGSL: either neighbour.
    sub(a, b, y) = ulps(1.0, y);
    /// WGSL: either neighbour.
    mul(a, b, y) = ulps(1.0, y);
    /// WGSL: division.
    div(a, b, y) = ulps(2.5, y);
    /// Exact: integers.
    rem(a, b, y) = 0.0;
    /// Exact.
    min(a, b, y) = 0.0;
    /// Exact.
    max(a, b, y) = 0.0;
    /// w = b log2|a| errs by 2^-31 |w|, at most 0.8 ULP of the result; the sum
    /// of its parts 0.5; 2^w 4.
    pow(a, b, y) = ulps(6.0, y);
    /// Exact.
    eq(a, b, y) = 0.0;
    /// Exact.
    ne(a, b, y) = 0.0;
    /// Exact.
    lt(a, b, y) = 0.0;
    /// Exact.
    le(a, b, y) = 0.0;
    /// Exact.
    gt(a, b, y) = 0.0;
    /// Exact.
    ge(a, b, y) = 0.0;
}
