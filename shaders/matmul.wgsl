// The product of two matrices, one tile of the result a workgroup.
//
// A workgroup walks along the summed axis in steps of DEPTH. Each step stages a
// tile of both factors in workgroup memory, as quads across, and every invocation
// adds DEPTH products to the sums that it keeps in registers: 4 QUADS_M rows by
// 4 QUADS_N columns. The next step's tiles are on their way from memory meanwhile.
// (Volkov, Demmel: Benchmarking GPUs to tune dense linear algebra, 2008; Tan et
// al.: Fast implementation of DGEMM on Fermi GPU, 2011.)
//
// Products of several matrices, and slices of a long summed axis, are layers.

import super::config::{WORKGROUP, THREADS_M, THREADS_N, QUADS_M, QUADS_N, DEPTH, GROUP};
import super::grid;
import super::a_panel;
import super::b_panel;
import super::y;
@if(finish) import super::finish::{Finish, finish};

const TILE_M: u32 = 4u * THREADS_M * QUADS_M;
const TILE_N: u32 = 4u * THREADS_N * QUADS_N;
// Quads across a tile.
const ACROSS_M: u32 = TILE_M / 4u;
const ACROSS_N: u32 = TILE_N / 4u;
// Blocks of 4 x 4 in a step's tiles, and how many of them an invocation stages.
const BLOCKS_A: u32 = ACROSS_M * DEPTH / 4u;
const BLOCKS_B: u32 = ACROSS_N * DEPTH / 4u;
const BLOCKS: u32 = (BLOCKS_A + BLOCKS_B) / WORKGROUP;
const SUMS: u32 = 4u * QUADS_M * QUADS_N;

struct Params {
    row: u32,
    tiles_m: u32,
    tiles_n: u32,
    // Matrices in the batch times slices.
    layers: u32,

    m: u32,
    n: u32,
    k: u32,
    // The length of a slice, a multiple of DEPTH.
    slice: u32,

    a_offset: u32,
    a_ld: u32,
    b_offset: u32,
    b_ld: u32,

    batch: u32,
    // Results are stored in groups of `inner` matrices, `group` elements apart.
    inner: u32,
    group: u32,
    // 4: what bounds loops where drivers must not unroll them.
    four: u32,

    // Each: extent of a batch axis, and the steps along it in a, b and c.
    axes: array<vec4<u32>, 4>,
    @if(finish) finish: Finish,
}

@group(0) @binding(0) var<uniform> params: Params;

var<workgroup> a_tile: array<vec4<f32>, DEPTH * ACROSS_M>;
var<workgroup> b_tile: array<vec4<f32>, DEPTH * ACROSS_N>;

@if(rolled)
fn four() -> u32 {
    return params.four;
}

@if(!rolled)
fn four() -> u32 {
    return 4u;
}

// A block's place in its tile: quad across, and depth. Eight invocations in a
// row take neighbours across, so that workgroup memory is written without bank
// conflicts; the next eight take the next depth, so that memory is read in long runs.
fn block_place(block: u32) -> vec2<u32> {
    const depths = DEPTH / 4u;
    return vec2<u32>(block % 8u + block / (8u * depths) * 8u, block / 8u % depths);
}

// Whether an invocation's block number i belongs to a. One that is decided at
// compile time where all invocations agree.
fn is_a(i: u32, t: u32) -> bool {
    if BLOCKS_A % WORKGROUP == 0u {
        return i < BLOCKS_A / WORKGROUP;
    }
    return i * WORKGROUP + t < BLOCKS_A;
}

// Tiles in bands of GROUP rows, down each column of a band before the next:
// workgroups that run together then read the same parts of both factors.
fn tile_place(index: u32) -> vec2<u32> {
    let band_size = GROUP * params.tiles_n;
    let band = index / band_size;
    let height = min(GROUP, params.tiles_m - band * GROUP);
    let within = index - band * band_size;
    return vec2<u32>(band * GROUP + within % height, within / height);
}

// The steps in a, b and c from the first matrix of the batch to this one.
fn batch_offsets(batch: u32) -> vec3<u32> {
    var rest = batch;
    var at = vec3<u32>();
    for (var axis = 0u; axis < 4u; axis++) {
        let extent = params.axes[3u - axis].x;
        at += (rest % extent) * params.axes[3u - axis].yzw;
        rest /= extent;
    }
    return at;
}

// A block whose first depth is `depth` in a step that has `rest` depths left.
fn fetch_a(at: vec4<u32>, lanes: vec4<u32>, depth: u32, rest: u32) -> mat4x4<f32> {
    @if(!rolled) {
        if rest >= DEPTH {
            return a_panel::fetch(at, lanes);
        }
    }
    return a_panel::fetch_of(at, lanes, rest - min(depth, rest), four());
}

fn fetch_b(at: vec4<u32>, lanes: vec4<u32>, depth: u32, rest: u32) -> mat4x4<f32> {
    @if(!rolled) {
        if rest >= DEPTH {
            return b_panel::fetch(at, lanes);
        }
    }
    return b_panel::fetch_of(at, lanes, rest - min(depth, rest), four());
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) t: u32) {
    let index = grid::index(workgroup, params.row);
    let tiles = params.tiles_m * params.tiles_n;
    let layer = index / tiles;
    if layer >= params.layers {
        return;
    }
    let tile = tile_place(index % tiles);
    let first_row = tile.x * TILE_M;
    let first_column = tile.y * TILE_N;
    let slice = layer / params.batch;
    let batch = batch_offsets(layer % params.batch);
    let first_depth = slice * params.slice;
    let end = min(first_depth + params.slice, params.k);
    let steps = (end - first_depth + DEPTH - 1u) / DEPTH;

    // The blocks that this invocation stages.
    var at: array<vec4<u32>, BLOCKS>;
    var lanes: array<vec4<u32>, BLOCKS>;
    var depth: array<u32, BLOCKS>;
    var place: array<u32, BLOCKS>;
    var staged: array<mat4x4<f32>, BLOCKS>;
    for (var i = 0u; i < BLOCKS; i++) {
        if is_a(i, t) {
            let block = block_place(i * WORKGROUP + t);
            depth[i] = 4u * block.y;
            place[i] = depth[i] * ACROSS_M + block.x;
            let first = first_row + 4u * block.x;
            at[i] = params.a_offset + batch.x
                + a_panel::start(params.a_ld, first, params.m - 1u, first_depth + depth[i]);
            lanes[i] = a_panel::lanes(first, params.m - 1u);
        } else {
            let block = block_place(i * WORKGROUP + t - BLOCKS_A);
            depth[i] = 4u * block.y;
            place[i] = depth[i] * ACROSS_N + block.x;
            let first = first_column + 4u * block.x;
            at[i] = params.b_offset + batch.y
                + b_panel::start(params.b_ld, first, params.n - 1u, first_depth + depth[i]);
            lanes[i] = b_panel::lanes(first, params.n - 1u);
        }
    }

    // Where this invocation's rows and columns start: eight by four of each 32.
    let across = t / 32u;
    const across_n = THREADS_N / 8u;
    let thread_m = across / across_n * 4u + t / 8u % 4u;
    let thread_n = across % across_n * 8u + t % 8u;
    var sums: array<vec4<f32>, SUMS>;
    for (var i = 0u; i < SUMS; i++) {
        sums[i] = vec4<f32>();
    }

    let a_step = DEPTH * a_panel::advance(params.a_ld);
    let b_step = DEPTH * b_panel::advance(params.b_ld);
    let depths = DEPTH / 4u * four();
    // One step further: the first fills `staged` only.
    for (var step = 0u; step <= steps; step++) {
        if step > 0u {
            workgroupBarrier();
            for (var i = 0u; i < BLOCKS; i++) {
                for (var d = 0u; d < four(); d++) {
                    if is_a(i, t) {
                        a_tile[place[i] + d * ACROSS_M] = staged[i][d];
                    } else {
                        b_tile[place[i] + d * ACROSS_N] = staged[i][d];
                    }
                }
            }
            workgroupBarrier();
        }
        if step < steps {
            let rest = end - first_depth - step * DEPTH;
            for (var i = 0u; i < BLOCKS; i++) {
                if is_a(i, t) {
                    staged[i] = fetch_a(at[i], lanes[i], depth[i], rest);
                    at[i] += vec4<u32>(a_step);
                } else {
                    staged[i] = fetch_b(at[i], lanes[i], depth[i], rest);
                    at[i] += vec4<u32>(b_step);
                }
            }
        }
        if step > 0u {
            for (var d = 0u; d < depths; d++) {
                var b: array<vec4<f32>, QUADS_N>;
                for (var j = 0u; j < QUADS_N; j++) {
                    b[j] = b_tile[d * ACROSS_N + j * THREADS_N + thread_n];
                }
                for (var i = 0u; i < QUADS_M; i++) {
                    let a = a_tile[d * ACROSS_M + i * THREADS_M + thread_m];
                    for (var j = 0u; j < QUADS_N; j++) {
                        sums[(i * 4u) * QUADS_N + j] += a.x * b[j];
                        sums[(i * 4u + 1u) * QUADS_N + j] += a.y * b[j];
                        sums[(i * 4u + 2u) * QUADS_N + j] += a.z * b[j];
                        sums[(i * 4u + 3u) * QUADS_N + j] += a.w * b[j];
                    }
                }
            }
        }
    }

    let group = layer / params.inner;
    let y_first = group * params.group + (layer - group * params.inner) * params.m * params.n;
    for (var i = 0u; i < QUADS_M; i++) {
        for (var r = 0u; r < four(); r++) {
            let row = first_row + (i * THREADS_M + thread_m) * 4u + r;
            for (var j = 0u; j < QUADS_N; j++) {
                let column = first_column + (j * THREADS_N + thread_n) * 4u;
                if row < params.m && column < params.n {
                    store(sums[(i * 4u + r) * QUADS_N + j], batch.z, row, column, y_first);
                }
            }
        }
    }
}

@if(finish)
fn result(sum: f32, c_batch: u32, row: u32, column: u32) -> f32 {
    return finish(sum, c_batch, row, column, params.finish);
}

@if(!finish)
fn result(sum: f32, c_batch: u32, row: u32, column: u32) -> f32 {
    return sum;
}

@if(quads)
fn store(sum: vec4<f32>, c_batch: u32, row: u32, column: u32, y_first: u32) {
    let v = vec4<f32>(
        result(sum.x, c_batch, row, column),
        result(sum.y, c_batch, row, column + 1u),
        result(sum.z, c_batch, row, column + 2u),
        result(sum.w, c_batch, row, column + 3u),
    );
    y::store4((y_first + row * params.n + column) >> 2u, v);
}

@if(!quads)
fn store(sum: vec4<f32>, c_batch: u32, row: u32, column: u32, y_first: u32) {
    let at = y_first + row * params.n + column;
    for (var e = 0u; e < four(); e++) {
        if column + e < params.n {
            y::store(at + e, result(sum[e], c_batch, row, column + e));
        }
    }
}
