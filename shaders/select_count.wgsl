// Compaction, step 1: how many elements of each tile are selected. The number
// behind the last tile's is 0, so that its exclusive sum is the total.

import super::config::{WORKGROUP, QUADS};
import super::grid;
import super::thread::{Builtins, rank};
import super::block::exclusive_sum;
import super::selection::chosen;
import super::counts;

struct Params {
    grid_row: u32,
    n: u32,
    tiles: u32,
    // The bits of -0 and +inf, for floats.
    sign: u32,
    infinity: u32,
}

@group(0) @binding(0) var<uniform> params: Params;

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, t: Builtins) {
    let tile = grid::index(workgroup, params.grid_row);
    if tile >= params.tiles {
        return;
    }
    let r = rank(t);
    var count = 0u;
    @unroll for (var k = 0u; k < QUADS; k++) {
        let q = (tile * QUADS + k) * WORKGROUP + r;
        if q * 4u < params.n {
            let one = vec4<u32>(chosen(q, params.n, params.sign, params.infinity));
            count += (one.x + one.y) + (one.z + one.w);
        }
    }
    let total = exclusive_sum(count, t).total;
    if r == 0u {
        counts::data[tile] = total;
        if tile == params.tiles - 1u {
            counts::data[params.tiles] = 0u;
        }
    }
}
