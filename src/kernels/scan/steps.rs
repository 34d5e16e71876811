//! The dispatches of a scan of contiguous rows.

use crate::device::Capabilities;
use crate::dtype::DType;
use crate::kernels::reduce::operator::Operator;
use crate::kernels::reduce::steps::{self as reduce, RowCut, WORKGROUP};
use crate::kernels::rows::Rows;
use crate::plan::{PlanBuilder, Slot, StepBuilder, Width, dense_bytes};

/// The most workgroups that rows are split among.
const MOST_GROUPS: usize = 8192;
/// Tiles that one workgroup goes through rather than split the row: two more
/// dispatches cost more.
const FEW_TILES: usize = 4;

/// How many additions an element takes part in at most, in any variant, where n
/// elements are scanned: the depth in γ of its bound. Lanes, teams of up to 64
/// subgroups and tiles, of the reduction of splits, of the scan of their totals
/// and of the scan within a split. The CPU adds in f64.
pub(crate) fn depth(n: usize) -> usize {
    n.min(512)
}

/// What is scanned, and where the result goes.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Ends {
    /// Elements of a dtype, to elements of a dtype.
    Elements(Slot, DType, Slot, DType),
    /// Values to Values.
    Values(Slot, Slot),
}

/// What kind of scan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Direction {
    /// Whether elements are left out of their own results.
    pub exclusive: bool,
    /// Whether rows are scanned from their ends.
    pub reverse: bool,
}

/// How rows are distributed over workgroups.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Cut {
    /// Elements of a unit.
    width: usize,
    /// Units of a row.
    units: usize,
    /// Units of a member in each tile.
    items: usize,
    team: usize,
    splits: usize,
    /// Units of a split, and tiles of a split.
    chunk: usize,
    tiles: usize,
}

impl Cut {
    fn new(rows: usize, units: usize, width: usize, capabilities: &Capabilities) -> Cut {
        let most = usize::try_from(capabilities.max_workgroups()).unwrap_or(usize::MAX);
        Cut::split(units, width, most.min(MOST_GROUPS) / rows, capabilities)
    }

    /// Rows of Values, in one workgroup each.
    fn whole(units: usize, capabilities: &Capabilities) -> Cut {
        Cut::split(units, 1, 1, capabilities)
    }

    fn split(units: usize, width: usize, most: usize, capabilities: &Capabilities) -> Cut {
        // Single elements are loaded eight at a time, so that as much is in flight.
        let items = match width {
            _ if capabilities.slow_compiler() => 2,
            4 => 4,
            _ => 8,
        };
        let team = units.div_ceil(items).next_power_of_two().min(WORKGROUP);
        let tile = team * items;
        let tiles = units.div_ceil(tile);
        let splits = if tiles <= FEW_TILES {
            1
        } else {
            tiles.min(most.max(1))
        };
        let tiles = tiles.div_ceil(splits);
        Cut {
            width,
            units,
            items,
            team,
            splits: units.div_ceil(tiles * tile),
            chunk: tiles * tile,
            tiles,
        }
    }
}

/// Whether rows of elements are scanned in quads.
pub(crate) fn quads(rows: usize, columns: usize, reverse: bool) -> bool {
    columns.is_multiple_of(4) || (rows == 1 && !reverse)
}

/// Adds the steps of a scan of dense contiguous rows. Nothing is empty.
/// Results of a packed dtype need rows of quads.
pub(crate) fn scan(
    plan: &mut PlanBuilder<'_>,
    operator: &Operator,
    ends: Ends,
    [rows, columns]: [usize; 2],
    direction: Direction,
) {
    let width = match ends {
        Ends::Elements(..) if quads(rows, columns, direction.reverse) => 4,
        _ => 1,
    };
    let cut = Cut::new(rows, columns.div_ceil(width), width, plan.capabilities());
    if cut.splits == 1 {
        return scan_rows(plan, operator, ends, [rows, columns], cut, direction, None);
    }
    let totals = reduce::scratch(plan, operator, rows * cut.splits);
    let prefixes = reduce::scratch(plan, operator, rows * cut.splits);
    let source = match ends {
        Ends::Elements(x, dtype, ..) => reduce::Source::Elements(x, dtype),
        Ends::Values(values, _) => reduce::Source::Values(values),
    };
    let row_cut = RowCut {
        team: WORKGROUP,
        splits: cut.splits,
        chunk: cut.chunk * width,
    };
    let shape = [rows, columns];
    let sink = reduce::Sink::Values(totals);
    reduce::reduce_rows(
        plan,
        operator,
        source,
        shape,
        row_cut,
        direction.reverse,
        sink,
    );
    // The totals are in the order of the scan already.
    let spine = Direction {
        exclusive: true,
        reverse: false,
    };
    let spine_cut = Cut::whole(cut.splits, plan.capabilities());
    let totals = Ends::Values(totals, prefixes);
    scan_rows(
        plan,
        operator,
        totals,
        [rows, cut.splits],
        spine_cut,
        spine,
        None,
    );
    scan_rows(plan, operator, ends, shape, cut, direction, Some(prefixes));
}

/// Brings scanned rows, of f32 where they are to be `rounded`, into the target's dtype and order.
pub(crate) fn finish(
    plan: &mut PlanBuilder<'_>,
    rows: &Rows,
    scanned: Slot,
    rounded: bool,
    dtype: DType,
    n: usize,
    target: Slot,
) {
    let mut last = scanned;
    if rounded {
        last = match rows.inner {
            1 => target,
            _ => plan.scratch("rounded rows", dense_bytes(dtype, n)),
        };
        plan.round(scanned, dtype, n, last);
    }
    if rows.inner != 1 {
        rows.restore(plan, last, dtype, target);
    }
}

/// One dispatch.
///
/// Every index is in range, so that the subgroup variant needs no checks: units
/// are below `end` ≤ units, or 0 for teams whose row is at or beyond `rows`, so
/// that row·units + unit is below rows·units, the number of quads, elements or
/// Values that the slots hold (a last quad may reach beyond n; dense slots end at
/// whole quads). Prefixes are indexed by row·splits + split. Workgroup memory: by
/// rank below WORKGROUP, or by numbers of subgroups, of which there are
/// WORKGROUP/4 at most since `require_subgroups` refuses smaller ones; all that
/// is read was written before the barrier in between. Shuffles name lanes of the
/// same team below the subgroup's size.
fn scan_rows(
    plan: &mut PlanBuilder<'_>,
    operator: &Operator,
    ends: Ends,
    [rows, columns]: [usize; 2],
    cut: Cut,
    direction: Direction,
    prefixes: Option<Slot>,
) {
    let subgroups = plan.subgroups();
    let width = if cut.width == 4 {
        Width::Quad
    } else {
        Width::Element
    };
    let mut step = bind(plan.step("scan_rows"), ends, width);
    if let Some(prefixes) = prefixes {
        step = step
            .words("before", prefixes)
            .module("prefixes", "value/load", &[("storage", "before")])
            .flag("carried", true);
    }
    step = operator
        .link(step)
        .module("block", "block/scan_team", &[])
        .constant("WORKGROUP", WORKGROUP as u32)
        .constant("TEAM", cut.team as u32)
        .constant("ITEMS", cut.items as u32)
        .constant("WIDTH", cut.width as u32)
        .constant("EXCLUSIVE", direction.exclusive)
        .constant("REVERSE", direction.reverse)
        .flag("quads", cut.width == 4)
        .flag("subgroup", subgroups)
        .workgroup_bytes(operator.workgroup_bytes() * WORKGROUP as u64)
        .unzeroed()
        .param(rows as u32)
        .param(cut.units as u32)
        .param(cut.splits as u32)
        .param(cut.chunk as u32)
        .param(cut.tiles as u32)
        .param((rows * columns) as u32);
    if subgroups && operator.unchecked {
        step = step.unchecked();
    }
    let teams = WORKGROUP / cut.team;
    step.workgroups(rows.div_ceil(teams) as u64 * cut.splits as u64);
}

fn bind<'p, 'a>(step: StepBuilder<'p, 'a>, ends: Ends, width: Width) -> StepBuilder<'p, 'a> {
    match ends {
        Ends::Elements(x, x_dtype, y, y_dtype) => step
            .read("x", x, x_dtype, width)
            .write("y", y, y_dtype, width),
        Ends::Values(from, to) => step
            .read("stored", from, DType::U32, Width::Element)
            .module("values", "value/load", &[("storage", "stored_storage")])
            .words("kept", to)
            .module("scanned", "value/store", &[("storage", "kept")])
            .flag("values", true),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::reduce::steps::tests::team;

    /// Additions along the longest path through one dispatch.
    fn scan_depth(cut: &Cut) -> usize {
        cut.width + cut.items + team(cut.team) + 2 + cut.tiles
    }

    /// For every shape that fits into 4 GiB of elements of two bytes, in quads
    /// and in single elements.
    #[test]
    fn no_scan_is_deeper_than_its_bound_says() {
        let capabilities = Capabilities::baseline();
        for n in (0..32).flat_map(|k| [1usize << k, (1 << k) + 1, 3 << k]) {
            for rows in (0..32).flat_map(|k| [1usize << k, (1 << k) + 1]) {
                for width in [1, 4] {
                    if n * rows > 1 << 31 {
                        continue;
                    }
                    let cut = Cut::new(rows, n.div_ceil(width), width, &capabilities);
                    let mut total = scan_depth(&cut);
                    if cut.splits > 1 {
                        let quads = (cut.chunk * width).div_ceil(4).div_ceil(WORKGROUP);
                        let reduced = quads / 4 + 14 + team(WORKGROUP);
                        total += reduced + scan_depth(&Cut::whole(cut.splits, &capabilities));
                    }
                    assert!(
                        total.min(n) <= depth(n),
                        "{rows}x{n}: {total} > {}",
                        depth(n)
                    );
                }
            }
        }
    }
}
