// Reduces the middle axis of [outer, extent, inner]: neighbouring invocations
// take neighbouring columns, and the extent is split among several of them
// where there are few columns. Splits interleave, so that few columns are read
// contiguously too; ordered operators take contiguous stretches instead.

import super::config::{WORKGROUP, WIDTH, LANES, ORDERED};
import super::grid;
import super::value::Value;
import super::op::{identity, combine};
@if(!values && !shifted) import super::op::lift;
@if(shifted) import super::op::lift_shifted;
@if(finish) import super::op::finish;
@if(!values) import super::x;
@if(!shifted && !values) import super::x_scalar::Scalar;
@if(values) import super::values;
@if(finish) import super::y;
@if(!finish) import super::partials;

struct Params {
    row: u32,
    // Invocations: outer * splits * inner.
    n: u32,
    extent: u32,
    // Columns in units of WIDTH elements.
    inner: u32,
    splits: u32,
    // Rows of an ordered split.
    chunk: u32,
    parameter: u32,
}

@group(0) @binding(0) var<uniform> params: Params;

alias Unit = array<Value, WIDTH>;

// The columns' first elements, where operators take all relative to them.
@if(shifted) var<private> shift: array<f32, WIDTH>;

@if(shifted)
fn lift_column(x: f32, index: u32, column: u32) -> Value {
    return lift_shifted(x, shift[column]);
}

@if(!shifted && !values)
fn lift_column(x: Scalar, index: u32, column: u32) -> Value {
    return lift(x, index);
}

@if(!values && quads)
fn load(unit: u32, index: u32) -> Unit {
    let v = x::load4(unit);
    return Unit(
        lift_column(v.x, index, 0u), lift_column(v.y, index, 1u),
        lift_column(v.z, index, 2u), lift_column(v.w, index, 3u),
    );
}

@if(!values && !quads)
fn load(unit: u32, index: u32) -> Unit {
    return Unit(lift_column(x::load(unit), index, 0u));
}

@if(shifted && quads)
fn load_shift(unit: u32) {
    let v = x::load4(unit);
    shift = array<f32, WIDTH>(v.x, v.y, v.z, v.w);
}

@if(shifted && !quads)
fn load_shift(unit: u32) {
    shift = array<f32, WIDTH>(x::load(unit));
}

@if(values)
fn load(unit: u32, index: u32) -> Unit {
    return Unit(values::load(unit));
}

@if(finish && quads)
fn store(unit: u32, v: Unit) {
    y::store4(unit, vec4(
        finish(v[0], params.parameter), finish(v[1], params.parameter),
        finish(v[2], params.parameter), finish(v[3], params.parameter),
    ));
}

@if(finish && !quads)
fn store(unit: u32, v: Unit) {
    y::store(unit, finish(v[0], params.parameter));
}

@if(!finish)
fn store(unit: u32, v: Unit) {
    for (var k = 0u; k < WIDTH; k++) {
        partials::store(unit * WIDTH + k, v[k]);
    }
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let id = grid::index(workgroup, params.row) * WORKGROUP + local;
    if id >= params.n {
        return;
    }
    let column = id % params.inner;
    let split = id / params.inner % params.splits;
    let first = id / params.inner / params.splits * params.extent;
    @if(shifted) load_shift(first * params.inner + column);
    var i = split;
    var stride = params.splits;
    var stop = params.extent;
    if ORDERED {
        i = split * params.chunk;
        stride = 1u;
        stop = min(i + params.chunk, params.extent);
    }
    var held: array<Unit, LANES>;
    for (var k = 0u; k < LANES; k++) {
        for (var c = 0u; c < WIDTH; c++) {
            held[k][c] = identity();
        }
    }
    for (; i + (LANES - 1u) * stride < stop; i += LANES * stride) {
        for (var k = 0u; k < LANES; k++) {
            let at = i + k * stride;
            let unit = load((first + at) * params.inner + column, at);
            for (var c = 0u; c < WIDTH; c++) {
                held[k][c] = combine(held[k][c], unit[c]);
            }
        }
    }
    for (; i < stop; i += stride) {
        let unit = load((first + i) * params.inner + column, i);
        for (var c = 0u; c < WIDTH; c++) {
            held[0][c] = combine(held[0][c], unit[c]);
        }
    }
    var total = held[0];
    for (var k = 1u; k < LANES; k++) {
        for (var c = 0u; c < WIDTH; c++) {
            total[c] = combine(total[c], held[k][c]);
        }
    }
    store(id, total);
}
