// Copies a dense tensor to a contiguous view that starts anywhere. Each
// invocation owns one word of the destination; bits beside the view are kept.

import super::config::WORKGROUP;
import super::grid;
import super::x;
import super::y;

struct Params {
    row: u32,
    n: u32,
    offset: u32,
}

@group(0) @binding(0) var<uniform> params: Params;

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let word = grid::index(workgroup, params.row) * WORKGROUP + local + params.offset / y::PER_WORD;
    var v = vec2<u32>();
    var mask = vec2<bool>();
    for (var k = 0u; k < y::PER_WORD; k++) {
        // Below the view this wraps around to a number that is not below n.
        let i = word * y::PER_WORD + k - params.offset;
        if i < params.n {
            v[k] = x::load_bits(i);
            mask[k] = true;
        }
    }
    y::store_word_bits(word, v, mask);
}
