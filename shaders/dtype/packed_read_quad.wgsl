// Loads of 16-bit elements, four (two words) at a time.

import super::storage::data;
import super::half::decode;

fn load4(q: u32) -> vec4<f32> {
    let w = data[q];
    return vec4<f32>(
        decode(w.x & 0xffffu), decode(w.x >> 16u),
        decode(w.y & 0xffffu), decode(w.y >> 16u),
    );
}

fn load4_bits(q: u32) -> vec4<u32> {
    let w = data[q];
    return vec4<u32>(w.x & 0xffffu, w.x >> 16u, w.y & 0xffffu, w.y >> 16u);
}

fn load(i: u32) -> f32 {
    return decode(load_bits(i));
}

fn load_bits(i: u32) -> u32 {
    return (data[i >> 2u][(i >> 1u) & 1u] >> ((i & 1u) * 16u)) & 0xffffu;
}
