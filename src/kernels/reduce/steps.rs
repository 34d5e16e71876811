//! The dispatches of a reduction of [outer, extent, inner].

use crate::device::Capabilities;
use crate::dtype::DType;
use crate::kernels::reduce::operator::Operator;
use crate::plan::{PlanBuilder, Slot, StepBuilder, Width};

/// Invocations of every workgroup.
pub(crate) const WORKGROUP: usize = 256;
/// Quads that an invocation loads before it combines them: loads in flight.
const LANES: usize = 4;
/// As LANES, of rows that are not long, where longer kernels cost more to compile than they gain.
const LANES_SOFTWARE: usize = 2;
/// Elements that a workgroup takes of a long row: 8 quads an invocation.
const CHUNK: usize = 8192;
/// The most workgroups that rows are split among: enough to fill the largest
/// GPUs several times over, few enough for one workgroup to combine.
const MOST_GROUPS: usize = 8192;
/// The invocations that a reduction of columns is split up to.
const MOST_INVOCATIONS: usize = 1 << 19;
/// Elements of a column that one invocation takes at least, where it is split, and at most.
const COLUMN_CHUNK: std::ops::RangeInclusive<usize> = 16..=512;
/// Partial results of a column that one invocation combines at most.
const COLUMN_PARTIALS: usize = 64;

/// How many additions an element takes part in at most, in any variant and on
/// the CPU, where n elements are summed: the depth of the blocked sum, in γ of
/// its bound. Lanes of up to 128 quads and trees over lanes, members, splits
/// and partial results; 64 lanes and a tree over blocks of 1024 on the CPU.
pub(crate) fn depth(n: usize) -> usize {
    n.min(256 + 2 * n.max(1).ilog2() as usize)
}

/// What a step reads.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Source {
    /// Elements of this dtype.
    Elements(Slot, DType),
    /// Values that an earlier step stored.
    Values(Slot),
}

/// What a step writes.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Sink {
    /// Finished results of a dtype; and the parameter of the operator's `finish`.
    Results(Slot, DType, u32),
    /// Values for a later step.
    Values(Slot),
}

/// How rows are distributed over workgroups.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RowCut {
    /// Invocations of a row, within one workgroup: a power of two.
    pub team: usize,
    /// Workgroups of a row.
    pub splits: usize,
    /// Elements of a row for each split, the last of which may have fewer: a multiple of 4.
    pub chunk: usize,
}

impl RowCut {
    /// The cut of rows of elements.
    pub fn new(rows: usize, columns: usize, capabilities: &Capabilities) -> RowCut {
        let most = usize::try_from(capabilities.max_workgroups()).unwrap_or(usize::MAX);
        let most = most.min(MOST_GROUPS) / rows.max(1);
        let wanted = columns.div_ceil(CHUNK).clamp(1, most.max(1));
        if wanted == 1 {
            return RowCut::whole(columns.div_ceil(4), columns);
        }
        let chunk = columns.div_ceil(wanted).next_multiple_of(4);
        RowCut {
            team: WORKGROUP,
            splits: columns.div_ceil(chunk),
            chunk,
        }
    }

    fn lanes(self, slow_compiler: bool) -> usize {
        match slow_compiler && self.chunk <= 4 * CHUNK {
            true => LANES_SOFTWARE,
            false => LANES,
        }
    }

    /// Rows of so many units, loaded at a time, in one workgroup each: four units a member.
    fn whole(units: usize, columns: usize) -> RowCut {
        RowCut {
            team: units.div_ceil(4).next_power_of_two().clamp(1, WORKGROUP),
            splits: 1,
            chunk: columns,
        }
    }
}

/// Adds the steps of a reduction of dense [outer, extent, inner] elements to
/// `outer·inner` results or Values. Nothing is empty.
pub(crate) fn reduce(
    plan: &mut PlanBuilder<'_>,
    operator: &Operator,
    source: Source,
    [outer, extent, inner]: [usize; 3],
    sink: Sink,
) {
    if inner > 1 {
        return reduce_columns(plan, operator, source, [outer, extent, inner], true, sink);
    }
    let cut = RowCut::new(outer, extent, plan.capabilities());
    if cut.splits == 1 {
        return reduce_rows(plan, operator, source, [outer, extent], cut, false, sink);
    }
    let partials = scratch(plan, operator, outer * cut.splits);
    let to_partials = Sink::Values(partials);
    reduce_rows(
        plan,
        operator,
        source,
        [outer, extent],
        cut,
        false,
        to_partials,
    );
    let partials = Source::Values(partials);
    let whole = RowCut::whole(cut.splits, cut.splits);
    let shape = [outer, cut.splits];
    reduce_rows(plan, operator, partials, shape, whole, false, sink);
}

/// Adds the step that stores what nothing is reduced to: the operator's identity.
#[cfg(feature = "user-wgsl")]
pub(crate) fn identities(
    plan: &mut PlanBuilder<'_>,
    operator: &Operator,
    results: usize,
    sink: Sink,
) {
    // Rows of which nothing is read.
    let nothing = Source::Values(scratch(plan, operator, 1));
    let cut = RowCut {
        team: 1,
        splits: 1,
        chunk: 0,
    };
    reduce_rows(plan, operator, nothing, [results, 1], cut, false, sink);
}

/// Scratch memory for so many Values.
pub(crate) fn scratch(plan: &mut PlanBuilder<'_>, operator: &Operator, values: usize) -> Slot {
    plan.scratch("partial results", (values * operator.words * 4) as u64)
}

/// One dispatch over rows, cut as `cut` says; with `reverse`, splits count from the row's end.
///
/// Every index is in range, so that the subgroup variant needs no checks. Teams
/// whose row is at or beyond `rows` touch nothing. A row's splits cover
/// begin..end within low..low + columns, where low = row·columns, hence within
/// 0..n of the n = rows·columns elements. Quads begin/4 to (end − 1)/4 at most
/// are loaded, whole ones all within, and dense slots end at whole quads; Values
/// i in begin..end have their words below n·WORDS. `held` is indexed by
/// constants below LANES; a row's result by row < rows, its Values by
/// row·splits + split. Workgroup memory: by rank below WORKGROUP, by at + step
/// below WORKGROUP, and with subgroups by numbers of subgroups, of which there
/// are WORKGROUP/4 at most since `require_subgroups` refuses smaller ones; each
/// is written before the barrier that its reads stand behind.
pub(crate) fn reduce_rows(
    plan: &mut PlanBuilder<'_>,
    operator: &Operator,
    source: Source,
    [rows, columns]: [usize; 2],
    cut: RowCut,
    reverse: bool,
    sink: Sink,
) {
    let subgroups = plan.subgroups();
    let lanes = cut.lanes(plan.capabilities().slow_compiler());
    let step = plan.step("reduce_rows");
    let widths = [Width::Quad, Width::Element];
    let step = ends(step, operator, source, sink, widths, lanes)
        .module("block", "block/reduce_team", &[])
        .constant("TEAM", cut.team as u32)
        .constant("REVERSE", reverse)
        .flag("subgroup", subgroups)
        .workgroup_bytes(operator.workgroup_bytes() * WORKGROUP as u64)
        .unzeroed()
        .param(rows as u32)
        .param(columns as u32)
        .param(cut.splits as u32)
        .param(cut.chunk as u32)
        .param(parameter(sink));
    let teams = WORKGROUP / cut.team;
    checked(step, operator, subgroups).workgroups(rows.div_ceil(teams) as u64 * cut.splits as u64);
}

/// As [`reduce`], of columns; `first` holds for what an earlier step has not
/// reduced to few yet.
///
/// Every index is in range: an invocation at or beyond n = outer·splits·inner
/// touches nothing, below it the number of its row in [outer·extent, inner] is
/// first + i with first ≤ (outer − 1)·extent and i < stop ≤ extent, its column
/// below inner. `held` and units are indexed by constants below LANES and WIDTH.
fn reduce_columns(
    plan: &mut PlanBuilder<'_>,
    operator: &Operator,
    source: Source,
    [outer, extent, inner]: [usize; 3],
    first: bool,
    sink: Sink,
) {
    let quads = matches!(source, Source::Elements(..)) && inner.is_multiple_of(4);
    let units = if quads { inner / 4 } else { inner };
    let columns = outer * units;
    let (splits, chunk) = column_splits(columns, extent, first);
    let last = splits == 1;
    let (width, step_width) = match quads {
        true => (4u32, Width::Quad),
        false => (1, Width::Element),
    };
    let to = match last {
        true => sink,
        false => Sink::Values(scratch(plan, operator, outer * splits * inner)),
    };
    let subgroup_variant = plan.variant() != crate::Variant::Portable;
    let n = columns * splits;
    let step = plan.step("reduce_columns");
    let step = ends(step, operator, source, to, [step_width; 2], LANES)
        .constant("WIDTH", width)
        .flag("quads", quads)
        .param(n as u32)
        .param(extent as u32)
        .param(units as u32)
        .param(splits as u32)
        .param(chunk as u32)
        .param(parameter(to));
    checked(step, operator, subgroup_variant).workgroups(n.div_ceil(WORKGROUP) as u64);
    if let Sink::Values(slot) = to
        && !last
    {
        let partials = Source::Values(slot);
        reduce_columns(
            plan,
            operator,
            partials,
            [outer, splits, inner],
            false,
            sink,
        );
    }
}

/// Into how many stretches of how many rows the extent of columns is split.
fn column_splits(columns: usize, extent: usize, first: bool) -> (usize, usize) {
    let splits = if first {
        let least = extent.div_ceil(*COLUMN_CHUNK.end());
        let most = extent.div_ceil(*COLUMN_CHUNK.start());
        (MOST_INVOCATIONS / columns).clamp(least, most)
    } else {
        extent.div_ceil(COLUMN_PARTIALS)
    };
    let chunk = extent.div_ceil(splits);
    (extent.div_ceil(chunk), chunk)
}

/// Whether the last step of a reduction of elements stores quads of results.
pub(crate) fn stores_quads([outer, extent, inner]: [usize; 3]) -> bool {
    inner > 1 && inner.is_multiple_of(4) && column_splits(outer * inner / 4, extent, true).0 == 1
}

/// Binds a step's source and sink, and links the operator.
fn ends<'p, 'a>(
    step: StepBuilder<'p, 'a>,
    operator: &Operator,
    source: Source,
    sink: Sink,
    [read, write]: [Width; 2],
    lanes: usize,
) -> StepBuilder<'p, 'a> {
    let step = match source {
        Source::Elements(slot, dtype) => step
            .read("x", slot, dtype, read)
            .flag("shifted", operator.shifted),
        Source::Values(slot) => step
            .read("stored", slot, DType::U32, Width::Element)
            .module("values", "value/load", &[("storage", "stored_storage")])
            .flag("values", true),
    };
    let step = match sink {
        Sink::Results(slot, dtype, _) => step.write("y", slot, dtype, write).flag("finish", true),
        Sink::Values(slot) => {
            step.words("kept", slot)
                .module("partials", "value/store", &[("storage", "kept")])
        }
    };
    operator
        .link(step)
        .constant("WORKGROUP", WORKGROUP as u32)
        .constant("LANES", if operator.ordered { 1 } else { lanes as u32 })
        .constant("ORDERED", operator.ordered)
}

fn parameter(sink: Sink) -> u32 {
    match sink {
        Sink::Results(_, _, parameter) => parameter,
        Sink::Values(_) => 0,
    }
}

fn checked<'p, 'a>(
    step: StepBuilder<'p, 'a>,
    operator: &Operator,
    fast: bool,
) -> StepBuilder<'p, 'a> {
    if fast && operator.unchecked {
        step.unchecked()
    } else {
        step
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Additions along the longest path through one workgroup's team, at worst with
    /// subgroups of four invocations, whose totals are combined one after another.
    pub(crate) fn team(team: usize) -> usize {
        match team {
            1 => 0,
            _ => 2 + 15 + (team / 4).max(16),
        }
    }

    fn rows_depth(rows: usize, columns: usize, slow_compiler: bool) -> usize {
        let cut = RowCut::new(rows, columns, &Capabilities::baseline());
        let lanes = cut.lanes(slow_compiler);
        let quads = cut.chunk.div_ceil(4).div_ceil(cut.team);
        // Quads in lanes and what is left of them, the lanes, the ends, the four of a quad.
        let first = quads / lanes + lanes - 1 + lanes - 1 + 2 + 4 + 2 + team(cut.team);
        if cut.splits == 1 {
            return first;
        }
        let whole = RowCut::whole(cut.splits, cut.splits);
        first + cut.splits.div_ceil(whole.team) + team(whole.team)
    }

    fn columns_depth(columns: usize, extent: usize, first: bool) -> usize {
        let (splits, chunk) = column_splits(columns, extent, first);
        let own = chunk / LANES + 2 * LANES;
        match splits {
            1 => own,
            _ => own + columns_depth(columns, splits, false),
        }
    }

    /// For every shape that fits into 4 GiB of elements of two bytes.
    #[test]
    fn no_sum_is_deeper_than_its_bound_says() {
        for n in (0..32).flat_map(|k| [1usize << k, (1 << k) + 1, 3 << k]) {
            for others in (0..32).flat_map(|k| [1usize << k, (1 << k) + 1]) {
                if n * others > 1 << 31 {
                    continue;
                }
                let deepest = |slow_compiler| rows_depth(others, n, slow_compiler).min(n);
                let rows = deepest(false).max(deepest(true));
                assert!(rows <= depth(n), "{others}x{n}: {rows} > {}", depth(n));
                let columns = columns_depth(others, n, true).min(n);
                assert!(
                    columns <= depth(n),
                    "{n}x{others}: {columns} > {}",
                    depth(n)
                );
            }
        }
    }
}
