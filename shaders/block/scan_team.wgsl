// The combination of all units before each unit of a team's tile, and of the
// whole tile. A team is TEAM consecutive ranks, TEAM a power of two; its tile is
// TEAM * ITEMS units, of which each member has ITEMS. Which ones `place` says:
// with subgroups, neighbouring members have neighbouring units. Call `scan` in
// uniform control flow.

import super::op::{identity, combine};
import super::value::Value;
@if(subgroup) import super::value::{shuffle, shuffle_up};
import super::config::{WORKGROUP, TEAM, ITEMS};
import super::thread::{Builtins, rank};

struct Prefixes {
    before: array<Value, ITEMS>,
    total: Value,
}

// Subgroups have four invocations at least.
@if(subgroup) const PARTIALS: u32 = WORKGROUP / 4u;
@if(!subgroup) const PARTIALS: u32 = WORKGROUP;

var<workgroup> partials: array<Value, PARTIALS>;

// The number of a subgroup's lanes that belong to one team.
@if(subgroup)
fn width(t: Builtins) -> u32 {
    return min(TEAM, t.subgroup_size);
}

// Which unit of the tile the invocation's k-th is.
@if(subgroup)
fn place(k: u32, t: Builtins) -> u32 {
    let w = width(t);
    return (rank(t) % TEAM / w * ITEMS + k) * w + t.lane % w;
}

@if(!subgroup)
fn place(k: u32, t: Builtins) -> u32 {
    return rank(t) % TEAM * ITEMS + k;
}

@if(subgroup)
fn scan(units: array<Value, ITEMS>, t: Builtins) -> Prefixes {
    let w = width(t);
    let lane = t.lane % w;
    var result: Prefixes;
    var total = identity();
    @unroll for (var k = 0u; k < ITEMS; k++) {
        var inclusive = units[k];
        // A constant number of steps, for subgroups of up to 128: browsers refuse
        // subgroup calls in loops whose bounds are not uniform.
        for (var step = 1u; step < min(TEAM, 128u); step <<= 1u) {
            let other = shuffle_up(inclusive, step);
            if lane >= step {
                inclusive = combine(other, inclusive);
            }
        }
        let before = shuffle_up(inclusive, 1u);
        result.before[k] = total;
        if lane > 0u {
            result.before[k] = combine(total, before);
        }
        total = combine(total, shuffle(inclusive, t.lane - lane + w - 1u));
    }
    if TEAM > 4u {
        if lane == 0u && TEAM > w {
            partials[t.subgroup] = total;
        }
        workgroupBarrier();
        if TEAM > w {
            let first = rank(t) / TEAM * (TEAM / w);
            var earlier = identity();
            total = identity();
            for (var i = first; i < first + TEAM / w; i++) {
                if i == t.subgroup {
                    earlier = total;
                }
                total = combine(total, partials[i]);
            }
            @unroll for (var k = 0u; k < ITEMS; k++) {
                result.before[k] = combine(earlier, result.before[k]);
            }
        }
        // The next tile's scan writes them again.
        workgroupBarrier();
    }
    result.total = total;
    return result;
}

// Two levels of up to GROUP partials each, rather than a tree: as fast, and with
// few barriers several times faster to compile on CPU adapters.
@if(!subgroup) const GROUP: u32 = min(16u, TEAM);

@if(!subgroup)
fn scan(units: array<Value, ITEMS>, t: Builtins) -> Prefixes {
    var result: Prefixes;
    var total = identity();
    @unroll for (var k = 0u; k < ITEMS; k++) {
        result.before[k] = total;
        total = combine(total, units[k]);
    }
    if TEAM > 1u {
        let r = rank(t);
        partials[r] = total;
        workgroupBarrier();
        if r % GROUP == 0u {
            for (var i = r + 1u; i < r + GROUP; i++) {
                total = combine(total, partials[i]);
                partials[i] = total;
            }
        }
        workgroupBarrier();
        let first = r / TEAM * TEAM;
        var earlier = identity();
        total = identity();
        for (var i = first; i < first + TEAM; i += GROUP) {
            if i == r / GROUP * GROUP {
                earlier = total;
            }
            total = combine(total, partials[i + GROUP - 1u]);
        }
        if r % GROUP > 0u {
            earlier = combine(earlier, partials[r - 1u]);
        }
        @unroll for (var k = 0u; k < ITEMS; k++) {
            result.before[k] = combine(earlier, result.before[k]);
        }
        // The next tile's scan writes them again.
        workgroupBarrier();
    }
    result.total = total;
    return result;
}
