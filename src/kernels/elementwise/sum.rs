//! Sums over broadcast axes, for gradients.

use crate::dtype::DType;
use crate::error::Error;
use crate::plan::{MAX_STRIDED_RANK, PlanBuilder, Slot, Width, dense_bytes};
use crate::spec::row_major;

/// Terms that one invocation adds up: short enough for the error of a tree.
pub(crate) const TERMS: usize = 64;

/// The axes of a shape: those that a smaller shape keeps, and those over which
/// it was broadcast. Extents and strides, neighbours of a kind merged.
pub(crate) struct Axes {
    pub kept: Vec<(usize, isize)>,
    pub summed: Vec<(usize, isize)>,
    /// Whether the innermost axis is one of those summed over.
    pub innermost_summed: bool,
}

impl Axes {
    /// The axes of `shape`, to which `kept` broadcasts.
    pub fn new(shape: &[usize], kept: &[usize]) -> Axes {
        let missing = shape.len() - kept.len();
        let mut axes = Axes {
            kept: Vec::new(),
            summed: Vec::new(),
            innermost_summed: false,
        };
        let mut previous = None;
        for (axis, (&extent, stride)) in shape.iter().zip(row_major(shape)).enumerate() {
            if extent == 1 {
                continue;
            }
            let summed = axis < missing || kept[axis - missing] == 1;
            let list = if summed {
                &mut axes.summed
            } else {
                &mut axes.kept
            };
            match list.last_mut() {
                Some(outer) if previous == Some(summed) => *outer = (outer.0 * extent, stride),
                _ => list.push((extent, stride)),
            }
            axes.innermost_summed = summed;
            previous = Some(summed);
        }
        axes
    }

    /// Terms of each element that is kept.
    pub fn terms(&self) -> usize {
        self.summed.iter().map(|a| a.0).product()
    }

    /// Rounds of sums of at most [`TERMS`] terms.
    pub fn rounds(&self) -> u32 {
        let (mut rounds, mut terms) = (0, self.terms());
        while terms > 1 {
            terms = terms.div_ceil(TERMS);
            rounds += 1;
        }
        rounds
    }
}

/// Sums the dense f32 slot `from` of `shape` over the axes along which `kept`
/// was broadcast to it, rounded to `dtype` in the dense slot `to`.
///
/// Indices are in range: invocations at or beyond kept · segments return,
/// `element` is below `kept` and `t` below `terms`.
pub(super) fn plan_sum(
    plan: &mut PlanBuilder,
    from: Slot,
    shape: &[usize],
    kept: &[usize],
    dtype: DType,
    to: Slot,
) {
    let mut axes = Axes::new(shape, kept);
    let count: usize = kept.iter().product();
    if count == 0 {
        return;
    }
    if axes.terms() == 0 {
        plan.fill(to, dtype, count, 0);
        return;
    }
    let rank = axes.kept.len().max(axes.summed.len());
    if rank > MAX_STRIDED_RANK {
        plan.fail(Error::Limit {
            operation: plan.call().name().into(),
            what: "alternating axes of a broadcast operand".into(),
            asked: rank as u64,
            limit: MAX_STRIDED_RANK as u64,
            way_out: "Sum over some of the axes first".into(),
        });
        return;
    }
    let total = match dtype {
        DType::F32 => to,
        _ => plan.scratch("sums in f32", dense_bytes(DType::F32, count)),
    };
    let mut source = from;
    loop {
        let terms = axes.terms();
        let segments = terms.div_ceil(TERMS);
        let target = match segments {
            1 => total,
            _ => plan.scratch("partial sums", dense_bytes(DType::F32, count * segments)),
        };
        let or_one = |axes: &[(usize, isize)]| match axes {
            [] => vec![(1, 0)],
            axes => axes.to_vec(),
        };
        let (kept_axes, summed_axes) = (or_one(&axes.kept), or_one(&axes.summed));
        plan.step("elementwise_sum")
            .read("x", source, DType::F32, Width::Element)
            .write("y", target, DType::F32, Width::Element)
            .constant("WORKGROUP", 256u32)
            .constant("SEGMENTS_INNERMOST", axes.innermost_summed)
            .param(count as u32)
            .param(segments as u32)
            .param(terms as u32)
            .param(kept_axes.len() as u32)
            .param(summed_axes.len() as u32)
            .axes(&kept_axes)
            .axes(&summed_axes)
            .workgroups((count as u64 * segments as u64).div_ceil(256));
        if segments == 1 {
            break;
        }
        // Partial sums lie in the order in which invocations are numbered.
        (axes.kept, axes.summed) = match axes.innermost_summed {
            true => (vec![(count, segments as isize)], vec![(segments, 1)]),
            false => (vec![(count, 1)], vec![(segments, count as isize)]),
        };
        source = target;
    }
    if dtype != DType::F32 {
        plan.round(total, dtype, count, to);
    }
}
