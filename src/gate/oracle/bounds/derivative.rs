//! Bounds of the derivatives, by the input, the exact derivative and the
//! parameters. Counted as in [`super`]; the output they use is taken as exact.

use super::{END, FLUSH, U, binary, relative, ulps, unary};
use crate::gate::oracle::math::{gelu_tanh_argument, normal, sigmoid as logistic};

unary! {
    /// Exact.
    relu(x, d, p) = 0.0;
    /// The tail T and a·φ(a) are subtracted under one exponential: T's ratio
    /// errs by 14 u, a·φ's by 1.5; exponential, which may be flushed, and products
    /// 5.5; 1 − … 1 ULP.
    gelu_erf(x, d, p) = {
        let a = x.abs().min(15.0);
        let tail = normal(-a);
        let density = 0.4 * a * (-a * a / 2.0).exp();
        U * (20.0 * tail + 7.0 * density) + ulps(1.0, d) + FLUSH * 0.4 * a
    };
    /// σ(z)(1 + T), T = x z' σ(−z): sigmoids 6.5 u and 4.5 u of z felt
    /// |z|-fold, z' 3 u, products and the sum.
    gelu_tanh(x, d, p) = {
        let x = x.clamp(-20.0, 20.0);
        let z = gelu_tanh_argument(x);
        let s = logistic(z);
        let t = (x * (1.6 + 0.2141 * x * x)).abs() * logistic(-z);
        let outer = 8.5 + 4.5 * z.abs() * logistic(-z);
        let inner = 12.0 + 4.5 * z.abs() * s;
        s * U * ((1.0 + t) * outer + t * inner) + FLUSH * (1.0 + t) + ulps(1.0, d)
    };
    /// σ(x)(1 + T), T = x σ(−x).
    silu(x, d, p) = {
        let x = x.clamp(-110.0, 110.0);
        let t = x.abs() * logistic(-x);
        logistic(x) * U * (8.5 + 16.0 * t) + FLUSH * (1.0 + t) + ulps(1.0, d)
    };
    /// y (1 − y).
    sigmoid(x, d, p) = relative(2.0, d);
    /// (1 − y)(1 + y).
    tanh(x, d, p) = relative(3.0, d);
    /// sigmoid; the rounding of z = βx is felt |z| σ(−z)-fold, unless β is 1.
    softplus(x, d, p) = {
        let z = p[0] * x;
        if z > p[1] {
            0.0
        } else {
            let felt = if p[0] == 1.0 { 0.0 } else { z.abs() * logistic(-z) };
            relative(6.5 + felt, d)
        }
    };
    /// The output itself.
    exp(x, d, p) = 0.0;
    /// A product with a rounded constant.
    exp2(x, d, p) = relative(1.5, d);
    /// exp.
    expm1(x, d, p) = ulps(3.0, d);
    /// Division.
    log(x, d, p) = ulps(2.5, d);
    /// Division of a rounded constant.
    log2(x, d, p) = relative(3.0, d);
    /// Sum and division.
    log1p(x, d, p) = relative(3.5, d);
    /// exp and a product.
    elu(x, d, p) = if x > 0.0 { 0.0 } else { relative(4.0, d) };
    /// e^(−x²) 3.5 u and up to 0.5 u where r exceeds ln(2)/2, a product with a
    /// rounded constant, 1.13, 1.5; the exponential may be flushed.
    erf(x, d, p) = relative(5.5, d) + 0.2 * FLUSH;
    /// cos.
    sin(x, d, p) = super::cos(x, d, p);
    /// sin.
    cos(x, d, p) = super::sin(x, d, p);
    /// 1 + y².
    tan(x, d, p) = relative(2.0, d);
    /// Division.
    sqrt(x, d, p) = ulps(2.5, d);
    /// Two inexact products.
    rsqrt(x, d, p) = relative(2.0, d);
    /// One product.
    reciprocal(x, d, p) = ulps(1.0, d);
    /// Exact.
    neg(x, d, p) = 0.0;
    /// Exact.
    abs(x, d, p) = 0.0;
    /// Exact.
    sign(x, d, p) = 0.0;
    /// Exact.
    floor(x, d, p) = 0.0;
    /// Exact.
    ceil(x, d, p) = 0.0;
    /// Exact.
    round(x, d, p) = 0.0;
    /// Exact.
    trunc(x, d, p) = 0.0;
    /// Exact, but for a flushed result.
    square(x, d, p) = ulps(0.0, d);
    /// Exact.
    clamp(x, d, p) = 0.0;
}

binary! {
    /// Exact.
    add_a(a, b, d) = 0.0;
    /// Exact.
    add_b(a, b, d) = 0.0;
    /// Exact.
    sub_a(a, b, d) = 0.0;
    /// Exact.
    sub_b(a, b, d) = 0.0;
    /// Exact.
    mul_a(a, b, d) = 0.0;
    /// Exact.
    mul_b(a, b, d) = 0.0;
    /// Division.
    div_a(a, b, d) = ulps(2.5, d);
    /// Division.
    div_b(a, b, d) = ulps(2.5, d);
    /// Exact.
    rem_a(a, b, d) = 0.0;
    /// A difference and a division; rounding to a whole number removes an error
    /// of less than a half.
    rem_b(a, b, d) = if d.abs() < 1e6 { 0.0 } else { relative(4.0, d) };
    /// Exact.
    min_a(a, b, d) = 0.0;
    /// Exact.
    min_b(a, b, d) = 0.0;
    /// Exact.
    max_a(a, b, d) = 0.0;
    /// Exact.
    max_b(a, b, d) = 0.0;
    /// pow and a product; the rounding of b − 1 is felt |b − 1| |log a|-fold.
    /// The power may be flushed or overflow before the product.
    pow_a(a, b, d) = {
        let felt = ((b - 1.0) * a.abs().ln()).abs();
        let felt = if felt.is_finite() { felt } else { 0.0 };
        let power = (d / b).abs();
        let overflow = if power >= END { END } else { 0.0 };
        relative(7.0 + felt, d) + FLUSH * b.abs().min(END) + overflow
    };
    /// log and a product.
    pow_b(a, b, d) = relative(4.0, d);
}
