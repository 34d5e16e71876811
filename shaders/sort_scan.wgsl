// Radix sort, step 2 of each pass: for each row and digit, how often it occurs
// in the tiles before each tile, in place, and in the whole row.
// One workgroup a row and digit; it walks over the tiles in order.

import super::config::WORKGROUP;
import super::grid;
import super::thread::{Builtins, rank};
import super::block::exclusive_sum;
import super::counts;
import super::totals;

struct Params {
    grid_row: u32,
    // Rows times digits.
    lists: u32,
    tiles: u32,
    // The distance between lists, a multiple of 4.
    stride: u32,
}

@group(0) @binding(0) var<uniform> params: Params;

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, t: Builtins) {
    let list = grid::index(workgroup, params.grid_row);
    if list >= params.lists {
        return;
    }
    let quads = params.stride / 4u;
    let r = rank(t);
    var carry = 0u;
    for (var start = 0u; start < quads; start += WORKGROUP) {
        let quad = start + r;
        var v = vec4<u32>();
        if quad < quads {
            // Behind the last tile lies what nobody wrote.
            let tile = vec4<u32>(0u, 1u, 2u, 3u) + quad * 4u;
            v = select(vec4<u32>(), counts::data[list * quads + quad], tile < vec4<u32>(params.tiles));
        }
        let sums = exclusive_sum(v.x + v.y + v.z + v.w, t);
        if quad < quads {
            let x = carry + sums.before;
            let y = x + v.x;
            let z = y + v.y;
            counts::data[list * quads + quad] = vec4<u32>(x, y, z, z + v.z);
        }
        carry += sums.total;
    }
    if r == 0u {
        totals::data[list] = carry;
    }
}
