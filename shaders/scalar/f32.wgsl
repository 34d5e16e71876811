// What f32, f16 and bf16 elements are computed in.

import super::convert::{f32_to_key, key_to_f32, f32_is_nan};

alias Scalar = f32;

fn bits(x: f32) -> u32 {
    return bitcast<u32>(x);
}

fn from_bits(b: u32) -> f32 {
    return bitcast<f32>(b);
}

fn is_nan(x: f32) -> bool {
    return f32_is_nan(bitcast<u32>(x));
}

// Order-preserving: a < b exactly when key(a) < key(b), with -0 below +0.
fn to_key(x: f32) -> u32 {
    return f32_to_key(bitcast<u32>(x));
}

fn from_key(key: u32) -> f32 {
    return bitcast<f32>(key_to_f32(key));
}

// The keys of -inf and +inf.
const LOWEST_KEY: u32 = 0x007fffffu;
const HIGHEST_KEY: u32 = 0xff800000u;

// The key, the same for -0 and +0.
fn to_ordinal(x: f32) -> u32 {
    let b = bitcast<u32>(x);
    return f32_to_key(select(b, 0u, b == 0x80000000u));
}
