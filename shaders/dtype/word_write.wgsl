// Stores of single 32-bit elements.

import super::storage::data;
import super::scalar::Scalar;

const PER_WORD: u32 = 1u;

fn store(i: u32, x: Scalar) {
    data[i] = bitcast<u32>(x);
}

// Word w holds the one element w, written where `mask.x` holds.
fn store_word(w: u32, x: vec2<Scalar>, mask: vec2<bool>) {
    if mask.x {
        data[w] = bitcast<u32>(x.x);
    }
}

fn store_word_bits(w: u32, x: vec2<u32>, mask: vec2<bool>) {
    if mask.x {
        data[w] = x.x;
    }
}
