// Scans contiguous rows: each element combined with all before it in its row.
//
// A team of invocations goes through a row, or through one of its splits, tile
// by tile; `prefixes` holds what lies before each split. Rows are read and
// written in quads where they start at quads. Exclusive scans leave the element
// itself out; reverse ones go from the row's end.

import super::config::{WORKGROUP, TEAM, ITEMS, WIDTH, EXCLUSIVE, REVERSE};
import super::grid;
import super::thread::{Builtins, rank};
import super::value::Value;
import super::op::{identity, combine};
@if(!values) import super::op::{lift, finish};
@if(!values) import super::x;
@if(!values) import super::y;
@if(values) import super::values;
@if(values) import super::scanned;
@if(carried) import super::prefixes;
import super::block;

struct Params {
    row: u32,
    rows: u32,
    // Units of WIDTH elements in a row.
    units: u32,
    splits: u32,
    // Units of a split, and the tiles that hold them.
    chunk: u32,
    tiles: u32,
    // Elements in all.
    n: u32,
}

@group(0) @binding(0) var<uniform> params: Params;

alias Unit = array<Value, WIDTH>;

@if(!values && quads)
fn load(unit: u32) -> Unit {
    let v = x::load4(unit);
    if REVERSE {
        return Unit(lift(v.w, 0u), lift(v.z, 0u), lift(v.y, 0u), lift(v.x, 0u));
    }
    return Unit(lift(v.x, 0u), lift(v.y, 0u), lift(v.z, 0u), lift(v.w, 0u));
}

@if(!values && !quads)
fn load(unit: u32) -> Unit {
    return Unit(lift(x::load(unit), 0u));
}

@if(values)
fn load(unit: u32) -> Unit {
    return Unit(values::load(unit));
}

@if(!values && quads)
fn store(unit: u32, v: Unit) {
    let result = vec4(finish(v[0], 0u), finish(v[1], 0u), finish(v[2], 0u), finish(v[3], 0u));
    if REVERSE {
        y::store4_tail(unit, result.wzyx, params.n - unit * 4u);
    } else {
        y::store4_tail(unit, result, params.n - unit * 4u);
    }
}

@if(!values && !quads)
fn store(unit: u32, v: Unit) {
    y::store(unit, finish(v[0], 0u));
}

@if(values)
fn store(unit: u32, v: Unit) {
    scanned::store(unit, v[0]);
}

// Where in memory a row's unit lies.
fn at(row: u32, unit: u32) -> u32 {
    return row * params.units + select(unit, params.units - 1u - unit, REVERSE);
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, t: Builtins) {
    let group = grid::index(workgroup, params.row);
    let first_row = group / params.splits * (WORKGROUP / TEAM);
    if first_row >= params.rows {
        return;
    }
    let row = first_row + rank(t) / TEAM;
    let split = group % params.splits;
    let begin = split * params.chunk;
    // Members of a team without a row load and store nothing.
    let end = select(0u, min(begin + params.chunk, params.units), row < params.rows);
    var carry = identity();
    @if(carried) {
        if row < params.rows {
            carry = prefixes::load(row * params.splits + split);
        }
    }
    for (var tile = 0u; tile < params.tiles; tile++) {
        let base = begin + tile * (TEAM * ITEMS);
        var held: array<Unit, ITEMS>;
        @unroll for (var k = 0u; k < ITEMS; k++) {
            let unit = base + block::place(k, t);
            if unit < end {
                held[k] = load(at(row, unit));
            } else {
                for (var c = 0u; c < WIDTH; c++) {
                    held[k][c] = identity();
                }
            }
        }
        var totals: array<Value, ITEMS>;
        @unroll for (var k = 0u; k < ITEMS; k++) {
            for (var c = 1u; c < WIDTH; c++) {
                held[k][c] = combine(held[k][c - 1u], held[k][c]);
            }
            totals[k] = held[k][WIDTH - 1u];
        }
        let prefix = block::scan(totals, t);
        @unroll for (var k = 0u; k < ITEMS; k++) {
            let unit = base + block::place(k, t);
            if unit < end {
                let before = combine(carry, prefix.before[k]);
                var result: Unit;
                if EXCLUSIVE {
                    result[0] = before;
                    for (var c = 1u; c < WIDTH; c++) {
                        result[c] = combine(before, held[k][c - 1u]);
                    }
                } else {
                    for (var c = 0u; c < WIDTH; c++) {
                        result[c] = combine(before, held[k][c]);
                    }
                }
                store(at(row, unit), result);
            }
        }
        carry = combine(carry, prefix.total);
    }
}
