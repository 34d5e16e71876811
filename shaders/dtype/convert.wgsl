// Conversions between f32 and the storage dtypes, on integers alone: the
// rounding mode and the treatment of subnormals are the same on every device.
// (SwiftShader's pack2x16float misrounds subnormals and turns overflow into NaN.)

fn f32_is_nan(bits: u32) -> bool { return (bits & 0x7fffffffu) > 0x7f800000u; }

// The low 16 bits are an IEEE half. Exact; a NaN keeps its payload.
fn f16_to_f32(bits: u32) -> f32 {
    let sign = (bits & 0x8000u) << 16u;
    let exponent = (bits >> 10u) & 0x1fu;
    let mantissa = bits & 0x03ffu;
    let normal = ((exponent + 112u) << 23u) | (mantissa << 13u);
    let infinite = 0x7f800000u | (mantissa << 13u);
    // mantissa * 2^-24: the leading bit, at 31 - zeros, becomes the implicit one.
    let zeros = countLeadingZeros(mantissa | 1u);
    let tiny = ((134u - zeros) << 23u) | (((mantissa << (zeros & 31u)) & 0x7fffffffu) >> 8u);
    let small = select(tiny, 0u, mantissa == 0u);
    let magnitude = select(select(normal, small, exponent == 0u), infinite, exponent == 31u);
    return bitcast<f32>(sign | magnitude);
}

// To nearest, ties to even; beyond 65519.99 inf; a NaN stays NaN and becomes quiet.
fn f32_to_f16(x: f32) -> u32 {
    let bits = bitcast<u32>(x);
    let magnitude = bits & 0x7fffffffu;
    let sign = (bits >> 16u) & 0x8000u;
    let normal = (magnitude - 0x38000000u + 0x0fffu + ((magnitude >> 13u) & 1u)) >> 13u;
    // Below 2^-14: the mantissa in units of 2^-24, rounded where the shift cuts.
    let shift = clamp(126u - min(magnitude >> 23u, 126u), 1u, 31u);
    let mantissa = (magnitude & 0x007fffffu) | 0x00800000u;
    let half = (1u << (shift - 1u)) - 1u;
    let small = (mantissa + half + ((mantissa >> shift) & 1u)) >> shift;
    let finite = select(normal, small, magnitude < 0x38800000u);
    let bounded = select(finite, 0x7c00u, magnitude >= 0x477ff000u);
    let nan = 0x7e00u | ((magnitude >> 13u) & 0x03ffu);
    return sign | select(bounded, nan, magnitude > 0x7f800000u);
}

// The low 16 bits are the upper half of an f32. Exact.
fn bf16_to_f32(bits: u32) -> f32 { return bitcast<f32>(bits << 16u); }

// To nearest, ties to even; a NaN stays NaN and becomes quiet.
fn f32_to_bf16(x: f32) -> u32 {
    let bits = bitcast<u32>(x);
    let rounded = (bits + 0x7fffu + ((bits >> 16u) & 1u)) >> 16u;
    return select(rounded, (bits >> 16u) | 0x0040u, f32_is_nan(bits));
}

// Towards zero; saturating; NaN becomes 0.
fn f32_to_u32(x: f32) -> u32 {
    let bits = bitcast<u32>(x);
    let exponent = bits >> 23u; // a set sign makes this at least 256
    let mantissa = (bits & 0x007fffffu) | 0x00800000u;
    let up = mantissa << (min(exponent, 158u) - min(exponent, 150u));
    let down = mantissa >> min(150u - min(exponent, 150u), 31u);
    let value = select(down, up, exponent >= 150u);
    let bounded = select(value, 0xffffffffu, exponent > 158u);
    return select(bounded, 0u, bits >= 0x80000000u || f32_is_nan(bits));
}
fn f32_to_i32(x: f32) -> i32 {
    let bits = bitcast<u32>(x);
    let negative = bits >= 0x80000000u;
    let magnitude = f32_to_u32(bitcast<f32>(bits & 0x7fffffffu));
    let bounded = min(magnitude, select(0x7fffffffu, 0x80000000u, negative));
    return bitcast<i32>(select(bounded, 0u - bounded, negative));
}

// x with its leading one at bit 31 becomes an f32 of 24 bits, chosen by the
// caller; a carry moves on into the exponent.
fn assemble_f32(zeros: u32, mantissa: u32) -> f32 {
    return bitcast<f32>(select(((157u - zeros) << 23u) + mantissa, 0u, zeros == 32u));
}
// To nearest, ties to even.
fn u32_to_f32(x: u32) -> f32 {
    let zeros = countLeadingZeros(x);
    let left = x << (zeros & 31u);
    let up = (left & 0xffu) + ((left >> 8u) & 1u) > 0x80u;
    return assemble_f32(zeros, (left >> 8u) + select(0u, 1u, up));
}
fn i32_to_f32(x: i32) -> f32 {
    let magnitude = u32_to_f32(bitcast<u32>(select(x, 0 - x, x < 0)));
    return select(magnitude, -magnitude, x < 0);
}
// To odd: cut, with the last bit set where anything was cut off. A rounding to
// fewer bits then comes out as if it were the only one.
fn u32_to_f32_odd(x: u32) -> f32 {
    let zeros = countLeadingZeros(x);
    let left = x << (zeros & 31u);
    return assemble_f32(zeros, (left >> 8u) | select(0u, 1u, (left & 0xffu) != 0u));
}
fn i32_to_f32_odd(x: i32) -> f32 {
    let magnitude = u32_to_f32_odd(bitcast<u32>(select(x, 0 - x, x < 0)));
    return select(magnitude, -magnitude, x < 0);
}

// Bits of an f32 to a key that orders as the numbers do, -0 below +0, and back.
// NaN with a set sign comes first, NaN without it last.
fn f32_to_key(bits: u32) -> u32 { return bits ^ select(0x80000000u, 0xffffffffu, bits >= 0x80000000u); }
fn key_to_f32(key: u32) -> u32 { return key ^ select(0xffffffffu, 0x80000000u, key >= 0x80000000u); }
