// Stores of 16-bit elements by the owner of their word.

import super::storage::data;
import super::half::encode;

const PER_WORD: u32 = 2u;

// Word w holds elements 2w and 2w + 1; those that the mask leaves out keep their value.
fn store_word(w: u32, x: vec2<f32>, mask: vec2<bool>) {
    store_word_bits(w, vec2<u32>(encode(x.x), encode(x.y)), mask);
}

fn store_word_bits(w: u32, x: vec2<u32>, mask: vec2<bool>) {
    if mask.x && mask.y {
        data[w] = x.x | (x.y << 16u);
    } else if mask.x {
        data[w] = (data[w] & 0xffff0000u) | x.x;
    } else if mask.y {
        data[w] = (data[w] & 0xffffu) | (x.y << 16u);
    }
}
