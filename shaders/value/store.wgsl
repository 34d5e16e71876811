// Stores of partial results, WORDS words each.

import super::storage::data;
import super::value::{Value, WORDS, pack};

fn store(i: u32, v: Value) {
    let words = pack(v);
    for (var k = 0u; k < WORDS; k++) {
        data[i * WORDS + k] = words[k];
    }
}
