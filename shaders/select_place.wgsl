// Copies as many elements, a word each, as a count in memory says, to a
// contiguous view that starts anywhere. Each invocation owns one word of the
// destination; what lies beside those elements is kept.

import super::config::WORKGROUP;
import super::grid;
import super::thread::{Builtins, rank};
import super::x;
import super::total;
import super::y;

struct Params {
    grid_row: u32,
    n: u32,
    // Where in `total` the count is.
    at: u32,
    offset: u32,
}

@group(0) @binding(0) var<uniform> params: Params;

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, t: Builtins) {
    let word = grid::index(workgroup, params.grid_row) * WORKGROUP + rank(t) + params.offset / y::PER_WORD;
    let count = min(total::data[params.at], params.n);
    var v = vec2<u32>();
    var mask = vec2<bool>();
    for (var k = 0u; k < y::PER_WORD; k++) {
        // Below the view this wraps around to a number that is not below the count.
        let i = word * y::PER_WORD + k - params.offset;
        if i < count {
            v[k] = x::data[i];
            mask[k] = true;
        }
    }
    y::store_word_bits(word, v, mask);
}
