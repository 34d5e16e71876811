// Copies a strided view, starting anywhere, to a dense tensor. Bits are kept.

import super::config::WORKGROUP;
import super::grid;
import super::x;
import super::y;

struct Params {
    row: u32,
    n: u32,
    offset: u32,
    rank: u32,
    shape: array<vec4<u32>, 2>,
    strides: array<vec4<u32>, 2>,
}

@group(0) @binding(0) var<uniform> params: Params;

fn source(i: u32) -> u32 {
    var rest = i;
    var at = params.offset;
    for (var k = params.rank; k > 0u; k--) {
        let axis = k - 1u;
        let extent = params.shape[axis >> 2u][axis & 3u];
        at += (rest % extent) * params.strides[axis >> 2u][axis & 3u];
        rest /= extent;
    }
    return at;
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let q = grid::index(workgroup, params.row) * WORKGROUP + local;
    let first = q * 4u;
    if first >= params.n {
        return;
    }
    let count = params.n - first;
    var v = vec4<u32>();
    for (var k = 0u; k < 4u; k++) {
        if k < count {
            v[k] = x::load_bits(source(first + k));
        }
    }
    y::store4_tail_bits(q, v, count);
}
