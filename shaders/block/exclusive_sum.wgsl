// The sum of the values of all invocations of lower rank in a workgroup, and of
// all of them. Call it in uniform control flow.

import super::config::WORKGROUP;
import super::thread::{Builtins, rank};
@if(subgroup) import super::config::SUBGROUPS;

struct Sums {
    before: u32,
    total: u32,
}

@if(subgroup) var<workgroup> partials: array<u32, SUBGROUPS>;
@if(!subgroup) const CHUNK: u32 = 16u;
// The workgroup is a multiple of a chunk.
@if(!subgroup) const CHUNKS: u32 = WORKGROUP / CHUNK;
@if(!subgroup) var<workgroup> partials: array<u32, CHUNKS>;
@if(!subgroup) var<workgroup> values: array<u32, WORKGROUP>;

@if(subgroup)
fn exclusive_sum(v: u32, t: Builtins) -> Sums {
    let lower = subgroupExclusiveAdd(v);
    let sum = subgroupAdd(v);
    if t.lane == 0u {
        partials[t.subgroup] = sum;
    }
    workgroupBarrier();
    let subgroups = (WORKGROUP + t.subgroup_size - 1u) / t.subgroup_size;
    var before = lower;
    var total = 0u;
    for (var i = 0u; i < subgroups; i++) {
        before += select(0u, partials[i], i < t.subgroup);
        total += partials[i];
    }
    workgroupBarrier();
    return Sums(before, total);
}

// Some invocations add up CHUNK values each: two barriers instead of two for each
// doubling, which software adapters are slow to compile.
@if(!subgroup)
fn exclusive_sum(v: u32, t: Builtins) -> Sums {
    let r = rank(t);
    values[r] = v;
    workgroupBarrier();
    if r < CHUNKS {
        var sum = 0u;
        for (var i = r * CHUNK; i < (r + 1u) * CHUNK; i++) {
            let value = values[i];
            values[i] = sum;
            sum += value;
        }
        partials[r] = sum;
    }
    workgroupBarrier();
    var before = values[r];
    var total = 0u;
    for (var i = 0u; i < CHUNKS; i++) {
        before += select(0u, partials[i], i < r / CHUNK);
        total += partials[i];
    }
    workgroupBarrier();
    return Sums(before, total);
}
