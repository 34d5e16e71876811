// Loads of partial results, WORDS words each.

import super::storage::data;
import super::value::{Value, WORDS, unpack};

fn load(i: u32) -> Value {
    var words: array<u32, WORDS>;
    for (var k = 0u; k < WORDS; k++) {
        words[k] = data[i * WORDS + k];
    }
    return unpack(words);
}
