// Sums groups of partial products, element by element, and finishes them:
// slices of a long summed axis, batches whose gradients add up, or no products
// at all where the summed axis is empty. Groups are added in order.

import super::config::WORKGROUP;
import super::grid;
@if(partial) import super::partial;
import super::finish::{Finish, finish};
import super::y;

struct Params {
    row: u32,
    // Elements of the result, and of one matrix of it.
    total: u32,
    matrix: u32,
    n: u32,

    groups: u32,
    // Quads from one group to the next.
    group: u32,
    padding_0: u32,
    padding_1: u32,

    // Each: extent of a batch axis, and the steps along it in a, b and c.
    axes: array<vec4<u32>, 4>,
    finish: Finish,
}

@group(0) @binding(0) var<uniform> params: Params;

fn c_offset(batch: u32) -> u32 {
    var rest = batch;
    var at = 0u;
    for (var axis = 0u; axis < 4u; axis++) {
        let extent = params.axes[3u - axis].x;
        at += (rest % extent) * params.axes[3u - axis].w;
        rest /= extent;
    }
    return at;
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) t: u32) {
    let q = grid::index(workgroup, params.row) * WORKGROUP + t;
    let first = 4u * q;
    if first >= params.total {
        return;
    }
    let count = min(params.total - first, 4u);
    var sum = vec4<f32>();
    @if(partial) {
        for (var g = 0u; g < params.groups; g++) {
            sum += partial::load4(g * params.group + q);
        }
    }
    var v = vec4<f32>();
    for (var e = 0u; e < 4u; e++) {
        if e < count {
            let at = first + e;
            let batch = at / params.matrix;
            let within = at - batch * params.matrix;
            v[e] = finish(sum[e], c_offset(batch), within / params.n, within % params.n, params.finish);
        }
    }
    y::store4_tail(q, v, count);
}
