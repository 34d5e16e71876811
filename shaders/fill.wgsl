// Fills a dense tensor with one value, given by its stored bits.

import super::config::WORKGROUP;
import super::grid;
import super::y;

struct Params {
    row: u32,
    n: u32,
    bits: u32,
}

@group(0) @binding(0) var<uniform> params: Params;

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let q = grid::index(workgroup, params.row) * WORKGROUP + local;
    if q * 4u < params.n {
        y::store4_tail_bits(q, vec4<u32>(params.bits), params.n - q * 4u);
    }
}
