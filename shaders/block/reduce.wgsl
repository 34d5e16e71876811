// The combination of one value of every invocation of a workgroup, in the order
// of their ranks, given back to all of them. Call it in uniform control flow.
//
// Instantiated per operator: `op` has Value, combine and, with subgroups, shuffle_xor.

import super::op::{Value, combine};
@if(subgroup) import super::op::shuffle_xor;
import super::config::WORKGROUP;
import super::thread::{Builtins, rank};

// Subgroups have four invocations at least.
@if(subgroup) const PARTIALS: u32 = WORKGROUP / 4u;
@if(!subgroup) const PARTIALS: u32 = WORKGROUP;

var<workgroup> partials: array<Value, PARTIALS>;

@if(subgroup)
fn reduce(v: Value, t: Builtins) -> Value {
    var sum = v;
    // A constant number of steps, for subgroups of up to 128: browsers refuse
    // subgroup calls in loops whose bounds are not uniform.
    for (var step = 1u; step < 128u; step <<= 1u) {
        let other = shuffle_xor(sum, step);
        if step < t.subgroup_size {
            if (t.lane & step) == 0u {
                sum = combine(sum, other);
            } else {
                sum = combine(other, sum);
            }
        }
    }
    if t.lane == 0u {
        partials[t.subgroup] = sum;
    }
    workgroupBarrier();
    let subgroups = WORKGROUP / t.subgroup_size;
    var total = partials[0];
    for (var i = 1u; i < subgroups; i++) {
        total = combine(total, partials[i]);
    }
    workgroupBarrier();
    return total;
}

@if(!subgroup)
fn reduce(v: Value, t: Builtins) -> Value {
    let r = rank(t);
    partials[r] = v;
    for (var step = 1u; step < WORKGROUP; step <<= 1u) {
        workgroupBarrier();
        let at = r * 2u * step;
        if at + step < WORKGROUP {
            partials[at] = combine(partials[at], partials[at + step]);
        }
    }
    workgroupBarrier();
    let total = partials[0];
    workgroupBarrier();
    return total;
}
