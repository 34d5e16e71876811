//! The plan of a product: batches, slices, tiles, and what becomes of the sums.

use crate::device::Capabilities;
use crate::dtype::DType;
use crate::error::Error;
use crate::kernels::matmul::epilogue::Epilogue;
use crate::kernels::matmul::operand::Operand;
use crate::kernels::matmul::tile::{self, Cut, Shape};
use crate::operation::{Call, Variant};
use crate::plan::{PlanBuilder, Slot, StepBuilder, Width};

/// Batch axes that the kernels walk; more are copied to one.
const MAX_BATCH_AXES: usize = 4;

/// An input that is added to results, as kernels read it: by element.
#[derive(Debug, Clone)]
pub(crate) struct Addend {
    /// The input.
    pub index: usize,
    /// The step from one row of the result to the next.
    pub row: isize,
    /// The step from one column of the result to the next.
    pub column: isize,
    /// Steps along the batch axes.
    pub batch: Vec<isize>,
}

/// epilogue(alpha · a · b + beta · c + bias) over a batch.
#[derive(Debug, Clone)]
pub(crate) struct Product {
    pub m: usize,
    pub n: usize,
    pub k: usize,
    pub a: Operand,
    pub b: Operand,
    /// Extents of the batch axes, outermost first; `a`, `b` and `c` have a step along each.
    pub batch: Vec<usize>,
    /// How many of the batch axes, the outermost ones, are summed over.
    pub summed: usize,
    pub alpha: f32,
    pub beta: f32,
    pub c: Option<Addend>,
    pub bias: Option<Addend>,
    pub epilogue: Epilogue,
}

impl Product {
    /// Adds the steps that compute the product into the dense slot `target`, which is not empty.
    ///
    /// Every index of the kernel is in range, so that the fast variant needs no checks:
    /// - workgroups at or beyond the last layer return before they touch anything;
    /// - a block's rows (columns) are clamped to the last one of its matrix. In quads,
    ///   which are used only where rows are whole quads, they are clamped to the last quad;
    /// - a step that would pass the end of its slice loads, depth by depth, only what lies
    ///   before the end, which is at most k. All other loads lie before it entirely;
    /// - hence every load is of an element of the view; offsets of batches are those of its matrices;
    /// - blocks are numbered below BLOCKS_A + BLOCKS_B, a multiple of the workgroup's size, so
    ///   that each is staged by one invocation and every quad of both tiles is written before
    ///   the barrier that precedes its reads;
    /// - results are stored only at rows below m and columns below n; in quads only where n
    ///   is a whole number of quads;
    /// - c and bias are read at the positions stored;
    /// - registers are indexed by loop counters with constant bounds.
    ///
    /// All loops end: their bounds are constants or numbers of steps from the uniform.
    pub fn plan(
        mut self,
        plan: &mut PlanBuilder<'_>,
        call: &Call,
        capabilities: &Capabilities,
        target: Slot,
        dtype: DType,
    ) {
        self.drop_unit_axes();
        self.fold_batch();
        self.merge_axes();
        if self.batch.len() > MAX_BATCH_AXES {
            self.expand(plan, call);
        }
        let kept: usize = self.batch[self.summed..].iter().product();
        let batch: usize = self.batch.iter().product();
        let empty = self.k == 0 || self.alpha == 0.0;
        let shape = Shape {
            batch,
            m: self.m,
            n: self.n,
            k: self.k,
        };
        let cut = tile::choose(plan.variant(), capabilities, shape);
        // Rows of packed elements that do not start at words share some: summed in f32 first.
        let shares_words = dtype.size() == 2 && !self.n.is_multiple_of(4);
        if !empty && cut.slices == 1 && batch == kept && !shares_words {
            self.multiply(plan, &cut, target, dtype, true, kept, 0);
            return;
        }
        // Groups of kept matrices, each starting at a quad.
        let group = (kept * self.m * self.n).next_multiple_of(4);
        let groups = if empty { 0 } else { cut.slices * batch / kept };
        let partial = (groups > 0).then(|| {
            let elements = group as u64 * groups as u64;
            if elements > u32::MAX as u64 {
                plan.fail(Error::Limit {
                    operation: call.name().into(),
                    what: "partial results".into(),
                    asked: elements,
                    limit: u32::MAX as u64,
                    way_out: "Split the batch".into(),
                });
            }
            let slot = plan.scratch("partial products", 4 * elements);
            self.multiply(plan, &cut, slot, DType::F32, false, kept, group);
            slot
        });
        self.combine(plan, partial, groups, group, target, dtype, kept);
    }

    fn drop_unit_axes(&mut self) {
        for axis in (0..self.batch.len()).rev() {
            if self.batch[axis] == 1 {
                self.remove_axis(axis);
            }
        }
    }

    fn remove_axis(&mut self, axis: usize) {
        self.batch.remove(axis);
        self.a.batch.remove(axis);
        self.b.batch.remove(axis);
        if let Some(c) = &mut self.c {
            c.batch.remove(axis);
        }
        if axis < self.summed {
            self.summed -= 1;
        }
    }

    /// Makes one large product of many small ones where memory allows it: a
    /// batch of left factors times one right factor, or a sum over a batch.
    fn fold_batch(&mut self) {
        while let Some(axis) = self.batch.len().checked_sub(1) {
            let rows = self.m as isize;
            let c_folds = self
                .c
                .as_ref()
                .is_none_or(|c| c.batch[axis] == rows * c.row);
            let folds = axis >= self.summed
                && self.b.batch[axis] == 0
                && self.a.batch[axis] == rows * self.a.row_step()
                && c_folds;
            if !folds {
                break;
            }
            self.m *= self.batch[axis];
            self.remove_axis(axis);
        }
        while let Some(axis) = self.summed.checked_sub(1) {
            let depth = self.k as isize;
            let folds = self.a.batch[axis] == depth * self.a.column_step()
                && self.b.batch[axis] == depth * self.b.row_step();
            if !folds {
                break;
            }
            self.k *= self.batch[axis];
            self.remove_axis(axis);
        }
    }

    /// Merges batch axes that lie contiguously in all operands.
    fn merge_axes(&mut self) {
        for axis in (1..self.batch.len()).rev() {
            let extent = self.batch[axis] as isize;
            let contiguous = |steps: &[isize]| steps[axis - 1] == steps[axis] * extent;
            let merges = axis != self.summed
                && contiguous(&self.a.batch)
                && contiguous(&self.b.batch)
                && self.c.as_ref().is_none_or(|c| contiguous(&c.batch));
            if merges {
                self.batch[axis] *= self.batch[axis - 1];
                self.remove_axis(axis - 1);
            }
        }
    }

    /// Copies operands so that each batch is one axis, but for summed ones.
    fn expand(&mut self, plan: &mut PlanBuilder<'_>, call: &Call) {
        let (m, n, k) = (self.m, self.n, self.k);
        self.a = self.a.clone().expanded(plan, &self.batch, m, k);
        self.b = self.b.clone().expanded(plan, &self.batch, k, n);
        if self.c.is_some() {
            plan.fail(Error::Limit {
                operation: call.name().into(),
                what: "batch axes that `c` is broadcast along".into(),
                asked: self.batch.len() as u64,
                limit: MAX_BATCH_AXES as u64,
                way_out: "Copy `c` to the result's shape, or merge axes".into(),
            });
        }
        self.merge_axes();
    }

    #[allow(clippy::too_many_arguments, reason = "one call, of plain numbers")]
    fn multiply(
        &self,
        plan: &mut PlanBuilder<'_>,
        cut: &Cut,
        target: Slot,
        dtype: DType,
        finish: bool,
        inner: usize,
        group: usize,
    ) {
        let tile = cut.tile;
        let batch: usize = self.batch.iter().product();
        let layers = batch * cut.slices;
        let (tiles_m, tiles_n) = (
            self.m.div_ceil(tile.m() as usize),
            self.n.div_ceil(tile.n() as usize),
        );
        let quads = self.n.is_multiple_of(4);
        let unchecked = plan.variant() != Variant::Portable;
        let mut step = plan.step("matmul");
        step = factor(step, "a", &self.a, !self.a.row_major);
        step = factor(step, "b", &self.b, self.b.row_major);
        let width = if quads { Width::Quad } else { Width::Element };
        step = step.write("y", target, dtype, width);
        if finish {
            step = self.bind_finish(step);
        }
        step = step
            .constant("WORKGROUP", tile.workgroup())
            .constant("THREADS_M", tile.threads[0])
            .constant("THREADS_N", tile.threads[1])
            .constant("QUADS_M", tile.quads[0])
            .constant("QUADS_N", tile.quads[1])
            .constant("DEPTH", tile.depth)
            .constant("GROUP", 8u32)
            .flag("quads", quads)
            .flag("finish", finish)
            .flag("rolled", cut.rolled)
            .workgroup_bytes(tile.workgroup_bytes())
            .unzeroed();
        if unchecked {
            step = step.unchecked();
        }
        step = step
            .param(tiles_m as u32)
            .param(tiles_n as u32)
            .param(layers as u32)
            .param(self.m as u32)
            .param(self.n as u32)
            .param(self.k as u32)
            .param(cut.slice as u32);
        step = operand_place(step, &self.a);
        step = operand_place(step, &self.b);
        step = step
            .param(batch as u32)
            .param(inner as u32)
            .param(group as u32)
            .param(4);
        step = self.batch_axes(step, 0);
        if finish {
            step = self.finish_params(step);
        }
        step.workgroups(tiles_m as u64 * tiles_n as u64 * layers as u64);
    }

    #[allow(clippy::too_many_arguments, reason = "one call, of plain numbers")]
    fn combine(
        &self,
        plan: &mut PlanBuilder<'_>,
        partial: Option<Slot>,
        groups: usize,
        group: usize,
        target: Slot,
        dtype: DType,
        kept: usize,
    ) {
        let total = kept * self.m * self.n;
        let mut step = plan.step("matmul_combine");
        if let Some(partial) = partial {
            step = step.read("partial", partial, DType::F32, Width::Quad);
        }
        step = step.write("y", target, dtype, Width::Quad);
        step = self
            .bind_finish(step)
            .constant("WORKGROUP", 256u32)
            .flag("partial", partial.is_some())
            .param(total as u32)
            .param((self.m * self.n) as u32)
            .param(self.n as u32)
            .param(groups as u32)
            .param((group / 4) as u32)
            .param(0)
            .param(0);
        step = self.batch_axes(step, self.summed);
        step = self.finish_params(step);
        step.workgroups((total as u64).div_ceil(4 * 256));
    }

    /// Extents and steps of the batch axes from `first` on, innermost last.
    fn batch_axes<'p, 'a>(
        &self,
        mut step: StepBuilder<'p, 'a>,
        first: usize,
    ) -> StepBuilder<'p, 'a> {
        let axes = self.batch.len() - first;
        for _ in axes..MAX_BATCH_AXES {
            step = step.param(1).param(0).param(0).param(0);
        }
        for axis in first..self.batch.len() {
            step = step
                .param(self.batch[axis] as u32)
                .param(self.a.batch[axis] as u32)
                .param(self.b.batch[axis] as u32)
                .param(self.c.as_ref().map_or(0, |c| c.batch[axis] as u32));
        }
        step
    }

    fn bind_finish<'p, 'a>(&self, mut step: StepBuilder<'p, 'a>) -> StepBuilder<'p, 'a> {
        if let Some(c) = &self.c {
            step = step.read("c", Slot::Input(c.index), self.a.dtype, Width::Element);
        }
        if let Some(bias) = &self.bias {
            step = step.read(
                "bias",
                Slot::Input(bias.index),
                self.a.dtype,
                Width::Element,
            );
        }
        let activation = self.epilogue != Epilogue::None;
        if activation {
            step = step.module("math", "op/math", &[]);
        }
        step.module("finish", "matmul/finish", &[])
            .flag("addend", self.c.is_some())
            .flag("bias", self.bias.is_some())
            .flag("activation", activation)
            .flag(self.epilogue.name(), activation)
    }

    fn finish_params<'p, 'a>(&self, step: StepBuilder<'p, 'a>) -> StepBuilder<'p, 'a> {
        let offset = |step: StepBuilder<'p, 'a>, addend: &Option<Addend>| match addend {
            Some(addend) => step.offset(Slot::Input(addend.index)),
            None => step.param(0),
        };
        let c = |f: fn(&Addend) -> isize| self.c.as_ref().map_or(0, |c| f(c) as u32);
        let mut step = step.param_f32(self.alpha).param_f32(self.beta);
        step = offset(step, &self.c)
            .param(c(|c| c.row))
            .param(c(|c| c.column));
        step = offset(step, &self.bias);
        step.param(self.bias.as_ref().map_or(0, |b| b.column as u32))
            .param(0)
    }
}

/// Binds a factor and links what loads its blocks. `across` tells whether its
/// neighbours in memory follow each other across the summed axis.
fn factor<'p, 'a>(
    step: StepBuilder<'p, 'a>,
    name: &'static str,
    operand: &Operand,
    across: bool,
) -> StepBuilder<'p, 'a> {
    let (width, load) = match operand.quads {
        true => (Width::Quad, "matmul/load_quads"),
        false => (Width::Element, "matmul/load_elements"),
    };
    let panel = match across {
        true => "matmul/panel_across",
        false => "matmul/panel_along_depth",
    };
    let (load_name, panel_name) = (format!("{name}_load"), format!("{name}_panel"));
    step.read(name, operand.slot, operand.dtype, width)
        .module(&load_name, load, &[("source", name)])
        .module(&panel_name, panel, &[("load", &load_name)])
}

fn operand_place<'p, 'a>(step: StepBuilder<'p, 'a>, operand: &Operand) -> StepBuilder<'p, 'a> {
    let step = match operand.late_offset {
        true => step.offset(operand.slot),
        false => step.param(0),
    };
    step.param(operand.ld as u32)
}
