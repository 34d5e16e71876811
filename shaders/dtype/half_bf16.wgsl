// bf16 in 16 bits: the upper half of an f32.

import super::convert::{bf16_to_f32, f32_to_bf16};

fn decode(bits: u32) -> f32 {
    return bf16_to_f32(bits);
}

fn encode(x: f32) -> u32 {
    return f32_to_bf16(x);
}
