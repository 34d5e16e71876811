// Exchanges the two last axes of [batch, rows, columns]: a tile at a time through
// workgroup memory, so that memory is read and written along rows. A tile's rows
// are one word apart from each other's banks (Ruetsch and Micikevicius 2009,
// "Optimizing matrix transpose in CUDA").

import super::config::{WORKGROUP, SIDE};
import super::grid;
import super::x;
import super::y;

struct Params {
    grid_row: u32,
    batch: u32,
    rows: u32,
    columns: u32,
    // Tiles down and across.
    tiles_down: u32,
    tiles_across: u32,
}

@group(0) @binding(0) var<uniform> params: Params;

const PITCH: u32 = SIDE + 1u;
// Rows of a tile that the workgroup takes at a time.
const STEP: u32 = WORKGROUP / SIDE;
const STEPS: u32 = SIDE / STEP;

var<workgroup> tile: array<u32, SIDE * PITCH>;

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let index = grid::index(workgroup, params.grid_row);
    let tiles = params.tiles_down * params.tiles_across;
    let matrix = index / tiles;
    if matrix >= params.batch {
        return;
    }
    let within = index % tiles;
    let top = within / params.tiles_across * SIDE;
    let left = within % params.tiles_across * SIDE;
    let first = matrix * params.rows * params.columns;
    let across = local % SIDE;
    let down = local / SIDE;
    for (var k = 0u; k < STEPS; k++) {
        let row = top + down + k * STEP;
        if row < params.rows && left + across < params.columns {
            tile[(down + k * STEP) * PITCH + across] = x::load_bits(first + row * params.columns + left + across);
        }
    }
    workgroupBarrier();
    for (var k = 0u; k < STEPS; k++) {
        let column = left + down + k * STEP;
        if column < params.columns && top + across < params.rows {
            y::data[first + column * params.rows + top + across] = tile[across * PITCH + down + k * STEP];
        }
    }
}
