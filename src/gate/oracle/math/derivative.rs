//! f64 oracles of the derivatives, by the input, the output as it was given to
//! the kernel, and the parameters.
//!
//! A derivative that a kernel takes from the output is here taken from that
//! output too: the rounding of the output is the forward operation's error.
#![allow(
    missing_docs,
    reason = "each is the derivative of the function it is named after"
)]

use super::{eq, ge, gelu_tanh_argument, gt, le, lt, normal};
use std::f64::consts::{LN_2, PI};

type Parameters = [f64; 2];

/// One line for each: NAME(x, y, p) = value.
macro_rules! unary {
    ($($name:ident($x:ident, $y:ident, $p:ident) = $value:expr;)*) => {$(
        #[allow(unused_variables, reason = "few need all three")]
        pub fn $name($x: f64, $y: f64, $p: Parameters) -> f64 {
            $value
        }
    )*};
}
/// One line for each: NAME(a, b, y) = value.
macro_rules! binary {
    ($($name:ident($a:ident, $b:ident, $y:ident) = $value:expr;)*) => {$(
        #[allow(unused_variables, reason = "few need all three")]
        pub fn $name($a: f64, $b: f64, $y: f64) -> f64 {
            $value
        }
    )*};
}

/// x f with limit 0 where f vanishes and x is infinite.
fn vanishing(x: f64, f: f64) -> f64 {
    if f == 0.0 { 0.0 } else { x * f }
}

unary! {
    relu(x, y, p) = if x.is_nan() { x } else { gt(x, 0.0) };
    gelu_erf(x, y, p) = normal(x) + vanishing(x, (-x * x / 2.0).exp() / (2.0 * PI).sqrt());
    gelu_tanh(x, y, p) = {
        let z = gelu_tanh_argument(x);
        // σ(z) σ(−z) = 1/(4 cosh²(z/2))
        let peak = 0.25 / (z / 2.0).cosh().powi(2);
        let slope = (8.0 / PI).sqrt() * (1.0 + 0.134145 * x * x);
        super::sigmoid(z) + vanishing(x * slope, peak)
    };
    silu(x, y, p) = super::sigmoid(x) + vanishing(x, 0.25 / (x / 2.0).cosh().powi(2));
    sigmoid(x, y, p) = y - y * y;
    tanh(x, y, p) = 1.0 - y * y;
    softplus(x, y, p) = if p[0] * x > p[1] { 1.0 } else { super::sigmoid(p[0] * x) };
    exp(x, y, p) = y;
    exp2(x, y, p) = y * LN_2;
    expm1(x, y, p) = x.exp();
    log(x, y, p) = 1.0 / x;
    log2(x, y, p) = 1.0 / (x * LN_2);
    log1p(x, y, p) = 1.0 / (1.0 + x);
    elu(x, y, p) = if x > 0.0 { 1.0 } else { p[0] * x.exp() };
    erf(x, y, p) = 2.0 / PI.sqrt() * (-x * x).exp();
    sin(x, y, p) = x.cos();
    cos(x, y, p) = -x.sin();
    tan(x, y, p) = 1.0 + y * y;
    sqrt(x, y, p) = 0.5 / y;
    rsqrt(x, y, p) = -0.5 * y.powi(3);
    reciprocal(x, y, p) = -y * y;
    neg(x, y, p) = -1.0;
    abs(x, y, p) = if x.is_nan() { x } else { gt(x, 0.0) - lt(x, 0.0) };
    sign(x, y, p) = 0.0;
    floor(x, y, p) = 0.0;
    ceil(x, y, p) = 0.0;
    round(x, y, p) = 0.0;
    trunc(x, y, p) = 0.0;
    square(x, y, p) = 2.0 * x;
    clamp(x, y, p) = ge(x, p[0]) * le(x, p[1]);
}

binary! {
    add_a(a, b, y) = 1.0;
    add_b(a, b, y) = 1.0;
    sub_a(a, b, y) = 1.0;
    sub_b(a, b, y) = -1.0;
    mul_a(a, b, y) = b;
    mul_b(a, b, y) = a;
    div_a(a, b, y) = 1.0 / b;
    div_b(a, b, y) = -y / b;
    rem_a(a, b, y) = 1.0;
    rem_b(a, b, y) = -((a - y) / b).round();
    min_a(a, b, y) = 1.0 - gt(a, b) - 0.5 * eq(a, b);
    min_b(a, b, y) = 1.0 - gt(b, a) - 0.5 * eq(a, b);
    max_a(a, b, y) = 1.0 - lt(a, b) - 0.5 * eq(a, b);
    max_b(a, b, y) = 1.0 - lt(b, a) - 0.5 * eq(a, b);
    pow_a(a, b, y) = {
        // a^(b-1) without the difference, whose rounding would change its sign.
        let magnitude = b * a.abs().powf(b - 1.0);
        match a.powf(b) {
            _ if b == 0.0 => 0.0,
            power if power.is_nan() && !(a.is_nan() || b.is_nan()) => power,
            _ if a.is_sign_negative() && b % 2.0 == 0.0 => -magnitude,
            _ => magnitude,
        }
    };
    pow_b(a, b, y) = if a == 0.0 && b >= 0.0 { 0.0 } else { y * a.ln() };
}
