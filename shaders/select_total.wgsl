// One number out of many.

import super::config::WORKGROUP;
import super::total;
import super::y;

struct Params {
    grid_row: u32,
    at: u32,
}

@group(0) @binding(0) var<uniform> params: Params;

@compute @workgroup_size(WORKGROUP)
fn main() {
    y::data[0] = total::data[params.at];
}
