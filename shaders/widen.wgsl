// The stored bits of 16-bit elements, a word each.

import super::config::WORKGROUP;
import super::grid;
import super::thread::{Builtins, rank};
import super::x;
import super::y;

struct Params {
    row: u32,
    n: u32,
}

@group(0) @binding(0) var<uniform> params: Params;

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, t: Builtins) {
    let quad = grid::index(workgroup, params.row) * WORKGROUP + rank(t);
    if quad * 4u < params.n {
        y::store4_bits(quad, x::load4_bits(quad));
    }
}
