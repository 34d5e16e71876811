// Scalar mathematics of elementwise operations.
//
// f_NAME works on f32, i_NAME on i32, u_NAME on u32; f_NAME_derivative(x, y)
// takes the input and the output of f_NAME. The prefix keeps WGSL's own
// functions reachable. Meaning and bounds: src/kernels/math_table.rs.
//
// Written for compilers that fuse a*b+c, reorder sums and assume away NaN:
// NaN is found by its bits; exponents are added as integers; where a
// difference is exact only in the order written, a `min` that never changes
// its value stands between the steps, and no reordering crosses it.

// ---- bits ----

// A value that must not be written as a constant: WGSL refuses inf and NaN there.
fn math_from_bits(bits: u32) -> f32 { return bitcast<f32>(bits); }
fn math_nan() -> f32 { return math_from_bits(0x7fc00000u); }
fn math_is_nan(x: f32) -> bool { return (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u; }
fn math_is_negative(x: f32) -> bool { return (bitcast<u32>(x) >> 31u) == 1u; }
fn math_magnitude(x: f32) -> f32 { return bitcast<f32>(bitcast<u32>(x) & 0x7fffffffu); }
fn math_with_sign_of(x: f32, sign: f32) -> f32 {
    return bitcast<f32>((bitcast<u32>(x) & 0x7fffffffu) | (bitcast<u32>(sign) & 0x80000000u));
}
// An integer that orders floats as numbers, -0 = +0. NaN lies outside +-0x7f800000.
fn math_order(x: f32) -> i32 {
    let i = bitcast<i32>(x);
    return select(i, -(i & 0x7fffffff), i < 0);
}
// The same with -0 < +0.
fn math_total_order(x: f32) -> i32 {
    let i = bitcast<i32>(x);
    return i ^ ((i >> 31u) & 0x7fffffff);
}
// m * 2^k for m in [1/2, 2]. What would be subnormal becomes 0 on every device.
fn math_scale(m: f32, k: i32) -> f32 {
    let bits = bitcast<i32>(m) + (k << 23u);
    let exponent = (bitcast<i32>(m) >> 23u) + k;
    return bitcast<f32>(select(select(bits, 0, exponent < 1), 0x7f800000, exponent > 254));
}

// ---- exponential and logarithm, after Cephes expf and logf ----

// e^r - 1 for |r| <= ln(2)/2 and a little more.
fn math_expm1_core(r: f32) -> f32 {
    let p = ((((1.9875691500e-4 * r + 1.3981999507e-3) * r + 8.3334519073e-3) * r
        + 4.1665795894e-2) * r + 1.6666665459e-1) * r + 5.0000001201e-1;
    return r * r * p + r;
}
// x - k ln 2, where k = round(x / ln 2) and |k| < 2^15: k * 0.693359375 is exact.
fn math_reduce_ln2(x: f32, k: f32) -> f32 {
    return min(x - k * 0.693359375, 1.0) - k * -2.12194440e-4;
}
// e^x for x in [-104, 89].
fn math_exp_within(x: f32) -> f32 {
    let k = round(x * 1.44269504);
    return math_scale(1.0 + math_expm1_core(math_reduce_ln2(x, k)), i32(k));
}
fn f_exp(x: f32) -> f32 {
    return select(math_exp_within(clamp(x, -104.0, 89.0)), x, math_is_nan(x));
}
// e^(-a^2 s) for a in [0, 16] and s = 1/2 or 1. The square is taken in two
// parts: one rounding of it would cost 2^-24 a^2 of relative error.
fn math_exp_minus_square(a: f32, s: f32) -> f32 {
    let high = bitcast<f32>(bitcast<u32>(a) & 0xfffff000u);
    let square = -s * high * high;
    let rest = -s * (a - high) * (a + high);
    let clamped = max(square, -104.0);
    let k = round(clamped * 1.44269504);
    return math_scale(1.0 + math_expm1_core(math_reduce_ln2(clamped, k) + rest), i32(k));
}
fn f_exp2(x: f32) -> f32 {
    let within = clamp(x, -151.0, 129.0);
    let k = round(within);
    let y = math_scale(1.0 + math_expm1_core((within - k) * 0.693147181), i32(k));
    return select(y, x, math_is_nan(x));
}
fn f_expm1(x: f32) -> f32 {
    let within = clamp(x, -20.0, 89.0);
    let k = round(within * 1.44269504);
    let p = math_expm1_core(math_reduce_ln2(within, k));
    // 2^k (p + 1) - 1, with 2^(k-1) so that k = 128 does not overflow early.
    let half = bitcast<f32>((i32(k) + 126) << 23u);
    let y = select((half * p + (half - 0.5)) * 2.0, p, k == 0.0);
    return select(y, x, math_is_nan(x));
}

// x = (1 + f) 2^e with 1 + f in [sqrt(1/2), sqrt(2)), for x > 0; subnormals are
// read as integers, since arithmetic may flush them.
struct MathSplit { f: f32, e: f32 }
fn math_split(x: f32) -> MathSplit {
    let bits = bitcast<u32>(x);
    let small = bits < 0x00800000u;
    let b = bitcast<i32>(select(bits, bitcast<u32>(f32(bits)), small));
    let e = (b - 0x3f3504f3) >> 23u;
    return MathSplit(bitcast<f32>(b - (e << 23u)) - 1.0, f32(e + select(0, -149, small)));
}
// log(1 + f) - f for 1 + f in [sqrt(1/2), sqrt(2)).
fn math_log1p_core(f: f32) -> f32 {
    let p = (((((((7.0376836292e-2 * f - 1.1514610310e-1) * f + 1.1676998740e-1) * f
        - 1.2420140846e-1) * f + 1.4249322787e-1) * f - 1.6668057665e-1) * f
        + 2.0000714765e-1) * f - 2.4999993993e-1) * f + 3.3333331174e-1;
    let z = f * f;
    return p * f * z - 0.5 * z;
}
fn math_log_of(s: MathSplit) -> f32 {
    return s.e * 0.693359375 + (s.f + (math_log1p_core(s.f) + s.e * -2.12194440e-4));
}
// Puts right what a logarithm of x is outside the positive finite numbers.
fn math_log_edges(x: f32, y: f32) -> f32 {
    let bits = bitcast<u32>(x);
    let negative = select(math_from_bits(0x7fc00000u), math_from_bits(0xff800000u), bits == 0x80000000u);
    let edge = select(x, math_from_bits(0xff800000u), bits == 0u);
    return select(select(y, edge, bits == 0u || bits >= 0x7f800000u), negative, bits >= 0x80000000u);
}
fn f_log(x: f32) -> f32 { return math_log_edges(x, math_log_of(math_split(x))); }
fn f_log2(x: f32) -> f32 {
    let s = math_split(x);
    return math_log_edges(x, (s.f + math_log1p_core(s.f)) * 1.44269504 + s.e);
}
// Near 0 x itself is the reduced argument; elsewhere rounding 1 + x costs less
// than 2 ULP of a result of at least 0.34.
fn f_log1p(x: f32) -> f32 {
    let u = 1.0 + x;
    let near = x > -0.2928932 && x < 0.4142135;
    var s = math_split(u);
    s.f = select(s.f, x, near);
    s.e = select(s.e, 0.0, near);
    return math_log_edges(u, math_log_of(s));
}

// ---- sigmoid family: every exponential is of a number <= 0 ----

fn f_sigmoid(x: f32) -> f32 {
    let e = math_exp_within(max(-math_magnitude(x), -104.0));
    let y = select(1.0, e, x < 0.0) / (1.0 + e);
    return select(y, x, math_is_nan(x));
}
fn f_sigmoid_derivative(x: f32, y: f32) -> f32 { return y * (1.0 - y); }
// The limit at -inf is 0, which the product would miss.
fn f_silu(x: f32) -> f32 {
    let within = max(x, -110.0);
    return select(within * f_sigmoid(within), x, math_is_nan(x));
}
fn f_silu_derivative(x: f32, y: f32) -> f32 {
    let within = clamp(x, -110.0, 110.0);
    let s = f_sigmoid(within);
    let d = s * (1.0 + within * f_sigmoid(-within));
    return select(d, x, math_is_nan(x));
}
// Cephes tanhf: a polynomial below 0.625, the exponential above.
fn f_tanh(x: f32) -> f32 {
    let a = math_magnitude(x);
    let z = min(a * a, 1.0);
    let p = (((-5.70498872745e-3 * z + 2.06390887954e-2) * z - 5.37397155531e-2) * z
        + 1.33314422036e-1) * z - 3.33332819422e-1;
    let near = x * z * p + x;
    let far = 1.0 - 2.0 / (math_exp_within(2.0 * min(a, 10.0)) + 1.0);
    let y = select(math_with_sign_of(far, x), near, a < 0.625);
    return select(y, x, math_is_nan(x));
}
fn f_tanh_derivative(x: f32, y: f32) -> f32 { return (1.0 - y) * (1.0 + y); }
fn f_softplus(x: f32, beta: f32, threshold: f32) -> f32 {
    let z = beta * x;
    let y = (max(z, 0.0) + f_log1p(math_exp_within(max(-math_magnitude(z), -104.0)))) / beta;
    return select(y, x, z > threshold || math_is_nan(x));
}
fn f_softplus_derivative(x: f32, y: f32, beta: f32, threshold: f32) -> f32 {
    let z = beta * x;
    return select(f_sigmoid(z), 1.0, z > threshold);
}
fn f_elu(x: f32, alpha: f32) -> f32 {
    return select(x, alpha * f_expm1(min(x, 0.0)), x < 0.0);
}
fn f_elu_derivative(x: f32, y: f32, alpha: f32) -> f32 {
    return select(select(1.0, alpha * f_exp(min(x, 0.0)), x <= 0.0), x, math_is_nan(x));
}

// ---- error function and gelu ----

// N. Juffa's erff: two polynomials, the second inside an exponential.
fn f_erf(x: f32) -> f32 {
    let a = min(math_magnitude(x), 4.0);
    let s = a * a;
    let near = (((((-5.96761703e-4 * s + 4.99119423e-3) * s - 2.67681349e-2) * s
        + 1.12819925e-1) * s - 3.76125336e-1) * s + 1.28379166e-1) * x + x;
    let p = (-1.72853470e-5 * a + 3.83197126e-4) * s + (-3.88396438e-3 * a + 2.42546219e-2);
    let q = ((p * a - 1.06777877e-1) * a - 6.34846687e-1) * a - 1.28717512e-1;
    let far = 1.0 - math_exp_within(q * a - a);
    let y = select(math_with_sign_of(far, x), near, math_magnitude(x) <= 0.927734375);
    return select(y, x, math_is_nan(x));
}
fn f_erf_derivative(x: f32, y: f32) -> f32 {
    let d = 1.12837917 * math_exp_minus_square(min(math_magnitude(x), 15.0), 1.0);
    return select(d, x, math_is_nan(x));
}
// The normal distribution's upper tail divided by exp(-a^2/2): a Chebyshev fit
// in t = 1/(1 + 0.3 a) over a in [0, 15], relative error 1.4e-8.
fn math_normal_tail_ratio(a: f32) -> f32 {
    let t = 1.0 / (1.0 + 0.3 * a);
    let p = ((((-0.02098466936 * t + 0.1144021119) * t - 0.2328354831) * t + 0.1979216441) * t
        - 0.08448128252) * t + 0.09883084131;
    return ((((p * t + 0.07748577065) * t + 0.1104231966) * t + 0.1195501183) * t + 0.1196877502) * t;
}
fn f_gelu_erf(x: f32) -> f32 {
    let a = min(math_magnitude(x), 15.0);
    // a * ratio is at most 0.4: multiplied first, a tail that is still a normal
    // number is not lost on the way.
    let below = (a * math_normal_tail_ratio(a)) * math_exp_minus_square(a, 0.5);
    return select(max(x, 0.0) - below, x, math_is_nan(x));
}
fn f_gelu_erf_derivative(x: f32, y: f32) -> f32 {
    let a = min(math_magnitude(x), 15.0);
    // tail and density share the exponential: d(-a) = e (ratio - a / sqrt(2 pi)).
    let e = math_exp_minus_square(a, 0.5);
    let below = e * (math_normal_tail_ratio(a) - 0.398942280 * a);
    return select(select(1.0 - below, below, x < 0.0), x, math_is_nan(x));
}
fn f_gelu_tanh(x: f32) -> f32 {
    let within = clamp(x, -20.0, 20.0);
    let z = within * (1.59576912 + 0.0713548163 * within * within);
    return select(max(x, -20.0) * f_sigmoid(z), x, math_is_nan(x));
}
fn f_gelu_tanh_derivative(x: f32, y: f32) -> f32 {
    let within = clamp(x, -20.0, 20.0);
    let square = within * within;
    let z = within * (1.59576912 + 0.0713548163 * square);
    let slope = 1.59576912 + 0.214064449 * square;
    let s = f_sigmoid(z);
    return select(s * (1.0 + within * slope * f_sigmoid(-z)), x, math_is_nan(x));
}

// ---- trigonometry ----

// x = quadrant * pi/2 + r, |r| <= pi/4, quadrant modulo 4.
struct MathAngle { r: f32, quadrant: u32 }

fn math_multiply_wide(a: u32, b: u32) -> vec2<u32> {
    let al = a & 0xffffu;
    let ah = a >> 16u;
    let bl = b & 0xffffu;
    let bh = b >> 16u;
    let ll = al * bl;
    let lh = al * bh;
    let hl = ah * bl;
    let middle = (ll >> 16u) + (lh & 0xffffu) + (hl & 0xffffu);
    let low = (ll & 0xffffu) | (middle << 16u);
    return vec2<u32>(low, ah * bh + (lh >> 16u) + (hl >> 16u) + (middle >> 16u));
}
// Payne and Hanek, for a finite magnitude of at least 1: 96 bits of 1/(2 pi),
// chosen by the exponent, times the mantissa, give the turn modulo 1.
fn math_reduce_far(bits: u32) -> MathAngle {
    let mantissa = ((bits & 0x007fffffu) << 8u) | 0x80000000u;
    let position = (bits >> 23u) - 126u;
    let shift = position & 31u;
    var w = vec4<u32>(0u, 0x28be60dbu, 0x9391054au, 0x7f09d5f4u);
    switch position >> 5u {
        case 1u: { w = vec4<u32>(0x28be60dbu, 0x9391054au, 0x7f09d5f4u, 0x7d4d3770u); }
        case 2u: { w = vec4<u32>(0x9391054au, 0x7f09d5f4u, 0x7d4d3770u, 0x36d8a566u); }
        case 3u: { w = vec4<u32>(0x7f09d5f4u, 0x7d4d3770u, 0x36d8a566u, 0x4f10e410u); }
        case 4u: { w = vec4<u32>(0x7d4d3770u, 0x36d8a566u, 0x4f10e410u, 0x7f9458eau); }
        default: {}
    }
    // A shift by 32 is undefined: shift the neighbour by 1 and then by 31 - shift.
    let high = (w.x << shift) | ((w.y >> 1u) >> (31u - shift));
    let middle = (w.y << shift) | ((w.z >> 1u) >> (31u - shift));
    let low = (w.z << shift) | ((w.w >> 1u) >> (31u - shift));
    let m = math_multiply_wide(mantissa, middle);
    let turn_low = m.x + math_multiply_wide(mantissa, low).y;
    let turn_high = mantissa * high + m.y + select(0u, 1u, turn_low < m.x);

    // The top two bits count quarter turns; the rest is rounded to the nearest.
    let negative = (turn_high & 0x20000000u) != 0u;
    let quadrant = ((turn_high >> 30u) + select(0u, 1u, negative)) & 3u;
    var f_low = select(turn_low, ~turn_low + 1u, negative);
    var f_high = (select(turn_high, ~turn_high + select(0u, 1u, turn_low == 0u), negative)) & 0x3fffffffu;
    var exponent = 97u;
    if f_high == 0u {
        f_high = f_low;
        f_low = 0u;
        exponent = 65u;
    }
    let zeros = min(countLeadingZeros(f_high), 31u);
    let top = (f_high << zeros) | ((f_low >> 1u) >> (31u - zeros));
    let r = f32(top) * 1.57079633 * bitcast<f32>((exponent - zeros) << 23u);
    return MathAngle(select(r, -r, negative), quadrant);
}
// Cody and Waite with pi/2 in pieces of 13, 13, 13 and 24 bits while the
// quotient has 11 bits: the first three products are exact.
fn math_reduce(x: f32) -> MathAngle {
    let bits = bitcast<u32>(x) & 0x7fffffffu;
    if bits > 0x4548f000u && bits < 0x7f800000u {
        let far = math_reduce_far(bits);
        if math_is_negative(x) {
            return MathAngle(-far.r, (4u - far.quadrant) & 3u);
        }
        return far;
    }
    let k = round(x * 0.636619772);
    let r1 = min(x - k * 1.570556640625, 2.0);
    let r2 = min(r1 - k * 2.396702766418457e-4, 2.0);
    let r3 = min(r2 - k * 1.5890691429376602e-8, 2.0);
    return MathAngle(r3 - k * 2.5633440682570896e-12, bitcast<u32>(i32(k)) & 3u);
}
// Cephes sinf and cosf on |r| <= pi/4.
fn math_sin_core(r: f32) -> f32 {
    let z = r * r;
    return ((-1.9515295891e-4 * z + 8.3321608736e-3) * z - 1.6666654611e-1) * z * r + r;
}
fn math_cos_core(r: f32) -> f32 {
    let z = r * r;
    return ((2.443315711809948e-5 * z - 1.388731625493765e-3) * z + 4.166664568298827e-2) * z * z
        - 0.5 * z + 1.0;
}
fn math_sin_in(angle: MathAngle, quadrant: u32) -> f32 {
    let y = select(math_sin_core(angle.r), math_cos_core(angle.r), (quadrant & 1u) == 1u);
    return select(y, -y, (quadrant & 2u) == 2u);
}
fn math_is_finite(x: f32) -> bool { return (bitcast<u32>(x) & 0x7fffffffu) < 0x7f800000u; }
fn f_sin(x: f32) -> f32 {
    let angle = math_reduce(x);
    return select(math_nan(), math_sin_in(angle, angle.quadrant), math_is_finite(x));
}
fn f_cos(x: f32) -> f32 {
    let angle = math_reduce(x);
    return select(math_nan(), math_sin_in(angle, angle.quadrant + 1u), math_is_finite(x));
}
fn f_tan(x: f32) -> f32 {
    let angle = math_reduce(x);
    let z = angle.r * angle.r;
    let p = ((((9.38540185543e-3 * z + 3.11992232697e-3) * z + 2.44301354525e-2) * z
        + 5.34112807005e-2) * z + 1.33387994085e-1) * z + 3.33331568548e-1;
    let t = p * z * angle.r + angle.r;
    let y = select(t, -1.0 / t, (angle.quadrant & 1u) == 1u);
    return select(math_nan(), y, math_is_finite(x));
}

// ---- roots, reciprocals, signs, rounding, order ----

fn f_sqrt(x: f32) -> f32 {
    let bits = bitcast<u32>(x);
    let kept = (bits & 0x7fffffffu) == 0u || bits >= 0x7f800000u;
    let edge = select(x, math_nan(), bits > 0x80000000u);
    return select(sqrt(x), edge, kept);
}
fn f_rsqrt(x: f32) -> f32 {
    let bits = bitcast<u32>(x);
    let zero = (bits & 0x7fffffffu) == 0u;
    let root = select(inverseSqrt(x), 0.0, bits == 0x7f800000u);
    let edge = select(math_nan(), math_with_sign_of(math_from_bits(0x7f800000u), x), zero);
    return select(root, edge, zero || bits > 0x7f800000u);
}
fn f_reciprocal(x: f32) -> f32 { return 1.0 / x; }
fn f_neg(x: f32) -> f32 { return bitcast<f32>(bitcast<u32>(x) ^ 0x80000000u); }
fn f_abs(x: f32) -> f32 { return math_magnitude(x); }
fn f_sign(x: f32) -> f32 {
    let kept = (bitcast<u32>(x) & 0x7fffffffu) == 0u || math_is_nan(x);
    return select(math_with_sign_of(1.0, x), x, kept);
}
fn f_floor(x: f32) -> f32 { return select(floor(x), x, math_is_nan(x)); }
fn f_ceil(x: f32) -> f32 { return select(ceil(x), x, math_is_nan(x)); }
fn f_round(x: f32) -> f32 { return select(round(x), x, math_is_nan(x)); }
fn f_trunc(x: f32) -> f32 { return select(trunc(x), x, math_is_nan(x)); }
fn f_square(x: f32) -> f32 { return x * x; }
fn f_relu(x: f32) -> f32 {
    let bits = bitcast<u32>(x);
    return bitcast<f32>(select(bits, 0u, bits >= 0x80000000u && bits <= 0xff800000u));
}
fn f_clamp(x: f32, low: f32, high: f32) -> f32 { return f_min(f_max(x, low), high); }

fn math_positive_or_nan(x: f32) -> f32 {
    return select(select(0.0, 1.0, math_order(x) > 0), x, math_is_nan(x));
}
fn f_relu_derivative(x: f32, y: f32) -> f32 { return math_positive_or_nan(x); }
fn f_exp_derivative(x: f32, y: f32) -> f32 { return y; }
fn f_exp2_derivative(x: f32, y: f32) -> f32 { return y * 0.693147181; }
fn f_expm1_derivative(x: f32, y: f32) -> f32 { return f_exp(x); }
fn f_log_derivative(x: f32, y: f32) -> f32 { return 1.0 / x; }
fn f_log2_derivative(x: f32, y: f32) -> f32 { return 1.44269504 / x; }
fn f_log1p_derivative(x: f32, y: f32) -> f32 { return 1.0 / (1.0 + x); }
fn f_sin_derivative(x: f32, y: f32) -> f32 { return f_cos(x); }
fn f_cos_derivative(x: f32, y: f32) -> f32 { return -f_sin(x); }
fn f_tan_derivative(x: f32, y: f32) -> f32 { return 1.0 + y * y; }
fn f_sqrt_derivative(x: f32, y: f32) -> f32 { return 0.5 / y; }
fn f_rsqrt_derivative(x: f32, y: f32) -> f32 { return -0.5 * y * y * y; }
fn f_reciprocal_derivative(x: f32, y: f32) -> f32 { return -y * y; }
fn f_neg_derivative(x: f32, y: f32) -> f32 { return -1.0; }
fn f_abs_derivative(x: f32, y: f32) -> f32 {
    return select(f_sign(x), 0.0, (bitcast<u32>(x) & 0x7fffffffu) == 0u);
}
fn f_sign_derivative(x: f32, y: f32) -> f32 { return 0.0; }
fn f_floor_derivative(x: f32, y: f32) -> f32 { return 0.0; }
fn f_ceil_derivative(x: f32, y: f32) -> f32 { return 0.0; }
fn f_round_derivative(x: f32, y: f32) -> f32 { return 0.0; }
fn f_trunc_derivative(x: f32, y: f32) -> f32 { return 0.0; }
fn f_square_derivative(x: f32, y: f32) -> f32 { return 2.0 * x; }
fn f_clamp_derivative(x: f32, y: f32, low: f32, high: f32) -> f32 {
    return select(0.0, 1.0, f_ge(x, low) == 1u && f_le(x, high) == 1u);
}

// ---- two operands ----

fn f_add(a: f32, b: f32) -> f32 { return a + b; }
fn f_sub(a: f32, b: f32) -> f32 { return a - b; }
fn f_mul(a: f32, b: f32) -> f32 { return a * b; }
// WGSL promises division only for divisors up to 2^126: larger ones are scaled.
fn f_div(a: f32, b: f32) -> f32 {
    let s = select(1.0, 0.25, (bitcast<u32>(b) & 0x7fffffffu) > 0x7e000000u);
    return (a * s) / (b * s);
}
// C's fmod: exact, by long division of the integer mantissas, 8 bits a step.
fn f_rem(a: f32, b: f32) -> f32 {
    let a_bits = bitcast<u32>(a) & 0x7fffffffu;
    let b_bits = bitcast<u32>(b) & 0x7fffffffu;
    if a_bits >= 0x7f800000u || b_bits > 0x7f800000u || b_bits == 0u {
        return math_nan();
    }
    if a_bits < b_bits {
        return a;
    }
    let a_exponent = max(a_bits >> 23u, 1u);
    let b_exponent = max(b_bits >> 23u, 1u);
    let divisor = (b_bits & 0x007fffffu) | select(0u, 0x00800000u, b_bits >= 0x00800000u);
    var rest = ((a_bits & 0x007fffffu) | select(0u, 0x00800000u, a_bits >= 0x00800000u)) % divisor;
    var steps = a_exponent - b_exponent;
    while steps > 0u && rest != 0u {
        let step = min(steps, 8u);
        rest = (rest << step) % divisor;
        steps -= step;
    }
    // rest * 2^(b_exponent - 150), as far up as its exponent allows.
    let shift = min(countLeadingZeros(rest) - 8u, b_exponent - 1u);
    let mantissa = rest << min(shift, 24u);
    let normal = mantissa + ((b_exponent - shift - 1u) << 23u);
    let bits = select(normal, 0u, rest == 0u);
    return bitcast<f32>(bits | (bitcast<u32>(a) & 0x80000000u));
}
fn f_min(a: f32, b: f32) -> f32 {
    let y = select(b, a, math_total_order(a) <= math_total_order(b));
    return select(select(y, b, math_is_nan(b)), a, math_is_nan(a));
}
fn f_max(a: f32, b: f32) -> f32 {
    let y = select(b, a, math_total_order(a) >= math_total_order(b));
    return select(select(y, b, math_is_nan(b)), a, math_is_nan(a));
}

// 0: not an integer, 1: odd, 2: even. Infinities count as even.
fn math_parity(y: f32) -> u32 {
    let a = math_magnitude(y);
    if bitcast<u32>(a) >= 0x4b800000u {
        return 2u;
    }
    let whole = trunc(a);
    if bitcast<u32>(whole) != bitcast<u32>(a) {
        return 0u;
    }
    return 2u - (u32(whole) & 1u);
}
fn math_high_half(x: f32) -> f32 { return bitcast<f32>(bitcast<u32>(x) & 0xfffff000u); }
// x^y for finite x > 0 and finite y, after FreeBSD's e_powf.c (Sun
// Microsystems, 1993): the logarithm is carried in two floats.
fn math_pow_positive(x: f32, y_given: f32) -> f32 {
    // |log2 x| is 0 or at least 2^-25: beyond 2^33 every power is 0, 1 or inf.
    let y = clamp(y_given, -8589934592.0, 8589934592.0);
    let x_bits = bitcast<u32>(x);
    let small = x_bits < 0x00800000u;
    let b = select(x_bits, bitcast<u32>(f32(x_bits)), small);
    let j = b & 0x007fffffu;
    let middle = j > 0x001cc471u && j < 0x005db3d7u;
    let above = j >= 0x005db3d7u;
    let n = f32(i32(b >> 23u) - 127 + select(0, 1, above) - select(0, 149, small));
    let m_bits = (j | 0x3f800000u) - select(0u, 0x00800000u, above);
    let m = bitcast<f32>(m_bits);
    let base = select(1.0, 1.5, middle);
    let dp_high = select(0.0, 5.84960938e-1, middle);
    let dp_low = select(0.0, 1.56322085e-6, middle);

    // s = (m - base) / (m + base) = s_high + s_low.
    let u = m - base;
    let v = 1.0 / (m + base);
    let s = u * v;
    let s_high = math_high_half(s);
    let t_high = bitcast<f32>((((m_bits >> 1u) & 0xfffff000u) | 0x20000000u) + 0x00400000u
        + select(0u, 0x00200000u, middle));
    let t_low = m - min(t_high - base, 4.0);
    let s_low = v * (min(u - s_high * t_high, 4.0) - s_high * t_low);

    // log(m) - log(base) = 2 s + 2/3 s^3 + ..., in units of 2/3 s.
    let s2 = s * s;
    let r = s2 * s2 * (0.60000002384 + s2 * (0.42857143283 + s2 * (0.33333334327
        + s2 * (0.27272811532 + s2 * (0.23066075146 + s2 * 0.20697501302)))))
        + s_low * (s_high + s);
    let h2 = s_high * s_high;
    let q_high = math_high_half(3.0 + h2 + r);
    let q_low = r - (min(q_high - 3.0, 4.0) - h2);
    let product = s_high * q_high;
    let product_low = s_low * q_high + q_low * s;
    let p_high = math_high_half(product + product_low);
    let p_low = product_low - min(p_high - product, 4.0);

    // log2(x) = l_high + l_low; 0.9619... = 2 / (3 ln 2).
    let z_high = 9.6191406250e-1 * p_high;
    let z_low = -1.1736857402e-4 * p_high + p_low * 9.6179670095e-1 + dp_low;
    let l_high = math_high_half(((z_high + z_low) + dp_high) + n);
    let l_low = z_low - min(min(min(l_high - n, 256.0) - dp_high, 256.0) - z_high, 256.0);

    let y_high = math_high_half(y);
    let w_low = (y - y_high) * l_high + y * l_low;
    let w_high = y_high * l_high;
    let k = round(clamp(w_high + w_low, -300.0, 300.0));
    let f = clamp(min(w_high - k, 2.0) + w_low, -1.0, 1.0);
    return math_scale(1.0 + math_expm1_core(f * 0.693147181), i32(k));
}
// C99's special cases; NaN for a negative x and a y that is no integer.
fn f_pow(x: f32, y: f32) -> f32 {
    let a_bits = bitcast<u32>(x) & 0x7fffffffu;
    let y_bits = bitcast<u32>(y) & 0x7fffffffu;
    if y_bits == 0u || bitcast<u32>(x) == 0x3f800000u {
        return 1.0;
    }
    if a_bits > 0x7f800000u || y_bits > 0x7f800000u {
        return math_nan();
    }
    if bitcast<u32>(y) == 0x3f800000u {
        return x;
    }
    if bitcast<u32>(y) == 0x40000000u {
        return x * x;
    }
    let parity = math_parity(y);
    let edge = a_bits == 0u || a_bits == 0x7f800000u || y_bits == 0x7f800000u;
    let negative = math_is_negative(x);
    if negative && parity == 0u && !edge {
        return math_nan();
    }
    let grows = (a_bits > 0x3f800000u) != math_is_negative(y);
    let limit = select(select(0.0, math_from_bits(0x7f800000u), grows), 1.0, a_bits == 0x3f800000u);
    let finite = select(math_pow_positive(bitcast<f32>(a_bits), y), 1.0, a_bits == 0x3f800000u);
    let magnitude = select(finite, limit, edge);
    return select(magnitude, -magnitude, negative && parity == 1u);
}

fn f_add_derivative_a(a: f32, b: f32, y: f32) -> f32 { return 1.0; }
fn f_add_derivative_b(a: f32, b: f32, y: f32) -> f32 { return 1.0; }
fn f_sub_derivative_a(a: f32, b: f32, y: f32) -> f32 { return 1.0; }
fn f_sub_derivative_b(a: f32, b: f32, y: f32) -> f32 { return -1.0; }
fn f_mul_derivative_a(a: f32, b: f32, y: f32) -> f32 { return b; }
fn f_mul_derivative_b(a: f32, b: f32, y: f32) -> f32 { return a; }
fn f_div_derivative_a(a: f32, b: f32, y: f32) -> f32 { return 1.0 / b; }
fn f_div_derivative_b(a: f32, b: f32, y: f32) -> f32 { return f_div(-y, b); }
fn f_rem_derivative_a(a: f32, b: f32, y: f32) -> f32 { return 1.0; }
// The quotient that the remainder belongs to, a whole number.
fn f_rem_derivative_b(a: f32, b: f32, y: f32) -> f32 { return -round(f_div(a - y, b)); }
// A tie gives half to each; a NaN passes the gradient to both, as in PyTorch.
fn f_min_derivative_a(a: f32, b: f32, y: f32) -> f32 {
    return select(select(1.0, 0.5, f_eq(a, b) == 1u), 0.0, f_gt(a, b) == 1u);
}
fn f_min_derivative_b(a: f32, b: f32, y: f32) -> f32 { return f_min_derivative_a(b, a, y); }
fn f_max_derivative_a(a: f32, b: f32, y: f32) -> f32 {
    return select(select(1.0, 0.5, f_eq(a, b) == 1u), 0.0, f_lt(a, b) == 1u);
}
fn f_max_derivative_b(a: f32, b: f32, y: f32) -> f32 { return f_max_derivative_a(b, a, y); }
// The sign comes from b itself: b - 1 is rounded.
fn f_pow_derivative_a(a: f32, b: f32, y: f32) -> f32 {
    let parity = math_parity(b);
    let magnitude = b * f_pow(math_magnitude(a), b - 1.0);
    let negative = math_is_negative(a);
    let d = select(magnitude, -magnitude, negative && parity == 2u && math_is_finite(b));
    let undefined = negative && parity == 0u && math_is_finite(a) && f_ne(a, 0.0) == 1u;
    // Subnormal exponents count as 0: the product would, on a device that flushes.
    let zero = (bitcast<u32>(b) & 0x7f800000u) == 0u;
    return select(select(d, math_nan(), undefined), 0.0, zero);
}
fn f_pow_derivative_b(a: f32, b: f32, y: f32) -> f32 {
    let zero = f_eq(a, 0.0) == 1u && f_ge(b, 0.0) == 1u;
    return select(y * f_log(a), 0.0, zero);
}

fn math_ordered(a: f32, b: f32) -> bool { return !math_is_nan(a) && !math_is_nan(b); }
fn f_eq(a: f32, b: f32) -> u32 { return select(0u, 1u, math_ordered(a, b) && math_order(a) == math_order(b)); }
fn f_ne(a: f32, b: f32) -> u32 { return 1u - f_eq(a, b); }
fn f_lt(a: f32, b: f32) -> u32 { return select(0u, 1u, math_ordered(a, b) && math_order(a) < math_order(b)); }
fn f_le(a: f32, b: f32) -> u32 { return select(0u, 1u, math_ordered(a, b) && math_order(a) <= math_order(b)); }
fn f_gt(a: f32, b: f32) -> u32 { return f_lt(b, a); }
fn f_ge(a: f32, b: f32) -> u32 { return f_le(b, a); }

// ---- integers: wrapping; division as WGSL defines it, guarded here ----

fn i_neg(x: i32) -> i32 { return 0 - x; }
fn i_abs(x: i32) -> i32 { return select(x, 0 - x, x < 0); }
fn i_sign(x: i32) -> i32 { return select(select(0, 1, x > 0), -1, x < 0); }
fn i_square(x: i32) -> i32 { return x * x; }
fn i_clamp(x: i32, low: i32, high: i32) -> i32 { return min(max(x, low), high); }
fn i_bit_not(x: i32) -> i32 { return ~x; }
fn u_neg(x: u32) -> u32 { return 0u - x; }
fn u_abs(x: u32) -> u32 { return x; }
fn u_sign(x: u32) -> u32 { return select(0u, 1u, x > 0u); }
fn u_square(x: u32) -> u32 { return x * x; }
fn u_clamp(x: u32, low: u32, high: u32) -> u32 { return min(max(x, low), high); }
fn u_bit_not(x: u32) -> u32 { return ~x; }

fn i_add(a: i32, b: i32) -> i32 { return a + b; }
fn i_sub(a: i32, b: i32) -> i32 { return a - b; }
fn i_mul(a: i32, b: i32) -> i32 { return a * b; }
// x/0 = x and MIN/-1 = MIN: both are division by 1.
fn math_safe_divisor(a: i32, b: i32) -> i32 {
    let overflows = a == i32(-2147483647 - 1) && b == -1;
    return select(b, 1, b == 0 || overflows);
}
fn i_div(a: i32, b: i32) -> i32 { return a / math_safe_divisor(a, b); }
fn i_rem(a: i32, b: i32) -> i32 { return a - i_div(a, b) * math_safe_divisor(a, b); }
fn i_min(a: i32, b: i32) -> i32 { return min(a, b); }
fn i_max(a: i32, b: i32) -> i32 { return max(a, b); }
fn u_add(a: u32, b: u32) -> u32 { return a + b; }
fn u_sub(a: u32, b: u32) -> u32 { return a - b; }
fn u_mul(a: u32, b: u32) -> u32 { return a * b; }
fn u_div(a: u32, b: u32) -> u32 { return a / select(b, 1u, b == 0u); }
fn u_rem(a: u32, b: u32) -> u32 { return a % select(b, 1u, b == 0u); }
fn u_min(a: u32, b: u32) -> u32 { return min(a, b); }
fn u_max(a: u32, b: u32) -> u32 { return max(a, b); }
fn u_pow(a: u32, b: u32) -> u32 {
    var result = 1u;
    var factor = a;
    var rest = b;
    for (var i = 0u; i < 32u && rest != 0u; i++) {
        result *= select(1u, factor, (rest & 1u) == 1u);
        factor *= factor;
        rest >>= 1u;
    }
    return result;
}
// A negative power of an integer is 0, but for 1 and -1.
fn i_pow(a: i32, b: i32) -> i32 {
    let power = bitcast<i32>(u_pow(bitcast<u32>(a), bitcast<u32>(b)));
    let unit = a == 1 || a == -1;
    return select(select(power, 0, b < 0), power, unit);
}
fn i_bit_and(a: i32, b: i32) -> i32 { return a & b; }
fn i_bit_or(a: i32, b: i32) -> i32 { return a | b; }
fn i_bit_xor(a: i32, b: i32) -> i32 { return a ^ b; }
fn i_shift_left(a: i32, b: i32) -> i32 { return a << (bitcast<u32>(b) & 31u); }
fn i_shift_right(a: i32, b: i32) -> i32 { return a >> (bitcast<u32>(b) & 31u); }
fn u_bit_and(a: u32, b: u32) -> u32 { return a & b; }
fn u_bit_or(a: u32, b: u32) -> u32 { return a | b; }
fn u_bit_xor(a: u32, b: u32) -> u32 { return a ^ b; }
fn u_shift_left(a: u32, b: u32) -> u32 { return a << (b & 31u); }
fn u_shift_right(a: u32, b: u32) -> u32 { return a >> (b & 31u); }
fn i_eq(a: i32, b: i32) -> u32 { return select(0u, 1u, a == b); }
fn i_ne(a: i32, b: i32) -> u32 { return select(0u, 1u, a != b); }
fn i_lt(a: i32, b: i32) -> u32 { return select(0u, 1u, a < b); }
fn i_le(a: i32, b: i32) -> u32 { return select(0u, 1u, a <= b); }
fn i_gt(a: i32, b: i32) -> u32 { return select(0u, 1u, a > b); }
fn i_ge(a: i32, b: i32) -> u32 { return select(0u, 1u, a >= b); }
fn u_eq(a: u32, b: u32) -> u32 { return select(0u, 1u, a == b); }
fn u_ne(a: u32, b: u32) -> u32 { return select(0u, 1u, a != b); }
fn u_lt(a: u32, b: u32) -> u32 { return select(0u, 1u, a < b); }
fn u_le(a: u32, b: u32) -> u32 { return select(0u, 1u, a <= b); }
fn u_gt(a: u32, b: u32) -> u32 { return select(0u, 1u, a > b); }
fn u_ge(a: u32, b: u32) -> u32 { return select(0u, 1u, a >= b); }
