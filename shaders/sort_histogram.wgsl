// Radix sort, step 1 of each pass: how often each digit occurs in each tile.
//
// A tile is what one workgroup of `sort_scatter` moves; it lies within one row.
// counts[row][digit][tile] is the order in which `sort_scan` adds them up.

import super::config::{WORKGROUP, TILE, DIGITS, COPIES};
import super::grid;
import super::thread::{Builtins, rank};
import super::order::sort_order;
import super::keys;
import super::counts;

struct Params {
    grid_row: u32,
    rows: u32,
    columns: u32,
    // Tiles in a row, and the distance between rows of `counts`.
    tiles: u32,
    stride: u32,
    // The digit of this pass: (order ^ flip) >> shift & mask.
    flip: u32,
    shift: u32,
    mask: u32,
    // The bits of -0 and +inf, for floats.
    sign: u32,
    infinity: u32,
}

@group(0) @binding(0) var<uniform> params: Params;

// Several counters for each digit where digits are few, against contention.
var<workgroup> counters: array<atomic<u32>, DIGITS * COPIES>;

fn count(bits: u32, copy: u32) {
    let digit = ((sort_order(bits, params.sign, params.infinity) ^ params.flip) >> params.shift) & params.mask;
    atomicAdd(&counters[digit * COPIES + copy], 1u);
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
    let count_here = min(params.columns - start, TILE);
    let first = row * params.columns + start;
    let r = rank(t);
    for (var i = r; i < DIGITS * COPIES; i += WORKGROUP) {
        atomicStore(&counters[i], 0u);
    }
    workgroupBarrier();
    let copy = r % COPIES;
    @if(quads) {
        let whole = count_here / 4u;
        for (var i = r; i < whole; i += WORKGROUP) {
            let bits = keys::load4_bits(first / 4u + i);
            count(bits.x, copy);
            count(bits.y, copy);
            count(bits.z, copy);
            count(bits.w, copy);
        }
        let tail = whole * 4u + r;
        if tail < count_here {
            count(keys::load_bits(first + tail), copy);
        }
    }
    @if(!quads) {
        for (var i = r; i < count_here; i += WORKGROUP) {
            count(keys::load_bits(first + i), copy);
        }
    }
    workgroupBarrier();
    for (var digit = r; digit < DIGITS; digit += WORKGROUP) {
        var sum = 0u;
        for (var i = 0u; i < COPIES; i++) {
            sum += atomicLoad(&counters[digit * COPIES + i]);
        }
        counts::data[(row * DIGITS + digit) * params.stride + tile] = sum;
    }
}
