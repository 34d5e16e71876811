//! CPU twins of `shaders/op/math.wgsl`: the same names without the prefix.
//! What `std` lacks in f32 is computed in f64 and rounded once.

pub mod derivative;
pub mod integer;

/// The upper tail of the normal distribution, 1 − Φ(a), for a ≥ 0: exp(−a²/2)
/// times a Chebyshev fit in t = 1/(1 + 0.3 a), relative error 2e-12 up to 15.
pub(crate) fn normal_tail(a: f64) -> f64 {
    const FIT: [f64; 15] = [
        0.0077153839380401075,
        -0.06879719847809986,
        0.27198919609739786,
        -0.6199183815644284,
        0.8872725695508568,
        -0.8259481022419993,
        0.5340838976021449,
        -0.28374654594177445,
        0.09972244752547443,
        -0.0007786316961704299,
        0.06348577973181284,
        0.08656938841397094,
        0.10898931643397042,
        0.11967807232148196,
        0.11968280830754933,
    ];
    // Beyond 15 the tail is below every subnormal of f32.
    let a = a.min(15.0);
    let t = 1.0 / (1.0 + 0.3 * a);
    (-0.5 * a * a).exp() * t * FIT.iter().fold(0.0, |sum, c| sum * t + c)
}

/// Φ(x), the normal distribution.
pub(crate) fn normal(x: f64) -> f64 {
    if x < 0.0 {
        normal_tail(-x)
    } else {
        1.0 - normal_tail(x)
    }
}

/// 1/(1 + e^(−x)) in f64.
pub(crate) fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// max(x, 0); NaN stays.
#[inline]
pub fn relu(x: f32) -> f32 {
    if x <= 0.0 { 0.0 } else { x }
}

/// x Φ(x).
#[inline]
pub fn gelu_erf(x: f32) -> f32 {
    // The limit at −inf is 0, which the product would miss.
    let within = x.max(-40.0) as f64;
    keep_nan(x, (within * normal(within)) as f32)
}

/// x σ(√(8/π) (x + 0.044715 x³)), which is 0.5 x (1 + tanh(√(2/π) (…))).
#[inline]
pub fn gelu_tanh(x: f32) -> f32 {
    let within = x.max(-40.0) as f64;
    let z = gelu_tanh_argument(within);
    keep_nan(x, (within * logistic(z)) as f32)
}

pub(crate) fn gelu_tanh_argument(x: f64) -> f64 {
    const SQRT_8_OVER_PI: f64 = 2.0 * std::f64::consts::FRAC_2_SQRT_PI / std::f64::consts::SQRT_2;
    SQRT_8_OVER_PI * (x + 0.044715 * x * x * x)
}

/// x σ(x).
#[inline]
pub fn silu(x: f32) -> f32 {
    let within = x.max(-200.0) as f64;
    keep_nan(x, (within * logistic(within)) as f32)
}

/// 1/(1 + e^(−x)).
#[inline]
pub fn sigmoid(x: f32) -> f32 {
    logistic(x as f64) as f32
}

/// The hyperbolic tangent.
#[inline]
pub fn tanh(x: f32) -> f32 {
    (x as f64).tanh() as f32
}

/// log(1 + e^(βx))/β, and x itself where βx > threshold.
#[inline]
pub fn softplus(x: f32, beta: f32, threshold: f32) -> f32 {
    let z = beta as f64 * x as f64;
    if z > threshold as f64 {
        return x;
    }
    ((z.max(0.0) + (-z.abs()).exp().ln_1p()) / beta as f64) as f32
}

/// e^x.
#[inline]
pub fn exp(x: f32) -> f32 {
    (x as f64).exp() as f32
}

/// 2^x.
#[inline]
pub fn exp2(x: f32) -> f32 {
    (x as f64).exp2() as f32
}

/// e^x − 1.
#[inline]
pub fn expm1(x: f32) -> f32 {
    (x as f64).exp_m1() as f32
}

/// The natural logarithm.
#[inline]
pub fn log(x: f32) -> f32 {
    (x as f64).ln() as f32
}

/// The logarithm to base 2.
#[inline]
pub fn log2(x: f32) -> f32 {
    (x as f64).log2() as f32
}

/// log(1 + x).
#[inline]
pub fn log1p(x: f32) -> f32 {
    (x as f64).ln_1p() as f32
}

/// x above 0, α(e^x − 1) below.
#[inline]
pub fn elu(x: f32, alpha: f32) -> f32 {
    if x < 0.0 {
        (alpha as f64 * (x as f64).exp_m1()) as f32
    } else {
        x
    }
}

/// The error function: its Taylor series below 1, the normal tail above.
#[inline]
pub fn erf(x: f32) -> f32 {
    let x = x as f64;
    let a = x.abs();
    if a >= 1.0 {
        let tail = 2.0 * normal_tail(a * std::f64::consts::SQRT_2);
        return (1.0 - tail).copysign(x) as f32;
    }
    let mut term = x;
    let mut sum = x;
    for n in 1..16 {
        term *= -x * x / n as f64;
        sum += term / (2 * n + 1) as f64;
    }
    (sum * std::f64::consts::FRAC_2_SQRT_PI) as f32
}

/// The sine of x radians.
#[inline]
pub fn sin(x: f32) -> f32 {
    (x as f64).sin() as f32
}

/// The cosine of x radians.
#[inline]
pub fn cos(x: f32) -> f32 {
    (x as f64).cos() as f32
}

/// The tangent of x radians.
#[inline]
pub fn tan(x: f32) -> f32 {
    (x as f64).tan() as f32
}

/// The square root.
#[inline]
pub fn sqrt(x: f32) -> f32 {
    x.sqrt()
}

/// 1/√x.
#[inline]
pub fn rsqrt(x: f32) -> f32 {
    (1.0 / (x as f64).sqrt()) as f32
}

/// 1/x.
#[inline]
pub fn reciprocal(x: f32) -> f32 {
    1.0 / x
}

/// −x.
#[inline]
pub fn neg(x: f32) -> f32 {
    -x
}

/// |x|.
#[inline]
pub fn abs(x: f32) -> f32 {
    x.abs()
}

/// −1, 0 or 1; zeros keep their sign.
#[inline]
pub fn sign(x: f32) -> f32 {
    if x == 0.0 { x } else { x.signum() }
}

/// Rounds down.
#[inline]
pub fn floor(x: f32) -> f32 {
    x.floor()
}

/// Rounds up.
#[inline]
pub fn ceil(x: f32) -> f32 {
    x.ceil()
}

/// Rounds to nearest, ties to even.
#[inline]
pub fn round(x: f32) -> f32 {
    x.round_ties_even()
}

/// Rounds towards zero.
#[inline]
pub fn trunc(x: f32) -> f32 {
    x.trunc()
}

/// x².
#[inline]
pub fn square(x: f32) -> f32 {
    x * x
}

/// min(max(x, low), high); NaN spreads.
#[inline]
pub fn clamp(x: f32, low: f32, high: f32) -> f32 {
    min(max(x, low), high)
}

/// a + b.
#[inline]
pub fn add(a: f32, b: f32) -> f32 {
    a + b
}

/// a − b.
#[inline]
pub fn sub(a: f32, b: f32) -> f32 {
    a - b
}

/// a · b.
#[inline]
pub fn mul(a: f32, b: f32) -> f32 {
    a * b
}

/// a / b.
#[inline]
pub fn div(a: f32, b: f32) -> f32 {
    a / b
}

/// C's fmod: exact, with the dividend's sign.
#[inline]
pub fn rem(a: f32, b: f32) -> f32 {
    a % b
}

/// The smaller; NaN spreads, the first one if both are; −0 is below +0.
#[inline]
pub fn min(a: f32, b: f32) -> f32 {
    let smaller = if a < b || (a == b && a.is_sign_negative()) {
        a
    } else {
        b
    };
    first_nan(a, b, smaller)
}

/// The larger; NaN spreads, the first one if both are; +0 is above −0.
#[inline]
pub fn max(a: f32, b: f32) -> f32 {
    let larger = if a > b || (a == b && a.is_sign_positive()) {
        a
    } else {
        b
    };
    first_nan(a, b, larger)
}

/// a^b with C99's special cases.
#[inline]
pub fn pow(a: f32, b: f32) -> f32 {
    (a as f64).powf(b as f64) as f32
}

/// 1 if a = b, else 0.
#[inline]
pub fn eq(a: f32, b: f32) -> f32 {
    (a == b) as u8 as f32
}

/// 1 if a ≠ b or either is NaN, else 0.
#[inline]
pub fn ne(a: f32, b: f32) -> f32 {
    (a != b) as u8 as f32
}

/// 1 if a < b, else 0.
#[inline]
pub fn lt(a: f32, b: f32) -> f32 {
    (a < b) as u8 as f32
}

/// 1 if a ≤ b, else 0.
#[inline]
pub fn le(a: f32, b: f32) -> f32 {
    (a <= b) as u8 as f32
}

/// 1 if a > b, else 0.
#[inline]
pub fn gt(a: f32, b: f32) -> f32 {
    (a > b) as u8 as f32
}

/// 1 if a ≥ b, else 0.
#[inline]
pub fn ge(a: f32, b: f32) -> f32 {
    (a >= b) as u8 as f32
}

#[inline]
fn keep_nan(x: f32, y: f32) -> f32 {
    if x.is_nan() { x } else { y }
}

#[inline]
fn first_nan(a: f32, b: f32, otherwise: f32) -> f32 {
    if a.is_nan() {
        a
    } else if b.is_nan() {
        b
    } else {
        otherwise
    }
}
