// Rounds a dense f32 tensor to a packed dtype: for kernels whose rows share words.

import super::config::WORKGROUP;
import super::grid;
import super::x;
import super::y;

struct Params {
    row: u32,
    n: u32,
}

@group(0) @binding(0) var<uniform> params: Params;

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let q = grid::index(workgroup, params.row) * WORKGROUP + local;
    if q * 4u < params.n {
        y::store4_tail(q, x::load4(q), params.n - q * 4u);
    }
}
