// Rows of x by their numbers. Each invocation owns one word of the result. What a
// number beyond the rows asks for is zeros; such numbers are counted.

import super::config::WORKGROUP;
import super::grid;
import super::x;
import super::index;
import super::invalid;
import super::y;

struct Params {
    grid_row: u32,
    // Elements of the result, rows of x, and elements of a row.
    n: u32,
    rows: u32,
    columns: u32,
}

@group(0) @binding(0) var<uniform> params: Params;

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let word = grid::index(workgroup, params.grid_row) * WORKGROUP + local;
    var v = vec2<u32>();
    var mask = vec2<bool>();
    for (var k = 0u; k < y::PER_WORD; k++) {
        let i = word * y::PER_WORD + k;
        if i < params.n {
            let column = i % params.columns;
            let row = index::load_bits(i / params.columns);
            mask[k] = true;
            if row < params.rows {
                v[k] = x::load_bits(row * params.columns + column);
            } else if column == 0u {
                atomicAdd(&invalid::data[0], 1u);
            }
        }
    }
    y::store_word_bits(word, v, mask);
}
