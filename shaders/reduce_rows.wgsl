// Reduces contiguous rows: a team of invocations a row, several teams a
// workgroup for short rows, several workgroups (splits) a row for long ones.
//
// Elements are loaded in quads wherever rows start: the quads that lie within
// a row by all members of its team in turn, several in flight, and what is left
// at either end by the first and the last member.

import super::config::{WORKGROUP, TEAM, LANES, ORDERED, REVERSE};
import super::grid;
import super::thread::{Builtins, rank};
import super::value::Value;
import super::op::{identity, combine};
@if(!values && !shifted) import super::op::lift;
@if(shifted) import super::op::lift_shifted;
@if(finish) import super::op::finish;
@if(!values) import super::x;
@if(values) import super::values;
@if(finish) import super::y;
@if(!finish) import super::partials;
import super::block;

struct Params {
    row: u32,
    rows: u32,
    columns: u32,
    splits: u32,
    // Elements of a row that one workgroup takes.
    chunk: u32,
    // What `finish` divides by, or the like.
    parameter: u32,
}

@group(0) @binding(0) var<uniform> params: Params;

// The row's first element, where operators take all relative to it.
@if(shifted) var<private> shift: f32;

@if(shifted)
fn lift(x: f32, index: u32) -> Value {
    return lift_shifted(x, shift);
}

@if(!values)
fn lift_quad(q: u32, low: u32) -> Value {
    let v = x::load4(q);
    let i = q * 4u - low;
    return combine(
        combine(lift(v.x, i), lift(v.y, i + 1u)),
        combine(lift(v.z, i + 2u), lift(v.w, i + 3u)),
    );
}

// The elements begin..end of quad q.
@if(!values)
fn lift_part(q: u32, begin: u32, end: u32, low: u32) -> Value {
    let v = x::load4(q);
    var total = identity();
    for (var k = 0u; k < 4u; k++) {
        let i = q * 4u + k;
        if i >= begin && i < end {
            total = combine(total, lift(v[k], i - low));
        }
    }
    return total;
}

// What one member combines of the elements begin..end, in a row that starts at `low`.
@if(!values)
fn gather(begin: u32, end: u32, low: u32, member: u32) -> Value {
    let inner = (begin + 3u) / 4u;
    let outer = max(end / 4u, inner);
    var held: array<Value, LANES>;
    for (var k = 0u; k < LANES; k++) {
        held[k] = identity();
    }
    if member == 0u && begin < min(end, inner * 4u) {
        held[0] = lift_part(begin / 4u, begin, min(end, inner * 4u), low);
    }
    var q = inner + member;
    var stride = TEAM;
    var stop = outer;
    if ORDERED {
        let share = (outer - inner + TEAM - 1u) / TEAM;
        q = inner + member * share;
        stride = 1u;
        stop = min(q + share, outer);
    }
    for (; q + (LANES - 1u) * stride < stop; q += LANES * stride) {
        for (var k = 0u; k < LANES; k++) {
            held[k] = combine(held[k], lift_quad(q + k * stride, low));
        }
    }
    for (; q < stop; q += stride) {
        held[0] = combine(held[0], lift_quad(q, low));
    }
    var total = held[0];
    for (var k = 1u; k < LANES; k++) {
        total = combine(total, held[k]);
    }
    if member == TEAM - 1u && outer * 4u < end {
        total = combine(total, lift_part(outer, outer * 4u, end, low));
    }
    return total;
}

@if(values)
fn gather(begin: u32, end: u32, low: u32, member: u32) -> Value {
    var i = begin + member;
    var stride = TEAM;
    var stop = end;
    if ORDERED {
        let share = (end - begin + TEAM - 1u) / TEAM;
        i = begin + member * share;
        stride = 1u;
        stop = min(i + share, end);
    }
    var total = identity();
    for (; i < stop; i += stride) {
        total = combine(total, values::load(i));
    }
    return total;
}

@if(finish)
fn store(row: u32, split: u32, v: Value) {
    y::store(row, finish(v, params.parameter));
}

@if(!finish)
fn store(row: u32, split: u32, v: Value) {
    partials::store(row * params.splits + split, v);
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, t: Builtins) {
    let group = grid::index(workgroup, params.row);
    let first_row = group / params.splits * (WORKGROUP / TEAM);
    if first_row >= params.rows {
        return;
    }
    let row = first_row + rank(t) / TEAM;
    let member = rank(t) % TEAM;
    let split = group % params.splits;
    var total = identity();
    if row < params.rows {
        let low = row * params.columns;
        var begin = split * params.chunk;
        var end = min(begin + params.chunk, params.columns);
        if REVERSE {
            // Splits count from the row's end.
            let mirrored = params.columns - end;
            end = params.columns - begin;
            begin = mirrored;
        }
        @if(shifted) shift = x::load(low);
        total = gather(low + begin, low + end, low, member);
    }
    total = block::reduce(total, t);
    if member == 0u && row < params.rows {
        store(row, split, total);
    }
}
