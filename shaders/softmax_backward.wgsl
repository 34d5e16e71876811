// The gradients of softmax and log_softmax along contiguous rows, one workgroup a row:
//   softmax:      dx = y * (dy - sum(y * dy))
//   log_softmax:  dx = dy - exp(y) * sum(dy)
// Rows that fit are kept in registers: one read and one write of memory.

import super::config::{WORKGROUP, ITEMS, LOG, CACHED};
import super::grid;
import super::thread::{Builtins, rank};
import super::y;
import super::cotangent;
import super::grad;
import super::reduce_sum;

@if(quads) alias Unit = vec4<f32>;
@if(!quads) alias Unit = f32;

struct Params {
    row: u32,
    rows: u32,
    // Units in a row.
    units: u32,
}

@group(0) @binding(0) var<uniform> params: Params;

@if(quads)
fn load_y(i: u32) -> Unit {
    return y::load4(i);
}

@if(quads)
fn load_cotangent(i: u32) -> Unit {
    return cotangent::load4(i);
}

@if(quads)
fn store(i: u32, v: Unit) {
    grad::store4(i, v);
}

@if(quads)
fn total(v: Unit) -> f32 {
    return (v.x + v.y) + (v.z + v.w);
}

@if(quads)
fn exponential(v: Unit) -> Unit {
    return select(exp(v), Unit(), bitcast<vec4<u32>>(v) == vec4<u32>(0xff800000u));
}

@if(!quads)
fn load_y(i: u32) -> Unit {
    return y::load(i);
}

@if(!quads)
fn load_cotangent(i: u32) -> Unit {
    return cotangent::load(i);
}

@if(!quads)
fn store(i: u32, v: Unit) {
    grad::store(i, v);
}

@if(!quads)
fn total(v: Unit) -> f32 {
    return v;
}

@if(!quads)
fn exponential(v: Unit) -> Unit {
    return select(exp(v), 0.0, bitcast<u32>(v) == 0xff800000u);
}

// What is summed along a row.
fn term(v: Unit, dy: Unit) -> Unit {
    if LOG {
        return dy;
    }
    return v * dy;
}

fn gradient(v: Unit, dy: Unit, sum: f32) -> Unit {
    if LOG {
        return dy - exponential(v) * sum;
    }
    return v * (dy - sum);
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, t: Builtins) {
    let row = grid::index(workgroup, params.row);
    if row >= params.rows {
        return;
    }
    let first = row * params.units;
    let r = rank(t);
    var held_y: array<Unit, ITEMS>;
    var held_dy: array<Unit, ITEMS>;
    var sum = 0.0;
    if CACHED {
        @unroll for (var k = 0u; k < ITEMS; k++) {
            let c = k * WORKGROUP + r;
            held_y[k] = Unit();
            held_dy[k] = Unit();
            if c < params.units {
                held_y[k] = load_y(first + c);
                held_dy[k] = load_cotangent(first + c);
            }
            sum += total(term(held_y[k], held_dy[k]));
        }
    } else {
        for (var c = r; c < params.units; c += WORKGROUP) {
            sum += total(term(load_y(first + c), load_cotangent(first + c)));
        }
    }
    sum = reduce_sum::reduce(sum, t);
    if CACHED {
        @unroll for (var k = 0u; k < ITEMS; k++) {
            let c = k * WORKGROUP + r;
            if c < params.units {
                store(first + c, gradient(held_y[k], held_dy[k], sum));
            }
        }
    } else {
        for (var c = r; c < params.units; c += WORKGROUP) {
            store(first + c, gradient(load_y(first + c), load_cotangent(first + c), sum));
        }
    }
}
