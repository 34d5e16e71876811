// Blocks of 4 x 4 of a factor whose neighbours in memory follow each other along
// the summed axis: op(a) of a row-major a, op(b) of a transposed b.
//
// A block is given as four quads across (along m or n), one for each depth.

import super::load::{four, four_of};

// Where the block's four rows start. Rows beyond `last` repeat it: what is
// computed from them is never stored.
fn start(ld: u32, first: u32, last: u32, depth: u32) -> vec4<u32> {
    return min(first + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(last)) * ld + depth;
}

fn lanes(first: u32, last: u32) -> vec4<u32> {
    return vec4<u32>(0u, 1u, 2u, 3u);
}

// The step from one depth to the next.
fn advance(ld: u32) -> u32 {
    return 1u;
}

fn fetch(at: vec4<u32>, lanes: vec4<u32>) -> mat4x4<f32> {
    return transpose(mat4x4<f32>(four(at.x, lanes), four(at.y, lanes), four(at.z, lanes), four(at.w, lanes)));
}

// The first `left` depths, zeros for the others. `rows` is 4.
fn fetch_of(at: vec4<u32>, lanes: vec4<u32>, left: u32, rows: u32) -> mat4x4<f32> {
    var block = mat4x4<f32>();
    for (var r = 0u; r < rows; r++) {
        block[r] = four_of(at[r], left);
    }
    return transpose(block);
}
