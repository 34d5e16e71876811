// How many elements fall into each bin. Workgroups count in memory of their own
// where it holds all bins, with several counters for each where bins are few, and
// add what they found to the result (Podlozhnyuk 2007, "Histogram calculation in
// CUDA"). Sums of integers: the order of additions does not show.

import super::config::{WORKGROUP, BINS, COPIES, OWN};
import super::grid;
import super::x;
import super::y;
import super::binning::bin;

struct Params {
    grid_row: u32,
    n: u32,
    groups: u32,
    bins: u32,
    low: u32,
    high: u32,
    scale: f32,
    inclusive: u32,
}

@group(0) @binding(0) var<uniform> params: Params;

var<workgroup> counters: array<atomic<u32>, BINS * COPIES>;

fn count(bits: u32, copy: u32) {
    let found = bin(bits, params.low, params.high, params.scale, params.bins, params.inclusive);
    if found < params.bins {
        if OWN {
            atomicAdd(&counters[found * COPIES + copy], 1u);
        } else {
            atomicAdd(&y::data[found], 1u);
        }
    }
}

@if(float)
fn load(q: u32) -> vec4<u32> {
    return bitcast<vec4<u32>>(x::load4(q));
}

@if(!float)
fn load(q: u32) -> vec4<u32> {
    return x::load4_bits(q);
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let group = grid::index(workgroup, params.grid_row);
    if group >= params.groups {
        return;
    }
    for (var i = local; i < BINS * COPIES; i += WORKGROUP) {
        atomicStore(&counters[i], 0u);
    }
    workgroupBarrier();
    let copy = local % COPIES;
    let whole = params.n / 4u;
    for (var q = group * WORKGROUP + local; q < whole; q += params.groups * WORKGROUP) {
        let bits = load(q);
        count(bits.x, copy);
        count(bits.y, copy);
        count(bits.z, copy);
        count(bits.w, copy);
    }
    if group == 0u && local == 0u && whole * 4u < params.n {
        let bits = load(whole);
        for (var e = 0u; e < params.n % 4u; e++) {
            count(bits[e], 0u);
        }
    }
    workgroupBarrier();
    if OWN {
        for (var i = local; i < BINS; i += WORKGROUP) {
            var sum = 0u;
            for (var c = 0u; c < COPIES; c++) {
                sum += atomicLoad(&counters[i * COPIES + c]);
            }
            if sum > 0u {
                atomicAdd(&y::data[i], sum);
            }
        }
    }
}
