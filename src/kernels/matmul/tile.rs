//! How a product is cut up: a pure function of capabilities and problem, that
//! cannot change what is computed.

use crate::device::Capabilities;
use crate::operation::Variant;

/// The part of a result that one workgroup computes, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tile {
    /// Invocations along m and n: multiples of 4 and 8.
    pub threads: [u32; 2],
    /// Quads of rows and columns that each invocation sums.
    pub quads: [u32; 2],
    /// The part of the summed axis that is staged at a time, a multiple of 4.
    pub depth: u32,
}

impl Tile {
    const fn new(threads: [u32; 2], quads: [u32; 2], depth: u32) -> Tile {
        Tile {
            threads,
            quads,
            depth,
        }
    }

    /// Invocations of a workgroup.
    pub const fn workgroup(self) -> u32 {
        self.threads[0] * self.threads[1]
    }

    /// Rows of the tile.
    pub const fn m(self) -> u32 {
        4 * self.threads[0] * self.quads[0]
    }

    /// Columns of the tile.
    pub const fn n(self) -> u32 {
        4 * self.threads[1] * self.quads[1]
    }

    /// Bytes of workgroup memory: a step's tiles of both factors.
    pub const fn workgroup_bytes(self) -> u64 {
        (self.m() + self.n()) as u64 * self.depth as u64 * 4
    }

    /// Tiles that cover an m × n matrix.
    pub fn count(self, m: usize, n: usize) -> u64 {
        m.div_ceil(self.m() as usize) as u64 * n.div_ceil(self.n() as usize) as u64
    }
}

/// The fast variant's tiles, largest first.
const FAST: &[Tile] = &[
    Tile::new([16, 16], [2, 2], 16),
    Tile::new([16, 8], [2, 2], 16),
    Tile::new([8, 8], [2, 2], 16),
    Tile::new([8, 8], [1, 1], 16),
];

/// The portable variant's tiles, largest first: 8 KiB of workgroup memory and
/// 64 invocations at most.
const PORTABLE: &[Tile] = &[Tile::new([8, 8], [2, 2], 16), Tile::new([8, 8], [1, 1], 16)];

/// What adapters that are a CPU run fastest and compile in the least time.
const SOFTWARE: &[Tile] = &[Tile::new([8, 8], [1, 1], 16)];

/// As many workgroups keep the largest GPUs busy (an H200 has 132 compute units).
const ENOUGH_WORKGROUPS: u64 = 256;
/// A slice of the summed axis is at least as long, so that its sums outweigh
/// the pass that combines the slices.
const LEAST_SLICE: usize = 256;

/// What the choice depends on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    pub batch: usize,
    pub m: usize,
    pub n: usize,
    pub k: usize,
}

/// A tile, and the number of slices that the summed axis is cut into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cut {
    pub tile: Tile,
    /// The length of each slice but the last: a multiple of the tile's depth.
    pub slice: usize,
    pub slices: usize,
    /// Whether loops are kept from being unrolled: for adapters that are a CPU,
    /// which gain nothing by it and compile for seconds.
    pub rolled: bool,
}

/// The cut for a product of this shape.
pub(crate) fn choose(variant: Variant, capabilities: &Capabilities, shape: Shape) -> Cut {
    let software = capabilities.slow_compiler();
    let tiles = match variant {
        _ if software => SOFTWARE,
        Variant::Portable => PORTABLE,
        _ => FAST,
    };
    let limits = &capabilities.limits;
    let fits = |tile: &Tile| {
        tile.workgroup() <= limits.max_compute_invocations_per_workgroup
            && tile.workgroup() <= limits.max_compute_workgroup_size_x
            && tile.workgroup_bytes() <= limits.max_compute_workgroup_storage_size as u64
    };
    let workgroups = |tile: &Tile| tile.count(shape.m, shape.n) * shape.batch as u64;
    let smallest = tiles[tiles.len() - 1];
    let tile = tiles
        .iter()
        .copied()
        .find(|tile| fits(tile) && workgroups(tile) >= ENOUGH_WORKGROUPS)
        .unwrap_or(smallest);
    let depth = tile.depth as usize;
    let most_slices = (shape.k / LEAST_SLICE).max(1) as u64;
    let slices = match software {
        true => 1,
        false => (ENOUGH_WORKGROUPS / workgroups(&tile).max(1)).clamp(1, most_slices),
    };
    let slice = shape
        .k
        .div_ceil(slices as usize)
        .next_multiple_of(depth)
        .max(depth);
    Cut {
        tile,
        slice,
        slices: shape.k.div_ceil(slice),
        rolled: software,
    }
}
