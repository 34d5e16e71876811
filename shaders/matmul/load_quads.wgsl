// Four neighbours of a factor, in one load: indices are multiples of four.

import super::source;

fn four(at: u32, lanes: vec4<u32>) -> vec4<f32> {
    return source::load4(at >> 2u);
}

// The first `left` of them, zeros for the others. `left` is 0 or at least 4,
// because rows of quads are whole quads long.
fn four_of(at: u32, left: u32) -> vec4<f32> {
    if left == 0u {
        return vec4<f32>();
    }
    return source::load4(at >> 2u);
}
