// Run lengths, from where runs start: the distances between neighbours.

import super::config::WORKGROUP;
import super::grid;
import super::thread::{Builtins, rank};
import super::starts;
import super::total;
import super::to;

struct Params {
    grid_row: u32,
    n: u32,
    // Where in `total` the number of runs is.
    at: u32,
}

@group(0) @binding(0) var<uniform> params: Params;

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, t: Builtins) {
    let run = grid::index(workgroup, params.grid_row) * WORKGROUP + rank(t);
    let runs = min(total::data[params.at], params.n);
    if run < runs {
        var end = params.n;
        if run + 1u < runs {
            end = starts::data[run + 1u];
        }
        to::data[run] = end - starts::data[run];
    }
}
