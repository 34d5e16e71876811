//! The dispatches of a radix sort.

use crate::device::Capabilities;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::kernels::sort::{Order, Payload};
use crate::operation::{Call, Variant};
use crate::plan::{Plan, PlanBuilder, StepBuilder, Width, dense_bytes};

/// How keys are cut into tiles and digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Tiling {
    workgroup: u32,
    /// Keys to an invocation.
    items: u32,
    digit_bits: u32,
    /// Subgroups in a workgroup at most; 0 without subgroup operations.
    subgroups: u32,
    /// Whether a subgroup's invocations fit one word of a ballot.
    narrow: bool,
}

/// Invocations of a workgroup that adds counts up.
const SCAN_WORKGROUP: u32 = 256;
/// Invocations of a workgroup that narrows keys, a quad each.
const QUADS_WORKGROUP: u32 = 256;

impl Tiling {
    /// Digits of 4 bits, within WebGPU's default limits.
    fn portable(capabilities: &Capabilities) -> Tiling {
        Tiling {
            workgroup: 128,
            items: if capabilities.slow_compiler() { 4 } else { 8 },
            digit_bits: 4,
            subgroups: 0,
            narrow: false,
        }
    }

    /// The largest tile of 8-bit digits that workgroup memory holds beside a
    /// counter for each digit and subgroup: smaller subgroups, smaller workgroups.
    fn with_subgroups(call: &Call, capabilities: &Capabilities) -> Result<Tiling> {
        let limits = &capabilities.limits;
        let memory = limits.max_compute_workgroup_storage_size as u64;
        let (min, max) = capabilities
            .subgroups
            .map_or((32, 32), |sizes| (sizes.min, sizes.max));
        let most_items = if capabilities.slow_compiler() { 4 } else { 16 };
        for workgroup in [256u32, 128, 64, 32] {
            for items in [most_items, most_items / 2, 4] {
                let tiling = Tiling {
                    workgroup,
                    items,
                    digit_bits: 8,
                    subgroups: workgroup.div_ceil(min),
                    narrow: max <= 32,
                };
                if tiling.scatter_bytes() <= memory
                    && workgroup <= limits.max_compute_invocations_per_workgroup
                {
                    return Ok(tiling);
                }
            }
        }
        Err(Error::Unavailable {
            operation: call.name().into(),
            reason: format!(
                "{memory} bytes of workgroup memory hold no counters for subgroups of {min}"
            ),
        })
    }

    fn tile(self) -> u32 {
        self.workgroup * self.items
    }

    fn digits(self) -> u32 {
        1 << self.digit_bits
    }

    /// Counters for each digit in the histogram, so that few invocations meet at one.
    fn copies(self) -> u32 {
        if self.digit_bits < 8 { 16 } else { 1 }
    }

    /// Workgroup memory of `sort_scatter`: counters, partial sums, the tile, `moves` and `starts`.
    fn scatter_bytes(self) -> u64 {
        let (counters, partials) = match self.subgroups {
            0 => (self.digits() * self.workgroup, self.workgroup),
            n => (self.digits() * n, n),
        };
        4 * (counters + partials + self.tile() + 2 * self.digits()) as u64
    }
}

/// Least significant digit first, three dispatches a digit; keys and values go
/// to and fro between the outputs and scratch, so that the last pass fills the outputs.
///
/// Every index is in range, so that the subgroup variant needs no checks. Let
/// `tiles·TILE ≥ columns`, `tile < tiles`, hence `start < columns`, and `count =
/// min(columns − start, TILE)`.
/// - Keys and values are read at `first + i`, `i < count`, which is below `rows·columns`
///   (a quad at `(first + i)/4`, where rows start at quads).
/// - `counts` is indexed by `(row·DIGITS + digit)·stride + tile` with `digit < DIGITS`,
///   since a digit is masked to at most `digit_bits` bits, and `tiles ≤ stride`;
///   `totals` by `row·DIGITS + digit`. Workgroups beyond the last row or list return.
/// - The places of a tile are a permutation of `0..TILE`: the counters of one tile
///   add up to TILE, since each of its items is counted once. So `staged` is
///   indexed below TILE, and what is read at `i < count` was written.
/// - `counters` is indexed by `subgroup·DIGITS + digit`; a subgroup's number is
///   below SUBGROUPS = workgroup / (least subgroup size), and so is `partials`'s index.
/// - A key of digit d goes to `row·columns`, plus the number of the row's keys with
///   smaller digits, of its keys of digit d in earlier tiles, and of those before
///   it in its tile: below `(row + 1)·columns`, as all are counted from the same keys
///   that are then moved. The keys a pass reads are written by no dispatch between
///   its first and its last.
/// - All workgroup memory is written before it is read: counters are cleared, and
///   `starts`, `moves` and `partials` are filled for all digits and subgroups in
///   front of a barrier.
pub(super) fn plan(
    call: &Call,
    variant: Variant,
    capabilities: &Capabilities,
    payload: Payload,
    order: Order,
) -> Result<Plan> {
    let mut plan = PlanBuilder::new(call, variant, capabilities);
    plan.require_subgroups()?;
    let spec = call.input(0);
    let (dtype, n) = (spec.dtype, spec.len());
    if n == 0 {
        return plan.finish();
    }
    let columns = spec.shape.last().copied().unwrap_or(1);
    let rows = n / columns;
    let tiling = if plan.subgroups() {
        Tiling::with_subgroups(call, capabilities)?
    } else {
        Tiling::portable(capabilities)
    };
    let digits = tiling.digits() as u64;
    let tiles = columns.div_ceil(tiling.tile() as usize);
    let stride = tiles.next_multiple_of(4);
    let lists = rows as u64 * digits;
    let entries = lists * stride as u64;
    if entries > u32::MAX as u64 {
        return Err(Error::Limit {
            operation: call.name().into(),
            what: "digit counts".into(),
            asked: entries,
            limit: u32::MAX as u64,
            way_out: "Split the tensor along its first axis".into(),
        });
    }
    // At least one pass, which copies where no bit takes part.
    let passes = order.bits().div_ceil(tiling.digit_bits).max(1);
    let words = dense_bytes(DType::U32, n);

    // Keys are words, whatever they mean.
    let mut keys = plan.dense(0);
    let mut sorted_keys = plan.output(0);
    if dtype.size() == 2 {
        keys = plan.as_words("keys as words", keys, dtype, n);
        sorted_keys = plan.scratch("sorted keys as words", words);
    }
    let mut values = match payload {
        Payload::Values => Some(plan.dense(1)),
        _ => None,
    };
    let sorted_values = match payload {
        Payload::None => None,
        _ => Some(plan.output(1)),
    };
    let between_keys = (passes > 1).then(|| plan.scratch("keys between passes", words));
    let between_values = sorted_values
        .filter(|_| passes > 1)
        .map(|_| plan.scratch("values between passes", words));
    let counts = plan.scratch("digit counts", 4 * entries);
    let totals = plan.scratch("digit totals", 4 * lists);

    for pass in 0..passes {
        let last = (passes - 1 - pass).is_multiple_of(2);
        let to_keys = between_keys.filter(|_| !last).unwrap_or(sorted_keys);
        let to_values = match (last, between_values) {
            (false, Some(between)) => Some(between),
            _ => sorted_values,
        };
        let digit = Digit::new(order, dtype, pass, tiling);

        let quads = rows == 1 || columns.is_multiple_of(4);
        let width = if quads { Width::Quad } else { Width::Element };
        let step = plan
            .step("sort_histogram")
            .read("keys", keys, DType::U32, width)
            .words("counts", counts)
            .constant("WORKGROUP", tiling.workgroup)
            .constant("TILE", tiling.tile())
            .constant("DIGITS", tiling.digits())
            .constant("COPIES", tiling.copies())
            .flag("quads", quads)
            .workgroup_bytes(4 * (tiling.digits() * tiling.copies()) as u64)
            .param(rows as u32)
            .param(columns as u32)
            .param(tiles as u32)
            .param(stride as u32);
        trusted(digit.of(step), tiling).workgroups(rows as u64 * tiles as u64);

        let step = plan
            .step("sort_scan")
            .word_quads("counts", counts)
            .words("totals", totals)
            .constant("WORKGROUP", SCAN_WORKGROUP)
            .workgroup_bytes(4 * SCAN_WORKGROUP as u64)
            .param(lists as u32)
            .param(tiles as u32)
            .param(stride as u32);
        let scan = Tiling {
            workgroup: SCAN_WORKGROUP,
            ..tiling
        };
        trusted(subgroup_modules(step, scan), tiling).workgroups(lists);

        let mut step = plan
            .step("sort_scatter")
            .read("keys", keys, DType::U32, Width::Element)
            .words("to_keys", to_keys)
            .words("counts", counts)
            .words("totals", totals);
        if let Some(values) = values {
            step = step
                .read("values", values, DType::U32, Width::Element)
                .flag("given_values", true);
        }
        if let Some(to_values) = to_values {
            step = step.words("to_values", to_values).flag("values", true);
        }
        let step = step
            .module("ranking", "block/digit_rank", &[])
            .constant("WORKGROUP", tiling.workgroup)
            .constant("ITEMS", tiling.items)
            .constant("TILE", tiling.tile())
            .constant("DIGITS", tiling.digits())
            .constant("DIGIT_BITS", tiling.digit_bits)
            .workgroup_bytes(tiling.scatter_bytes())
            .param(rows as u32)
            .param(columns as u32)
            .param(tiles as u32)
            .param(stride as u32);
        let step = digit.of(subgroup_modules(step, tiling));
        trusted(step, tiling).workgroups(rows as u64 * tiles as u64);
        keys = to_keys;
        values = to_values;
    }
    if dtype.size() == 2 {
        let packed = plan.output(0);
        plan.step("sort_narrow")
            .read("x", keys, DType::U32, Width::Quad)
            .write("y", packed, dtype, Width::Quad)
            .constant("WORKGROUP", QUADS_WORKGROUP)
            .param(n as u32)
            .workgroups((n as u64).div_ceil(4 * QUADS_WORKGROUP as u64));
    }
    plan.finish()
}

/// The digit that a pass sorts by: `(order ^ flip) >> shift & mask`, where
/// `order` is the key itself, or made of a float's bits with `sign` and `infinity`.
#[derive(Clone, Copy)]
struct Digit {
    flip: u32,
    shift: u32,
    mask: u32,
    dtype: DType,
}

impl Digit {
    fn new(order: Order, dtype: DType, pass: u32, tiling: Tiling) -> Digit {
        let shift = order.begin + pass * tiling.digit_bits;
        let bits = order.end.saturating_sub(shift).min(tiling.digit_bits);
        let (sign, _) = float_bits(dtype);
        let descend = if order.descending {
            sign | (sign - 1)
        } else {
            0
        };
        Digit {
            flip: descend ^ if dtype == DType::I32 { sign } else { 0 },
            shift: shift.min(31),
            mask: (1 << bits) - 1,
            dtype,
        }
    }

    fn of<'p, 'a>(self, step: StepBuilder<'p, 'a>) -> StepBuilder<'p, 'a> {
        let step = step.param(self.flip).param(self.shift).param(self.mask);
        sort_order(step, self.dtype)
    }
}

/// The bits of −0 and +inf of a float dtype.
fn float_bits(dtype: DType) -> (u32, u32) {
    match dtype {
        DType::F16 => (0x8000, 0x7c00),
        DType::BF16 => (0x8000, 0x7f80),
        DType::F32 | DType::I32 | DType::U32 => (0x8000_0000, 0x7f80_0000),
    }
}

/// Links `op/sort_order` as `order`, and appends the words `sign` and `infinity` that it takes.
pub(crate) fn sort_order<'p, 'a>(step: StepBuilder<'p, 'a>, dtype: DType) -> StepBuilder<'p, 'a> {
    let (sign, infinity) = float_bits(dtype);
    step.module("order", "op/sort_order", &[])
        .flag("float", dtype.is_float())
        .param(sign)
        .param(infinity)
}

/// What kernels need that add up or rank within a workgroup.
fn subgroup_modules<'p, 'a>(step: StepBuilder<'p, 'a>, tiling: Tiling) -> StepBuilder<'p, 'a> {
    let step = step.exclusive_sums(tiling.workgroup);
    match tiling.subgroups {
        0 => step,
        _ => step
            .module("lanes", "block/lanes", &[])
            .flag("narrow", tiling.narrow),
    }
}

/// Without zeroing of workgroup memory, and without run-time checks in the
/// subgroup variant; the proof stands at [`plan`].
fn trusted<'p, 'a>(step: StepBuilder<'p, 'a>, tiling: Tiling) -> StepBuilder<'p, 'a> {
    if tiling.subgroups == 0 {
        step.unzeroed()
    } else {
        step.unchecked()
    }
}
