// The combination of one value of every member of a team, in the order of their
// ranks, given back to the team's first member. A team is TEAM
// consecutive ranks, TEAM a power of two. Call it in uniform control flow.

import super::op::combine;
import super::value::Value;
@if(subgroup) import super::value::shuffle_xor;
import super::config::{WORKGROUP, TEAM};
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
    for (var step = 1u; step < min(TEAM, 128u); step <<= 1u) {
        let other = shuffle_xor(sum, step);
        if step < t.subgroup_size {
            if (t.lane & step) == 0u {
                sum = combine(sum, other);
            } else {
                sum = combine(other, sum);
            }
        }
    }
    if TEAM > 4u {
        if t.lane == 0u {
            partials[t.subgroup] = sum;
        }
        workgroupBarrier();
        if TEAM > t.subgroup_size {
            let subgroups = TEAM / t.subgroup_size;
            let first = t.subgroup / subgroups * subgroups;
            sum = partials[first];
            for (var i = 1u; i < subgroups; i++) {
                sum = combine(sum, partials[first + i]);
            }
        }
    }
    return sum;
}

// Two levels of up to GROUP partials each, rather than a tree: as fast, and with
// two barriers instead of eight several times faster to compile on CPU adapters.
@if(!subgroup) const GROUP: u32 = 16u;

@if(!subgroup)
fn reduce(v: Value, t: Builtins) -> Value {
    if TEAM == 1u {
        return v;
    }
    let r = rank(t);
    partials[r] = v;
    workgroupBarrier();
    var sum = v;
    if r % min(GROUP, TEAM) == 0u {
        for (var i = 1u; i < min(GROUP, TEAM); i++) {
            sum = combine(sum, partials[r + i]);
        }
        partials[r] = sum;
    }
    if TEAM > GROUP {
        workgroupBarrier();
        if r % TEAM == 0u {
            for (var i = GROUP; i < TEAM; i += GROUP) {
                sum = combine(sum, partials[r + i]);
            }
        }
    }
    return sum;
}
