//! The dispatches of a compaction.

use crate::device::Capabilities;
use crate::dtype::DType;
use crate::error::Result;
use crate::kernels::reduce::operator::Operator;
use crate::kernels::scan::steps::{Direction, Ends, scan};
use crate::kernels::select::What;
use crate::kernels::sort::plan::sort_order;
use crate::operation::{Call, Variant};
use crate::plan::{Plan, PlanBuilder, Slot, StepBuilder, Width, dense_bytes};

/// Invocations of every workgroup.
const WORKGROUP: u32 = 256;
/// Quads of elements to an invocation; a tile is what a workgroup takes.
const QUADS: u32 = 2;
const TILE: usize = (WORKGROUP * QUADS * 4) as usize;

/// Counts by tile, their exclusive sum, and the move; 16-bit elements as words
/// of their own meanwhile.
///
/// Every index is in range, so that the subgroup variant needs no checks. Let
/// `tiles = ⌈n / TILE⌉`; workgroups from `tiles` on return.
/// - Quads q of x and mask are loaded where 4q < n, and dense slots end at whole
///   quads; the element before a quad where q > 0.
/// - `counts` and `sums` have `tiles + 1` words.
/// - Within a tile, selected elements are numbered by their exclusive sum, below the
///   total, the others from the total on, below the tile's number of elements: `staged`
///   is indexed below TILE, and all that is read of it was written.
/// - The sum of all tiles' totals is at most n, so that `to`, of n words, is written at
///   `first + i` below n: first is the total of earlier tiles and i below this one's.
///   What is not selected follows at the total of all tiles plus the number that is not
///   selected before it, below n too. The mask is not written by any step.
/// - `partials` is indexed by a subgroup's number, below SUBGROUPS = WORKGROUP / least size.
pub(super) fn plan(
    call: &Call,
    variant: Variant,
    capabilities: &Capabilities,
    what: What,
) -> Result<Plan> {
    let mut plan = PlanBuilder::new(call, variant, capabilities);
    plan.require_subgroups()?;
    let (dtype, n) = (call.input(0).dtype, call.input(0).len());
    let number = call.outputs.len() - 1;
    if n == 0 {
        let count = plan.output(number);
        plan.fill(count, DType::U32, 1, 0);
        return plan.finish();
    }
    let tiles = n.div_ceil(TILE);
    let words = dense_bytes(DType::U32, n);
    let dense = plan.dense(0);
    let x = plan.as_words("elements as words", dense, dtype, n);
    let mask = what.by_mask().then(|| plan.dense(1));
    let flags = Flags { x, mask, dtype };
    let entries = dense_bytes(DType::U32, tiles + 1);
    let counts = plan.scratch("counts of tiles", entries);
    let sums = plan.scratch("sums of counts", entries);

    let step = flags
        .bind(plan.step("select_count"), false)
        .words("counts", counts);
    let step = flags.configure(common(step, variant), n, tiles);
    step.workgroups(tiles as u64);

    let sum = Operator::new("op/sum", "value/scalar", DType::U32);
    let exclusive = Direction {
        exclusive: true,
        reverse: false,
    };
    let ends = Ends::Elements(counts, DType::U32, sums, DType::U32);
    scan(&mut plan, &sum, ends, [1, tiles + 1], exclusive);

    let to = Target::new(&mut plan, 0, dtype, n);
    let starts = (what == What::RunLengthEncode).then(|| plan.scratch("starts of runs", words));
    let mut step = flags
        .bind(plan.step("select_write"), true)
        .words("sums", sums)
        .words("to", to.slot)
        .flag("rest", what == What::Partition)
        .flag("places", starts.is_some())
        .constant("TILE", TILE as u32);
    if let Some(starts) = starts {
        step = step.words("to_places", starts);
    }
    let step = flags.configure(common(step, variant), n, tiles);
    step.workgroup_bytes(4 * (TILE as u64 + 2 * WORKGROUP as u64))
        .workgroups(tiles as u64);
    // Of a partition everything counts: the sum behind the last tile's is not what limits it.
    let total = (what != What::Partition).then_some((sums, tiles as u32));
    to.place(&mut plan, total);

    if let Some(starts) = starts {
        let to = Target::new(&mut plan, 1, DType::I32, n);
        plan.step("select_lengths")
            .words("starts", starts)
            .words("total", sums)
            .words("to", to.slot)
            .constant("WORKGROUP", WORKGROUP)
            .param(n as u32)
            .param(tiles as u32)
            .workgroups((n as u64).div_ceil(WORKGROUP as u64));
        to.place(&mut plan, total);
    }
    let count = plan.output(number);
    plan.step("select_total")
        .words("total", sums)
        .words("y", count)
        .constant("WORKGROUP", 1u32)
        .param(tiles as u32)
        .workgroups(1);
    plan.finish()
}

/// What says which elements are selected.
struct Flags {
    /// Elements, a word each.
    x: Slot,
    mask: Option<Slot>,
    dtype: DType,
}

impl Flags {
    /// Binds what the flags are made of, and `x` where the kernel needs it itself.
    fn bind<'p, 'a>(&self, step: StepBuilder<'p, 'a>, with_x: bool) -> StepBuilder<'p, 'a> {
        let step = match with_x || self.mask.is_none() {
            true => step.read("x", self.x, DType::U32, Width::Quad),
            false => step,
        };
        match self.mask {
            Some(mask) => step.read("mask", mask, DType::U32, Width::Quad).module(
                "flags",
                "select/by_mask",
                &[],
            ),
            None => step.module("flags", "select/by_run", &[]),
        }
        .module("selection", "select/chosen", &[])
    }

    fn configure<'p, 'a>(
        &self,
        step: StepBuilder<'p, 'a>,
        n: usize,
        tiles: usize,
    ) -> StepBuilder<'p, 'a> {
        sort_order(step.param(n as u32).param(tiles as u32), self.dtype)
    }
}

/// The workgroup's sums, and the checks that the proof at [`plan`] makes unnecessary.
fn common<'p, 'a>(step: StepBuilder<'p, 'a>, variant: Variant) -> StepBuilder<'p, 'a> {
    let step = step
        .exclusive_sums(WORKGROUP)
        .constant("WORKGROUP", WORKGROUP)
        .constant("QUADS", QUADS)
        .workgroup_bytes(4 * 2 * WORKGROUP as u64);
    match variant {
        Variant::Portable => step.unzeroed(),
        _ => step.unchecked(),
    }
}

/// Where elements go, a word each: the output itself, or scratch to be placed there.
struct Target {
    output: usize,
    dtype: DType,
    n: usize,
    slot: Slot,
    direct: bool,
}

impl Target {
    fn new(plan: &mut PlanBuilder<'_>, output: usize, dtype: DType, n: usize) -> Target {
        let direct = dtype.size() == 4 && plan.call().outputs[output].is_dense();
        let slot = match direct {
            true => Slot::Output(output),
            false => plan.scratch("selected words", dense_bytes(DType::U32, n)),
        };
        Target {
            output,
            dtype,
            n,
            slot,
            direct,
        }
    }

    /// Places as many elements as `total` holds at its index, or all.
    fn place(self, plan: &mut PlanBuilder<'_>, total: Option<(Slot, u32)>) {
        if self.direct {
            return;
        }
        let output = Slot::Output(self.output);
        let per_word = 4 / self.dtype.size() as u64;
        let (total, at) = match total {
            Some(total) => total,
            None => {
                let all = plan.scratch("all of them", 4);
                plan.fill(all, DType::U32, 1, self.n as u32);
                (all, 0)
            }
        };
        plan.step("select_place")
            .words("x", self.slot)
            .words("total", total)
            .write("y", output, self.dtype, Width::Element)
            .constant("WORKGROUP", WORKGROUP)
            .param(self.n as u32)
            .param(at)
            .offset(output)
            // An unaligned start can touch one word more.
            .workgroups((self.n as u64 / per_word + 2).div_ceil(WORKGROUP as u64));
    }
}
