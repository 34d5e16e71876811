// Loads of single 16-bit elements, two to a word.

import super::storage::data;
import super::half::decode;

const PER_WORD: u32 = 2u;

fn load(i: u32) -> f32 {
    return decode(load_bits(i));
}

fn load_bits(i: u32) -> u32 {
    return (data[i >> 1u] >> ((i & 1u) * 16u)) & 0xffffu;
}
