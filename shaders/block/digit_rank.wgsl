// Stable ranks of the digits that a workgroup holds, ITEMS to an invocation.
//
// `tile_place` says which element of the tile item k of an invocation has to be;
// `rank_digits` replaces each digit by its place in the sorted tile; afterwards
// `digit_start` is the place of the first of each digit. Call it once, in
// uniform control flow, with TILE < 65536.

import super::config::{WORKGROUP, ITEMS, DIGITS};
import super::thread::{Builtins, rank};
import super::block::exclusive_sum;
@if(subgroup) import super::config::{SUBGROUPS, DIGIT_BITS};
@if(subgroup) import super::lanes::{lanes_where, lanes_below, lanes_count, lanes_lowest, lanes_agreeing};

// With subgroups: one counter for each subgroup and digit. An item's rank among
// its subgroup's equals is the counter so far and the number of equals in lower
// lanes, which one ballot for each bit finds; the lowest lane moves the counter
// on (Adinets and Merrill 2022, "Onesweep: a faster least significant digit
// radix sort for GPUs", warp-level multi-split).
@if(subgroup) var<workgroup> counters: array<atomic<u32>, SUBGROUPS * DIGITS>;
@if(subgroup) var<workgroup> starts: array<u32, DIGITS>;
@if(subgroup) const DIGITS_EACH: u32 = (DIGITS + WORKGROUP - 1u) / WORKGROUP;

@if(subgroup)
fn tile_place(k: u32, t: Builtins) -> u32 {
    let width = min(t.subgroup_size, WORKGROUP);
    return (t.subgroup * ITEMS + k) * width + t.lane;
}

@if(subgroup)
fn rank_digits(digits: ptr<function, array<u32, ITEMS>>, t: Builtins) {
    let r = rank(t);
    for (var i = r; i < SUBGROUPS * DIGITS; i += WORKGROUP) {
        atomicStore(&counters[i], 0u);
    }
    workgroupBarrier();
    let everyone = lanes_where(true);
    let below = lanes_below(t.lane);
    let own = t.subgroup * DIGITS;
    @unroll for (var k = 0u; k < ITEMS; k++) {
        let digit = (*digits)[k];
        var equals = everyone;
        @unroll for (var bit = 0u; bit < DIGIT_BITS; bit++) {
            equals = lanes_agreeing(equals, ((digit >> bit) & 1u) == 1u);
        }
        let lower = lanes_count(equals & below);
        var counted = 0u;
        if lower == 0u {
            counted = atomicAdd(&counters[own + digit], lanes_count(equals));
        }
        counted = subgroupShuffle(counted, lanes_lowest(equals));
        (*digits)[k] = digit | ((counted + lower) << 16u);
    }
    workgroupBarrier();
    let subgroups = (WORKGROUP + t.subgroup_size - 1u) / t.subgroup_size;
    var sum = 0u;
    for (var i = 0u; i < DIGITS_EACH; i++) {
        let digit = r * DIGITS_EACH + i;
        if digit < DIGITS {
            for (var s = 0u; s < subgroups; s++) {
                sum += atomicLoad(&counters[s * DIGITS + digit]);
            }
        }
    }
    var place = exclusive_sum(sum, t).before;
    for (var i = 0u; i < DIGITS_EACH; i++) {
        let digit = r * DIGITS_EACH + i;
        if digit < DIGITS {
            starts[digit] = place;
            for (var s = 0u; s < subgroups; s++) {
                let counted = atomicLoad(&counters[s * DIGITS + digit]);
                atomicStore(&counters[s * DIGITS + digit], place);
                place += counted;
            }
        }
    }
    workgroupBarrier();
    @unroll for (var k = 0u; k < ITEMS; k++) {
        let v = (*digits)[k];
        (*digits)[k] = (v >> 16u) + atomicLoad(&counters[own + (v & 0xffffu)]);
    }
}

@if(subgroup)
fn digit_start(digit: u32) -> u32 {
    return starts[digit];
}

// Without subgroups: each invocation takes neighbouring items and has a counter
// for each digit to itself; digit by digit and invocation by invocation, their
// exclusive sum gives every item its place (Satish, Harris and Garland 2009,
// "Designing efficient sorting algorithms for manycore GPUs").
@if(!subgroup) var<workgroup> counters: array<u32, DIGITS * WORKGROUP>;

@if(!subgroup)
fn tile_place(k: u32, t: Builtins) -> u32 {
    return rank(t) * ITEMS + k;
}

@if(!subgroup)
fn rank_digits(digits: ptr<function, array<u32, ITEMS>>, t: Builtins) {
    let r = rank(t);
    for (var digit = 0u; digit < DIGITS; digit++) {
        counters[digit * WORKGROUP + r] = 0u;
    }
    @unroll for (var k = 0u; k < ITEMS; k++) {
        let digit = (*digits)[k];
        let counted = counters[digit * WORKGROUP + r];
        counters[digit * WORKGROUP + r] = counted + 1u;
        (*digits)[k] = digit | (counted << 16u);
    }
    workgroupBarrier();
    var sum = 0u;
    for (var i = 0u; i < DIGITS; i++) {
        sum += counters[r * DIGITS + i];
    }
    var place = exclusive_sum(sum, t).before;
    for (var i = 0u; i < DIGITS; i++) {
        let counted = counters[r * DIGITS + i];
        counters[r * DIGITS + i] = place;
        place += counted;
    }
    workgroupBarrier();
    @unroll for (var k = 0u; k < ITEMS; k++) {
        let v = (*digits)[k];
        (*digits)[k] = (v >> 16u) + counters[(v & 0xffffu) * WORKGROUP + r];
    }
}

@if(!subgroup)
fn digit_start(digit: u32) -> u32 {
    return counters[digit * WORKGROUP];
}
