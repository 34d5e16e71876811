// Gradients of reductions: every element's share of its result's cotangent.
// x is [outer, extent, inner], results are [outer, inner].

import super::config::WORKGROUP;
import super::grid;
@if(!shifted) import super::op::gradient;
@if(shifted) import super::op::gradient_shifted;
@if(statistics) import super::x;
@if(statistics) import super::statistics;
import super::cotangent;
import super::grad;

struct Params {
    row: u32,
    n: u32,
    extent: u32,
    inner: u32,
    parameter: u32,
}

@group(0) @binding(0) var<uniform> params: Params;

@if(statistics && !shifted)
fn element(x: f32, result: u32) -> f32 {
    return gradient(x, statistics::load(result), cotangent::load(result), params.parameter);
}

@if(shifted)
fn element(x: f32, result: u32) -> f32 {
    let first = result / params.inner * params.extent * params.inner + result % params.inner;
    return gradient_shifted(
        x, x::load(first), statistics::load(result), cotangent::load(result), params.parameter,
    );
}

@if(!statistics)
fn element(x: f32, result: u32) -> f32 {
    return gradient(x, cotangent::load(result), params.parameter);
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let q = grid::index(workgroup, params.row) * WORKGROUP + local;
    let first = q * 4u;
    if first >= params.n {
        return;
    }
    @if(statistics) let v = x::load4(q);
    @if(!statistics) let v = vec4<f32>();
    var y = vec4<f32>();
    for (var k = 0u; k < 4u; k++) {
        let i = first + k;
        if i < params.n {
            let result = i / (params.extent * params.inner) * params.inner + i % params.inner;
            y[k] = element(v[k], result);
        }
    }
    grad::store4_tail(q, y, params.n - first);
}
