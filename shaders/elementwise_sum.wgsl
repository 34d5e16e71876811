// One round of sums over some axes of a dense f32 tensor: the gradient of an
// operand that was broadcast.
//
// Terms are dealt out to segments in turn; each invocation adds up the terms of
// one segment of one element that is kept. Rounds follow until one segment is left.

import super::config::{WORKGROUP, SEGMENTS_INNERMOST};
import super::grid;
import super::x;
import super::y;

struct Params {
    row: u32,
    // Elements that are kept.
    kept: u32,
    segments: u32,
    // Terms of each element.
    terms: u32,
    kept_rank: u32,
    terms_rank: u32,
    kept_extents: array<vec4<u32>, 2>,
    kept_strides: array<vec4<u32>, 2>,
    terms_extents: array<vec4<u32>, 2>,
    terms_strides: array<vec4<u32>, 2>,
}

@group(0) @binding(0) var<uniform> params: Params;

fn kept_offset(i: u32) -> u32 {
    var rest = i;
    var at = 0u;
    for (var k = params.kept_rank - 1u; k > 0u; k--) {
        let extent = params.kept_extents[k / 4u][k % 4u];
        at += (rest % extent) * params.kept_strides[k / 4u][k % 4u];
        rest /= extent;
    }
    return at + rest * params.kept_strides[0].x;
}

fn term_offset(i: u32) -> u32 {
    var rest = i;
    var at = 0u;
    for (var k = params.terms_rank - 1u; k > 0u; k--) {
        let extent = params.terms_extents[k / 4u][k % 4u];
        at += (rest % extent) * params.terms_strides[k / 4u][k % 4u];
        rest /= extent;
    }
    return at + rest * params.terms_strides[0].x;
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let i = grid::index(workgroup, params.row) * WORKGROUP + local;
    if i >= params.kept * params.segments {
        return;
    }
    // Neighbours read neighbours: what lies innermost is numbered first.
    let inner = select(params.kept, params.segments, SEGMENTS_INNERMOST);
    let element = select(i % inner, i / inner, SEGMENTS_INNERMOST);
    let segment = select(i / inner, i % inner, SEGMENTS_INNERMOST);
    let first = kept_offset(element);
    var sum = 0.0;
    for (var t = segment; t < params.terms; t += params.segments) {
        sum += x::load(first + term_offset(t));
    }
    y::store(i, sum);
}
