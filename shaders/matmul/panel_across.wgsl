// Blocks of 4 x 4 of a factor whose neighbours in memory follow each other across
// the summed axis (along m or n): op(a) of a transposed a, op(b) of a row-major b.
//
// A block is given as four quads across, one for each depth.

import super::load::four;

// Where the block's quads start, at four depths. Columns beyond `last` repeat
// earlier ones: what is computed from them is never stored.
fn start(ld: u32, first: u32, last: u32, depth: u32) -> vec4<u32> {
    return (depth + vec4<u32>(0u, 1u, 2u, 3u)) * ld + min(first, last & 0xfffffffcu);
}

fn lanes(first: u32, last: u32) -> vec4<u32> {
    let column = min(first, last & 0xfffffffcu);
    return min(column + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(last)) - column;
}

// The step from one depth to the next.
fn advance(ld: u32) -> u32 {
    return ld;
}

fn fetch(at: vec4<u32>, lanes: vec4<u32>) -> mat4x4<f32> {
    return mat4x4<f32>(four(at.x, lanes), four(at.y, lanes), four(at.z, lanes), four(at.w, lanes));
}

// The first `left` depths, zeros for the others. `rows` is 4.
fn fetch_of(at: vec4<u32>, lanes: vec4<u32>, left: u32, rows: u32) -> mat4x4<f32> {
    var block = mat4x4<f32>();
    for (var r = 0u; r < min(left, rows); r++) {
        block[r] = four(at[r], lanes);
    }
    return block;
}
