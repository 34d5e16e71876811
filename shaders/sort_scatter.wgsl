// Radix sort, step 3 of each pass: each workgroup sorts its tile by one digit in
// workgroup memory, and then moves keys, and values after them, to where the
// counts of all tiles say. Neighbours in the sorted tile stay neighbours, so
// that memory is written in runs. Stable: so least significant digits go first.
//
// Merrill and Grimshaw 2011, "High performance and scalable radix sorting: a
// case study of implementing dynamic parallelism for GPU computing".

import super::config::{WORKGROUP, ITEMS, TILE, DIGITS};
import super::grid;
import super::thread::{Builtins, rank};
import super::order::sort_order;
@if(subgroup) import super::block::exclusive_sum;
import super::ranking::{tile_place, rank_digits, digit_start};
import super::keys;
import super::to_keys;
import super::counts;
import super::totals;
@if(given_values) import super::values;
@if(values) import super::to_values;

struct Params {
    grid_row: u32,
    rows: u32,
    columns: u32,
    tiles: u32,
    stride: u32,
    flip: u32,
    shift: u32,
    mask: u32,
    // The bits of -0 and +inf, for floats.
    sign: u32,
    infinity: u32,
}

@group(0) @binding(0) var<uniform> params: Params;

const DIGITS_EACH: u32 = (DIGITS + WORKGROUP - 1u) / WORKGROUP;

var<workgroup> staged: array<u32, TILE>;
// From a key's place in the sorted tile to its place in the output, by digit.
var<workgroup> moves: array<u32, DIGITS>;

fn digit_of(bits: u32) -> u32 {
    return ((sort_order(bits, params.sign, params.infinity) ^ params.flip) >> params.shift) & params.mask;
}

// How many keys of the row have smaller digits than those this invocation moves.
@if(subgroup)
fn smaller_keys(row: u32, t: Builtins) -> u32 {
    var sum = 0u;
    for (var i = 0u; i < DIGITS_EACH; i++) {
        let digit = rank(t) * DIGITS_EACH + i;
        if digit < DIGITS {
            sum += totals::data[row * DIGITS + digit];
        }
    }
    return exclusive_sum(sum, t).before;
}

@if(!subgroup)
fn smaller_keys(row: u32, t: Builtins) -> u32 {
    var sum = 0u;
    for (var digit = 0u; digit < min(rank(t) * DIGITS_EACH, DIGITS); digit++) {
        sum += totals::data[row * DIGITS + digit];
    }
    return sum;
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, t: Builtins) {
    let group = grid::index(workgroup, params.grid_row);
    if group >= params.rows * params.tiles {
        return;
    }
    let row = group / params.tiles;
    let tile = group % params.tiles;
    let start = tile * TILE;
    let count = min(params.columns - start, TILE);
    let first = row * params.columns + start;
    let r = rank(t);

    var bits: array<u32, ITEMS>;
    // Digits first, then places in the sorted tile.
    var places: array<u32, ITEMS>;
    @unroll for (var k = 0u; k < ITEMS; k++) {
        let i = tile_place(k, t);
        bits[k] = 0u;
        // What is missing goes behind everything: last in the tile and of the last digit.
        places[k] = DIGITS - 1u;
        if i < count {
            bits[k] = keys::load_bits(first + i);
            places[k] = digit_of(bits[k]);
        }
    }
    rank_digits(&places, t);

    var smaller = smaller_keys(row, t);
    for (var i = 0u; i < DIGITS_EACH; i++) {
        let digit = r * DIGITS_EACH + i;
        if digit < DIGITS {
            let list = row * DIGITS + digit;
            let before = counts::data[list * params.stride + tile];
            moves[digit] = row * params.columns + smaller + before - digit_start(digit);
            smaller += totals::data[list];
        }
    }
    @unroll for (var k = 0u; k < ITEMS; k++) {
        staged[places[k]] = bits[k];
    }
    workgroupBarrier();
    var targets: array<u32, ITEMS>;
    @unroll for (var k = 0u; k < ITEMS; k++) {
        let i = k * WORKGROUP + r;
        if i < count {
            let key = staged[i];
            targets[k] = moves[digit_of(key)] + i;
            to_keys::data[targets[k]] = key;
        }
    }
    @if(values) {
        workgroupBarrier();
        @unroll for (var k = 0u; k < ITEMS; k++) {
            let i = tile_place(k, t);
            @if(given_values) {
                if i < count {
                    staged[places[k]] = values::load_bits(first + i);
                }
            }
            // Otherwise the place of each key in its row.
            @if(!given_values) {
                staged[places[k]] = start + i;
            }
        }
        workgroupBarrier();
        @unroll for (var k = 0u; k < ITEMS; k++) {
            let i = k * WORKGROUP + r;
            if i < count {
                to_values::data[targets[k]] = staged[i];
            }
        }
    }
}
