// softmax and log_softmax of contiguous rows, one workgroup a row.
//
// y = exp(x - max) / sum(exp(x - max)), log y = (x - max) - log(sum), after the
// row's maximum so that nothing overflows. A row of nothing but -inf gives
// zeros (-inf for log_softmax: the logarithm of zero). NaN and +inf make a row NaN.
//
// Rows that fit are kept in registers: one read and one write of memory.

import super::config::{WORKGROUP, ITEMS, LOG, CACHED};
import super::grid;
import super::thread::{Builtins, rank};
import super::x;
import super::y;
import super::reduce_max;
import super::reduce_sum;

// What an invocation takes at a time: quads where rows start at quads, else single elements.
@if(quads) alias Unit = vec4<f32>;
@if(!quads) alias Unit = f32;

struct Params {
    row: u32,
    rows: u32,
    // Units in a row.
    units: u32,
}

@group(0) @binding(0) var<uniform> params: Params;

var<private> negative_infinity_bits: u32 = 0xff800000u;

@if(quads)
fn load(i: u32) -> Unit {
    return x::load4(i);
}

@if(!quads)
fn load(i: u32) -> Unit {
    return x::load(i);
}

@if(quads)
fn store(i: u32, v: Unit) {
    y::store4(i, v);
}

@if(!quads)
fn store(i: u32, v: Unit) {
    y::store(i, v);
}

@if(quads)
fn largest(v: Unit) -> f32 {
    return max(max(v.x, v.y), max(v.z, v.w));
}

@if(!quads)
fn largest(v: Unit) -> f32 {
    return v;
}

@if(quads)
fn total(v: Unit) -> f32 {
    return (v.x + v.y) + (v.z + v.w);
}

@if(!quads)
fn total(v: Unit) -> f32 {
    return v;
}

@if(quads)
fn is_negative_infinity(v: Unit) -> vec4<bool> {
    return bitcast<vec4<u32>>(v) == vec4<u32>(0xff800000u);
}

@if(!quads)
fn is_negative_infinity(v: Unit) -> bool {
    return bitcast<u32>(v) == 0xff800000u;
}

// exp(v - shift), exactly 0 where v is -inf whatever the driver makes of infinities.
fn exponential(v: Unit, shift: f32) -> Unit {
    return select(exp(v - shift), Unit(), is_negative_infinity(v));
}

// The result, from v for the logarithm, else from e = exp(v - shift).
fn result(v: Unit, e: Unit, shift: f32, scale: f32) -> Unit {
    if LOG {
        return select((v - shift) - scale, v, is_negative_infinity(v));
    }
    return e * scale;
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, t: Builtins) {
    let row = grid::index(workgroup, params.row);
    if row >= params.rows {
        return;
    }
    let first = row * params.units;
    let r = rank(t);
    let negative_infinity = bitcast<f32>(negative_infinity_bits);
    var held: array<Unit, ITEMS>;
    var greatest = negative_infinity;
    if CACHED {
        @unroll for (var k = 0u; k < ITEMS; k++) {
            let c = k * WORKGROUP + r;
            held[k] = Unit(negative_infinity);
            if c < params.units {
                held[k] = load(first + c);
            }
            greatest = max(greatest, largest(held[k]));
        }
    } else {
        for (var c = r; c < params.units; c += WORKGROUP) {
            greatest = max(greatest, largest(load(first + c)));
        }
    }
    greatest = reduce_max::reduce(greatest, t);
    // Nothing to attend to: any shift will do, every term is 0.
    let shift = select(greatest, 0.0, bitcast<u32>(greatest) == 0xff800000u);

    var sum = 0.0;
    if CACHED {
        @unroll for (var k = 0u; k < ITEMS; k++) {
            let e = exponential(held[k], shift);
            sum += total(e);
            if !LOG {
                held[k] = e;
            }
        }
    } else {
        for (var c = r; c < params.units; c += WORKGROUP) {
            sum += total(exponential(load(first + c), shift));
        }
    }
    sum = reduce_sum::reduce(sum, t);
    var scale = select(1.0 / sum, 0.0, sum == 0.0);
    if LOG {
        scale = select(log(sum), 0.0, sum == 0.0);
    }

    if CACHED {
        @unroll for (var k = 0u; k < ITEMS; k++) {
            let c = k * WORKGROUP + r;
            if c < params.units {
                store(first + c, result(held[k], held[k], shift, scale));
            }
        }
    } else {
        for (var c = r; c < params.units; c += WORKGROUP) {
            let v = load(first + c);
            store(first + c, result(v, exponential(v, shift), shift, scale));
        }
    }
}
