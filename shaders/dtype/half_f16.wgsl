// f16 in 16 bits, by integer routines: right on adapters without f16.

import super::convert::{f16_to_f32, f32_to_f16};

fn decode(bits: u32) -> f32 {
    return f16_to_f32(bits);
}

fn encode(x: f32) -> u32 {
    return f32_to_f16(x);
}
