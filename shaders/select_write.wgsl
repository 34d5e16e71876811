// Compaction, step 3: each tile packs what is selected of it in workgroup
// memory, in order, and moves that to where the sums of step 2 say. With `rest`,
// what is not selected follows behind everything that is, in order too. With
// `places`, each selected element's place in the input is stored as well.
//
// Reduce-then-scan compaction: Billeter, Olsson and Assarsson 2009, "Efficient
// stream compaction on wide SIMD many-core architectures".

import super::config::{WORKGROUP, QUADS, TILE};
import super::grid;
import super::thread::{Builtins, rank};
import super::block::exclusive_sum;
import super::selection::chosen;
import super::x;
import super::sums;
import super::to;
@if(places) import super::to_places;

struct Params {
    grid_row: u32,
    n: u32,
    tiles: u32,
    // The bits of -0 and +inf, for floats.
    sign: u32,
    infinity: u32,
}

@group(0) @binding(0) var<uniform> params: Params;

var<workgroup> staged: array<u32, TILE>;

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, t: Builtins) {
    let tile = grid::index(workgroup, params.grid_row);
    if tile >= params.tiles {
        return;
    }
    let r = rank(t);
    let start = tile * TILE;
    let count = min(params.n - start, TILE);
    // One bit for each element of this invocation's quads, which are neighbours.
    var picked = 0u;
    @unroll for (var k = 0u; k < QUADS; k++) {
        let q = start / 4u + r * QUADS + k;
        if q * 4u < params.n {
            let one = vec4<u32>(chosen(q, params.n, params.sign, params.infinity));
            picked |= (one.x | (one.y << 1u) | (one.z << 2u) | (one.w << 3u)) << (4u * k);
        }
    }
    let packed = exclusive_sum(countOneBits(picked), t);
    // Where this invocation's elements go within the tile: selected ones from
    // `place`, the others from `other`.
    let other = packed.total + r * QUADS * 4u - packed.before;
    @unroll for (var k = 0u; k < QUADS; k++) {
        let q = start / 4u + r * QUADS + k;
        if q * 4u < params.n {
            let bits = x::load4_bits(q);
            @unroll for (var e = 0u; e < 4u; e++) {
                let bit = 4u * k + e;
                let lower = countOneBits(picked & ((1u << bit) - 1u));
                if ((picked >> bit) & 1u) == 1u {
                    staged[packed.before + lower] = bits[e];
                }
                @if(rest) {
                    if ((picked >> bit) & 1u) == 0u && q * 4u + e < params.n {
                        staged[other + bit - lower] = bits[e];
                    }
                }
            }
        }
    }
    workgroupBarrier();
    let first = sums::data[tile];
    for (var i = r; i < packed.total; i += WORKGROUP) {
        to::data[first + i] = staged[i];
    }
    @if(rest) {
        // Behind all that is selected, and what earlier tiles leave.
        let behind = sums::data[params.tiles] + start - first;
        for (var i = packed.total + r; i < count; i += WORKGROUP) {
            to::data[behind + i - packed.total] = staged[i];
        }
    }
    @if(places) {
        workgroupBarrier();
        @unroll for (var k = 0u; k < QUADS; k++) {
            @unroll for (var e = 0u; e < 4u; e++) {
                let bit = 4u * k + e;
                if ((picked >> bit) & 1u) == 1u {
                    let lower = countOneBits(picked & ((1u << bit) - 1u));
                    staged[packed.before + lower] = start + r * QUADS * 4u + bit;
                }
            }
        }
        workgroupBarrier();
        for (var i = r; i < packed.total; i += WORKGROUP) {
            to_places::data[first + i] = staged[i];
        }
    }
}
